//! `spad_sm_path`: from the issue port to the writeback port
//! (microarchitecture/sm-path.md). Composed of the units' models.

mod back;
mod banks;
mod front;
mod ports;
mod sharing;

pub use super::kind::{self, Offer, Offers};
pub use super::lane_hash::RegisterWrite;
pub use super::spad_hash_stage::{NO_OPERANDS, Operands};
pub use ports::{IcnData, Issue, PathConfig, PathLaunch, SmPathInputs, SmPathOutputs, Writeback};

use super::spad_eligibility::WarpKind;
use super::spad_issue_select::Selection;
use super::spad_relssp::Release;
use super::spad_writeback_mux::Source;
use crate::config::Config;
use back::{Back, BackSignals};
pub(crate) use banks::PathBanks;
use front::{Feedback, Front, FrontSignals};
pub(crate) use sharing::{Sharing, SharingOutputs};
use spadkit_base::error::Result;
use spadkit_mapping::hash::HashSpec;

/// The path.
#[derive(Clone, Debug)]
pub struct SmPath {
    pub(crate) sharing: Sharing,
    pub(crate) front: Front,
    pub(crate) back: Back,
}

/// The outputs of all units in one cycle.
pub(crate) struct Signals<'s, 'a> {
    pub(crate) back: &'s BackSignals,
    pub(crate) feedback: &'s Feedback,
    pub(crate) sharing: &'s SharingOutputs,
    pub(crate) front: &'s FrontSignals<'a>,
}

impl SmPath {
    /// The path of `config`, after reset; the scratchpad holds zeros.
    pub fn new(config: &Config) -> Self {
        SmPath {
            sharing: Sharing::new(config),
            front: Front::new(config),
            back: Back::new(config),
        }
    }

    /// Sets the hash as if a host had written the registers, whatever unit the
    /// path has. A reset or a register write undoes it; nothing may be in flight.
    pub fn load_hash(&mut self, spec: &HashSpec) -> Result<()> {
        self.back.hash.load(spec)
    }

    /// The scratchpad: contents and lock bits.
    pub fn scratchpad(&self) -> ScratchpadView<'_> {
        ScratchpadView { path: self }
    }

    /// Initial contents: `word` at physical word address `addr`.
    pub fn preload(&mut self, addr: u16, word: u64) {
        let (mut bank, mut row) = ([0], [0]);
        let hash = self.back.hash.lanes();
        hash.places(&[addr], &mut bank, &mut row);
        self.back.spad.preload(bank[0].into(), row[0].into(), word);
    }

    /// The warp that was chosen last: with AHEAD = 0 the one whose first pass
    /// was issued last. The highest slot after reset.
    pub fn last_issued(&self) -> usize {
        self.front.select.last()
    }

    /// Warp and tag of the access in MEM0.
    pub(crate) fn in_mem0(&self) -> Option<(usize, u8)> {
        let control = self.back.spad.mem0_tag()?.pass.control;
        Some((control.warp.into(), control.tag))
    }

    /// Rounds of the atomic pass that the sequencer executes, the first one
    /// if there are several; 0 if none.
    pub fn atomic_rounds(&self) -> u32 {
        self.back.entry.rounds()
    }

    /// Rounds of all atomic passes since reset.
    pub fn all_atomic_rounds(&self) -> u64 {
        self.back.entry.all_rounds()
    }

    /// Passes after EX and before the end of writeback.
    #[cfg(test)]
    pub(super) fn passes_in_flight(&self) -> usize {
        self.back.passes_in_flight()
    }

    /// Data that the writeback port showed in the cycle of the last `step`, a
    /// word per lane. `None` if it was empty.
    pub fn wb_data(&self) -> Option<&[u64]> {
        self.back.wb_data()
    }

    /// One clock cycle, in the order of microarchitecture/sm-path.md: the ready
    /// signals after EX, from the end; releases and the owners of the shared
    /// parts; the issue; then the clock edge.
    pub fn step(&mut self, inputs: &SmPathInputs) -> SmPathOutputs {
        let (back, feedback) = self.eval_back(inputs);
        let sharing = self.sharing.eval(inputs, feedback.release);
        let front = self.front.eval(inputs, &feedback, &sharing);
        let outputs = self.outputs(&Signals {
            back: &back,
            feedback: &feedback,
            sharing: &sharing,
            front: &front,
        });
        self.sharing
            .commit(inputs, feedback.release, &sharing, front.select.take);
        self.front.commit(inputs, &feedback, &front);
        self.back.commit(inputs, &back, front.takes_atomic());
        outputs
    }

    /// The outputs of the units from EX on, and the feedback to the other units.
    #[inline(always)]
    pub(crate) fn eval_back(&self, inputs: &SmPathInputs) -> (BackSignals, Feedback) {
        let ex = self.front.issue.ex();
        let back = self.back.eval(inputs, ex);
        let released = ex.filter(|c| back.ex_fire && c.kind == kind::RELSSP);
        let feedback = Feedback {
            ex_fire: back.ex_fire,
            ex_hold: ex.is_some() && !back.ex_fire,
            release: released.map(|c| Release {
                warp: c.warp.into(),
                sub: c.pass.into(),
                mask: inputs.op.mask,
            }),
            atom_infl: back.entry.atom_infl,
            retire: retires(&self.back, inputs.wb_ready),
            resolved: back.exit.resolved,
        };
        (back, feedback)
    }

    #[inline(always)]
    pub(crate) fn outputs(&self, s: &Signals) -> SmPathOutputs {
        let (units, front, entry) = (&self.back, &s.front, &s.back.entry);
        let (access, release) = (&s.sharing.access, &s.sharing.shown);
        SmPathOutputs {
            iss: front.issue.iss.map(Issue::from),
            ex_hold: s.feedback.ex_hold,
            icn_ready: units.wb.icn_ready(),
            wb: units.writeback(),
            wait_sh: front.select.wait_sh,
            viol: front.select.viol,
            locked: access.locked,
            owner: access.owner,
            rel_done: release.rel_done,
            live: release.live,
            unlock: release.unlock,
            stall: s.back.stall,
            masked: front.select.masked,
            seq_state: entry.seq_state,
            occ: units.occupancy(s.back) << 1 | u32::from(front.issue.ex.is_some()),
            nm_valid: units.nonmem.stage_valid(),
            pre_count: entry.pre_count,
        }
    }

    /// The decision of the select stage in this cycle.
    pub fn selection(&self, inputs: &SmPathInputs) -> Selection {
        let feedback = self.eval_back(inputs).1;
        let sharing = self.sharing.eval(inputs, feedback.release);
        self.front
            .eval(inputs, &feedback, &sharing)
            .select
            .selection
    }
}

/// The instruction whose last result leaves the writeback port.
#[inline(always)]
fn retires(back: &Back, wb_ready: bool) -> Option<WarpKind> {
    let (source, result) = back.wb.wb().filter(|_| wb_ready)?;
    let control = &result.control;
    (control.last && source != Source::Icn).then_some(WarpKind {
        warp: control.warp.into(),
        kind: control.kind,
    })
}

/// The contents of the path's scratchpad, by physical word address.
#[derive(Clone, Copy)]
pub struct ScratchpadView<'a> {
    path: &'a SmPath,
}

impl ScratchpadView<'_> {
    /// The word at `addr`.
    pub fn word(&self, addr: u16) -> u64 {
        let (mut bank, mut row) = ([0], [0]);
        let back = &self.path.back;
        back.hash.lanes().places(&[addr], &mut bank, &mut row);
        back.spad.word_at(bank[0].into(), row[0].into())
    }

    /// Lock bits that are taken.
    pub fn held_locks(&self) -> u32 {
        let bits = self.path.back.spad.held_locks();
        let bits = bits.into_iter().flatten();
        bits.map(|word| word.count_ones()).sum()
    }
}
