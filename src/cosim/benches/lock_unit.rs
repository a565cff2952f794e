//! `spad_lock_unit`: locks taken and given in every mixture, held ones asked
//! for, free ones given back.

use super::pattern::Patterns;
use super::support::{drive_reset, ports, reset};
use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Stimulus};
use crate::cosim::layout::Layout;
use crate::model::{LockInputs, LockUnit};
use crate::trace::AccessTrace;

ports!(Ports {
    in rst lk_valid lk_win lk_op lk_req lk_addr;
    out lk_success lk_error lk_held;
});

pub(super) struct LockUnitBench {
    ports: Ports,
    model: LockUnit,
    patterns: Patterns,
    lanes: usize,
    windows: u32,
}

impl LockUnitBench {
    pub(super) fn new(config: &Config, layout: &Layout, trace: Option<&AccessTrace>) -> Self {
        let windows = config.path.lock_group_cycles;
        LockUnitBench {
            ports: Ports::new(layout),
            model: LockUnit::new(config.lanes, windows),
            patterns: Patterns::new(config, trace),
            lanes: config.lanes as usize,
            windows,
        }
    }
}

impl Bench for LockUnitBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        let rst = reset(stimulus);
        let access = self.patterns.next(stimulus, true);
        let inputs = LockInputs {
            rst,
            valid: !stimulus.one_in(4),
            window: stimulus.below(self.windows),
            op: [3, 3, 4, 4, 4, 1, 5, 7][stimulus.below(8) as usize],
            req: access.mask,
            addr: &access.lock,
        };
        frame.drive(&p.lk_valid, inputs.valid.into());
        frame.drive(&p.lk_win, inputs.window);
        frame.drive(&p.lk_op, inputs.op.into());
        frame.drive_bits(&p.lk_req, inputs.req.into());
        let lock_bits = p.lk_addr.width / self.lanes;
        frame.drive_fields(&p.lk_addr, lock_bits, access.lock.iter().copied());
        let out = self.model.step(&inputs);
        frame.expect_bits(&p.lk_success, out.success.into());
        frame.expect(&p.lk_error, out.error.into());
        frame.expect_fields(&p.lk_held, 64, out.held);
        drive_reset(stimulus, frame, &p.rst, rst);
    }
}
