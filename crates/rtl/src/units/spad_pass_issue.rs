//! The passes of the instruction that was taken.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::layout::PortSlot;
use super::support::{Rhythm, ports, reset};
use super::warps::{drive_kinds, index};
use crate::config::Config;
use crate::model::{Offer, Offers, PassControl, PassIssue, PassIssueInputs};

ports!(IssuePorts {
    in rst off_kind off_words off_tag off_pc take take_sel take_warp picked ex_fire;
    out room busy take_kind take_pc take_np iss_valid iss_warp iss_pass iss_last ex_valid ex_warp
        ex_kind ex_tag ex_pc ex_pass ex_last;
});

#[derive(Clone)]
struct GoldenIssue {
    ports: IssuePorts,
    model: PassIssue,
    /// The offers as last shown.
    offers: Offers,
    warps: usize,
    subwarps: u32,
    /// The registers of EX, which keep their value after a pass has left.
    ex: PassControl,
}

struct IssueDriver {
    ports: IssuePorts,
    warps: usize,
    ahead: bool,
    take: Rhythm,
    fire: Rhythm,
    /// Passes of the instruction taken last that have not been issued.
    remaining: u32,
    /// A pass is in EX.
    occupied: bool,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let ports = IssuePorts::new(setup.layout);
    let config: Config = setup.config.clone();
    let warps = config.path.warps as usize;
    let driver = IssueDriver {
        ports: ports.clone(),
        warps,
        ahead: config.path.ahead > 0,
        take: Rhythm::default(),
        fire: Rhythm::default(),
        remaining: 0,
        occupied: false,
    };
    let power_up = move || GoldenIssue {
        ports: ports.clone(),
        model: PassIssue::new(&config),
        offers: Offers::none(warps),
        warps,
        subwarps: config.subwarps(),
        ex: PassControl::default(),
    };
    Box::new(DrivenBench::new(setup, driver, power_up))
}

impl Driver for IssueDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (p, warps) = (&self.ports, self.warps);
        reset(stimulus, frame, &p.rst);
        // Most offers stay until they are taken, or longer.
        if stimulus.one_in(4) {
            drive_kinds(&p.off_kind, stimulus, frame);
        }
        for port in [&p.off_words, &p.off_tag, &p.off_pc] {
            frame.drive_some(port, stimulus);
        }
        let fires = self.occupied && self.fire.beat(stimulus);
        let ex_free = fires || !self.occupied;
        let room = match (self.ahead, self.remaining) {
            (false, left) => ex_free && left == 0,
            (true, left) => left == 0 || (ex_free && left == 1),
        };
        let warp = stimulus.below(warps as u32);
        let shown = !stimulus.one_in(8);
        frame.drive(&p.ex_fire, fires.into());
        frame.drive(&p.take, (shown && room && self.take.beat(stimulus)).into());
        frame.drive_bits(&p.take_sel, if shown { 1 << warp } else { 0 });
        frame.drive(&p.take_warp, if shown { warp } else { 0 });
        let picked = if self.ahead && !stimulus.one_in(4) {
            1 << stimulus.below(warps as u32)
        } else {
            0
        };
        frame.drive_bits(&p.picked, picked);
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        let p = &self.ports;
        if frame.is_high(&p.rst) {
            (self.remaining, self.occupied) = (0, false);
            return;
        }
        let taken = frame
            .is_high(&p.take)
            .then(|| frame.shown_bits(&p.take_np) as u32 + 1);
        let issued = u32::from(frame.shows(&p.iss_valid));
        self.remaining = match (self.ahead, taken) {
            (true, Some(passes)) => passes,
            (_, passes) => passes.unwrap_or(self.remaining) - issued,
        };
        self.occupied = issued == 1 || (self.occupied && !frame.is_high(&p.ex_fire));
    }
}

impl GoldenIssue {
    /// Reads the offer of `warp`.
    fn read_offer(&mut self, frame: &Frame, warp: usize) {
        let p = &self.ports;
        let field = |port: &PortSlot| frame.driven_field(port, port.width / self.warps, warp);
        let offer = Offer {
            kind: field(&p.off_kind) as u8,
            words: field(&p.off_words) as u8,
            tag: field(&p.off_tag) as u8,
            pc: field(&p.off_pc) as u16,
            hi: 0,
        };
        self.offers.set(warp, Some(offer));
    }
}

impl Golden for GoldenIssue {
    fn respond(&mut self, frame: &mut Frame) {
        // Only the shown offer matters.
        let shown = index(frame.driven_bits(&self.ports.take_sel));
        if let Some(warp) = shown {
            self.read_offer(frame, warp);
        }
        let p = &self.ports;
        let rst = frame.is_high(&p.rst);
        let inputs = PassIssueInputs {
            rst,
            offers: &self.offers,
            take: shown.filter(|_| frame.is_high(&p.take)),
            picked: index(frame.driven_bits(&p.picked)),
            ex_fire: frame.is_high(&p.ex_fire),
        };
        // The offer shows whether or not it is taken.
        let offer = PassIssueInputs {
            take: shown,
            ..inputs
        };
        let offer = self.model.eval(&offer).taken.unwrap_or_default();
        let out = self.model.step(&inputs);
        frame.expect(&p.room, out.room.into());
        frame.expect_bits(&p.busy, out.busy);
        frame.expect(&p.take_kind, offer.control.kind.into());
        frame.expect(&p.take_pc, offer.control.pc.into());
        // No offer is like one of kind 0.
        let passes = shown.map_or(self.subwarps, |_| u32::from(offer.last_pass) + 1);
        frame.expect(&p.take_np, passes - 1);
        let iss = out.iss.unwrap_or_default();
        frame.expect(&p.iss_valid, out.iss.is_some().into());
        frame.expect(&p.iss_warp, iss.warp.into());
        frame.expect(&p.iss_pass, iss.pass.into());
        frame.expect(&p.iss_last, iss.last.into());
        self.ex = out.ex.unwrap_or(self.ex);
        frame.expect(&p.ex_valid, out.ex.is_some().into());
        frame.expect(&p.ex_warp, self.ex.warp.into());
        frame.expect(&p.ex_kind, self.ex.kind.into());
        frame.expect(&p.ex_tag, self.ex.tag.into());
        frame.expect(&p.ex_pc, self.ex.pc.into());
        frame.expect(&p.ex_pass, self.ex.pass.into());
        frame.expect(&p.ex_last, self.ex.last.into());
        if rst {
            self.ex = PassControl::default();
        }
    }
}
