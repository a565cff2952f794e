//! One block: whether all of its warps have released
//! (microarchitecture/relssp.md). Whether the relssp in EX is executed comes
//! late, from as far as the writeback port: it chooses between two answers that
//! are there.

use crate::expr::{all, any, assign, wire};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};
use crate::params::Params;

/// Emits the slice of a block.
pub(crate) fn emit_kernel(p: &Params) -> Result<Module> {
    let every = |warps| all(!wire("mine") | wire(warps));
    let some = |warps| any(wire("mine") & wire(warps));
    let kernel = Kernel::default()
        .input("mine", p.W, "warps of the block")
        .input("was_done", p.W, "warps that had released before this cycle")
        .input(
            "was_live",
            p.W,
            "warps with an active thread before this cycle",
        )
        .input("done", p.W, "warps that have released before")
        .input("done_if", p.W, "warps that have if relssp is executed")
        .input("releases", 1, "it is")
        .input("live", p.W, "warps with an active thread")
        .output("rel_done", 1, "every active thread has released")
        .output("rel_live", 1, "it has an active thread")
        .output(
            "unlock",
            1,
            "the last of its active threads released in this cycle",
        )
        .logic(vec![
            assign(
                "rel_done",
                every("done") | (wire("releases") & every("done_if")),
            ),
            assign("rel_live", some("live")),
            assign(
                "unlock",
                wire("rel_done") & some("was_live") & !every("was_done"),
            ),
        ]);
    Unit::new(UnitDoc::part(
        "spad_relssp_block",
        "a block: whether all of its warps have released, and whether the last did just now.",
        p.text(&["W"]),
        "relssp.md",
    ))
    .emit_kernel(kernel)
}
