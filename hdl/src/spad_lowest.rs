//! The priority search of the whole path: the lowest set bit of a vector, as a
//! tournament, because its depth is what the arbiter's clock period hangs on.

use crate::expr::{Expr, assign, assign_bit, bit, vector, zero};
use crate::kernel::Kernel;
use crate::machine::index_bits;
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::core::ast::VerilogStatement;

/// The module's name for vectors of `count` bits.
pub(crate) fn module_name(count: usize) -> String {
    format!("spad_lowest_{count}")
}

/// One round of the tournament: each match takes the lower contender if it is
/// there; bit `round` of the index says which one won.
fn round(level: usize, contenders: usize, width: usize) -> Vec<VerilogStatement> {
    let left = contenders.div_ceil(2);
    // A signal of one bit has no index in Verilog.
    let set = |name: &str, bits: usize, i: usize, value: Expr| match bits {
        1 => assign(name, value),
        _ => assign_bit(name, i, value),
    };
    let set_any = |i, value| set(&format!("any{}", level + 1), left, i, value);
    let set_index = |i, value| set(&format!("index{}", level + 1), left * (width + 1), i, value);
    let any = |level: usize| format!("any{level}");
    let index = |level: usize| format!("index{level}");
    let mut out = Vec::new();
    for i in 0..contenders.div_ceil(2) {
        let (low, high) = (2 * i, 2 * i + 1);
        let low_any = || bit(&any(level), low);
        let at = |contender: usize, k: usize| bit(&index(level), contender * width + k);
        let to = |k: usize| i * (width + 1) + k;
        if high >= contenders {
            // No opponent: the index of the lower one goes on, with a 0 on top.
            out.push(set_any(i, low_any()));
            for k in 0..width {
                out.push(set_index(to(k), at(low, k)));
            }
            out.push(assign_bit(&index(level + 1), to(width), zero()));
            continue;
        }
        let high_any = || bit(&any(level), high);
        out.push(set_any(i, low_any() | high_any()));
        for k in 0..width {
            // A contender that is not there has index 0.
            let value = at(low, k) | (!low_any() & at(high, k));
            out.push(set_index(to(k), value));
        }
        out.push(set_index(to(width), !low_any() & high_any()));
    }
    out
}

/// Emits the search over `count` bits (2 or more).
pub(crate) fn emit_kernel(count: usize) -> Result<Module> {
    let bits = index_bits(count);
    let mut kernel = Kernel::default()
        .input("want", count)
        .output("any", 1)
        .output("index", bits);
    let mut logic = Vec::new();
    for i in 0..count {
        logic.push(assign_bit("any0", i, bit("want", i)));
    }
    kernel = kernel.local("any0", count);
    let mut contenders = count;
    for level in 0..bits {
        let next = contenders.div_ceil(2);
        kernel = kernel
            .local(&format!("any{}", level + 1), next)
            .local(&format!("index{}", level + 1), next * (level + 1));
        logic.extend(round(level, contenders, level));
        contenders = next;
    }
    logic.push(assign("any", vector(&format!("any{bits}"))));
    logic.push(assign("index", vector(&format!("index{bits}"))));
    Unit::new(UnitDoc {
        name: module_name(count),
        summary: "the lowest set bit of a vector.".into(),
        parameters: format!("{count} bits"),
        timing: "combinational".into(),
        paper: "the lowest lane, warp or bank goes first: docs/microarchitecture.md, sections \
                1.3 and 3"
            .into(),
        latency_cycles: 0,
    })
    .port("want", "the candidates")
    .port("any", "a bit is set")
    .port("index", "number of the lowest set bit; 0 if none is")
    .emit_kernel(kernel.logic(logic))
}
