//! The history of conflicts: tags one bit apart, more than a set has ways.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{ports, reset};
use crate::config::PC_BITS;
use crate::model::{ConflictHistory, ExcessUpdate, HistoryInputs};

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

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
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
