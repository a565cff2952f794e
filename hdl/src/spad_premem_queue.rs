//! The queue in front of the memory stages, with bypass.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;

/// Emits `spad_premem_queue`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
        name: "spad_premem_queue".into(),
        summary: "first-in first-out queue of PQ entries in front of MEM0. An entry that finds it empty and MEM0 ready passes in the same cycle; a full queue takes an entry in the cycle in which it gives one. Depth 0 is wires.".into(),
        parameters: p.text(&["L", "WS", "PQ", "PREW"]),
        timing: "0 cycles when empty and out_ready, else in order".into(),
        paper: "elastic paper, section 4.3 and Fig. 4; docs/microarchitecture.md, section 9".into(),
        latency_cycles: 0,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("cfg_on", 1, "0: behaves as depth 0; static while not empty")
        .input("in_valid", 1, "an entry is offered")
        .input("in_data", p.PREW, "the entry")
        .output("in_ready", 1, "it is taken")
        .output("out_valid", 1, "the oldest entry is offered")
        .output("out_data", p.PREW, "the entry; 0 if none")
        .input("out_ready", 1, "it is taken")
        .output("count", p.PQW, "entries held")
        .unused(p.PQ == 0, "clk", "depth 0 has no state")
        .unused(p.PQ == 0, "rst", "depth 0 has no state")
        .unused(p.PQ == 0, "cfg_on", "depth 0 has no state")
        .emit("spad_premem_queue.v.tera", p)?;
    Ok(vec![module])
}
