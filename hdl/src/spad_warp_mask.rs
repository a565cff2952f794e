//! The countdown that keeps memory warps apart.

use crate::expr::{any, assign, choose, difference, extended, gated, note, number, sum, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use rust_hdl::core::ast::VerilogStatement;

/// What remains to be counted, and the mask.
fn left(p: &Params) -> Vec<VerilogStatement> {
    let answered = match p.AHEAD {
        0 => assign("answered", "pend"),
        _ => assign("answered", "late"),
    };
    let excess = extended(p.CW, gated(p.EX, "lk_excess", "lk_hit"));
    vec![
        answered,
        assign("excess", gated(p.CW, excess, "answered")),
        note("The sum has a bit to spare, so it is 0 only if both parts are."),
        assign("left", sum("cnt", "excess")),
        assign("mask", any("cnt") | any("excess")),
        assign("remaining", "left"),
    ]
}

/// The count in the next cycle.
fn next(p: &Params) -> Vec<VerilogStatement> {
    let cases = [
        (wire("set_valid"), extended(p.CW, "set_base")),
        (
            wire("mask") & !wire("hold"),
            difference("left", number(p.CW, 1)),
        ),
    ];
    let mut logic = vec![choose("cnt_next", cases, "left")];
    if p.AHEAD > 0 {
        logic.push(assign("late_next", wire("pend") & !wire("set_valid")));
    }
    logic
}

/// Emits `spad_warp_mask`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
        name: "spad_warp_mask".into(),
        summary: "counts the cycles in which no memory warp may be scheduled: the passes of the one issued last plus its predicted excess.".into(),
        parameters: p.text(&["PW", "EX", "CW"]),
        timing: "issued in cycle s with P passes and excess x: mask is 1 from s+1 on, until P-1+x cycles without hold have passed".into(),
        paper: "elastic paper, sections 5.1 and 5.3, Eqs 3 and 7; docs/microarchitecture.md, section 14".into(),
        latency_cycles: 1,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("clear", 1, "kernel launch: as reset")
        .input(
            "set_valid",
            1,
            "a predicted instruction was issued in this cycle",
        )
        .input("set_base", p.PW, "number of its passes - 1")
        .input(
            "lk_hit",
            1,
            "the history knows it (one cycle after set_valid)",
        )
        .input("lk_excess", p.EX, "its excess")
        .input("hold", 1, "EX is held in this cycle: it does not count")
        .output("mask", 1, "memory warps are masked")
        .output(
            "remaining",
            p.CW,
            "cycles without hold that remain, this one included",
        )
        .signals(&[("pend", 1), ("late", 1), ("cnt", p.CW)])
        .logic("left", left(p))
        .logic("next", next(p))
        .emit("spad_warp_mask.v.tera", p)?;
    Ok(vec![module])
}
