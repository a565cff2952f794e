//! Plans: the bit-vector XOR configurations of one pair are evaluated together.
//!
//! They differ in the mask. Their bank rows are the bits `k1..k1+m` of the address,
//! each with or without a bit of the second vector. So all of them are in the space
//! of the first vector's bits and the *outside* bits: those of the second vector that
//! are not in the first. Each outside bit gives one kernel vector: the bit itself and
//! the bank bits that depend on it. Where the vectors overlap, different masks have
//! the same kernel, and are counted once.

use super::Problem;
use super::quotient::{Batch, Lanes, Vector, degrees, merge, merged_degrees};
use crate::geometry::Geometry;
use std::ops::Range;

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

impl Pair {
    /// The second vector's bits that are neither in the first nor beyond n.
    fn outside(&self, geometry: Geometry) -> Range<u32> {
        let (n, m) = (geometry.addr_bits(), geometry.bank_bits());
        let (first, end) = if self.is_outside_above() {
            (self.k2.max(self.k1 + m), (self.k2 + m).min(n))
        } else {
            (self.k2, (self.k2 + m).min(self.k1))
        };
        first..end.max(first)
    }

    /// Whether the outside bits are above the first vector, not below.
    fn is_outside_above(&self) -> bool {
        self.k2 > self.k1
    }

    /// The row masks of a configuration.
    pub(super) fn rows(&self, mask: u32, geometry: Geometry) -> Vec<u32> {
        let row = |i| (1u32 << (self.k1 + i)) ^ ((mask >> i & 1) << (self.k2 + i));
        (0..geometry.bank_bits())
            .map(|i| row(i) & geometry.addr_mask())
            .collect()
    }

    /// The address bits that its configurations depend on, as a mask.
    pub(super) fn address_bits(&self, geometry: Geometry) -> u32 {
        let outside = self.outside(geometry).map(|bit| 1 << bit);
        outside.fold(geometry.bank_mask() << self.k1, |bits, bit| bits | bit)
    }
}

/// The plan by which the configurations of one pair are evaluated together.
pub(super) struct Plan {
    m: u32,
    /// Whether the outside bits are above the first vector, not below.
    outside_above: bool,
    /// Per outside bit: the different sets of bank bits that it can flip.
    options: Vec<Vec<usize>>,
    /// The allowed masks, ascending, each with its leaf: the choice of an
    /// option per outside bit, in mixed radix, the last outside bit first.
    pub(super) masks: Vec<(u32, usize)>,
}

impl Plan {
    pub(super) fn new(pair: &Pair, problem: &Problem) -> Self {
        let (geometry, m) = (problem.geometry(), problem.geometry().bank_bits());
        let outside = pair.outside(geometry);
        let mut options = vec![Vec::new(); outside.len()];
        let mut choices = Vec::new();
        for mask in 0..pair.masks {
            let rows = pair.rows(mask, geometry);
            if !problem.allows_as_written(&rows) {
                continue;
            }
            let mut chosen = vec![0; options.len()];
            for (j, options) in options.iter_mut().enumerate() {
                let flipped = flipped_by(outside.start + j as u32, pair, mask, m);
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
            m,
            outside_above: pair.is_outside_above(),
            options,
            masks,
        }
    }

    pub(super) fn leaves(&self) -> usize {
        self.options.iter().map(Vec::len).product()
    }

    /// Room for what is left of a table after each division but the last.
    pub(super) fn room<const L: usize>(&self) -> Vec<Vec<Lanes<L>>> {
        let left = 0..self.options.len();
        left.map(|left| vec![Lanes::ZERO; 1 << (self.m as usize + left)])
            .collect()
    }

    /// The kernel vector of outside bit `bit` where none is left above it.
    fn vector(&self, bit: usize, flipped: usize) -> Vector {
        if self.outside_above {
            Vector {
                top: self.m + bit as u32,
                flips: flipped,
            }
        } else {
            Vector {
                top: bit as u32,
                flips: flipped << bit,
            }
        }
    }

    /// Adds the conflicts of `batch`, whose loads are in `table`, to those of
    /// each leaf below `leaf`. The table is over the bits of the first vector
    /// and the first outside bits, in ascending order; the last of these is
    /// divided out first.
    pub(super) fn evaluate<const L: usize>(
        &self,
        batch: &Batch<L>,
        table: &[Lanes<L>],
        room: &mut [Vec<Lanes<L>>],
        leaf: usize,
        sum: &mut [u64],
    ) {
        let left = (table.len().ilog2() - self.m) as usize;
        let Some(bit) = left.checked_sub(1) else {
            sum[leaf] += batch.conflicts(degrees(table));
            return;
        };
        let options = &self.options[bit];
        let (room, merged) = room.split_at_mut(bit);
        for (digit, &flipped) in options.iter().enumerate() {
            let leaf = leaf * options.len() + digit;
            let vector = self.vector(bit, flipped);
            if bit == 0 {
                sum[leaf] += batch.conflicts(merged_degrees(table, vector));
            } else {
                merge(table, vector, &mut merged[0]);
                self.evaluate(batch, &merged[0], room, leaf, sum);
            }
        }
    }
}

/// The first vector's bits that are 1 in the kernel vector of outside bit `bit`.
/// The first is the masked bank bit that takes `bit`. If the vectors overlap,
/// the next is the one that takes that bit, and so on along the chain of set
/// mask bits.
fn flipped_by(bit: u32, pair: &Pair, mask: u32, m: u32) -> usize {
    let mut flipped = 0;
    let mut i = Some(bit - pair.k2);
    while let Some(row) = i.filter(|&i| i < m && mask >> i & 1 == 1) {
        flipped |= 1 << row;
        i = (row + pair.k1).checked_sub(pair.k2);
    }
    flipped
}
