//! Exhaustive search of bit-vector XOR (hash paper, section 5.1).
//!
//! The configurations of one pair (k1, k2) are evaluated together (`plan.rs`).

use super::family::PairFamily;
pub use super::plan::Pair;
use super::plan::Plan;
use super::quotient::Batch;
use super::{Control, Outcome, Problem};
use crate::geometry::Geometry;
use crate::hash::HashSpec;
use crate::hash::kind::BitvecXor;
use rayon::prelude::*;
use spadkit_base::error::{Error, Result};
use std::sync::atomic::{AtomicU64, Ordering};

/// The (n-m+1) · n · 2^m configurations of the bit-vector XOR unit.
pub fn all_pairs(geometry: Geometry) -> Vec<Pair> {
    let (n, masks) = (geometry.addr_bits(), geometry.banks() as u32);
    (0..=geometry.row_bits())
        .flat_map(|k1| (0..n).map(move |k2| Pair { k1, k2, masks }))
        .collect()
}

/// The configurations that section 5.1 leaves for the given non-zero strides
/// in words and warp size. k1 is the k of a stride S0·2^k. The values of k2 are
/// those from the smallest k to the highest bit that a stride reaches within a
/// warp, without k1. Mask bits beyond that bit are not tried.
pub fn pruned_pairs(geometry: Geometry, strides: &[u64], threads: u32) -> Vec<Pair> {
    let strides = || strides.iter().copied().filter(|&s| s != 0);
    let last_bit = geometry.addr_bits() - 1;
    let reach = |s: u64| (u64::from(threads.max(2) - 1).saturating_mul(s)).ilog2();
    let (Some(lowest), Some(top)) = (
        strides().map(u64::trailing_zeros).min(),
        strides().map(reach).max(),
    ) else {
        return Vec::new();
    };
    let top = top.min(last_bit);
    let mut k1s: Vec<u32> = strides()
        .map(|s| s.trailing_zeros().min(geometry.row_bits()))
        .collect();
    k1s.sort_unstable();
    k1s.dedup();
    let mut pairs = Vec::new();
    for k1 in k1s {
        let before = pairs.len();
        for k2 in (lowest..=top).filter(|&k2| k2 != k1) {
            let bits = geometry.bank_bits().min(top - k2 + 1);
            let masks = 1 << bits;
            pairs.push(Pair { k1, k2, masks });
        }
        if pairs.len() == before {
            // No second vector is left: the permutation alone.
            let (k2, masks) = (k1, 1);
            pairs.push(Pair { k1, k2, masks });
        }
    }
    pairs
}

/// The best bit-vector XOR configuration in `pairs`; the first one in their
/// order, then by mask, where several are best. Those that are no mapping (the
/// two vectors cancel) or that `problem` does not allow cannot win, but count
/// as evaluated. With [`all_pairs`] the result is proved.
pub fn search_xor(problem: &Problem, pairs: &[Pair], control: &Control) -> Result<Outcome> {
    search_tied(problem, pairs, Ties::First, control)
}

/// The configuration that is chosen of several equally good ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The first pair, then the smallest mask.
    First,
    /// The smallest mask, then the first pair. So it is in most rows of the
    /// hash paper's Table 5; the text names no order.
    SmallestMask,
}

/// [`search_xor`] with a choice among the best.
pub(super) fn search_tied(
    problem: &Problem,
    pairs: &[Pair],
    ties: Ties,
    control: &Control,
) -> Result<Outcome> {
    match problem.passes().len() {
        0..=SHORT => search_batched::<SHORT>(problem, pairs, ties, control),
        _ => search_batched::<LONG>(problem, pairs, ties, control),
    }
}

/// Passes in a batch, for short traces and for long ones.
const SHORT: usize = 16;
const LONG: usize = 64;

fn search_batched<const L: usize>(
    problem: &Problem,
    pairs: &[Pair],
    ties: Ties,
    control: &Control,
) -> Result<Outcome> {
    let search = Search::<L> {
        problem,
        batches: Batch::all(problem.passes().as_slice()),
        best: AtomicU64::new(u64::MAX),
    };
    let done = AtomicU64::new(0);
    let total = pairs.len() as u64;
    let families = PairFamily::all(pairs, problem.geometry());
    let results: Vec<FamilyResult> = families
        .par_iter()
        .map(|family| {
            let result = search.family(family, pairs, control);
            let members = family.members.len() as u64;
            let done = done.fetch_add(members, Ordering::Relaxed) + members;
            let best = search.best.load(Ordering::Relaxed);
            control.report(done, total, (best != u64::MAX).then_some(best));
            result
        })
        .collect();
    outcome(problem, pairs, ties, &families, &results)
}

/// The best of what was found in each family.
fn outcome(
    problem: &Problem,
    pairs: &[Pair],
    ties: Ties,
    families: &[PairFamily],
    results: &[FamilyResult],
) -> Result<Outcome> {
    let complete = families.iter().zip(results).filter(|(_, r)| r.complete);
    let members = complete.flat_map(|(family, _)| &family.members);
    let evaluated: u64 = members.map(|(pair, _)| u64::from(pairs[*pair].masks)).sum();
    // By the order of configurations, so that threads cannot change the result.
    let place = |found: &&Found| match ties {
        Ties::First => (found.conflicts, 0, found.pair, found.mask),
        Ties::SmallestMask => (found.conflicts, found.mask, found.pair, 0),
    };
    let winner = results.iter().flat_map(|r| &r.found).min_by_key(place);
    let stopped = results.iter().any(|r| !r.complete);
    let (k1, k2, mask, conflicts) = match winner {
        Some(found) => {
            let pair = &pairs[found.pair];
            (pair.k1, pair.k2, found.mask, found.conflicts)
        }
        // Stopped before anything was found: the conventional mapping.
        None if stopped => {
            let mod_banks = problem.conflicts(&HashSpec::Mod)?;
            (0, problem.geometry().bank_bits(), 0, mod_banks)
        }
        None => {
            return Err(Error::usage(
                "none of the configurations in the searched ranges is allowed",
                "search all of them (no --pruned), or drop --fits and --fixed-rows",
            ));
        }
    };
    let complete = !stopped && pairs == all_pairs(problem.geometry());
    Ok(Outcome {
        spec: BitvecXor { k1, k2, mask }.into(),
        conflicts,
        lower_bound: if complete {
            conflicts
        } else {
            problem.lower_bound()
        },
        evaluated,
        rank: problem.geometry().bank_bits(),
        is_mapping: true,
    })
}

/// A configuration whose conflicts were counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    conflicts: u64,
    pair: usize,
    mask: u32,
}

/// The result of searching a family.
struct FamilyResult {
    /// The best of each pair, but for pairs that something else beats.
    found: Vec<Found>,
    /// The search was not stopped.
    complete: bool,
}

/// A pair and the conflicts of its leaves so far.
struct Member {
    pair: usize,
    table: usize,
    plan: Plan,
    conflicts: Vec<u64>,
}

impl Member {
    /// The first configuration of those with the fewest conflicts so far.
    fn best(&self) -> Option<Found> {
        let masks = self.plan.masks.iter();
        let found = masks.map(|&(mask, leaf)| Found {
            conflicts: self.conflicts[leaf],
            pair: self.pair,
            mask,
        });
        found.min()
    }
}

struct Search<'a, const L: usize> {
    problem: &'a Problem,
    batches: Vec<Batch<L>>,
    /// Fewest conflicts of any configuration so far.
    best: AtomicU64,
}

impl<const L: usize> Search<'_, L> {
    fn family(&self, family: &PairFamily, pairs: &[Pair], control: &Control) -> FamilyResult {
        let mut found = Vec::new();
        let stopped = |found| FamilyResult {
            found,
            complete: false,
        };
        if control.stopped() {
            return stopped(found);
        }
        let mut open = self.members(family, pairs);
        let mut tables = family.room();
        let rooms = open.iter().map(|member| member.plan.room());
        let mut room = rooms.max_by_key(Vec::len).unwrap_or_default();
        for batch in &self.batches {
            if control.stopped() {
                return stopped(found);
            }
            open.retain(|member| self.may_win(member));
            if open.is_empty() {
                break;
            }
            family.fill(batch, &mut tables);
            for member in &mut open {
                let (table, conflicts) = (&tables[member.table], &mut member.conflicts);
                member.plan.evaluate(batch, table, &mut room, 0, conflicts);
            }
            if self.best.load(Ordering::Relaxed) == u64::MAX {
                found.extend(self.try_best(&open, pairs));
            }
        }
        for member in open.iter().filter(|member| self.may_win(member)) {
            found.extend(self.found(member.best()));
        }
        FamilyResult {
            found,
            complete: true,
        }
    }

    fn members(&self, family: &PairFamily, pairs: &[Pair]) -> Vec<Member> {
        let member = |&(pair, table): &(usize, usize)| {
            let plan = Plan::new(&pairs[pair], self.problem);
            Member {
                pair,
                table,
                conflicts: vec![0; plan.leaves()],
                plan,
            }
        };
        family.members.iter().map(member).collect()
    }

    /// Equal ones go on: the first of the best wins, whatever the threads do.
    fn may_win(&self, member: &Member) -> bool {
        let best = self.best.load(Ordering::Relaxed);
        member.best().is_some_and(|found| found.conflicts <= best)
    }

    /// Counts the configuration that looks best after some batches to the end,
    /// so that there is one to be beaten.
    fn try_best(&self, open: &[Member], pairs: &[Pair]) -> Option<Found> {
        let likely = open.iter().filter_map(Member::best).min()?;
        let rows = pairs[likely.pair].rows(likely.mask, self.problem.geometry());
        let conflicts = self.problem.passes().conflicts(&rows, u64::MAX);
        self.found(Some(Found {
            conflicts,
            ..likely
        }))
    }

    fn found(&self, found: Option<Found>) -> Option<Found> {
        let conflicts = found?.conflicts;
        self.best.fetch_min(conflicts, Ordering::Relaxed);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Mapping;
    use crate::search::testing::random_profile;

    /// The plain loop over configurations.
    fn plain(problem: &Problem, pairs: &[Pair]) -> (u64, HashSpec) {
        let configurations = pairs.iter().flat_map(|p| {
            (0..p.masks).map(|mask| {
                HashSpec::from(BitvecXor {
                    k1: p.k1,
                    k2: p.k2,
                    mask,
                })
            })
        });
        configurations
            .filter(|spec| {
                Mapping::new(spec, problem.geometry())
                    .is_ok_and(|mapping| mapping.fits(problem.pivot_limit()))
            })
            .map(|spec| (problem.conflicts(&spec).unwrap(), spec))
            .min_by_key(|(conflicts, _)| *conflicts)
            .unwrap()
    }

    #[test]
    fn the_result_is_that_of_the_plain_loop() {
        for (n, m, passes) in [(9, 3, 40), (11, 5, 20), (14, 5, 3), (16, 6, 2)] {
            let g = Geometry::new(n, m).unwrap();
            for (seed, limit) in [(0, n), (1, n - 2), (2, m)] {
                let profile = random_profile(seed, n, passes, 32);
                let problem = Problem::new(&profile, g).with_pivot_limit(limit).unwrap();
                let pairs = all_pairs(g);
                let found = search_xor(&problem, &pairs, &Control::none()).unwrap();
                let (conflicts, spec) = plain(&problem, &pairs);
                assert_eq!((found.conflicts, &found.spec), (conflicts, &spec), "{g}");
                assert_eq!(problem.conflicts(&found.spec).unwrap(), conflicts);
                assert!(found.optimal());
            }
        }
    }

    #[test]
    fn the_smallest_mask_may_decide_among_the_best() {
        let g = Geometry::new(14, 5).unwrap();
        // Stride 8: k1 = 3 needs no mask, k1 = 0 the pair 3 and mask 31.
        let stride: Vec<u32> = (0..32).map(|t| 8 * t).collect();
        let problem = Problem::new(&crate::search::testing::profile_of(&[stride]), g);
        let found = |ties| search_tied(&problem, &all_pairs(g), ties, &Control::none()).unwrap();
        let (first, smallest) = (found(Ties::First), found(Ties::SmallestMask));
        assert_eq!((first.conflicts, smallest.conflicts), (0, 0));
        assert_eq!(first.spec.to_string(), "bitvec-xor:k1=0,k2=3,mask=31");
        assert_eq!(smallest.spec.to_string(), "bitvec-xor:k1=3,k2=0,mask=0");
    }

    #[test]
    fn one_thread_finds_the_same_as_many() {
        let g = Geometry::new(14, 5).unwrap();
        let problem = Problem::new(&random_profile(5, 14, 30, 32), g);
        let search = || search_xor(&problem, &all_pairs(g), &Control::none()).unwrap();
        let pool = |threads| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
        };
        assert_eq!(pool(1).install(search), pool(4).install(search));
    }

    /// Section 5.1: strides 4 and 6 leave 188 of 4480 configurations.
    #[test]
    fn the_published_example_evaluates_188_of_4480() {
        let g = Geometry::new(14, 5).unwrap();
        let count = |pairs: &[Pair]| pairs.iter().map(|p| p.masks).sum::<u32>();
        let pruned = pruned_pairs(g, &[4, 6], 32);
        assert_eq!((count(&all_pairs(g)), count(&pruned)), (4480, 188));
        let problem = Problem::new(&random_profile(1, 14, 3, 32), g);
        let evaluated =
            |pairs: &[Pair]| search_xor(&problem, pairs, &Control::none()).map(|o| o.evaluated);
        assert_eq!(evaluated(&pruned).unwrap(), 188);
        assert_eq!(evaluated(&all_pairs(g)).unwrap(), 4480);
        assert!(
            pruned
                .iter()
                .all(|p| (1..=7).contains(&p.k2) && p.k1 != p.k2)
        );
    }

    #[test]
    fn pruning_copes_with_odd_strides() {
        let g = Geometry::new(9, 3).unwrap();
        assert_eq!(pruned_pairs(g, &[], 32), []);
        assert_eq!(pruned_pairs(g, &[0], 32), []);
        // Two threads, stride 1: nothing beyond bit 0, the permutation is left.
        let alone = Pair {
            k1: 0,
            k2: 0,
            masks: 1,
        };
        assert_eq!(pruned_pairs(g, &[1], 2), [alone]);
        // Strides beyond the address stay in range.
        for pair in pruned_pairs(g, &[1 << 40, u64::MAX], 32) {
            assert!(pair.k1 <= 6 && pair.k2 < 9);
        }
    }

    #[test]
    fn a_stopped_search_says_what_it_did() {
        let g = Geometry::new(9, 3).unwrap();
        let problem = Problem::new(&random_profile(2, 9, 30, 32), g);
        let control = Control::none().stop_when(&|| true);
        let found = search_xor(&problem, &all_pairs(g), &control).unwrap();
        assert_eq!(found.evaluated, 0);
        assert_eq!(found.conflicts, problem.conflicts(&HashSpec::Mod).unwrap());
        assert!(!found.optimal());
    }
}
