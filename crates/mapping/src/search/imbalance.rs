//! The Minimum Imbalance Heuristic over several reference sets (hash paper,
//! section 5.2.2, Eqs 13 to 15).
//!
//! Bank bits are taken one by one; each time the candidate that, with those
//! taken, spreads the references most evenly over the histogram bins. The
//! imbalances are compared exactly, as fractions.

use super::reference::ReferenceSet;
use super::score::Score;

/// The imbalance of `row` over all sets (Eq. 15), after the rows `taken`.
pub fn of_row(sets: &[ReferenceSet], taken: &[u32], row: u32) -> f64 {
    let mut bins = Bins::of_sets(sets);
    taken.iter().for_each(|&taken| bins.split(taken));
    bins.number(bins.combined(row))
}

/// Per set: its references, split by the bits taken so far.
pub(super) struct Bins<'a> {
    sets: &'a [ReferenceSet],
    bins: Vec<Vec<u64>>,
    /// A multiple of the size of each set.
    denominator: u128,
}

impl<'a> Bins<'a> {
    fn of_sets(sets: &'a [ReferenceSet]) -> Self {
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

    /// Splits every bin by `row`.
    fn split(&mut self, row: u32) {
        for (set, bins) in self.sets.iter().zip(&mut self.bins) {
            let ones = set.ones(row);
            let halves = bins.iter().flat_map(|bin| [bin & !ones, bin & ones]);
            *bins = halves.collect();
        }
    }
}

impl<'a> Score<'a> for Bins<'a> {
    type Value = u128;

    fn new(sets: &'a [ReferenceSet], _: &[u32]) -> Self {
        Bins::of_sets(sets)
    }

    fn of(&self, _: usize, row: u32) -> u128 {
        self.combined(row)
    }

    fn take(&mut self, _: usize, row: u32) {
        self.split(row);
    }

    fn best(imbalances: impl Iterator<Item = u128>) -> Option<u128> {
        imbalances.min()
    }

    fn is_best(imbalance: u128, best: u128) -> bool {
        imbalance == best
    }

    /// A single bit comes before a pair, as in the hash paper's Table 5.
    fn tie(row: u32) -> u32 {
        row.count_ones()
    }

    /// A combined imbalance as Eq. 15 has it.
    fn number(&self, combined: u128) -> f64 {
        let bins = 2 * self.bins.first().map_or(1, Vec::len);
        combined as f64 / (self.denominator as f64 * bins as f64)
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
    use crate::search::heuristic::Heuristic::MinimumImbalance;
    use crate::search::reference::{Candidates, Selection, of_accesses};
    use crate::search::testing::profile_of;
    use crate::search::{Outcome, Problem};

    fn run(n: u32, m: u32, accesses: Vec<Vec<u32>>, candidates: Candidates) -> Outcome {
        let g = Geometry::new(n, m).unwrap();
        let problem = Problem::new(&profile_of(&accesses), g);
        let sets = of_accesses(accesses.into_iter(), g);
        MinimumImbalance
            .search(&problem, &sets, candidates, Selection::Allowed)
            .unwrap()
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
            |rows: &[u32]| MinimumImbalance.departure(&problem, sets, Candidates::Bits, rows);
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
