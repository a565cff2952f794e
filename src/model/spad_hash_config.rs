//! `spad_hash_config_*`: the configuration registers of a hash unit.

use crate::error::Result;
use crate::geometry::Geometry;
use crate::hash::{Encoding, HashKind, HashSpec, ShiftTable, encode_ports, encode_row_sources};

/// The unit that a configuration block belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfiguredUnit {
    /// A configurable hash unit.
    Hash(HashKind),
    /// `spad_rap`
    Rap,
    /// `spad_row_map`
    RowMap,
}

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConfigInputs {
    /// Synchronous reset.
    pub rst: bool,
    /// Write a register.
    pub wr_en: bool,
    /// Which one.
    pub wr_index: usize,
    /// The value, of which the register keeps its low bits.
    pub wr_data: u64,
}

/// The registers. Writes show on the outputs in the next cycle.
#[derive(Clone, Debug)]
pub struct HashConfig {
    geometry: Geometry,
    unit: ConfiguredUnit,
    registers: Vec<u64>,
}

impl HashConfig {
    /// The block after reset: bank = addr mod 2^m.
    pub fn new(unit: ConfiguredUnit, geometry: Geometry) -> Self {
        let mut block = HashConfig {
            geometry,
            unit,
            registers: Vec::new(),
        };
        block.reset();
        block
    }

    /// The registers by write index.
    pub fn registers(&self) -> &[u64] {
        &self.registers
    }

    /// Bits of register `index`.
    pub fn register_bits(&self, index: usize) -> u32 {
        let (n, m) = (self.geometry.addr_bits(), self.geometry.bank_bits());
        let count_to = |values: u32| values.next_power_of_two().trailing_zeros();
        match self.unit {
            ConfiguredUnit::Hash(HashKind::BitvecPerm) => count_to(n - m + 1),
            ConfiguredUnit::Hash(HashKind::BitvecXor) => {
                [count_to(n - m + 1), count_to(n), m][index]
            }
            ConfiguredUnit::Hash(HashKind::BitwisePerm) => count_to(n),
            ConfiguredUnit::Hash(HashKind::BitwiseXor) => 2 * count_to(n),
            ConfiguredUnit::Hash(HashKind::Matrix) => n,
            ConfiguredUnit::Rap => m,
            ConfiguredUnit::RowMap => count_to(m + 1),
        }
    }

    fn reset(&mut self) {
        let (m, rows) = (self.geometry.bank_bits(), self.geometry.row_bits());
        self.registers = match self.unit {
            ConfiguredUnit::Hash(HashKind::BitvecPerm) => vec![0],
            ConfiguredUnit::Hash(HashKind::BitvecXor) => vec![0; 3],
            ConfiguredUnit::Hash(HashKind::BitwisePerm | HashKind::BitwiseXor) => {
                (0..u64::from(m)).collect()
            }
            ConfiguredUnit::Hash(HashKind::Matrix) => (0..m).map(|i| 1 << i).collect(),
            ConfiguredUnit::Rap => vec![0; 1 << m.min(rows)],
            ConfiguredUnit::RowMap => vec![0; rows as usize],
        };
    }

    /// The values on the `cfg_*` outputs, or the reason why the registers hold
    /// no legal configuration (then the outputs are not defined).
    pub fn outputs(&self) -> Result<Encoding> {
        let r = |i: usize| self.registers[i] as u32;
        let all = || self.registers.iter().map(|&r| r as u32);
        let spec = match self.unit {
            ConfiguredUnit::Hash(HashKind::BitvecPerm) => HashSpec::BitvecPerm { k: r(0) },
            ConfiguredUnit::Hash(HashKind::BitvecXor) => HashSpec::BitvecXor {
                k1: r(0),
                k2: r(1),
                mask: r(2),
            },
            ConfiguredUnit::Hash(HashKind::BitwisePerm) => HashSpec::BitwisePerm(all().collect()),
            ConfiguredUnit::Hash(HashKind::BitwiseXor) => {
                let bits = self.register_bits(0) / 2;
                let pair = |r: u32| {
                    let second = r >> bits;
                    (r & ((1 << bits) - 1), (second != 0).then_some(second))
                };
                HashSpec::BitwiseXor(all().map(pair).collect())
            }
            ConfiguredUnit::Hash(HashKind::Matrix) => HashSpec::Matrix(all().collect()),
            ConfiguredUnit::Rap => {
                let mut shifts: Vec<u32> = all().collect();
                shifts.resize(self.geometry.banks(), 0);
                HashSpec::Ras(ShiftTable::Values(shifts))
            }
            ConfiguredUnit::RowMap => return encode_row_sources(&self.registers, self.geometry),
        };
        encode_ports(&spec, self.geometry)
    }

    /// One clock edge.
    pub fn step(&mut self, inputs: &ConfigInputs) {
        if inputs.rst {
            self.reset();
        } else if inputs.wr_en && inputs.wr_index < self.registers.len() {
            let mask = (1 << self.register_bits(inputs.wr_index)) - 1;
            self.registers[inputs.wr_index] = inputs.wr_data & mask;
        }
    }
}
