//! The warp scheduler.

use crate::expr::{any, assign, bit, choose, note, up, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_first_warp, spad_number};
use rust_hdl::core::ast::VerilogStatement;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    number: String,
}

/// The warps that the mask leaves, and whether only they may go.
fn candidates() -> Vec<VerilogStatement> {
    vec![
        assign("others", wire("ready") & !wire("is_mem")),
        note("Masked warps go where violating is allowed and nothing else can."),
        assign("keeps", !wire("cfg_violate") | any("others")),
        assign("held", wire("cfg_aware") & wire("mask") & wire("keeps")),
        assign("some_mem", any(wire("ready") & wire("is_mem"))),
        assign("masked", wire("held") & wire("some_mem")),
        assign("unmasked", wire("ready") & !wire("put_off")),
        note("Where all are put off none of them is a memory warp."),
        assign("only_others", wire("held") | !any("unmasked")),
    ]
}

/// The selection of the two, and the warps behind it.
fn selection(p: &Params) -> Vec<VerilogStatement> {
    let chosen = |name, others: &str, all| choose(name, [(wire("only_others"), wire(others))], all);
    vec![
        chosen("sel", "of_others", "of_all"),
        note("Behind the selected warp are those at which it has been found below."),
        chosen("found_sel", "of_others_found", "of_all_found"),
        assign("sel_valid", bit("found_sel", p.W - 1)),
        assign("behind_next", up("found_sel", 1)),
    ]
}

/// Emits `spad_warp_scheduler` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let first = spad_first_warp::emit_helper(p)?;
    let number = spad_number::emit_kernel(p.W)?;
    let extra = Extra {
        number: number.doc.name.clone(),
    };
    let doc = UnitDoc {
        name: "spad_warp_scheduler".into(),
        summary: "selects the warp that issues: loose round-robin, owner warps first, or lowest slot; bank-conflict-aware on top of each. Policies: 0 round-robin; 1 owner first, round-robin in a class; 2 owner first, lowest slot in a class; 3 lowest slot.".into(),
        parameters: p.text(&["W", "WW"]),
        timing: "the selection is combinational; the round-robin pointer moves with take".into(),
        paper: "elastic paper, section 5; sharing paper, section 4; microarchitecture/warp-scheduler.md".into(),
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
            "put_off",
            p.W,
            "warps, none of is_mem, that wait for the others while nothing is masked",
        )
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
        .signals(&[("of_all", p.W), ("of_all_found", p.W)])
        .signals(&[("of_others", p.W), ("of_others_found", p.W)])
        .logic("candidates", candidates())
        .logic("selection", selection(p))
        .instantiates_last(std::slice::from_ref(&first))
        .instantiates(&number)
        .emit_with("spad_warp_scheduler.v.tera", p, &extra)?;
    Ok(first.into_iter().chain([number, module]).collect())
}
