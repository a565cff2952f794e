//! Thread blocks: launch, barriers, ends (microarchitecture/sm-model.md).

use super::Sm;
use crate::error::Result;
use crate::model::spad_sm_path::PathLaunch;
use crate::model::{Exit, WarpMask};
use crate::sm::warp::{NEVER, State};
use crate::sm::workload::AtomicsAsLoads;

/// One block slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockSlot {
    /// It has a block that was not cleared away.
    occupied: bool,
    /// Warps that have not ended.
    running: u32,
}

impl BlockSlot {
    fn is_free(&self) -> bool {
        !self.occupied
    }
}

impl Sm<'_> {
    /// Clears away blocks that have ended with nothing in flight, when the path
    /// has shown it: it takes the next block in the cycle after.
    pub(super) fn free_slots(&mut self) {
        if self.ending == 0 {
            return;
        }
        for slot in 0..self.slots.len() {
            let BlockSlot { occupied, running } = self.slots[slot];
            let warps = self.layout.warps(slot);
            let ended = occupied && running == 0 && self.live >> slot & 1 == 0;
            if ended && self.warps[warps].iter().all(|w| w.in_path == 0) {
                self.slots[slot].occupied = false;
                self.occupied -= 1;
                self.ending -= 1;
                self.block_ends(slot);
            }
        }
    }

    /// Starts the next block of the grid if a slot is free.
    pub(super) fn launch(&mut self) -> Result<Option<PathLaunch>> {
        if self.next_block == self.blocks || self.occupied == self.slots.len() {
            return Ok(None);
        }
        let info = self.workload.info();
        let is_free = |s: &&usize| self.slots[**s].is_free();
        let Some(&slot) = self.fill_order.iter().find(is_free) else {
            return Ok(None);
        };
        let block = self.next_block;
        self.next_block += 1;
        self.statistics.blocks += 1;
        self.last_progress = self.cycle;
        let ready_at = self.cycle + 1 + u64::from(self.config.sm.frontend_stages);
        let mut mask: WarpMask = 0;
        let mut last = 0;
        let workload = self.workload;
        for (index, w) in self.layout.warps(slot).enumerate() {
            mask |= 1 << w;
            last = info.warp_mask(index as u32);
            let warp = &mut self.warps[w];
            (warp.slot, warp.block, warp.index) = (slot, block, index as u32);
            warp.live = last;
            warp.age = self.launches;
            self.ages[w] = self.launches;
            self.launches += 1;
            let program = workload.open(block, index as u32)?;
            let program = if self.config.sm.atomics_as_loads {
                AtomicsAsLoads::of(program)
            } else {
                program
            };
            warp.start(program, ready_at)?;
            self.checks.clear(w);
            self.check_before(w, ready_at);
            self.two_level.enter(w);
        }
        self.resident |= mask;
        self.block_starts(slot);
        self.occupied += 1;
        self.slots[slot] = BlockSlot {
            occupied: true,
            running: info.warps(),
        };
        Ok(Some(PathLaunch {
            block: slot,
            shared: self.layout.is_shared(slot),
            warps: mask,
            last,
        }))
    }

    /// Threads exit, those of one warp in a cycle, the lowest slot first.
    pub(super) fn exit(&mut self) -> Result<Option<Exit>> {
        if self.exits == 0 {
            return Ok(None);
        }
        let w = self.exits.trailing_zeros() as usize;
        self.exits &= self.exits - 1;
        let warp = &mut self.warps[w];
        let mask = match warp.next() {
            Some(exit) => exit.mask & warp.live,
            None => warp.live,
        };
        warp.live &= !mask;
        let (slot, ended) = (warp.slot, warp.live == 0);
        self.note_release(slot);
        let warp = &mut self.warps[w];
        if ended {
            warp.state = State::Ended;
            self.resident &= !(1 << w);
            self.slots[slot].running -= 1;
            if self.slots[slot].running == 0 {
                self.ending += 1;
                self.statistics.phases.block_ended(slot, self.cycle);
            }
            self.meet(slot);
        } else {
            warp.advance()?;
            let next = self.cycle + 1;
            self.check(w, next);
        }
        Ok(Some(Exit { warp: w, mask }))
    }

    /// Lets the warps of `slot` go on if all of them stand at one barrier.
    pub(super) fn meet(&mut self, slot: usize) {
        let mut met = None;
        let mut last = self.cycle;
        for warp in &self.warps[self.layout.warps(slot)] {
            match warp.state {
                State::Ended => {}
                State::Barrier { number, arrived } if arrived != NEVER => {
                    if met.is_some_and(|m| m != number) {
                        return;
                    }
                    met = Some(number);
                    last = last.max(arrived);
                }
                _ => return,
            }
        }
        if met.is_none() {
            return;
        }
        let front_end = if self.is_strict() {
            u64::from(self.config.sm.frontend_stages)
        } else {
            0
        };
        for w in self.layout.warps(slot) {
            let warp = &mut self.warps[w];
            if matches!(warp.state, State::Barrier { .. }) {
                warp.state = State::Running;
                warp.barrier_until = last + 1;
                warp.ready_at = last + 1 + front_end;
                let at = warp.ready_at;
                self.check_before(w, at);
            }
        }
        self.barriers_until = self.barriers_until.max(last + 1);
        self.statistics.phases.barrier_met(slot, last);
    }
}
