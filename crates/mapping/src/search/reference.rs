//! Reference sets and candidate bank bits: what the heuristics work on (hash
//! paper, section 5.2).

use super::{Pass, Problem};
use crate::geometry::Geometry;
use crate::hash::kind::{self, Family, Search};
use crate::hash::{HashKind, HashSpec};
use crate::trace::{AccessTrace, ConflictRule, WeightedPass, merged};
use std::collections::BTreeMap;

/// The addresses of the active lanes of one warp access, or of one phase of it,
/// duplicates kept.
///
/// Bit `l` of a lane mask belongs to the l-th reference; there are at most 64.
#[derive(Clone, Debug)]
pub struct ReferenceSet {
    /// Lane mask of each address bit.
    bits: Vec<u64>,
    /// Number of references.
    len: u32,
    /// Number of occurrences of the set.
    weight: u64,
}

impl ReferenceSet {
    fn new(pass: &WeightedPass, geometry: Geometry) -> Self {
        let lanes = |bit: u32| {
            let ones = pass.addrs.iter().enumerate();
            ones.fold(0, |mask, (lane, addr)| {
                mask | u64::from(addr >> bit & 1) << lane
            })
        };
        ReferenceSet {
            bits: (0..geometry.addr_bits()).map(lanes).collect(),
            len: pass.addrs.len() as u32,
            weight: pass.weight,
        }
    }

    /// A pass of a search problem.
    pub(super) fn of_pass(pass: &Pass, geometry: Geometry) -> Self {
        let addrs = pass.addrs.iter().map(|&a| u32::from(a)).collect();
        let weight = pass.weight;
        ReferenceSet::new(&WeightedPass { addrs, weight }, geometry)
    }

    /// The references for which the XOR of the address bits `row` is 1.
    pub fn ones(&self, row: u32) -> u64 {
        let bits = self.bits.iter().enumerate();
        bits.filter(|(i, _)| row >> i & 1 == 1)
            .fold(0, |mask, (_, lanes)| mask ^ lanes)
    }

    /// A mask of all references.
    pub fn all(&self) -> u64 {
        u64::MAX >> (64 - self.len)
    }

    /// Number of references.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there are none; [`of_trace`] makes no such set.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of occurrences of the set.
    pub fn weight(&self) -> u64 {
        self.weight
    }
}

/// The reference sets of a trace, equal ones merged: one per warp access with
/// active lanes, on a machine that serves wide accesses in phases one per phase.
pub fn of_trace(
    trace: &AccessTrace,
    rule: impl Into<ConflictRule>,
    geometry: Geometry,
) -> Vec<ReferenceSet> {
    let rule = rule.into();
    let accesses = trace.accesses.iter();
    of_accesses(accesses.flat_map(|a| rule.reference_sets(a)), geometry)
}

/// A reference set per access instruction: that of its first warp access with
/// active lanes. An analysis of source text (hash paper, section 6) knows the
/// instructions of a kernel, not how often they run.
pub fn of_instructions(
    trace: &AccessTrace,
    rule: impl Into<ConflictRule>,
    geometry: Geometry,
) -> Vec<ReferenceSet> {
    let rule = rule.into();
    let mut first: BTreeMap<u32, Vec<Vec<u32>>> = BTreeMap::new();
    for access in &trace.accesses {
        let sets = rule.reference_sets(access);
        if !sets.is_empty() {
            first.entry(access.pc).or_insert(sets);
        }
    }
    of_accesses(first.into_values().flatten(), geometry)
}

/// Reference sets of warp accesses that are given by their addresses, at most 64
/// each.
pub fn of_accesses(
    accesses: impl Iterator<Item = Vec<u32>>,
    geometry: Geometry,
) -> Vec<ReferenceSet> {
    // The measures do not depend on which lane has which address.
    let sets = merged(accesses.map(WeightedPass::of_lanes));
    let set = |set| ReferenceSet::new(set, geometry);
    sets.iter().map(set).collect()
}

/// The candidates for a bank bit in a heuristic, as row masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// Single address bits: bitwise permutation.
    Bits,
    /// Single bits and XORs of two: bitwise XOR, in the row-major order of the
    /// hash paper's Table 3 (0, 0^1, 0^2, ..., 1, 1^2, ...).
    Pairs,
}

impl Candidates {
    /// The candidates for the bank bits of the unit of `kind`.
    pub fn of(kind: HashKind) -> Self {
        match kind::of(kind).search {
            Search::Rows(Family::Permutation) => Candidates::Bits,
            _ => Candidates::Pairs,
        }
    }

    /// The row masks, in the order in which ties are resolved.
    pub fn rows(self, geometry: Geometry) -> Vec<u32> {
        let n = geometry.addr_bits();
        let of_bit = |a: u32| {
            let pairs = (a + 1..n).map(move |b| 1 << a | 1 << b);
            std::iter::once(1 << a).chain(pairs.filter(move |_| self == Candidates::Pairs))
        };
        (0..n).flat_map(of_bit).collect()
    }

    /// The spec of bank rows taken from the candidates.
    pub fn spec(self, rows: &[u32], geometry: Geometry) -> HashSpec {
        let family = match self {
            Candidates::Bits => Family::Permutation,
            Candidates::Pairs => Family::Xor,
        };
        family.spec(rows, geometry).into()
    }
}

/// The candidates that a heuristic may choose next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Candidates with which the mapping can still be completed to one that the problem allows.
    Allowed,
    /// The published selection: all candidates not chosen yet, even linearly
    /// dependent ones.
    AsPublished,
}

impl Selection {
    /// Whether `row` may follow the rows `taken`.
    pub(super) fn admits(self, problem: &Problem, taken: &[u32], row: u32) -> bool {
        match self {
            Selection::AsPublished => !taken.contains(&row),
            Selection::Allowed => problem.allows(&[taken, &[row]].concat()),
        }
    }
}

/// The first bank bit in which given bits depart from the heuristic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// The first bit, from 0, that is not among the best after those before it.
    pub step: usize,
    /// The given bit's score: for Givargis the summed quality, for MIH the summed imbalance.
    pub given: f64,
    /// The best score.
    pub best: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_in_the_order_of_table_3() {
        let g = Geometry::new(9, 3).unwrap();
        let pairs = Candidates::Pairs.rows(g);
        assert_eq!(pairs.len(), 9 * 10 / 2);
        assert_eq!(pairs[..3], [0b1, 0b11, 0b101]);
        assert_eq!(pairs[9..11], [0b10, 0b110]);
        assert_eq!(Candidates::Bits.rows(g).len(), 9);
        let spec = Candidates::Pairs.spec(&[1, 0b110, 1 << 8], g);
        assert_eq!(spec.to_string(), "bitwise-xor:0,1^2,8");
    }

    #[test]
    fn equal_sets_are_counted_and_duplicates_kept() {
        let g = Geometry::new(9, 3).unwrap();
        let accesses = [vec![3, 3, 1], vec![], vec![1, 3, 3], vec![3, 1]];
        let sets = of_accesses(accesses.into_iter(), g);
        let lens: Vec<_> = sets.iter().map(|s| (s.len(), s.weight())).collect();
        assert_eq!(lens, [(3, 2), (2, 1)]);
        assert_eq!(sets[0].ones(2).count_ones(), 2);
        assert_eq!(sets[0].ones(3).count_ones(), 1);
    }
}
