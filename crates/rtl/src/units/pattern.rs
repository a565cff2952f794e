//! Accesses of a warp's lanes: banks and rows in the patterns that matter.

use super::bench::{Frame, Stimulus};
use super::layout::PortSlot;
use crate::config::Config;
use crate::model::MAX_LANES;
use crate::trace::AccessTrace;

/// One access; zeros after the last lane.
#[derive(Clone, Debug)]
pub(super) struct LaneAccess {
    /// Active lanes.
    pub mask: u64,
    /// Bank per lane.
    pub bank: [u8; MAX_LANES],
    /// Row per lane.
    pub row: [u16; MAX_LANES],
    /// Lock per lane.
    pub lock: [u16; MAX_LANES],
}

impl LaneAccess {
    /// The word addresses of `lanes` lanes with `bank_bits` bits of a bank's number.
    pub(super) fn words(&self, bank_bits: u32, lanes: usize) -> Vec<u16> {
        let word = |(row, bank): (&u16, &u8)| row << bank_bits | u16::from(*bank);
        let words = self.row.iter().zip(&self.bank).map(word);
        words.take(lanes).collect()
    }
}

/// The ports by which a unit that passes bank and row on receives them.
pub(super) struct PlacePorts<'a> {
    pub mask: &'a PortSlot,
    pub bank: &'a PortSlot,
    pub row: &'a PortSlot,
    pub lock: &'a PortSlot,
}

impl PlacePorts<'_> {
    /// Drives them with an access of `lanes` lanes; its rows a bank has, or not.
    pub(super) fn drive(
        &self,
        access: &LaneAccess,
        lanes: usize,
        stimulus: &mut Stimulus,
        frame: &mut Frame,
    ) {
        frame.drive_bits(self.mask, access.mask.into());
        frame.drive_fields(self.bank, self.bank.width / lanes, access.bank);
        frame.drive_fields(self.lock, self.lock.width / lanes, access.lock);
        if stimulus.one_in(4) {
            frame.drive_any(self.row, stimulus)
        } else {
            frame.drive_fields(self.row, self.row.width / lanes, access.row)
        }
    }
}

/// Draws accesses: from a trace in turn if there is one, else random ones.
pub(super) struct Patterns {
    lanes: usize,
    /// Banks, a power of two, and the bits of their numbers.
    banks: u32,
    bank_bits: u32,
    /// Rows that a row index can name, and rows that there are.
    row_space: Modulus,
    rows: Modulus,
    locks: Modulus,
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
            bank_bits: config.geometry.bank_bits(),
            row_space: Modulus::new(1 << config.geometry.row_bits()),
            rows: Modulus::new(config.capacity_words / banks),
            locks: Modulus::new(config.path.locks.max(2)),
            replay: replay.collect(),
            next: 0,
        }
    }

    /// The next access. `beyond` lets rows outside the capacity occur.
    pub(super) fn next(&mut self, stimulus: &mut Stimulus, beyond: bool) -> LaneAccess {
        let mut words = [0; MAX_LANES];
        let words = &mut words[..self.lanes];
        let mask = match self.replay.len() {
            0 => self.random(stimulus, words),
            count => {
                self.next = (self.next + 1) % count;
                let (mask, replayed) = &self.replay[self.next];
                words.copy_from_slice(replayed);
                *mask
            }
        };
        let rows = if beyond && stimulus.one_in(8) {
            self.row_space
        } else {
            self.rows
        };
        let lock_stride = [1, 1, 8][stimulus.below(3) as usize];
        let mut access = LaneAccess {
            mask,
            bank: [0; MAX_LANES],
            row: [0; MAX_LANES],
            lock: [0; MAX_LANES],
        };
        for (lane, &word) in words.iter().enumerate() {
            access.bank[lane] = (word & (self.banks - 1)) as u8;
            access.row[lane] = rows.of(word >> self.bank_bits) as u16;
            access.lock[lane] = self.locks.of(word * lock_stride) as u16;
        }
        access
    }

    /// Draws a word of each lane, and a mask.
    fn random(&self, stimulus: &mut Stimulus, words: &mut [u32]) -> u64 {
        let all = u64::MAX >> (64 - self.lanes);
        let mask = match stimulus.below(8) {
            0 => 0,
            1 => 1 << stimulus.below(self.lanes as u32),
            2 | 3 => all,
            4 => all & stimulus.bits64() & stimulus.bits64(),
            _ => all & stimulus.bits64(),
        };
        let base = stimulus.bits() >> 8;
        let kind = stimulus.below(8);
        let rows = 1 + stimulus.below(4);
        let word = |i: u32, stimulus: &mut Stimulus| match kind {
            // One word; one bank; a power-of-two stride; two words per bank.
            0 => base,
            1 => base + (i << self.bank_bits),
            2 => base + (i << (base & 7)),
            3 => base + i % 2 * self.banks + i / 2,
            // Conflict-free or nearly so.
            4 => base + i,
            // Few rows in random banks: broadcast and conflict together.
            5 | 6 => stimulus.below(self.banks) + self.banks * stimulus.below(rows),
            _ => stimulus.bits() >> 8,
        };
        for (i, place) in words.iter_mut().enumerate() {
            *place = word(i as u32, stimulus);
        }
        mask
    }
}

/// Remainders of division by a constant, without a division (Lemire, Kaser,
/// Kurz: Faster remainder by direct computation, 2019).
#[derive(Clone, Copy)]
struct Modulus {
    divisor: u32,
    /// 2^64 / divisor, rounded up.
    inverse: u64,
}

impl Modulus {
    fn new(divisor: u32) -> Self {
        Modulus {
            divisor,
            inverse: (u64::MAX / u64::from(divisor)).wrapping_add(1),
        }
    }

    #[inline]
    fn of(self, value: u32) -> u32 {
        let fraction = self.inverse.wrapping_mul(value.into());
        ((u128::from(fraction) * u128::from(self.divisor)) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_are_those_of_a_division() {
        for divisor in [1, 2, 3, 24, 384, 1024, 1 << 31, u32::MAX] {
            let modulus = Modulus::new(divisor);
            let mut stimulus = Stimulus::new(divisor.into());
            let ends = [0, 1, divisor - 1, divisor, u32::MAX - 1, u32::MAX];
            for value in ends.into_iter().chain((0..100).map(|_| stimulus.bits())) {
                assert_eq!(modulus.of(value), value % divisor, "{value} % {divisor}");
            }
        }
    }
}
