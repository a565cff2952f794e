//! The writeback port: one result per cycle, older stages first.

use crate::expr::{assign, choose, gated, note, or_all, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use rust_hdl::core::ast::VerilogStatement;

/// Who may hand over a result: data from off-chip first, or by turns where the
/// issue is decided ahead and no ready may depend on a valid from outside.
fn grant(p: &Params) -> Vec<VerilogStatement> {
    let mut logic = vec![assign("free", !wire("second_valid"))];
    match p.AHEAD {
        0 => logic.extend([assign("turn", "icn_valid"), assign("icn_ready", "free")]),
        _ => logic.extend([
            note(
                "The off-chip port has a turn after it asked for one. A turn is over in a cycle \
                 with room: without room neither side has had it.",
            ),
            assign("turn_next", wire("icn_valid") & !wire("turn")),
            assign("icn_ready", wire("free") & wire("turn")),
        ]),
    }
    let inside = || wire("free") & !wire("turn");
    logic.extend([
        assign("mem_ready", inside()),
        assign("nm_ready", inside() & !wire("mem_valid")),
    ]);
    logic
}

/// The result that is handed over.
fn taken(p: &Params) -> Vec<VerilogStatement> {
    let sides = ["icn", "mem", "nm"];
    let take = |side| wire(&format!("take_{side}"));
    let mut logic: Vec<_> = sides
        .iter()
        .map(|side| {
            let [valid, ready] = ["valid", "ready"].map(|what| wire(&format!("{side}_{what}")));
            assign(&format!("take_{side}"), valid & ready)
        })
        .collect();
    let data = sides.map(|side| gated(p.WBW, &*format!("{side}_data"), take(side)));
    let sources = [
        (take("icn"), wire("SOURCE_ICN")),
        (take("mem"), wire("SOURCE_MEM")),
        (take("nm"), wire("SOURCE_NONMEM")),
    ];
    logic.extend([
        assign("in_valid", or_all(sides.map(take))),
        choose("in_src", sources, "SOURCE_ICN"),
        assign("in_data", or_all(data)),
    ]);
    logic
}

/// What is shown, and what is kept in the next cycle.
fn entries() -> Vec<VerilogStatement> {
    let older =
        |name, second: &str, new: &str| choose(name, [(wire("second_valid"), wire(second))], new);
    let comes = || wire("second_valid") | wire("in_valid");
    vec![
        assign("wb_valid", "first_valid"),
        assign("wb_src", "first_src"),
        assign("wb_data", "first"),
        assign("move", wire("wb_ready") | !wire("first_valid")),
        assign("first_valid_next", comes()),
        older("first_src_next", "second_src", "in_src"),
        older("first_next", "second", "in_data"),
        assign("second_valid_next", !wire("move") & comes()),
    ]
}

/// Emits `spad_writeback_mux`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
        name: "spad_writeback_mux".into(),
        summary: "selects one result per cycle for the writeback register: data from off-chip, then the last memory stage, then the NONMEM queue.".into(),
        parameters: p.text(&["WBW"]),
        timing: "one cycle".into(),
        paper: "elastic paper, section 4 and Fig. 4; microarchitecture/writeback-mux.md".into(),
        latency_cycles: 1,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("icn_valid", 1, "data from off-chip is offered")
        .input("icn_data", p.WBW, "its payload")
        .output("icn_ready", 1, "it is taken")
        .input(
            "mem_valid",
            1,
            "the result of the last memory stage is offered",
        )
        .input("mem_data", p.WBW, "its payload")
        .output("mem_ready", 1, "it is taken")
        .input("nm_valid", 1, "the result of the NONMEM queue is offered")
        .input("nm_data", p.WBW, "its payload")
        .output("nm_ready", 1, "it is taken")
        .output("wb_valid", 1, "a result is written back")
        .output("wb_src", 2, "0 icn, 1 mem, 2 nonmem; 0 if none")
        .output("wb_data", p.WBW, "its payload; 0 if none")
        .input("wb_ready", 1, "the port takes it")
        .signals(&[("turn", 1)])
        .signals(&[("first_valid", 1), ("first_src", 2), ("first", p.WBW)])
        .signals(&[("second_valid", 1), ("second_src", 2), ("second", p.WBW)])
        .logic("grant", grant(p))
        .logic("taken", taken(p))
        .logic("entries", entries())
        .emit("spad_writeback_mux.v.tera", p)?;
    Ok(vec![module])
}
