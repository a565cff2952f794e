//! An L1 in front of the channel: which lines it has, and which are under way to it.

use super::channel::Channel;
use super::tags::{Tags, UnderWay};
use crate::config::L1Cache as Parameters;

/// An L1: looks up one line a cycle, in the order of the loads.
pub(super) struct L1 {
    tags: Tags,
    under_way: UnderWay,
    latency: u64,
    mshrs: usize,
    line_bytes: u64,
    /// Segments of a line.
    segments: u64,
    /// First cycle in which it can look up a line.
    free: u64,
    pub hits: u64,
    pub misses: u64,
    pub merged: u64,
}

impl L1 {
    /// None if it has no lines.
    pub fn new(parameters: &Parameters, segment_bytes: u32) -> Option<Self> {
        let p = parameters;
        (p.size_bytes > 0).then(|| L1 {
            tags: Tags::new(p.size_bytes, p.ways, p.line_bytes),
            under_way: UnderWay::default(),
            latency: p.latency.into(),
            mshrs: p.mshrs as usize,
            line_bytes: p.line_bytes.into(),
            segments: u64::from(p.line_bytes / segment_bytes),
            free: 0,
            hits: 0,
            misses: 0,
            merged: 0,
        })
    }

    pub fn line_bytes(&self) -> u64 {
        self.line_bytes
    }

    /// Loads a line that is wanted from `cycle` on; returns the cycle of its
    /// data.
    pub fn load(&mut self, line: u64, cycle: u64, channel: &mut Channel) -> u64 {
        let mut at = self.free.max(cycle);
        let is_there = self.tags.touch(line);
        let data = if let Some(data) = self.under_way.find(line, at) {
            self.merged += 1;
            data.max(at + self.latency)
        } else if is_there {
            self.hits += 1;
            at + self.latency
        } else {
            // Later requests wait, too.
            at = self.under_way.room(self.mshrs, at);
            self.misses += 1;
            let first = line * self.segments;
            let segments = first..first + self.segments;
            let transfers = segments.map(|segment| channel.load(segment, at).data);
            let data = transfers.max().unwrap_or(at);
            self.tags.insert(line);
            self.under_way.add(line, data);
            data
        };
        self.free = at + 1;
        data
    }

    /// A store writes to a segment: its line is no longer there.
    pub fn store(&mut self, segment: u64) {
        self.tags.evict(segment / self.segments);
    }
}
