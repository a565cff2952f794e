//! `spad_hash_config_*`: the configuration registers of a hash unit.

use crate::geometry::Geometry;
use crate::hash::{Configured, HashKind, HashSpec, PortValue, encode_ports, xor_lines};

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
    unit: Configured,
    registers: Vec<u64>,
}

impl HashConfig {
    /// The block after reset: bank = addr mod 2^m.
    pub fn new(unit: Configured, geometry: Geometry) -> Self {
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
            Configured::Hash(HashKind::BitvecPerm) => count_to(n - m + 1),
            Configured::Hash(HashKind::BitvecXor) => [count_to(n - m + 1), count_to(n), m][index],
            Configured::Hash(HashKind::BitwisePerm) => count_to(n),
            Configured::Hash(HashKind::BitwiseXor) => 2 * count_to(n),
            Configured::Hash(HashKind::Matrix) => n,
            Configured::Rap => m,
            Configured::RowMap => count_to(m + 1),
        }
    }

    fn reset(&mut self) {
        let (m, rows) = (self.geometry.bank_bits(), self.geometry.row_bits());
        self.registers = match self.unit {
            Configured::Hash(HashKind::BitvecPerm) => vec![0],
            Configured::Hash(HashKind::BitvecXor) => vec![0; 3],
            Configured::Hash(HashKind::BitwisePerm | HashKind::BitwiseXor) => {
                (0..u64::from(m)).collect()
            }
            Configured::Hash(HashKind::Matrix) => (0..m).map(|i| 1 << i).collect(),
            Configured::Rap => vec![0; 1 << m.min(rows)],
            Configured::RowMap => vec![0; rows as usize],
        };
    }

    /// Name and value of each `cfg_*` output. A register value without meaning
    /// (an address bit from n upward, an offset beyond the last) selects nothing.
    pub fn outputs(&self) -> Vec<(&'static str, PortValue)> {
        match self.unit {
            Configured::Hash(HashKind::BitvecPerm) => self.bitvec_perm(),
            Configured::Hash(HashKind::BitvecXor) => self.bitvec_xor(),
            Configured::Hash(HashKind::BitwisePerm) => self.bitwise_perm(),
            Configured::Hash(HashKind::BitwiseXor) => self.bitwise_xor(),
            Configured::Hash(HashKind::Matrix) => self.plain("cfg_rows"),
            Configured::Rap => self.plain("cfg_shift"),
            Configured::RowMap => self.row_map(),
        }
    }

    fn legal(&self, spec: &HashSpec) -> Vec<(&'static str, PortValue)> {
        let encoding = encode_ports(spec, self.geometry);
        encoding.expect("the parameters are in range").ports
    }

    fn bitvec_perm(&self) -> Vec<(&'static str, PortValue)> {
        let k = self.registers[0] as u32;
        let last = self.geometry.row_bits();
        let mut ports = self.legal(&HashSpec::BitvecPerm { k: k.min(last) });
        if k > last {
            ports
                .iter_mut()
                .for_each(|(_, value)| *value = PortValue::zero(value.width()));
        }
        ports
    }

    fn bitvec_xor(&self) -> Vec<(&'static str, PortValue)> {
        let [k1, k2, mask] = [0, 1, 2].map(|i| self.registers[i] as u32);
        let (last1, last2) = (self.geometry.row_bits(), self.geometry.addr_bits() - 1);
        let mut ports = self.legal(&HashSpec::BitvecXor {
            k1: k1.min(last1),
            k2: k2.min(last2),
            mask,
        });
        for (name, value) in &mut ports {
            match *name {
                "cfg_coarse1" if k1 > last1 => *value = PortValue::zero(value.width()),
                // Active low: all ones select nothing.
                "cfg_fine1_n" if k1 > last1 => *value = PortValue::from_u64(3, 0b111),
                "cfg_coarse2" | "cfg_fine2" if k2 > last2 => {
                    *value = PortValue::zero(value.width());
                }
                _ => {}
            }
        }
        ports
    }

    fn bitwise_perm(&self) -> Vec<(&'static str, PortValue)> {
        let n = self.geometry.addr_bits() as usize;
        let mut sel = PortValue::zero(self.registers.len() * n);
        for (i, &bit) in self.registers.iter().enumerate() {
            if (bit as usize) < n {
                sel.set_bit(i * n + bit as usize, true);
            }
        }
        vec![("cfg_sel", sel)]
    }

    /// The first address bit takes the first group that it is in; so does the
    /// second one, unless that group is taken.
    fn bitwise_xor(&self) -> Vec<(&'static str, PortValue)> {
        let lines = xor_lines(self.geometry.addr_bits());
        let index_bits = self.register_bits(0) / 2;
        let mut sel = PortValue::zero(self.registers.len() * lines.len());
        for (i, &register) in self.registers.iter().enumerate() {
            let first = register as u32 & ((1 << index_bits) - 1);
            let second = register as u32 >> index_bits;
            let line_of = |bit: u32, taken: Option<u32>| {
                let of_bit = || (0..lines.len()).filter(|&l| lines[l].1 == bit);
                let free = of_bit().find(|&l| Some(lines[l].0) != taken);
                free.or_else(|| of_bit().next())
            };
            let first_line = line_of(first, None);
            let taken = first_line.map(|l| lines[l].0);
            let second_line = match second {
                0 => None,
                _ => line_of(second, taken),
            };
            for line in [first_line, second_line].into_iter().flatten() {
                sel.set_bit(i * lines.len() + line, true);
            }
        }
        vec![("cfg_sel", sel)]
    }

    /// The registers side by side.
    fn plain(&self, name: &'static str) -> Vec<(&'static str, PortValue)> {
        let bits = self.register_bits(0) as usize;
        let mut value = PortValue::zero(self.registers.len() * bits);
        for (i, &register) in self.registers.iter().enumerate() {
            value.set_field(i * bits, bits, register);
        }
        vec![(name, value)]
    }

    fn row_map(&self) -> Vec<(&'static str, PortValue)> {
        let m = self.geometry.bank_bits() as usize;
        let mut sel = PortValue::zero(self.registers.len() * (m + 1));
        for (j, &source) in self.registers.iter().enumerate() {
            match source as usize {
                0 => sel.set_bit(j * (m + 1) + m, true),
                i if i <= m => sel.set_bit(j * (m + 1) + i - 1, true),
                _ => {}
            }
        }
        vec![("cfg_row_sel", sel)]
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
