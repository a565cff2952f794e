//! The predictor as a whole: few program counters, so that what is learned is used.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::held;
use super::support::{ports, reset};
use crate::config::PC_BITS;
use crate::model::{ConflictPredictor, PredictedIssue, PredictorInputs, ResolvedPass};

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

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
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
