//! The choice of the warp that issues.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{Rhythm, ports, reset};
use super::warps::{POLICIES, classes_of, one_hot, sparse};
use crate::model::{IssueSelect, SelectInputs};

ports!(SelectPorts {
    in rst cfg_policy cfg_aware cfg_violate ready is_mem is_atomic shares cls allowed_wait
       allowed_viol locked owner changes mask mask_lasts mask_likely atom_infl room;
    out take take_sel take_warp picked masked wait_sh viol;
});

#[derive(Clone)]
struct GoldenSelect {
    ports: SelectPorts,
    model: IssueSelect,
}

struct SelectDriver {
    ports: SelectPorts,
    warps: usize,
    pairs: usize,
    policy: u32,
    room: Rhythm,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let ports = SelectPorts::new(setup.layout);
    let path = &setup.config.path;
    let golden = GoldenSelect {
        ports: ports.clone(),
        model: IssueSelect::new(path.warps as usize, path.ahead),
    };
    let driver = SelectDriver {
        ports,
        warps: path.warps as usize,
        pairs: path.blocks as usize / 2,
        policy: 0,
        room: Rhythm::default(),
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for SelectDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (p, warps) = (&self.ports, self.warps);
        reset(stimulus, frame, &p.rst);
        if stimulus.one_in(64) {
            self.policy = stimulus.below(4);
        }
        frame.drive(&p.cfg_policy, self.policy);
        frame.drive(&p.cfg_aware, stimulus.one_in(2).into());
        frame.drive(&p.cfg_violate, stimulus.one_in(4).into());
        for port in [&p.ready, &p.is_mem, &p.is_atomic, &p.shares] {
            frame.drive_bits(port, sparse(stimulus, warps));
        }
        frame.drive_any(&p.cls, stimulus);
        for port in [&p.allowed_wait, &p.allowed_viol] {
            let few = sparse(stimulus, warps) & sparse(stimulus, warps);
            frame.drive_bits(port, few);
        }
        // Mostly unchanged: a pick is stale where they have changed.
        for port in [&p.locked, &p.owner] {
            if stimulus.one_in(4) {
                let other = frame.driven_bits(port) ^ 1 << stimulus.below(self.pairs as u32);
                frame.drive_bits(port, other);
            }
        }
        frame.drive(&p.changes, stimulus.one_in(4).into());
        for port in [&p.mask, &p.mask_lasts, &p.mask_likely] {
            frame.drive(port, stimulus.one_in(2).into());
        }
        frame.drive(&p.atom_infl, stimulus.one_in(2).into());
        frame.drive(&p.room, self.room.beat(stimulus).into());
    }
}

impl Golden for GoldenSelect {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let inputs = SelectInputs {
            rst: frame.is_high(&p.rst),
            policy: POLICIES[frame.driven(&p.cfg_policy) as usize & 3],
            aware: frame.is_high(&p.cfg_aware),
            violate: frame.is_high(&p.cfg_violate),
            ready: frame.driven_bits(&p.ready),
            is_mem: frame.driven_bits(&p.is_mem),
            is_atomic: frame.driven_bits(&p.is_atomic),
            shares: frame.driven_bits(&p.shares),
            cls: classes_of(frame, &p.cls),
            allowed_wait: frame.driven_bits(&p.allowed_wait),
            allowed_viol: frame.driven_bits(&p.allowed_viol),
            locked: frame.driven(&p.locked),
            owner: frame.driven(&p.owner),
            event: frame.is_high(&p.changes),
            mask: frame.is_high(&p.mask),
            mask_lasts: frame.is_high(&p.mask_lasts),
            mask_likely: frame.is_high(&p.mask_likely),
            atom_infl: frame.is_high(&p.atom_infl),
            room: frame.is_high(&p.room),
            ..SelectInputs::default()
        };
        let out = self.model.step(&inputs);
        frame.expect(&p.take, out.take.is_some().into());
        frame.expect_bits(&p.take_sel, one_hot(out.selected));
        frame.expect(&p.take_warp, out.selected.unwrap_or(0) as u32);
        frame.expect_bits(&p.picked, one_hot(out.picked));
        frame.expect(&p.masked, out.masked.into());
        frame.expect_bits(&p.wait_sh, out.wait_sh);
        frame.expect_bits(&p.viol, out.viol);
    }
}
