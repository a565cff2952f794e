//! The writeback port: one result per cycle, older stages first.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;

/// Emits `spad_writeback_mux`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
        name: "spad_writeback_mux".into(),
        summary: "selects one result per cycle for the writeback register: data from off-chip, then the last memory stage, then the NONMEM queue.".into(),
        parameters: p.text(&["WBW"]),
        timing: "one cycle".into(),
        paper: "elastic paper, section 4 and Fig. 4; docs/microarchitecture.md, section 11".into(),
        latency_cycles: 1,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("icn_valid", 1, "data from off-chip is offered")
        .input("icn_data", p.WBW, "its payload")
        .output("icn_ready", 1, "it is taken")
        .input(
            "mem_valid",
            1,
            "the result of the last memory stage is offered",
        )
        .input("mem_data", p.WBW, "its payload")
        .output("mem_ready", 1, "it is taken")
        .input("nm_valid", 1, "the result of the NONMEM queue is offered")
        .input("nm_data", p.WBW, "its payload")
        .output("nm_ready", 1, "it is taken")
        .output("wb_valid", 1, "a result is written back")
        .output("wb_src", 2, "0 icn, 1 mem, 2 nonmem; 0 if none")
        .output("wb_data", p.WBW, "its payload; 0 if none")
        .input("wb_ready", 1, "the port takes it")
        .emit("spad_writeback_mux.v.tera", p)?;
    Ok(vec![module])
}
