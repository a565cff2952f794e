//! The channel to global memory: whole segments, one after another.

use super::far::Far;
use crate::config::SmParams;
use std::collections::VecDeque;

/// A point in time on the channel: a cycle, and a part of it in thousandths of
/// a byte of the cycle's bandwidth. Whole numbers, so that no error adds up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    cycle: u64,
    part: u64,
}

/// Timing of one segment.
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
    /// First moment at which it is free.
    free: Moment,
    /// Cycles in which the outstanding segments come back, in order.
    outstanding: VecDeque<u64>,
    /// Segments so far.
    pub segments: u64,
    /// The L2 and DRAM; none where memory has only a latency.
    far: Option<Box<Far>>,
}

impl Channel {
    pub fn new(sm: &SmParams) -> Self {
        let parameters = &sm.global;
        Channel {
            far: Far::new(sm).map(Box::new),
            latency: parameters.latency.into(),
            per_cycle: parameters.millibytes_per_cycle(),
            per_segment: u64::from(parameters.segment_bytes) * 1000,
            max_segments: parameters.max_segments as usize,
            free: Moment::default(),
            outstanding: VecDeque::new(),
            segments: 0,
        }
    }

    /// Transfers a segment of a copy, which is ready from `cycle` on and which
    /// L2 and DRAM serve at once.
    pub fn take(&mut self, cycle: u64) -> Transfer {
        self.serve(cycle, None)
    }

    /// Takes the request for segment `segment`.
    pub fn load(&mut self, segment: u64, cycle: u64) -> Transfer {
        self.serve(cycle, Some((segment, false)))
    }

    /// Takes a store to segment `segment`.
    pub fn store(&mut self, segment: u64, cycle: u64) -> Transfer {
        self.serve(cycle, Some((segment, true)))
    }

    fn serve(&mut self, cycle: u64, of: Option<(u64, bool)>) -> Transfer {
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
        let mut data = start.cycle + self.latency;
        if let (Some(far), Some((segment, writes))) = (&mut self.far, of) {
            let served = far.request(segment, start.cycle, writes);
            start = start.max(whole(served.start));
            data = if writes { data } else { served.data };
        }
        let end = start.part + self.per_segment;
        self.free = Moment {
            cycle: start.cycle + end / self.per_cycle,
            part: end % self.per_cycle,
        };
        // In order, except for delays in the L2 and DRAM.
        let behind = match self.outstanding.back() {
            Some(&last) if last > data => self.outstanding.partition_point(|&d| d <= data),
            _ => self.outstanding.len(),
        };
        self.outstanding.insert(behind, data);
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

    /// The counters of the L2 and DRAM.
    pub fn far(&self) -> Option<&Far> {
        self.far.as_deref()
    }

    /// The first cycle that the segments so far leave to others alone.
    pub fn end(&self) -> u64 {
        self.free.cycle + u64::from(self.free.part > 0)
    }
}
