//! `spad_hash_config_*`: random legal writes, writes beyond the registers, and
//! resets at any time.

use crate::cosim::bench::{Bench, Frame, Stimulus};
use crate::cosim::layout::Layout;
use crate::geometry::Geometry;
use crate::hash::HashKind;
use crate::model::{ConfigInputs, ConfiguredUnit, HashConfig};

pub(super) struct ConfigBench {
    unit: ConfiguredUnit,
    geometry: Geometry,
    layout: Layout,
    model: HashConfig,
    /// Bits of `wr_index`; 0 where there is one register only.
    index_bits: u32,
}

impl ConfigBench {
    pub(super) fn new(unit: ConfiguredUnit, geometry: Geometry, layout: &Layout) -> Self {
        let index = layout.inputs.iter().find(|p| p.name == "wr_index");
        ConfigBench {
            unit,
            geometry,
            layout: layout.clone(),
            model: HashConfig::new(unit, geometry),
            index_bits: index.map_or(0, |p| p.width as u32),
        }
    }

    /// A value that is legal in register `index`.
    fn legal_value(&self, index: usize, stimulus: &mut Stimulus) -> u64 {
        let (n, m) = (self.geometry.addr_bits(), self.geometry.bank_bits());
        let value = match self.unit {
            ConfiguredUnit::Hash(HashKind::BitvecPerm) => stimulus.below(n - m + 1),
            ConfiguredUnit::Hash(HashKind::BitvecXor) => match index {
                0 => stimulus.below(n - m + 1),
                1 => stimulus.below(n),
                _ => stimulus.below(1 << m),
            },
            ConfiguredUnit::Hash(HashKind::BitwisePerm) => stimulus.below(n),
            ConfiguredUnit::Hash(HashKind::BitwiseXor) => {
                let first = stimulus.below(n);
                let second = stimulus.below(n);
                let bits = self.model.register_bits(0) / 2;
                first | if second > first { second << bits } else { 0 }
            }
            ConfiguredUnit::Hash(HashKind::Matrix) => stimulus.below(1 << n),
            ConfiguredUnit::Rap => stimulus.below(1 << m),
            ConfiguredUnit::RowMap => stimulus.below(m + 1),
        };
        value.into()
    }
}

impl Bench for ConfigBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        // Power-up state is not defined: nothing is checked before the reset.
        let power_up = stimulus.cycle == 0;
        let index = stimulus.below(1 << self.index_bits) as usize;
        let registers = self.model.registers().len();
        let inputs = ConfigInputs {
            rst: power_up || stimulus.one_in(64),
            wr_en: stimulus.one_in(2),
            wr_index: index,
            wr_data: self.legal_value(index.min(registers - 1), stimulus),
        };
        frame.drive(self.layout.input("rst"), inputs.rst.into());
        frame.drive(self.layout.input("wr_en"), inputs.wr_en.into());
        frame.drive(self.layout.input("wr_data"), inputs.wr_data as u32);
        if self.index_bits > 0 {
            frame.drive(self.layout.input("wr_index"), index as u32);
        }
        let encoding = self.model.outputs();
        for port in &self.layout.outputs {
            let value = encoding
                .as_ref()
                .ok()
                .and_then(|e| e.ports.iter().find(|(name, _)| *name == port.name));
            match value {
                Some((_, value)) if !power_up => frame.expect_wide(port, value),
                _ => frame.ignore(port),
            }
        }
        self.model.step(&inputs);
    }
}
