//! The warp scheduler.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_lowest, spad_number};
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    lowest: String,
    number: String,
}

/// Emits `spad_warp_scheduler` behind its priority search.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let lowest = spad_lowest::emit_kernel(p.W)?;
    let number = spad_number::emit_kernel(p.W)?;
    let extra = Extra {
        lowest: lowest.doc.name.clone(),
        number: number.doc.name.clone(),
    };
    let doc = UnitDoc {
        name: "spad_warp_scheduler".into(),
        summary: "selects the warp that issues: loose round-robin, owner warps first, or lowest slot; bank-conflict-aware on top of each. Policies: 0 round-robin; 1 owner first, round-robin in a class; 2 owner first, lowest slot in a class; 3 lowest slot.".into(),
        parameters: p.text(&["W", "WW"]),
        timing: "the selection is combinational; the round-robin pointer moves with take".into(),
        paper: "elastic paper, section 5; sharing paper, section 4; docs/microarchitecture.md, section 15".into(),
        latency_cycles: 0,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("cfg_policy", 2, "policy")
        .input("cfg_aware", 1, "apply the mask")
        .input("cfg_violate", 1, "masked warps go when nothing else can")
        .input("ready", p.W, "warps that may issue")
        .input("is_mem", p.W, "they offer a memory instruction")
        .input("mask", 1, "memory warps are masked")
        .input(
            "cls",
            2 * p.W,
            "class per warp: 0 owner, 1 unshared, 2 non-owner",
        )
        .input("take", 1, "the selection is issued in this cycle")
        .output("sel_valid", 1, "a warp is selected")
        .output("sel", p.W, "the warp, one-hot; 0 if none")
        .output("sel_warp", p.WW, "its number; 0 if none")
        .output("masked", 1, "some ready warp is held back by the mask")
        .instantiates(&lowest)
        .instantiates(&number)
        .emit_with("spad_warp_scheduler.v.tera", p, &extra)?;
    Ok(vec![lowest, number, module])
}
