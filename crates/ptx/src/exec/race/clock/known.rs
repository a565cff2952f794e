//! What is known of an earlier access without a look at who has seen what: cheap
//! answers for most of them.

use super::Order;
use crate::exec::race::AGENTS;
use crate::exec::race::mark::Mark;

impl Order {
    /// Whether an access surely was made by the block: known without a look at whose
    /// turn it was.
    #[inline(always)]
    pub fn is_surely_own(&self, mark: &Mark) -> bool {
        mark.seq >= self.start && !self.turns
    }

    /// Whether threads of the block made an access before its last barrier, so that
    /// all have seen it; false where that takes a longer look.
    #[inline(always)]
    pub fn is_before_barrier(&self, mark: &Mark) -> bool {
        let thread = mark.warp < AGENTS;
        thread && mark.seq < self.base && self.is_surely_own(mark)
    }

    /// Whether an access of lanes of a warp is one since the last barrier that nobody
    /// else can have seen: a later one of theirs stands for it.
    #[inline(always)]
    pub fn is_unshown(&self, mark: &Mark, warp: u32) -> bool {
        let since = self.base.max(self.shown(warp));
        u32::from(mark.warp) == warp && mark.seq >= since && self.is_surely_own(mark)
    }

    /// Whether two accesses are of one block.
    #[inline(always)]
    pub fn is_alike(&self, one: &Mark, other: &Mark) -> bool {
        if self.is_surely_own(one) && self.is_surely_own(other) {
            return true;
        }
        self.moments.block_at(one.seq) == self.moments.block_at(other.seq)
    }
}
