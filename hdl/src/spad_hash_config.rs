//! The configuration registers of a hash unit: one block per SM, shared by all
//! lanes. The registers hold the compact configuration; the select lines are
//! decoded here, off the path of every access.

use crate::configured::{Decoder, index_width, selects};
use crate::geometry::Geometry;
use crate::hashes::Configured;
use crate::module::{Dir, Module, Result, UnitDoc};
use crate::signal::{Bits, Expr, Signal, concat};
use crate::unit::Unit;

/// Emits the configuration block of `of` under the module name `name`, with its
/// decoder if it has one.
pub fn emit_unit(g: Geometry, of: Configured, name: &str) -> Result<Vec<Module>> {
    let rtl = of.rtl();
    let configured = rtl.emit(g)?;
    let u = Unit::new(UnitDoc {
        name: name.into(),
        summary: format!(
            "configuration registers of {}, one block per SM, shared by all lanes. Write \
             before the kernel starts; a value without meaning selects nothing.",
            configured.doc.name
        ),
        parameters: g.parameters(),
        timing: "a write shows on cfg_* in the next cycle".into(),
        paper: configured.doc.paper.clone(),
        latency_cycles: 1,
    });
    let registers = rtl.registers(g);
    let index_bits = index_width(registers.len());
    let data_bits = registers.iter().map(|r| r.width).max().unwrap_or(1);
    u.input("clk", 1, "clock");
    u.input("rst", 1, "synchronous reset: bank = addr mod 2^m");
    let wr_en = u.input("wr_en", 1, "write a register");
    let about = "register to write; an index without a register writes nothing";
    let wr_index = (index_bits > 0).then(|| u.input("wr_index", index_bits, about));
    let wr_data = u.input("wr_data", data_bits, &rtl.write_doc(g));
    let about = format!("to {}", configured.doc.name);
    let outputs: Vec<Signal> = selects(&configured)
        .map(|port| u.output(&port.name, port.width, &about))
        .collect();

    let values: Vec<Signal> = (registers.iter())
        .map(|r| u.register(&r.name, r.width).reset(r.reset))
        .collect();
    for (i, value) in values.iter().enumerate() {
        let write = match wr_index {
            Some(index) => wr_en & index.is(i),
            None => wr_en.into(),
        };
        let data = wr_data.part(0, value.width);
        u.at_clock().when(write).next(*value, data);
    }

    u.paragraph();
    let decoder = rtl.decoder(g)?;
    select(&u, &decoder, &values, &outputs);
    let config = u.emit()?;
    Ok(decoder.into_module().into_iter().chain([config]).collect())
}

/// The select lines, from the values of the registers.
fn select(u: &Unit, decoder: &Decoder, values: &[Signal], outputs: &[Signal]) {
    match decoder {
        Decoder::None => {
            let side_by_side = values.iter().rev().map(|value| Expr::from(*value));
            u.assign(outputs[0], concat(side_by_side));
        }
        Decoder::Whole(module) => {
            let all = values.iter().chain(outputs).copied();
            u.instance(module, "decode").same(all).done();
        }
        Decoder::Each(module) => {
            let lines = module.ports.last().map_or(0, |sel| sel.width);
            for (i, value) in values.iter().enumerate() {
                let sel = outputs[0].part(i * lines, lines);
                decode(u, module, i, *value, sel);
            }
        }
    }
}

/// The decoder of register `i`: its inputs are the register's fields, the first
/// in the low bits.
fn decode(u: &Unit, decoder: &Module, i: usize, register: Signal, sel: Expr) {
    let mut instance = u.instance(decoder, &format!("decode{i}"));
    let mut low = 0;
    for port in &decoder.ports {
        instance = match port.dir {
            Dir::In => {
                low += port.width;
                let field = register.part(low - port.width, port.width);
                instance.port(&port.name, field)
            }
            Dir::Out => instance.port(&port.name, sel.clone()),
        };
    }
    instance.done();
}
