//! The data of a bulk copy, and the cycles for which it has the banks.

use spadkit_mapping::hash::Mapping;

/// The two sides of a bulk copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    /// Whether it copies from shared memory to global memory, else into shared
    /// memory.
    pub stores: bool,
    /// Pieces of the block's shared memory: byte address and bytes.
    pub shared: Vec<(u64, u64)>,
    /// Pieces of global memory, in the order in which they are accessed.
    pub global: Vec<(u64, u64)>,
    /// Byte address of the `mbarrier` at which the bytes arrive, and their
    /// number; of none it belongs to the bulk group of its warp.
    pub arrives: Option<(u64, u32)>,
    /// Whether it also, or only, writes shared memory of other blocks.
    pub others: bool,
}

impl Transfer {
    /// Cycles of the banks, for the aligned rows that each piece touches.
    pub(super) fn bank_cycles(&self, rows: &Rows) -> u64 {
        self.shared.iter().map(|piece| rows.cycles(*piece)).sum()
    }

    /// Segments of global memory of `bytes` bytes. A segment that several
    /// pieces touch counts for each of them, but for neighbours once.
    pub(super) fn segments(&self, bytes: u64) -> u64 {
        let shared_by = |pair: &[(u64, u64)]| last_unit(pair[0], bytes) == pair[1].0 / bytes;
        let twice = self.global.windows(2).filter(|pair| shared_by(pair));
        units(&self.global, bytes) - twice.count() as u64
    }
}

/// The aligned rows of shared memory: as many words as there are banks.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// The bank of each word of a row. A linear mapping moves those of other rows all by
    /// the same bits, and of the other mappings every row has each bank once.
    banks: Vec<u32>,
    word_bytes: u64,
    /// Cycles of a whole row.
    whole: u64,
}

impl Rows {
    /// For words of so many bytes.
    pub fn new(mapping: &Mapping, word_bytes: u32) -> Self {
        let words = mapping.geometry().banks() as u32;
        let mut rows = Rows {
            banks: (0..words).map(|word| mapping.bank(word)).collect(),
            word_bytes: word_bytes.into(),
            whole: 0,
        };
        rows.whole = rows.degree(0, words as usize - 1);
        rows
    }

    /// Words of one bank among those from `first` to `last` of a row, at most.
    fn degree(&self, first: usize, last: usize) -> u64 {
        let mut of_bank = vec![0; self.banks.len()];
        for bank in &self.banks[first..=last] {
            of_bank[*bank as usize] += 1;
        }
        of_bank.into_iter().max().unwrap_or(0)
    }

    /// Cycles that a piece has the banks, which is not empty.
    pub(super) fn cycles(&self, (start, length): (u64, u64)) -> u64 {
        let words = self.banks.len() as u64;
        let first = start / self.word_bytes;
        let last = last_unit((start, length), self.word_bytes);
        let degree = |first: u64, last: u64| self.degree(first as usize, last as usize);
        let (row, last_row) = (first / words, last / words);
        if row == last_row {
            return degree(first % words, last % words);
        }
        let ends = degree(first % words, words - 1) + degree(0, last % words);
        ends + (last_row - row - 1) * self.whole
    }
}

/// Aligned units that the pieces touch, each by itself. No piece is empty.
fn units(pieces: &[(u64, u64)], bytes: u64) -> u64 {
    let of = |&piece: &(u64, u64)| last_unit(piece, bytes) - piece.0 / bytes + 1;
    pieces.iter().map(of).sum()
}

fn last_unit((start, length): (u64, u64), bytes: u64) -> u64 {
    start.saturating_add(length.saturating_sub(1)) / bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn rows_and_segments_are_those_that_are_touched() {
        let transfer = |shared: &[(u64, u64)], global: &[(u64, u64)]| Transfer {
            shared: shared.to_vec(),
            global: global.to_vec(),
            ..Transfer::default()
        };
        let rows = |spec: &str| {
            let machine = Config::preset("fermi").unwrap();
            let mapping = Mapping::new(&spec.parse().unwrap(), machine.geometry).unwrap();
            Rows::new(&mapping, 4)
        };
        let of = |t: &Transfer| (t.bank_cycles(&rows("mod")), t.segments(64));
        let aligned = transfer(&[(256, 512)], &[(4096, 512)]);
        assert_eq!(of(&aligned), (4, 8));
        let shifted = transfer(&[(272, 512)], &[(4112, 512)]);
        assert_eq!(of(&shifted), (5, 9));
        // Two rows of a tensor in one segment, then one elsewhere.
        let tensor = transfer(&[(0, 96)], &[(0, 32), (48, 16), (640, 48)]);
        assert_eq!(of(&tensor), (1, 2));
        // Under a mapping by the bits above the row, its words are all in one bank; under
        // one that takes two of its bits from there, four are.
        let cycles = |t: &Transfer, spec: &str| t.bank_cycles(&rows(spec));
        assert_eq!(cycles(&aligned, "bitvec-perm:k=5"), 4 * 32);
        assert_eq!(cycles(&shifted, "bitvec-perm:k=5"), 128);
        assert_eq!(cycles(&aligned, "bitvec-perm:k=2"), 4 * 4);
        for spec in ["xor", "add", "rap:seed=1"] {
            assert_eq!((cycles(&aligned, spec), cycles(&shifted, spec)), (4, 5));
        }
    }
}
