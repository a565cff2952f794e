//! The address bits that matter to a search, in the order in which they are decided.

use super::{Pass, Problem};

/// The address bits as the columns of the bank matrix, in the order in which
/// the search decides whether they are pivots.
///
/// A kernel vector of the i-th free column lies within the first m + i columns.
/// Columns in which many passes differ come first, so that a bad kernel vector
/// collides early. Columns that may not be pivots come last, because pivots are
/// taken from the front. The bits inside a vector that stays whole come before
/// all others: they are bank bits, unchanged.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Address bit of each column.
    bits: Vec<u32>,
    /// Columns below this may be pivots.
    allowed: usize,
    /// Begin of the spare columns, which end at `allowed`: bits in which no pass
    /// differs. As a pivot, such a column replaces one that may not be a pivot; there
    /// are enough of them.
    spare: usize,
    /// Number of pivots among the columns.
    pivots: usize,
    /// The first columns: pivots that no kernel vector flips.
    fixed: usize,
    /// Bits that make up the rank if there are fewer columns than bank bits.
    padding: Vec<u32>,
}

impl Columns {
    pub(super) fn new(problem: &Problem) -> Self {
        let (n, m) = (
            problem.geometry().addr_bits(),
            problem.geometry().bank_bits() as usize,
        );
        let active = problem.passes().active_bits();
        let fixed = problem.vector_bits();
        let (mut useful, idle): (Vec<u32>, Vec<u32>) =
            (fixed..n).partition(|bit| active >> bit & 1 == 1);
        useful.sort_by_cached_key(|&bit| std::cmp::Reverse(usefulness(problem, bit)));
        let allowed = |bit: &u32| *bit < problem.pivot_limit();
        let (useful, forbidden): (Vec<u32>, Vec<u32>) = useful.into_iter().partition(allowed);
        let mut bits: Vec<u32> = (0..fixed).chain(useful).collect();
        let mut idle = idle.into_iter().filter(allowed);
        let spare = bits.len();
        bits.extend(idle.by_ref().take(forbidden.len()));
        let allowed = bits.len();
        bits.extend(forbidden);
        let pivots = m.min(allowed);
        Columns {
            bits,
            allowed,
            spare,
            pivots,
            fixed: fixed as usize,
            padding: idle.take(m - pivots).collect(),
        }
    }

    /// Number of columns.
    pub(super) fn len(&self) -> usize {
        self.bits.len()
    }

    /// Number of columns that are pivots in the end.
    pub(super) fn pivots(&self) -> usize {
        self.pivots
    }

    /// Columns below this are pivots that no kernel vector flips.
    pub(super) fn fixed(&self) -> usize {
        self.fixed
    }

    /// Columns below this may be pivots.
    pub(super) fn allowed(&self) -> usize {
        self.allowed
    }

    /// Whether no pass differs in `column`.
    pub(super) fn is_spare(&self, column: usize) -> bool {
        (self.spare..self.allowed).contains(&column)
    }

    /// Address bits as column bits.
    pub(super) fn gather(&self, addr: u16) -> u16 {
        let bits = self.bits.iter().enumerate();
        bits.fold(0, |x, (i, bit)| x | (addr >> bit & 1) << i)
    }

    /// The bank rows of the mapping whose free columns and kernel vectors are
    /// `kernel`: column and the pivots (counted, as a mask) that it flips.
    pub(super) fn rows(&self, kernel: &[(usize, usize)]) -> Vec<u32> {
        let is_free = |column: &usize| kernel.iter().any(|(free, _)| free == column);
        let pivots = (0..self.len()).filter(|column| !is_free(column));
        let row = |(i, pivot): (usize, usize)| {
            let flips = kernel.iter().filter(|(_, flips)| flips >> i & 1 == 1);
            flips.fold(1 << self.bits[pivot], |row, (free, _)| {
                row | 1 << self.bits[*free]
            })
        };
        let rows = pivots.enumerate().map(row);
        rows.chain(self.padding.iter().map(|bit| 1 << bit))
            .collect()
    }
}

/// Evenness with which address bit `bit` splits the passes, summed over all.
fn usefulness(problem: &Problem, bit: u32) -> u64 {
    let split = |pass: &Pass| {
        let ones = pass.addrs.iter().filter(|a| *a >> bit & 1 == 1).count();
        pass.weight * ones.min(pass.addrs.len() - ones) as u64
    };
    problem.passes().iter().map(split).sum()
}
