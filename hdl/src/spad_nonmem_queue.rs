//! The stages beside the memory stages: elastic queue or fixed pipeline.

use crate::expr::{any, assign, copies, down, extended, gated, note, one_hot, or_all};
use crate::expr::{bit, size, slice, up, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use rust_hdl::core::ast::VerilogStatement;

/// The stages, and the bits of an entry.
fn sizes(p: &Params) -> Vec<VerilogStatement> {
    vec![size("NQ", p.NQ), size("NMW", p.NMW)]
}

/// Which stage offers its entry, and what becomes room.
fn offers(p: &Params) -> Vec<VerilogStatement> {
    let exits = copies(p.NQ, "cfg_elastic") | one_hot(p.NQ, p.NQ - 1);
    vec![
        assign("bypass", wire("cfg_elastic") & !any("valid")),
        note("The oldest entry is offered; the fixed pipeline offers that of its last stage."),
        assign("offer", wire("valid") & !wire("older") & exits),
        assign("give", gated(p.NQ, "offer", "out_ready")),
        assign("room", !wire("valid") | wire("give")),
    ]
}

/// What moves into each stage, and what stays in it.
fn moves(p: &Params) -> Vec<VerilogStatement> {
    let passes = wire("bypass") & wire("out_ready");
    vec![
        assign("in_ready", bit("free", 0)),
        assign("push", wire("in_valid") & wire("in_ready") & !passes),
        assign("stay", wire("valid") & !wire("give")),
        assign("move", wire("stay") & down("free", 1)),
        assign("enter", up("move", 1) | extended(p.NQ, "push")),
        assign("valid_next", wire("enter") | (wire("stay") & !wire("move"))),
    ]
}

/// What is offered: at most one of the stages and the input.
fn output(p: &Params) -> Vec<VerilogStatement> {
    let stage = |k| gated(p.NMW, slice("data", k * p.NMW, p.NMW), bit("offer", k));
    let straight = gated(p.NMW, "in_data", wire("bypass") & wire("in_valid"));
    vec![
        assign(
            "out_valid",
            any("offer") | (wire("bypass") & wire("in_valid")),
        ),
        assign(
            "out_data",
            or_all([straight].into_iter().chain((0..p.NQ).map(stage))),
        ),
        assign("stage_valid", "valid"),
    ]
}

/// Emits `spad_nonmem_queue`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
        name: "spad_nonmem_queue".into(),
        summary: "NQ stages beside the memory stages. Elastic: a first-in first-out queue with taps on every stage and on EXE; fixed: a pipeline. Bubbles close up in both.".into(),
        parameters: p.text(&["M", "H", "NQ", "NMW"]),
        timing: "elastic: 0 cycles when empty and out_ready; fixed: at least NQ cycles".into(),
        paper: "elastic paper, section 4 and Eq. 4; microarchitecture/elastic-queues.md".into(),
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
        .signals(&[("valid", p.NQ), ("data", p.NQ * p.NMW)])
        .signals(&[("older", p.NQ), ("free", p.NQ)])
        .logic("sizes", sizes(p))
        .logic("offers", offers(p))
        .logic("moves", moves(p))
        .logic("output", output(p))
        .emit("spad_nonmem_queue.v.tera", p)?;
    Ok(vec![module])
}
