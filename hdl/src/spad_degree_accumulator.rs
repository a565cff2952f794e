//! The conflict degree of a whole warp instruction.

use crate::expr::{assign, choose, difference, exceeds, extended, gated, note, number};
use crate::expr::{slice, sum, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use rust_hdl::core::ast::VerilogStatement;

/// The excess with the pass that is resolved.
fn total(p: &Params) -> Vec<VerilogStatement> {
    let (bits, most) = (p.EX.max(p.OCC) + 1, (1 << p.EX) - 1);
    let both = sum(extended(bits, "sum"), extended(bits, "resolved_occ"));
    let over = exceeds("wide", number(bits, most));
    vec![
        note("Wide enough for both terms; everything above the field saturates."),
        assign("wide", difference(both, number(bits, 1))),
        choose(
            "total",
            [(over, number(p.EX, most))],
            slice("wide", 0, p.EX),
        ),
    ]
}

/// What is counted and offered in the next cycle.
fn next(p: &Params) -> Vec<VerilogStatement> {
    let over = wire("clear") | (wire("resolved_valid") & wire("resolved_last"));
    let cases = [
        (over, number(p.EX, 0)),
        (wire("resolved_valid"), wire("total")),
    ];
    vec![
        choose("sum_next", cases, "sum"),
        assign(
            "done",
            wire("resolved_valid") & wire("resolved_last") & !wire("clear"),
        ),
        assign("pc_next", gated(p.PCW, "resolved_pc", "done")),
        assign("excess_next", gated(p.EX, "total", "done")),
    ]
}

/// Emits `spad_degree_accumulator`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
        name: "spad_degree_accumulator".into(),
        summary: "sums the extra cycles in MEM0 of the passes of one warp instruction, for the conflict history. Saturates.".into(),
        parameters: p.text(&["OCC", "EX", "PCW"]),
        timing: "the update is offered for one cycle, the one after the last pass".into(),
        paper: "elastic paper, section 5.2 and Eq. 6; microarchitecture/conflict-history.md".into(),
        latency_cycles: 1,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("clear", 1, "kernel launch: the sum starts again")
        .input("resolved_valid", 1, "a pass is resolved")
        .input(
            "resolved_occ",
            p.OCC,
            "cycles that it took in MEM0, at least 1",
        )
        .input("resolved_last", 1, "it is the last of its instruction")
        .input("resolved_pc", p.PCW, "program counter")
        .output("up_valid", 1, "an instruction is complete")
        .output("up_pc", p.PCW, "its program counter; else 0")
        .output(
            "up_excess",
            p.EX,
            "sum of (cycles - 1) over its passes; else 0",
        )
        .signals(&[("sum", p.EX)])
        .logic("total", total(p))
        .logic("next", next(p))
        .emit("spad_degree_accumulator.v.tera", p)?;
    Ok(vec![module])
}
