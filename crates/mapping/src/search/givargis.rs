//! The Givargis heuristic over several reference sets (hash paper, section
//! 5.2.1, Eqs 11 and 12).
//!
//! The quality of a candidate bank bit is how evenly it splits a reference
//! set; taking one bit lowers the quality of those that correlate with it. The
//! qualities of the sets are added up.

use super::reference::{Candidates, Departure, ReferenceSet, Selection};
use super::{Outcome, Problem};
use spadkit_base::error::Result;

/// Sums that differ by less than this share are equal: they are sums of the
/// same fractions, rounded in different order.
const TIE: f64 = 1e-9;

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
    let mut qualities = Qualities::new(sets, &rows);
    let mut taken = Vec::new();
    while taken.len() < problem.geometry().bank_bits() as usize {
        let admitted: Vec<(usize, f64)> = (0..rows.len())
            .filter(|&i| selection.admits(problem, &taken, rows[i]))
            .map(|i| (i, qualities.combined(i)))
            .collect();
        let most = admitted.iter().map(|&(_, q)| q).fold(0.0, f64::max);
        let Some(&(best, _)) = admitted.iter().find(|(_, q)| *q >= most * (1.0 - TIE)) else {
            break; // unreachable: single bits complete any set of rows
        };
        taken.push(rows[best]);
        qualities.take(best);
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
    let mut qualities = Qualities::new(sets, &rows);
    for (step, row) in given.iter().enumerate() {
        let left = (0..rows.len()).filter(|&i| !given[..step].contains(&rows[i]));
        let best = left.map(|i| qualities.combined(i)).fold(0.0, f64::max);
        let at = rows.iter().position(|r| r == row);
        let score = at.map_or(0.0, |i| qualities.combined(i));
        let Some(at) = at.filter(|_| score >= best * (1.0 - TIE)) else {
            let given = score;
            return Some(Departure { step, given, best });
        };
        qualities.take(at);
    }
    None
}

/// The qualities of all candidates for each set.
struct Qualities<'a> {
    /// Per set: the references split by each candidate, and its quality.
    sets: Vec<(&'a ReferenceSet, Vec<u64>, Vec<f64>)>,
}

impl<'a> Qualities<'a> {
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
    fn combined(&self, i: usize) -> f64 {
        let terms = self.sets.iter();
        terms.map(|(set, _, q)| set.weight() as f64 * q[i]).sum()
    }

    /// Takes candidate `best`: the others lose what they share with it (Eq. 12).
    fn take(&mut self, best: usize) {
        for (set, ones, quality) in &mut self.sets {
            for i in 0..ones.len() {
                // The references for which the two differ.
                quality[i] *= evenness(set, ones[i] ^ ones[best]);
            }
        }
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
    use super::*;
    use crate::geometry::Geometry;
    use crate::search::reference::of_accesses;
    use crate::search::testing::profile_of;

    fn strides(strides: [u32; 2]) -> Outcome {
        let g = Geometry::new(14, 5).unwrap();
        let accesses: Vec<Vec<u32>> = strides
            .iter()
            .map(|stride| (0..32).map(|t| t * stride).collect())
            .collect();
        let problem = Problem::new(&profile_of(&accesses), g);
        let sets = of_accesses(accesses.into_iter(), g);
        search(&problem, &sets, Candidates::Bits, Selection::Allowed).unwrap()
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
        let run = |s| search(&problem, &sets, Candidates::Pairs, s).unwrap();
        let allowed = run(Selection::Allowed);
        assert_eq!(allowed.spec.to_string(), "bitwise-xor:0,0^1,1^2");
        assert_eq!((allowed.rank, allowed.conflicts), (3, 0));
        let published = run(Selection::AsPublished);
        assert_eq!(published.spec.to_string(), "bitwise-xor:0,0^1,1");
        assert_eq!((published.rank, published.optimal()), (2, false));
        let departs = |rows: &[u32]| departure(&problem, &sets, Candidates::Pairs, rows);
        assert_eq!(departs(&[1, 3, 2]), None);
        // In another order they are as good; bit 2 splits nothing.
        assert_eq!(departs(&[3, 2, 1]), None);
        let third = departs(&[1, 3, 4]).unwrap();
        assert_eq!((third.step, third.given, third.best), (2, 0.0, 1.0));
    }
}
