//! Which of the candidates goes first: class, then order. The scheduler has
//! two, because the mask comes too late to search behind it.

use crate::expr::{Expr, any, assign, assign_bit, bit, choose, copies, is, slice, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::spad_lowest;
use rust_hdl::core::ast::VerilogStatement;

/// The class that goes first: owner, unshared, non-owner.
fn first_class() -> Vec<VerilogStatement> {
    let alone = |class: usize| -> Expr {
        let better = match class {
            1 => bit("present", 0),
            _ => any(slice("present", 0, class)),
        };
        bit("present", class) & !better
    };
    let mut logic = vec![assign_bit("first", 0, bit("present", 0))];
    logic.extend((1..4).map(|class| assign_bit("first", class, alone(class))));
    logic
}

/// The candidates of that class.
fn chosen(p: &Params) -> Vec<VerilogStatement> {
    let of_owners = is("cfg_policy", "POLICY_OWF_LRR") | is("cfg_policy", "POLICY_OWF_SLOT");
    vec![
        assign("by_class", of_owners),
        assign(
            "chosen",
            wire("cand") & (copies(p.W, !wire("by_class")) | wire("of_first")),
        ),
    ]
}

/// Round-robin: first the warps behind the last one, then all.
fn selection(p: &Params) -> Vec<VerilogStatement> {
    let wraps = |name, behind: &str, all| choose(name, [(wire("go_on"), wire(behind))], all);
    vec![
        assign(
            "go_on",
            bit("found_behind", p.W - 1) & !bit("cfg_policy", 1),
        ),
        wraps("sel", "next", "lowest"),
        wraps("found_sel", "found_behind", "found"),
    ]
}

/// Emits the helper behind its priority search.
pub(crate) fn emit_helper(p: &Params) -> Result<Vec<Module>> {
    let lowest = spad_lowest::emit_helper()?;
    let doc = UnitDoc {
        name: "spad_first_warp".into(),
        summary: "the candidate that goes first: by class where the policy says so, then \
                  round-robin behind the warp of the last time, or the lowest."
            .into(),
        parameters: p.text(&["W"]),
        timing: "combinational".into(),
        paper: "sharing paper, section 4; microarchitecture/warp-scheduler.md".into(),
        latency_cycles: 0,
    };
    let module = Shell::new(doc)
        .input("cfg_policy", 2, "policy")
        .input("cand", p.W, "the candidates")
        .input("of_class", 4 * p.W, "warps of each class, class 0 lowest")
        .input("behind", p.W, "warps behind the one that was taken last")
        .output("sel", p.W, "the warp, one-hot; 0 if none")
        .output(
            "found_sel",
            p.W,
            "per position: the warp is there or below; any: there is one",
        )
        .signals(&[("present", 4), ("first", 4), ("of_first", p.W)])
        .signals(&[("found_behind", p.W), ("next", p.W)])
        .signals(&[("found", p.W), ("lowest", p.W)])
        .logic("first_class", first_class())
        .logic("chosen", chosen(p))
        .logic("selection", selection(p))
        .instantiates(&lowest)
        .emit("spad_first_warp.v.tera", p)?;
    Ok(vec![lowest, module])
}
