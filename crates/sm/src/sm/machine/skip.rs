//! Finds how many cycles can be skipped at once.

use super::{PATIENCE, Sm};
use crate::model::Policy;

impl Sm<'_> {
    /// Cycles from this one on, at least 1, in which the SM drives its path
    /// alike as long as the path's outputs do not change, and all of which are
    /// counted alike.
    #[inline(always)]
    pub(super) fn most_quiet_cycles(&self) -> u64 {
        // The active set, private schedulers and exits move every cycle; a slot
        // is free in the cycle after the one in which the path shows it empty.
        let moves = self.path_config.policy == Policy::TwoLevel
            || self.schedulers.ready != 0
            || self.sets.exits != 0
            || self.grid.ending != 0
            || self.is_done();
        if moves {
            return 1;
        }
        let now = self.cycle;
        let next_event = self
            .checks
            .next(now)
            .min(self.global.next_arrival().unwrap_or(u64::MAX))
            .min(self.progress.last.saturating_add(PATIENCE + 1))
            .min(self.next_barrier_end())
            .min(self.next_copy_event());
        // An instruction that was issued may complete in a later cycle, up to
        // which all cycles count.
        let counted = match self.statistics.cycles {
            last if last >= now => last + 1 - now,
            _ => u64::MAX,
        };
        next_event.saturating_sub(now).min(counted).max(1)
    }

    /// The next cycle in which a copy makes progress.
    fn next_copy_event(&self) -> u64 {
        if self.copies.is_idle() {
            u64::MAX
        } else {
            self.copies.next_event(self.global.free_from())
        }
    }

    /// The next cycle in which a barrier that was met lets warps go.
    fn next_barrier_end(&self) -> u64 {
        if self.grid.barriers_until <= self.cycle {
            return u64::MAX;
        }
        let ends = self.warps.iter().map(|w| w.barrier_until);
        ends.filter(|&end| end > self.cycle)
            .min()
            .unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests;
