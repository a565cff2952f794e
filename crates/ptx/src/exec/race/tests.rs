//! What races, and what does not: shared memory of a block.

use super::clock::Word;
use super::mark::How;
use super::shadow::{Hit, Touch};
use super::stored::Stored;
use super::words::Bytes;
use super::*;
use crate::exec::ordering::{Fence, Scope, Sides, Strength};

/// A block of some warps.
struct Block(Races);

impl Block {
    fn new(warps: u32) -> Self {
        let mut races = Races::new(64, warps, (true, false));
        races.begin(0);
        Block(races)
    }

    /// A thread accesses a word: threads and instructions of what races.
    fn at(&mut self, thread: u32, pc: u32, write: bool, how: How) -> Vec<(u32, u32)> {
        let moment = self.0.order.tick();
        let touch = Touch {
            warp: thread / 32,
            lanes: 1 << (thread % 32),
            moment,
            pc,
            how,
            write,
            update: write && how.strength == Strength::Strong,
            stored: Stored::default(),
            passing: false,
        };
        let (first, count) = self.0.places(8, 4);
        self.0.shadow.touch(&self.0.order, first, count, &touch);
        let hits = std::mem::take(&mut self.0.shadow.hits);
        let pair = |h: &Hit| (self.0.thread_of(h, thread), h.earlier.pc);
        hits.iter().map(pair).collect()
    }

    fn read(&mut self, thread: u32, pc: u32) -> Vec<(u32, u32)> {
        self.at(thread, pc, false, How::default())
    }

    fn write(&mut self, thread: u32, pc: u32) -> Vec<(u32, u32)> {
        self.at(thread, pc, true, How::default())
    }

    fn update(&mut self, thread: u32, pc: u32) -> Vec<(u32, u32)> {
        self.update_by(thread, pc, false)
    }

    /// `blind`: nobody reads the result.
    fn update_by(&mut self, thread: u32, pc: u32, blind: bool) -> Vec<(u32, u32)> {
        let how = How {
            blind,
            strength: Strength::Strong,
            scope: Scope::Block,
            size: 4,
        };
        self.at(thread, pc, true, how)
    }
}

const NONE: [(u32, u32); 0] = [];

fn word(orders: bool) -> Word {
    Word {
        bytes: Bytes {
            address: 16,
            count: 4,
        },
        global: false,
        scope: Scope::Block,
        orders,
        update: false,
        pc: 0,
    }
}

#[test]
fn all_that_nothing_orders_races_until_a_barrier() {
    let mut block = Block::new(4);
    assert_eq!(block.write(0, 1), NONE);
    assert_eq!(block.read(0, 2), NONE);
    assert_eq!(block.read(40, 2), [(0, 1)]);
    assert_eq!(block.read(70, 3), [(0, 1)]);
    block.0.order.barrier();
    for thread in 0..96 {
        assert_eq!(block.read(thread, 4), NONE);
    }
    // Every reader is remembered.
    assert_eq!(block.write(33, 5).len(), 3);
}

#[test]
fn a_race_is_between_accesses_that_were_made() {
    let mut block = Block::new(1);
    // What the lane itself reads last is no other lane's read.
    assert_eq!([block.read(1, 1), block.read(0, 2)], [NONE; 2]);
    assert_eq!(block.write(0, 3), [(1, 1)]);
    block.0.order.barrier();
    // Whoever of them reads once more: all did at the first line.
    for (lane, pc) in [(1, 1), (2, 1), (0, 1), (2, 2), (0, 2), (0, 1)] {
        assert_eq!(block.read(lane, pc), NONE);
    }
    assert_eq!(block.write(0, 3), [(1, 1)]);
    block.0.order.barrier();
    // Of several lines each, in the order in which the lanes read first.
    for pc in 1..4 {
        assert_eq!(block.read(pc, pc), NONE);
    }
    for (lane, pc) in [(1, 4), (2, 5), (1, 6)] {
        assert_eq!(block.read(lane, pc), NONE);
    }
    assert_eq!(block.write(0, 7), [(1, 1), (2, 2), (3, 3)]);
    block.0.order.barrier();
    // Of two lanes the one that a barrier of lanes has not ordered.
    assert_eq!([block.read(1, 1), block.read(2, 1)], [NONE; 2]);
    block.0.order.meet(0, 0b11);
    assert_eq!(block.read(0, 2), NONE);
    assert_eq!(block.write(0, 3), [(2, 1)]);
}

#[test]
fn an_atomic_does_not_hide_a_store() {
    let mut block = Block::new(2);
    assert_eq!(block.write(3, 1), NONE);
    assert_eq!(block.update(3, 2), NONE);
    assert_eq!(block.update(40, 2), [(3, 1)]);
    assert_eq!(block.update(41, 2), [(3, 1)]);
    block.0.order.barrier();
    assert_eq!(block.update(3, 3), NONE);
    assert_eq!(block.update_by(40, 3, true), NONE);
    assert_eq!(block.read(40, 4), [(3, 3)]);
}

#[test]
fn an_atomic_has_observed_those_before_it() {
    let mut block = Block::new(2);
    assert_eq!(block.update(3, 3), NONE);
    assert_eq!(block.update(40, 3), NONE);
    assert_eq!(block.read(40, 4), NONE);
    assert_eq!(block.read(3, 4), [(40, 3)]);
    assert_eq!(block.write(40, 5), [(3, 4)]);
}

#[test]
fn fences_and_words_order() {
    for (fenced, acquired) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut block = Block::new(2);
        block.write(0, 1);
        let order = &mut block.0.order;
        if fenced {
            order.fence(0, 1, (Fence::Block, Sides::Both));
        }
        order.write(0, 1, word(false));
        order.read(1, 1 << 8, word(false));
        if acquired {
            order.fence(1, 1 << 8, (Fence::Block, Sides::Both));
        }
        let found = block.read(40, 2);
        assert_eq!(found.is_empty(), fenced && acquired);
        assert_eq!(block.read(41, 2), [(0, 1)], "another lane");
    }
    let mut block = Block::new(2);
    block.write(0, 1);
    block.0.order.write(0, 1, word(true));
    block.0.order.read(1, 1 << 8, word(true));
    assert_eq!(block.read(40, 2), NONE);
    // A store that carries nothing takes the place of the one that did.
    let mut block = Block::new(3);
    block.write(0, 1);
    block.0.order.write(0, 1, word(true));
    block.0.order.write(2, 1, word(false));
    block.0.order.read(1, 1 << 8, word(true));
    assert_eq!(block.read(40, 2), [(0, 1)]);
}

#[test]
fn lanes_meet_and_barriers_of_some_warps_order_them() {
    let mut block = Block::new(3);
    block.write(1, 1);
    assert_eq!(block.read(2, 5), [(1, 1)]);
    block.0.order.meet(0, 0b1010);
    assert_eq!(block.read(3, 6), NONE);
    assert_eq!(block.read(4, 6), [(1, 1)]);
    block.0.order.meet(0, u32::MAX);
    assert_eq!(block.read(4, 6), NONE);
    block.0.order.arrive(3, 0, u32::MAX);
    let late = block.write(1, 7);
    assert_eq!(late.len(), 1, "of all the lanes that read one");
    block.0.order.pass(3, &[(1, u32::MAX)]);
    assert!(block.read(40, 8).contains(&(1, 7)));
    block.0.order.pass(4, &[(0, u32::MAX), (1, u32::MAX)]);
    assert_eq!(block.read(40, 8), NONE);
    assert!(!block.read(70, 8).is_empty());
}

#[test]
fn a_copy_is_seen_by_who_is_ordered_after_its_wait() {
    let mut block = Block::new(2);
    let moment = block.0.order.tick();
    let touch = Touch {
        warp: 0,
        lanes: 1,
        moment,
        pc: 1,
        how: How::default(),
        write: true,
        update: false,
        stored: Stored::default(),
        passing: true,
    };
    block.0.fly((8, 4), &touch, None);
    block.0.copies.commit(0);
    block.0.order.barrier();
    assert_eq!(block.read(40, 2).len(), 1, "on its way");
    block.0.landed(0, 0, Some(0));
    assert_eq!(block.read(0, 2), NONE);
    assert_eq!(
        block.read(40, 2).len(),
        1,
        "the wait comes after the barrier"
    );
    block.0.order.barrier();
    assert_eq!(block.read(40, 2), NONE);
    // One that arrives at an mbarrier: for who waits for that, whatever barriers say.
    let moment = block.0.order.tick();
    let touch = Touch { moment, ..touch };
    block.0.fly((8, 4), &touch, Some(32));
    block.0.come(0, 0, (32, 99));
    block.0.order.barrier();
    assert_eq!(block.read(40, 2).len(), 1);
    block.0.order.take(1, u32::MAX, 99);
    assert_eq!(block.read(40, 2), NONE);
    assert_eq!(block.read(0, 2).len(), 1);
    block.0.order.barrier();
    assert_eq!(block.read(0, 2), NONE);
}

#[test]
fn bytes_of_a_word_do_not_race() {
    let mut block = Block::new(2);
    block.write(0, 1);
    block.0.order.barrier();
    let mut byte = |thread: u32, at: u64| {
        let (first, count) = block.0.places(at, 1);
        let moment = block.0.order.tick();
        let touch = Touch {
            warp: thread / 32,
            lanes: 1 << (thread % 32),
            moment,
            pc: 1,
            how: How::default(),
            write: true,
            update: false,
            stored: Stored::default(),
            passing: false,
        };
        block.0.shadow.touch(&block.0.order, first, count, &touch);
        std::mem::take(&mut block.0.shadow.hits).len()
    };
    assert_eq!([byte(0, 8), byte(40, 9), byte(41, 8)], [0, 0, 1]);
}
