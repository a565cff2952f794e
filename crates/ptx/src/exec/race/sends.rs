//! Copies that read bytes of shared memory, and copies that overtake the reads of the bytes
//! that they write.

use super::shadow::{Hit, Touch};
use super::{FLYING, Races, lanes, mark::Mark};
use std::collections::HashSet;

/// A copy that may be going on when the block ends.
pub struct Unwaited {
    pub pc: u32,
    /// The thread that began it.
    pub thread: u32,
    /// The first byte of shared memory.
    pub address: u64,
    /// Whether it reads for another block of the cluster.
    pub abroad: bool,
}

impl Races {
    /// A thread begins to send bytes, which an agent reads.
    pub fn send(&mut self, (address, bytes): (u64, u64), touch: &Touch, agent: (u8, u32)) {
        let mark = Mark {
            warp: agent.0,
            lanes: 1 << agent.1,
            ..touch.mark()
        };
        let thread = 32 * touch.warp + touch.lanes.trailing_zeros();
        self.begun.insert(mark.moment, thread);
        let same = |(at, _, m): &(u64, u64, Mark)| {
            *at == address && (m.warp, m.lanes) == (mark.warp, mark.lanes)
        };
        self.sends.retain(|old| !same(old));
        self.sends.push((address, bytes, mark));
    }

    /// Copies that send bytes that lanes write, and are not known to have read them: the
    /// first such byte, the lane, the copy.
    pub fn sending(&self, (address, bytes): (u64, u32), touch: &Touch) -> Vec<(u64, u32, Mark)> {
        let end = address + u64::from(bytes);
        let near = self
            .sends
            .iter()
            .filter(|(at, len, _)| *at < end && address < at + len);
        let unseen = near.filter_map(|(at, _, mark)| {
            let missing = |l: &u32| self.order.unseen(touch.warp, *l, mark, false) != 0;
            let lane = lanes(touch.lanes).find(missing)?;
            Some(((*at).max(address), lane, *mark))
        });
        unseen.collect()
    }

    /// Copies that may be going on when the block ends: nobody has waited for them.
    pub fn unwaited(&self) -> Vec<Unwaited> {
        let open = self.bulk.open().into_iter();
        let of_groups = open.map(|(thread, f)| (f.pc, thread, f.address));
        let mut filled = self.filled.iter().collect::<Vec<_>>();
        filled.retain(|(_, (mark, _))| !self.order.is_seen_by_any(mark));
        let of_phases = filled
            .iter()
            .map(|((pc, thread, _), (_, at))| (*pc, *thread, *at));
        let copy = |abroad| {
            move |(pc, thread, address)| Unwaited {
                pc,
                thread,
                address,
                abroad,
            }
        };
        let all = of_groups.chain(of_phases).map(copy(false));
        all.chain(self.unknown_sends().into_iter().map(copy(true)))
            .collect()
    }

    /// One copy for each instruction that sends bytes to another block, of which no thread
    /// knows that they have been read: the instruction, the thread, the first byte.
    fn unknown_sends(&self) -> Vec<(u32, u32, u64)> {
        let agent = |mark: &Mark| (mark.warp, mark.lanes);
        let own: HashSet<_> = self.filled.values().map(|(mark, _)| agent(mark)).collect();
        let unknown = |mark: &Mark| !own.contains(&agent(mark)) && !self.order.is_seen_by_any(mark);
        let sends = self.sends.iter().filter(|(_, _, mark)| unknown(mark));
        let begun = |mark: &Mark| self.begun.get(&mark.moment).copied();
        let sends = sends.filter_map(|(at, _, mark)| Some((mark.pc, begun(mark)?, *at)));
        let mut sends: Vec<_> = sends.collect();
        sends.sort_unstable();
        sends.dedup_by_key(|(pc, ..)| *pc);
        sends
    }

    /// Whether a lane of a warp meets a copy that another thread has begun too early: nothing
    /// orders that with the access of the lane, and by their instructions the copy
    /// `comes_behind` it.
    pub fn is_overtaken(
        &mut self,
        (warp, lane, pc): (u32, u32, u32),
        (hit, byte): (&Hit, u64),
        comes_behind: impl FnOnce() -> bool,
    ) -> bool {
        let copy = &hit.earlier;
        let owner = 32 * u32::from(copy.warp) + copy.lanes.trailing_zeros();
        let began = || self.copies.began(owner, byte, copy.pc);
        let Some(moment) = (copy.moment == FLYING).then(began).flatten() else {
            return false;
        };
        if self
            .order
            .unseen(warp, lane, &Mark { moment, ..*copy }, false)
            == 0
        {
            return false;
        }
        let known = self.overtaking.entry([copy.pc, pc]);
        *known.or_insert_with(comes_behind)
    }
}
