//! The Minimum Imbalance Heuristic over several reference sets (hash paper,
//! section 5.2.2, Eqs 13 to 15).
//!
//! Bank bits are taken one by one; each time the candidate that, with those
//! taken, spreads the references most evenly over the histogram bins. The
//! imbalances are compared exactly, as fractions.

use super::reference::{Candidates, Departure, ReferenceSet, Selection};
use super::{Outcome, Problem};
use crate::error::Result;

/// Takes m bank bits, the best first; ties go to the first candidate.
pub fn search(
    problem: &Problem,
    sets: &[ReferenceSet],
    candidates: Candidates,
    selection: Selection,
) -> Result<Outcome> {
    let taken = select(problem, sets, candidates, selection);
    Outcome::of_rows(problem, candidates.spec(&taken, problem.geometry()), &taken)
}

/// The rows that the heuristic takes, in its order.
pub(super) fn select(
    problem: &Problem,
    sets: &[ReferenceSet],
    candidates: Candidates,
    selection: Selection,
) -> Vec<u32> {
    let rows = candidates.rows(problem.geometry());
    let mut bins = Bins::new(sets);
    let mut taken = Vec::new();
    while taken.len() < problem.geometry().bank_bits() as usize {
        let admitted = rows.iter().copied();
        let admitted = admitted.filter(|&row| selection.admits(problem, &taken, row));
        // Of equals a single bit, as in the hash paper's Table 5, then the first.
        let Some(best) = admitted.min_by_key(|&row| (bins.combined(row), row.count_ones())) else {
            break; // unreachable: single bits complete any set of rows
        };
        taken.push(best);
        bins.split(best);
    }
    taken
}

/// Whether the heuristic, as published, may take the rows `given`: nothing if
/// each is among the best after those before it.
pub fn departure(
    problem: &Problem,
    sets: &[ReferenceSet],
    candidates: Candidates,
    given: &[u32],
) -> Option<Departure> {
    let rows = candidates.rows(problem.geometry());
    let mut bins = Bins::new(sets);
    for (step, &row) in given.iter().enumerate() {
        let left = rows.iter().filter(|r| !given[..step].contains(r));
        let best = left.map(|&r| bins.combined(r)).min()?;
        let score = bins.combined(row);
        if score > best {
            return Some(Departure {
                step,
                given: bins.imbalance(score),
                best: bins.imbalance(best),
            });
        }
        bins.split(row);
    }
    None
}

/// The imbalance of `row` over all sets (Eq. 15), after the rows `taken`.
pub fn of_row(sets: &[ReferenceSet], taken: &[u32], row: u32) -> f64 {
    let mut bins = Bins::new(sets);
    taken.iter().for_each(|&taken| bins.split(taken));
    bins.imbalance(bins.combined(row))
}

/// Per set: its references, split by the bits taken so far.
struct Bins<'a> {
    sets: &'a [ReferenceSet],
    bins: Vec<Vec<u64>>,
    /// A multiple of the size of each set.
    denominator: u128,
}

impl<'a> Bins<'a> {
    fn new(sets: &'a [ReferenceSet]) -> Self {
        let denominator = sets.iter().fold(1, |lcm, set| {
            let len = u128::from(set.len());
            lcm / gcd(lcm, len) * len
        });
        Bins {
            sets,
            bins: sets.iter().map(|set| vec![set.all()]).collect(),
            denominator,
        }
    }

    /// Eq. 15 in units of 1 / (denominator · number of bins).
    fn combined(&self, row: u32) -> u128 {
        let terms = self.sets.iter().zip(&self.bins).map(|(set, bins)| {
            let share = self.denominator / u128::from(set.len());
            u128::from(set.weight()) * u128::from(imbalance(set, bins, row)) * share
        });
        terms.sum()
    }

    /// A combined imbalance as Eq. 15 has it.
    fn imbalance(&self, combined: u128) -> f64 {
        let bins = 2 * self.bins.first().map_or(1, Vec::len);
        combined as f64 / (self.denominator as f64 * bins as f64)
    }

    /// Splits every bin by `row`.
    fn split(&mut self, row: u32) {
        for (set, bins) in self.sets.iter().zip(&mut self.bins) {
            let ones = set.ones(row);
            let halves = bins.iter().flat_map(|bin| [bin & !ones, bin & ones]);
            *bins = halves.collect();
        }
    }
}

/// Eq. 14 times the number of references and of bins: how far the loads of
/// `bins`, each split by `row`, are from the mean.
fn imbalance(set: &ReferenceSet, bins: &[u64], row: u32) -> u64 {
    let ones = set.ones(row);
    let count = 2 * bins.len() as u64;
    let excess = |bin: u64| {
        let load = u64::from(bin.count_ones());
        (load * count).abs_diff(u64::from(set.len()))
    };
    bins.iter()
        .map(|bin| excess(bin & ones) + excess(bin & !ones))
        .sum()
}

fn gcd(a: u128, b: u128) -> u128 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;
    use crate::search::reference::of_accesses;
    use crate::search::testing::profile_of;

    fn run(n: u32, m: u32, accesses: Vec<Vec<u32>>, candidates: Candidates) -> Outcome {
        let g = Geometry::new(n, m).unwrap();
        let problem = Problem::new(&profile_of(&accesses), g);
        let sets = of_accesses(accesses.into_iter(), g);
        search(&problem, &sets, candidates, Selection::Allowed).unwrap()
    }

    /// The example of Fig. 6, with the imbalances of its three steps.
    #[test]
    fn published_example() {
        let addrs = vec![27, 12, 6, 19, 11, 4, 28, 3];
        let found = run(9, 3, vec![addrs.clone()], Candidates::Bits);
        assert_eq!(found.spec.to_string(), "bitwise-perm:0,3,4");

        let g = Geometry::new(9, 3).unwrap();
        let set = &of_accesses(std::iter::once(addrs), g)[0];
        let split = |bins: &[u64], bit: u32| -> Vec<u64> {
            let ones = set.ones(1 << bit);
            bins.iter().flat_map(|b| [b & !ones, b & ones]).collect()
        };
        let imbalances = |bins: &[u64], bits: &[u32]| -> Vec<f64> {
            let scale = 8.0 * 2.0 * bins.len() as f64;
            bits.iter()
                .map(|&bit| imbalance(set, bins, 1 << bit) as f64 / scale)
                .collect()
        };
        let first = vec![set.all()];
        assert_eq!(
            imbalances(&first, &[0, 1, 2, 3, 4]),
            [0.0, 0.25, 0.0, 0.0, 0.25]
        );
        let sets = std::slice::from_ref(set);
        assert_eq!(of_row(sets, &[], 2), 0.25);
        assert_eq!(of_row(sets, &[1], 2), 0.75);
        assert_eq!(of_row(sets, &[1, 8], 16), 0.25);
        let second = split(&first, 0);
        assert_eq!(imbalances(&second, &[1, 2, 3, 4]), [0.75, 1.0, 0.0, 0.25]);

        // 2 and 3 are as good as 0 in the first step; 1 is not.
        let problem = Problem::new(&profile_of(&[vec![27, 12, 6, 19, 11, 4, 28, 3]]), g);
        let departs =
            |rows: &[u32]| departure(&problem, std::slice::from_ref(set), Candidates::Bits, rows);
        assert_eq!(departs(&[1, 1 << 3, 1 << 4]), None);
        let first = departs(&[2, 1, 8]).unwrap();
        assert_eq!((first.step, first.given, first.best), (0, 0.25, 0.0));
    }

    #[test]
    fn sets_of_different_sizes_weigh_the_same() {
        // Three references in bit 1, two in bit 0; bit 0 splits its set evenly
        // (0), the other set not at all (1): total 1. Bit 1: 1 + 1/3.
        let accesses = vec![vec![0, 2, 4], vec![0, 1]];
        let found = run(9, 3, accesses, Candidates::Bits);
        assert!(found.spec.to_string().starts_with("bitwise-perm:0,"));
    }

    #[test]
    fn a_stride_takes_its_own_bits() {
        let stride = |s: u32| (0..32).map(|t| t * s).collect();
        let found = run(14, 5, vec![stride(8)], Candidates::Pairs);
        assert_eq!(found.conflicts, 0);
        assert!(found.optimal());
    }
}
