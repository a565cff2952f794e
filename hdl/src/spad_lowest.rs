//! The priority search of the scheduler: the lowest set bit of a vector, one-hot,
//! by prefix sums, because its depth is what the pick's clock period hangs on.

use crate::expr::{Expr, assign, assign_bit, bit, wire};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};
use crate::params::index_bits;
use rust_hdl::core::ast::VerilogStatement;

/// The module's name for vectors of `count` bits.
pub(crate) fn module_name(count: usize) -> String {
    format!("spad_lowest_{count}")
}

/// One level of the prefix network: a position has seen a set bit if itself or
/// the one `2^level` below has.
fn level(level: usize, count: usize) -> Vec<VerilogStatement> {
    let seen = |i: usize| bit(&format!("seen{level}"), i);
    let next = format!("seen{}", level + 1);
    let value = |i: usize| -> Expr {
        match i.checked_sub(1 << level) {
            Some(below) => seen(i) | seen(below),
            None => seen(i),
        }
    };
    (0..count).map(|i| assign_bit(&next, i, value(i))).collect()
}

/// Emits the search over `count` bits (2 or more).
pub(crate) fn emit_kernel(count: usize) -> Result<Module> {
    let levels = index_bits(count);
    let mut kernel = Kernel::default()
        .input("want", count, "the candidates")
        .output("found", count, "per position: a bit at or below it is set")
        .output("lowest", count, "the lowest set bit alone; none if none is")
        .local("seen0", count);
    let mut logic: Vec<_> = (0..count)
        .map(|i| assign_bit("seen0", i, bit("want", i)))
        .collect();
    for k in 0..levels {
        kernel = kernel.local(&format!("seen{}", k + 1), count);
        logic.extend(level(k, count));
    }
    let all = format!("seen{levels}");
    logic.push(assign("found", wire(&all)));
    logic.push(assign_bit("lowest", 0, bit("want", 0)));
    logic.extend((1..count).map(|i| assign_bit("lowest", i, bit("want", i) & !bit(&all, i - 1))));
    Unit::new(UnitDoc {
        name: module_name(count),
        summary: "the lowest set bit of a vector.".into(),
        parameters: format!("{count} bits"),
        timing: "combinational".into(),
        paper: "the lowest warp goes first: docs/microarchitecture.md, sections 1.3 and 15".into(),
        latency_cycles: 0,
    })
    .emit_kernel(kernel.logic(logic))
}
