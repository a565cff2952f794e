//! The degree of an access, from its passes.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{ports, reset};
use crate::model::{AccumulatorInputs, DegreeAccumulator, ResolvedPass};

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

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
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
