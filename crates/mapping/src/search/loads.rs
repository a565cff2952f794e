//! The passes of a search, partly divided by kernel vectors.

use super::Problem;
use super::columns::Columns;
use super::quotient::{Batch, Lanes, Vector, merge, merged_degrees};

/// Passes in a batch.
const L: usize = 16;
/// Coordinates from which on load tables are larger than lists of points.
const TABLE_BITS: usize = 9;

/// The constants of a search.
#[derive(Debug)]
pub(super) struct Workload {
    batches: Vec<Batch<L>>,
    /// Per batch: the degrees that no allowed mapping avoids.
    floors: Vec<Lanes<L>>,
    /// Per batch: the conflicts that the batches from here on cannot avoid.
    rest: Vec<u64>,
}

impl Workload {
    pub(super) fn new(problem: &Problem) -> Self {
        let (m, vector_bits) = (problem.geometry().bank_bits(), problem.vector_bits());
        let batches = Batch::all(problem.passes().as_slice());
        let floors: Vec<_> = batches.iter().map(|b| b.floor(m, vector_bits)).collect();
        let own = batches.iter().zip(&floors).map(|(b, &f)| b.conflicts(f));
        let mut rest: Vec<u64> = own
            .rev()
            .scan(0, |sum, c| {
                *sum += c;
                Some(*sum)
            })
            .collect();
        rest.reverse();
        Workload {
            batches,
            floors,
            rest,
        }
    }
}

/// The passes in the space that is left after some divisions.
#[derive(Clone, Debug)]
pub(super) enum Loads {
    /// Per batch, per pass: the point of each address; in `bits` coordinates.
    Points {
        bits: usize,
        batches: Vec<Vec<Vec<u16>>>,
    },
    /// Per batch: the load table.
    Tables(Vec<Vec<Lanes<L>>>),
}

impl Loads {
    /// The undivided passes.
    pub(super) fn new(workload: &Workload, columns: &Columns) -> Self {
        let points = |batch: &Batch<L>| {
            let gather = |addrs: &Vec<u16>| addrs.iter().map(|&a| columns.gather(a)).collect();
            batch.addrs().iter().map(gather).collect()
        };
        Loads::Points {
            bits: columns.len(),
            batches: workload.batches.iter().map(points).collect(),
        }
        .tabulated()
    }

    /// Divides by the kernel vector of coordinate `top` that flips `low`.
    pub(super) fn divide(&self, top: usize, low: usize) -> Self {
        match self {
            Loads::Points { bits, batches } => {
                let divide = |pass: &Vec<u16>| pass.iter().map(|&x| divided(x, top, low)).collect();
                Loads::Points {
                    bits: bits - 1,
                    batches: (batches.iter())
                        .map(|batch| batch.iter().map(divide).collect())
                        .collect(),
                }
                .tabulated()
            }
            Loads::Tables(tables) => Loads::Tables(
                (tables.iter())
                    .map(|table| {
                        let mut merged = vec![Lanes::ZERO; table.len() / 2];
                        merge(table, vector(top, low), &mut merged);
                        merged
                    })
                    .collect(),
            ),
        }
    }

    /// A lower bound for the conflicts of all mappings whose kernel contains
    /// the vectors divided by and that of `top` and `low`; exact if that is the
    /// whole kernel. Any value from `limit` upward means that.
    pub(super) fn bound(&self, workload: &Workload, top: usize, low: usize, limit: u64) -> u64 {
        let mut conflicts = 0;
        let mut scratch = Vec::new();
        for (i, (batch, &floor)) in workload.batches.iter().zip(&workload.floors).enumerate() {
            if conflicts + workload.rest[i] >= limit {
                return limit;
            }
            let degrees = match self {
                Loads::Points { bits, batches } => {
                    scratch.resize(1 << bits, 0);
                    Lanes::from_fn(|lane| {
                        let pass = batches[i].get(lane).map_or(&[][..], Vec::as_slice);
                        degree(pass, top, low, &mut scratch)
                    })
                }
                Loads::Tables(tables) => merged_degrees(&tables[i], vector(top, low)),
            };
            conflicts += batch.conflicts(degrees.max(floor));
        }
        conflicts
    }

    /// Switches to tables once the passes are small.
    fn tabulated(self) -> Self {
        match self {
            Loads::Points { bits, batches } if bits <= TABLE_BITS => {
                let table = |batch: &Vec<Vec<u16>>| {
                    let mut table = vec![Lanes::ZERO; 1 << bits];
                    Lanes::count(batch, &mut table, usize::from);
                    table
                };
                Loads::Tables(batches.iter().map(table).collect())
            }
            other => other,
        }
    }
}

/// The kernel vector of coordinate `top` that flips `flips`, all below.
fn vector(top: usize, flips: usize) -> Vector {
    let top = top as u32;
    Vector { top, flips }
}

/// Point `x` after division by the kernel vector of `top` that flips `low`.
#[inline]
fn divided(x: u16, top: usize, low: usize) -> u16 {
    let below = (1 << top) - 1;
    let flipped = if x >> top & 1 == 1 { low as u16 } else { 0 };
    (x & below ^ flipped) | (x >> 1 & !below)
}

/// The largest number of points that become one; `count` is all zeros before
/// and after.
fn degree(points: &[u16], top: usize, low: usize, count: &mut [u8]) -> u8 {
    let place = |&x: &u16| usize::from(divided(x, top, low));
    let mut degree = 0;
    for slot in points.iter().map(place) {
        count[slot] += 1;
        degree = degree.max(count[slot]);
    }
    for slot in points.iter().map(place) {
        count[slot] = 0;
    }
    degree
}
