//! Races as they are reported: pairs of instructions, with one example each
//! and the number of places where they race.

use crate::exec::api::SharedPart;
use crate::exec::machine::Machine;
use std::collections::{BTreeMap, HashSet};

/// Why two accesses race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// Nothing orders them.
    Order,
    /// The same, in different blocks.
    Blocks,
    /// In different blocks, and nothing is missing but a fence after this instruction,
    /// which read a word of the other block: a barrier has been passed since.
    Ticket(u32),
    /// Lanes of one instruction write different values.
    Lanes,
    /// Nobody has waited for a copy.
    Copy,
    /// A warp has not waited for a product.
    Product,
    /// A thread has not waited for a bulk copy to read.
    Bulk,
    /// What `ld.global.nc` reads is written.
    Constant,
    /// No `fence.proxy.async` between.
    Proxy,
    /// The initialisation of an `mbarrier` is not visible yet.
    Barrier,
    /// Nothing orders them, on shared memory of a cluster with several blocks:
    /// the address has the rank of the block whose memory it is.
    Cluster,
    /// The same of an `mbarrier`.
    ClusterBarrier,
}

/// One of the two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    pub pc: u32,
    pub thread: u32,
    pub wrote: bool,
    /// Of another block than the one that ran.
    pub block: Option<u64>,
}

/// What pairs have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub pcs: [u32; 2],
    pub wrote: [bool; 2],
    pub why: Why,
    pub harmless: bool,
    /// On shared memory, else on that buffer.
    pub global: bool,
}

/// Where two instructions race.
#[derive(Clone, Debug)]
pub struct Pair {
    pub sides: [Side; 2],
    pub address: u64,
    pub variable: Option<String>,
    /// The byte of the variable.
    pub offset: u64,
    /// Places, in this block.
    pub places: HashSet<u64>,
    /// They race only in one warp, and the block has others.
    pub in_warp: bool,
    /// Whether whole warps execute the one, and the other.
    pub whole: [bool; 2],
}

/// The same over all blocks.
#[derive(Debug)]
pub struct Raced {
    /// The block of the example.
    pub block: u64,
    pub pair: Pair,
    pub count: u64,
}

/// Places that are counted apart; more are not told from each other.
const MOST: usize = 1 << 20;

/// The races of a block.
pub type Pairs = BTreeMap<Key, Pair>;

impl Machine<'_> {
    /// Notes that two accesses of shared memory race at a place: address, variable and
    /// byte of it.
    pub fn pair(&mut self, why: (Why, bool), sides: [Side; 2], place: (u64, Option<String>, u64)) {
        self.pair_in(false, why, sides, place);
    }

    /// The same of shared or global memory.
    pub fn pair_in(
        &mut self,
        global: bool,
        (why, harmless): (Why, bool),
        mut sides: [Side; 2],
        (address, variable, offset): (u64, Option<String>, u64),
    ) {
        // In the order of the text, whichever came first.
        let rank = |s: &Side| (s.pc, s.wrote, s.block, s.thread);
        if rank(&sides[1]) < rank(&sides[0]) {
            sides.swap(0, 1);
        }
        let key = Key {
            pcs: sides.map(|s| s.pc),
            wrote: sides.map(|s| s.wrote),
            why,
            harmless,
            global,
        };
        let new = || Pair {
            sides,
            address,
            variable,
            offset,
            places: HashSet::new(),
            in_warp: true,
            whole: [true; 2],
        };
        let several = self.common.block.iter().product::<u32>() > 32;
        let in_warp = several && sides[0].thread / 32 == sides[1].thread / 32;
        let races = self.races.as_ref();
        let whole = sides.map(|s| races.is_some_and(|r| !r.is_parted(s.pc)));
        let pair = self.pairs.entry(key).or_insert_with(new);
        pair.in_warp &= in_warp;
        pair.whole = [0, 1].map(|n| pair.whole[n] && whole[n]);
        if pair.places.len() < MOST {
            pair.places.insert(address);
        }
    }

    /// The variable of shared memory at a byte, and its byte there: of dynamic memory
    /// the part that has a name of its own, if the byte is in one.
    pub fn shared_place(&self, address: u64) -> (Option<String>, u64) {
        let has = |v: &&crate::exec::image::SharedVariable| {
            let start = u64::from(v.offset);
            start <= address && (address < start + u64::from(v.bytes) || v.bytes == 0)
        };
        let Some(found) = self.image.shared.iter().rev().find(has) else {
            return (None, address);
        };
        let inside = address - u64::from(found.offset);
        let has = |p: &&SharedPart| (u64::from(p.offset)..u64::from(p.end())).contains(&inside);
        // Dynamic ones have no bytes of their own.
        let part = self.common.parts.iter().find(has);
        match part.filter(|_| found.bytes == 0) {
            Some(part) => (Some(part.name.clone()), inside - u64::from(part.offset)),
            None => (Some(found.name.clone()), inside),
        }
    }
}
