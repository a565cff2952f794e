//! The units that decide the issue: eligibility, selection, passes.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::layout::PortSlot;
use super::sharing::{POLICIES, classes_of, sparse};
use super::support::{Rhythm, ports, reset};
use crate::config::Config;
use crate::model::kind;
use crate::model::{
    Eligibility, EligibilityInputs, IssueSelect, Offer, Offers, PassControl, PassIssue,
    PassIssueInputs, SelectInputs, WarpKind,
};

/// Kinds that the path knows, and more of those with rules of their own: of 64
/// drawn at random a quarter is any code, and a quarter RELSSP.
const KINDS: [u8; 64] = {
    let mut kinds = [kind::RELSSP; 64];
    let mut i = 0;
    while i < 16 {
        kinds[i] = i as u8;
        kinds[16 + i] = i as u8 % (kind::RELSSP + 1);
        kinds[32 + i] = i as u8 % (kind::RELSSP + 1);
        i += 1;
    }
    kinds
};

fn some_kind(stimulus: &mut Stimulus) -> u32 {
    KINDS[stimulus.below(64) as usize].into()
}

/// Drives a kind for each warp.
fn drive_kinds(port: &PortSlot, stimulus: &mut Stimulus, frame: &mut Frame) {
    let kinds = std::iter::repeat_with(|| stimulus.bits64()).flat_map(|bits| {
        let kind = move |i| KINDS[(bits >> (6 * i) & 63u64) as usize];
        (0..10).map(kind)
    });
    frame.drive_fields(port, 4, kinds);
}

/// The number of the only bit that is set.
fn index(one_hot: u128) -> Option<usize> {
    (one_hot != 0).then(|| one_hot.trailing_zeros() as usize)
}

fn one_hot(index: Option<usize>) -> u128 {
    index.map_or(0, |i| 1 << i)
}

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
    /// The first of the two warps that instructions start and end in, so that
    /// counters get as far as they go.
    first: u32,
    start: Rhythm,
    end: Rhythm,
}

pub(super) fn eligibility(setup: &Setup) -> Box<dyn Bench> {
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

pub(super) fn select(setup: &Setup) -> Box<dyn Bench> {
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
        // Mostly as they were: a pick is stale where they have moved.
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

ports!(IssuePorts {
    in rst off_kind off_words off_tag off_pc take take_sel take_warp picked ex_fire;
    out room busy take_kind take_pc take_np iss_valid iss_warp iss_pass iss_last ex_valid ex_warp
        ex_kind ex_tag ex_pc ex_pass ex_last;
});

#[derive(Clone)]
struct GoldenIssue {
    ports: IssuePorts,
    model: PassIssue,
    /// The offers, as they were when they were last shown.
    offers: Offers,
    warps: usize,
    subwarps: u32,
    /// What the registers of EX hold, also after a pass that has left.
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

pub(super) fn passes(setup: &Setup) -> Box<dyn Bench> {
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
        // Most offers stand until they are taken, or longer.
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
        // Of all offers only the one that is shown has a say.
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
