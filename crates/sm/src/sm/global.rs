//! Global memory as one SM sees it: a channel that serves segments in order,
//! and maybe an L1 for loads before it (microarchitecture/sm-model.md).

mod cache;
mod channel;
mod far;
mod tags;

use super::instr::Instr;
use super::stats::Statistics;
use crate::config::{GlobalMemory as Parameters, L1Cache, SmParams};
use cache::L1;
use channel::Channel;
use std::collections::VecDeque;
use tags::UnderWay;

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

/// The cycles by which a store that was sent is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    /// The channel has taken it.
    pub taken: u64,
    /// The cycle in which it is acknowledged, if warps wait for that.
    pub acknowledged: Option<u64>,
}

/// The channel and what is under way.
pub(super) struct GlobalMemory {
    parameters: Parameters,
    channel: Channel,
    l1: Option<L1>,
    /// Segments of loads that have not come back, where later loads wait for
    /// them and there is no L1.
    under_way: Option<UnderWay>,
    returns: VecDeque<Return>,
    /// Stores that have an entry and were not sent.
    reserved: u32,
    /// First cycles in which the entries of stores that were sent are free.
    entries: VecDeque<u64>,
    /// First cycle in which the channel has taken all stores.
    stores_end: u64,
    /// Segments that waited for those of earlier loads.
    merged: u64,
    scratch: Vec<u64>,
    /// Loads may go past the L1.
    bypass: bool,
}

/// The L1 with the bytes that blocks leave of it, in whole sets.
fn left(l1: &L1Cache, scratchpad_bytes: u64) -> L1Cache {
    let mut left = *l1;
    if l1.unified {
        let bytes = u64::from(l1.size_bytes).saturating_sub(scratchpad_bytes) as u32;
        left.size_bytes = bytes - bytes % (l1.ways * l1.line_bytes);
    }
    left
}

impl GlobalMemory {
    /// Beside a scratchpad of which blocks take this many bytes.
    pub fn new(sm: &SmParams, scratchpad_bytes: u64) -> Self {
        let parameters = sm.global;
        let l1 = L1::new(&left(&sm.l1, scratchpad_bytes), parameters.segment_bytes);
        let merges = parameters.merge && l1.is_none();
        GlobalMemory {
            parameters,
            channel: Channel::new(sm),
            l1,
            under_way: merges.then(UnderWay::default),
            returns: VecDeque::new(),
            reserved: 0,
            entries: VecDeque::new(),
            stores_end: 0,
            merged: 0,
            scratch: Vec::new(),
            bypass: sm.l1.bypass,
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

    /// Sends the segments of a store that was written back in `cycle`; its
    /// entry is free when the last of them has its slot.
    pub fn send_store(&mut self, segments: &[u64], cycle: u64) -> Sent {
        self.reserved -= 1;
        let mut slot = None;
        for &segment in segments {
            if let Some(l1) = &mut self.l1 {
                l1.store(segment);
            }
            slot = Some(self.channel.store(segment, cycle + 1).start);
        }
        let Some(slot) = slot else {
            return Sent {
                taken: cycle,
                acknowledged: None,
            };
        };
        self.entries.push_back(slot);
        self.stores_end = self.channel.end();
        let latency = u64::from(self.parameters.store_latency);
        Sent {
            taken: self.stores_end - 1,
            acknowledged: (latency > 0).then_some(slot + latency),
        }
    }

    /// Stores are on the channel, or wait for it, in `cycle`.
    pub fn has_stores(&self, cycle: u64) -> bool {
        cycle < self.stores_end
    }

    /// Sends the segments of a load that was written back in `cycle`; returns the
    /// cycle of its last data.
    pub fn send_load(&mut self, segments: &[u64], cycle: u64) -> u64 {
        let data = if let Some(l1) = &mut self.l1 {
            let of_line = l1.segments();
            let lines = segments.chunk_by(|a, b| a / of_line == b / of_line);
            lines
                .map(|line| l1.load(line, cycle + 1, &mut self.channel))
                .max()
        } else {
            segments
                .iter()
                .map(|&segment| self.load(segment, cycle + 1))
                .max()
        };
        data.unwrap_or(cycle + 1)
    }

    /// Sends the segments of a load that goes past the L1, and with `writes` changes them, as
    /// [`send_load`](Self::send_load) does without one.
    pub fn send_past_l1(&mut self, segments: &[u64], cycle: u64, writes: bool) -> u64 {
        let Some(l1) = self.l1.as_mut().filter(|_| self.bypass) else {
            return self.send_load(segments, cycle);
        };
        if writes {
            segments.iter().for_each(|&segment| l1.store(segment));
        }
        let data = segments
            .iter()
            .map(|&segment| self.load(segment, cycle + 1));
        data.max().unwrap_or(cycle + 1)
    }

    /// Loads a segment that is wanted from `cycle` on.
    fn load(&mut self, segment: u64, cycle: u64) -> u64 {
        let Some(under_way) = &mut self.under_way else {
            return self.channel.load(segment, cycle).data;
        };
        if let Some(data) = under_way.find(segment, cycle) {
            self.merged += 1;
            return data;
        }
        let data = self.channel.load(segment, cycle).data;
        under_way.add(segment, data);
        data
    }

    /// The channel takes a segment in `cycle`.
    pub fn is_free(&self, cycle: u64) -> bool {
        self.free_from() <= cycle
    }

    /// First cycle in which the channel takes a segment, as far as is known.
    pub fn free_from(&self) -> u64 {
        self.channel.free_from()
    }

    /// Bytes of a segment.
    pub fn segment_bytes(&self) -> u64 {
        self.parameters.segment_bytes.into()
    }

    /// A segment of a copy, past the L1: the cycle of its data.
    pub fn transfer(&mut self, cycle: u64) -> u64 {
        self.channel.take(cycle).data
    }

    /// The segment that the channel has just got is the last of a store: the
    /// cycle in which it is out.
    pub fn store_taken(&mut self) -> u64 {
        self.stores_end = self.channel.end();
        self.stores_end - 1 + u64::from(self.parameters.store_latency)
    }

    /// Enters what was counted.
    pub fn count(&self, statistics: &mut Statistics) {
        statistics.global_segments = self.channel.segments;
        statistics.global_merged = self.merged;
        if let Some(l1) = &self.l1 {
            statistics.l1_hits = l1.hits;
            statistics.l1_misses = l1.misses;
            statistics.l1_merged = l1.merged;
        }
        if let Some(far) = self.channel.far() {
            let (l2, dram) = far.counted();
            [
                statistics.l2_hits,
                statistics.l2_misses,
                statistics.l2_merged,
            ] = l2;
            [statistics.dram_row_hits, statistics.dram_row_conflicts] = dram;
        }
    }

    /// Queues the data of a load: in the order of arrival, which for a load
    /// without segments is not that of the channel.
    pub fn expect(&mut self, load: Return) {
        let behind = self.returns.partition_point(|r| r.ready <= load.ready);
        self.returns.insert(behind, load);
    }

    /// The return that arrives in `cycle`.
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
        let segment = self.segment_bytes();
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
mod tests;
