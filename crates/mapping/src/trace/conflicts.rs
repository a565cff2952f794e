//! Bank conflicts of a trace (docs/guides/conflicts.md).

use super::access::{Access, AccessTrace, Op};
use super::place::Line;
use super::rule::ConflictRule;
use super::weighted::{WeightedPass, merged};
use std::collections::BTreeMap;

/// Bank conflict degree of one phase: the largest number of its word addresses
/// that fall in one bank.
///
/// `words` holds each address once where lanes on one address are served
/// together. An empty phase has degree 0.
#[inline]
pub fn conflict_degree(words: &[u32], bank: impl Fn(u32) -> u32) -> u32 {
    let mut load = [0u8; 64];
    let mut degree = 0;
    for &addr in words {
        let slot = &mut load[bank(addr) as usize];
        *slot += 1;
        degree = degree.max(*slot);
    }
    u32::from(degree)
}

/// Totals of one mapping over one trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ConflictCount {
    /// Sum of degree - 1 over all phases with an active lane.
    pub conflicts: u64,
    /// Largest degree.
    pub max_degree: u32,
    /// Sum of the degrees: the wavefronts of profilers.
    pub degree_sum: u64,
}

impl ConflictCount {
    /// The sum of the degrees, as profilers call it.
    pub fn wavefronts(&self) -> u64 {
        self.degree_sum
    }
}

/// The share of `baseline` conflicts that is gone, in percent; negative where
/// there are more. `None` where there were none and now are: no share of
/// nothing says how many.
pub fn removed_pct(baseline: u64, now: u64) -> Option<f64> {
    match (baseline, now) {
        (0, 0) => Some(0.0),
        (0, _) => None,
        _ => Some(100.0 * (baseline as f64 - now as f64) / baseline as f64),
    }
}

/// The share of conflicts that is gone, as text: `85.7 %`, or `96 added` where they
/// rise.
pub fn removed_text(baseline: u64, now: u64) -> String {
    match removed_pct(baseline, now) {
        Some(pct) if now <= baseline => format!("{pct:.1} %"),
        _ => format!("{} added", now - baseline),
    }
}

/// A trace reduced to what its bank conflicts depend on: the words of each
/// phase, equal phases merged.
#[derive(Clone, Debug)]
pub struct ConflictProfile {
    /// Distinct phases with at least one active lane, in order of first occurrence.
    pub passes: Vec<WeightedPass>,
    /// Warp accesses of the trace, those without active lanes included.
    pub accesses: u64,
}

impl ConflictProfile {
    /// Profiles `trace` for a machine that counts by `rule`; a number of lanes
    /// stands for the papers' rule.
    pub fn new(trace: &AccessTrace, rule: impl Into<ConflictRule>) -> Self {
        Self::of(trace.accesses.iter(), &rule.into())
    }

    /// Profiles the accesses of each static access site, by ascending pc.
    pub fn per_pc(trace: &AccessTrace, rule: impl Into<ConflictRule>) -> Vec<(u32, Self)> {
        let rule = rule.into();
        let mut accesses: Vec<&Access> = trace.accesses.iter().collect();
        accesses.sort_by_key(|a| a.pc);
        accesses
            .chunk_by(|a, b| a.pc == b.pc)
            .map(|of_pc| (of_pc[0].pc, Self::of(of_pc.iter().copied(), &rule)))
            .collect()
    }

    /// Profiles the loads, the stores and the atomics, those that there are.
    pub fn per_op(trace: &AccessTrace, rule: impl Into<ConflictRule>) -> Vec<(Op, Self)> {
        let rule = rule.into();
        let of_op = |op: Op| {
            let accesses = trace.accesses.iter().filter(move |a| a.op == op);
            (op, Self::of(accesses, &rule))
        };
        let all = [Op::Load, Op::Store, Op::Atomic].map(of_op);
        all.into_iter().filter(|(_, p)| p.accesses > 0).collect()
    }

    /// Profiles the accesses of each line. All access sites of one source line
    /// in one stack of inlined calls are one line. Without a source, those of
    /// one line of the PTX are; without lines, each site is one of its own.
    pub fn per_line(trace: &AccessTrace, rule: impl Into<ConflictRule>) -> Vec<(Line, Self)> {
        let (rule, places) = (rule.into(), trace.places());
        let mut lines: BTreeMap<Line, Vec<&Access>> = BTreeMap::new();
        for access in &trace.accesses {
            let line = Line::of(&places.of(access.pc), access.pc);
            lines.entry(line).or_default().push(access);
        }
        let profile =
            |(line, accesses): (Line, Vec<&Access>)| (line, Self::of(accesses.into_iter(), &rule));
        lines.into_iter().map(profile).collect()
    }

    /// Profiles these accesses.
    pub fn of<'a>(accesses: impl Iterator<Item = &'a Access>, rule: &ConflictRule) -> Self {
        let mut count = 0;
        let phases = accesses.inspect(|_| count += 1).flat_map(|access| {
            let pass = if rule.counts_lanes(access) {
                WeightedPass::of_lanes
            } else {
                WeightedPass::of_words
            };
            rule.phases(access).map(pass)
        });
        let passes = merged(phases);
        ConflictProfile {
            passes,
            accesses: count,
        }
    }

    /// Profiles warp accesses of a word, given as one optional address per
    /// thread.
    pub fn of_accesses<'a>(accesses: impl Iterator<Item = &'a [Option<u32>]>, lanes: u32) -> Self {
        let mut count = 0;
        let passes = accesses
            .inspect(|_| count += 1)
            .flat_map(|addrs| addrs.chunks(lanes as usize))
            .map(|lanes| {
                let mut words = Vec::with_capacity(lanes.len());
                words.extend(lanes.iter().flatten());
                WeightedPass::of_words(words)
            });
        let passes = merged(passes);
        ConflictProfile {
            passes,
            accesses: count,
        }
    }

    /// Counts the conflicts under the bank function `bank`.
    pub fn count(&self, bank: impl Fn(u32) -> u32) -> ConflictCount {
        let mut total = ConflictCount::default();
        for pass in &self.passes {
            let degree = conflict_degree(&pass.addrs, &bank);
            total.conflicts += u64::from(degree - 1) * pass.weight;
            total.degree_sum += u64::from(degree) * pass.weight;
            total.max_degree = total.max_degree.max(degree);
        }
        total
    }

    /// Phases with at least one active lane.
    pub fn active_passes(&self) -> u64 {
        self.passes.iter().map(|p| p.weight).sum()
    }

    /// The wavefronts without conflicts: per phase its different words over
    /// the number of banks, rounded up.
    pub fn ideal_wavefronts(&self, banks: usize) -> u64 {
        let ideal = |p: &WeightedPass| p.distinct().div_ceil(banks) as u64 * p.weight;
        self.passes.iter().map(ideal).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::{Atomics, Wide};
    use super::*;

    #[test]
    fn degree_counts_distinct_addresses_per_bank() {
        let mod4 = |a: u32| a % 4;
        assert_eq!(conflict_degree(&[], mod4), 0);
        assert_eq!(conflict_degree(&[0, 1, 2, 3], mod4), 1);
        assert_eq!(conflict_degree(&[0, 4, 8, 3], mod4), 3);
    }

    #[test]
    fn broadcast_and_inactive_lanes_cost_nothing() {
        let accesses: [&[Option<u32>]; 3] = [
            &[Some(4), Some(4), Some(4), None],
            &[None, None, None, None],
            &[Some(0), Some(4), Some(8), Some(4)],
        ];
        let profile = ConflictProfile::of_accesses(accesses.into_iter(), 4);
        let count = profile.count(|a| a % 4);
        assert_eq!((profile.accesses, profile.active_passes()), (3, 2));
        assert_eq!((count.conflicts, count.max_degree), (2, 3));
        assert_eq!((count.wavefronts(), profile.ideal_wavefronts(4)), (4, 2));
        // Two lanes a pass: {4} {4} | {0,4} {8,4}.
        let halves = ConflictProfile::of_accesses(accesses.into_iter(), 2);
        assert_eq!(halves.count(|a| a % 4).conflicts, 2);
        assert_eq!(halves.active_passes(), 4);
    }

    fn access(op: Op, bytes: u32, addrs: impl Iterator<Item = u32>) -> Access {
        Access {
            warp: 0,
            pc: 0,
            op,
            addrs: addrs.map(Some).collect(),
            bytes,
            increment: false,
            aggregated: false,
            extra: Default::default(),
        }
    }

    #[test]
    fn one_lane_that_does_it_for_all_takes_one_phase() {
        let mut add = access(Op::Atomic, 8, (0..32).map(|_| 6));
        let [sm80, fermi] =
            [Atomics::LanesButIncrements, Atomics::Words].map(|atomics| ConflictRule {
                wide: Wide::PhasesMerged,
                atomics,
                ..ConflictRule::from(32)
            });
        let phases = |rule: &ConflictRule, add: &Access| rule.phases(add).count();
        assert_eq!(phases(&sm80, &add), 2);
        add.aggregated = true;
        assert_eq!([phases(&sm80, &add), phases(&fermi, &add)], [1, 2]);
        assert_eq!(sm80.lanes_of_phases(&add).len(), 1);
    }

    #[test]
    fn wide_accesses_by_either_rule() {
        let papers = ConflictRule::from(32);
        let today = ConflictRule {
            wide: Wide::Phases,
            atomics: Atomics::Lanes,
            ..papers
        };
        let count = |access: &Access, rule| {
            let profile = ConflictProfile::of(std::iter::once(access), rule);
            let count = profile.count(|a| a % 32);
            (
                count.conflicts,
                count.max_degree,
                count.wavefronts(),
                profile.ideal_wavefronts(32),
            )
        };
        // A perfect float4 copy.
        let copy = access(Op::Load, 16, (0..32).map(|l| 4 * l));
        assert_eq!(count(&copy, &papers), (3, 4, 4, 1));
        assert_eq!(count(&copy, &today), (0, 1, 4, 4));
        // Eight bytes, 16 words apart: 16 lanes, two words in each of two banks.
        let apart = access(Op::Store, 8, (0..32).map(|l| 16 * l));
        assert_eq!(count(&apart, &today), (14, 8, 16, 2));
        // Half of the warp is idle: its phase counts for nothing.
        let mut half = access(Op::Load, 8, (0..32).map(|l| 2 * l));
        half.addrs[16..].fill(None);
        assert_eq!(count(&half, &today), (0, 1, 1, 1));
        // All lanes address one word: served together, unless they are atomics.
        let load = access(Op::Load, 4, (0..32).map(|_| 7));
        let atomic = access(Op::Atomic, 4, (0..32).map(|_| 7));
        assert_eq!(count(&load, &today), (0, 1, 1, 1));
        assert_eq!(count(&atomic, &papers), (0, 1, 1, 1));
        assert_eq!(count(&atomic, &today), (31, 32, 32, 1));
    }

    #[test]
    fn what_is_removed_and_what_is_added() {
        assert_eq!(removed_pct(0, 0), Some(0.0));
        assert_eq!(removed_pct(0, 96), None);
        assert_eq!(removed_pct(50, 60), Some(-20.0));
        assert_eq!(removed_text(0, 96), "96 added");
        assert_eq!(removed_text(50, 60), "10 added");
        assert_eq!(removed_text(56, 8), "85.7 %");
        assert_eq!(removed_text(0, 0), "0.0 %");
    }
}
