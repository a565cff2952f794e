//! The countdown that keeps memory warps apart.

use crate::expr::{
    Expr, any, assign, choose, difference, extended, gated, note, number, slice, sum, wire,
};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use rust_hdl::core::ast::VerilogStatement;

/// What is left of the excess, and the mask.
fn left(p: &Params) -> Vec<VerilogStatement> {
    let known = gated(p.EX, "lk_excess", "lk_hit");
    let mut logic = match p.AHEAD {
        0 => vec![choose(
            "left",
            [(wire("pend"), extended(p.EX + 1, known))],
            "cnt",
        )],
        _ => vec![
            assign("known", known),
            note("One cycle of the excess may have passed before the answer."),
            assign("some", any("known")),
            choose(
                "answer",
                [
                    (
                        wire("some") & wire("owed") & !wire("counted"),
                        sum(extended(p.EX + 1, "known"), one_of(p)),
                    ),
                    (
                        wire("some") & wire("counted") & !wire("owed"),
                        difference(extended(p.EX + 1, "known"), one_of(p)),
                    ),
                ],
                extended(p.EX + 1, "known"),
            ),
            choose("left", [(wire("late"), wire("answer"))], "cnt"),
            assign("doubt", wire("pend") & wire("lk_heavy")),
        ],
    };
    let more = any(slice("left", 1, p.EX));
    let (masks, more) = match p.AHEAD {
        0 => (any("left"), more),
        _ => (
            any("left") | wire("doubt"),
            more | (wire("doubt") & wire("lk_heavier")),
        ),
    };
    logic.extend([
        assign("issuing", any("base")),
        assign("mask", masks),
        assign("more", more),
        assign("lasts", wire("more") | (wire("mask") & wire("issuing"))),
    ]);
    logic
}

fn one_of(p: &Params) -> Expr {
    number(p.EX + 1, 1)
}

/// The counts in the next cycle.
fn next(p: &Params) -> Vec<VerilogStatement> {
    let passed = [(wire("set_valid"), number(p.EX + 1, 0))];
    let counted = (wire("counts") & any("left"), difference("left", one_of(p)));
    let passes = [
        (wire("set_valid"), wire("set_base")),
        (
            wire("issuing") & !wire("hold"),
            difference("base", number(p.PW, 1)),
        ),
    ];
    let mut logic = vec![
        note("A cycle counts behind the last pass, and if EX is not held."),
        assign("counts", !wire("hold") & !wire("issuing")),
    ];
    let mut cases: Vec<_> = passed.into_iter().chain([counted]).collect();
    if p.AHEAD > 0 {
        let free = wire("late") & !wire("some");
        logic.extend([
            note("A hold in the next cycle takes it back: EX is a cycle further away."),
            assign("takes_back", wire("hold") & wire("counted") & !free),
            assign(
                "counted_next",
                wire("counts") & (any("left") | wire("pend")),
            ),
            assign(
                "owed_next",
                (wire("takes_back") & (wire("set_valid") | wire("pend")))
                    | (wire("owed") & wire("pend") & !wire("set_valid")),
            ),
            assign("late_next", wire("pend") & !wire("set_valid")),
        ]);
        cases.push((wire("takes_back") & !wire("pend"), sum("left", one_of(p))));
    }
    logic.push(choose("cnt_next", cases, "left"));
    logic.push(choose("base_next", passes, "base"));
    logic
}

/// Emits `spad_warp_mask`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
        name: "spad_warp_mask".into(),
        summary: "counts the cycles in which no memory warp may be scheduled: the predicted excess of the one issued last, behind its passes.".into(),
        parameters: p.text(&["PW", "EX", "AHEAD"]),
        timing: "taken in cycle s with P passes, while which nothing is taken, and excess x: with x > 0 mask is 1 until P-1+x cycles without hold have passed".into(),
        paper: "elastic paper, sections 5.1 and 5.3, Eqs 3 and 7; microarchitecture/warp-mask.md".into(),
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
            "the history knows it: in the cycle after set_valid, AHEAD > 0: in the second",
        )
        .input("lk_excess", p.EX, "its excess")
        .input(
            "lk_heavy",
            1,
            "AHEAD > 0: it is likely to have an excess, in the cycle after set_valid",
        )
        .input("lk_heavier", 1, "AHEAD > 0: and one of more than one cycle")
        .input("hold", 1, "EX is held in this cycle: it does not count")
        .output("mask", 1, "memory warps are masked")
        .output(
            "lasts",
            1,
            "they will be in the next cycle, too, if this one counts",
        )
        .unused(p.AHEAD == 0, "lk_heavy", "the answer comes in time")
        .unused(p.AHEAD == 0, "lk_heavier", "the answer comes in time")
        .signals(&[("pend", 1), ("late", 1), ("counted", 1), ("owed", 1)])
        .signals(&[("base", p.PW), ("cnt", p.EX + 1)])
        .logic("left", left(p))
        .logic("next", next(p))
        .emit("spad_warp_mask.v.tera", p)?;
    Ok(vec![module])
}
