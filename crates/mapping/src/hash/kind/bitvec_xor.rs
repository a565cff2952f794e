//! `bitvec-xor:k1=0,k2=5,mask=7`: two windows of m address bits, the second one
//! masked.

use super::{Below, Kind, Parser, Ports, Ranges, Search, Visit};
use crate::geometry::Geometry;
use crate::hash::PortValue;
use spadkit_base::error::Result;
use std::fmt;

/// `addr[k1..k1+m) ^ (addr[k2..k2+m) & mask)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BitvecXor {
    /// First address bit of the first vector.
    pub k1: u32,
    /// First address bit of the masked vector.
    pub k2: u32,
    /// m-bit mask of the second vector.
    pub mask: u32,
}

/// Every configuration of the geometry.
fn all(g: Geometry) -> impl Iterator<Item = BitvecXor> {
    let pairs = (0..=g.row_bits()).flat_map(move |k1| (0..g.addr_bits()).map(move |k2| (k1, k2)));
    pairs.flat_map(move |(k1, k2)| (0..=g.bank_mask()).map(move |mask| BitvecXor { k1, k2, mask }))
}

impl fmt::Display for BitvecXor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BitvecXor { k1, k2, mask } = self;
        write!(f, "k1={k1},k2={k2},mask={mask}")
    }
}

impl Kind for BitvecXor {
    fn example() -> &'static str {
        "k1=0,k2=5,mask=7"
    }

    fn search() -> Search {
        Search::Windows
    }

    fn parse(parser: Parser, args: &str) -> Result<Self> {
        let [k1, k2, mask] = parser.named(args, ["k1", "k2", "mask"])?;
        Ok(BitvecXor { k1, k2, mask })
    }

    fn check(&self, ranges: &Ranges) -> Result<()> {
        let g = ranges.geometry();
        ranges.at_most("k1", self.k1, g.row_bits())?;
        ranges.at_most("k2", self.k2, g.addr_bits() - 1)?;
        ranges.at_most("mask", self.mask, g.bank_mask())
    }

    fn rows(&self, g: Geometry) -> Vec<u32> {
        let second = |i| match self.mask >> i & 1 {
            1 => 1u32 << (self.k2 + i),
            _ => 0,
        };
        let row = |i| ((1u32 << (self.k1 + i)) ^ second(i)) & g.addr_mask();
        (0..g.bank_bits()).map(row).collect()
    }

    fn of_rows(rows: &[u32], g: Geometry) -> Option<Self> {
        all(g).find(|spec| spec.rows(g) == rows)
    }

    fn ports(&self, g: Geometry) -> Ports {
        let (n, m) = (g.addr_bits() as usize, g.bank_bits() as usize);
        let triples = (n - m + 1).div_ceil(3);
        let (first, second) = (self.k1 as usize, self.k2 as usize);
        let mut coarse1 = PortValue::zero(2 * triples);
        coarse1.set_bit(first / 3, true);
        coarse1.set_bit(triples + first / 3, true);
        let fine1 = PortValue::from_u64(3, !(1 << (first % 3)));
        // The second copy of coarse2, for odd outputs, is one line short for odd n.
        let even_lines = n.div_ceil(2);
        let mut coarse2 = PortValue::zero(n);
        coarse2.set_bit(second / 2, true);
        if second / 2 < n / 2 {
            coarse2.set_bit(even_lines + second / 2, true);
        }
        let mut fine2 = PortValue::zero(2 * m);
        for i in (0..m).filter(|&i| self.mask >> i & 1 == 1 && second + i < n) {
            fine2.set_bit(2 * i + second % 2, true);
        }
        vec![
            ("cfg_coarse1", coarse1),
            ("cfg_fine1_n", fine1),
            ("cfg_coarse2", coarse2),
            ("cfg_fine2", fine2),
        ]
    }

    fn registers(&self, _: Geometry) -> Vec<u64> {
        [self.k1, self.k2, self.mask].map(u64::from).to_vec()
    }

    fn count(g: Geometry) -> u128 {
        u128::from(g.row_bits() + 1) * u128::from(g.addr_bits()) * g.banks() as u128
    }

    fn each(g: Geometry, visit: Visit<Self>) -> Result<()> {
        all(g).try_for_each(visit)
    }

    fn draw(g: Geometry, below: Below) -> Self {
        BitvecXor {
            k1: below(g.row_bits() + 1),
            k2: below(g.addr_bits()),
            mask: below(1 << g.bank_bits()),
        }
    }

    fn draw_register(index: usize, g: Geometry, below: Below) -> Option<u32> {
        Some(match index {
            0 => below(g.row_bits() + 1),
            1 => below(g.addr_bits()),
            _ => below(1 << g.bank_bits()),
        })
    }
}
