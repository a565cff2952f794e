//! Asynchronous copies and products in flight: until somebody has waited for them, the
//! bytes that they read or write are open.

use super::mark::Mark;
use std::collections::HashMap;

/// Bytes of shared memory that something asynchronous reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    pub address: u64,
    pub bytes: u32,
    pub pc: u32,
    /// Moment at which it began.
    pub moment: u32,
    /// Groups that its owner had committed before.
    group: u32,
}

/// Asynchronous operations of one owner.
#[derive(Clone, Debug, Default)]
struct Owner {
    groups: u32,
    open: Vec<Flight>,
}

/// Asynchronous operations in flight, by owner (a thread or a warp).
#[derive(Debug, Default)]
pub struct Flights(HashMap<u32, Owner>);

impl Flights {
    /// Forgets everything, for the next block, and returns what was in flight.
    pub fn clear(&mut self) -> Vec<Flight> {
        let all = self.0.drain().flat_map(|(_, owner)| owner.open);
        all.collect()
    }

    /// An owner begins something at a moment.
    pub fn begin(&mut self, owner: u32, (address, bytes): (u64, u32), (pc, moment): (u32, u32)) {
        let of = self.0.entry(owner).or_default();
        of.open.push(Flight {
            address,
            bytes,
            pc,
            moment,
            group: of.groups,
        });
    }

    /// The moment at which an instruction of the owner last began an operation in flight on
    /// a byte.
    pub fn began(&self, owner: u32, byte: u64, pc: u32) -> Option<u32> {
        let has =
            |f: &&Flight| f.pc == pc && (f.address..f.address + u64::from(f.bytes)).contains(&byte);
        Some(self.0.get(&owner)?.open.iter().rfind(has)?.moment)
    }

    /// Commits everything the owner has begun as one group (`cp.async.commit_group`).
    pub fn commit(&mut self, owner: u32) {
        self.0.entry(owner).or_default().groups += 1;
    }

    /// Waits until at most `left` groups are in flight (`None`: none) and returns the
    /// operations that completed.
    pub fn wait(&mut self, owner: u32, left: Option<u32>) -> Vec<Flight> {
        let Some(of) = self.0.get_mut(&owner) else {
            return Vec::new();
        };
        let until = left.map_or(u32::MAX, |left| of.groups.saturating_sub(left));
        let (landed, open) = of.open.iter().partition(|f| f.group < until);
        of.open = open;
        landed
    }

    /// One operation in flight per instruction: that of the lowest owner.
    pub fn open(&self) -> Vec<(u32, Flight)> {
        let all = self.0.iter();
        let mut open: Vec<_> = all
            .flat_map(|(owner, of)| of.open.iter().map(move |f| (*owner, *f)))
            .collect();
        open.sort_by_key(|(owner, f)| (f.pc, *owner));
        open.dedup_by_key(|(_, f)| f.pc);
        open
    }

    /// Takes what the owner has begun so far.
    pub fn take(&mut self, owner: u32) -> Vec<Flight> {
        let of = self.0.get_mut(&owner);
        of.map_or_else(Vec::new, |of| std::mem::take(&mut of.open))
    }
}

/// Bytes of a piece, which is read as a whole.
pub const PIECE: u64 = crate::tensor::PIECE as u64;

/// Pieces of shared memory that something asynchronous reads.
#[derive(Debug, Default)]
pub struct Reads {
    /// By piece, the number of reads in flight and the last of them.
    pieces: Vec<(u32, Mark)>,
    open: u32,
}

impl Reads {
    pub fn new(bytes: u64) -> Self {
        Reads {
            pieces: vec![(0, Mark::default()); bytes.div_ceil(PIECE) as usize],
            open: 0,
        }
    }

    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.open) != 0 {
            self.pieces.fill((0, Mark::default()));
        }
    }

    fn of(&mut self, address: u64, bytes: u32) -> &mut [(u32, Mark)] {
        let end = ((address + u64::from(bytes)).div_ceil(PIECE) as usize).min(self.pieces.len());
        let start = ((address / PIECE) as usize).min(end);
        &mut self.pieces[start..end]
    }

    /// Something begins to read.
    pub fn begin(&mut self, address: u64, bytes: u32, mark: Mark) {
        self.open += 1;
        for piece in self.of(address, bytes) {
            *piece = (piece.0 + 1, mark);
        }
    }

    /// A read has completed.
    pub fn end(&mut self, address: u64, bytes: u32) {
        self.open = self.open.saturating_sub(1);
        for piece in self.of(address, bytes) {
            piece.0 = piece.0.saturating_sub(1);
        }
    }

    /// The last read in flight of a byte.
    #[inline(always)]
    pub fn at(&self, byte: u64) -> Option<&Mark> {
        if self.open == 0 {
            return None;
        }
        let (count, mark) = self.pieces.get((byte / PIECE) as usize)?;
        (*count > 0).then_some(mark)
    }

    /// Whether anything reads.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.open != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_begun_lands_when_its_group_has_been_waited_for() {
        let mut flights = Flights::default();
        flights.begin(3, (0, 16), (7, 0));
        flights.commit(3);
        flights.begin(3, (16, 16), (8, 0));
        flights.commit(3);
        let addresses = |list: Vec<Flight>| list.iter().map(|f| f.address).collect::<Vec<_>>();
        assert_eq!(addresses(flights.wait(3, Some(1))), [0]);
        flights.begin(3, (32, 4), (9, 0));
        // What is in no group yet no wait is for.
        assert_eq!(addresses(flights.wait(3, Some(0))), [16]);
        assert_eq!(addresses(flights.wait(4, None)), [0u64; 0]);
        assert_eq!(addresses(flights.wait(3, None)), [32]);
        flights.begin(5, (62, 4), (9, 0));
        assert_eq!(addresses(flights.clear()), [62]);
        assert_eq!(addresses(flights.wait(5, None)), [0u64; 0]);
    }

    #[test]
    fn a_piece_is_read_until_the_last_has_read_it() {
        let mut reads = Reads::new(64);
        let mark = |pc| Mark {
            pc,
            ..Mark::default()
        };
        reads.begin(16, 16, mark(7));
        reads.begin(16, 32, mark(8));
        assert_eq!(reads.at(15), None);
        assert_eq!(
            (reads.at(16), reads.at(47)),
            (Some(&mark(8)), Some(&mark(8)))
        );
        reads.end(16, 16);
        assert!(reads.any() && reads.at(31).is_some());
        reads.end(16, 32);
        assert!(!reads.any() && reads.at(31).is_none());
        reads.begin(1 << 20, 16, mark(9));
        reads.clear();
        assert!(!reads.any());
    }
}
