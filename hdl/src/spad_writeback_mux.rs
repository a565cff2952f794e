//! The writeback port: one result per cycle, older stages first.

use crate::codes::source;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, code, or_all, when};
use crate::unit::Unit;

/// Emits `spad_writeback_mux`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    // Where the issue is decided ahead, no ready may depend on a valid from outside.
    let by_turns = p.AHEAD > 0;
    let u = Unit::new(UnitDoc {
        name: "spad_writeback_mux".into(),
        summary: if by_turns {
            "selects one result per cycle for the writeback register: by turns data from off-chip and the last memory stage, then the NONMEM queue."
        } else {
            "selects one result per cycle for the writeback register: data from off-chip, then the last memory stage, then the NONMEM queue."
        }
        .into(),
        parameters: p.text(&["WBW"]),
        timing: "one cycle".into(),
        paper: "elastic paper, section 4 and Fig. 4; microarchitecture/writeback-mux.md".into(),
        latency_cycles: 1,
    });
    let [wbw] = u.sizes(p, ["WBW"]);
    u.clocked();
    let icn_valid = u.input("icn_valid", 1, "data from off-chip is offered");
    let icn_data = u.input("icn_data", wbw, "payload of the off-chip data");
    let icn_ready = u.output("icn_ready", 1, "the off-chip data is accepted");
    let mem_valid = u.input(
        "mem_valid",
        1,
        "the result of the last memory stage is offered",
    );
    let mem_data = u.input("mem_data", wbw, "payload of the memory path's result");
    let mem_ready = u.output("mem_ready", 1, "the memory path's result is accepted");
    let nm_valid = u.input("nm_valid", 1, "the result of the NONMEM queue is offered");
    let nm_data = u.input("nm_data", wbw, "payload of the other path's result");
    let nm_ready = u.output("nm_ready", 1, "the other path's result is accepted");
    let wb_valid = u.output("wb_valid", 1, "a result is written back");
    let wb_src = u.output("wb_src", 2, "0 icn, 1 mem, 2 nonmem; 0 if none");
    let wb_data = u.output("wb_data", wbw, "payload written back; 0 if none");
    let wb_ready = u.input("wb_ready", 1, "the port takes it");
    let [from_icn, from_mem, from_nonmem] =
        [source::ICN, source::MEM, source::NONMEM].map(|value| code(&source::FIELD, value));

    u.section(
        "Two results: the one that is shown, and one that came while it was not taken. So no \
         ready depends on `wb_ready` of the same cycle.",
    );
    let first_valid = u.register("first_valid", 1).reset(0);
    let first_src = u.register("first_src", 2).reset(from_icn.clone());
    let first = u.register("first", wbw).reset(0);
    let second_valid = u.register("second_valid", 1).reset(0);
    let second_src = u.register("second_src", 2).covered_by(second_valid);
    let second = u.register("second", wbw).covered_by(second_valid);

    // Who may hand over a result: data from off-chip first, or by turns.
    u.about("The off-chip port has the turn.");
    let turn = if by_turns {
        u.register("turn", 1).reset(0)
    } else {
        u.wire("turn", 1)
    };
    u.paragraph();
    let free = u.name("free", !second_valid);
    let mut turn_next = None;
    if by_turns {
        u.note(
            "The off-chip port has a turn after it asked for one. A turn is over in a cycle \
             with room: without room neither side has had it.",
        );
        turn_next = Some(u.next_state(turn, icn_valid & !turn));
        u.assign(icn_ready, free & turn);
    } else {
        u.assign(turn, icn_valid);
        u.assign(icn_ready, free);
    }
    u.assign(mem_ready, free & !turn);
    u.assign(nm_ready, free & !turn & !mem_valid);

    u.paragraph();
    let take_icn = u.name("take_icn", icn_valid & icn_ready);
    let take_mem = u.name("take_mem", mem_valid & mem_ready);
    let take_nm = u.name("take_nm", nm_valid & nm_ready);
    let in_valid = u.name("in_valid", take_icn | take_mem | take_nm);
    let source = when(take_icn, from_icn.clone())
        .when(take_mem, from_mem)
        .when(take_nm, from_nonmem)
        .otherwise(from_icn);
    let in_src = u.name("in_src", source);
    let sides = [
        (icn_data, take_icn),
        (mem_data, take_mem),
        (nm_data, take_nm),
    ];
    let in_data = u.name(
        "in_data",
        or_all(sides.map(|(data, take)| data.gated(take))),
    );

    u.paragraph();
    u.assign(wb_valid, first_valid);
    u.assign(wb_src, first_src);
    u.assign(wb_data, first);
    let moves = u.name("move", wb_ready | !first_valid);
    let first_valid_next = u.next_state(first_valid, second_valid | in_valid);
    let first_src_next = u.next_state(first_src, when(second_valid, second_src).otherwise(in_src));
    let first_next = u.next_state(first, when(second_valid, second).otherwise(in_data));
    let second_valid_next = u.next_state(second_valid, !moves & (second_valid | in_valid));

    u.paragraph();
    if let Some(turn_next) = turn_next {
        u.at_clock().when(free).next(turn, turn_next);
    }
    u.at_clock()
        .when(moves)
        .next(first_valid, first_valid_next)
        .next(first_src, first_src_next)
        .next(first, first_next);
    u.at_clock().next(second_valid, second_valid_next);
    u.about("No reset: `second_valid_q` covers it.");
    u.at_clock()
        .when(free)
        .next(second_src, in_src)
        .next(second, in_data);
    Ok(vec![u.emit()?])
}
