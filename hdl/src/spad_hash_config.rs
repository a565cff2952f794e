//! The configuration registers of a hash unit: one block per SM, shared by all
//! lanes. The registers hold the compact configuration; the select lines are
//! decoded here, off the path of every access.

use crate::configured::{Decoder, Register, index_width, selects};
use crate::kinds::rtl;
use crate::machine::Machine;
use crate::module::{Dir, HdlError, Module, Result, UnitDoc, Vector};
use crate::signal::{Bits, Expr, Signal, concat};
use crate::unit::UnitBuilder;
use spadkit_names::Configured;

/// What the header says of a block whose name does not state its hash unit.
fn other_name(of: Configured, name: &str) -> String {
    match of.config_unit() {
        own if own == name => String::new(),
        own => format!(
            " The same as {own}, under a name that does not depend on the hash unit; the other \
             units instantiate {own}."
        ),
    }
}

/// Emits the configuration block of `of` under the module name `name`, with its
/// decoder if it has one.
pub fn emit_unit(machine: &Machine, of: Configured, name: &str) -> Result<Vec<Module>> {
    let (g, rtl) = (machine.geometry, rtl(of));
    let configured = rtl.emit(g)?;
    let registers = rtl.registers(g);
    let reset = reset(machine, of, &registers)?;
    let u = UnitBuilder::new(UnitDoc {
        name: name.into(),
        summary: format!(
            "configuration registers of {}, one block per SM, shared by all lanes. Write \
             before the kernel starts; a value without meaning selects nothing.{}",
            configured.doc.name,
            other_name(of, name)
        ),
        parameters: g.parameters(),
        timing: "a write shows on cfg_* in the next cycle".into(),
        paper: configured.doc.paper.clone(),
        latency_cycles: 1,
    });
    let index_bits = index_width(registers.len());
    let data_bits = registers.iter().map(|r| r.width).max().unwrap_or(1);
    u.input("clk", 1, "clock");
    u.input("rst", 1, &format!("synchronous reset: {RESET}"));
    let wr_en = u.input("wr_en", 1, "write a register");
    let about = "register to write; an index without a register writes nothing";
    let wr_index = (index_bits > 0).then(|| u.input("wr_index", index_bits, about));
    let wr_data = u.input("wr_data", data_bits, &rtl.write_doc(g));
    let about = format!("to {}", configured.doc.name);
    let outputs: Vec<Signal> = selects(&configured)
        .map(|port| u.output(&port.name, port.width, &about))
        .collect();

    let all = u.vector(&reset);
    let mut low = 0;
    let values = registers.iter().map(|r| {
        low += r.width;
        let value = all.part(low - r.width, r.width);
        u.register(&r.name, r.width).reset(value)
    });
    let values: Vec<Signal> = values.collect();
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

/// The parameter with what the registers are reset to.
const RESET: &str = "RESET";

/// The reset values of the registers of `of` in `machine`.
fn reset(machine: &Machine, of: Configured, registers: &[Register]) -> Result<Vector> {
    let own = machine.hash_reset.iter().find(|(unit, _)| *unit == of);
    let values: Vec<u64> = match own {
        Some((_, values)) => values.clone(),
        None => registers.iter().map(|r| r.reset as u64).collect(),
    };
    let fits = |(r, value): (&Register, &u64)| value >> r.width == 0;
    if values.len() != registers.len() || !registers.iter().zip(&values).all(fits) {
        return Err(HdlError::Machine {
            expected: format!("hash_reset: values of the registers of {}", of.unit()),
        });
    }
    Ok(Vector {
        name: RESET.into(),
        doc: "the registers after a reset, 0 in the low bits".into(),
        fields: (registers.iter().map(|r| r.width)).zip(values).collect(),
    })
}

/// The select lines, from the values of the registers.
fn select(u: &UnitBuilder, decoder: &Decoder, values: &[Signal], outputs: &[Signal]) {
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
fn decode(u: &UnitBuilder, decoder: &Module, i: usize, register: Signal, sel: Expr) {
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
