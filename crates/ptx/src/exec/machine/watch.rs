//! The state of a block as a number, and what its threads access while somebody watches:
//! whether all of it repeats.

use super::Machine;
use crate::exec::image::{MemoryOp, Transfer};
use crate::exec::ordering::Strength;
use crate::exec::registers::active;
use crate::names::Space;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};

/// Bytes of global memory that are remembered. Loops that wait write few.
const MOST: usize = 1 << 16;

/// Accesses of threads while they were watched.
#[derive(Debug, Default)]
pub struct Watch {
    /// Bytes of global memory as they were before the first write.
    before: HashMap<u64, u8>,
    /// Whether more bytes were written than are remembered.
    is_full: bool,
    /// The last read of each instruction, by warp.
    reads: BTreeMap<(u32, u32), Read>,
}

/// A read of global or shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    pub warp: u32,
    pub pc: u32,
    pub lane: u32,
    pub space: Space,
    pub address: u64,
    /// Bytes of all elements of a vector.
    pub bytes: u32,
    /// The read is of one element.
    is_single: bool,
    /// The read sees what other threads write.
    is_strong: bool,
}

impl Watch {
    /// The reads that loops wait for: those whose value decides how long one goes on, or
    /// else those that see what others write, or else all.
    pub fn awaited(&self, awaited: &[bool]) -> Vec<Read> {
        let all = || self.reads.values().copied();
        let decides: Vec<Read> = all().filter(|r| awaited[r.pc as usize]).collect();
        let strong: Vec<Read> = all().filter(|r| r.is_strong).collect();
        match (decides.is_empty(), strong.is_empty()) {
            (false, _) => decides,
            (_, false) => strong,
            _ => all().collect(),
        }
    }
}

impl Machine<'_> {
    /// The state of the block as a number. Registers, local and global memory are not in it.
    pub fn state(&self) -> u64 {
        let mut state = DefaultHasher::new();
        folded(&self.shared).hash(&mut state);
        for arrival in &self.arrivals {
            (arrival.number, arrival.threads, arrival.count).hash(&mut state);
        }
        self.mbarriers.objects.hash(&mut state);
        (self.mbarriers.idle, self.output.len(), self.effects).hash(&mut state);
        state.finish()
    }

    /// Notes an access while the block is watched.
    #[cold]
    pub fn note_watched(
        &mut self,
        info: &MemoryOp,
        space: Space,
        lanes: u32,
        addresses: &[u64; 32],
    ) {
        let Some(mut watch) = self.watch.take() else {
            return;
        };
        if info.transfer.writes() && space == Space::Global {
            for lane in active(lanes) {
                self.keep_bytes(&mut watch, addresses[lane as usize], info.bytes);
            }
        }
        let (blind, single) = match &info.transfer {
            Transfer::Atomic(all) => (all.iter().all(|u| u.result.is_none()), all.len() == 1),
            Transfer::Load { to, .. } => (false, to.len() == 1),
            transfer => (transfer.only_writes(), false),
        };
        if lanes != 0 && !blind && matches!(space, Space::Global | Space::Shared) {
            let lane = lanes.trailing_zeros();
            let read = Read {
                warp: self.warp,
                pc: self.pc,
                lane,
                space,
                address: addresses[lane as usize],
                bytes: info.bytes,
                is_single: single,
                is_strong: info.order.strength != Strength::Weak,
            };
            watch.reads.insert((self.warp, self.pc), read);
        }
        self.watch = Some(watch);
    }

    /// Remembers bytes of global memory that are about to be written.
    fn keep_bytes(&self, watch: &mut Watch, address: u64, bytes: u32) {
        watch.is_full |= watch.before.len() > MOST;
        if watch.is_full {
            return;
        }
        if let Some((object, offset)) = self.global_place(address, bytes) {
            for n in 0..u64::from(bytes) {
                let before = || object.byte(offset + n);
                watch.before.entry(address + n).or_insert_with(before);
            }
        }
    }

    /// Whether global memory is what it was when the watch began, as far as the block has
    /// written it.
    pub fn is_unchanged(&self, watch: &Watch) -> bool {
        let same = |(&address, &before): (&u64, &u8)| {
            let place = self.global_place(address, 1);
            place.is_some_and(|(object, offset)| object.byte(offset) == before)
        };
        !watch.is_full && watch.before.iter().all(same)
    }

    /// The offset, the variable or buffer, and the value of what was read.
    pub fn place_of(&self, read: &Read) -> (u64, Option<String>, Option<u64>) {
        let (address, bytes) = (read.address, u64::from(read.bytes));
        let is_element = read.is_single && bytes <= 8 && address.is_multiple_of(bytes);
        if read.space == Space::Shared {
            let is_inside = address.saturating_add(bytes) <= self.shared_len;
            let value = (is_element && is_inside).then(|| self.shared_element(address, bytes));
            return (address, self.shared_variable(address), value);
        }
        match self.global_place(address, read.bytes) {
            Some((object, offset)) => {
                let value = is_element.then(|| object.element(offset, bytes));
                (offset, Some(object.name.clone()), value)
            }
            None => (address, None, None),
        }
    }
}

/// A number that depends on another one and a word.
pub fn mix(all: u64, word: u64) -> u64 {
    (all.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Words as one number.
pub fn folded(words: &[u64]) -> u64 {
    let mut parts = [0u64; 4];
    let mut chunks = words.chunks_exact(4);
    for chunk in &mut chunks {
        for (part, word) in parts.iter_mut().zip(chunk) {
            *part = mix(*part, *word);
        }
    }
    let rest = chunks.remainder().iter().copied();
    parts.into_iter().chain(rest).fold(0, mix)
}
