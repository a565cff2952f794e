//! Calendar of the cycles in which each warp is to be looked at next.

use crate::model::{WarpMask, warp_bit, warps_of};
use crate::sm::warp::NEVER;

/// Cycles that have a page of their own: one for each bit of `pages`.
const NEAR: u64 = u64::BITS as u64;

/// A calendar: for each warp, a cycle in which it is due, or none. Every call is told
/// the present cycle, which never passes a due one.
pub(super) struct Calendar {
    /// The warps' cycles.
    at: Vec<u64>,
    /// Warps of each of the next cycles, by the cycle modulo `NEAR`.
    near: [WarpMask; NEAR as usize],
    /// The cycles of `near` that have warps, as bits.
    pages: u64,
    /// Warps whose cycle was further away when it was set.
    far: WarpMask,
    /// The first of their cycles.
    first_far: u64,
}

impl Calendar {
    /// No warp of `warps` has a cycle.
    pub(super) fn new(warps: usize) -> Self {
        Calendar {
            at: vec![NEVER; warps],
            near: [0; NEAR as usize],
            pages: 0,
            far: 0,
            first_far: NEVER,
        }
    }

    /// The first cycle that a warp has, from `now` on.
    pub(super) fn next(&self, now: u64) -> u64 {
        match self.pages.rotate_right((now % NEAR) as u32) {
            0 => self.first_far,
            pages => self.first_far.min(now + u64::from(pages.trailing_zeros())),
        }
    }

    /// `warp` is to be looked at in `cycle`, or before it if that is known.
    pub(super) fn set(&mut self, warp: usize, cycle: u64, now: u64) {
        debug_assert!(now <= cycle && now <= self.next(now));
        if cycle >= self.at[warp] {
            return;
        }
        self.clear(warp);
        self.at[warp] = cycle;
        if cycle - now < NEAR {
            let page = cycle % NEAR;
            self.near[page as usize] |= warp_bit(warp);
            self.pages |= 1 << page;
        } else {
            self.far |= warp_bit(warp);
            self.first_far = self.first_far.min(cycle);
        }
    }

    /// `warp` has no cycle any more.
    pub(super) fn clear(&mut self, warp: usize) {
        let cycle = std::mem::replace(&mut self.at[warp], NEVER);
        if cycle == NEVER {
            return;
        }
        if self.far & warp_bit(warp) != 0 {
            self.far &= !warp_bit(warp);
            self.find_first_far();
            return;
        }
        let page = (cycle % NEAR) as usize;
        self.near[page] &= !warp_bit(warp);
        if self.near[page] == 0 {
            self.pages &= !(1 << page);
        }
    }

    /// The warps whose cycle is `now`, which have none any more.
    pub(super) fn take_due(&mut self, now: u64) -> WarpMask {
        let page = (now % NEAR) as usize;
        let mut due = std::mem::take(&mut self.near[page]);
        self.pages &= !(1 << page);
        if self.first_far <= now {
            for warp in warps_of(self.far) {
                due |= WarpMask::from(self.at[warp] <= now) << warp;
            }
            self.far &= !due;
            self.find_first_far();
        }
        for warp in warps_of(due) {
            self.at[warp] = NEVER;
        }
        due
    }

    fn find_first_far(&mut self) {
        let cycles = warps_of(self.far).map(|warp| self.at[warp]);
        self.first_far = cycles.min().unwrap_or(NEVER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warps_are_due_in_their_cycle_near_or_far() {
        let mut calendar = Calendar::new(100);
        assert_eq!(calendar.next(5), NEVER);
        for (warp, cycle) in [(1, 70), (99, 69), (2, 68), (3, 1000), (4, 400)] {
            calendar.set(warp, cycle, 6);
        }
        assert_eq!((calendar.next(6), calendar.next(68)), (68, 68));
        assert_eq!(calendar.take_due(68), 1 << 2);
        assert_eq!(calendar.take_due(69), 1 << 99);
        assert_eq!(calendar.next(69), 70);
        assert_eq!(calendar.take_due(70), 1 << 1);
        assert_eq!(calendar.next(71), 400);
        assert_eq!(calendar.take_due(400), 1 << 4);
        assert_eq!(
            (calendar.next(401), calendar.take_due(1000)),
            (1000, 1 << 3)
        );
        assert_eq!(calendar.next(1001), NEVER);
    }

    #[test]
    fn the_earlier_of_two_cycles_counts() {
        let mut calendar = Calendar::new(2);
        for cycle in [900, 30, 700, 20, 25] {
            calendar.set(0, cycle, 3);
            calendar.set(1, cycle, 3);
        }
        calendar.clear(1);
        assert_eq!((calendar.next(3), calendar.take_due(20)), (20, 1));
        assert_eq!(calendar.next(21), NEVER);
    }
}
