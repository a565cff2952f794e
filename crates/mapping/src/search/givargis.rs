//! The Givargis heuristic over several reference sets (hash paper, section
//! 5.2.1, Eqs 11 and 12).
//!
//! The quality of a candidate bank bit is how evenly it splits a reference
//! set; taking one bit lowers the quality of those that correlate with it. The
//! qualities of the sets are added up.

use super::reference::ReferenceSet;
use super::score::Score;

/// Sums that differ by less than this share are equal: they are sums of the
/// same fractions, rounded in different order.
const TIE: f64 = 1e-9;

/// The qualities of all candidates for each set.
pub(super) struct Qualities<'a> {
    /// Per set: the references split by each candidate, and its quality.
    sets: Vec<(&'a ReferenceSet, Vec<u64>, Vec<f64>)>,
}

impl<'a> Score<'a> for Qualities<'a> {
    type Value = f64;

    /// Before any bit is taken (Eq. 11).
    fn new(sets: &'a [ReferenceSet], rows: &[u32]) -> Self {
        let split = |set: &'a ReferenceSet| {
            let ones: Vec<u64> = rows.iter().map(|&row| set.ones(row)).collect();
            let quality = ones.iter().map(|&ones| evenness(set, ones)).collect();
            (set, ones, quality)
        };
        Qualities {
            sets: sets.iter().map(split).collect(),
        }
    }

    /// The quality of candidate `i`, over all sets.
    fn of(&self, i: usize, _: u32) -> f64 {
        let terms = self.sets.iter();
        terms.map(|(set, _, q)| set.weight() as f64 * q[i]).sum()
    }

    /// Takes candidate `best`: the others lose what they share with it (Eq. 12).
    fn take(&mut self, best: usize, _: u32) {
        for (set, ones, quality) in &mut self.sets {
            for i in 0..ones.len() {
                // The references for which the two differ.
                quality[i] *= evenness(set, ones[i] ^ ones[best]);
            }
        }
    }

    fn best(qualities: impl Iterator<Item = f64>) -> Option<f64> {
        qualities.reduce(f64::max)
    }

    fn is_best(quality: f64, best: f64) -> bool {
        quality >= best * (1.0 - TIE)
    }

    fn tie(_: u32) -> u32 {
        0
    }

    fn number(&self, quality: f64) -> f64 {
        quality
    }
}

/// min/max of the references in `part` and the others.
fn evenness(set: &ReferenceSet, part: u64) -> f64 {
    let part = part.count_ones();
    let rest = set.len() - part;
    f64::from(part.min(rest)) / f64::from(part.max(rest))
}

#[cfg(test)]
mod tests {
    use crate::geometry::Geometry;
    use crate::search::heuristic::Heuristic::Givargis;
    use crate::search::reference::{Candidates, Selection, of_accesses};
    use crate::search::testing::profile_of;
    use crate::search::{Outcome, Problem};

    fn strides(strides: [u32; 2]) -> Outcome {
        let g = Geometry::new(14, 5).unwrap();
        let accesses: Vec<Vec<u32>> = strides
            .iter()
            .map(|stride| (0..32).map(|t| t * stride).collect())
            .collect();
        let problem = Problem::new(&profile_of(&accesses), g);
        let sets = of_accesses(accesses.into_iter(), g);
        Givargis
            .search(&problem, &sets, Candidates::Bits, Selection::Allowed)
            .unwrap()
    }

    /// The two examples of section 5.2.1.
    #[test]
    fn published_examples() {
        let picked = |s| strides(s).spec.to_string();
        assert_eq!(picked([8, 45]), "bitwise-perm:3,4,5,6,7");
        assert_eq!(picked([8, 13]), "bitwise-perm:3,4,6,5,7");
    }

    #[test]
    fn dependent_pairs_are_skipped_unless_as_published() {
        let g = Geometry::new(9, 3).unwrap();
        // Four addresses in two bits: 0, 1 and 0^1 split them evenly, whatever
        // else was taken; 1^2 does too, and is independent.
        let accesses = vec![vec![0, 1, 2, 3]];
        let problem = Problem::new(&profile_of(&accesses), g);
        let sets = of_accesses(accesses.into_iter(), g);
        let run = |s| {
            Givargis
                .search(&problem, &sets, Candidates::Pairs, s)
                .unwrap()
        };
        let allowed = run(Selection::Allowed);
        assert_eq!(allowed.spec.to_string(), "bitwise-xor:0,0^1,1^2");
        assert_eq!((allowed.rank, allowed.conflicts), (3, 0));
        let published = run(Selection::AsPublished);
        assert_eq!(published.spec.to_string(), "bitwise-xor:0,0^1,1");
        assert_eq!((published.rank, published.optimal()), (2, false));
        let departs = |rows: &[u32]| Givargis.departure(&problem, &sets, Candidates::Pairs, rows);
        assert_eq!(departs(&[1, 3, 2]), None);
        // In another order they are as good; bit 2 splits nothing.
        assert_eq!(departs(&[3, 2, 1]), None);
        let third = departs(&[1, 3, 4]).unwrap();
        assert_eq!((third.step, third.given, third.best), (2, 0.0, 1.0));
    }
}
