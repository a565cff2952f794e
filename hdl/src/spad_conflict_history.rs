//! The conflict history cache.

use crate::machine::Params;
use crate::module::{Module, Result, UnitDoc};
use crate::shell::Shell;

/// Emits `spad_conflict_history`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
        name: "spad_conflict_history".into(),
        summary: "remembers the excess conflict degree of memory instructions by program counter: 2 ways, SETS sets, the way not updated last is replaced; a miss predicts 0.".into(),
        parameters: p.text(&["SETS", "PCW", "EX"]),
        timing: "look-up: one cycle; an update is seen from the next cycle on".into(),
        paper: "elastic paper, section 5.2; docs/microarchitecture.md, section 13".into(),
        latency_cycles: 1,
    };
    let module = Shell::new(doc)
        .clocked()
        .input(
            "clear",
            1,
            "kernel launch: forget everything; goes before an update",
        )
        .input("lk_valid", 1, "look-up")
        .input("lk_pc", p.PCW, "its program counter")
        .output(
            "lk_done",
            1,
            "the look-up of the previous cycle is answered",
        )
        .output("lk_hit", 1, "it hits")
        .output("lk_excess", p.EX, "the value; 0 on a miss")
        .input("up_valid", 1, "update")
        .input("up_pc", p.PCW, "its program counter")
        .input("up_excess", p.EX, "the value")
        .emit("spad_conflict_history.v.tera", p)?;
    Ok(vec![module])
}
