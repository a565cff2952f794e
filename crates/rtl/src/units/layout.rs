//! The position of each port of a unit in the vectors of a co-simulation.

use crate::hash::PortValue;
use crate::rtl::{Dir, EmittedUnit};
use serde::Serialize;

/// A port's position among the 32-bit words of one cycle.
#[derive(Clone, Debug, Serialize)]
pub struct PortSlot {
    /// Verilog name.
    pub name: String,
    /// Bits.
    pub width: usize,
    /// First word.
    pub offset: usize,
    /// Words, low word first.
    pub words: usize,
}

impl PortSlot {
    /// The port's value in the words of one cycle.
    pub fn value(&self, words: &[u32]) -> PortValue {
        let mut value = PortValue::zero(self.width);
        for i in 0..self.width {
            let word = words[self.offset + i / 32];
            value.set_bit(i, word >> (i % 32) & 1 == 1);
        }
        value
    }
}

/// The inputs (without the clock) and outputs of a unit.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Inputs in port order.
    pub inputs: Vec<PortSlot>,
    /// Outputs in port order.
    pub outputs: Vec<PortSlot>,
    /// Input words per cycle.
    pub input_words: usize,
    /// Output words per cycle.
    pub output_words: usize,
    /// Whether the unit has a clock `clk`.
    pub clocked: bool,
}

impl Layout {
    /// The layout of `unit`.
    pub fn new(unit: &EmittedUnit) -> Self {
        let place = |dir: Dir| {
            let mut offset = 0;
            let mut slots = Vec::new();
            for port in unit
                .ports
                .iter()
                .filter(|p| p.dir == dir && p.name != "clk")
            {
                let words = port.width.div_ceil(32);
                slots.push(PortSlot {
                    name: port.name.clone(),
                    width: port.width,
                    offset,
                    words,
                });
                offset += words;
            }
            (slots, offset)
        };
        let (inputs, input_words) = place(Dir::In);
        let (outputs, output_words) = place(Dir::Out);
        Layout {
            inputs,
            outputs,
            input_words,
            output_words,
            clocked: unit.is_sequential(),
        }
    }

    /// The input called `name`; every bench knows its unit's ports.
    pub fn input(&self, name: &str) -> &PortSlot {
        find(&self.inputs, name)
    }

    /// The output called `name`.
    pub fn output(&self, name: &str) -> &PortSlot {
        find(&self.outputs, name)
    }
}

fn find<'a>(slots: &'a [PortSlot], name: &str) -> &'a PortSlot {
    slots
        .iter()
        .find(|slot| slot.name == name)
        .unwrap_or_else(|| panic!("the unit has no port '{name}'"))
}
