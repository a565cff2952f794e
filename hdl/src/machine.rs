//! What an emission needs to know about the machine.

use crate::geometry::Geometry;
use crate::hashes::{HashKind, PathHash};
use crate::module::{HdlError, Result};
use serde::Serialize;

/// Program-counter bits (elastic paper, section 5.4).
pub const PC_BITS: usize = 14;
/// Destination-tag bits.
pub(crate) const TAG_BITS: usize = 8;

/// Cycles of the four states of an atomic operation's round (atomics paper,
/// section III).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RetryLatencies {
    /// READ, per degree of the load-and-lock.
    pub read: u32,
    /// UPDATE.
    pub update: u32,
    /// WRITE, per degree of the store-and-unlock.
    pub write: u32,
    /// BRANCH.
    pub branch: u32,
}

/// The machine that is emitted.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Address and bank bits.
    pub geometry: Geometry,
    /// The configurable hash unit, whose registers `spad_hash_config` holds.
    pub hash_unit: HashKind,
    /// The bank hash of the SM path.
    pub path_hash: PathHash,
    /// Words of the scratchpad; a multiple of the number of banks.
    pub capacity_words: usize,
    /// Lanes: a power of two from 2 to 64.
    pub lanes: usize,
    /// Bits of a word: 32 or 64.
    pub word_bits: usize,
    /// Threads of a warp; a multiple of the lanes.
    pub warp_size: usize,
    /// Warp slots.
    pub warps: usize,
    /// Thread-block slots; even.
    pub blocks: usize,
    /// Lock bits; 0 for none.
    pub locks: usize,
    /// Cycles in which the lock unit looks at one group.
    pub lock_group_cycles: usize,
    /// Lanes on one address are served together.
    pub broadcast: bool,
    /// Stores of one word are merged per byte.
    pub merge_bytes: bool,
    /// Memory stages: 2 to 8.
    pub mem_stages: usize,
    /// Stages in which the issue is decided in front of EXE: 0 to 3.
    pub ahead: usize,
    /// Extra hash stages: 0 or 1.
    pub hash_stage: usize,
    /// Sets of the conflict history.
    pub history_sets: usize,
    /// Latencies of the retry sequencer.
    pub retry: RetryLatencies,
}

impl Machine {
    /// A machine of this geometry with one full pass per warp, for what
    /// depends on nothing else.
    pub fn of_geometry(geometry: Geometry, hash_unit: HashKind) -> Self {
        Machine {
            geometry,
            hash_unit,
            path_hash: PathHash::Configurable,
            capacity_words: 1 << geometry.addr_bits,
            lanes: 1 << geometry.bank_bits,
            word_bits: 32,
            warp_size: 64,
            warps: 8,
            blocks: 4,
            locks: 64,
            lock_group_cycles: 1,
            broadcast: true,
            merge_bytes: true,
            mem_stages: 2,
            ahead: 0,
            hash_stage: 0,
            history_sets: 256,
            retry: RetryLatencies {
                read: 1,
                update: 1,
                write: 1,
                branch: 1,
            },
        }
    }

    /// Fails on what the templates cannot express.
    pub(crate) fn check(&self) -> Result<()> {
        self.geometry.check()?;
        let banks = 1 << self.geometry.bank_bits;
        let lane_count = (2..=64).contains(&self.lanes) && self.lanes.is_power_of_two();
        let rules = [
            (lane_count, "lanes: a power of two from 2 to 64"),
            (
                self.warp_size.is_multiple_of(self.lanes) && self.warp_size.is_power_of_two(),
                "warp_size: a power of two, at least the lanes",
            ),
            (
                self.capacity_words > 0
                    && self.capacity_words.is_multiple_of(banks)
                    && self.capacity_words <= 1 << self.geometry.addr_bits,
                "capacity_words: a multiple of the banks, at most 2^n",
            ),
            ([32, 64].contains(&self.word_bits), "word_bits: 32 or 64"),
            (self.warps >= 2, "warps: at least 2"),
            (
                self.blocks >= 2 && self.blocks.is_multiple_of(2),
                "blocks: even, at least 2",
            ),
            (
                self.locks == 0
                    || (32..=1024).contains(&self.locks) && self.locks.is_power_of_two(),
                "locks: 0 or a power of two from 32 to 1024",
            ),
            (
                [1, 2, 4, 8].contains(&self.lock_group_cycles)
                    && self.lock_group_cycles <= self.lanes,
                "lock_group_cycles: 1, 2, 4 or 8, at most the lanes",
            ),
            ((2..=8).contains(&self.mem_stages), "mem_stages: 2 to 8"),
            (self.ahead <= 3, "ahead: 0 to 3"),
            (self.hash_stage <= 1, "hash_stage: 0 or 1"),
            (
                self.history_sets.is_power_of_two()
                    && (2..=1 << (PC_BITS - 1)).contains(&self.history_sets),
                "history_sets: a power of two from 2 to 8192",
            ),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            None => Ok(()),
            Some((_, expected)) => Err(HdlError::Machine {
                expected: (*expected).into(),
            }),
        }
    }
}
