//! The three stages in which the issue is decided in front of EX where
//! AHEAD = 3: qualify, pick, select, and the stage that issues
//! (docs/microarchitecture.md, sections 18.2a and 18.3). What a cycle shows
//! and what it leaves behind are formed together, in the order in which
//! instructions pass.

use super::kind;
use super::pool::Control;
use super::{SmPath, SmPathInputs};
use crate::model::lanes::WarpMask;
use crate::model::spad_access_unit::AccessOutputs;
use crate::model::spad_conflict_history::HistoryOutputs;
use crate::model::spad_relssp::RelsspOutputs;
use crate::model::spad_warp_scheduler::{SchedulerInputs, WarpClasses};

/// The registers between the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ahead {
    /// Who has released (18.2a): what the access unit and the ports see.
    pub(super) release: RelsspOutputs,
    /// lq: the history's answer.
    pub(super) answer: HistoryOutputs,
    pub(super) qualified: Qualified,
    /// The warp that was picked.
    picked: Option<u8>,
    issuing: Option<Issuing>,
}

/// What Q found of the warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Qualified {
    ready: WarpMask,
    cls: WarpClasses,
    mem: WarpMask,
    atomic: WarpMask,
    shared: WarpMask,
    pub(super) wait: WarpMask,
    pub(super) viol: WarpMask,
    /// Effective locks and owners of the pairs in that cycle.
    locked: u32,
    owner: u32,
    /// A launch, an exit or a release happened in that cycle.
    event: bool,
}

/// The instruction whose passes are being issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Issuing {
    /// Of the next pass.
    control: Control,
    /// Number of passes - 1.
    last_pass: u16,
}

/// What S does with the warp that was picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// No warp was picked.
    Nothing,
    /// What the warp was qualified with may be out of date.
    Stale,
    /// The warp may no longer issue: it is qualified anew.
    Void,
    /// The passes of an instruction are still being issued.
    Waits,
    /// The offer is taken.
    Taken,
}

impl Selection {
    /// The warp leaves S in this cycle.
    pub(super) fn leaves(self) -> bool {
        matches!(self, Selection::Void | Selection::Taken)
    }
}

/// An instruction whose offer is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// Of its first pass.
    pub(super) control: Control,
    /// Number of passes - 1.
    pub(super) last_pass: u16,
}

/// What the stages see of the rest of the path.
pub(super) struct Seen {
    /// This cycle's events included.
    pub(super) release: RelsspOutputs,
    pub(super) access: AccessOutputs,
    /// Memory warps are masked.
    pub(super) mask: bool,
    pub(super) ex_free: bool,
    /// A RELSSP leaves EX.
    pub(super) releases: bool,
}

/// Who issues, in one cycle.
#[derive(Clone, Copy)]
pub(super) struct Decision {
    pub(super) selection: Selection,
    /// The instruction whose offer is taken.
    pub(super) taken: Option<Taken>,
    /// The pass that enters EX.
    pub(super) issue: Option<Control>,
    /// The scheduler's choice, if it is taken over.
    pub(super) picked: Option<usize>,
    pub(super) masked: bool,
    /// The registers after the clock edge.
    pub(super) next: Option<Ahead>,
}

impl Ahead {
    /// After reset, in a path with that many block slots.
    pub(super) fn new(blocks: u32) -> Self {
        Ahead {
            release: RelsspOutputs {
                rel_done: u64::MAX >> (u64::BITS - blocks),
                live: 0,
                unlock: 0,
            },
            answer: HistoryOutputs::default(),
            qualified: Qualified::default(),
            picked: None,
            issuing: None,
        }
    }

    /// Warps whose offer is on its way already or must wait for a release.
    fn busy(&self) -> WarpMask {
        let issuing = self.issuing.map(|i| i.control);
        let issuing = issuing.filter(|c| c.pass == 0 || c.kind == kind::RELSSP);
        let warps = [self.picked, issuing.map(|c| c.warp)];
        warps.into_iter().flatten().fold(0, |m, w| m | 1 << w)
    }

    /// The pass that enters EX if it is free.
    fn issue(&self, ex_free: bool) -> Option<Control> {
        self.issuing.map(|i| i.control).filter(|_| ex_free)
    }
}

impl Issuing {
    fn first(taken: &Taken) -> Self {
        Issuing {
            control: taken.control,
            last_pass: taken.last_pass,
        }
    }

    /// Behind the present pass, if there is one more.
    fn next(self) -> Option<Self> {
        let pass = self.control.pass + 1;
        (pass <= self.last_pass).then_some(Issuing {
            control: Control {
                pass,
                last: pass == self.last_pass,
                ..self.control
            },
            ..self
        })
    }
}

impl SmPath {
    /// One cycle of Q, P, S and I.
    pub(super) fn look_ahead(&self, now: &Ahead, inputs: &SmPathInputs, seen: &Seen) -> Decision {
        // Q.
        let qualified = self.qualify(now, inputs, seen);
        // P.
        let q = &now.qualified;
        let in_select = now.picked.map_or(0, |warp| 1 << warp);
        let choice = self.scheduler.eval(&SchedulerInputs {
            rst: inputs.rst,
            policy: inputs.cfg.policy,
            aware: inputs.cfg.aware,
            violate: inputs.cfg.violate,
            ready: q.ready & !in_select,
            is_mem: q.mem,
            mask: seen.mask,
            cls: q.cls,
            take: false,
            age: inputs.age,
            active: inputs.active,
        });
        // S.
        let selection = self.select(now, inputs, seen);
        let moves = now.picked.is_none() || selection.leaves();
        let picked = choice.sel.filter(|_| moves);
        let taken = now
            .picked
            .filter(|_| selection == Selection::Taken)
            .map(|warp| self.taken(inputs, warp.into()));
        // I.
        let issue = now.issue(seen.ex_free);
        let issuing = match (&taken, issue) {
            (Some(taken), _) => Some(Issuing::first(taken)),
            (None, Some(_)) => now.issuing.and_then(Issuing::next),
            (None, None) => now.issuing,
        };
        let next = Ahead {
            release: self.release_register(inputs, seen),
            answer: self.history.eval(),
            qualified,
            picked: match moves {
                true => picked.map(|warp| warp as u8),
                false => now.picked,
            },
            issuing,
        };
        Decision {
            selection,
            taken,
            issue,
            picked,
            masked: choice.masked,
            next: Some(next),
        }
    }

    fn qualify(&self, now: &Ahead, inputs: &SmPathInputs, seen: &Seen) -> Qualified {
        let (offers, access) = (inputs.offers, &seen.access);
        Qualified {
            ready: self.ready(inputs, access.allow) & !now.busy(),
            cls: access.cls,
            mem: offers.mem,
            atomic: offers.atomic,
            shared: offers.shared & offers.valid,
            wait: access.wait_sh,
            viol: access.viol,
            locked: access.locked,
            owner: access.owner,
            event: inputs.launch.is_some() || inputs.exit.is_some() || seen.releases,
        }
    }

    fn select(&self, now: &Ahead, inputs: &SmPathInputs, seen: &Seen) -> Selection {
        let Some(warp) = now.picked else {
            return Selection::Nothing;
        };
        let (q, access, cfg) = (&now.qualified, &seen.access, &inputs.cfg);
        let is = |warps: WarpMask| warps >> warp & 1 == 1;
        let moved = q.event || access.locked != q.locked || access.owner != q.owner;
        if is(q.shared) && moved {
            return Selection::Stale;
        }
        let masked = cfg.aware && seen.mask && !cfg.violate;
        if is(q.wait | q.viol) || (is(q.atomic) && self.atomics.full()) || (is(q.mem) && masked) {
            return Selection::Void;
        }
        let last = |i: Issuing| i.control.pass == i.last_pass;
        if now.issuing.is_some_and(|i| !(seen.ex_free && last(i))) {
            return Selection::Waits;
        }
        debug_assert!(is(access.allow), "warp {warp} may not touch what it takes");
        Selection::Taken
    }

    /// The release register's next contents. A block that is launched does
    /// not look dead in its first cycle.
    fn release_register(&self, inputs: &SmPathInputs, seen: &Seen) -> RelsspOutputs {
        let mut release = seen.release;
        if let Some(launch) = inputs.launch {
            release.rel_done &= !(1 << launch.block);
            release.live |= 1 << launch.block;
        }
        release
    }

    /// The offer of `warp` as it is issued.
    pub(super) fn taken(&self, inputs: &SmPathInputs, warp: usize) -> Taken {
        let offer = inputs.offers.at(warp);
        let passes = kind::passes(offer.kind, offer.words, self.config.subwarps());
        let last_pass = (passes - 1) as u16;
        let control = Control {
            warp: warp as u8,
            kind: offer.kind,
            tag: offer.tag,
            pc: offer.pc,
            pass: 0,
            last: last_pass == 0,
        };
        Taken { control, last_pass }
    }

    /// What the select stage does in this cycle.
    #[cfg(test)]
    pub(crate) fn selection(&self, inputs: &SmPathInputs) -> Selection {
        self.wires(inputs).decision.selection
    }
}
