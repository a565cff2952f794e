//! Peers: what the blocks of a cluster see of each other. These are shared memory, which of
//! its bytes are written, and the `mbarrier` objects in it.
//!
//! An address of `.shared::cluster` is the offset in a block's shared memory, and above its
//! bits the block's rank plus one. Without a rank it is of the block itself, so that
//! addresses of `.shared::cta` are such addresses, too.

use super::Machine;
use super::phase::Mbarriers;
use crate::exec::api::reported::PeerEvent;
use crate::exec::race::{Knowledge, Seen};

/// Bits of the offset.
const OFFSET_BITS: u32 = 24;

/// Shared memory of a block that such addresses reach.
pub const REACH: u64 = 1 << OFFSET_BITS;

/// The largest rank plus one that an address names: above it, 32 bits have gone
/// below zero.
const MOST: u64 = 0xef;

/// Blocks of a cluster: this many where the kernel asks for more than is portable.
pub const MOST_BLOCKS: u32 = 16;

/// The address of an offset in the shared memory of the block of a rank.
pub fn mapped(offset: u64, rank: u32) -> u64 {
    (u64::from(rank) + 1).min(MOST) << OFFSET_BITS | offset & (REACH - 1)
}

/// The rank that an address names, if it does, and the offset.
pub fn split(address: u64) -> (Option<u32>, u64) {
    match address >> OFFSET_BITS {
        rank @ 1..=MOST => (Some(rank as u32 - 1), address & (REACH - 1)),
        _ => (None, address),
    }
}

/// The rank and the offset that a [cell](Machine::cell) stands for, without the
/// number of its cluster.
pub fn place_of(cell: u64) -> (u32, u64) {
    ((cell >> OFFSET_BITS) as u32, cell & (REACH - 1))
}

/// The part of a block that others of its cluster access.
#[derive(Default)]
pub struct Window {
    pub shared: Vec<u64>,
    pub written: Vec<u8>,
    pub complete: bool,
    pub mbarriers: Mbarriers,
    /// Whether all threads of the block have exited.
    pub ended: bool,
    /// Changes that another block has made to its `mbarrier`s, for the race detector and
    /// for observers.
    pub told: Vec<Told>,
}

/// Knowledge that the arrivals of another block bring to a phase of an `mbarrier`, given by
/// its word, that a phase is over, or the change itself.
pub enum Told {
    Brought(u64, Box<Knowledge>),
    /// Bytes that were sent have arrived.
    Landed(u64, Box<Seen>),
    Over(u64),
    /// The change itself, for observers.
    Changed(PeerEvent),
}

/// A block in its cluster.
#[derive(Default)]
pub struct Cluster {
    pub rank: u32,
    /// Number of this cluster among those that run together.
    pub number: u32,
    /// Windows to the shared memory of all its blocks while this one runs, its own empty;
    /// none if the cluster has one block.
    pub peers: Vec<Window>,
    /// Whether threads have arrived at the cluster's barrier since it was last
    /// looked at.
    pub arrived: bool,
    /// Number of times that the cluster's barrier has let its threads go.
    pub phase: u64,
}

/// The memory that an address of shared memory reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// An offset in the shared memory of the block itself.
    Own(u64),
    /// An offset in that of the block of a rank.
    Peer(u32, u64),
    /// A block that the cluster does not have.
    Nobody(u32),
}

impl Machine<'_> {
    /// Whether there are other blocks in the cluster.
    pub fn has_peers(&self) -> bool {
        !self.cluster.peers.is_empty()
    }

    /// The memory that an address of shared memory reaches, in a cluster of one block
    /// always its own.
    pub fn reached(&self, address: u64) -> Reached {
        let blocks = self.cluster.peers.len();
        match split(address) {
            _ if blocks == 0 => Reached::Own(address),
            (None, at) => Reached::Own(at),
            (Some(rank), at) if rank == self.cluster.rank => Reached::Own(at),
            (Some(rank), at) if (rank as usize) < blocks => Reached::Peer(rank, at),
            (Some(rank), _) => Reached::Nobody(rank),
        }
    }

    /// Hands out the memory that others access of the block, while one of them runs.
    pub fn lend(&mut self, ended: bool) -> Window {
        Window {
            shared: std::mem::take(&mut self.shared),
            written: std::mem::take(&mut self.written),
            complete: self.complete,
            mbarriers: std::mem::take(&mut self.mbarriers),
            ended,
            told: Vec::new(),
        }
    }

    /// Takes it back.
    pub fn take_back(&mut self, window: Window) {
        self.shared = window.shared;
        self.written = window.written;
        self.complete = window.complete;
        self.mbarriers = window.mbarriers;
        for told in window.told {
            match (told, &mut self.races, &mut self.observer) {
                (Told::Changed(event), _, Some(observer)) => observer.changed_by_peer(&event),
                (Told::Brought(phase, all), Some(races), _) => {
                    races.order.bring_from_abroad(phase, &all);
                }
                (Told::Landed(phase, sent), Some(races), _) => {
                    races.order.land_from_abroad(phase, &sent);
                }
                (Told::Over(phase), Some(races), _) => races.order.forget(phase),
                _ => {}
            }
        }
    }

    /// The address that stands for a byte of the shared memory of a block of the
    /// cluster, for the search for races between its blocks.
    pub fn cell(&self, rank: u32, offset: u64) -> u64 {
        u64::from(self.cluster.number) << 32 | u64::from(rank) << OFFSET_BITS | offset
    }

    /// Does something in the shared memory of the block of a rank, as if it were
    /// this one's. Races are not looked for, and observers not told.
    pub fn visit<T>(&mut self, rank: u32, act: impl FnOnce(&mut Self) -> T) -> T {
        let (races, observer) = (self.races.take(), self.observer.take());
        self.change_places(rank);
        let result = act(self);
        self.change_places(rank);
        (self.races, self.observer) = (races, observer);
        result
    }

    fn change_places(&mut self, rank: u32) {
        let Some(window) = self.cluster.peers.get_mut(rank as usize) else {
            return;
        };
        std::mem::swap(&mut self.shared, &mut window.shared);
        std::mem::swap(&mut self.written, &mut window.written);
        std::mem::swap(&mut self.complete, &mut window.complete);
        std::mem::swap(&mut self.mbarriers, &mut window.mbarriers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_its_block_and_what_went_below_zero_none() {
        for rank in 0..MOST_BLOCKS {
            let address = mapped(0x1234, rank);
            assert!(address <= u64::from(u32::MAX));
            assert_eq!(split(address), (Some(rank), 0x1234));
            // Mapped again it is of the other block.
            assert_eq!(split(mapped(address, 3)), (Some(3), 0x1234));
        }
        assert_eq!(split(0x1234), (None, 0x1234));
        let below = u64::from(-4i32 as u32);
        assert_eq!(split(below), (None, below));
        assert!(
            split(mapped(0, 1_000_000))
                .0
                .is_some_and(|rank| rank > MOST_BLOCKS)
        );
    }
}
