//! Instructions that lanes of a warp execute together (`match.sync`, `shfl.sync`, ...).
//! They order no memory. But what a lane did to an `mbarrier` before one of them is done:
//! it has the result. So one lane may tell others that all of them are through with it,
//! as `cuda::pipeline` does before `mbarrier.inval`.

use super::Order;
use crate::exec::race::mark::Mark;
use crate::exec::race::{AGENTS, FLYING, lanes};

/// Instructions of a warp that are remembered.
const MOST: usize = 8;

impl Order {
    /// Lanes of a warp execute such an instruction.
    pub fn together(&mut self, warp: u32, mask: u32) {
        let now = self.tick();
        self.joint.resize_with(self.warps.len(), Vec::new);
        let last = &mut self.joint[warp as usize];
        if last.len() >= MOST {
            last.remove(0);
        }
        last.push((now, mask));
    }

    /// Whether each lane of an access to an `mbarrier`, as far as a thread has not seen it,
    /// executed such an instruction after it, with a lane that the thread has seen since.
    pub fn is_through(&self, warp: u32, lane: u32, mark: &Mark) -> bool {
        if !self.is_own(mark) || mark.warp >= AGENTS || mark.moment == FLYING {
            return false;
        }
        let Some(joint) = self.joint.get(usize::from(mark.warp)) else {
            return false;
        };
        let sees = |of: u32, at: u32| {
            let own = u32::from(mark.warp) == warp && of == lane;
            own || self.any(warp, lane, false, |seen| seen.get(mark.warp, of) > at)
        };
        let through = |l: u32| {
            let after = joint.iter().filter(|(at, _)| *at > mark.moment);
            let mut with = after.filter(|(_, mask)| mask >> l & 1 != 0);
            with.any(|&(at, mask)| lanes(mask).any(|of| sees(of, at)))
        };
        let unseen = self.unseen(warp, lane, mark, false);
        unseen != 0 && lanes(unseen).all(through)
    }
}
