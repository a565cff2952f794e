//! Cheap answers about an earlier access, without a comparison of vector clocks; they do
//! for most accesses.

use super::Order;
use crate::exec::ordering::Scope;
use crate::exec::race::AGENTS;
use crate::exec::race::lanes;
use crate::exec::race::mark::Mark;
use crate::exec::race::seen::{Knowledge, Seen};

/// Parts of what is known.
type Parts = fn(&Knowledge) -> [&Seen; 2];

impl Order {
    /// Whether an access surely was made by the block: known without a look at whose
    /// turn it was.
    #[inline(always)]
    pub fn is_surely_own(&self, mark: &Mark) -> bool {
        mark.moment >= self.start && !self.turns
    }

    /// Whether threads of the block made an access before its last barrier, so that
    /// all have seen it; false where that takes a longer look.
    #[inline(always)]
    pub fn is_before_barrier(&self, mark: &Mark) -> bool {
        let thread = mark.warp < AGENTS;
        thread && mark.moment < self.base && self.is_surely_own(mark)
    }

    /// Whether an access of lanes of a warp is one since the last barrier that nobody
    /// else can have seen: a later one of theirs stands for it.
    #[inline(always)]
    pub fn is_unshown(&self, mark: &Mark, warp: u32) -> bool {
        let since = self.base.max(self.shown(warp));
        u32::from(mark.warp) == warp && mark.moment >= since && self.is_surely_own(mark)
    }

    /// Whether these are all lanes of a warp that have not exited.
    #[inline(always)]
    pub fn is_all_alive(&self, warp: u32, mask: u32) -> bool {
        self.warps[warp as usize].alive & !mask == 0
    }

    /// Whether a thread has seen an access, of one lane of it at least, or made it.
    pub fn knows(&self, warp: u32, lane: u32, mark: &Mark) -> bool {
        self.unseen(warp, lane, mark, false) != mark.lanes
    }

    /// Whether a thread has seen anything of another block.
    pub fn knows_others(&self, warp: u32, lane: u32) -> bool {
        self.any(warp, lane, true, Seen::has_blocks)
    }

    /// The narrowest scope that has who made the one access and who made the other.
    pub fn apart(&self, one: &Mark, other: &Mark) -> Scope {
        if self.is_alike(one, other) {
            return Scope::Block;
        }
        let cluster = |m: &Mark| self.moments.cluster(self.moments.block_at(m.moment));
        if cluster(one) == cluster(other) {
            Scope::Cluster
        } else {
            Scope::Wide
        }
    }

    /// The moment from which on nobody can have seen one access of the warp's lanes and not
    /// another.
    pub fn since(&self, warp: u32) -> u32 {
        self.base.max(self.shown(warp)).max(self.met(warp))
    }

    /// Whether lanes of a warp lack nothing but a fence to have seen an access of
    /// another block: a word has brought it to a thread of theirs, and a barrier was
    /// passed since. The instruction that read the word.
    pub fn ticket(&self, warp: u32, mask: u32, mark: &Mark) -> Option<u32> {
        self.told_by(warp, mask, mark, |k| [&k.unfenced, &k.unfenced])
    }

    /// The instruction that read a word which has told a lane of an access of another
    /// block, where the lane has not seen the access itself: no fence and no barrier of the
    /// block came behind.
    pub fn hoisted(&self, warp: u32, lane: u32, mark: &Mark) -> Option<u32> {
        let is_unseen = || self.unseen(warp, lane, mark, false) != 0;
        let is_behind = || self.ticket(warp, 1 << lane, mark).is_some();
        let pending = || {
            let parts: Parts = |k| [&k.pending_near, &k.pending_wide];
            self.told_by(warp, 1 << lane, mark, parts)
        };
        (is_unseen() && !is_behind()).then(pending)?
    }

    /// The instruction that read a word which has brought an access of another block to
    /// lanes of a warp, by some parts of what is known.
    fn told_by(&self, warp: u32, mask: u32, mark: &Mark, parts: Parts) -> Option<u32> {
        if self.is_own(mark) {
            return None;
        }
        let block = self.moments.block_at(mark.moment);
        let of = &self.warps[warp as usize];
        let mut ticket = None;
        let brought = lanes(mask).all(|lane| {
            let all = [Some(&self.common), Some(&of.know), of.part(lane)];
            let has = |k: &&Knowledge, l| {
                let seen = |s: &Seen| s.get_of(block, mark.warp, l) > mark.moment;
                parts(k).into_iter().any(seen) || seen(&k.seen)
            };
            let has_some = |k: &&Knowledge| parts(k).iter().any(|seen| !seen.is_empty());
            let from = all.into_iter().flatten().filter(has_some);
            ticket = ticket.or(from.clone().find_map(|k| k.ticket));
            let all = all.into_iter().flatten();
            lanes(mark.lanes).all(|l| all.clone().any(|k| has(&k, l)))
        });
        ticket.filter(|_| brought)
    }

    /// Whether some thread of the block knows, at least, that an access was made.
    pub fn is_seen_by_any(&self, mark: &Mark) -> bool {
        let mut threads = (0..self.warps.len() as u32).flat_map(|w| (0..32).map(move |l| (w, l)));
        threads.any(|(warp, lane)| self.unseen(warp, lane, mark, true) == 0)
    }

    /// Whether two accesses are of one block.
    #[inline(always)]
    pub fn is_alike(&self, one: &Mark, other: &Mark) -> bool {
        if self.is_surely_own(one) && self.is_surely_own(other) {
            return true;
        }
        self.moments.block_at(one.moment) == self.moments.block_at(other.moment)
    }
}
