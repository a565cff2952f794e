//! The active set of the two-level scheduler
//! (docs/microarchitecture.md, section 15).

use crate::model::WarpMask;
use std::collections::VecDeque;

/// A: warps of the active set.
const ACTIVE: u32 = 8;

/// Active set and the warps that wait to enter it.
#[derive(Default)]
pub(super) struct TwoLevel {
    pub active: WarpMask,
    queue: VecDeque<usize>,
}

impl TwoLevel {
    /// A warp starts.
    pub fn enter(&mut self, warp: usize) {
        self.queue.push_back(warp);
    }

    /// The end of a cycle: warps that wait leave the set, those in front of
    /// the queue that do not wait come in. `waits(w)`: `None` if the warp has ended.
    pub fn update(&mut self, waits: impl Fn(usize) -> Option<bool>) {
        let mut rest = self.active;
        while rest != 0 {
            let warp = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            match waits(warp) {
                Some(false) => {}
                waiting => {
                    self.active &= !(1 << warp);
                    if waiting.is_some() {
                        self.queue.push_back(warp);
                    }
                }
            }
        }
        let mut i = 0;
        while i < self.queue.len() && self.active.count_ones() < ACTIVE {
            match waits(self.queue[i]) {
                Some(true) => i += 1,
                state => {
                    let warp = self.queue.remove(i);
                    if let (Some(warp), Some(_)) = (warp, state) {
                        self.active |= 1 << warp;
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
        let mut set = TwoLevel::default();
        (0..10).for_each(|w| set.enter(w));
        set.update(|_| Some(false));
        assert_eq!(set.active, 0xff);
        set.update(|w| if w == 0 { None } else { Some(w == 3 || w == 8) });
        assert_eq!(set.active, 0b10_1111_0110, "0 ended, 3 and 8 wait");
        set.update(|w| if w == 0 { None } else { Some(w == 5) });
        assert_eq!(set.active, 0b11_1101_1110, "8 and 3 are back");
    }
}
