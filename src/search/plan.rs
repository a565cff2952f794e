//! How the bit-vector XOR configurations of one pair are evaluated together.
//!
//! They differ in the mask. Their bank rows are the bits `k1..k1+m` of the
//! address, each with or without a bit of the second vector, so all of them
//! live in the space of the first vector's bits and the *outside* bits, those
//! of the second vector that are not in the first. Each outside bit gives one
//! kernel vector: the bit itself and the bank bits that depend on it. Where the
//! vectors overlap, different masks have the same kernel, and are counted once.

use super::Problem;
use super::quotient::{Batch, Lanes, degrees, merge, merged_degrees};
use crate::geometry::Geometry;

/// Configurations with equal `k1` and `k2`, and masks from 0 upward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// First address bit of the first vector.
    pub k1: u32,
    /// First address bit of the masked vector.
    pub k2: u32,
    /// Number of masks, counted from 0.
    pub masks: u32,
}

/// How the configurations of one pair are evaluated together.
pub(super) struct Plan {
    k1: u32,
    /// First outside bit.
    outside: u32,
    m: u32,
    /// Per outside bit: the different sets of bank bits that it can flip.
    options: Vec<Vec<usize>>,
    /// The allowed masks, ascending, each with its leaf: the choice of an
    /// option per outside bit, in mixed radix, the last outside bit first.
    pub(super) masks: Vec<(u32, usize)>,
}

impl Plan {
    pub(super) fn new(pair: &Pair, problem: &Problem) -> Self {
        let (k1, k2) = (pair.k1, pair.k2);
        let (n, m) = (
            problem.geometry().addr_bits(),
            problem.geometry().bank_bits(),
        );
        // The second vector's bits that are neither in the first nor beyond n.
        let (outside, end) = if k2 > k1 {
            (k2.max(k1 + m), (k2 + m).min(n))
        } else {
            (k2, (k2 + m).min(k1))
        };
        let mut options = vec![Vec::new(); end.saturating_sub(outside) as usize];
        let mut choices = Vec::new();
        for mask in 0..pair.masks {
            let rows = rows(pair, mask, problem.geometry());
            if !problem.allows_as_written(&rows) {
                continue;
            }
            let mut chosen = vec![0; options.len()];
            for (j, options) in options.iter_mut().enumerate() {
                let flipped = flipped_by(outside + j as u32, pair, mask, m);
                chosen[j] = (options.iter().position(|&o| o == flipped)).unwrap_or_else(|| {
                    options.push(flipped);
                    options.len() - 1
                });
            }
            choices.push((mask, chosen));
        }
        let leaf = |chosen: &[usize]| {
            let digits = chosen.iter().zip(&options).rev();
            digits.fold(0, |leaf, (&digit, options)| leaf * options.len() + digit)
        };
        let masks = choices.iter().map(|(mask, c)| (*mask, leaf(c))).collect();
        Plan {
            k1,
            outside,
            m,
            options,
            masks,
        }
    }

    pub(super) fn leaves(&self) -> usize {
        self.options.iter().map(Vec::len).product()
    }

    /// One load table per level, the first with all outside bits.
    pub(super) fn scratch<const L: usize>(&self) -> Vec<Vec<Lanes<L>>> {
        let coordinates = self.m as usize + self.options.len();
        (self.m as usize..=coordinates)
            .rev()
            .map(|bits| vec![Lanes::ZERO; 1 << bits])
            .collect()
    }

    /// The first vector's bits, then the outside bits.
    #[inline]
    pub(super) fn point(&self, addr: u16) -> usize {
        let addr = usize::from(addr);
        let bank = addr >> self.k1 & ((1 << self.m) - 1);
        let outside = addr >> self.outside & ((1 << self.options.len()) - 1);
        bank | outside << self.m
    }

    /// Adds the conflicts of `batch`, whose loads are in `tables[0]`, to those
    /// of each leaf below `leaf`. The outside bit of the top coordinate is
    /// divided out first.
    pub(super) fn evaluate<const L: usize>(
        &self,
        batch: &Batch<L>,
        tables: &mut [Vec<Lanes<L>>],
        leaf: usize,
        sum: &mut [u64],
    ) {
        let (table, deeper) = tables.split_first_mut().expect("one table per level");
        let Some((left, options)) = deeper.len().checked_sub(1).map(|i| (i, &self.options[i]))
        else {
            sum[leaf] += batch.conflicts(degrees(table));
            return;
        };
        let top = self.m + left as u32;
        for (digit, &flipped) in options.iter().enumerate() {
            let leaf = leaf * options.len() + digit;
            if left == 0 {
                sum[leaf] += batch.conflicts(merged_degrees(table, top, flipped));
            } else {
                merge(table, top, flipped, &mut deeper[0]);
                self.evaluate(batch, deeper, leaf, sum);
            }
        }
    }
}

/// The row masks of a configuration.
fn rows(pair: &Pair, mask: u32, geometry: Geometry) -> Vec<u32> {
    let row = |i| (1u32 << (pair.k1 + i)) ^ ((mask >> i & 1) << (pair.k2 + i));
    (0..geometry.bank_bits())
        .map(|i| row(i) & geometry.addr_mask())
        .collect()
}

/// The first vector's bits that are 1 in the kernel vector of outside bit
/// `bit`: the masked bank bit that takes it, then, where the vectors overlap,
/// the one that takes that, and so on along the chain of set mask bits.
fn flipped_by(bit: u32, pair: &Pair, mask: u32, m: u32) -> usize {
    let mut flipped = 0;
    let mut i = Some(bit - pair.k2);
    while let Some(row) = i.filter(|&i| i < m && mask >> i & 1 == 1) {
        flipped |= 1 << row;
        i = (row + pair.k1).checked_sub(pair.k2);
    }
    flipped
}
