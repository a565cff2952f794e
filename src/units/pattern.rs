//! Accesses of a warp's lanes: banks and rows in the patterns that matter.

use super::bench::Stimulus;
use crate::config::Config;
use crate::trace::AccessTrace;

/// One access.
#[derive(Clone, Debug)]
pub(super) struct LaneAccess {
    /// Active lanes.
    pub mask: u64,
    /// Bank per lane.
    pub bank: Vec<u8>,
    /// Row per lane.
    pub row: Vec<u16>,
    /// Lock per lane.
    pub lock: Vec<u16>,
}

/// Draws accesses: from a trace in turn if there is one, else random ones.
pub(super) struct Patterns {
    lanes: usize,
    banks: u32,
    /// Rows that a row index can name, and rows that there are.
    row_space: u32,
    rows: u32,
    locks: u32,
    /// Masks and word addresses of a trace's accesses, `lanes` lanes at a time.
    replay: Vec<(u64, Vec<u32>)>,
    next: usize,
}

impl Patterns {
    pub(super) fn new(config: &Config, trace: Option<&AccessTrace>) -> Self {
        let lanes = config.lanes as usize;
        let accesses = trace.iter().flat_map(|t| &t.accesses);
        let passes = accesses.flat_map(|a| a.addrs.chunks(lanes).map(<[_]>::to_vec));
        let replay = passes.map(|addrs| {
            let active = |m, (i, a): (usize, &Option<u32>)| m | u64::from(a.is_some()) << i;
            let mask = addrs.iter().enumerate().fold(0, active);
            let mut words: Vec<u32> = addrs.iter().map(|a| a.unwrap_or(0)).collect();
            words.resize(lanes, 0);
            (mask, words)
        });
        let banks = config.geometry.banks() as u32;
        Patterns {
            lanes,
            banks,
            row_space: 1 << (config.geometry.addr_bits() - config.geometry.bank_bits()),
            rows: config.capacity_words / banks,
            locks: config.path.locks.max(2),
            replay: replay.collect(),
            next: 0,
        }
    }

    /// The next access. `beyond` lets rows outside the capacity occur.
    pub(super) fn next(&mut self, stimulus: &mut Stimulus, beyond: bool) -> LaneAccess {
        let (mask, words) = match self.replay.len() {
            0 => self.random(stimulus),
            count => {
                self.next = (self.next + 1) % count;
                self.replay[self.next].clone()
            }
        };
        let rows = match beyond && stimulus.one_in(8) {
            true => self.row_space,
            false => self.rows,
        };
        let lock_stride = [1, 1, 8][stimulus.below(3) as usize];
        LaneAccess {
            mask,
            bank: words.iter().map(|a| (a % self.banks) as u8).collect(),
            row: words
                .iter()
                .map(|a| (a / self.banks % rows) as u16)
                .collect(),
            lock: words
                .iter()
                .map(|a| (a * lock_stride % self.locks) as u16)
                .collect(),
        }
    }

    fn random(&self, stimulus: &mut Stimulus) -> (u64, Vec<u32>) {
        let all = u64::MAX >> (64 - self.lanes);
        let mask = match stimulus.below(8) {
            0 => 0,
            1 => 1 << stimulus.below(self.lanes as u32),
            2 | 3 => all,
            4 => all & stimulus.wide(64) as u64 & stimulus.wide(64) as u64,
            _ => all & stimulus.wide(64) as u64,
        };
        let base = stimulus.bits() >> 8;
        let kind = stimulus.below(8);
        let rows = 1 + stimulus.below(4);
        let word = |i: u32, stimulus: &mut Stimulus| match kind {
            // One word; one bank; a power-of-two stride; two words per bank.
            0 => base,
            1 => base + i * self.banks,
            2 => base + (i << (base & 7)),
            3 => base + i % 2 * self.banks + i / 2,
            // Conflict-free or nearly so.
            4 => base + i,
            // Few rows in random banks: broadcast and conflict together.
            5 | 6 => stimulus.below(self.banks) + self.banks * stimulus.below(rows),
            _ => stimulus.bits() >> 8,
        };
        let words = (0..self.lanes as u32).map(|i| word(i, stimulus));
        (mask, words.collect())
    }
}
