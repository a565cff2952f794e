//! The number of the bit that is set in a one-hot vector.

use crate::expr::{Expr, assign, assign_bit, bit, vector};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};
use crate::params::index_bits;

/// Emits the encoder of `count` bits (2 or more).
pub(crate) fn emit_kernel(count: usize) -> Result<Module> {
    let bits = index_bits(count);
    // A signal of one bit has no index in Verilog.
    let at = |i: usize| -> Expr {
        match count {
            2 => vector("above"),
            _ => bit("above", i - 1),
        }
    };
    let any_with = |k: usize| {
        let with = (0..count).filter(|i| i >> k & 1 == 1);
        with.map(at).reduce(|a, b| a | b)
    };
    let logic = (0..bits).filter_map(|k| {
        let value = any_with(k)?;
        Some(match bits {
            1 => assign("number", value),
            _ => assign_bit("number", k, value),
        })
    });
    let kernel = Kernel::default()
        .input("above", count - 1)
        .output("number", bits)
        .logic(logic.collect());
    Unit::new(UnitDoc {
        name: format!("spad_number_{count}"),
        summary: "the number of the bit that is set.".into(),
        parameters: format!("{count} bits"),
        timing: "combinational".into(),
        paper: "docs/microarchitecture.md, section 15".into(),
        latency_cycles: 0,
    })
    .port(
        "above",
        "the vector but for its lowest bit: at most one bit is set",
    )
    .port("number", "its number in the whole vector; 0 if none is")
    .emit_kernel(kernel)
}
