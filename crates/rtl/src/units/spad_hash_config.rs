//! `spad_hash_config_*`: random writes, writes beyond the registers, and resets at
//! any time.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::layout::{Layout, PortSlot};
use super::write_port::WritePort;
use crate::geometry::Geometry;
use crate::hash::{Configured, kind};
use crate::model::{ConfigInputs, HashConfig};

#[derive(Clone)]
struct Ports {
    rst: PortSlot,
    write: WritePort,
}

impl Ports {
    fn new(layout: &Layout) -> Self {
        Ports {
            rst: layout.input("rst").clone(),
            write: WritePort::find(layout, "").expect("a block of registers has a write port"),
        }
    }
}

struct ConfigDriver {
    unit: Configured,
    geometry: Geometry,
    ports: Ports,
    registers: usize,
}

/// The bench of the registers of `unit`.
pub(super) fn bench(unit: Configured, setup: &Setup) -> Box<dyn Bench> {
    let geometry = setup.config.geometry;
    let model = HashConfig::new(unit, setup.config);
    let driver = ConfigDriver {
        unit,
        geometry,
        ports: Ports::new(setup.layout),
        registers: model.registers().len(),
    };
    let mut golden = GoldenConfig {
        ports: Ports::new(setup.layout),
        outputs: (model.outputs().iter())
            .map(|(name, _)| setup.layout.output(name).clone())
            .collect(),
        expected: vec![0; setup.layout.output_words],
        model,
    };
    golden.update();
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl ConfigDriver {
    /// The value of `wr_data` for register `index`: mostly a legal one, sometimes any.
    fn value(&self, index: usize, stimulus: &mut Stimulus) -> u64 {
        let any = u64::from(stimulus.bits()) & ((1 << self.ports.write.data.width) - 1);
        if stimulus.one_in(4) {
            return any;
        }
        let geometry = self.geometry;
        let value = match self.unit {
            Configured::Hash(kind) => {
                let mut below = |bound| stimulus.below(bound);
                (kind::of(kind).draw_register)(index, geometry, &mut below)
            }
            Configured::RowMap => Some(stimulus.below(geometry.bank_bits() + 1)),
            Configured::Rap => None,
        };
        value.map_or(any, u64::from)
    }
}

impl Driver for ConfigDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports.write;
        let index_bits = p.index.as_ref().map_or(0, |p| p.width);
        let choice = stimulus.bits();
        let rst = stimulus.cycle == 0 || choice & 0xff == 0;
        let wr_en = choice >> 8 & 15 == 0;
        frame.drive(&self.ports.rst, rst.into());
        frame.drive(&p.en, wr_en.into());
        // Between writes the data change now and then, which must not matter.
        if !wr_en && choice >> 12 & 7 != 0 {
            return;
        }
        let index = choice >> 16 & ((1 << index_bits) - 1);
        let register = (index as usize).min(self.registers - 1);
        frame.drive(&p.data, self.value(register, stimulus) as u32);
        if let Some(port) = &p.index {
            frame.drive(port, index);
        }
    }
}

#[derive(Clone)]
struct GoldenConfig {
    ports: Ports,
    /// The ports of the model's outputs.
    outputs: Vec<PortSlot>,
    model: HashConfig,
    /// The model's outputs as words of a frame.
    expected: Vec<u32>,
}

impl GoldenConfig {
    /// The outputs have changed.
    fn update(&mut self) {
        for (port, (_, value)) in self.outputs.iter().zip(self.model.outputs()) {
            let words = &mut self.expected[port.offset..port.offset + port.words];
            for (word, value) in words.iter_mut().zip(value.u32_words()) {
                *word = value;
            }
        }
    }
}

impl Golden for GoldenConfig {
    fn respond(&mut self, frame: &mut Frame) {
        frame.expected.copy_from_slice(&self.expected);
        let write = self.ports.write.read(frame);
        let (index, data) = write.map_or((0, 0), |write| (write.index, write.data));
        let inputs = ConfigInputs {
            rst: frame.is_high(&self.ports.rst),
            wr_en: write.is_some(),
            wr_index: index,
            wr_data: data,
        };
        if inputs.rst || inputs.wr_en {
            self.model.step(&inputs);
            self.update();
        }
    }
}
