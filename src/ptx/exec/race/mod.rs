//! Races on shared memory: two threads access a byte, at least one writes,
//! and nothing [orders](clock) them.
//!
//! Byte-granular: threads may own different bytes of one word
//! (byte counters, 16-bit elements). Per byte the last write and the last
//! read of two threads are kept, which is enough to find some race of every
//! byte that has one.
//! Lanes of a warp are also ordered where one instruction is executed for
//! both at once. Atomics, volatile and relaxed accesses do not race with each
//! other, but for volatile ones of lanes of one warp: a GPU need not execute
//! these in lockstep, which is what code with them relies on.

mod accumulators;
mod clock;
mod flights;
pub(super) mod global;
mod reading;

use accumulators::Accumulators;
pub(super) use accumulators::Uses;
use clock::{Order, Stamp};
use flights::Flights;
use reading::Reads;

/// What an access is to others at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Strength {
    #[default]
    Weak,
    Volatile,
    /// Atomics, relaxed accesses.
    Strong,
}

/// An access to a byte.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// Of no access where false.
    made: bool,
    strength: Strength,
    pc: u32,
    step: u32,
    stamp: Stamp,
}

/// What was done to a byte.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Mark,
    reads: [Mark; 2],
    /// Warps that have since stored the value that was there.
    echoes: u32,
}

/// The other side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Other {
    pub thread: u32,
    pub pc: u32,
    pub wrote: bool,
    /// The value stays the same: whoever comes first.
    pub harmless: bool,
}

/// An access of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub thread: u32,
    pub pc: u32,
    /// The same for lanes that execute the instruction at once.
    pub step: u32,
    pub write: bool,
    pub strength: Strength,
    /// It stores the value that is there.
    pub same: bool,
}

/// The shared memory of a block.
pub(super) struct Races {
    cells: Vec<Cell>,
    pub order: Order,
    pub flights: Flights,
    pub reads: Reads,
    pub accumulators: Accumulators,
}

impl Races {
    pub fn new(bytes: u64, threads: u32) -> Self {
        Races {
            cells: vec![Cell::default(); bytes as usize],
            order: Order::new(threads),
            flights: Flights::new(bytes, threads),
            reads: Reads::new(bytes, threads),
            accumulators: Accumulators::new(threads),
        }
    }

    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        // Marks of another interval clash with nothing.
        self.order.clear();
        self.flights.clear();
        self.reads.clear();
        self.accumulators.clear();
    }

    /// A thread accesses a byte: the access that it races with.
    pub fn touch(&mut self, byte: usize, touch: Touch) -> Option<Other> {
        let order = &self.order;
        let cell = self.cells.get_mut(byte)?;
        let warp = |thread: u32| thread / 32;
        let clashes = |mark: &Mark| {
            let one_warp = warp(mark.stamp.thread) == warp(touch.thread);
            let at_once = one_warp && mark.step == touch.step;
            mark.made
                && !at_once
                && !compatible(mark.strength, touch.strength, one_warp)
                && !order.has_seen(touch.thread, mark.stamp)
        };
        let own = 1 << (warp(touch.thread) % 32);
        // Its own warp has stored the same since.
        let echoed = !touch.write && cell.echoes & own != 0;
        let by_write = (clashes(&cell.write) && !echoed).then_some((cell.write, true));
        let by_read = cell
            .reads
            .iter()
            .find(|m| touch.write && clashes(m))
            .map(|m| (*m, false));
        let stamp = order.stamp(touch.thread);
        let mark = Mark {
            made: true,
            strength: touch.strength,
            pc: touch.pc,
            step: touch.step,
            stamp,
        };
        if touch.write && touch.same && by_write.is_some() {
            cell.echoes |= own;
        } else if touch.write {
            (cell.write, cell.echoes) = (mark, 0);
        } else if cell.reads[0].stamp.thread != stamp.thread
            || order.has_passed(cell.reads[0].stamp)
        {
            cell.reads = [mark, cell.reads[0]];
        } else {
            cell.reads[0] = mark;
        }
        by_write.or(by_read).map(|(mark, wrote)| Other {
            thread: mark.stamp.thread,
            pc: mark.pc,
            wrote,
            harmless: touch.write && touch.same,
        })
    }
}

/// Whether two accesses may come in any order.
pub(super) fn compatible(a: Strength, b: Strength, one_warp: bool) -> bool {
    match (a, b) {
        (Strength::Weak, _) | (_, Strength::Weak) => false,
        (Strength::Volatile, Strength::Volatile) => !one_warp,
        _ => true,
    }
}

/// A touch as most of them are, in a step of its own instruction.
#[cfg(test)]
pub(super) fn touch(thread: u32, pc: u32, write: bool) -> Touch {
    Touch {
        thread,
        pc,
        step: pc,
        write,
        strength: Strength::Weak,
        same: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(thread: u32, pc: u32, wrote: bool) -> Option<Other> {
        Some(Other {
            thread,
            pc,
            wrote,
            harmless: false,
        })
    }

    #[test]
    fn a_write_races_until_the_next_barrier() {
        let mut races = Races::new(64, 64);
        assert_eq!(races.touch(3, touch(0, 1, true)), None);
        assert_eq!(races.touch(3, touch(0, 2, false)), None);
        assert_eq!(races.touch(3, touch(40, 2, false)), other(0, 1, true));
        races.order.barrier();
        assert_eq!(races.touch(3, touch(40, 2, false)), None);
        assert_eq!(races.touch(3, touch(0, 1, true)), other(40, 2, false));
    }

    #[test]
    fn another_byte_and_another_block_do_not_race() {
        let mut races = Races::new(64, 64);
        assert_eq!(races.touch(4, touch(0, 1, true)), None);
        assert_eq!(races.touch(5, touch(40, 1, true)), None);
        races.clear();
        assert_eq!(races.touch(4, touch(40, 1, true)), None);
        assert!(races.touch(4, touch(0, 1, true)).is_some());
    }

    #[test]
    fn lanes_of_a_warp_are_ordered_by_instructions_that_name_them() {
        let mut races = Races::new(64, 32);
        races.touch(0, touch(1, 1, true));
        assert!(races.touch(0, touch(2, 5, false)).is_some());
        races.order.meet(&[1, 3]);
        assert!(races.touch(0, touch(3, 6, false)).is_none());
        assert!(races.touch(0, touch(4, 6, false)).is_some());
    }

    #[test]
    fn the_same_value_is_harmless() {
        let mut races = Races::new(64, 96);
        let same = |thread| Touch {
            same: true,
            ..touch(thread, 1, true)
        };
        races.touch(0, same(0));
        assert!(races.touch(0, same(40)).is_some_and(|o| o.harmless));
        assert_eq!(races.touch(0, touch(40, 2, false)), None);
        assert_eq!(races.touch(0, touch(70, 2, false)), other(0, 1, true));
    }

    #[test]
    fn strong_accesses_do_not_race_volatile_ones_of_a_warp_do() {
        let mut races = Races::new(64, 64);
        let with = |thread, pc, strength| Touch {
            strength,
            ..touch(thread, pc, true)
        };
        races.touch(0, with(0, 1, Strength::Volatile));
        assert_eq!(races.touch(0, with(40, 2, Strength::Strong)), None);
        assert_eq!(races.touch(0, with(3, 3, Strength::Volatile)), None);
        assert!(races.touch(0, with(35, 4, Strength::Volatile)).is_none());
        assert!(races.touch(0, with(36, 5, Strength::Volatile)).is_some());
    }
}
