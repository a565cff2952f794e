//! The distinct passes of a trace with their weights: all that its conflicts
//! depend on, whoever counts them.

use std::collections::HashMap;
use std::hash::Hash;

/// Addresses that are served together, and how often they occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedPass<A = u32> {
    /// Sorted addresses; one occurs as often as it counts.
    pub addrs: Vec<A>,
    /// Occurrences in the trace.
    pub weight: u64,
}

impl<A: Ord> WeightedPass<A> {
    /// One occurrence of a pass in which every lane counts.
    pub fn of_lanes(mut addrs: Vec<A>) -> Self {
        addrs.sort_unstable();
        WeightedPass { addrs, weight: 1 }
    }

    /// One occurrence of a pass in which lanes on one address count once.
    pub fn of_words(addrs: Vec<A>) -> Self {
        let mut pass = Self::of_lanes(addrs);
        pass.addrs.dedup();
        pass
    }

    /// Number of different addresses.
    pub fn distinct(&self) -> usize {
        self.addrs.chunk_by(|a, b| a == b).count()
    }
}

impl<A: Copy + Ord + Into<u32>> WeightedPass<A> {
    /// Conflicts that no function to 2^m banks avoids that keeps vectors of
    /// 2^`vector_bits` words whole.
    pub fn lower_bound(&self, m: u32, vector_bits: u32) -> u64 {
        let degree = least_degree(&self.addrs, m, vector_bits);
        self.weight * (degree.max(1) as u64 - 1)
    }
}

/// The least degree of the sorted `addrs` in 2^m banks, each of which serves
/// one of its words at a time. Where vectors of 2^`vector_bits` words, aligned
/// to their size, stay whole, the words at one position of their vector share
/// 2^(m - `vector_bits`) banks.
pub(crate) fn least_degree<A: Copy + Ord + Into<u32>>(
    addrs: &[A],
    m: u32,
    vector_bits: u32,
) -> usize {
    let mut at = vec![0usize; 1 << vector_bits];
    for addr in addrs {
        let addr: u32 = (*addr).into();
        at[addr as usize & ((1 << vector_bits) - 1)] += 1;
    }
    let most = at.into_iter().max().unwrap_or(0);
    let alike = addrs.chunk_by(|a, b| a == b).map(<[A]>::len).max();
    let banks = 1 << m.saturating_sub(vector_bits);
    most.div_ceil(banks).max(alike.unwrap_or(0))
}

/// Equal passes merged, their weights added, in the order of first occurrence;
/// those without addresses are left out.
pub fn merged<A: Eq + Hash>(passes: impl Iterator<Item = WeightedPass<A>>) -> Vec<WeightedPass<A>> {
    let mut found: HashMap<Vec<A>, (usize, u64)> = HashMap::new();
    for pass in passes.filter(|pass| !pass.addrs.is_empty()) {
        let next = (found.len(), 0);
        found.entry(pass.addrs).or_insert(next).1 += pass.weight;
    }
    let mut merged: Vec<_> = found.into_iter().collect();
    merged.sort_unstable_by_key(|(_, (first, _))| *first);
    let pass = |(addrs, (_, weight))| WeightedPass { addrs, weight };
    merged.into_iter().map(pass).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_passes_are_one_with_their_weights_in_order() {
        let heavy = WeightedPass {
            weight: 5,
            ..WeightedPass::of_words(vec![9, 2, 9])
        };
        let passes = [
            WeightedPass::of_words(vec![7, 7, 1]),
            heavy,
            WeightedPass::of_words(vec![]),
            WeightedPass::of_lanes(vec![7, 1, 7]),
            WeightedPass::of_lanes(vec![1, 7]),
        ];
        let merged = merged(passes.into_iter());
        let shown: Vec<_> = merged.iter().map(|p| (&p.addrs[..], p.weight)).collect();
        assert_eq!(shown, [(&[1, 7][..], 2), (&[2, 9], 5), (&[1, 7, 7], 1)]);
        assert_eq!(
            merged.iter().map(|p| p.distinct()).collect::<Vec<_>>(),
            [2, 2, 2]
        );
    }

    /// A column of words, 32 apart: any function may spread it over all banks,
    /// one that keeps vectors of four words whole has eight banks for them.
    #[test]
    fn whole_vectors_have_fewer_banks_at_each_position() {
        let column = WeightedPass::of_words((0..32u32).map(|lane| 32 * lane).collect());
        let left = [0, 1, 2].map(|bits| column.lower_bound(5, bits));
        assert_eq!(left, [0, 1, 3]);
        let row = WeightedPass::of_words((0..32u32).collect());
        assert_eq!(row.lower_bound(5, 2), 0);
        let lanes = WeightedPass {
            weight: 3,
            ..WeightedPass::of_lanes(vec![7u16; 6])
        };
        assert_eq!(lanes.lower_bound(5, 2), 3 * 5);
    }
}
