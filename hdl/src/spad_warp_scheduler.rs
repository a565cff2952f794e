//! The warp scheduler.

use crate::expr::{Expr, any, assign, assign_bit, bit, choose, copies, gated, is, note};
use crate::expr::{slice, up, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_lowest, spad_number};
use rust_hdl::core::ast::VerilogStatement;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    lowest: String,
    number: String,
}

/// The warps that the mask leaves.
fn candidates(p: &Params) -> Vec<VerilogStatement> {
    let masking = || wire("cfg_aware") & wire("mask");
    let held = gated(p.W, "is_mem", masking());
    vec![
        note("Masked warps go where violating is allowed and nothing else can."),
        assign("unmasked", wire("ready") & !held),
        assign("use_masked", wire("cfg_violate") & !any("unmasked")),
        choose("cand", [(wire("use_masked"), wire("ready"))], "unmasked"),
        assign(
            "masked",
            !wire("use_masked") & masking() & any(wire("ready") & wire("is_mem")),
        ),
    ]
}

/// The class that goes first: owner, unshared, non-owner.
fn first_class() -> Vec<VerilogStatement> {
    let alone = |class: usize| -> Expr {
        let better = match class {
            1 => bit("present", 0),
            _ => any(slice("present", 0, class)),
        };
        bit("present", class) & !better
    };
    let of_owners = is("cfg_policy", "POLICY_OWF_LRR") | is("cfg_policy", "POLICY_OWF_SLOT");
    let mut logic = vec![
        assign("by_class", of_owners),
        assign_bit("first", 0, bit("present", 0)),
    ];
    logic.extend((1..4).map(|class| assign_bit("first", class, alone(class))));
    logic
}

/// The candidates of that class.
fn chosen(p: &Params) -> Vec<VerilogStatement> {
    let any_class = copies(p.W, !wire("by_class"));
    vec![assign(
        "chosen",
        wire("cand") & (any_class | wire("of_first")),
    )]
}

/// Round-robin: first the warps behind the last one, then all.
fn selection(p: &Params) -> Vec<VerilogStatement> {
    let wraps = |name, behind: &str, all| choose(name, [(wire("go_on"), wire(behind))], all);
    vec![
        assign(
            "go_on",
            bit("found_behind", p.W - 1) & !bit("cfg_policy", 1),
        ),
        assign("sel_valid", bit("found", p.W - 1)),
        wraps("sel", "next", "lowest"),
        note("Behind the selected warp are those at which it has been found below."),
        wraps("found_sel", "found_behind", "found"),
        assign("behind_next", up("found_sel", 1)),
    ]
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
        .signals(&[("present", 4), ("first", 4), ("of_first", p.W)])
        .signals(&[("found_behind", p.W), ("next", p.W)])
        .signals(&[("found", p.W), ("lowest", p.W)])
        .logic("candidates", candidates(p))
        .logic("first_class", first_class())
        .logic("chosen", chosen(p))
        .logic("selection", selection(p))
        .instantiates(&lowest)
        .instantiates(&number)
        .emit_with("spad_warp_scheduler.v.tera", p, &extra)?;
    Ok(vec![lowest, number, module])
}
