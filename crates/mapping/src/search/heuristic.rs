//! The two published heuristics (hash paper, section 5.2). Both take bank bits one by
//! one, each time the candidate with the best score after those already taken.

use super::givargis::Qualities;
use super::imbalance::Bins;
use super::reference::{Candidates, Departure, ReferenceSet, Selection};
use super::score::Score;
use super::{Outcome, Problem};
use spadkit_base::error::Result;

/// The heuristic by its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heuristic {
    /// The heuristic of Givargis: the bit that splits the references most evenly.
    Givargis,
    /// The Minimum Imbalance Heuristic: the bit with which the banks are loaded most evenly.
    MinimumImbalance,
}

impl Heuristic {
    /// Takes m bank bits, the best first.
    pub fn search(
        self,
        problem: &Problem,
        sets: &[ReferenceSet],
        candidates: Candidates,
        selection: Selection,
    ) -> Result<Outcome> {
        let taken = self.select(problem, sets, candidates, selection);
        Outcome::of_rows(problem, candidates.spec(&taken, problem.geometry()), &taken)
    }

    /// The rows that the heuristic takes, in its order.
    pub(super) fn select(
        self,
        problem: &Problem,
        sets: &[ReferenceSet],
        candidates: Candidates,
        selection: Selection,
    ) -> Vec<u32> {
        match self {
            Heuristic::Givargis => select::<Qualities>(problem, sets, candidates, selection),
            Heuristic::MinimumImbalance => select::<Bins>(problem, sets, candidates, selection),
        }
    }

    /// Whether the heuristic, as published, may take the rows `given`: nothing if
    /// each is among the best after those before it.
    pub fn departure(
        self,
        problem: &Problem,
        sets: &[ReferenceSet],
        candidates: Candidates,
        given: &[u32],
    ) -> Option<Departure> {
        let rows = candidates.rows(problem.geometry());
        match self {
            Heuristic::Givargis => departure::<Qualities>(sets, &rows, given),
            Heuristic::MinimumImbalance => departure::<Bins>(sets, &rows, given),
        }
    }
}

fn select<'a, S: Score<'a>>(
    problem: &Problem,
    sets: &'a [ReferenceSet],
    candidates: Candidates,
    selection: Selection,
) -> Vec<u32> {
    let rows = candidates.rows(problem.geometry());
    let mut scores = S::new(sets, &rows);
    let mut taken = Vec::new();
    while taken.len() < problem.geometry().bank_bits() as usize {
        let admitted: Vec<(usize, S::Value)> = (0..rows.len())
            .filter(|&i| selection.admits(problem, &taken, rows[i]))
            .map(|i| (i, scores.of(i, rows[i])))
            .collect();
        let Some(most) = S::best(admitted.iter().map(|&(_, score)| score)) else {
            break; // unreachable: single bits complete any set of rows
        };
        let equal = admitted
            .iter()
            .filter(|(_, score)| S::is_best(*score, most));
        let Some(&(best, _)) = equal.min_by_key(|(i, _)| S::tie(rows[*i])) else {
            break; // unreachable: the best is one of them
        };
        taken.push(rows[best]);
        scores.take(best, rows[best]);
    }
    taken
}

fn departure<'a, S: Score<'a>>(
    sets: &'a [ReferenceSet],
    rows: &[u32],
    given: &[u32],
) -> Option<Departure> {
    let mut scores = S::new(sets, rows);
    for (step, row) in given.iter().enumerate() {
        let left = (0..rows.len()).filter(|&i| !given[..step].contains(&rows[i]));
        let best = S::best(left.map(|i| scores.of(i, rows[i])))?;
        let at = rows.iter().position(|r| r == row);
        let score = at.map(|i| (i, scores.of(i, *row)));
        let Some((at, _)) = score.filter(|(_, score)| S::is_best(*score, best)) else {
            return Some(Departure {
                step,
                given: score.map_or(0.0, |(_, score)| scores.number(score)),
                best: scores.number(best),
            });
        };
        scores.take(at, *row);
    }
    None
}
