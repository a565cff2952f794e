//! `spad_lock_unit`: locks taken and given in every mixture, held ones asked
//! for, free ones given back.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::pattern::Patterns;
use super::support::{ports, reset};
use crate::model::{LockInputs, LockUnit};

ports!(Ports {
    in rst lk_valid lk_win lk_op lk_req lk_addr;
    out lk_success lk_error lk_held;
});

#[derive(Clone)]
struct GoldenLocks {
    ports: Ports,
    model: LockUnit,
    lanes: usize,
}

struct LockDriver {
    ports: Ports,
    lanes: usize,
    patterns: Patterns,
    windows: u32,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let (lanes, windows) = (setup.config.lanes, setup.config.path.lock_group_cycles);
    let driver = LockDriver {
        ports: Ports::new(setup.layout),
        lanes: lanes as usize,
        patterns: Patterns::new(setup.config, setup.trace),
        windows,
    };
    let golden = GoldenLocks {
        ports: Ports::new(setup.layout),
        model: LockUnit::new(lanes, windows).with_owners(setup.config.path.lock_owner),
        lanes: lanes as usize,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for LockDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        let access = self.patterns.next(stimulus, true);
        frame.drive(&p.lk_valid, (!stimulus.one_in(4)).into());
        frame.drive(&p.lk_win, stimulus.below(self.windows));
        // Mostly locks and unlocks; each of the operations that it ignores or refuses, too.
        let op = [3, 3, 3, 4, 4, 4, 4, 0, 1, 2, 5, 6, 7][stimulus.below(13) as usize];
        frame.drive(&p.lk_op, op);
        frame.drive_bits(&p.lk_req, access.mask.into());
        let lock_bits = p.lk_addr.width / self.lanes;
        frame.drive_fields(&p.lk_addr, lock_bits, access.lock);
    }
}

impl Golden for GoldenLocks {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let addr: Vec<u16> = frame.driven_list(&p.lk_addr, p.lk_addr.width / self.lanes);
        let inputs = LockInputs {
            rst: frame.is_high(&p.rst),
            valid: frame.is_high(&p.lk_valid),
            window: frame.driven(&p.lk_win),
            op: frame.driven(&p.lk_op) as u8,
            req: frame.driven_mask(&p.lk_req),
            addr: &addr,
        };
        let out = self.model.step(&inputs);
        frame.expect_bits(&p.lk_success, out.success.into());
        frame.expect(&p.lk_error, out.error.into());
        frame.expect_fields(&p.lk_held, 64, out.held);
    }
}
