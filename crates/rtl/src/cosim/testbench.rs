//! A test bench of each unit in plain Verilog, for any simulator: constrained
//! random inputs, and the golden model's answers.

use super::lockstep::{Recording, record};
use crate::config::Config;
use crate::error::Result;
use crate::rtl::{Design, EmittedUnit, Reset, SourceFile};
use crate::template::fill;
use crate::units::{Layout, PortSlot, Setup, Stimulus, bench_for};
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write as _;

const TEMPLATE: &str = include_str!("../../testbenches/unit_tb.v.tera");

/// Seed of the stimulus: the same machine gives the same bench.
const SEED: u64 = 1;

/// Steps are cheap where they are narrow, and a hash unit's configuration
/// changes every 128 steps only: units without a clock and with at most this many
/// bits get more of them.
const NARROW_BITS: usize = 512;

/// The factor for narrow ports.
const NARROW_FACTOR: usize = 8;

/// Clock cycles of a test bench: seconds in a simulator, a few MB for all.
pub const BENCH_CYCLES: u32 = 256;

/// Gives every unit of `design` a test bench of `cycles` clock cycles, those of
/// the hash family one of eight times as many; none for 0 cycles. `config` is
/// the machine that the design was emitted for.
pub fn add_test_benches(design: &mut Design, config: &Config, cycles: usize) -> Result<()> {
    design.benches.clear();
    if cycles == 0 {
        return Ok(());
    }
    let benches = design.units.par_iter().map(|unit| {
        let name = unit.bench_file();
        bench_text(unit, config, design.style.reset, cycles)
            .map(|text| SourceFile::plain(name, text))
    });
    design.benches = benches.collect::<Result<_>>()?;
    Ok(())
}

/// A port and its position in the vector of one cycle. Each port starts at a
/// digit; the first port has the highest digits.
#[derive(Serialize)]
struct Field<'a> {
    name: &'a str,
    /// The unit's port, and what is connected to it.
    port: &'a str,
    drives: String,
    width: usize,
    high: usize,
    low: usize,
}

#[derive(Serialize)]
struct Values<'a> {
    top: &'a str,
    bench: String,
    machine: String,
    cycles: usize,
    clocked: bool,
    inputs: Vec<Field<'a>>,
    outputs: Vec<Field<'a>>,
    in_bits: usize,
    out_bits: usize,
    steps: String,
}

fn bench_text(unit: &EmittedUnit, config: &Config, reset: Reset, cycles: usize) -> Result<String> {
    let layout = Layout::new(&with_high_reset(unit, reset));
    let (in_bits, mut inputs) = fields(&layout.inputs);
    if reset.is_low() {
        invert_reset(&mut inputs, reset);
    }
    let (out_bits, outputs) = fields(&layout.outputs);
    let cycles = if !layout.clocked && in_bits + out_bits <= NARROW_BITS {
        cycles * NARROW_FACTOR
    } else {
        cycles
    };
    let setup = Setup {
        reset,
        ..Setup::new(config, &layout)
    };
    let mut bench = bench_for(&unit.name, &setup)?;
    let mut recording = record(&layout, &mut *bench, &mut Stimulus::new(SEED), cycles);
    if reset.is_async() {
        ignore_resets(&layout, &mut recording);
    }
    let values = Values {
        top: &unit.top,
        bench: unit.bench_module(),
        machine: format!("{} ({})", config.name, config.geometry),
        cycles,
        clocked: layout.clocked,
        inputs,
        outputs,
        in_bits,
        out_bits,
        steps: steps(&layout, &recording, cycles, in_bits, out_bits),
    };
    fill("unit_tb.v.tera", TEMPLATE, &values)
}

/// `unit` with the reset that the golden models have.
fn with_high_reset(unit: &EmittedUnit, reset: Reset) -> EmittedUnit {
    let mut unit = unit.clone();
    let resets = unit.ports.iter_mut().filter(|p| p.name == reset.port());
    resets.for_each(|port| port.name = "rst".into());
    unit
}

/// Connects the port that is active low.
fn invert_reset(inputs: &mut [Field], reset: Reset) {
    for field in inputs.iter_mut().filter(|f| f.name == "rst") {
        field.port = reset.port();
        field.drives = "~rst".into();
    }
}

/// The golden models reset with the clock: what an output shows while an
/// asynchronous reset is on, they do not know.
fn ignore_resets(layout: &Layout, recording: &mut Recording) {
    let Some(rst) = layout.inputs.iter().find(|slot| slot.name == "rst") else {
        return;
    };
    let inputs = recording.inputs.chunks(layout.input_words);
    let care = recording.care.chunks_mut(layout.output_words);
    for (inputs, care) in inputs.zip(care) {
        if inputs[rst.offset] != 0 {
            care.fill(0);
        }
    }
}

/// Bits of the vector, and the ports in it.
fn fields(slots: &[PortSlot]) -> (usize, Vec<Field<'_>>) {
    let bits: usize = slots.iter().map(|slot| 4 * digits(slot)).sum();
    let mut low = bits;
    let field = |slot: &'_ PortSlot| {
        low -= 4 * digits(slot);
        (low, low + slot.width - 1)
    };
    let places: Vec<_> = slots.iter().map(field).collect();
    let fields = slots.iter().zip(places).map(|(slot, (low, high))| Field {
        name: &slot.name,
        port: &slot.name,
        drives: slot.name.clone(),
        width: slot.width,
        high,
        low,
    });
    (bits, fields.collect())
}

/// Hexadecimal digits of a port.
fn digits(slot: &PortSlot) -> usize {
    slot.width.div_ceil(4)
}

/// One line per cycle: `step(8'h0_1, 4'hx);`.
fn steps(
    layout: &Layout,
    recording: &Recording,
    cycles: usize,
    in_bits: usize,
    out_bits: usize,
) -> String {
    let (ins, outs) = (layout.input_words, layout.output_words);
    let mut text = String::new();
    for cycle in 0..cycles {
        let _ = write!(text, "        step({in_bits}'h");
        let words = &recording.inputs[cycle * ins..][..ins];
        number(&mut text, &layout.inputs, |slot| {
            Some(&words[slot.offset..])
        });
        let _ = write!(text, ", {out_bits}'h");
        let expected = &recording.expected[cycle * outs..][..outs];
        let care = &recording.care[cycle * outs..][..outs];
        number(&mut text, &layout.outputs, |slot| {
            let care = &care[slot.offset..][..slot.words];
            let defined = care.iter().all(|&word| word == u32::MAX);
            defined.then_some(&expected[slot.offset..])
        });
        text.push_str(");");
        if cycle + 1 < cycles {
            text.push('\n');
        }
    }
    text
}

/// The digits of all ports, with `_` between them; `x` for one without words.
fn number<'a>(
    text: &mut String,
    slots: &[PortSlot],
    words: impl Fn(&PortSlot) -> Option<&'a [u32]>,
) {
    for (i, slot) in slots.iter().enumerate() {
        if i > 0 {
            text.push('_');
        }
        let words = words(slot);
        for digit in (0..digits(slot)).rev() {
            let nibble = |words: &[u32]| words[digit / 8] >> (4 * (digit % 8)) & 15;
            text.push(match words {
                Some(words) => char::from_digit(nibble(words), 16).unwrap_or('x'),
                None => 'x',
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_has_the_first_port_in_front_and_x_where_nothing_is_defined() {
        let slot = |name: &str, width: usize, offset| PortSlot {
            name: name.into(),
            width,
            offset,
            words: width.div_ceil(32),
        };
        let slots = [slot("a", 1, 0), slot("b", 37, 1), slot("c", 5, 3)];
        let (bits, fields) = fields(&slots);
        let places: Vec<_> = fields.iter().map(|f| (f.high, f.low)).collect();
        assert_eq!((bits, places), (52, vec![(48, 48), (44, 8), (4, 0)]));
        let words = [1, 0x8765_4321, 0x1f, 0x1e];
        let mut text = String::new();
        number(&mut text, &slots, |slot| {
            (slot.name != "c").then_some(&words[slot.offset..])
        });
        assert_eq!(text, "1_1f87654321_xx");
    }
}
