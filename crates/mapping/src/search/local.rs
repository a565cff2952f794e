//! Good mappings to start the optimal search with: the heuristics' and the
//! best bit-vector XOR, improved by exchanging one bank row at a time.

use super::bitvec::{all_pairs, search_xor};
use super::heuristic::Heuristic;
use super::reference::{Candidates, ReferenceSet, Selection};
use super::{Control, Problem};
use crate::hash::kind::Family;
use crate::hash::{BankFunction, Gf2Matrix};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use spadkit_base::error::Result;

/// Restarts from a perturbed best mapping.
const KICKS: u64 = 8;

/// Bank rows and their conflicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) rows: Vec<u32>,
    pub(super) conflicts: u64,
}

/// A good mapping, and how many were evaluated on the way. The same on every
/// run that is not stopped.
pub(super) fn start(
    problem: &Problem,
    family: Family,
    control: &Control,
) -> Result<(Candidate, u64)> {
    let mut local = Local::new(problem, family);
    let floor = problem.lower_bound();
    let mut best = local.improve((0..local.m).map(|i| 1 << i).collect(), control);
    let mut starts = local.heuristics();
    if family != Family::Permutation {
        let found = search_xor(problem, &all_pairs(problem.geometry()), control)?;
        local.evaluated += found.evaluated;
        if let BankFunction::Linear(matrix) = BankFunction::new(&found.spec, problem.geometry())? {
            starts.push(matrix.rows().to_vec());
        }
    }
    let mut rng = ChaCha12Rng::seed_from_u64(0);
    for i in 0..starts.len() as u64 + KICKS {
        if best.conflicts == floor || control.stopped() {
            break;
        }
        let rows = match starts.get(i as usize) {
            Some(rows) => rows.clone(),
            None => local.kicked(&best.rows, &mut rng),
        };
        let found = local.improve(rows, control);
        if found.conflicts < best.conflicts {
            best = found;
        }
        control.report(0, 1, Some(best.conflicts));
    }
    Ok((best, local.evaluated))
}

struct Local<'a> {
    problem: &'a Problem,
    family: Family,
    /// Single bits and, but for permutations, XORs of two.
    candidates: Candidates,
    m: u32,
    /// The rows of `candidates`.
    steps: Vec<u32>,
    evaluated: u64,
}

impl<'a> Local<'a> {
    fn new(problem: &'a Problem, family: Family) -> Self {
        let candidates = match family {
            Family::Permutation => Candidates::Bits,
            Family::Xor | Family::Matrix => Candidates::Pairs,
        };
        Local {
            problem,
            family,
            candidates,
            m: problem.geometry().bank_bits(),
            steps: candidates.rows(problem.geometry()),
            evaluated: 0,
        }
    }

    fn heuristics(&self) -> Vec<Vec<u32>> {
        let (problem, geometry) = (self.problem, self.problem.geometry());
        let sets: Vec<ReferenceSet> = (problem.passes().iter())
            .map(|pass| ReferenceSet::of_pass(pass, geometry))
            .collect();
        let both = [Heuristic::MinimumImbalance, Heuristic::Givargis];
        let select = |h: Heuristic| h.select(problem, &sets, self.candidates, Selection::Allowed);
        both.map(select).into()
    }

    /// Exchanges the row that gains most, until none does.
    fn improve(&mut self, rows: Vec<u32>, control: &Control) -> Candidate {
        let conflicts = self.problem.passes().conflicts(&rows, u64::MAX);
        self.evaluated += 1;
        let mut best = Candidate { rows, conflicts };
        let floor = self.problem.lower_bound();
        while best.conflicts > floor && !control.stopped() {
            let exchanges: Vec<(usize, u32)> = (0..best.rows.len())
                .flat_map(|i| self.steps.iter().map(move |&step| (i, step)))
                .collect();
            self.evaluated += exchanges.len() as u64;
            let gain = exchanges
                .par_iter()
                .enumerate()
                .filter_map(|(order, &(i, step))| Some((order, self.exchange(&best, i, step)?)))
                .min_by_key(|(order, found)| (found.conflicts, *order));
            match gain {
                Some((_, found)) => best = found,
                None => break,
            }
        }
        best
    }

    /// `from` with another row `i`, if that is a mapping and better.
    fn exchange(&self, from: &Candidate, i: usize, step: u32) -> Option<Candidate> {
        let mut rows = from.rows.clone();
        rows[i] = match self.family {
            Family::Matrix => rows[i] ^ step,
            Family::Permutation | Family::Xor => step,
        };
        if !self.problem.allows(&rows) {
            return None;
        }
        let conflicts = self.problem.passes().conflicts(&rows, from.conflicts);
        (conflicts < from.conflicts).then_some(Candidate { rows, conflicts })
    }

    /// `rows` with two rows exchanged at random.
    fn kicked(&self, rows: &[u32], rng: &mut ChaCha12Rng) -> Vec<u32> {
        let mut kicked = rows.to_vec();
        let mut changes = 0;
        while changes < 2 {
            let i = rng.next_u32() as usize % rows.len();
            let step = self.steps[rng.next_u32() as usize % self.steps.len()];
            let old = std::mem::replace(&mut kicked[i], step);
            if self.problem.allows(&kicked) {
                changes += 1
            } else {
                kicked[i] = old
            }
        }
        kicked
    }
}

/// Reduced echelon form by lowest pivots, sorted: a canonical form of matrices
/// with the same row space.
pub fn reduced(rows: &[u32]) -> Vec<u32> {
    let mut rows = rows.to_vec();
    let pivots = Gf2Matrix::from_rows(rows.clone()).lowest_pivots();
    let mut done = 0;
    for bit in (0..u32::BITS).filter(|bit| pivots >> bit & 1 == 1) {
        let Some(found) = (done..rows.len()).find(|&i| rows[i] >> bit & 1 == 1) else {
            continue;
        };
        rows.swap(done, found);
        let pivot_row = rows[done];
        for (i, row) in rows.iter_mut().enumerate() {
            if i != done && *row >> bit & 1 == 1 {
                *row ^= pivot_row;
            }
        }
        done += 1;
    }
    rows
}
