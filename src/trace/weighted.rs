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

    /// Lanes on the address that has most of them.
    pub fn most_alike(&self) -> usize {
        let alike = self.addrs.chunk_by(|a, b| a == b);
        alike.map(<[A]>::len).max().unwrap_or(0)
    }
}

/// Equal passes merged, their weights added, in the order of first occurrence;
/// those without addresses are left out.
pub(crate) fn merged<A: Eq + Hash>(
    passes: impl Iterator<Item = WeightedPass<A>>,
) -> Vec<WeightedPass<A>> {
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
        assert_eq!(
            merged.iter().map(|p| p.most_alike()).collect::<Vec<_>>(),
            [1, 1, 2]
        );
    }
}
