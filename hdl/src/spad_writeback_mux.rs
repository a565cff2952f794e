//! The writeback port: one result per cycle, older stages first.

use crate::codes::source;
use crate::module::{Module, Result, UnitDoc};
use crate::params::{PAYLOAD, Params};
use crate::ports::ports;
use crate::property::one_at_most;
use crate::signal::{Bits, Expr, Signal, code, concat, or_all, when};
use crate::spad_skid::{self, Side};
use crate::unit::UnitBuilder;

/// Emits `spad_writeback_mux`, after the buffer in it.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    // If the issue is decided ahead, no ready may depend on a valid from outside.
    let by_turns = p.AHEAD > 0;
    let skid = spad_skid::emit_helper()?;
    let u = UnitBuilder::new(doc(p, by_turns));
    u.machine_parameter(p, "WBW", PAYLOAD);
    let io = Ports::declared(&u, p);
    u.about("The off-chip port has the turn.");
    let turn = if by_turns {
        u.register("turn", 1).reset(0)
    } else {
        u.wire("turn", 1)
    };
    u.about("The buffer has room for a result.");
    let free = u.wire("free", 1);
    u.paragraph();
    let turn_next = arbitrate(&u, &io, by_turns, turn, free);
    let taken = take(&u, &io);
    hold(&u, &io, &skid, &taken, free);
    if let Some(turn_next) = turn_next {
        u.paragraph();
        u.at_clock().when(free).next(turn, turn_next);
    }
    u.assertions(|| {
        let message = "two results are taken in one cycle";
        u.property(
            "one_is_taken",
            taken.valid,
            one_at_most(taken.from),
            message,
        );
    });
    Ok(vec![skid, u.emit()?])
}

fn doc(p: &Params, by_turns: bool) -> UnitDoc {
    let order = if by_turns {
        "by turns data from off-chip and the last memory stage, then the NONMEM queue."
    } else {
        "data from off-chip, then the last memory stage, then the NONMEM queue."
    };
    UnitDoc {
        name: "spad_writeback_mux".into(),
        summary: format!("selects one result per cycle for the writeback register: {order}"),
        parameters: p.text(&["WBW"]),
        timing: "one cycle".into(),
        paper: "elastic paper, section 4 and Fig. 4; microarchitecture/writeback-mux.md".into(),
        latency_cycles: 1,
    }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        icn_valid: input(1, "data from off-chip is offered"),
        icn_data: input(s.WBW, "payload of the off-chip data"),
        icn_ready: output(1, "off-chip data would be accepted"),
        mem_valid: input(1, "the result of the last memory stage is offered"),
        mem_data: input(s.WBW, "payload of the last memory stage"),
        mem_ready: output(1, "a result of the last memory stage would be accepted"),
        nm_valid: input(1, "the result of the NONMEM queue is offered"),
        nm_data: input(s.WBW, "payload of the NONMEM queue"),
        nm_ready: output(1, "a result of the NONMEM queue would be accepted"),
        wb_valid: output(1, "a result is written back"),
        wb_src: output(2, "0 icn, 1 mem, 2 nonmem; 0 if none"),
        wb_data: output(s.WBW, "payload written back; 0 if none"),
        wb_ready: input(1, "the port takes it"),
    }
}

/// Grants a source: off-chip data first, or alternating. Returns the next state of
/// `turn`, where that is a register.
fn arbitrate(
    u: &UnitBuilder,
    io: &Ports,
    by_turns: bool,
    turn: Signal,
    free: Signal,
) -> Option<Signal> {
    let turn_next = if by_turns {
        u.note(
            "The off-chip port is granted a slot after a request. A slot ends in a cycle with \
             space: without space neither side has used it.",
        );
        let turn_next = u.next_state(turn, io.icn_valid & !turn);
        u.assign(io.icn_ready, free & turn);
        Some(turn_next)
    } else {
        u.assign(turn, io.icn_valid);
        u.assign(io.icn_ready, free);
        None
    };
    u.assign(io.mem_ready, free & !turn);
    u.assign(io.nm_ready, free & !turn & !io.mem_valid);
    turn_next
}

fn from(port: u8) -> Expr {
    code(&source::FIELD, port)
}

/// The result that is taken.
struct Taken {
    /// The source of the granted result: off-chip, memory path, other path.
    from: [Signal; 3],
    valid: Signal,
    src: Signal,
    data: Signal,
}

fn take(u: &UnitBuilder, io: &Ports) -> Taken {
    u.paragraph();
    let take_icn = u.name("take_icn", io.icn_valid & io.icn_ready);
    let take_mem = u.name("take_mem", io.mem_valid & io.mem_ready);
    let take_nm = u.name("take_nm", io.nm_valid & io.nm_ready);
    let valid = u.name("in_valid", take_icn | take_mem | take_nm);
    let src = when(take_icn, from(source::ICN))
        .when(take_mem, from(source::MEM))
        .when(take_nm, from(source::NONMEM))
        .otherwise(from(source::ICN));
    let src = u.name("in_src", src);
    let sides = [
        (io.icn_data, take_icn),
        (io.mem_data, take_mem),
        (io.nm_data, take_nm),
    ];
    let data = or_all(sides.map(|(data, take)| data.gated(take)));
    Taken {
        from: [take_icn, take_mem, take_nm],
        valid,
        src,
        data: u.name("in_data", data),
    }
}

/// Holds two results: the one at the output, and one that arrived while the output was stalled.
fn hold(u: &UnitBuilder, io: &Ports, skid: &Module, taken: &Taken, free: Signal) {
    u.section(
        "Two results: the one that is shown, and one that arrived while the output was stalled. So \
         no ready depends on `wb_ready` of the same cycle. What is taken is zero where nothing is, \
         and so is what is shown.",
    );
    let result = |data: Signal, source: Signal| concat([data.into(), source.into()]);
    let from = Side::new(taken.valid, result(taken.data, taken.src), free);
    let to = Side::new(io.wb_valid, result(io.wb_data, io.wb_src), io.wb_ready);
    let buffer = ("results", "RESULT", true);
    spad_skid::instance(u, skid, [io.clk, io.rst], buffer, from, to);
}
