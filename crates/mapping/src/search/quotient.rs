//! Conflict degrees of many passes at once, by dividing out kernel vectors.
//!
//! A [`Batch`] holds up to `L` passes. A *load table* has one entry per
//! point of a coordinate space over GF(2), and an entry has one byte per pass:
//! how many addresses of that pass lie there. Bank functions are built up by
//! dividing the space by one kernel vector after the other: points whose
//! difference is the vector become one, their loads add up. What is left in
//! the end is one point per bank. Merging the loads of sixteen passes is one
//! 128-bit addition, and mappings whose kernels share vectors share the work.
//!
//! `L` is 16 for short traces; more amortise the loop around the additions.

use super::passes::Pass;
use crate::trace::least_degree;

/// One byte per pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(16))]
pub(super) struct Lanes<const L: usize>([u8; L]);

impl<const L: usize> Lanes<L> {
    pub(super) const ZERO: Self = Lanes([0; L]);

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Lanes(std::array::from_fn(|i| self.0[i].wrapping_add(other.0[i])))
    }

    /// One byte per pass, given the number of the pass.
    pub(super) fn from_fn(byte: impl FnMut(usize) -> u8) -> Self {
        Lanes(std::array::from_fn(byte))
    }

    /// Adds to `table` the loads of the points `point(x)` for the `x` of each pass.
    pub(super) fn count(passes: &[Vec<u16>], table: &mut [Self], point: impl Fn(u16) -> usize) {
        for (lane, xs) in passes.iter().enumerate() {
            for &x in xs {
                // A pass has at most 64 addresses: no overflow.
                table[point(x)].0[lane] += 1;
            }
        }
    }

    #[inline(always)]
    pub(super) fn max(self, other: Self) -> Self {
        Lanes(std::array::from_fn(|i| self.0[i].max(other.0[i])))
    }
}

/// Up to `L` passes and their weights.
#[derive(Clone, Debug)]
pub(super) struct Batch<const L: usize> {
    addrs: Vec<Vec<u16>>,
    weights: [u64; L],
    /// The weight of all passes, if they have the same.
    uniform: Option<u64>,
    /// Sum of the weights.
    total: u64,
}

impl<const L: usize> Batch<L> {
    /// Batches of `passes`, in their order.
    pub(super) fn all(passes: &[Pass]) -> Vec<Self> {
        passes.chunks(L).map(Batch::new).collect()
    }

    fn new(passes: &[Pass]) -> Self {
        let mut weights = [0; L];
        for (weight, pass) in weights.iter_mut().zip(passes) {
            *weight = pass.weight;
        }
        let first = passes[0].weight;
        Batch {
            addrs: passes.iter().map(|p| p.addrs.clone()).collect(),
            weights,
            uniform: passes.iter().all(|p| p.weight == first).then_some(first),
            total: weights.iter().sum(),
        }
    }

    /// Fills `table` with the loads of the points `point(addr)`.
    pub(super) fn fill(&self, table: &mut [Lanes<L>], point: impl Fn(u16) -> usize) {
        table.fill(Lanes::ZERO);
        Lanes::count(&self.addrs, table, point);
    }

    /// The addresses of each pass.
    pub(super) fn addrs(&self) -> &[Vec<u16>] {
        &self.addrs
    }

    /// The degrees that no function to 2^m banks avoids that keeps vectors of
    /// 2^`vector_bits` words whole.
    pub(super) fn floor(&self, m: u32, vector_bits: u32) -> Lanes<L> {
        let degree = |addrs: &Vec<u16>| least_degree(addrs, m, vector_bits) as u8;
        Lanes::from_fn(|lane| self.addrs.get(lane).map_or(0, degree))
    }

    /// Conflicts of the batch, given the degree of each pass.
    #[inline]
    pub(super) fn conflicts(&self, degrees: Lanes<L>) -> u64 {
        let weighted: u64 = match self.uniform {
            Some(weight) => {
                weight * u64::from(degrees.0.iter().map(|&d| u32::from(d)).sum::<u32>())
            }
            None => (degrees.0.iter().zip(&self.weights))
                .map(|(&d, w)| u64::from(d) * w)
                .sum(),
        };
        weighted - self.total
    }
}

/// The largest load of each pass.
#[inline]
pub(super) fn degrees<const L: usize>(table: &[Lanes<L>]) -> Lanes<L> {
    table.iter().fold(Lanes::ZERO, |max, &load| max.max(load))
}

/// A kernel vector in the coordinates of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vector {
    /// The coordinate that it takes away.
    pub(super) top: u32,
    /// The other bits that it flips, numbered without `top`.
    pub(super) flips: usize,
}

/// Divides by `vector`: its coordinate `top` is gone from the result, those
/// above move down.
#[inline]
pub(super) fn merge<const L: usize>(table: &[Lanes<L>], vector: Vector, merged: &mut [Lanes<L>]) {
    let mut out = merged.iter_mut();
    each_sum(table, vector, |sum| {
        if let Some(out) = out.next() {
            *out = sum;
        }
    });
}

/// The largest loads after [`merge`], without storing it.
#[inline]
pub(super) fn merged_degrees<const L: usize>(table: &[Lanes<L>], vector: Vector) -> Lanes<L> {
    let mut max = Lanes::ZERO;
    each_sum(table, vector, |sum| max = max.max(sum));
    max
}

/// Calls `take` with the merged loads, in order.
#[inline(always)]
fn each_sum<const L: usize>(table: &[Lanes<L>], vector: Vector, mut take: impl FnMut(Lanes<L>)) {
    let half = 1usize << vector.top;
    let (inside, blocks) = (vector.flips & (half - 1), vector.flips >> vector.top);
    for (b, block) in table.chunks_exact(2 * half).enumerate() {
        let zero = &block[..half];
        let one = &table[(b ^ blocks) * 2 * half + half..][..half];
        for (i, &zero) in zero.iter().enumerate() {
            take(zero.plus(one[i ^ inside]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dividing_by_a_kernel_vector_is_the_bank_function_with_that_kernel() {
        let pass = |addrs: &[u16], weight| Pass {
            addrs: addrs.to_vec(),
            weight,
        };
        let batch = &Batch::<16>::all(&[pass(&[0, 1, 3, 5, 6], 2), pass(&[0, 7, 10, 13], 1)])[0];
        let mut table = vec![Lanes::ZERO; 16];
        batch.fill(&mut table, usize::from);
        assert_eq!(batch.conflicts(degrees(&table)), 0);
        // Kernel vector 0b0110: banks a0, a1^a2, a3.
        let mut merged = vec![Lanes::ZERO; 8];
        let vector = Vector {
            top: 2,
            flips: 0b10,
        };
        merge(&table, vector, &mut merged);
        let bank = |a: u16| usize::from((a & 1) | (a >> 1 & 1 ^ a >> 2 & 1) << 1 | (a >> 3) << 2);
        let mut expected = vec![Lanes::ZERO; 8];
        batch.fill(&mut expected, bank);
        assert_eq!(merged, expected);
        assert_eq!(merged_degrees(&table, vector), degrees(&expected));
        // {0,6} {3,5} collide in the first pass, nothing in the second.
        assert_eq!(batch.conflicts(degrees(&merged)), 2);
    }
}
