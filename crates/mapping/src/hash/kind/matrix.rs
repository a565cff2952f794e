//! `matrix:0x21,0x42`: the mask of address bits that are XORed, per bank bit.

use super::{Below, Family, Kind, Parser, Ports, Ranges, Search, Visit, each_set, list};
use crate::geometry::Geometry;
use crate::hash::PortValue;
use spadkit_base::error::Result;
use std::fmt;

/// Any matrix over GF(2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Matrix {
    /// The mask of address bits of each bank bit, bank bit 0 first.
    pub rows: Vec<u32>,
}

fn mask(parser: Parser, s: &str) -> Result<u32> {
    match s.strip_prefix("0x") {
        Some(hex) if hex.bytes().all(|b| b.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16)
            .map_err(|_| parser.error(format!("'{s}' is not a mask of address bits"))),
        Some(_) => Err(parser.error(format!("'{s}' is not a hexadecimal number"))),
        None => parser.decimal(s),
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, &self.rows, |row| format!("{row:#x}"))
    }
}

impl Kind for Matrix {
    fn example() -> &'static str {
        "0x21,0x42,..."
    }

    fn search() -> Search {
        Search::Rows(Family::Matrix)
    }

    fn parse(parser: Parser, args: &str) -> Result<Self> {
        let rows = parser.list(args, |s| mask(parser, s))?;
        Ok(Matrix { rows })
    }

    fn check(&self, ranges: &Ranges) -> Result<()> {
        ranges.count(self.rows.len())?;
        let g = ranges.geometry();
        match self.rows.iter().find(|&row| row & !g.addr_mask() != 0) {
            None => Ok(()),
            Some(row) => Err(ranges.error(
                format!("row mask {row:#x} has bits beyond the address"),
                format!("a mask has {} bits", g.addr_bits()),
            )),
        }
    }

    fn rows(&self, _: Geometry) -> Vec<u32> {
        self.rows.clone()
    }

    fn of_rows(rows: &[u32], _: Geometry) -> Option<Self> {
        Some(Matrix {
            rows: rows.to_vec(),
        })
    }

    fn ports(&self, g: Geometry) -> Ports {
        let n = g.addr_bits() as usize;
        let mut port = PortValue::zero(self.rows.len() * n);
        for (i, &row) in self.rows.iter().enumerate() {
            port.set_field(i * n, n, row.into());
        }
        vec![("cfg_rows", port)]
    }

    fn registers(&self, _: Geometry) -> Vec<u64> {
        self.rows.iter().map(|&row| row.into()).collect()
    }

    /// N(n, m) of the paper's Eq. 9: row spaces of dimension m.
    fn count(g: Geometry) -> u128 {
        let ones = |bits: u32| (1u128 << bits) - 1;
        // Each partial product is itself such a number, so the division is exact.
        (0..g.bank_bits()).fold(1, |product, i| {
            product * ones(g.addr_bits() - i) / ones(i + 1)
        })
    }

    /// All sets of m rows: more than there are row spaces.
    fn each(g: Geometry, visit: Visit<Self>) -> Result<()> {
        let rows: Vec<u32> = (1..=g.addr_mask()).collect();
        each_set(&rows, g.bank_bits(), &mut |rows| visit(Matrix { rows }))
    }

    /// Half of them without low address bits, so that the row takes these.
    fn draw(g: Geometry, below: Below) -> Self {
        let without = below(2) * below(g.row_bits() + 1);
        let row = |_| below(1 << g.addr_bits()) >> without << without;
        Matrix {
            rows: (0..g.bank_bits()).map(row).collect(),
        }
    }

    fn draw_register(_: usize, _: Geometry, _: Below) -> Option<u32> {
        None
    }
}
