//! A mapping made concrete: the bijection address -> (bank, row).
//!
//! The papers give only the bank. For a linear bank function of rank m the row
//! index is taken from n-m address bits whose complement, the *pivots*, makes
//! the bank function invertible.

use super::gf2::Gf2Matrix;
use super::kind::Ranges;
use super::spec::HashSpec;
use crate::geometry::Geometry;
use spadkit_base::error::{Error, Result};

/// The bank of an address, for one geometry. Need not be onto: see [`Mapping`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BankFunction {
    /// A matrix over GF(2).
    Linear(Gf2Matrix),
    /// `(addr[0..m) + addr[m..2m)) mod 2^m`.
    Add,
    /// `(addr + r[(addr >> m) mod 2^m]) mod 2^m`: RAP and RAS.
    Shift(Vec<u32>),
}

impl BankFunction {
    /// Checks the ranges of `spec` for `geometry`; the rank is not checked.
    pub fn new(spec: &HashSpec, geometry: Geometry) -> Result<Self> {
        let m = geometry.bank_bits();
        let rows = match spec {
            HashSpec::Mod => (0..m).map(|i| 1 << i).collect(),
            HashSpec::Xor => (0..m).map(|i| (1 << i) | (1 << (m + i))).collect(),
            HashSpec::Add => return Ok(BankFunction::Add),
            HashSpec::Unit(unit) => {
                unit.get().check(&Ranges { spec, geometry })?;
                unit.get().rows(geometry)
            }
            HashSpec::Rap(table) => {
                return Ok(BankFunction::Shift(table.values(geometry.banks(), true)?));
            }
            HashSpec::Ras(table) => {
                return Ok(BankFunction::Shift(table.values(geometry.banks(), false)?));
            }
        };
        // Address bits from n upward read as zero.
        let rows = rows.into_iter().map(|r: u32| r & geometry.addr_mask());
        Ok(BankFunction::Linear(Gf2Matrix::from_rows(rows.collect())))
    }

    /// The bank of word address `addr`.
    #[inline]
    pub fn bank(&self, addr: u32, geometry: Geometry) -> u32 {
        let (m, mask) = (geometry.bank_bits(), geometry.bank_mask());
        match self {
            BankFunction::Linear(matrix) => matrix.apply(addr),
            BankFunction::Add => {
                let addr = addr & geometry.addr_mask();
                (addr + (addr >> m)) & mask
            }
            BankFunction::Shift(r) => {
                let addr = addr & geometry.addr_mask();
                (addr + r[(addr >> m & mask) as usize]) & mask
            }
        }
    }
}

/// The address bits that make up the row index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowMap {
    pivots: u32,
    /// Address bit of row bit j.
    sources: Vec<u32>,
}

impl RowMap {
    /// The row map for a set of m pivots (a mask of address bits). Row bit j is
    /// address bit m+j unless that bit is a pivot. The displaced row bits take
    /// the low bits that are not pivots, both in ascending order.
    pub fn new(pivots: u32, geometry: Geometry) -> Self {
        let m = geometry.bank_bits();
        debug_assert_eq!(pivots.count_ones(), m);
        let mut free_low = (0..m).filter(|i| pivots >> i & 1 == 0);
        let sources = (m..geometry.addr_bits())
            .map(|bit| match pivots >> bit & 1 {
                0 => bit,
                _ => free_low
                    .next()
                    .expect("as many pivots above m as free low bits"),
            })
            .collect();
        RowMap { pivots, sources }
    }

    /// The pivots, as a mask of address bits.
    pub fn pivots(&self) -> u32 {
        self.pivots
    }

    /// The address bit of each row bit, row bit 0 first.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// The row of word address `addr`.
    #[inline]
    pub fn row(&self, addr: u32) -> u32 {
        self.sources
            .iter()
            .enumerate()
            .fold(0, |row, (j, &bit)| row | ((addr >> bit & 1) << j))
    }
}

/// A bijection address -> (bank, row) for one geometry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    geometry: Geometry,
    bank: BankFunction,
    row: RowMap,
}

impl Mapping {
    /// The mapping of `spec`, or the reason why it is none: a parameter out of
    /// range, or a bank function of rank below m.
    pub fn new(spec: &HashSpec, geometry: Geometry) -> Result<Self> {
        let bank = BankFunction::new(spec, geometry)?;
        let pivots = match &bank {
            BankFunction::Linear(matrix) => {
                let pivots = matrix.lowest_pivots();
                if pivots.count_ones() < geometry.bank_bits() {
                    return Err(rank_error(spec, matrix, geometry));
                }
                pivots
            }
            // Every row holds each bank once, so the upper bits are the row.
            BankFunction::Add | BankFunction::Shift(_) => geometry.bank_mask(),
        };
        Ok(Mapping {
            geometry,
            bank,
            row: RowMap::new(pivots, geometry),
        })
    }

    /// The geometry.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The bank function.
    pub fn bank_function(&self) -> &BankFunction {
        &self.bank
    }

    /// The row map.
    pub fn row_map(&self) -> &RowMap {
        &self.row
    }

    /// The bank of word address `addr`.
    #[inline]
    pub fn bank(&self, addr: u32) -> u32 {
        self.bank.bank(addr, self.geometry)
    }

    /// The row of word address `addr` inside its bank.
    #[inline]
    pub fn row(&self, addr: u32) -> u32 {
        self.row.row(addr)
    }

    /// The pivots at or above `pivot_limit` as address bits, which a
    /// scratchpad of that capacity cannot have
    /// (`Config::pivot_limit` of the kit).
    pub fn pivots_beyond(&self, pivot_limit: u32) -> Vec<u32> {
        (pivot_limit..self.geometry.addr_bits())
            .filter(|bit| self.row.pivots >> bit & 1 == 1)
            .collect()
    }

    /// Whether every row index stays within the capacity.
    pub fn fits(&self, pivot_limit: u32) -> bool {
        self.pivots_beyond(pivot_limit).is_empty()
    }
}

fn rank_error(spec: &HashSpec, matrix: &Gf2Matrix, geometry: Geometry) -> Error {
    let dependent = matrix.dependent_rows().unwrap_or_default();
    let reason = match &dependent[..] {
        [one] => format!("bank bit {one} is always zero"),
        [a, b] => format!("bank bits {a} and {b} are always equal"),
        many => {
            let names: Vec<_> = many.iter().map(usize::to_string).collect();
            format!("the XOR of bank bits {} is always zero", names.join(", "))
        }
    };
    Error::usage(
        format!(
            "hash spec '{spec}' has rank {} for {} banks: {reason}",
            matrix.rank(),
            geometry.banks()
        ),
        format!(
            "a mapping must reach every bank: its rank must be {}",
            geometry.bank_bits()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fermi() -> Geometry {
        Geometry::new(14, 5).unwrap()
    }

    fn mapping(spec: &str, geometry: Geometry) -> Result<Mapping> {
        Mapping::new(&spec.parse().unwrap(), geometry)
    }

    /// The hash paper's Fig. 5: b0 = a2^a8, b1 = a3^a9, b2 = a4^a10, b3 = a5, b4 = a6.
    #[test]
    fn figure_5() {
        let g = fermi();
        let vector = mapping("bitvec-xor:k1=2,k2=8,mask=7", g).unwrap();
        let bitwise = mapping("bitwise-xor:2^8,3^9,4^10,5,6", g).unwrap();
        assert_eq!(vector.bank_function(), bitwise.bank_function());
        assert_eq!(vector.bank(0b100_0000_0100), 0b00101);
        // a0 and a1 are free: row bits 0 and 1 (address bits 5, 6 are pivots) take them.
        assert_eq!(vector.row_map().sources(), [0, 1, 7, 8, 9, 10, 11, 12, 13]);
    }

    #[test]
    fn every_mapping_is_a_bijection() {
        let specs = [
            "mod",
            "xor",
            "add",
            "bitvec-perm:k=4",
            "bitvec-xor:k1=3,k2=1,mask=5",
            "bitwise-perm:8,0,6",
            "bitwise-xor:0^8,1^8,2^8",
            "matrix:0x1ff,0x0f0,0x101",
            "rap:seed=3",
            "ras:seed=3",
        ];
        for g in [Geometry::new(9, 3).unwrap(), Geometry::new(12, 3).unwrap()] {
            for spec in specs {
                let map = mapping(spec, g).unwrap();
                let mut seen = vec![false; g.words()];
                for addr in 0..g.words() as u32 {
                    let place = (map.row(addr) << 3 | map.bank(addr)) as usize;
                    assert!(!std::mem::replace(&mut seen[place], true), "{spec} {g}");
                }
            }
        }
    }

    #[test]
    fn illegal_configurations_are_refused_with_the_reason() {
        for (spec, reason) in [
            ("bitvec-perm:k=10", "k=10 is out of range"),
            ("bitvec-xor:k1=0,k2=14,mask=0", "k2=14 is out of range"),
            ("bitvec-xor:k1=0,k2=0,mask=32", "mask=32 is out of range"),
            ("bitvec-xor:k1=0,k2=0,mask=4", "bank bit 2 is always zero"),
            ("bitwise-perm:0,1,2,3", "4 bank bits are given"),
            ("bitwise-perm:0,1,2,3,14", "address bit 14 is out of range"),
            (
                "bitwise-perm:0,1,2,3,1",
                "bank bits 1 and 4 are always equal",
            ),
            (
                "bitwise-xor:0^1,1^2,0^2,3,4",
                "the XOR of bank bits 0, 1, 2 is always zero",
            ),
            ("matrix:1,2,4,8,0x4000", "bits beyond the address"),
            ("rap:0,1,2,3", "4 shifts given for 32 banks"),
        ] {
            let error = mapping(spec, fermi()).unwrap_err().to_string();
            assert!(error.contains(reason), "{spec}: {error}");
        }
    }

    #[test]
    fn pivots_beyond_the_capacity_do_not_fit() {
        let fits = mapping("bitwise-xor:0,1,2,3^12,4", fermi()).unwrap();
        assert!(fits.fits(12));
        let not = mapping("bitwise-perm:0,1,2,3,12", fermi()).unwrap();
        assert_eq!(not.pivots_beyond(12), [12]);
    }

    #[test]
    fn addr_bits_from_n_upward_read_as_zero() {
        let g = Geometry::new(9, 6).unwrap();
        let xor = mapping("xor", g).unwrap();
        assert_eq!(xor.bank(0b1_0000_0000), 0b100);
        assert_eq!(mapping("add", g).unwrap().bank(0b1_1100_0000), 0b111);
    }
}
