//! The queue in front of the memory stages, with bypass.

use crate::expr::{assign, choose, difference, equals, gated, number, slice, sum, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use rust_hdl::core::ast::VerilogStatement;

/// Whether there is room, and the entry that is offered. Depth 0: wires.
fn ports(p: &Params) -> Vec<VerilogStatement> {
    let whole = |value: &str| assign("out_data", gated(p.PREW, value, "out_valid"));
    if p.PQ == 0 {
        return vec![
            assign("in_ready", "out_ready"),
            assign("out_valid", "in_valid"),
            whole("in_data"),
            assign("count", number(p.PQW, 0)),
        ];
    }
    let oldest = slice("entry", 0, p.PREW);
    vec![
        assign("empty", equals("held", p.PQW, 0)),
        assign("full", equals("held", p.PQW, p.PQ)),
        choose("oldest", [(wire("empty"), wire("in_data"))], oldest),
        assign(
            "in_ready",
            wire("out_ready") | (wire("cfg_on") & !wire("full")),
        ),
        assign("out_valid", !wire("empty") | wire("in_valid")),
        whole("oldest"),
        assign("count", "held"),
    ]
}

/// What goes in and out of the entries, and how many are there then.
fn entries(p: &Params) -> Vec<VerilogStatement> {
    let one = || number(p.PQW, 1);
    let passes = wire("empty") & wire("out_ready");
    vec![
        assign("pop", !wire("empty") & wire("out_ready")),
        assign("push", wire("in_valid") & wire("in_ready") & !passes),
        choose("left", [(wire("pop"), difference("held", one()))], "held"),
        choose("held_next", [(wire("push"), sum("left", one()))], "left"),
    ]
}

/// Emits `spad_premem_queue`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
        name: "spad_premem_queue".into(),
        summary: "first-in first-out queue of PQ entries in front of MEM0. An entry that finds it empty and MEM0 ready passes in the same cycle; a full queue takes an entry in the cycle in which it gives one. Depth 0 is wires.".into(),
        parameters: p.text(&["L", "WS", "PQ", "PREW"]),
        timing: "0 cycles when empty and out_ready, else in order".into(),
        paper: "elastic paper, section 4.3 and Fig. 4; microarchitecture/elastic-queues.md".into(),
        latency_cycles: 0,
    };
    let mut shell = Shell::new(doc)
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
        .signals(&[("entry", p.PQ * p.PREW), ("held", p.PQW)])
        .logic("ports", ports(p));
    if p.PQ > 0 {
        shell = shell.logic("entries", entries(p));
    }
    Ok(vec![shell.emit("spad_premem_queue.v.tera", p)?])
}
