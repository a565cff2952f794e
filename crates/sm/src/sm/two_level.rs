//! The active set of the two-level scheduler
//! (microarchitecture/warp-scheduler.md).

use crate::model::{WarpMask, warps_of};
use std::collections::VecDeque;

/// The warps of one scheduler.
struct Group {
    /// Warp slots of the scheduler.
    own: WarpMask,
    /// Warps that wait to enter the active set.
    queue: VecDeque<usize>,
}

/// Active set and pending warps of each scheduler.
#[derive(Default)]
pub(super) struct TwoLevel {
    /// The active sets of all schedulers.
    pub active: WarpMask,
    groups: Vec<Group>,
    /// A: warps of an active set.
    most: u32,
}

impl TwoLevel {
    /// Active sets of `most` warps, one for each scheduler's warp slots.
    pub fn new(schedulers: &[WarpMask], most: u32) -> Self {
        let group = |&own| Group {
            own,
            queue: VecDeque::new(),
        };
        TwoLevel {
            active: 0,
            groups: schedulers.iter().map(group).collect(),
            most,
        }
    }

    /// A warp starts.
    pub fn enter(&mut self, warp: usize) {
        let own = |g: &&mut Group| g.own >> warp & 1 == 1;
        if let Some(group) = self.groups.iter_mut().find(own) {
            group.queue.push_back(warp);
        }
    }

    /// The end of a cycle: warps that wait leave their set, those in front of
    /// the queue that do not wait come in. `waits(w)`: `None` if the warp has ended.
    pub fn update(&mut self, waits: impl Fn(usize) -> Option<bool>) {
        for group in &mut self.groups {
            group.leave(&mut self.active, &waits);
            group.fill(&mut self.active, self.most, &waits);
        }
    }
}

impl Group {
    fn leave(&mut self, active: &mut WarpMask, waits: &impl Fn(usize) -> Option<bool>) {
        for warp in warps_of(*active & self.own) {
            match waits(warp) {
                Some(false) => {}
                waiting => {
                    *active &= !(1 << warp);
                    if waiting.is_some() {
                        self.queue.push_back(warp);
                    }
                }
            }
        }
    }

    fn fill(&mut self, active: &mut WarpMask, most: u32, waits: &impl Fn(usize) -> Option<bool>) {
        let mut i = 0;
        while i < self.queue.len() && (*active & self.own).count_ones() < most {
            match waits(self.queue[i]) {
                Some(true) => i += 1,
                state => {
                    let warp = self.queue.remove(i);
                    if let (Some(warp), Some(_)) = (warp, state) {
                        *active |= 1 << warp;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_warps_leave_and_the_next_ones_enter() {
        let mut set = TwoLevel::new(&[WarpMask::MAX], 8);
        (0..10).for_each(|w| set.enter(w));
        set.update(|_| Some(false));
        assert_eq!(set.active, 0xff);
        set.update(|w| if w == 0 { None } else { Some(w == 3 || w == 8) });
        assert_eq!(set.active, 0b10_1111_0110, "0 ended, 3 and 8 wait");
        set.update(|w| if w == 0 { None } else { Some(w == 5) });
        assert_eq!(set.active, 0b11_1101_1110, "8 and 3 are back");
    }

    #[test]
    fn every_scheduler_has_an_active_set_of_its_own() {
        let even = 0x5555;
        let mut set = TwoLevel::new(&[even, even << 1], 3);
        (0..16).for_each(|w| set.enter(w));
        set.update(|_| Some(false));
        assert_eq!(set.active, 0b11_1111);
        set.update(|w| Some(w == 0 || w == 2));
        assert_eq!(set.active, 0b1_0111_1010, "6 and 8 stand in for 0 and 2");
    }
}
