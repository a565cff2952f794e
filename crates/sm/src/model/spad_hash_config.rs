//! `spad_hash_config_*`: the configuration registers of a hash unit.

use super::hash_config::{ConfigRegister, bits_for, side_by_side};
use super::hash_units::unit_of;
use crate::config::Config;
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::kind::Ports;
use spadkit_mapping::hash::{Configured, PortValue};

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConfigInputs {
    /// Synchronous reset.
    pub rst: bool,
    /// Write a register.
    pub wr_en: bool,
    /// Index of the register to write.
    pub wr_index: usize,
    /// The value, of which the register keeps its low bits.
    pub wr_data: u64,
}

/// The registers. Writes show on the outputs in the next cycle.
#[derive(Clone, Debug)]
pub struct HashConfig {
    geometry: Geometry,
    unit: Configured,
    shape: Vec<ConfigRegister>,
    /// The registers after a reset.
    after_reset: Vec<u64>,
    registers: Vec<u64>,
}

/// The registers of `unit` by write index.
fn shape(unit: Configured, geometry: Geometry) -> Vec<ConfigRegister> {
    let (m, rows) = (geometry.bank_bits(), geometry.row_bits());
    match unit {
        Configured::Hash(kind) => (unit_of(kind).registers)(geometry),
        Configured::Rap => ConfigRegister::each(1 << m.min(rows), m, |_| 0),
        Configured::RowMap => ConfigRegister::each(rows, bits_for(m + 1), |_| 0),
    }
}

impl HashConfig {
    /// The block of `unit` in `config`, after reset.
    pub fn new(unit: Configured, config: &Config) -> Self {
        let geometry = config.geometry;
        let mut shape = shape(unit, geometry);
        let of_machine = config.reset_registers().into_iter();
        for (_, values) in of_machine.filter(|(of, _)| *of == unit) {
            for (register, value) in shape.iter_mut().zip(values) {
                register.reset = value;
            }
        }
        let after_reset: Vec<u64> = shape.iter().map(|register| register.reset).collect();
        HashConfig {
            geometry,
            unit,
            shape,
            registers: after_reset.clone(),
            after_reset,
        }
    }

    /// The registers by write index.
    pub fn registers(&self) -> &[u64] {
        &self.registers
    }

    /// The names, widths and reset values of the registers.
    pub fn shape(&self) -> &[ConfigRegister] {
        &self.shape
    }

    /// Name and value of each `cfg_*` output. A register value without meaning
    /// (an address bit from n upward, an offset beyond the last) selects nothing.
    pub fn outputs(&self) -> Ports {
        match self.unit {
            Configured::Hash(kind) => (unit_of(kind).outputs)(&self.registers, self.geometry),
            Configured::Rap => {
                let bits = self.geometry.bank_bits();
                vec![("cfg_shift", side_by_side(&self.registers, bits))]
            }
            Configured::RowMap => self.row_map(),
        }
    }

    fn row_map(&self) -> Ports {
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
            self.registers.clone_from(&self.after_reset);
        } else if inputs.wr_en && inputs.wr_index < self.registers.len() {
            let mask = (1 << self.shape[inputs.wr_index].bits) - 1;
            self.registers[inputs.wr_index] = inputs.wr_data & mask;
        }
    }
}
