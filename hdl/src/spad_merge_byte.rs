//! Byte merging of stores: the lowest lane that writes a byte wins it.

use crate::machine::Params;
use crate::module::{Module, Result, UnitDoc};
use crate::shell::Shell;
use crate::spad_select::{Level, levels};
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    levels: Vec<Level>,
}

/// Emits the merging tree of one byte of one bank.
pub(crate) fn emit_helper(p: &Params) -> Result<Module> {
    let extra = Extra {
        levels: levels(p.L, "bytes", "byte", "want"),
    };
    let doc = UnitDoc {
        name: format!("spad_merge_byte_{}", p.L),
        summary: "the byte of the lowest lane that wants to write it. Search and multiplexer \
                  are one tournament, so no lane number is formed."
            .into(),
        parameters: p.text(&["L"]),
        timing: "combinational".into(),
        paper: "docs/microarchitecture.md, section 4 (MERGE = 1)".into(),
        latency_cycles: 0,
    };
    Shell::new(doc)
        .input("want", p.L, "lanes that write the byte")
        .input("bytes", p.L * 8, "their bytes")
        .output("any", 1, "a lane writes")
        .output("merged", 8, "the lowest one's byte; 0 if none writes")
        .emit_with("spad_merge_byte.v.tera", p, &extra)
}
