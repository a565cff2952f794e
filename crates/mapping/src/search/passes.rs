//! A trace as linear bank functions see it.
//!
//! A linear bank function sends a translated set `S ^ t` to translated banks,
//! so both have the same conflicts. Passes that are translations of each other
//! are therefore merged: far more than equal ones (each iteration of a loop
//! over rows of a power-of-two pitch, for example).

use crate::geometry::Geometry;
use crate::trace::{ConflictProfile, WeightedPass, merged};

/// The address set of a pass up to XOR translation; it contains 0. An address
/// occurs as often as it is served. It occurs several times in an atomic whose
/// lanes all count, and if words of the trace differ only in bits beyond the
/// geometry.
pub type Pass = WeightedPass<u16>;

/// The passes of a trace up to XOR translation, most frequent first. Passes
/// of one word are left out, having no conflicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passes {
    passes: Vec<Pass>,
}

impl Passes {
    /// Merges the passes of `profile`.
    pub fn new(profile: &ConflictProfile, geometry: Geometry) -> Self {
        let several = profile.passes.iter().filter(|p| p.addrs.len() > 1);
        let translated = several.map(|pass| {
            // At most 16 address bits: Geometry::ADDR_BITS.
            let words = pass.addrs.iter().map(|a| (a & geometry.addr_mask()) as u16);
            let addrs = canonical(words.collect());
            Pass {
                addrs,
                weight: pass.weight,
            }
        });
        let mut passes = merged(translated);
        // Heavy passes first: a bad configuration shows early.
        passes.sort_by_key(|p| std::cmp::Reverse(p.weight));
        Passes { passes }
    }

    /// The passes.
    pub fn as_slice(&self) -> &[Pass] {
        &self.passes
    }

    /// Iterates over the passes.
    pub fn iter(&self) -> std::slice::Iter<'_, Pass> {
        self.passes.iter()
    }

    /// Number of different passes.
    pub fn len(&self) -> usize {
        self.passes.len()
    }

    /// Whether no pass has two words.
    pub fn is_empty(&self) -> bool {
        self.passes.is_empty()
    }

    /// The address bits in which two addresses of some pass differ; the others
    /// cannot influence conflicts.
    pub fn active_bits(&self) -> u32 {
        // Each pass contains 0.
        let all = self.passes.iter().flat_map(|p| &p.addrs);
        u32::from(all.fold(0, |bits, addr| bits | addr))
    }

    /// Conflicts that no function to 2^m banks avoids that keeps vectors of
    /// 2^`vector_bits` words whole.
    pub fn lower_bound(&self, m: u32, vector_bits: u32) -> u64 {
        let passes = self.passes.iter();
        passes.map(|p| p.lower_bound(m, vector_bits)).sum()
    }

    /// Conflicts of the linear bank function with rows `rows`; counting ends
    /// early, with some value above `limit`, once there are more.
    pub fn conflicts(&self, rows: &[u32], limit: u64) -> u64 {
        let low = bank_table(rows);
        let high = bank_table(&rows.iter().map(|row| row >> 8).collect::<Vec<_>>());
        let mut conflicts = 0;
        for pass in &self.passes {
            let mut load = [0u8; 64];
            let mut degree = 0;
            for &addr in &pass.addrs {
                let bank = low[usize::from(addr & 0xff)] ^ high[usize::from(addr >> 8)];
                let load = &mut load[usize::from(bank)];
                *load += 1;
                degree = degree.max(*load);
            }
            conflicts += pass.weight * u64::from(degree - 1);
            if conflicts > limit {
                break;
            }
        }
        conflicts
    }
}

/// The bank of each value of the low eight address bits.
fn bank_table(rows: &[u32]) -> [u8; 256] {
    let of_bit = |bit: u32| {
        let rows = rows.iter().enumerate();
        rows.fold(0, |bank, (i, row)| bank | ((row >> bit & 1) as u8) << i)
    };
    let mut table = [0; 256];
    for x in 1..256usize {
        table[x] = table[x & (x - 1)] ^ of_bit(x.trailing_zeros());
    }
    table
}

/// The translation of `addrs` that represents all of them, sorted.
///
/// Each member is weighed by a hash of its differences to the others, which no
/// translation changes; the lightest becomes 0. Members of equal weight are
/// interchangeable (but for hash collisions, which only cost a merge).
fn canonical(mut addrs: Vec<u16>) -> Vec<u16> {
    let weight = |&base: &u16| {
        let differences = addrs.iter().map(|a| scramble(a ^ base));
        differences.fold(0, u16::wrapping_add)
    };
    let base = addrs.iter().copied().min_by_key(weight).unwrap_or(0);
    for addr in &mut addrs {
        *addr ^= base;
    }
    addrs.sort_unstable();
    addrs
}

/// A hash in 16-bit operations, of which the machine does eight at once.
#[inline]
fn scramble(x: u16) -> u16 {
    let x = x.wrapping_mul(0x9e37);
    (x ^ (x >> 7)).wrapping_mul(0x85eb)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(sets: &[&[u32]]) -> ConflictProfile {
        let lanes: Vec<Vec<Option<u32>>> = sets
            .iter()
            .map(|s| s.iter().copied().map(Some).collect())
            .collect();
        ConflictProfile::of_accesses(lanes.iter().map(Vec::as_slice), 32)
    }

    #[test]
    fn translations_are_merged_and_single_words_dropped() {
        let g = Geometry::new(9, 3).unwrap();
        let sets: [&[u32]; 5] = [
            &[0, 8, 17],
            &[5, 13, 20],
            &[7],
            &[0, 8, 16, 24],
            &[17, 8, 0],
        ];
        let passes = Passes::new(&profile(&sets), g);
        assert_eq!(passes.len(), 2);
        assert_eq!(passes.iter().map(|p| p.weight).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(passes.active_bits(), 0b11001);
        // Low three bits: {0,8} collide in the first, all four in the second.
        assert_eq!(passes.conflicts(&[1, 2, 4], u64::MAX), 3 + 3);
    }

    #[test]
    fn words_that_differ_only_beyond_the_geometry_always_collide() {
        let g = Geometry::new(9, 3).unwrap();
        let passes = Passes::new(&profile(&[&[1, 513, 1025, 2]]), g);
        assert_eq!(passes.conflicts(&[1, 2, 4], u64::MAX), 2);
        assert_eq!(passes.lower_bound(3, 0), 2);
    }
}
