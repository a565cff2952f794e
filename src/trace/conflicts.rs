//! Bank conflicts of a trace (docs/microarchitecture.md, section 3).

use super::access::AccessTrace;
use std::collections::HashMap;

/// Bank conflict degree of one pass: the largest number of *distinct* word
/// addresses that fall in one bank; lanes on one address are served together.
///
/// `distinct` holds each address once. An empty pass has degree 0.
#[inline]
pub fn conflict_degree(distinct: &[u32], bank: impl Fn(u32) -> u32) -> u32 {
    let mut load = [0u8; 64];
    let mut degree = 0;
    for &addr in distinct {
        let slot = &mut load[bank(addr) as usize];
        *slot += 1;
        degree = degree.max(*slot);
    }
    u32::from(degree)
}

/// The distinct addresses of a pass, sorted, and how often the pass occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedPass {
    /// Sorted distinct word addresses of the active lanes.
    pub addrs: Vec<u32>,
    /// Occurrences in the trace.
    pub weight: u64,
}

/// Totals of one mapping over one trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ConflictCount {
    /// Sum of degree - 1 over all passes with an active lane.
    pub conflicts: u64,
    /// Largest degree.
    pub max_degree: u32,
    /// Sum of the degrees.
    pub degree_sum: u64,
}

/// A trace reduced to what its bank conflicts depend on: the set of addresses
/// of each pass, equal passes merged.
#[derive(Clone, Debug)]
pub struct ConflictProfile {
    /// Distinct passes with at least one active lane, in order of first occurrence.
    pub passes: Vec<WeightedPass>,
    /// Warp accesses of the trace, those without active lanes included.
    pub accesses: u64,
}

impl ConflictProfile {
    /// Profiles `trace` for a machine that serves `lanes` lanes a pass.
    pub fn new(trace: &AccessTrace, lanes: u32) -> Self {
        Self::of_accesses(trace.accesses.iter().map(|a| a.addrs.as_slice()), lanes)
    }

    /// Profiles the accesses of each static access site, by ascending pc.
    pub fn per_pc(trace: &AccessTrace, lanes: u32) -> Vec<(u32, Self)> {
        let mut pcs: Vec<u32> = trace.accesses.iter().map(|a| a.pc).collect();
        pcs.sort_unstable();
        pcs.dedup();
        pcs.into_iter()
            .map(|pc| {
                let of_pc = trace.accesses.iter().filter(|a| a.pc == pc);
                let profile = Self::of_accesses(of_pc.map(|a| a.addrs.as_slice()), lanes);
                (pc, profile)
            })
            .collect()
    }

    /// Profiles warp accesses given as one optional address per thread.
    pub fn of_accesses<'a>(accesses: impl Iterator<Item = &'a [Option<u32>]>, lanes: u32) -> Self {
        let mut index: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut passes: Vec<WeightedPass> = Vec::new();
        let mut count = 0;
        for addrs in accesses {
            count += 1;
            for pass in addrs.chunks(lanes as usize) {
                let mut distinct: Vec<u32> = pass.iter().copied().flatten().collect();
                distinct.sort_unstable();
                distinct.dedup();
                if distinct.is_empty() {
                    continue;
                }
                let slot = *index.entry(distinct).or_insert_with_key(|addrs| {
                    let addrs = addrs.clone();
                    passes.push(WeightedPass { addrs, weight: 0 });
                    passes.len() - 1
                });
                passes[slot].weight += 1;
            }
        }
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

    /// Passes with at least one active lane.
    pub fn active_passes(&self) -> u64 {
        self.passes.iter().map(|p| p.weight).sum()
    }
}

#[cfg(test)]
mod tests {
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
        // Two lanes a pass: {4} {4} | {0,4} {8,4}.
        let halves = ConflictProfile::of_accesses(accesses.into_iter(), 2);
        assert_eq!(halves.count(|a| a % 4).conflicts, 2);
        assert_eq!(halves.active_passes(), 4);
    }
}
