//! The heap of device-side `malloc` and `free`.
//!
//! Allocations lie in a window of addresses that is larger than the heap, and
//! with room between them; an address is used again when the window has been
//! gone through once. So an access beside an allocation, or to one that has
//! been freed, is found.

use super::map::HEAP;
use super::object::Object;
use crate::exec::api::Finding;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Alignment of an allocation, as CUDA has it.
const ALIGN: u64 = 16;
/// Bytes after an allocation that belong to none.
const GAP: u64 = 256;

/// The instruction and block that made an allocation.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    pub pc: u32,
    pub block: u64,
    pub thread: u32,
}

#[derive(Clone, Debug)]
struct Allocation {
    bytes: u64,
    /// The site of the allocation, in the run that is not over yet.
    site: Option<Site>,
    /// Finding that is reported if nobody frees it.
    leak: Option<Finding>,
}

#[derive(Clone, Debug, Default)]
struct State {
    /// Live allocations, by offset.
    live: BTreeMap<u64, Allocation>,
    /// Allocations that were freed, with their bytes, while their place is not in use
    /// again.
    freed: BTreeMap<u64, u64>,
    /// Bytes of the live ones.
    used: u64,
    /// Offset from which the next allocation is looked for.
    next: u64,
}

/// The heap of a memory.
#[derive(Debug)]
pub struct Heap {
    object: Object,
    /// Bytes that may be allocated at the same time.
    limit: u64,
    state: Mutex<State>,
    /// Whether each byte was written since it was allocated.
    written: Box<[AtomicU8]>,
}

/// Name of the heap in findings.
pub const NAME: &str = "the heap";

/// The contents of an address of the heap.
pub enum At {
    /// Bytes after the begin of a live allocation, and its size.
    Live(u64, u64),
    /// Bytes after the begin of an allocation that was freed, and its size.
    Freed(u64, u64),
    /// No allocation was there.
    Nothing,
}

/// Number of bytes that an allocation takes of the heap.
fn counted(bytes: u64) -> Option<u64> {
    bytes.max(1).checked_next_multiple_of(ALIGN)
}

/// Marks for bytes none of which was written, in memory that is not taken before one is.
fn unwritten(bytes: usize) -> Box<[AtomicU8]> {
    let zeros = Box::into_raw(vec![0u8; bytes].into_boxed_slice());
    // SAFETY: an atomic byte is in memory as the byte is, and the box is given
    // up above.
    unsafe { Box::from_raw(zeros as *mut [AtomicU8]) }
}

/// Bytes of the window: room for the gaps, in memory that is not taken before
/// it is written.
fn window(limit: u64) -> u64 {
    (64 * limit).min(2 * limit + (1 << 30))
}

impl Heap {
    /// None where the system has no memory for it.
    pub fn new(limit: u64) -> Option<Self> {
        Some(Heap {
            object: Object::new(NAME, HEAP, window(limit), false)?,
            limit,
            state: Mutex::default(),
            written: unwritten(window(limit) as usize),
        })
    }

    pub fn copy(&self) -> Option<Self> {
        let copy = Heap::new(self.limit)?;
        let state = self.state().clone();
        for (begin, allocation) in &state.live {
            let words = begin / 8..(begin + allocation.bytes).div_ceil(8);
            words.for_each(|w| copy.object.put(8 * w, 8, self.object.element(8 * w, 8)));
            let bytes = *begin as usize..(begin + allocation.bytes) as usize;
            for (to, from) in copy.written[bytes.clone()].iter().zip(&self.written[bytes]) {
                to.store(from.load(Relaxed), Relaxed);
            }
        }
        *copy.state() = state;
        Some(copy)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pointer to the byte of an address, which has to be one of the heap.
    pub fn pointer(&self, address: u64) -> *mut u8 {
        self.object.data().wrapping_add((address - HEAP) as usize)
    }

    /// Bytes of an allocation are written.
    pub fn write(&self, address: u64, bytes: u64) {
        let start = (address - HEAP) as usize;
        let all = &self.written[start..start + bytes as usize];
        all.iter().for_each(|b| b.store(1, Relaxed));
    }

    /// Nothing that was written to bytes of an allocation counts any more.
    pub fn forget(&self, address: u64, bytes: u64) {
        let start = (address - HEAP) as usize;
        let all = &self.written[start..start + bytes as usize];
        all.iter().for_each(|b| b.store(0, Relaxed));
    }

    /// The first of bytes of an allocation that was not written, counted from the
    /// address.
    pub fn missing(&self, address: u64, bytes: u64) -> Option<u64> {
        let start = (address - HEAP) as usize;
        let all = &self.written[start..start + bytes as usize];
        all.iter()
            .position(|b| b.load(Relaxed) == 0)
            .map(|at| at as u64)
    }

    /// Whether the address is one of the heap, or near it.
    pub fn has(&self, address: u64) -> bool {
        (HEAP - GAP..HEAP + self.object.len + GAP).contains(&address)
    }

    /// The heap and the offset in it of an access inside an allocation.
    pub fn place(&self, address: u64, bytes: u32) -> Option<(&Object, u64)> {
        match self.at(address) {
            At::Live(offset, len) if offset + u64::from(bytes) <= len => {
                Some((&self.object, address - HEAP))
            }
            _ => None,
        }
    }

    /// The contents of an address.
    pub fn at(&self, address: u64) -> At {
        let state = self.state();
        let Some(offset) = address.checked_sub(HEAP) else {
            return At::Nothing;
        };
        let live = state.live.range(..=offset).next_back();
        let freed = state.freed.range(..=offset).next_back();
        // The nearer one: its gap follows it.
        match (live, freed) {
            (Some((begin, live)), freed)
                if freed.is_none_or(|(f, _)| f < begin) && offset - begin < live.bytes + GAP =>
            {
                At::Live(offset - begin, live.bytes)
            }
            (_, Some((begin, bytes))) if offset - begin < bytes + GAP => {
                At::Freed(offset - begin, *bytes)
            }
            _ => At::Nothing,
        }
    }

    /// The address of new bytes, or none if there is no room.
    pub fn allocate(&self, bytes: u64, site: Site) -> Option<u64> {
        let mut state = self.state();
        let used = state.used.checked_add(counted(bytes)?);
        let used = used.filter(|used| *used <= self.limit)?;
        let room = counted(bytes)? + GAP;
        let end = self.object.len;
        let offset = state
            .free_place(state.next, end, room)
            .or_else(|| state.free_place(0, end, room))?;
        let over = state.freed.range(..offset + room);
        let over: Vec<u64> = over
            .rev()
            .take_while(|(begin, bytes)| **begin + **bytes + GAP > offset)
            .map(|(begin, _)| *begin)
            .collect();
        for begin in over {
            state.freed.remove(&begin);
        }
        let allocation = Allocation {
            bytes,
            site: Some(site),
            leak: None,
        };
        let new = &self.written[offset as usize..(offset + bytes) as usize];
        new.iter().for_each(|b| b.store(0, Relaxed));
        state.live.insert(offset, allocation);
        (state.used, state.next) = (used, offset + room);
        Some(HEAP + offset)
    }

    /// Frees what is at an address; what is wrong otherwise.
    pub fn free(&self, address: u64) -> Result<(), String> {
        let wrong = match self.at(address) {
            At::Live(0, _) => {
                let mut state = self.state();
                let offset = address - HEAP;
                if let Some(allocation) = state.live.remove(&offset) {
                    state.used -= counted(allocation.bytes).unwrap_or(0);
                    state.freed.insert(offset, allocation.bytes);
                }
                return Ok(());
            }
            At::Freed(0, bytes) => format!("{bytes} bytes that have been freed before"),
            At::Live(at, bytes) => format!("byte {at} of an allocation of {bytes} bytes"),
            At::Freed(..) | At::Nothing => {
                format!("address {address:#x}, which malloc has not given")
            }
        };
        Err(format!("free of {wrong}"))
    }

    /// Describes the allocations of the run that ends, should nobody free them.
    pub fn end_run(&self, finding: impl Fn(Site) -> Finding) {
        for allocation in self.state().live.values_mut() {
            if let Some(site) = allocation.site.take() {
                allocation.leak = Some(finding(site));
            }
        }
    }

    /// A finding for each `malloc` whose allocations are still there.
    pub fn leaks(&self) -> Vec<Finding> {
        let mut list: Vec<(Finding, u64, u64)> = Vec::new();
        for allocation in self.state().live.values() {
            let Some(leak) = &allocation.leak else {
                continue;
            };
            let same = |f: &Finding| f.ptx_line == leak.ptx_line && f.ptx_file == leak.ptx_file;
            match list.iter_mut().find(|(f, ..)| same(f)) {
                Some((_, count, bytes)) => {
                    *count += 1;
                    *bytes += allocation.bytes;
                }
                None => list.push((leak.clone(), 1, allocation.bytes)),
            }
        }
        let told = |(finding, count, bytes): (Finding, u64, u64)| Finding {
            message: match count {
                1 => format!("{bytes} bytes of malloc are not freed"),
                _ => format!("{count} allocations, {bytes} bytes in all, are not freed"),
            },
            ..finding
        };
        list.into_iter().map(told).collect()
    }
}

impl State {
    /// The first place from `from` on where `room` bytes are free.
    fn free_place(&self, from: u64, end: u64, room: u64) -> Option<u64> {
        let taken = |bytes: u64| counted(bytes).unwrap_or(0) + GAP;
        let before = self.live.range(..from).next_back();
        let mut place = before.map_or(from, |(at, a)| from.max(at + taken(a.bytes)));
        for (begin, allocation) in self.live.range(from..) {
            if place + room <= *begin {
                break;
            }
            place = begin + taken(allocation.bytes);
        }
        place.checked_add(room).filter(|e| *e <= end).map(|_| place)
    }
}
