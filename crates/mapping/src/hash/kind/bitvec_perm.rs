//! `bitvec-perm:k=3`: m consecutive address bits from bit k.

use super::{Below, Kind, Parser, Ports, Ranges, Search, Visit};
use crate::geometry::Geometry;
use crate::hash::PortValue;
use spadkit_base::error::Result;
use std::fmt;

/// `addr[k..k+m)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BitvecPerm {
    /// First address bit.
    pub k: u32,
}

impl fmt::Display for BitvecPerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k={}", self.k)
    }
}

impl Kind for BitvecPerm {
    fn example() -> &'static str {
        "k=3"
    }

    fn search() -> Search {
        Search::Each
    }

    fn parse(parser: Parser, args: &str) -> Result<Self> {
        let [k] = parser.named(args, ["k"])?;
        Ok(BitvecPerm { k })
    }

    fn check(&self, ranges: &Ranges) -> Result<()> {
        ranges.at_most("k", self.k, ranges.geometry().row_bits())
    }

    fn rows(&self, g: Geometry) -> Vec<u32> {
        (0..g.bank_bits()).map(|i| 1 << (self.k + i)).collect()
    }

    fn of_rows(rows: &[u32], g: Geometry) -> Option<Self> {
        let mut all = (0..=g.row_bits()).map(|k| BitvecPerm { k });
        all.find(|spec| spec.rows(g) == rows)
    }

    fn ports(&self, g: Geometry) -> Ports {
        let (k, offsets) = (self.k as usize, g.row_bits() as usize + 1);
        // Pairs of offsets, an even number of pairs, go through the coarse step.
        let pairs = (offsets + 1) / 4 * 2;
        let direct = offsets.saturating_sub(2 * pairs);
        let mut coarse = PortValue::zero(2 * pairs);
        let mut fine = PortValue::zero(2 + direct);
        if k < 2 * pairs {
            coarse.set_bit(k / 2, true);
            coarse.set_bit(pairs + k / 2, true);
            fine.set_bit(k % 2, true);
        } else {
            fine.set_bit(2 + k - 2 * pairs, true);
        }
        vec![("cfg_coarse", coarse), ("cfg_fine", fine)]
    }

    fn registers(&self, _: Geometry) -> Vec<u64> {
        vec![self.k.into()]
    }

    fn count(g: Geometry) -> u128 {
        u128::from(g.row_bits() + 1)
    }

    fn each(g: Geometry, visit: Visit<Self>) -> Result<()> {
        (0..=g.row_bits()).try_for_each(|k| visit(BitvecPerm { k }))
    }

    fn draw(g: Geometry, below: Below) -> Self {
        BitvecPerm {
            k: below(g.row_bits() + 1),
        }
    }

    fn draw_register(_: usize, g: Geometry, below: Below) -> Option<u32> {
        Some(below(g.row_bits() + 1))
    }
}
