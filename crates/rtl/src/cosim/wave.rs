//! A waveform with both sides of a co-simulation, for GTKWave.

use super::lockstep::Recording;
use crate::units::{Layout, PortSlot};
use std::io;
use vcd::{IdCode, TimescaleUnit, Value, VarType, Writer};

/// Clock periods have ten time units.
const PERIOD: u64 = 10;

/// Renders cycles `from..` of `recording` as VCD: scope `inputs`, `rtl` and
/// `model` with the ports, and `mismatch` with one bit per output.
pub(super) fn render(
    unit: &str,
    layout: &Layout,
    recording: &Recording,
    cycles: std::ops::Range<usize>,
) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut vcd = Writer::new(&mut text);
    vcd.timescale(1, TimescaleUnit::NS)?;
    vcd.add_module(unit)?;
    let clk = vcd.add_wire(1, "clk")?;
    let inputs = add_scope(&mut vcd, "inputs", &layout.inputs)?;
    let rtl = add_scope(&mut vcd, "rtl", &layout.outputs)?;
    let model = add_scope(&mut vcd, "model", &layout.outputs)?;
    vcd.add_module("mismatch")?;
    let mut differs = Vec::new();
    for port in &layout.outputs {
        differs.push(vcd.add_var(VarType::Wire, 1, &port.name, None)?);
    }
    vcd.upscope()?;
    vcd.upscope()?;
    vcd.enddefinitions()?;
    let (ins, outs) = (layout.input_words, layout.output_words);
    for (cycle, frame) in cycles.map(|c| (c, c.saturating_sub(recording.first_cycle))) {
        let input = &recording.inputs[frame * ins..(frame + 1) * ins];
        let got = &recording.got[frame * outs..(frame + 1) * outs];
        let expected = &recording.expected[frame * outs..(frame + 1) * outs];
        let care = &recording.care[frame * outs..(frame + 1) * outs];
        vcd.timestamp(cycle as u64 * PERIOD)?;
        vcd.change_scalar(clk, Value::V0)?;
        change(&mut vcd, &inputs, &layout.inputs, input)?;
        change(&mut vcd, &rtl, &layout.outputs, got)?;
        let defined: Vec<u32> = expected.iter().zip(care).map(|(e, c)| e & c).collect();
        change(&mut vcd, &model, &layout.outputs, &defined)?;
        for (id, port) in differs.iter().zip(&layout.outputs) {
            let mut words = port.offset..port.offset + port.words;
            let differs = words.any(|w| (got[w] ^ expected[w]) & care[w] != 0);
            vcd.change_scalar(*id, differs)?;
        }
        vcd.timestamp(cycle as u64 * PERIOD + PERIOD / 2)?;
        vcd.change_scalar(clk, Value::V1)?;
    }
    vcd.flush()?;
    Ok(text)
}

fn add_scope(
    vcd: &mut Writer<&mut Vec<u8>>,
    name: &str,
    ports: &[PortSlot],
) -> io::Result<Vec<IdCode>> {
    vcd.add_module(name)?;
    let ids = ports
        .iter()
        .map(|p| vcd.add_wire(p.width as u32, &p.name))
        .collect::<io::Result<_>>()?;
    vcd.upscope()?;
    Ok(ids)
}

fn change(
    vcd: &mut Writer<&mut Vec<u8>>,
    ids: &[IdCode],
    ports: &[PortSlot],
    words: &[u32],
) -> io::Result<()> {
    for (id, port) in ids.iter().zip(ports) {
        let value = port.value(words);
        let bits = (0..port.width).rev().map(|i| Value::from(value.bit(i)));
        vcd.change_vector(*id, bits)?;
    }
    Ok(())
}
