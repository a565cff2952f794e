//! The conflict degree of a whole warp instruction.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    /// Bits of the unsaturated sum.
    wide: usize,
    /// The largest value of the field.
    most: usize,
}

/// Emits `spad_degree_accumulator`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let extra = Extra {
        wide: p.EX.max(p.OCC) + 1,
        most: (1 << p.EX) - 1,
    };
    let doc = UnitDoc {
        name: "spad_degree_accumulator".into(),
        summary: "sums the extra cycles in MEM0 of the passes of one warp instruction, for the conflict history. Saturates.".into(),
        parameters: p.text(&["OCC", "EX", "PCW"]),
        timing: "the update is offered for one cycle, the one after the last pass".into(),
        paper: "elastic paper, section 5.2 and Eq. 6; docs/microarchitecture.md, section 12".into(),
        latency_cycles: 1,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("clear", 1, "kernel launch: the sum starts again")
        .input("d_valid", 1, "a pass is resolved")
        .input("d_occ", p.OCC, "cycles that it took in MEM0, at least 1")
        .input("d_last", 1, "it is the last of its instruction")
        .input("d_pc", p.PCW, "program counter")
        .output("up_valid", 1, "an instruction is complete")
        .output("up_pc", p.PCW, "its program counter; else 0")
        .output(
            "up_excess",
            p.EX,
            "sum of (cycles - 1) over its passes; else 0",
        )
        .emit_with("spad_degree_accumulator.v.tera", p, &extra)?;
    Ok(vec![module])
}
