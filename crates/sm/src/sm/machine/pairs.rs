//! The owner of each pair's shared scratchpad, derived from the instructions:
//! the block that has issued an access to it and has threads left that have not
//! released it. The access unit of the path decides the owner; this is an
//! independent check, and measures the progress of the sharing paper's Fig. 17.

use super::Sm;
use crate::model::lanes_of;
use crate::sm::stats::SharedProgress;
use spadkit_base::error::{Error, Result};

/// A block in a slot that shares.
#[derive(Clone, Copy, Debug, Default)]
struct Visit {
    launched: u64,
    acquired: Option<u64>,
    released: Option<u64>,
}

/// The pairs of block slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// Slot of the block that uses the shared part, per pair.
    holders: Vec<Option<usize>>,
    visits: Vec<Visit>,
}

impl Pairs {
    /// The pairs of `slots` block slots, of which those that share come first.
    pub fn new(slots: usize) -> Self {
        Pairs {
            holders: vec![None; slots.div_ceil(2)],
            visits: vec![Visit::default(); slots],
        }
    }

    fn acquire(&mut self, slot: usize, cycle: u64) -> bool {
        let holder = self.holders[slot / 2].get_or_insert(slot);
        if *holder != slot {
            return false;
        }
        self.visits[slot].acquired.get_or_insert(cycle);
        true
    }

    /// Gives back the shared part: all threads of the block have released or
    /// exited. A block whose threads have all exited has held it to its end.
    fn release(&mut self, slot: usize, cycle: u64, ended: bool) {
        let holder = &mut self.holders[slot / 2];
        if *holder == Some(slot) {
            *holder = None;
            self.visits[slot].released = (!ended).then_some(cycle);
        }
    }

    /// The cycles of a block that ends.
    fn end(&mut self, slot: usize, cycle: u64) -> SharedProgress {
        let visit = std::mem::take(&mut self.visits[slot]);
        let acquired = visit.acquired.unwrap_or(cycle);
        let released = visit.released.unwrap_or(cycle);
        SharedProgress {
            before: acquired - visit.launched,
            holding: released - acquired,
            after: cycle - released,
        }
    }
}

impl Sm<'_> {
    pub(super) fn shares(&self, slot: usize) -> bool {
        self.path_config.sharing && self.layout.is_shared(slot)
    }

    pub(super) fn block_starts(&mut self, slot: usize) {
        self.grid.pairs.visits[slot].launched = self.cycle;
    }

    /// The warp's next instruction, an access to shared memory, is issued.
    pub(super) fn note_access(&mut self, w: usize, active: u64) -> Result<()> {
        let slot = self.warps[w].slot;
        if !self.shares(slot) {
            return Ok(());
        }
        let Some(instr) = self.warps[w].next() else {
            return Ok(());
        };
        let of_lanes = || lanes_of(active).map(|lane| instr.addrs.of(lane)).max();
        let Some(highest) = instr.addrs.highest(active).or_else(of_lanes) else {
            return Ok(());
        };
        let word_shift = self.config.word_bytes().trailing_zeros();
        let last = (highest >> word_shift) + u64::from(self.words(instr) - 1);
        if last < u64::from(self.layout.limit()) {
            return Ok(());
        }
        self.note_claim(w)
    }

    /// The warp's next instruction, which touches the shared part, is issued.
    pub(super) fn note_claim(&mut self, w: usize) -> Result<()> {
        let slot = self.warps[w].slot;
        if self.grid.pairs.acquire(slot, self.cycle) {
            return Ok(());
        }
        let instr = self.warps[w].next();
        let place = instr.map_or_else(String::new, |instr| self.place(w, instr));
        Err(Error::defect(format!(
            "{place} touches the shared scratchpad while the partner has it"
        )))
    }

    /// Threads of the block in `slot` have released or exited.
    pub(super) fn note_release(&mut self, slot: usize) {
        if !self.shares(slot) {
            return;
        }
        let warps = &self.warps[self.layout.warps(slot)];
        if warps.iter().all(|w| w.live & !w.released == 0) {
            let ended = warps.iter().all(|w| w.live == 0);
            self.grid.pairs.release(slot, self.cycle, ended);
        }
    }

    pub(super) fn block_ends(&mut self, slot: usize) {
        if self.shares(slot) {
            let progress = self.grid.pairs.end(slot, self.cycle);
            self.statistics.shared_progress.add(progress);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partner_has_to_wait() {
        let mut pairs = Pairs::new(4);
        assert!(pairs.acquire(2, 5) && pairs.acquire(2, 6));
        assert!(!pairs.acquire(3, 7), "the partner of slot 2");
        assert!(pairs.acquire(0, 7), "another pair");
        pairs.release(3, 8, false); // it has nothing to release
        assert!(!pairs.acquire(3, 8));
        pairs.release(2, 9, false);
        assert!(pairs.acquire(3, 10));
        let parts = |p: SharedProgress| [p.before, p.holding, p.after];
        assert_eq!(parts(pairs.end(2, 12)), [5, 4, 3]);
        pairs.release(3, 15, true);
        assert_eq!(parts(pairs.end(3, 17)), [10, 7, 0], "held to its end");
        assert_eq!(parts(pairs.end(1, 9)), [9, 0, 0], "never needed");
    }
}
