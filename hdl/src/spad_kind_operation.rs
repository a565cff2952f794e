//! The scratchpad's operation for an instruction's kind (section 2.3).

use crate::expr::{above, at_least, choose, is, slice, vector};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};

/// Emits the table.
pub(crate) fn emit_kernel() -> Result<Module> {
    let unsupported = is("kind", "KIND_ATOMIC") | above("kind", "KIND_RELSSP");
    let cases = [
        (unsupported, vector("OP_UNSUPPORTED")),
        (at_least("kind", "KIND_GLOBAL"), vector("OP_PASS")),
    ];
    // The kinds up to STUL are the operations; ALU is PASS.
    let same = slice("kind", 0, 3);
    let kernel = Kernel::default()
        .input("kind", 4)
        .output("op", 3)
        .logic(vec![choose("op", cases.into_iter(), same)]);
    Unit::new(UnitDoc {
        name: "spad_kind_operation".into(),
        summary: "the scratchpad's operation for an instruction's kind: what the path does not \
                  know, and ATOMIC, becomes the unsupported one."
            .into(),
        parameters: "none".into(),
        timing: "combinational".into(),
        paper: "docs/microarchitecture.md, section 2.3".into(),
        latency_cycles: 0,
    })
    .port("kind", "the kind")
    .port("op", "the operation")
    .emit_kernel(kernel)
}
