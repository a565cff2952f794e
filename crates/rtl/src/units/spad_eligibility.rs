//! Eligibility of warps to issue: barriers, atomics, memory instructions in flight.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::layout::PortSlot;
use super::support::{Rhythm, ports, reset};
use super::warps::{drive_kinds, index, some_kind, sparse};
use crate::model::kind;
use crate::model::{Eligibility, EligibilityInputs, Offer, Offers, WarpKind};

ports!(EligibilityPorts {
    in rst cfg_barrel off_valid off_kind allow busy atom_infl ex_relssp ex_warp take take_sel
       take_kind retire retire_warp retire_kind;
    out ready is_mem is_atomic shares;
});

#[derive(Clone)]
struct GoldenEligibility {
    ports: EligibilityPorts,
    model: Eligibility,
    warps: usize,
}

struct EligibilityDriver {
    ports: EligibilityPorts,
    warps: u32,
    /// The first of the two warps whose instructions start and end, so that
    /// their counters reach their maximum.
    first: u32,
    start: Rhythm,
    end: Rhythm,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let ports = EligibilityPorts::new(setup.layout);
    let warps = setup.config.path.warps;
    let golden = GoldenEligibility {
        ports: ports.clone(),
        model: Eligibility::new(warps as usize),
        warps: warps as usize,
    };
    let driver = EligibilityDriver {
        ports,
        warps,
        first: 0,
        start: Rhythm::default(),
        end: Rhythm::default(),
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl EligibilityDriver {
    fn warp(&self, stimulus: &mut Stimulus) -> u32 {
        (self.first + stimulus.below(2)) % self.warps
    }
}

impl Driver for EligibilityDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        if stimulus.one_in(256) {
            self.first = stimulus.below(self.warps);
        }
        let (takes, retires) = (self.warp(stimulus), self.warp(stimulus));
        let p = &self.ports;
        let warps = self.warps as usize;
        reset(stimulus, frame, &p.rst);
        frame.drive(&p.cfg_barrel, stimulus.below(4));
        frame.drive_bits(&p.off_valid, sparse(stimulus, warps));
        drive_kinds(&p.off_kind, stimulus, frame);
        frame.drive_bits(&p.allow, !sparse(stimulus, warps));
        frame.drive_bits(&p.busy, sparse(stimulus, warps) & sparse(stimulus, warps));
        frame.drive(&p.atom_infl, stimulus.one_in(2).into());
        frame.drive(&p.ex_relssp, stimulus.one_in(2).into());
        frame.drive(&p.ex_warp, self.first);
        frame.drive(&p.take, self.start.beat(stimulus).into());
        frame.drive_bits(&p.take_sel, 1 << takes);
        frame.drive(&p.take_kind, some_kind(stimulus));
        frame.drive(&p.retire, self.end.beat(stimulus).into());
        frame.drive(&p.retire_warp, retires);
        frame.drive(&p.retire_kind, some_kind(stimulus));
    }
}

impl Golden for GoldenEligibility {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let valid = frame.driven_bits(&p.off_valid);
        let kinds: Vec<u8> = frame.driven_list(&p.off_kind, 4);
        let mut offers = Offers::none(self.warps);
        for (warp, &kind) in kinds.iter().enumerate() {
            let offer = Offer {
                kind,
                ..Offer::default()
            };
            offers.set(warp, (valid >> warp & 1 == 1).then_some(offer));
        }
        let event = |on: &PortSlot, warp: Option<usize>, kind: &PortSlot| {
            let warp = warp.filter(|_| frame.is_high(on))?;
            let kind = frame.driven(kind) as u8;
            Some(WarpKind { warp, kind })
        };
        let out = self.model.step(&EligibilityInputs {
            rst: frame.is_high(&p.rst),
            barrel: frame.driven(&p.cfg_barrel) as u8,
            offers: &offers,
            allow: frame.driven_bits(&p.allow),
            busy: frame.driven_bits(&p.busy),
            atom_infl: frame.is_high(&p.atom_infl),
            ex_relssp: frame
                .is_high(&p.ex_relssp)
                .then(|| frame.driven(&p.ex_warp) as usize),
            take: event(&p.take, index(frame.driven_bits(&p.take_sel)), &p.take_kind),
            retire: event(
                &p.retire,
                Some(frame.driven(&p.retire_warp) as usize),
                &p.retire_kind,
            ),
        });
        // The model has classes of offers only, the ports of what stands there.
        let of = |is: fn(u8) -> bool| {
            let warps = kinds.iter().enumerate();
            warps.fold(0, |mask, (w, &k)| mask | u128::from(is(k)) << w)
        };
        frame.expect_bits(&p.ready, out.ready);
        frame.expect_bits(&p.is_mem, out.is_mem | (of(kind::is_mem) & !valid));
        let is_atomic = |kind| kind == kind::ATOMIC;
        frame.expect_bits(&p.is_atomic, out.is_atomic | (of(is_atomic) & !valid));
        frame.expect_bits(&p.shares, out.shares);
    }
}
