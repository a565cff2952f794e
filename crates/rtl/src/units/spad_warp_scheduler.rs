//! The warp scheduler: all policies, masks and classes.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{ports, reset};
use super::warps::{POLICIES, classes_of, sparse};
use crate::model::{SchedulerInputs, WarpScheduler};

ports!(SchedulerPorts {
    in rst cfg_policy cfg_aware cfg_violate ready is_mem mask put_off cls take;
    out sel_valid sel sel_warp masked;
});

#[derive(Clone)]
struct GoldenScheduler {
    ports: SchedulerPorts,
    model: WarpScheduler,
}

struct SchedulerDriver {
    ports: SchedulerPorts,
    warps: usize,
    policy: u32,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let ports = SchedulerPorts::new(setup.layout);
    let warps = setup.config.path.warps as usize;
    let golden = GoldenScheduler {
        ports: ports.clone(),
        model: WarpScheduler::new(warps),
    };
    let driver = SchedulerDriver {
        ports,
        warps,
        policy: 0,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for SchedulerDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (p, warps) = (&self.ports, self.warps);
        reset(stimulus, frame, &p.rst);
        if stimulus.one_in(64) {
            self.policy = stimulus.below(4);
        }
        frame.drive(&p.cfg_policy, self.policy);
        frame.drive(&p.cfg_aware, stimulus.one_in(2).into());
        frame.drive(&p.cfg_violate, stimulus.one_in(2).into());
        frame.drive_bits(&p.ready, sparse(stimulus, warps));
        let is_mem = sparse(stimulus, warps);
        frame.drive_bits(&p.is_mem, is_mem);
        frame.drive_bits(&p.put_off, sparse(stimulus, warps) & !is_mem);
        frame.drive(&p.mask, stimulus.one_in(2).into());
        // Class 3, which no access unit gives, counts as the lowest one.
        frame.drive_any(&p.cls, stimulus);
        frame.drive(&p.take, (!stimulus.one_in(4)).into());
    }
}

impl Golden for GoldenScheduler {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let out = self.model.step(&SchedulerInputs {
            rst: frame.is_high(&p.rst),
            policy: POLICIES[frame.driven(&p.cfg_policy) as usize & 3],
            aware: frame.is_high(&p.cfg_aware),
            violate: frame.is_high(&p.cfg_violate),
            ready: frame.driven_bits(&p.ready),
            is_mem: frame.driven_bits(&p.is_mem),
            mask: frame.is_high(&p.mask),
            put_off: frame.driven_bits(&p.put_off),
            cls: classes_of(frame, &p.cls),
            take: frame.is_high(&p.take),
            ..SchedulerInputs::default()
        });
        frame.expect(&p.sel_valid, out.sel.is_some().into());
        frame.expect_bits(&p.sel, out.sel.map_or(0, |warp| 1 << warp));
        frame.expect(&p.sel_warp, out.sel.unwrap_or(0) as u32);
        frame.expect(&p.masked, out.masked.into());
    }
}
