//! The scratchpad's operation for an instruction's kind
//! (microarchitecture/parameters.md).

use crate::expr::{above, at_least, choose, is, slice, wire};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};

/// Emits the table.
pub(crate) fn emit_kernel() -> Result<Module> {
    let unsupported = is("kind", "KIND_ATOMIC") | above("kind", "KIND_RELSSP");
    let cases = [
        (unsupported, wire("OP_UNSUPPORTED")),
        (at_least("kind", "KIND_GLOBAL"), wire("OP_PASS")),
    ];
    // The kinds up to STUL are the operations; ALU is PASS.
    let same = slice("kind", 0, 3);
    let kernel = Kernel::default()
        .input("kind", 4, "the kind")
        .output("op", 3, "the operation")
        .logic(vec![choose("op", cases, same)]);
    Unit::new(UnitDoc::part(
        "spad_kind_operation",
        "the scratchpad's operation for an instruction's kind: what the path does not know, and \
         ATOMIC, becomes the unsupported one.",
        "none".into(),
        "parameters.md",
    ))
    .emit_kernel(kernel)
}
