//! Conflict prediction: degree accumulator, conflict history, warp mask.

use super::support::{drive_reset, ports, reset};
use crate::config::{Config, index_bits};
use crate::cosim::bench::{Bench, Frame, Stimulus};
use crate::cosim::layout::Layout;
use crate::model::{
    AccumulatorInputs, ConflictHistory, DegreeAccumulator, ExcessUpdate, HistoryInputs,
    HistoryOutputs, MaskInputs, MemoryWarpMask, ResolvedPass,
};

ports!(AccumulatorPorts {
    in rst clear d_valid d_occ d_last d_pc;
    out up_valid up_pc up_excess;
});

pub(super) struct AccumulatorBench {
    ports: AccumulatorPorts,
    model: DegreeAccumulator,
}

impl AccumulatorBench {
    pub(super) fn new(config: &Config, layout: &Layout) -> Self {
        AccumulatorBench {
            ports: AccumulatorPorts::new(layout),
            model: DegreeAccumulator::new(index_bits(config.warp_size)),
        }
    }
}

impl Bench for AccumulatorBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        let rst = reset(stimulus);
        // Mostly small, so that sums of several passes come about.
        let most = if stimulus.one_in(8) {
            (1 << p.d_occ.width) - 1
        } else {
            4
        };
        let pass = ResolvedPass {
            occupancy: 1 + stimulus.below(most),
            last: stimulus.one_in(4),
            pc: stimulus.wide(p.d_pc.width) as u16,
        };
        let valid = !stimulus.one_in(4);
        let inputs = AccumulatorInputs {
            rst,
            clear: stimulus.one_in(64),
            pass: valid.then_some(pass),
        };
        frame.drive(&p.clear, inputs.clear.into());
        frame.drive(&p.d_valid, valid.into());
        frame.drive(&p.d_occ, pass.occupancy);
        frame.drive(&p.d_last, pass.last.into());
        frame.drive(&p.d_pc, pass.pc.into());
        let up = self.model.step(&inputs);
        frame.expect(&p.up_valid, up.is_some().into());
        frame.expect(&p.up_pc, up.map_or(0, |u| u.pc).into());
        frame.expect(&p.up_excess, up.map_or(0, |u| u.excess));
        drive_reset(stimulus, frame, &p.rst, rst);
    }
}

ports!(HistoryPorts {
    in rst clear lk_valid lk_pc up_valid up_pc up_excess;
    out lk_done lk_hit lk_excess;
});

pub(super) struct HistoryBench {
    ports: HistoryPorts,
    model: ConflictHistory,
    sets: u32,
}

impl HistoryBench {
    pub(super) fn new(config: &Config, layout: &Layout) -> Self {
        let sets = config.path.history_sets;
        HistoryBench {
            ports: HistoryPorts::new(layout),
            model: ConflictHistory::new(sets as usize),
            sets,
        }
    }

    /// A program counter: few sets and few tags, so that ways are replaced.
    fn pc(&self, stimulus: &mut Stimulus) -> u16 {
        let width = self.ports.lk_pc.width;
        match stimulus.below(8) {
            0 => stimulus.wide(width) as u16,
            _ => {
                (stimulus.below(4) * self.sets + stimulus.below(3)) as u16
                    & ((1 << width) - 1) as u16
            }
        }
    }
}

impl Bench for HistoryBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let rst = reset(stimulus);
        let (lookup, updated) = (self.pc(stimulus), self.pc(stimulus));
        let p = &self.ports;
        let update = ExcessUpdate {
            pc: updated,
            excess: stimulus.wide(p.up_excess.width) as u32,
        };
        let (looks, updates) = (!stimulus.one_in(4), stimulus.one_in(2));
        let inputs = HistoryInputs {
            rst,
            clear: stimulus.one_in(256),
            lookup: looks.then_some(lookup),
            update: updates.then_some(update),
        };
        frame.drive(&p.clear, inputs.clear.into());
        frame.drive(&p.lk_valid, looks.into());
        frame.drive(&p.lk_pc, lookup.into());
        frame.drive(&p.up_valid, updates.into());
        frame.drive(&p.up_pc, update.pc.into());
        frame.drive(&p.up_excess, update.excess);
        let out = self.model.step(&inputs);
        frame.expect(&p.lk_done, out.done.into());
        frame.expect(&p.lk_hit, out.hit.into());
        frame.expect(&p.lk_excess, out.excess);
        drive_reset(stimulus, frame, &p.rst, rst);
    }
}

ports!(MaskPorts {
    in rst clear set_valid set_base lk_hit lk_excess;
    out mask remaining;
});

pub(super) struct MaskBench {
    ports: MaskPorts,
    model: MemoryWarpMask,
}

impl MaskBench {
    pub(super) fn new(layout: &Layout) -> Self {
        MaskBench {
            ports: MaskPorts::new(layout),
            model: MemoryWarpMask::default(),
        }
    }
}

impl Bench for MaskBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        let rst = reset(stimulus);
        let often = if stimulus.cycle & 0x100 == 0 { 4 } else { 32 };
        let set = stimulus.one_in(often);
        let base = stimulus.wide(p.set_base.width) as u32;
        let inputs = MaskInputs {
            rst,
            clear: stimulus.one_in(128),
            set: set.then_some(base),
            history: HistoryOutputs {
                done: true,
                hit: stimulus.one_in(2),
                excess: stimulus.wide(p.lk_excess.width) as u32,
            },
        };
        frame.drive(&p.clear, inputs.clear.into());
        frame.drive(&p.set_valid, set.into());
        frame.drive(&p.set_base, base);
        frame.drive(&p.lk_hit, inputs.history.hit.into());
        frame.drive(&p.lk_excess, inputs.history.excess);
        let out = self.model.step(&inputs);
        frame.expect(&p.mask, out.mask.into());
        frame.expect(&p.remaining, out.remaining);
        drive_reset(stimulus, frame, &p.rst, rst);
    }
}
