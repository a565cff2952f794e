//! Races on global memory: between threads of a block as on shared memory,
//! and between blocks.
//!
//! Blocks run one after the other; nothing orders them but words: a block
//! that reads a word by an atomic or a volatile or relaxed load has seen what
//! the blocks did that wrote it so, after a fence. Kept per word are the last
//! write and the last reads of two threads, with the bytes of each.

use super::clock::{Order, Stamp};
use super::{Strength, Touch, compatible};
use std::collections::{HashMap, HashSet};

/// Words of a page.
const PAGE: u64 = 256;
/// Pages that are kept: 64 MB of global memory.
const PAGES: usize = 1 << 16;

#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// Of the block plus one; 0 for no access.
    block: u64,
    stamp: Stamp,
    pc: u32,
    step: u32,
    /// Bytes of the word.
    bytes: u8,
    strength: Strength,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Mark,
    reads: [Mark; 2],
}

/// The other side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier {
    pub block: u64,
    pub thread: u32,
    pub pc: u32,
    pub wrote: bool,
}

/// What was done to global memory by the blocks so far.
#[derive(Debug, Default)]
pub struct GlobalRaces {
    pages: HashMap<u64, Box<[Cell]>>,
    block: u64,
    /// Blocks that the words bring.
    words: HashMap<u64, HashSet<u64>>,
    /// Blocks that this one has seen.
    seen: HashSet<u64>,
    /// Whether this block has passed a fence for all of the GPU.
    fenced: bool,
}

impl GlobalRaces {
    /// The next block begins.
    pub fn begin(&mut self, block: u64) {
        self.block = block + 1;
        self.seen.clear();
        self.fenced = false;
    }

    /// A fence for more than the block.
    pub fn fence(&mut self) {
        self.fenced = true;
    }

    /// A word that may order is read.
    pub fn read(&mut self, word: u64) {
        if let Some(blocks) = self.words.get(&word) {
            self.seen.extend(blocks);
        }
    }

    /// A word that may order is written.
    pub fn write(&mut self, word: u64, release: bool) {
        if self.fenced || release {
            let blocks = self.words.entry(word).or_default();
            blocks.insert(self.block);
            blocks.extend(&self.seen);
        }
    }

    /// A thread accesses bytes of a word: the access that it races with. An
    /// error where there is no room to remember it.
    pub fn touch(
        &mut self,
        order: &Order,
        word: u64,
        bytes: u8,
        touch: Touch,
    ) -> Result<Option<Earlier>, ()> {
        let full = self.pages.len() >= PAGES;
        let page = match self.pages.entry(word / PAGE) {
            std::collections::hash_map::Entry::Vacant(_) if full => return Err(()),
            entry => entry.or_insert_with(|| vec![Cell::default(); PAGE as usize].into()),
        };
        let cell = &mut page[(word % PAGE) as usize];
        let (block, seen) = (self.block, &self.seen);
        let clashes = |mark: &Mark| {
            let here = mark.block == block;
            let one_warp = here && mark.stamp.thread / 32 == touch.thread / 32;
            let ordered = if here {
                order.has_seen(touch.thread, mark.stamp) || one_warp && mark.step == touch.step
            } else {
                seen.contains(&mark.block)
            };
            mark.block != 0
                && mark.bytes & bytes != 0
                && !ordered
                && !compatible(mark.strength, touch.strength, one_warp)
        };
        let by_write = clashes(&cell.write).then_some((cell.write, true));
        let by_read = cell.reads.iter().find(|m| touch.write && clashes(m));
        let found = by_write.or(by_read.map(|m| (*m, false)));
        let mark = Mark {
            block,
            stamp: order.stamp(touch.thread),
            pc: touch.pc,
            step: touch.step,
            bytes,
            strength: touch.strength,
        };
        let last = cell.reads[0];
        if touch.write {
            cell.write = mark;
        } else if last.block != block || last.stamp.thread != touch.thread {
            cell.reads = [mark, last];
        } else {
            cell.reads[0] = mark;
        }
        Ok(found.map(|(mark, wrote)| Earlier {
            block: mark.block - 1,
            thread: mark.stamp.thread,
            pc: mark.pc,
            wrote,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::touch;
    use super::*;

    #[test]
    fn blocks_are_ordered_by_words_with_fences_only() {
        for fenced in [false, true] {
            let mut order = Order::new(64);
            let mut races = GlobalRaces::default();
            races.begin(0);
            assert_eq!(races.touch(&order, 9, 15, touch(3, 1, true)), Ok(None));
            if fenced {
                races.fence();
            }
            races.write(70, false);
            order.clear();
            races.begin(1);
            races.read(70);
            let earlier = Earlier {
                block: 0,
                thread: 3,
                pc: 1,
                wrote: true,
            };
            let found = races.touch(&order, 9, 15, touch(3, 1, false));
            assert_eq!(found, Ok((!fenced).then_some(earlier)));
        }
    }

    #[test]
    fn other_bytes_and_other_words_are_free() {
        let order = Order::new(64);
        let mut races = GlobalRaces::default();
        races.begin(0);
        assert_eq!(races.touch(&order, 9, 1, touch(0, 1, true)), Ok(None));
        assert_eq!(races.touch(&order, 9, 2, touch(40, 1, true)), Ok(None));
        assert_eq!(races.touch(&order, 8, 15, touch(40, 1, true)), Ok(None));
        assert!(
            races
                .touch(&order, 8, 8, touch(1, 1, false))
                .unwrap()
                .is_some()
        );
    }
}
