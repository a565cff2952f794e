//! Global memory as one SM sees it: a channel that serves segments in order
//! (docs/microarchitecture.md, section 19.5).

use super::instr::Instr;
use crate::config::GlobalMemory as Parameters;
use std::collections::VecDeque;

/// A load whose data comes back on the interconnect port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Return {
    pub warp: usize,
    pub tag: u8,
    /// Lanes of the warp.
    pub mask: u64,
    /// First cycle in which the data can be delivered.
    pub ready: u64,
    /// The next pass.
    pub pass: u32,
}

/// The channel and what is under way.
pub(super) struct GlobalMemory {
    parameters: Parameters,
    /// First cycle in which the channel is free.
    free: u64,
    /// Cycles in which the outstanding segments come back, in order.
    outstanding: VecDeque<u64>,
    returns: VecDeque<Return>,
    /// Stores that have an entry and were not sent.
    reserved: u32,
    /// First cycles in which the entries of stores that were sent are free.
    entries: VecDeque<u64>,
    /// First cycle in which the channel has taken all stores.
    stores_end: u64,
    /// Segments so far.
    pub segments: u64,
    scratch: Vec<u64>,
}

impl GlobalMemory {
    pub fn new(parameters: Parameters) -> Self {
        GlobalMemory {
            parameters,
            free: 0,
            outstanding: VecDeque::new(),
            returns: VecDeque::new(),
            reserved: 0,
            entries: VecDeque::new(),
            stores_end: 0,
            segments: 0,
            scratch: Vec::new(),
        }
    }

    /// Takes an entry for a store; whether there was one in `cycle`.
    pub fn reserve(&mut self, cycle: u64) -> bool {
        while self.entries.front().is_some_and(|&free| free <= cycle) {
            self.entries.pop_front();
        }
        let taken = self.reserved as usize + self.entries.len();
        let has_room = taken < self.parameters.max_stores as usize;
        self.reserved += u32::from(has_room);
        has_room
    }

    /// First cycle in which an entry is known to be free, of those that are
    /// taken.
    pub fn next_entry(&self) -> Option<u64> {
        self.entries.front().copied()
    }

    /// Sends the segments of a store like [`send`](Self::send); its entry is
    /// free when the last of them has its slot. Returns the cycle in which the
    /// channel has taken it.
    pub fn send_store(&mut self, segments: &[u64], cycle: u64) -> u64 {
        self.reserved -= 1;
        if segments.is_empty() {
            return cycle;
        }
        self.send(segments, cycle);
        let slot = self.free - u64::from(self.parameters.cycles_per_segment);
        self.entries.push_back(slot);
        self.stores_end = self.free;
        self.free - 1
    }

    /// Stores are on the channel, or wait for it, in `cycle`.
    pub fn has_stores(&self, cycle: u64) -> bool {
        cycle < self.stores_end
    }

    /// Sends the segments of an access that was written back in `cycle`;
    /// returns the cycle of its last data.
    pub fn send(&mut self, segments: &[u64], cycle: u64) -> u64 {
        let p = self.parameters;
        let mut last = cycle + 1;
        for _ in segments {
            let mut start = self.free.max(cycle + 1);
            while self.outstanding.front().is_some_and(|&data| data <= start) {
                self.outstanding.pop_front();
            }
            if self.outstanding.len() >= p.max_segments as usize {
                start = self.outstanding.pop_front().unwrap_or(start).max(start);
            }
            self.free = start + u64::from(p.cycles_per_segment);
            last = start + u64::from(p.latency);
            self.outstanding.push_back(last);
            self.segments += 1;
        }
        last
    }

    /// Queues the data of a load: in the order of arrival, which for a load
    /// without segments is not that of the channel.
    pub fn expect(&mut self, load: Return) {
        let behind = self.returns.partition_point(|r| r.ready <= load.ready);
        self.returns.insert(behind, load);
    }

    /// What comes back in `cycle`.
    pub fn arrived(&self, cycle: u64) -> Option<&Return> {
        self.returns.front().filter(|r| r.ready <= cycle)
    }

    /// First cycle in which data can come back.
    pub fn next_arrival(&self) -> Option<u64> {
        self.returns.front().map(|r| r.ready)
    }

    /// The pass that arrived was taken; the load has `passes`.
    pub fn taken(&mut self, passes: u32) {
        if let Some(front) = self.returns.front_mut() {
            front.pass += 1;
            if front.pass == passes {
                self.returns.pop_front();
            }
        }
    }

    /// No load is under way, and no store on the channel.
    pub fn is_idle(&self, cycle: u64) -> bool {
        self.returns.is_empty() && !self.has_stores(cycle)
    }

    /// The aligned segments that the lanes in `mask` touch, ascending.
    pub fn coalesce(&mut self, instr: &Instr, mask: u64) -> Box<[u64]> {
        let segment = u64::from(self.parameters.segment_bytes);
        self.scratch.clear();
        for lane in (0..64).filter(|l| mask >> l & 1 == 1) {
            let first = instr.addrs.of(lane);
            let last = first.saturating_add(u64::from(instr.bytes.max(1)) - 1);
            self.scratch.extend([first / segment, last / segment]);
        }
        self.scratch.sort_unstable();
        self.scratch.dedup();
        self.scratch.as_slice().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sm::instr::{Addresses, InstrKind, full_mask};

    fn memory() -> GlobalMemory {
        GlobalMemory::new(Parameters {
            latency: 40,
            segment_bytes: 32,
            cycles_per_segment: 2,
            max_segments: 3,
            max_stores: 2,
        })
    }

    fn segments(stride: i64) -> usize {
        let mut instr = Instr::new(InstrKind::LdGlobal, 0, full_mask(32));
        instr.addrs = Addresses::Affine { base: 64, stride };
        memory().coalesce(&instr, instr.mask).len()
    }

    #[test]
    fn lanes_coalesce_into_the_segments_they_touch() {
        assert_eq!((segments(0), segments(4), segments(-2)), (1, 4, 3));
        assert_eq!(segments(32), 32);
    }

    #[test]
    fn bandwidth_and_outstanding_segments_bound_the_channel() {
        let mut memory = memory();
        assert_eq!(memory.send(&[0], 9), 50);
        assert_eq!(memory.send(&[1], 9), 52, "two cycles a segment");
        assert_eq!(memory.send(&[2], 20), 61);
        // Three are outstanding: the next waits for the first's data.
        assert_eq!(memory.send(&[3], 20), 90);
        assert_eq!(memory.send(&[], 20), 21, "no lane, no wait");
    }

    #[test]
    fn a_load_without_lanes_waits_for_no_other() {
        let mut memory = memory();
        let load = |warp, ready| Return {
            warp,
            tag: 0,
            mask: 0,
            ready,
            pass: 0,
        };
        let far = memory.send(&[0], 9);
        memory.expect(load(0, far));
        let near = memory.send(&[], 9);
        memory.expect(load(1, near));
        memory.expect(load(2, near));
        assert_eq!(memory.next_arrival(), Some(10));
        let arrived = |m: &GlobalMemory| m.arrived(60).map(|r| r.warp);
        for warp in [1, 2, 0] {
            assert_eq!(arrived(&memory), Some(warp));
            memory.taken(1);
        }
        assert!(memory.is_idle(60));
    }

    #[test]
    fn a_store_has_an_entry_until_its_last_slot() {
        let mut memory = memory();
        assert!(memory.reserve(1) && memory.reserve(1));
        assert!(!memory.reserve(1), "neither was sent");
        // Slots in 10 and 12; the channel has taken the second in 13.
        assert_eq!(memory.send_store(&[0, 1], 9), 13);
        assert_eq!(memory.next_entry(), Some(12));
        assert!(!memory.reserve(11) && memory.reserve(12));
        assert!(memory.has_stores(13) && !memory.has_stores(14));
        // Without a lane it asks for nothing.
        assert_eq!(memory.send_store(&[], 14), 14);
        assert!(memory.reserve(14) && memory.is_idle(14));
    }
}
