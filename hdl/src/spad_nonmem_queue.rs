//! The stages beside the memory stages: elastic queue or fixed pipeline.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;

/// Emits `spad_nonmem_queue`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
        name: "spad_nonmem_queue".into(),
        summary: "NQ stages beside the memory stages. Elastic: a first-in first-out queue with taps on every stage and on EXE; fixed: a pipeline. Bubbles close up in both.".into(),
        parameters: p.text(&["M", "H", "NQ", "NMW"]),
        timing: "elastic: 0 cycles when empty and out_ready; fixed: at least NQ cycles".into(),
        paper: "elastic paper, section 4 and Eq. 4; docs/microarchitecture.md, section 10".into(),
        latency_cycles: 0,
    };
    let module = Shell::new(doc)
        .clocked()
        .input(
            "cfg_elastic",
            1,
            "1 elastic queue, 0 fixed pipeline; static while not empty",
        )
        .input("in_valid", 1, "an entry is offered")
        .input("in_data", p.NMW, "the entry")
        .output("in_ready", 1, "it is taken")
        .output("out_valid", 1, "the oldest entry is offered")
        .output("out_data", p.NMW, "the entry; 0 if none")
        .input("out_ready", 1, "it is taken")
        .output(
            "stage_valid",
            p.NQ,
            "occupied stages, stage 0 is the youngest",
        )
        .emit("spad_nonmem_queue.v.tera", p)?;
    Ok(vec![module])
}
