//! The conflict history cache.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::spad_table_ram;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    /// The memory of a way's tags and values.
    entries: String,
    /// The memory of a way's tags, for updates.
    tags: String,
}

/// Emits `spad_conflict_history` behind its memories.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let tag = p.PCW - p.SETW;
    let entries = spad_table_ram::emit_helper(p, p.SETS, tag + p.EX)?;
    let tags = spad_table_ram::emit_helper(p, p.SETS, tag)?;
    let extra = Extra {
        entries: entries.doc.name.clone(),
        tags: tags.doc.name.clone(),
    };
    let doc = UnitDoc {
        name: "spad_conflict_history".into(),
        summary: "remembers the excess conflict degree of memory instructions by program \
                  counter: 2 ways, SETS sets, the way not updated last is replaced; a miss \
                  predicts 0. Tags and values are in synchronous memories."
            .into(),
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
        .instantiates(&entries)
        .instantiates(&tags)
        .emit_with("spad_conflict_history.v.tera", p, &extra)?;
    Ok(vec![entries, tags, module])
}
