//! The memory behind an SM's channel: its share of the L2, and the channels of
//! DRAM with their open rows. All of it is shared with the other SMs, which are
//! assumed to cause the same load (microarchitecture/sm-model.md).

use super::tags::{Tags, UnderWay};
use crate::config::{Dram as DramParameters, L2Cache as L2Parameters, SmParams};
use std::collections::{HashSet, VecDeque};

/// The cycles in which a request entered, and in which its data come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Served {
    pub start: u64,
    pub data: u64,
}

/// The L2 and DRAM, where the machine has them.
pub(super) struct Far {
    /// Cycles of a load that DRAM serves at once.
    latency: u64,
    segment_bytes: u64,
    l2: Option<L2>,
    dram: Option<Dram>,
}

impl Far {
    /// None where the machine has neither.
    pub fn new(sm: &SmParams) -> Option<Self> {
        let far = Far {
            latency: sm.global.latency.into(),
            segment_bytes: sm.global.segment_bytes.into(),
            l2: L2::new(&sm.l2, sm.global.segment_bytes),
            dram: Dram::new(&sm.dram),
        };
        (far.l2.is_some() || far.dram.is_some()).then_some(far)
    }

    /// A segment that is asked for, or written, in `cycle`, which is never
    /// before that of another call.
    pub fn request(&mut self, segment: u64, cycle: u64, writes: bool) -> Served {
        let Some(l2) = &mut self.l2 else {
            return self.dram_serves(segment, self.segment_bytes, cycle, writes);
        };
        let line = segment / l2.segments;
        if writes {
            l2.dirty.insert(line);
        }
        if let Some(data) = l2.under_way.find(line, cycle) {
            l2.merged += 1;
            let data = data.max(cycle + l2.latency);
            return Served { start: cycle, data };
        }
        if l2.tags.touch(line) {
            l2.hits += 1;
            let data = cycle + l2.latency;
            return Served { start: cycle, data };
        }
        l2.misses += 1;
        let evicted = l2.tags.insert(line);
        let dirty = evicted.filter(|evicted| l2.dirty.remove(evicted));
        let (bytes, fetches) = (l2.line_bytes, !writes || l2.fetch_on_write);
        let served = if fetches {
            self.dram_serves(line, bytes, cycle, false)
        } else {
            let data = cycle + self.latency;
            Served { start: cycle, data }
        };
        if let (Some(l2), true) = (&mut self.l2, fetches) {
            l2.under_way.add(line, served.data);
        }
        if let (Some(line), Some(dram)) = (dirty, &mut self.dram) {
            dram.access(line * bytes, bytes, served.start);
        }
        served
    }

    /// Piece `index`, of `bytes`, of DRAM.
    fn dram_serves(&mut self, index: u64, bytes: u64, cycle: u64, writes: bool) -> Served {
        let Some(dram) = &mut self.dram else {
            let data = cycle + self.latency;
            return Served { start: cycle, data };
        };
        let start = dram.room(index * bytes, cycle);
        let waits = dram.access(index * bytes, bytes, start);
        let data = start + if writes { 0 } else { waits } + self.latency;
        Served { start, data }
    }

    /// Hits, misses and lines found under way in the L2; hits and conflicts of
    /// rows of DRAM.
    pub fn counted(&self) -> ([u64; 3], [u64; 2]) {
        let l2 = self.l2.as_ref();
        let dram = self.dram.as_ref();
        (
            l2.map_or([0; 3], |l2| [l2.hits, l2.misses, l2.merged]),
            dram.map_or([0; 2], |dram| [dram.hits, dram.conflicts]),
        )
    }
}

/// The lines that this SM has of the L2: stores allocate and are written back.
struct L2 {
    tags: Tags,
    under_way: UnderWay,
    dirty: HashSet<u64>,
    latency: u64,
    line_bytes: u64,
    /// Segments of a line.
    segments: u64,
    fetch_on_write: bool,
    hits: u64,
    misses: u64,
    merged: u64,
}

impl L2 {
    fn new(parameters: &L2Parameters, segment_bytes: u32) -> Option<Self> {
        let p = parameters;
        (p.size_bytes > 0).then(|| L2 {
            tags: Tags::new(p.size_bytes, p.ways, p.line_bytes),
            under_way: UnderWay::default(),
            dirty: HashSet::new(),
            latency: p.latency.into(),
            line_bytes: p.line_bytes.into(),
            segments: u64::from(p.line_bytes / segment_bytes),
            fetch_on_write: p.fetch_on_write,
            hits: 0,
            misses: 0,
            merged: 0,
        })
    }
}

/// Thousandths of a cycle.
type Time = u64;
const CYCLE: Time = 1000;

/// Channels of DRAM.
struct Dram {
    channels: Vec<Channel>,
    banks: u64,
    stripe_bytes: u64,
    row_bytes: u64,
    /// SMs that ask for as much.
    sms: u64,
    millibytes_per_cycle: u64,
    open: Time,
    between: Time,
    row_cycle: Time,
    queue: usize,
    hits: u64,
    conflicts: u64,
}

/// A channel: its data bus and its banks.
struct Channel {
    /// First time at which this SM may transfer again.
    free: Time,
    /// First time at which it may open a row again.
    next_open: Time,
    banks: Vec<Bank>,
    /// The beginnings of transfers that wait, or have waited, in order.
    waiting: VecDeque<Time>,
}

/// A bank with its open row.
#[derive(Clone, Copy)]
struct Bank {
    row: u64,
    /// Until then what this SM asks of the row keeps it open.
    open_until: Time,
    next_open: Time,
}

/// No row: more than addresses have.
const CLOSED: u64 = u64::MAX;

impl Dram {
    fn new(parameters: &DramParameters) -> Option<Self> {
        let p = parameters;
        let bank = Bank {
            row: CLOSED,
            open_until: 0,
            next_open: 0,
        };
        let channel = |_| Channel {
            free: 0,
            next_open: 0,
            banks: vec![bank; p.banks as usize],
            waiting: VecDeque::new(),
        };
        (p.channels > 0).then(|| Dram {
            channels: (0..p.channels).map(channel).collect(),
            banks: p.banks.into(),
            stripe_bytes: p.stripe_bytes.into(),
            row_bytes: p.row_bytes.into(),
            sms: p.sms.into(),
            millibytes_per_cycle: p.millibytes_per_cycle(),
            open: Time::from(p.open) * CYCLE,
            between: Time::from(p.between) * CYCLE,
            row_cycle: Time::from(p.row_cycle) * CYCLE,
            queue: p.queue as usize,
            hits: 0,
            conflicts: 0,
        })
    }

    /// Channel, bank and row of an address: stripes go round the channels, the
    /// rows of a channel round its banks.
    fn place(&self, address: u64) -> (usize, usize, u64) {
        let channels = self.channels.len() as u64;
        let stripe = address / self.stripe_bytes;
        let local = stripe / channels * self.stripe_bytes + address % self.stripe_bytes;
        let row = local / self.row_bytes;
        (
            (stripe % channels) as usize,
            (row % self.banks) as usize,
            row / self.banks,
        )
    }

    /// The first cycle, `cycle` or later, in which the queue before the channel
    /// of `address` has an entry.
    fn room(&mut self, address: u64, cycle: u64) -> u64 {
        let (channel, ..) = self.place(address);
        let waiting = &mut self.channels[channel].waiting;
        while waiting.front().is_some_and(|&begin| begin <= cycle * CYCLE) {
            waiting.pop_front();
        }
        let behind = waiting.len().checked_sub(self.queue);
        behind.map_or(cycle, |at| waiting[at].div_ceil(CYCLE))
    }

    /// Reads or writes `bytes` in `cycle`: the cycles that it waits for its
    /// row, its channel, and what went before.
    fn access(&mut self, address: u64, bytes: u64, cycle: u64) -> u64 {
        let (channel, bank, row) = self.place(address);
        let busy = bytes * self.sms * CYCLE * 1000 / self.millibytes_per_cycle;
        let now = cycle * CYCLE;
        let channel = &mut self.channels[channel];
        let bank = &mut channel.banks[bank];
        // Requests of other SMs in between have closed the row.
        let is_open = bank.row == row && (self.sms == 1 || now <= bank.open_until);
        let ready = if is_open {
            self.hits += 1;
            now
        } else {
            self.conflicts += 1;
            let opens = now.max(bank.next_open).max(channel.next_open);
            bank.next_open = opens + self.row_cycle;
            channel.next_open = opens + self.between * self.sms;
            bank.row = row;
            opens + self.open
        };
        let begin = ready.max(channel.free);
        channel.free = begin + busy;
        bank.open_until = channel.free;
        channel.waiting.push_back(begin);
        (begin - now).div_ceil(CYCLE)
    }
}

#[cfg(test)]
mod tests;
