//! An L1 in front of the channel: which lines it has, and which are under way to it.

use super::channel::Channel;
use super::tags::{Tags, UnderWay};
use crate::config::L1Cache as Parameters;
use std::collections::HashMap;

/// An L1: looks up one line a cycle, in the order of the loads.
pub(super) struct L1 {
    tags: Tags,
    under_way: UnderWay,
    latency: u64,
    mshrs: usize,
    /// Segments of a line.
    segments: u64,
    /// The segments that each line has, as bits; none where lines come whole.
    sectors: Option<HashMap<u64, u64>>,
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
            segments: u64::from(p.line_bytes / segment_bytes),
            sectors: p.sectored.then(HashMap::new),
            free: 0,
            hits: 0,
            misses: 0,
            merged: 0,
        })
    }

    /// Segments of a line.
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// Loads segments of one line that are wanted from `cycle` on; returns the cycle of
    /// their data.
    pub fn load(&mut self, segments: &[u64], cycle: u64, channel: &mut Channel) -> u64 {
        let line = segments[0] / self.segments;
        let at = self.free.max(cycle);
        let (data, at) = match &self.sectors {
            None => self.load_line(line, at, channel),
            Some(_) => self.load_sectors(line, segments, at, channel),
        };
        self.free = at + 1;
        data
    }

    /// The cycles of the data and of the look-up.
    fn load_line(&mut self, line: u64, at: u64, channel: &mut Channel) -> (u64, u64) {
        let is_there = self.tags.touch(line);
        if let Some(data) = self.under_way.find(line, at) {
            self.merged += 1;
            return (data.max(at + self.latency), at);
        }
        if is_there {
            self.hits += 1;
            return (at + self.latency, at);
        }
        // Later requests wait, too.
        let at = self.under_way.room(self.mshrs, at);
        self.misses += 1;
        let first = line * self.segments;
        let segments = first..first + self.segments;
        let transfers = segments.map(|segment| channel.load(segment, at).data);
        let data = transfers.max().unwrap_or(at);
        self.tags.insert(line);
        self.under_way.add(line, data);
        (data, at)
    }

    /// The same where a line has the sectors alone that loads have asked for. A line counts
    /// as a miss if one of the wanted sectors is neither there nor under way.
    fn load_sectors(
        &mut self,
        line: u64,
        wanted: &[u64],
        at: u64,
        channel: &mut Channel,
    ) -> (u64, u64) {
        let bits = self.bits(wanted);
        let is_there = self.tags.touch(line);
        let sectors = self.sectors.get_or_insert_default();
        if !is_there && let Some(evicted) = self.tags.insert(line) {
            sectors.remove(&evicted);
        }
        let has = sectors.entry(line).or_default();
        let missing = bits & !*has;
        *has |= bits;
        let is_missing = |segment: &u64| missing >> (segment % self.segments) & 1 == 1;
        let mut data = at + self.latency;
        let mut waits = false;
        for &segment in wanted.iter().filter(|s| !is_missing(s)) {
            if let Some(arrival) = self.under_way.find(segment, at) {
                (data, waits) = (data.max(arrival), true);
            }
        }
        if missing == 0 {
            self.merged += u64::from(waits);
            self.hits += u64::from(!waits);
            return (data, at);
        }
        self.misses += 1;
        let mut asked = at;
        for &segment in wanted.iter().filter(|s| is_missing(s)) {
            asked = self.under_way.room(self.mshrs, asked);
            let arrival = channel.load(segment, asked).data;
            self.under_way.add(segment, arrival);
            data = data.max(arrival);
        }
        (data, asked)
    }

    /// Segments of one line, as bits.
    fn bits(&self, segments: &[u64]) -> u64 {
        let bits = segments
            .iter()
            .map(|segment| 1 << (segment % self.segments));
        bits.fold(0, |all, bit: u64| all | bit)
    }

    /// A store writes to a segment: it is no longer there, nor is its line where lines are
    /// whole.
    pub fn store(&mut self, segment: u64) {
        let (line, bit) = (segment / self.segments, self.bits(&[segment]));
        match &mut self.sectors {
            None => self.tags.evict(line),
            Some(sectors) => {
                if let Some(has) = sectors.get_mut(&line) {
                    *has &= !bit;
                }
            }
        }
    }
}
