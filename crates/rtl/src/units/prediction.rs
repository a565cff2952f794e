//! Conflict prediction: degree accumulator, conflict history, warp mask.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{ports, reset};
use crate::config::PC_BITS;
use crate::model::{
    AccumulatorInputs, ConflictHistory, ConflictPredictor, DegreeAccumulator, ExcessUpdate,
    HistoryInputs, HistoryOutputs, MaskInputs, MemoryWarpMask, PredictedIssue, PredictorInputs,
    ResolvedPass,
};

ports!(AccumulatorPorts {
    in rst clear resolved_valid resolved_occ resolved_last resolved_pc;
    out up_valid up_pc up_excess;
});

#[derive(Clone)]
struct GoldenAccumulator {
    ports: AccumulatorPorts,
    model: DegreeAccumulator,
}

struct AccumulatorDriver {
    ports: AccumulatorPorts,
}

pub(super) fn accumulator(setup: &Setup) -> Box<dyn Bench> {
    let ports = AccumulatorPorts::new(setup.layout);
    let golden = GoldenAccumulator {
        ports: ports.clone(),
        model: DegreeAccumulator::new(setup.config.parameters().EX as u32),
    };
    let driver = AccumulatorDriver { ports };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for AccumulatorDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        // Mostly small, so that sums of several passes come about.
        let all = (1 << p.resolved_occ.width) - 1;
        let most = if stimulus.one_in(8) { all } else { all.min(4) };
        frame.drive(&p.resolved_occ, 1 + stimulus.below(most));
        frame.drive(&p.resolved_last, stimulus.one_in(4).into());
        frame.drive(&p.resolved_pc, stimulus.wide(p.resolved_pc.width) as u32);
        frame.drive(&p.resolved_valid, (!stimulus.one_in(4)).into());
        frame.drive(&p.clear, stimulus.one_in(64).into());
    }
}

impl Golden for GoldenAccumulator {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let pass = ResolvedPass {
            occupancy: frame.driven(&p.resolved_occ),
            last: frame.is_high(&p.resolved_last),
            pc: frame.driven(&p.resolved_pc) as u16,
        };
        let up = self.model.step(&AccumulatorInputs {
            rst: frame.is_high(&p.rst),
            clear: frame.is_high(&p.clear),
            pass: frame.is_high(&p.resolved_valid).then_some(pass),
        });
        frame.expect(&p.up_valid, up.is_some().into());
        frame.expect(&p.up_pc, up.map_or(0, |u| u.pc).into());
        frame.expect(&p.up_excess, up.map_or(0, |u| u.excess));
    }
}

ports!(HistoryPorts {
    in rst clear lk_valid lk_pc up_valid up_pc up_excess;
    out lk_done lk_hit lk_excess;
});

#[derive(Clone)]
struct GoldenHistory {
    ports: HistoryPorts,
    model: ConflictHistory,
}

struct HistoryDriver {
    ports: HistoryPorts,
    sets: u32,
    /// The tags at work: more than a set has ways, one bit apart from the
    /// first, as a comparator that misses a bit needs.
    tags: [u32; 4],
    /// The first of the few sets at work.
    first_set: u32,
}

pub(super) fn history(setup: &Setup) -> Box<dyn Bench> {
    let ports = HistoryPorts::new(setup.layout);
    let sets = setup.config.path.history_sets;
    let golden = GoldenHistory {
        ports: ports.clone(),
        model: ConflictHistory::new(sets as usize),
    };
    let driver = HistoryDriver {
        ports,
        sets,
        tags: [0; 4],
        first_set: 0,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl HistoryDriver {
    fn draw_work(&mut self, stimulus: &mut Stimulus) {
        let tag_bits = PC_BITS as u32 - self.sets.trailing_zeros();
        let first = stimulus.below(1 << tag_bits);
        let near = |_| first ^ 1 << stimulus.below(tag_bits);
        self.tags = std::array::from_fn(near);
        self.tags[0] = first;
        self.first_set = stimulus.below(self.sets);
    }

    /// A program counter: few sets and few tags, so that ways are replaced.
    fn pc(&self, stimulus: &mut Stimulus) -> u16 {
        match stimulus.below(8) {
            0 => stimulus.wide(PC_BITS) as u16,
            _ => {
                let tag = self.tags[stimulus.below(4) as usize];
                let set = (self.first_set + stimulus.below(3)) % self.sets;
                (tag * self.sets + set) as u16
            }
        }
    }
}

impl Driver for HistoryDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        reset(stimulus, frame, &self.ports.rst);
        if stimulus.cycle == 0 || stimulus.one_in(64) {
            self.draw_work(stimulus);
        }
        let (lookup, updated) = (self.pc(stimulus), self.pc(stimulus));
        let p = &self.ports;
        frame.drive(&p.up_excess, stimulus.wide(p.up_excess.width) as u32);
        frame.drive(&p.lk_valid, (!stimulus.one_in(4)).into());
        frame.drive(&p.lk_pc, lookup.into());
        frame.drive(&p.up_valid, stimulus.one_in(2).into());
        frame.drive(&p.up_pc, updated.into());
        frame.drive(&p.clear, stimulus.one_in(256).into());
    }
}

impl Golden for GoldenHistory {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let update = ExcessUpdate {
            pc: frame.driven(&p.up_pc) as u16,
            excess: frame.driven(&p.up_excess),
        };
        let lookup = frame.driven(&p.lk_pc) as u16;
        let out = self.model.step(&HistoryInputs {
            rst: frame.is_high(&p.rst),
            clear: frame.is_high(&p.clear),
            lookup: frame.is_high(&p.lk_valid).then_some(lookup),
            update: frame.is_high(&p.up_valid).then_some(update),
        });
        frame.expect(&p.lk_done, out.done.into());
        frame.expect(&p.lk_hit, out.hit.into());
        frame.expect(&p.lk_excess, out.excess);
    }
}

ports!(MaskPorts {
    in rst clear set_valid set_base lk_hit lk_excess lk_heavy lk_heavier hold;
    out mask lasts;
});

#[derive(Clone)]
struct GoldenMask {
    ports: MaskPorts,
    model: MemoryWarpMask,
}

struct MaskDriver {
    ports: MaskPorts,
}

/// A pipeline is held for some cycles at a time, or not at all.
fn held(stimulus: &mut Stimulus) -> bool {
    match stimulus.cycle & 0xc0 {
        0 => true,
        0x40 => stimulus.one_in(2),
        0x80 => stimulus.one_in(8),
        _ => false,
    }
}

pub(super) fn mask(setup: &Setup) -> Box<dyn Bench> {
    let ports = MaskPorts::new(setup.layout);
    let golden = GoldenMask {
        ports: ports.clone(),
        model: MemoryWarpMask::new(setup.config.path.ahead),
    };
    let driver = MaskDriver { ports };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for MaskDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        let often = if stimulus.cycle & 0x100 == 0 { 4 } else { 32 };
        frame.drive(&p.set_valid, stimulus.one_in(often).into());
        frame.drive(&p.set_base, stimulus.wide(p.set_base.width) as u32);
        frame.drive(&p.clear, stimulus.one_in(128).into());
        frame.drive(&p.lk_hit, stimulus.one_in(2).into());
        frame.drive(&p.lk_heavy, stimulus.one_in(2).into());
        frame.drive(&p.lk_heavier, stimulus.one_in(2).into());
        frame.drive(&p.lk_excess, stimulus.wide(p.lk_excess.width) as u32);
        frame.drive(&p.hold, held(stimulus).into());
    }
}

impl Golden for GoldenMask {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let base = frame.driven(&p.set_base);
        let out = self.model.step(&MaskInputs {
            rst: frame.is_high(&p.rst),
            clear: frame.is_high(&p.clear),
            set: frame.is_high(&p.set_valid).then_some(base),
            history: HistoryOutputs {
                done: true,
                hit: frame.is_high(&p.lk_hit),
                excess: frame.driven(&p.lk_excess),
            },
            heavy: frame.is_high(&p.lk_heavy),
            heavier: frame.is_high(&p.lk_heavier),
            hold: frame.is_high(&p.hold),
        });
        frame.expect(&p.mask, out.mask.into());
        frame.expect(&p.lasts, out.lasts.into());
    }
}

ports!(PredictorPorts {
    in rst clear resolved_valid resolved_occ resolved_last resolved_pc set_valid set_pc set_base hold;
    out mask mask_lasts mask_likely;
});

struct GoldenPredictor {
    ports: PredictorPorts,
    model: ConflictPredictor,
}

struct PredictorDriver {
    ports: PredictorPorts,
    /// The program counters at work: few, so that what is learned is used.
    pcs: [u32; 4],
}

pub(super) fn predictor(setup: &Setup) -> Box<dyn Bench> {
    let ports = PredictorPorts::new(setup.layout);
    let config = setup.config.clone();
    let driver = PredictorDriver {
        ports: ports.clone(),
        pcs: [0; 4],
    };
    let power_up = move || GoldenPredictor {
        ports: ports.clone(),
        model: ConflictPredictor::new(&config),
    };
    Box::new(DrivenBench::new(setup, driver, power_up))
}

impl Driver for PredictorDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        if stimulus.cycle == 0 || stimulus.one_in(1024) {
            self.pcs = std::array::from_fn(|_| stimulus.wide(PC_BITS) as u32);
        }
        let pc = |stimulus: &mut Stimulus| self.pcs[stimulus.below(4) as usize];
        // Learning and masking in turns: while masked, nothing new shows.
        let learns = stimulus.cycle & 0x80 == 0;
        frame.drive(&p.clear, stimulus.one_in(512).into());
        frame.drive(&p.resolved_valid, (learns && !stimulus.one_in(4)).into());
        let all = (1 << p.resolved_occ.width) - 1;
        let most = if stimulus.one_in(16) { all } else { 4 };
        frame.drive(&p.resolved_occ, 1 + stimulus.below(most));
        frame.drive(&p.resolved_last, stimulus.one_in(2).into());
        frame.drive(&p.resolved_pc, pc(stimulus));
        let often = if learns { 32 } else { 8 };
        frame.drive(&p.set_valid, stimulus.one_in(often).into());
        frame.drive(&p.set_pc, pc(stimulus));
        frame.drive(&p.set_base, stimulus.wide(p.set_base.width) as u32);
        frame.drive(&p.hold, held(stimulus).into());
    }
}

impl Golden for GoldenPredictor {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let pass = ResolvedPass {
            occupancy: frame.driven(&p.resolved_occ),
            last: frame.is_high(&p.resolved_last),
            pc: frame.driven(&p.resolved_pc) as u16,
        };
        let set = PredictedIssue {
            pc: frame.driven(&p.set_pc) as u16,
            base: frame.driven(&p.set_base),
        };
        let out = self.model.step(&PredictorInputs {
            rst: frame.is_high(&p.rst),
            clear: frame.is_high(&p.clear),
            pass: frame.is_high(&p.resolved_valid).then_some(pass),
            set: frame.is_high(&p.set_valid).then_some(set),
            hold: frame.is_high(&p.hold),
        });
        frame.expect(&p.mask, out.mask.into());
        frame.expect(&p.mask_lasts, out.lasts.into());
        frame.expect(&p.mask_likely, out.learned.into());
    }
}
