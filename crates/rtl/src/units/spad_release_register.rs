//! The register that follows `spad_relssp`.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{ports, reset};
use crate::model::{ReleaseInputs, ReleaseRegister, RelsspOutputs};

ports!(ReleasePorts {
    in rst launch_valid launch_block now_done now_live now_unlock;
    out rel_done live unlock;
});

#[derive(Clone)]
struct GoldenRelease {
    ports: ReleasePorts,
    model: ReleaseRegister,
}

struct ReleaseDriver {
    ports: ReleasePorts,
    blocks: u32,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let ports = ReleasePorts::new(setup.layout);
    let blocks = setup.config.path.blocks;
    let golden = GoldenRelease {
        ports: ports.clone(),
        model: ReleaseRegister::new(blocks),
    };
    let driver = ReleaseDriver { ports, blocks };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for ReleaseDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        frame.drive(&p.launch_valid, stimulus.one_in(2).into());
        frame.drive(&p.launch_block, stimulus.below(self.blocks));
        for port in [&p.now_done, &p.now_live, &p.now_unlock] {
            frame.drive_any(port, stimulus);
        }
    }
}

impl Golden for GoldenRelease {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let block = frame.driven(&p.launch_block) as usize;
        let out = self.model.step(&ReleaseInputs {
            rst: frame.is_high(&p.rst),
            launch: frame.is_high(&p.launch_valid).then_some(block),
            now: RelsspOutputs {
                rel_done: frame.driven_mask(&p.now_done),
                live: frame.driven_mask(&p.now_live),
                unlock: frame.driven_mask(&p.now_unlock),
            },
        });
        frame.expect_bits(&p.rel_done, out.rel_done.into());
        frame.expect_bits(&p.live, out.live.into());
        frame.expect_bits(&p.unlock, out.unlock.into());
    }
}
