//! The engine of bulk copies: it asks global memory for segments, one after
//! another, and moves rows through the banks of the scratchpad
//! (microarchitecture/sm-model.md).

use super::transfer::{Rows, Transfer};
use super::warp::NEVER;
use std::collections::VecDeque;

/// The waiter for a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub warp: usize,
    /// Slot of its block.
    pub slot: usize,
    pub completion: Completion,
}

/// The signal of a copy's completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completion {
    /// The copy arrives at the `mbarrier` at the address with this many bytes.
    Barrier(u64, u32),
    /// A bulk group of a lane of its warp.
    Group(u32, u64),
    /// A copy of another block arrives at the `mbarrier` of this one.
    Incoming(u64, u32),
}

/// A copy that has not been complete yet.
#[derive(Debug)]
struct Copy {
    owner: Owner,
    stores: bool,
    /// First cycle in which it can do anything.
    begins: u64,
    /// Segments of global memory, and those that the channel has.
    segments: u64,
    asked: u64,
    /// Cycles of the banks for its rows, and those that it has had.
    rows: u64,
    moved: u64,
    /// Arrival cycles of the segments of a load that were requested so far.
    data: Vec<u64>,
}

impl Copy {
    /// The next segment can be asked for: of a store when its rows were read.
    fn may_ask(&self) -> bool {
        let is_there = !self.stores || self.moved * self.segments >= (self.asked + 1) * self.rows;
        self.asked < self.segments && is_there
    }

    /// First cycle in which the next row can be moved; never if that is not
    /// known yet.
    fn row_ready(&self) -> u64 {
        if self.moved == self.rows {
            return NEVER;
        }
        if self.stores {
            return self.begins;
        }
        // Segments that hold the rows up to it.
        match ((self.moved + 1) * self.segments).div_ceil(self.rows) {
            0 => self.begins,
            needed => self.data.get(needed as usize - 1).copied().unwrap_or(NEVER),
        }
    }

    fn is_moved(&self) -> bool {
        self.moved == self.rows
    }

    /// Nothing is left to do.
    fn is_done(&self) -> bool {
        self.is_moved() && self.asked == self.segments
    }
}

/// The progress that a row or a segment makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    pub owner: Owner,
    pub stores: bool,
    /// Whether all rows have been moved.
    pub moved: bool,
    /// The copy is complete.
    pub done: bool,
}

/// The engine, and the copies that it has to do, in the order of their issue.
#[derive(Default)]
pub(super) struct CopyEngine {
    copies: VecDeque<Copy>,
}

impl CopyEngine {
    /// There is nothing to do.
    pub fn is_idle(&self) -> bool {
        self.copies.is_empty()
    }

    /// A copy that was issued in `cycle`, of `rows` and of segments of this many
    /// bytes. None to do if it is empty.
    pub fn begin(
        &mut self,
        owner: Owner,
        transfer: &Transfer,
        (rows, segment): (&Rows, u64),
        cycle: u64,
    ) -> bool {
        let copy = Copy {
            owner,
            stores: transfer.stores,
            begins: cycle + 1,
            segments: transfer.segments(segment),
            asked: 0,
            rows: transfer.bank_cycles(rows),
            moved: 0,
            data: Vec::new(),
        };
        let any = !copy.is_done();
        if any {
            self.copies.push_back(copy);
        }
        any
    }

    /// A copy that another block has begun, which brings these bytes of shared memory from
    /// `cycle` on.
    pub fn land(&mut self, owner: Owner, piece: (u64, u64), rows: &Rows, cycle: u64) {
        self.copies.push_back(Copy {
            owner,
            stores: false,
            begins: cycle,
            segments: 0,
            asked: 0,
            rows: rows.cycles(piece),
            moved: 0,
            data: Vec::new(),
        });
    }

    /// First cycle in which there may be something to do, if the channel is
    /// free in `channel`.
    pub fn next_event(&self, channel: u64) -> u64 {
        let of = |copy: &Copy| {
            let asks = if copy.may_ask() {
                copy.begins.max(channel)
            } else {
                NEVER
            };
            asks.min(copy.row_ready())
        };
        self.copies.iter().map(of).min().unwrap_or(NEVER)
    }

    /// Whether a segment can be asked for in `cycle`.
    pub fn asks(&self, cycle: u64) -> bool {
        self.copies.iter().any(|c| c.may_ask() && c.begins <= cycle)
    }

    /// The channel accepts a request for a segment, whose data arrive in cycle `data`.
    pub fn asked(&mut self, cycle: u64, data: u64) -> Option<Progress> {
        let may_ask = |c: &Copy| c.may_ask() && c.begins <= cycle;
        let at = self.copies.iter().position(may_ask)?;
        let copy = &mut self.copies[at];
        copy.asked += 1;
        if !copy.stores {
            copy.data.push(data);
        }
        Some(self.progress(at))
    }

    /// A row can be moved in `cycle`.
    pub fn has_row(&self, cycle: u64) -> bool {
        self.copies.iter().any(|c| c.row_ready() <= cycle)
    }

    /// A row is moved in `cycle`.
    pub fn row_moved(&mut self, cycle: u64) -> Option<Progress> {
        let at = self.copies.iter().position(|c| c.row_ready() <= cycle)?;
        self.copies[at].moved += 1;
        Some(self.progress(at))
    }

    fn progress(&mut self, at: usize) -> Progress {
        let copy = &self.copies[at];
        let progress = Progress {
            owner: copy.owner,
            stores: copy.stores,
            moved: copy.is_moved(),
            done: copy.is_done(),
        };
        if progress.done {
            self.copies.remove(at);
        }
        progress
    }
}

/// The bulk groups of a thread, the oldest first; the last one is open.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    /// Number of the first.
    first: u64,
    /// Copies of each that have not read their source, and that are not done.
    left: VecDeque<[u32; 2]>,
}

impl Default for Groups {
    fn default() -> Self {
        Groups {
            first: 0,
            left: VecDeque::from([[0; 2]]),
        }
    }
}

impl Groups {
    /// A copy of the open group: its number.
    pub fn begin(&mut self) -> u64 {
        let last = self.left.len() - 1;
        self.left[last].iter_mut().for_each(|left| *left += 1);
        self.first + last as u64
    }

    /// A copy of a group has read its source, or, if `done`, is complete.
    pub fn end(&mut self, group: u64, done: bool) {
        let at = group.checked_sub(self.first).map(|at| at as usize);
        if let Some(left) = at.and_then(|at| self.left.get_mut(at)) {
            left[usize::from(done)] -= 1;
        }
        self.drop_complete();
    }

    /// Closes the open group.
    pub fn commit(&mut self) {
        self.left.push_back([0; 2]);
        self.drop_complete();
    }

    /// Drops the oldest groups that are closed and complete.
    fn drop_complete(&mut self) {
        while self.left.len() > 1 && self.left[0] == [0; 2] {
            self.left.pop_front();
            self.first += 1;
        }
    }

    /// Whether all closed groups but the last `most` have read their sources, or,
    /// if `done`, are complete.
    pub fn are_through(&self, most: u32, done: bool) -> bool {
        let closed = self.left.len() - 1;
        let older = closed.saturating_sub(most as usize);
        let mut waited = self.left.iter().take(older);
        waited.all(|left| left[usize::from(done)] == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_for_the_older_groups() {
        let mut groups = Groups::default();
        assert!(groups.are_through(0, true), "there is none");
        let first = groups.begin();
        assert!(groups.are_through(0, true), "it is open");
        groups.commit();
        let second = groups.begin();
        groups.commit();
        assert!(groups.are_through(2, true) && !groups.are_through(1, false));
        groups.end(first, false);
        assert!(groups.are_through(1, false) && !groups.are_through(1, true));
        // The second one is done before the first.
        groups.end(second, false);
        groups.end(second, true);
        assert!(groups.are_through(0, false) && !groups.are_through(0, true));
        groups.end(first, true);
        assert!(groups.are_through(0, true));
        assert_eq!(groups.begin(), 2);
    }
}
