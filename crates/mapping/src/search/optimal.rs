//! Provably optimal bitwise and matrix mappings, by branch and bound.
//!
//! The tree (`tree.rs`) adds one kernel vector a level. Dividing
//! by a kernel vector never separates addresses, so the degrees at a node are
//! lower bounds for all mappings below it. The upper levels are expanded
//! breadth first; the nodes found there are searched depth first in rounds, in
//! the order of their bounds and in parallel. Within a round, nodes do not share
//! improvements, so the result does not depend on the number of threads.

use super::columns::Columns;
use super::loads::{Loads, Workload};
use super::local::{self, Candidate};
use super::tree::{Node, Step};
use super::{Control, Outcome, Problem};
use crate::hash::kind::Family;
use rayon::prelude::*;
use spadkit_base::error::Result;

/// Nodes to expand breadth first.
const FRONTIER: usize = 2000;
/// Nodes per round.
const ROUND: usize = 64;

/// The best mapping of a family; proved unless `control` stops the search,
/// else with a lower bound.
pub fn search(problem: &Problem, family: Family, control: &Control) -> Result<Outcome> {
    let (best, evaluated) = local::start(problem, family, control)?;
    let mut search = Search {
        problem,
        family,
        columns: Columns::new(problem),
        workload: Workload::new(problem),
        best,
        evaluated,
    };
    let lower_bound = search.run(control);
    let mut rows = search.best.rows;
    match family {
        Family::Permutation => rows.sort_unstable(),
        Family::Xor => rows.sort_by_key(|row| (row.trailing_zeros(), *row)),
        Family::Matrix => rows = local::reduced(&rows),
    }
    Ok(Outcome {
        spec: family.spec(&rows, problem.geometry()).into(),
        conflicts: search.best.conflicts,
        lower_bound,
        evaluated: search.evaluated,
        rank: problem.geometry().bank_bits(),
        is_mapping: true,
    })
}

struct Search<'a> {
    problem: &'a Problem,
    family: Family,
    columns: Columns,
    workload: Workload,
    best: Candidate,
    evaluated: u64,
}

impl Search<'_> {
    /// Improves `best`; returns the lower bound that it proved.
    fn run(&mut self, control: &Control) -> u64 {
        let floor = self.problem.lower_bound();
        if self.best.conflicts == floor {
            return floor;
        }
        if self.columns.len() == self.columns.pivots() {
            // Every column is a pivot: the mapping separates all addresses of each pass.
            self.accept(&Node::default(), floor);
            return floor;
        }
        let frontier = match self.frontier(floor, control) {
            Ok(frontier) => frontier,
            Err(bound) => return bound,
        };
        self.rounds(&frontier, control)
    }

    /// Nodes that together hold every better mapping, with their bounds in
    /// ascending order; or the bound reached when it was stopped.
    fn frontier(&mut self, floor: u64, control: &Control) -> Result<Vec<(u64, Node)>, u64> {
        let mut frontier = vec![(floor, Node::default())];
        let leaf_parent = self.columns.len() - self.columns.pivots() - 1;
        for _ in 0..leaf_parent {
            if frontier.len() >= FRONTIER {
                break;
            }
            let expanded: Vec<_> = (frontier.par_iter())
                .map(|(_, node)| (!control.stopped()).then(|| self.expand(node)))
                .collect();
            // The bounds of the nodes expanded last still hold.
            let reached = frontier.iter().map(|(bound, _)| *bound).min();
            let Some(expanded) = expanded.into_iter().collect::<Option<Vec<_>>>() else {
                return Err(reached.unwrap_or(self.best.conflicts));
            };
            self.evaluated += expanded.iter().map(|(count, _)| count).sum::<u64>();
            frontier = expanded.into_iter().flat_map(|(_, nodes)| nodes).collect();
        }
        frontier.sort_by_key(|(bound, _)| *bound);
        Ok(frontier)
    }

    /// The children of `node` that may hold something better, and how many
    /// were looked at.
    fn expand(&self, node: &Node) -> (u64, Vec<(u64, Node)>) {
        let loads = self.loads(node);
        let steps = node.next_steps(&self.columns, self.family);
        let limit = self.best.conflicts;
        let bound = |step: &Step| loads.bound(&self.workload, step.top, step.flips, limit);
        let children = (steps.iter())
            .map(|step| (bound(step), node.child(*step)))
            .filter(|(bound, _)| *bound < limit);
        (steps.len() as u64, children.collect())
    }

    fn loads(&self, node: &Node) -> Loads {
        let whole = Loads::new(&self.workload, &self.columns);
        (node.steps()).fold(whole, |loads, step| loads.divide(step.top, step.flips))
    }

    fn rounds(&mut self, frontier: &[(u64, Node)], control: &Control) -> u64 {
        let total = frontier.len() as u64;
        // The bounds of unfinished nodes.
        let mut open = u64::MAX;
        for (round, nodes) in frontier.chunks(ROUND).enumerate() {
            let (first_bound, _) = nodes[0];
            if first_bound >= self.best.conflicts {
                break; // as are all that follow
            }
            if control.stopped() {
                open = open.min(first_bound);
                break;
            }
            let below = |(bound, node): &(u64, Node)| {
                let mut search = DepthFirst::new(self, control);
                if *bound < search.limit {
                    search.descend(node, &self.loads(node));
                }
                search.result
            };
            let results: Vec<Below> = nodes.par_iter().map(below).collect();
            for ((bound, _), result) in nodes.iter().zip(results) {
                self.evaluated += result.evaluated;
                if let Some((conflicts, node)) = result.best
                    && conflicts < self.best.conflicts
                {
                    self.accept(&node, conflicts);
                }
                if result.stopped {
                    open = open.min(*bound);
                }
            }
            let done = ((round + 1) * ROUND) as u64;
            control.report(done.min(total), total, Some(self.best.conflicts));
        }
        open.min(self.best.conflicts)
    }

    fn accept(&mut self, node: &Node, conflicts: u64) {
        self.best = Candidate {
            rows: self.columns.rows(&node.kernel),
            conflicts,
        };
    }
}

/// A depth-first search below one node.
struct DepthFirst<'a> {
    search: &'a Search<'a>,
    control: &'a Control<'a>,
    /// Conflicts below which a mapping is of interest.
    limit: u64,
    result: Below,
}

/// The result below a node.
#[derive(Default)]
struct Below {
    /// The best mapping, if any is better than the one known before.
    best: Option<(u64, Node)>,
    evaluated: u64,
    /// The search stopped before the subtree was complete.
    stopped: bool,
}

impl<'a> DepthFirst<'a> {
    fn new(search: &'a Search<'a>, control: &'a Control<'a>) -> Self {
        DepthFirst {
            search,
            control,
            limit: search.best.conflicts,
            result: Below::default(),
        }
    }

    fn descend(&mut self, node: &Node, loads: &Loads) {
        self.result.stopped |= self.control.stopped();
        if self.result.stopped {
            return;
        }
        let Search {
            columns,
            workload,
            family,
            ..
        } = self.search;
        let is_leaf = node.kernel.len() + 1 == columns.len() - columns.pivots();
        let steps = node.next_steps(columns, *family);
        self.result.evaluated += steps.len() as u64;
        let mut open = Vec::new();
        for step in steps {
            let bound = loads.bound(workload, step.top, step.flips, self.limit);
            if bound >= self.limit {
                continue;
            }
            if is_leaf {
                self.limit = bound;
                self.result.best = Some((bound, node.child(step)));
            } else {
                open.push((bound, step));
            }
        }
        // The most promising subtree first: its result may prune the others.
        open.sort_by_key(|(bound, _)| *bound);
        for (bound, step) in open {
            if bound < self.limit {
                self.descend(&node.child(step), &loads.divide(step.top, step.flips));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;
    use crate::hash::{HashKind, HashSpec, Mapping};
    use crate::search::reference::Candidates;
    use crate::search::testing::{profile_of, random_profile};
    use proptest::prelude::*;
    use std::time::Duration;

    fn proved(problem: &Problem, family: Family) -> u64 {
        let found = search(problem, family, &Control::none()).unwrap();
        assert!(found.optimal(), "{found:?}");
        let mapping = Mapping::new(&found.spec, problem.geometry()).unwrap();
        assert!(mapping.fits(problem.pivot_limit()), "{found:?}");
        assert_eq!(problem.conflicts(&found.spec).unwrap(), found.conflicts);
        found.conflicts
    }

    /// The fewest conflicts of three rows out of `candidates`.
    fn brute_force(problem: &Problem, candidates: &[u32]) -> u64 {
        let mut best = u64::MAX;
        for (i, &a) in candidates.iter().enumerate() {
            for (j, &b) in candidates.iter().enumerate().skip(i + 1) {
                for &c in &candidates[j + 1..] {
                    if problem.allows(&[a, b, c]) {
                        best = best.min(problem.passes().conflicts(&[a, b, c], best));
                    }
                }
            }
        }
        best
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn permutation_and_xor_agree_with_brute_force(
            accesses in prop::collection::vec(prop::collection::vec(0u32..512, 2..20), 1..8),
            limit in 3u32..=9,
            vector_bits in 0u32..=2,
        ) {
            let g = Geometry::new(9, 3).unwrap();
            let problem = Problem::new(&profile_of(&accesses), g).with_vectors(vector_bits);
            let problem = problem.with_pivot_limit(limit).unwrap();
            let bits = brute_force(&problem, &Candidates::Bits.rows(g));
            prop_assert_eq!(proved(&problem, Family::Permutation), bits);
            let pairs = brute_force(&problem, &Candidates::Pairs.rows(g));
            prop_assert_eq!(proved(&problem, Family::Xor), pairs);
        }

        /// Six bits in which anything differs; the others cannot help.
        #[test]
        fn matrix_agrees_with_all_row_spaces(
            accesses in prop::collection::vec(prop::collection::vec(0u32..64, 2..20), 1..8),
            shift in 0u32..=3,
        ) {
            let g = Geometry::new(9, 3).unwrap();
            let shifted: Vec<Vec<u32>> = accesses
                .iter()
                .map(|a| a.iter().map(|x| x << shift).collect())
                .collect();
            let problem = Problem::new(&profile_of(&shifted), g);
            let rows: Vec<u32> = (1..64).map(|x| x << shift).collect();
            prop_assert_eq!(proved(&problem, Family::Matrix), brute_force(&problem, &rows));
        }

        /// Rows of the upper bits: the m low bits plus any of the others.
        #[test]
        fn matrix_with_fixed_rows_agrees_with_all_of_them(
            accesses in prop::collection::vec(prop::collection::vec(0u32..16, 2..12), 1..6),
            spread in any::<bool>(),
        ) {
            let g = Geometry::new(9, 3).unwrap();
            // Four bits: 0, 1, 7, 8, or 5 to 8, with no low one among them.
            let place = |x: u32| if spread { x & 3 | (x >> 2) << 7 } else { x << 5 };
            let high: Vec<u32> = if spread { vec![7, 8] } else { vec![5, 6, 7, 8] };
            let placed: Vec<Vec<u32>> = accesses
                .iter()
                .map(|a| a.iter().map(|&x| place(x)).collect())
                .collect();
            let problem = Problem::new(&profile_of(&placed), g).with_pivot_limit(3).unwrap();
            let upper = |set: u32| {
                high.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1)
                    .fold(0, |mask, (_, bit)| mask | 1 << bit)
            };
            let sets = 1u32 << high.len();
            let mut best = u64::MAX;
            for (a, b, c) in (0..sets.pow(3)).map(|i| (i % sets, i / sets % sets, i / sets / sets)) {
                let rows = [1 | upper(a), 2 | upper(b), 4 | upper(c)];
                best = best.min(problem.passes().conflicts(&rows, best));
            }
            prop_assert_eq!(proved(&problem, Family::Matrix), best);
        }
    }

    /// Columns of words in rows of 32, in vectors of four that stay whole: the
    /// start leaves what no such mapping avoids, so no node is looked at.
    #[test]
    fn nothing_is_expanded_once_whole_vectors_leave_no_less() {
        let columns: Vec<Vec<u32>> = (0..4)
            .map(|c| (0..32).map(|lane| 32 * lane + c).collect())
            .collect();
        let g = Geometry::new(14, 5).unwrap();
        let whole = Problem::new(&profile_of(&columns), g).with_vectors(2);
        assert_eq!(whole.lower_bound(), 4 * 3);
        let (start, tried) = local::start(&whole, Family::Matrix, &Control::none()).unwrap();
        assert_eq!(start.conflicts, whole.lower_bound());
        let found = search(&whole, Family::Matrix, &Control::none()).unwrap();
        assert!(found.optimal());
        assert_eq!(found.evaluated, tried);
    }

    #[test]
    fn threads_do_not_change_the_result() {
        let g = Geometry::new(10, 3).unwrap();
        let problem = Problem::new(&random_profile(7, 10, 12, 16), g);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let search = || search(&problem, Family::Xor, &Control::none()).unwrap();
            pool.build().unwrap().install(search)
        };
        assert_eq!(run(1), run(4));
    }

    #[test]
    fn out_of_time_it_gives_its_best_and_a_bound() {
        let g = Geometry::new(14, 5).unwrap();
        let problem = Problem::new(&random_profile(3, 14, 200, 32), g);
        let control = Control::none().budget(Duration::from_millis(300));
        let found = search(&problem, Family::Matrix, &control).unwrap();
        assert!(!found.optimal());
        assert!(found.lower_bound < found.conflicts);
        assert!(found.lower_bound >= problem.lower_bound());
        assert_eq!(problem.conflicts(&found.spec).unwrap(), found.conflicts);
        let stopped = Control::none().stop_when(&|| true);
        let found = search(&problem, Family::Xor, &stopped).unwrap();
        assert!(!found.optimal());
        Mapping::new(&found.spec, g).unwrap();
    }

    /// A matrix can be any bit-vector mapping, so it is never worse in one table.
    #[test]
    fn a_stopped_search_takes_what_a_narrower_unit_found() {
        let g = Geometry::new(11, 5).unwrap();
        let problem = Problem::new(&random_profile(3, 11, 40, 32), g);
        let narrow = crate::search::each::search(&problem, HashKind::BitvecPerm, &Control::none());
        let narrow = narrow.unwrap();
        let stopped = Outcome {
            spec: HashSpec::Mod,
            conflicts: narrow.conflicts + 1,
            lower_bound: 0,
            evaluated: 7,
            rank: 5,
            is_mapping: true,
        };
        let all = [narrow.clone()];
        let found = stopped.clone().or_of(HashKind::Matrix, &problem, &all);
        assert_eq!(found.spec.kind(), Some(HashKind::Matrix));
        assert_eq!(problem.conflicts(&found.spec).unwrap(), narrow.conflicts);
        assert_eq!((found.conflicts, found.evaluated), (narrow.conflicts, 7));
        // What is as good, or proved, stays.
        let equal = Outcome {
            conflicts: narrow.conflicts,
            ..stopped
        };
        assert_eq!(equal.clone().or_of(HashKind::Matrix, &problem, &all), equal);
    }
}
