//! Why nothing was issued (microarchitecture/sm-model.md).

use super::Sm;
use crate::model::WarpMask;
use crate::model::spad_sm_path::SmPathOutputs;
use crate::sm::instr::InstrKind;
use crate::sm::stats::{Stall, Stalls};
use crate::sm::warp::State;

/// Issue slots since the last completion so far: they count when another one
/// follows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tail {
    /// Whether the range is not empty.
    any: bool,
    issued: u64,
    masked: u64,
    stalls: Stalls,
}

impl Sm<'_> {
    /// Counts the cycle of every scheduler: issued, or one reason. `cycles`
    /// without issue are alike.
    #[inline(always)]
    pub(super) fn attribute<const PROFILED: bool>(
        &mut self,
        outputs: &SmPathOutputs,
        private: u128,
        cycles: u64,
    ) {
        // A run ends with its last completion; what follows is not a part of it.
        // Cycles that are alike lie on one side of it.
        let counts = self.cycle <= self.statistics.cycles;
        if counts && self.tail.any {
            self.count_tail();
        }
        if PROFILED {
            self.profile_issues(outputs.iss.is_some(), private, counts);
        }
        let to_path = u64::from(outputs.iss.is_some());
        let issued = match private {
            0 => to_path,
            several => to_path + u64::from(several.count_ones()),
        };
        let schedulers = self.schedulers.own.len();
        let mut masked = 0;
        if issued < schedulers as u64 {
            let of_path = outputs.iss.map_or(0, |i| 1 << (i.warp % schedulers));
            for k in (0..schedulers).filter(|k| (private | of_path) >> k & 1 == 0) {
                let is_masked = outputs.masked && self.offers_of(k) != 0;
                let held = self.held(k, outputs.stall);
                let stall = match held {
                    Some(held) => held,
                    None if is_masked => {
                        masked += cycles;
                        Stall::NoReadyWarp
                    }
                    None => self.reason(k, outputs.wait_sh),
                };
                let stalls = if counts {
                    &mut self.statistics.stalls
                } else {
                    &mut self.tail.stalls
                };
                stalls.add(stall, cycles);
                if PROFILED {
                    let pc = match held {
                        Some(held) => Some(self.holds_up(held)),
                        None => self.first(k).map(|w| self.warps[w].waits_at(self.cycle)),
                    };
                    self.profile.stall(pc, stall, cycles, counts);
                }
            }
        }
        if counts {
            self.statistics.issued += issued;
            self.statistics.masked_cycles += masked;
        } else {
            self.tail.any = true;
            self.tail.issued += issued;
            self.tail.masked += masked;
        }
    }

    /// Warps of scheduler `k` that offer to the path, which masks of them.
    fn offers_of(&self, k: usize) -> WarpMask {
        self.offers.valid() & self.schedulers.own[k]
    }

    fn count_tail(&mut self) {
        let tail = std::mem::take(&mut self.tail);
        self.statistics.issued += tail.issued;
        self.statistics.masked_cycles += tail.masked;
        self.statistics.stalls.merge(&tail.stalls);
        self.profile.count_tail();
    }

    /// Program counter of what holds up the path: the access in MEM0 that has
    /// more groups, else what is held in EX.
    fn holds_up(&self, held: Stall) -> u32 {
        let in_mem0 = self.path.model().in_mem0();
        let conflict = in_mem0.filter(|_| held == Stall::BankConflict);
        let pending = conflict.and_then(|(warp, tag)| {
            let pending = self.warps[warp].pending.iter();
            pending.map(|p| (p.tag, p.pc)).find(|p| p.0 == tag)
        });
        pending.map_or(self.operands.exe.pc(), |p| p.1)
    }

    /// Notes the instructions that were issued in this cycle, to the path and
    /// to the pipes of the schedulers `private`.
    fn profile_issues(&mut self, to_path: bool, private: u128, counts: bool) {
        if to_path {
            // Its pass has just entered EX.
            self.profile.issue(self.operands.exe.pc(), counts);
        }
        for (k, scheduler) in self.schedulers.private.iter().enumerate() {
            if private >> k & 1 == 1 {
                let pc = self.warps[scheduler.last()].issued_pc;
                self.profile.issue(pc, counts);
            }
        }
    }

    /// The first resident warp of scheduler `k` after the one issued last.
    fn first(&self, k: usize) -> Option<usize> {
        let last = match self.schedulers.private.get(k) {
            None => self.path.model().last_issued(),
            Some(scheduler) => scheduler.last(),
        };
        let resident = self.sets.resident & self.schedulers.own[k];
        let behind = resident >> last >> 1 << last << 1;
        let first = [behind, resident].into_iter().find(|&m| m != 0);
        first.map(|m| m.trailing_zeros() as usize)
    }

    /// The reason for which the path is held, by its code `stall`, if that also holds
    /// scheduler `k`.
    fn held(&self, k: usize, stall: u8) -> Option<Stall> {
        let held = match stall {
            1 if self.copies.has_banks => Stall::AsyncCopy,
            1 => Stall::BankConflict,
            2 => Stall::WritebackConflict,
            3 => Stall::LockRetry,
            _ => return None,
        };
        // With several schedulers, the path holds only those that offer to it.
        let offers = || self.first(k).is_some_and(|w| self.offers.get(w).is_some());
        (self.schedulers.private.is_empty() || offers()).then_some(held)
    }

    /// Why scheduler `k`, which nothing holds up, did not issue; `wait_sh` as
    /// the path shows it.
    fn reason(&self, k: usize, wait_sh: WarpMask) -> Stall {
        match self.first(k) {
            Some(w) => self.waits_for(w, wait_sh),
            None if self.drains() => Stall::StoreQueue,
            None => Stall::NoReadyWarp,
        }
    }

    /// Whether all warps of the grid have ended, and the channel is still accepting
    /// their stores.
    fn drains(&self) -> bool {
        let ended = self.grid.next == self.grid.blocks && self.sets.resident == 0;
        ended && self.global.has_stores(self.cycle)
    }

    /// Reason why a resident warp waits; `wait_sh` is the path's output.
    pub(super) fn waits_for(&self, w: usize, wait_sh: WarpMask) -> Stall {
        let warp = &self.warps[w];
        if matches!(warp.state, State::Barrier { .. }) || self.cycle < warp.barrier_until {
            return Stall::Barrier;
        }
        if wait_sh >> w & 1 == 1 {
            return Stall::SharedScratchpad;
        }
        if self.sets.store_waits >> w & 1 == 1 {
            return Stall::StoreQueue;
        }
        if self.tensor.waiting >> w & 1 == 1 {
            return Stall::TensorUnit;
        }
        if self.copies.barrier_waits >> w & 1 == 1 {
            return Stall::Mbarrier;
        }
        if self.copies.group_waits >> w & 1 == 1 {
            return Stall::AsyncCopy;
        }
        let kind = if warp.offered {
            let atomic = warp.next().is_some_and(|i| i.kind == InstrKind::AtomShared);
            return if atomic && self.atomics >= self.config.path.retry_contexts {
                Stall::LockRetry
            } else {
                Stall::NoReadyWarp
            };
        } else {
            warp.blocked_by(self.is_strict()).map(|p| p.kind)
        };
        let waits_for_copies = warp.next().is_some_and(|i| i.kind == InstrKind::CopyWait);
        match kind {
            Some(InstrKind::AtomShared) => Stall::LockRetry,
            Some(InstrKind::Texture) => Stall::Texture,
            Some(InstrKind::LdGlobal) if waits_for_copies => Stall::AsyncCopy,
            Some(InstrKind::LdGlobal | InstrKind::StGlobal) => Stall::Memory,
            None if self.cycle <= warp.acknowledged_at && warp.ends() => Stall::Memory,
            _ => Stall::NoReadyWarp,
        }
    }

    /// Waits of a warp for the two-level scheduler: `None` if the warp has ended,
    /// else whether it waits for global memory, a store's entry, a barrier, an
    /// mbarrier, a copy or the shared scratchpad.
    pub(super) fn long_wait(&self, w: usize, wait_sh: WarpMask) -> Option<bool> {
        if !self.warps[w].is_resident() {
            return None;
        }
        let waits = self.waits_for(w, wait_sh);
        Some(matches!(
            waits,
            Stall::Memory
                | Stall::StoreQueue
                | Stall::Barrier
                | Stall::SharedScratchpad
                | Stall::Texture
                | Stall::Mbarrier
                | Stall::AsyncCopy
        ))
    }
}
