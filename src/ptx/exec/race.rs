//! Races on shared memory: two threads access a byte between two barriers,
//! at least one writes, and nothing orders them.
//!
//! Byte-granular: threads may have different bytes of a word for their own
//! (byte counters, 16-bit elements). Per byte the last write and the last
//! read of two threads are kept, which is enough to find some race of every
//! byte that has one.
//! Threads of one warp are ordered where one instruction is executed for
//! both at once and, on the same converged path, by `bar.warp.sync`; the
//! epoch of a warp counts these. A barrier of some warps of the block counts
//! as one of all: rather miss a race than report one that is none.

/// An access to a byte.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// Thread plus one; 0 for none.
    thread: u32,
    pc: u32,
    /// Barrier interval of the block.
    interval: u32,
    /// Warp barriers of the warp so far.
    epoch: u32,
    /// Atomics do not race with each other.
    atomic: bool,
}

/// What was done to a byte.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Mark,
    reads: [Mark; 2],
}

/// The other side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Other {
    pub thread: u32,
    pub pc: u32,
    pub wrote: bool,
}

/// One access of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub thread: u32,
    pub pc: u32,
    pub write: bool,
    pub atomic: bool,
    /// Warp barriers of its warp so far.
    pub epoch: u32,
}

/// The shared memory of a block.
pub(super) struct Races {
    cells: Vec<Cell>,
    interval: u32,
}

impl Races {
    pub fn new(bytes: u64) -> Self {
        Races {
            cells: vec![Cell::default(); bytes as usize],
            interval: 1,
        }
    }

    /// A barrier of the whole block.
    pub fn barrier(&mut self) {
        self.interval += 1;
    }

    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        // Marks of another interval clash with nothing.
        self.interval += 1;
    }

    /// A thread accesses a byte: the access that it races with.
    pub fn touch(&mut self, byte: usize, touch: Touch) -> Option<Other> {
        let interval = self.interval;
        let cell = self.cells.get_mut(byte)?;
        let clashes = |mark: &Mark| {
            let other = mark.thread != 0 && mark.thread != touch.thread + 1;
            let warp = |thread: u32| thread / 32;
            let ordered = other
                && warp(mark.thread - 1) == warp(touch.thread)
                && (mark.epoch != touch.epoch || mark.pc == touch.pc);
            other && mark.interval == interval && !ordered && !(mark.atomic && touch.atomic)
        };
        let by_write = clashes(&cell.write).then_some((cell.write, true));
        let by_read = cell
            .reads
            .iter()
            .find(|m| touch.write && clashes(m))
            .map(|m| (*m, false));
        let mark = Mark {
            thread: touch.thread + 1,
            pc: touch.pc,
            interval,
            epoch: touch.epoch,
            atomic: touch.atomic,
        };
        if touch.write {
            cell.write = mark;
        } else if cell.reads[0].thread != mark.thread || cell.reads[0].interval != interval {
            cell.reads = [mark, cell.reads[0]];
        } else {
            cell.reads[0] = mark;
        }
        by_write.or(by_read).map(|(mark, wrote)| Other {
            thread: mark.thread - 1,
            pc: mark.pc,
            wrote,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(thread: u32, pc: u32, write: bool, epoch: u32) -> Touch {
        Touch {
            thread,
            pc,
            write,
            atomic: false,
            epoch,
        }
    }

    #[test]
    fn a_write_races_until_the_next_barrier() {
        let mut races = Races::new(64);
        assert_eq!(races.touch(3, touch(0, 1, true, 0)), None);
        assert_eq!(races.touch(3, touch(0, 2, false, 0)), None);
        let other = Other {
            thread: 0,
            pc: 1,
            wrote: true,
        };
        assert_eq!(races.touch(3, touch(40, 2, false, 0)), Some(other));
        races.barrier();
        assert_eq!(races.touch(3, touch(40, 2, false, 0)), None);
        let other = Other {
            thread: 40,
            pc: 2,
            wrote: false,
        };
        assert_eq!(races.touch(3, touch(0, 1, true, 0)), Some(other));
    }

    #[test]
    fn another_byte_and_another_block_do_not_race() {
        let mut races = Races::new(64);
        assert_eq!(races.touch(4, touch(0, 1, true, 0)), None);
        assert_eq!(races.touch(5, touch(40, 1, true, 0)), None);
        races.clear();
        assert_eq!(races.touch(4, touch(40, 1, true, 0)), None);
        assert!(races.touch(4, touch(0, 1, true, 0)).is_some());
    }

    #[test]
    fn lanes_of_a_warp_are_ordered_by_its_barrier_only() {
        let mut races = Races::new(64);
        races.touch(0, touch(1, 1, true, 0));
        assert!(races.touch(0, touch(2, 5, false, 0)).is_some());
        assert!(races.touch(0, touch(3, 6, false, 1)).is_none());
    }
}
