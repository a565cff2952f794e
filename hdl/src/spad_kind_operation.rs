//! The scratchpad's operation for an instruction's kind
//! (microarchitecture/parameters.md).

use crate::codes::{kind, op};
use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, code, when};
use crate::unit::UnitBuilder;

/// Emits the table.
pub(crate) fn emit_kernel() -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc::part(
        "spad_kind_operation",
        "the scratchpad's operation for an instruction's kind. ATOMIC and unknown kinds become \
         OP_UNSUPPORTED.",
        "none".into(),
        "parameters.md",
    ));
    let of = u.input("kind", 4, "the kind");
    let op = u.output("op", 3, "the operation");
    let [atomic, global, relssp] =
        [kind::ATOMIC, kind::GLOBAL, kind::RELSSP].map(|value| code(&kind::FIELD, value));
    let unsupported = of.is(atomic) | of.above(relssp);
    let operation = when(unsupported, code(&op::FIELD, op::UNSUPPORTED))
        .when(of.at_least(global), code(&op::FIELD, op::PASS));
    // The kinds up to STUL are the operations; ALU is PASS.
    u.assign(op, operation.otherwise(of.part(0, 3)));
    u.emit()
}
