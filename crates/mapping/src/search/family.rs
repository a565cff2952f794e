//! Pairs whose load tables come from one.
//!
//! The table over some address bits, summed over one of them, is the table
//! over the others. So the addresses are counted over the widest sets of bits
//! only; each other set that pairs need is projected from a wider one.

use super::plan::Pair;
use super::quotient::{Batch, Lanes, Vector, merge};
use crate::geometry::Geometry;

/// A load table over address bits, in ascending order.
#[derive(Debug)]
struct Table {
    /// The address bits, as a mask.
    bits: u32,
    /// The table that it is projected from, and the coordinate that is summed
    /// over there; none for the first.
    from: Option<(usize, u32)>,
}

/// Pairs whose address bits are among those of one of them.
#[derive(Debug)]
pub(super) struct PairFamily {
    /// Tables in topological order: each follows the table that it is derived from.
    tables: Vec<Table>,
    /// The pairs of this family, by their indices in the list of all pairs, and their tables.
    pub(super) members: Vec<(usize, usize)>,
}

impl PairFamily {
    /// The families of `pairs`.
    pub(super) fn all(pairs: &[Pair], geometry: Geometry) -> Vec<Self> {
        let bits: Vec<u32> = pairs.iter().map(|p| p.address_bits(geometry)).collect();
        let mut families: Vec<PairFamily> = Vec::new();
        let mut widest_first: Vec<usize> = (0..pairs.len()).collect();
        widest_first.sort_by_key(|&i| std::cmp::Reverse(bits[i].count_ones()));
        for i in widest_first {
            let within = |family: &PairFamily| bits[i] & !family.tables[0].bits == 0;
            let place = families.iter().position(within).unwrap_or_else(|| {
                families.push(PairFamily::over(bits[i]));
                families.len() - 1
            });
            let table = families[place].table(bits[i]);
            families[place].members.push((i, table));
        }
        families
    }

    fn over(bits: u32) -> Self {
        let table = Table { bits, from: None };
        PairFamily {
            tables: vec![table],
            members: Vec::new(),
        }
    }

    /// The table over `bits`, some of those of the first one.
    fn table(&mut self, bits: u32) -> usize {
        let there = |bits| self.tables.iter().position(|t| t.bits == bits);
        if let Some(table) = there(bits) {
            return table;
        }
        let missing = self.tables[0].bits & !bits;
        let more = (0..u32::BITS).filter(|bit| missing >> bit & 1 == 1);
        let known = more.clone().find(|bit| there(bits | 1 << bit).is_some());
        let bit = known.unwrap_or(missing.trailing_zeros());
        let from = self.table(bits | 1 << bit);
        let coordinate = (bits & ((1 << bit) - 1)).count_ones();
        let from = Some((from, coordinate));
        self.tables.push(Table { bits, from });
        self.tables.len() - 1
    }

    /// Room for the tables.
    pub(super) fn room<const L: usize>(&self) -> Vec<Vec<Lanes<L>>> {
        let zero = |t: &Table| vec![Lanes::ZERO; 1 << t.bits.count_ones()];
        self.tables.iter().map(zero).collect()
    }

    /// Fills the tables with the loads of `batch`.
    pub(super) fn fill<const L: usize>(&self, batch: &Batch<L>, room: &mut [Vec<Lanes<L>>]) {
        let bits = self.tables[0].bits;
        let (low, high) = (
            gathered(bits & 0xff, 0),
            gathered(bits >> 8, (bits & 0xff).count_ones()),
        );
        batch.fill(&mut room[0], |addr| {
            usize::from(low[usize::from(addr & 0xff)] | high[usize::from(addr >> 8)])
        });
        for (i, table) in self.tables.iter().enumerate() {
            let Some((from, top)) = table.from else {
                continue;
            };
            let (done, open) = room.split_at_mut(i);
            merge(&done[from], Vector { top, flips: 0 }, &mut open[0]);
        }
    }
}

/// The bits of each byte in `mask` moved together, from bit `first` upward.
fn gathered(mask: u32, first: u32) -> [u16; 256] {
    let bits = (0..8).filter(|bit| mask >> bit & 1 == 1).enumerate();
    std::array::from_fn(|byte| {
        let moved = bits
            .clone()
            .map(|(i, bit)| (byte >> bit & 1) << (first as usize + i));
        moved.fold(0, |x, bit| x | bit as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::bitvec::{all_pairs, pruned_pairs};
    use crate::search::testing::random_profile;
    use crate::search::{Passes, plan::Pair};

    /// The bits `bits` of `addr`, one by one.
    fn point(addr: u16, bits: u32) -> usize {
        let bits = (0..16).filter(|bit| bits >> bit & 1 == 1).enumerate();
        bits.fold(0, |x, (i, bit)| x | usize::from(addr >> bit & 1) << i)
    }

    fn check(pairs: &[Pair], geometry: Geometry) -> usize {
        let profile = random_profile(1, geometry.addr_bits(), 5, 32);
        let passes = Passes::new(&profile, geometry);
        let batch = &Batch::<16>::all(passes.as_slice())[0];
        let families = PairFamily::all(pairs, geometry);
        let mut seen: Vec<usize> = Vec::new();
        for family in &families {
            let mut tables = family.room();
            family.fill(batch, &mut tables);
            for &(pair, table) in &family.members {
                let bits = pairs[pair].address_bits(geometry);
                let mut expected = vec![Lanes::ZERO; 1 << bits.count_ones()];
                batch.fill(&mut expected, |addr| point(addr, bits));
                assert_eq!(tables[table], expected, "{:?}", pairs[pair]);
                seen.push(pair);
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..pairs.len()).collect::<Vec<_>>());
        families.len()
    }

    #[test]
    fn every_pair_has_the_loads_of_its_address_bits() {
        let g = Geometry::new(14, 5).unwrap();
        // Five windows of ten bits, ten pairs of windows with a gap.
        assert_eq!(check(&all_pairs(g), g), 15);
        check(&pruned_pairs(g, &[4, 6, 1024], 32), g);
        let g = Geometry::new(9, 6).unwrap();
        check(&all_pairs(g), g);
    }
}
