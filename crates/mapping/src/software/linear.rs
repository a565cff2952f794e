//! Linear layouts in few operations.
//!
//! Bit j of the place is the XOR of index bits. Grouped by the distance d from
//! index bit to place bit, each group is one shift and one masked XOR:
//! `place = (i & m0) ^ ((i >> d1) & m1) ^ ((i << d2) & m2) ^ ...`. A product of
//! two such sums can have fewer terms than their product written out. So the
//! matrix is also split: a first or last factor `i ^ ((i >> d) & m)` is taken
//! off as long as that saves operations.

use super::operation::{Step, Steps, Value};
use std::collections::BTreeMap;

/// Factors that are taken off at most.
const MAX_FACTORS: usize = 4;
/// Operations of a factor: a shift and a masked XOR.
const FACTOR_COST: usize = 2;

/// x ^ ((x >> distance) & mask); to the left for a negative distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Factor {
    distance: i32,
    mask: u32,
}

/// The operations of a layout with the matrix `rows`: for each bit of the
/// result, the mask of index bits. Bits of the index beyond the matrix are
/// zero.
pub(super) fn steps(rows: &[u32]) -> Steps {
    factored(rows, 0)
}

/// The operations of a layout, as [`steps`], where index bits beyond the matrix may
/// be set; they are unchanged.
pub(super) fn open_steps(rows: &[u32]) -> Steps {
    factored(rows, u32::MAX.checked_shl(rows.len() as u32).unwrap_or(0))
}

/// `upper`: bits of the index that stay and are not part of the matrix.
fn factored(rows: &[u32], upper: u32) -> Steps {
    let mut matrix = rows.to_vec();
    let (mut first, mut last) = (Vec::new(), Vec::new());
    while first.len() + last.len() < MAX_FACTORS {
        let cost = cost(&matrix, upper);
        // A factor that would be the whole saves nothing.
        if cost <= FACTOR_COST {
            break;
        }
        let Some((rest, factor, is_first)) = best_split(&matrix, upper) else {
            break;
        };
        if self::cost(&rest, upper) + FACTOR_COST >= cost {
            break;
        }
        matrix = rest;
        if is_first {
            first.push(factor)
        } else {
            last.push(factor)
        }
    }
    let mut steps = Steps::default();
    let mut value = Value::Index;
    for factor in &first {
        value = push_factor(&mut steps, value, *factor);
    }
    value = push_sum(&mut steps, value, &matrix, upper);
    for factor in last.iter().rev() {
        value = push_factor(&mut steps, value, *factor);
    }
    steps
}

/// A matrix less one factor: what remains, the factor, and whether it comes
/// first.
type Split = (Vec<u32>, Factor, bool);

/// The split after which the rest takes the fewest operations.
fn best_split(matrix: &[u32], upper: u32) -> Option<Split> {
    let n = matrix.len() as i32;
    let mut best: Option<(usize, Split)> = None;
    for distance in (1 - n..n).filter(|&d| d != 0) {
        for low in 0..n {
            for high in low + 1..=n {
                let factor = Factor {
                    distance,
                    mask: ((1u64 << high) - (1u64 << low)) as u32,
                };
                if !factor.is_involution(n) {
                    continue;
                }
                for is_first in [true, false] {
                    let rest = factor.taken_off(matrix, is_first);
                    let cost = cost(&rest, upper);
                    if best.as_ref().is_none_or(|(c, _)| cost < *c) {
                        best = Some((cost, (rest, factor, is_first)));
                    }
                }
            }
        }
    }
    best.map(|(_, split)| split)
}

impl Factor {
    /// The bits that it reads are within the index and not those that it
    /// changes: then it undoes itself.
    fn is_involution(self, n: i32) -> bool {
        let read = i64::from(self.mask);
        let read = match self.distance {
            d @ 0.. => read << d,
            d => read >> -d,
        };
        let all_read = read.count_ones() == self.mask.count_ones();
        all_read && read < 1 << n && read & i64::from(self.mask) == 0
    }

    /// The matrix that remains.
    fn taken_off(self, matrix: &[u32], is_first: bool) -> Vec<u32> {
        let source = |j: usize| (j as i32 + self.distance) as usize;
        let bits = (0..matrix.len()).filter(|&j| self.mask >> j & 1 == 1);
        let mut rest = matrix.to_vec();
        for j in bits {
            if is_first {
                // Column j + d gets column j, too.

                rest.iter_mut()
                    .for_each(|r| *r ^= (*r >> j & 1) << source(j))
            } else {
                rest[j] ^= matrix[source(j)]
            }
        }
        rest
    }
}

/// The masks of result bits, by the shift distance from the index bit.
fn terms(matrix: &[u32]) -> BTreeMap<i32, u32> {
    let mut terms = BTreeMap::new();
    for (j, row) in matrix.iter().enumerate() {
        for i in (0..u32::BITS).filter(|i| row >> i & 1 == 1) {
            *terms.entry(i as i32 - j as i32).or_insert(0) |= 1 << j;
        }
    }
    terms
}

/// Operations of the sum.
fn cost(matrix: &[u32], upper: u32) -> usize {
    let mut steps = Steps::default();
    push_sum(&mut steps, Value::Index, matrix, upper);
    steps.count()
}

fn push_factor(steps: &mut Steps, value: Value, factor: Factor) -> Value {
    let moved = push_shift(steps, value, factor.distance);
    steps.push(Step::XorMasked {
        rest: value,
        value: moved,
        mask: factor.mask,
    })
}

fn push_shift(steps: &mut Steps, value: Value, distance: i32) -> Value {
    match distance {
        0 => value,
        d @ 1.. => steps.push(Step::Right(value, d as u32)),
        d => steps.push(Step::Left(value, d.unsigned_abs())),
    }
}

fn push_sum(steps: &mut Steps, value: Value, matrix: &[u32], upper: u32) -> Value {
    let mut terms = terms(matrix);
    if upper != 0 {
        *terms.entry(0).or_insert(0) |= upper;
    }
    let all = ((1u64 << matrix.len()) - 1) as u32 | upper;
    // The term without a shift comes first: it is what the others change.
    let ordered = terms
        .iter()
        .filter(|t| *t.0 == 0)
        .chain(terms.iter().filter(|t| *t.0 != 0));
    let mut sum = None;
    for (&distance, &mask) in ordered {
        let moved = push_shift(steps, value, distance);
        sum = Some(match sum {
            None if is_clear(distance, mask, all) => moved,
            None => steps.push(Step::And(moved, mask)),
            Some(rest) => steps.push(Step::XorMasked {
                rest,
                value: moved,
                mask,
            }),
        });
    }
    sum.unwrap_or(value)
}

/// Whether what is shifted has no bits but those of the mask.
fn is_clear(distance: i32, mask: u32, all: u32) -> bool {
    match distance {
        d @ 0.. => all >> d == mask,
        _ => false,
    }
}
