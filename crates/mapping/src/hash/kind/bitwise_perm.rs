//! `bitwise-perm:0,4,5`: one address bit per bank bit.

use super::{Below, Family, Kind, Parser, Ports, Ranges, Search, Visit, each_set, list, sets};
use crate::geometry::Geometry;
use crate::hash::PortValue;
use spadkit_base::error::Result;
use std::fmt;

/// One address bit per bank bit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BitwisePerm {
    /// The address bits, bank bit 0 first.
    pub bits: Vec<u32>,
}

impl fmt::Display for BitwisePerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, &self.bits, u32::to_string)
    }
}

impl Kind for BitwisePerm {
    fn example() -> &'static str {
        "0,4,5,6,7"
    }

    fn search() -> Search {
        Search::Rows(Family::Permutation)
    }

    fn parse(parser: Parser, args: &str) -> Result<Self> {
        let bits = parser.list(args, |s| parser.decimal(s))?;
        Ok(BitwisePerm { bits })
    }

    fn check(&self, ranges: &Ranges) -> Result<()> {
        ranges.count(self.bits.len())?;
        ranges.bits(self.bits.iter().copied())
    }

    fn rows(&self, _: Geometry) -> Vec<u32> {
        self.bits.iter().map(|&bit| 1 << bit).collect()
    }

    fn of_rows(rows: &[u32], _: Geometry) -> Option<Self> {
        let one = |row: &u32| (row.count_ones() == 1).then(|| row.trailing_zeros());
        let bits = rows.iter().map(one).collect::<Option<_>>()?;
        Some(BitwisePerm { bits })
    }

    fn ports(&self, g: Geometry) -> Ports {
        let n = g.addr_bits() as usize;
        let mut sel = PortValue::zero(self.bits.len() * n);
        for (i, &bit) in self.bits.iter().enumerate() {
            sel.set_bit(i * n + bit as usize, true);
        }
        vec![("cfg_sel", sel)]
    }

    fn registers(&self, _: Geometry) -> Vec<u64> {
        self.bits.iter().map(|&bit| bit.into()).collect()
    }

    fn count(g: Geometry) -> u128 {
        sets(g.addr_bits(), g.bank_bits())
    }

    fn each(g: Geometry, visit: Visit<Self>) -> Result<()> {
        let bits: Vec<u32> = (0..g.addr_bits()).collect();
        each_set(&bits, g.bank_bits(), &mut |bits| {
            visit(BitwisePerm { bits })
        })
    }

    fn draw(g: Geometry, below: Below) -> Self {
        let bits = (0..g.bank_bits()).map(|_| below(g.addr_bits()));
        BitwisePerm {
            bits: bits.collect(),
        }
    }

    fn draw_register(_: usize, g: Geometry, below: Below) -> Option<u32> {
        Some(below(g.addr_bits()))
    }
}
