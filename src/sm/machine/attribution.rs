//! Why nothing was issued (docs/microarchitecture.md, section 19.6).

use super::Sm;
use crate::model::spad_sm_path::SmPathOutputs;
use crate::sm::instr::InstrKind;
use crate::sm::stats::{Stall, Stalls};
use crate::sm::warp::State;

/// Issue slots of the last cycles.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tail {
    issued: u64,
    masked: u64,
    stalls: Stalls,
}

impl Sm<'_> {
    /// Counts the cycle of every scheduler: issued, or one reason. `cycles`
    /// without issue are alike.
    pub(super) fn attribute(&mut self, outputs: &SmPathOutputs, private: u128, cycles: u64) {
        let mut any_issue = private != 0;
        let count = self.own.len();
        for k in 0..count {
            let to_path = outputs.iss.is_some_and(|i| self.own[k] >> i.warp & 1 == 1);
            if to_path || private >> k & 1 == 1 {
                self.tail.issued += 1;
                any_issue = true;
                continue;
            }
            let stall = self.reason(k, outputs);
            self.tail.stalls.add(stall, cycles);
        }
        if !any_issue && outputs.masked {
            self.tail.masked += cycles;
        }
        // A run ends with its last completion; what follows is no part of it.
        // Cycles that are alike lie on one side of it.
        if self.cycle <= self.statistics.cycles {
            let tail = std::mem::take(&mut self.tail);
            self.statistics.issued += tail.issued;
            self.statistics.masked_cycles += tail.masked;
            self.statistics.stalls.merge(&tail.stalls);
        }
    }

    /// Why scheduler `k` did not issue.
    fn reason(&self, k: usize, outputs: &SmPathOutputs) -> Stall {
        let last = match self.private.get(k) {
            None => self.path.last_issued(),
            Some(scheduler) => scheduler.last(),
        };
        let resident = self.resident & self.own[k];
        let behind = resident >> last >> 1 << last << 1;
        let first = [behind, resident].into_iter().find(|&m| m != 0);
        let first = first.map(|m| m.trailing_zeros() as usize);
        // With several schedulers the path holds up only who offers to it.
        let held = self.private.is_empty() || first.is_some_and(|w| self.offers.get(w).is_some());
        match outputs.stall {
            1 if held => return Stall::BankConflict,
            2 if held => return Stall::WritebackConflict,
            3 if held => return Stall::LockRetry,
            _ => {}
        }
        first.map_or(Stall::NoReadyWarp, |w| self.waits_for(w, outputs))
    }

    /// What a resident warp waits for.
    pub(super) fn waits_for(&self, w: usize, outputs: &SmPathOutputs) -> Stall {
        let warp = &self.warps[w];
        if matches!(warp.state, State::Barrier { .. }) || self.cycle < warp.barrier_until {
            return Stall::Barrier;
        }
        if outputs.wait_sh >> w & 1 == 1 {
            return Stall::SharedScratchpad;
        }
        let kind = match warp.offered {
            true => {
                let atomic = warp.next().is_some_and(|i| i.kind == InstrKind::AtomShared);
                return match atomic && self.atomics >= self.config.path.retry_contexts {
                    true => Stall::LockRetry,
                    false => Stall::NoReadyWarp,
                };
            }
            false => warp.blocked_by(self.is_strict()).map(|p| p.kind),
        };
        match kind {
            Some(InstrKind::AtomShared) => Stall::LockRetry,
            Some(InstrKind::LdGlobal | InstrKind::StGlobal) => Stall::Memory,
            _ => Stall::NoReadyWarp,
        }
    }

    /// For the two-level scheduler: `None` if the warp has ended, else whether
    /// it waits for global memory, a barrier or the shared scratchpad.
    pub(super) fn long_wait(&self, w: usize, outputs: &SmPathOutputs) -> Option<bool> {
        if !self.warps[w].is_resident() {
            return None;
        }
        let waits = self.waits_for(w, outputs);
        Some(matches!(
            waits,
            Stall::Memory | Stall::Barrier | Stall::SharedScratchpad
        ))
    }
}
