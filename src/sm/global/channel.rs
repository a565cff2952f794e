//! The channel to global memory: whole segments, one after another.

use crate::config::GlobalMemory as Parameters;
use std::collections::VecDeque;

/// A point in time on the channel: a cycle, and a part of it in thousandths of
/// a byte of the cycle's bandwidth. Whole numbers, so that no error adds up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    cycle: u64,
    part: u64,
}

/// One segment's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    /// The cycle in which its slot begins.
    pub start: u64,
    /// The cycle of its data.
    pub data: u64,
}

/// The channel, and which of its segments are outstanding.
pub(super) struct Channel {
    latency: u64,
    /// Thousandths of a byte in a cycle, and in a segment.
    per_cycle: u64,
    per_segment: u64,
    max_segments: usize,
    /// When it is free.
    free: Moment,
    /// Cycles in which the outstanding segments come back, in order.
    outstanding: VecDeque<u64>,
    /// Segments so far.
    pub segments: u64,
}

impl Channel {
    pub fn new(parameters: &Parameters) -> Self {
        Channel {
            latency: parameters.latency.into(),
            per_cycle: parameters.millibytes_per_cycle(),
            per_segment: u64::from(parameters.segment_bytes) * 1000,
            max_segments: parameters.max_segments as usize,
            free: Moment::default(),
            outstanding: VecDeque::new(),
            segments: 0,
        }
    }

    /// Takes a segment that is there from `cycle` on.
    pub fn take(&mut self, cycle: u64) -> Transfer {
        let whole = |cycle| Moment { cycle, part: 0 };
        let mut start = self.free.max(whole(cycle));
        let back = |data: &u64| *data <= start.cycle;
        while self.outstanding.front().is_some_and(back) {
            self.outstanding.pop_front();
        }
        if self.outstanding.len() >= self.max_segments
            && let Some(data) = self.outstanding.pop_front()
        {
            start = start.max(whole(data));
        }
        let end = start.part + self.per_segment;
        self.free = Moment {
            cycle: start.cycle + end / self.per_cycle,
            part: end % self.per_cycle,
        };
        let data = start.cycle + self.latency;
        self.outstanding.push_back(data);
        self.segments += 1;
        Transfer {
            start: start.cycle,
            data,
        }
    }

    /// The first cycle with room for a segment.
    pub fn free_from(&self) -> u64 {
        self.free.cycle
    }

    /// The first cycle that the segments so far leave to others alone.
    pub fn end(&self) -> u64 {
        self.free.cycle + u64::from(self.free.part > 0)
    }
}
