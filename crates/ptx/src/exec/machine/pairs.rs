//! Races as they are reported: pairs of instructions, with one example each
//! and the number of words where they race.

use crate::exec::api::SharedPart;
use crate::exec::machine::Machine;
use crate::exec::ordering::Scope;
use std::collections::{BTreeMap, HashSet};

/// Why two accesses race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// Nothing orders them.
    Order,
    /// Nothing orders them, and they are in different blocks.
    Blocks,
    /// In different blocks, and nothing is missing but a fence after this instruction,
    /// which read a word of the other block: a barrier has been passed since, or both are
    /// volatile.
    Ticket(u32),
    /// In different blocks: both accesses are strong, but the scope of one does not have
    /// these blocks, of which the second is the narrowest.
    Scope(Scope),
    /// As `Scope`, on shared memory of a cluster.
    ClusterScope,
    /// Lanes of one instruction write different values.
    Lanes,
    /// Lanes of one instruction write different values to shared memory of another block of
    /// the cluster.
    ClusterLanes,
    /// Nobody has waited for a copy.
    Copy,
    /// A warp has not waited for a product.
    Product,
    /// A thread has not waited for a bulk copy to read.
    Bulk,
    /// A write to bytes that `ld.global.nc` reads.
    Constant,
    /// A write to bytes that a texture fetches.
    Texture,
    /// No `fence.proxy.async` between.
    Proxy,
    /// The initialisation of an `mbarrier` is not visible yet.
    Barrier,
    /// Nothing orders them, on shared memory of a cluster with several blocks:
    /// the address has the rank of the block whose memory it is.
    Cluster,
    /// As `Barrier`, on shared memory of another block of the cluster.
    ClusterBarrier,
}

impl Why {
    /// Whether both accesses are of one instruction.
    pub fn is_of_lanes(self) -> bool {
        matches!(self, Why::Lanes | Why::ClusterLanes)
    }

    /// Whether the place is in the shared memory of a block of the cluster.
    pub fn is_of_cluster(self) -> bool {
        use Why::{Cluster, ClusterBarrier, ClusterLanes, ClusterScope};
        matches!(self, Cluster | ClusterBarrier | ClusterLanes | ClusterScope)
    }
}

/// One of the two accesses of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    pub pc: u32,
    pub thread: u32,
    pub wrote: bool,
    /// The block, if it is another one than the one that ran.
    pub block: Option<u64>,
}

/// The properties by which races are one pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub pcs: [u32; 2],
    pub wrote: [bool; 2],
    pub why: Why,
    pub harmless: bool,
    pub memory: Memory,
}

/// The memory that two accesses race on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    Shared,
    Global,
}

/// A byte that two accesses race on.
#[derive(Debug)]
pub struct Place {
    pub memory: Memory,
    /// Offset in shared memory or in the buffer.
    pub address: u64,
    pub variable: Option<String>,
    /// The byte of the variable.
    pub offset: u64,
}

/// Two accesses that race at a place.
#[derive(Debug)]
pub struct Race {
    pub why: Why,
    pub harmless: bool,
    pub sides: [Side; 2],
    pub place: Place,
}

/// A pair of instructions that race, with an example and the places.
#[derive(Clone, Debug)]
pub struct Pair {
    pub sides: [Side; 2],
    pub address: u64,
    pub variable: Option<String>,
    /// The byte of the variable.
    pub offset: u64,
    /// Bytes, or words, in this block.
    pub places: HashSet<u64>,
    pub warps: WarpCoverage,
}

/// The warps that execute two instructions which race.
#[derive(Clone, Copy, Debug)]
pub struct WarpCoverage {
    /// The instructions race only in one warp, and the block has others.
    pub same_warp: bool,
    /// Whether whole warps execute the one, and the other.
    pub whole: [bool; 2],
}

impl WarpCoverage {
    /// The coverage that both agree on.
    pub fn and(self, other: WarpCoverage) -> Self {
        WarpCoverage {
            same_warp: self.same_warp && other.same_warp,
            whole: [0, 1].map(|n| self.whole[n] && other.whole[n]),
        }
    }

    /// The coverage with the instructions in the other order.
    pub fn swapped(self) -> Self {
        WarpCoverage {
            whole: [self.whole[1], self.whole[0]],
            ..self
        }
    }
}

/// A pair of instructions that race, over all blocks.
#[derive(Debug)]
pub struct PairOverBlocks {
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
    /// Notes a race.
    pub fn pair(&mut self, race: Race) {
        let Race {
            why,
            harmless,
            mut sides,
            place,
        } = race;
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
            memory: place.memory,
        };
        let several = self.common.block.iter().product::<u32>() > 32;
        let races = self.races.as_ref();
        let warps = WarpCoverage {
            same_warp: several && sides[0].thread / 32 == sides[1].thread / 32,
            whole: sides.map(|s| races.is_some_and(|r| !r.is_parted(s.pc))),
        };
        let address = place.address;
        let pair = self.pairs.entry(key).or_insert_with(|| Pair {
            sides,
            address,
            variable: place.variable,
            offset: place.offset,
            places: HashSet::new(),
            warps,
        });
        pair.warps = pair.warps.and(warps);
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
