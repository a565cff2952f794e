//! `spad_hash_config_*`: random writes, writes beyond the registers, and resets at
//! any time.

use crate::cosim::bench::{Bench, Frame, Stimulus};
use crate::cosim::layout::{Layout, PortSlot};
use crate::geometry::Geometry;
use crate::hash::HashKind;
use crate::model::{ConfigInputs, ConfiguredUnit, HashConfig};

pub(super) struct ConfigBench {
    unit: ConfiguredUnit,
    geometry: Geometry,
    layout: Layout,
    model: HashConfig,
    rst: PortSlot,
    wr_en: PortSlot,
    wr_data: PortSlot,
    wr_index: Option<PortSlot>,
    /// Bits of `wr_index`; 0 where there is one register only.
    index_bits: u32,
    data_bits: usize,
    /// The model's outputs as words of a frame.
    expected: Vec<u32>,
}

fn expected_words(model: &HashConfig, layout: &Layout) -> Vec<u32> {
    let mut words = vec![0; layout.output_words];
    for (name, value) in model.outputs() {
        let port = layout.output(name);
        words[port.offset..port.offset + port.words].copy_from_slice(&value.to_u32_words());
    }
    words
}

impl ConfigBench {
    pub(super) fn new(unit: ConfiguredUnit, geometry: Geometry, layout: &Layout) -> Self {
        let index = layout.inputs.iter().find(|p| p.name == "wr_index");
        let model = HashConfig::new(unit, geometry);
        ConfigBench {
            unit,
            geometry,
            layout: layout.clone(),
            expected: expected_words(&model, layout),
            model,
            rst: layout.input("rst").clone(),
            wr_en: layout.input("wr_en").clone(),
            wr_data: layout.input("wr_data").clone(),
            wr_index: index.cloned(),
            index_bits: index.map_or(0, |p| p.width as u32),
            data_bits: layout.input("wr_data").width,
        }
    }

    /// What is driven on `wr_data` for register `index`: mostly values with a
    /// meaning, sometimes any.
    fn value(&self, index: usize, stimulus: &mut Stimulus) -> u64 {
        let (n, m) = (self.geometry.addr_bits(), self.geometry.bank_bits());
        let any = u64::from(stimulus.bits()) & ((1 << self.data_bits) - 1);
        if stimulus.one_in(4) {
            return any;
        }
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
            ConfiguredUnit::RowMap => stimulus.below(m + 1),
            ConfiguredUnit::Hash(HashKind::Matrix) | ConfiguredUnit::Rap => return any,
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
            rst: power_up || stimulus.one_in(256),
            wr_en: stimulus.one_in(16),
            wr_index: index,
            wr_data: self.value(index.min(registers - 1), stimulus),
        };
        frame.drive(&self.rst, inputs.rst.into());
        frame.drive(&self.wr_en, inputs.wr_en.into());
        frame.drive(&self.wr_data, inputs.wr_data as u32);
        if let Some(port) = &self.wr_index {
            frame.drive(port, index as u32);
        }
        frame.expected.copy_from_slice(&self.expected);
        if power_up {
            frame.care.fill(0);
        }
        if inputs.rst || inputs.wr_en {
            self.model.step(&inputs);
            self.expected = expected_words(&self.model, &self.layout);
        }
    }
}
