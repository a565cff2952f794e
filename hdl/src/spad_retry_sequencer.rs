//! The retry loop of atomic operations.

use crate::expr::{Expr, number, product, reaches, same, sum, table, up, wire};
use crate::expr::{above, all, any, assign, choose, constant, extended, gated, is, note};
use crate::module::HdlError;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_atomic_alu, spad_pick};
use rust_hdl::core::ast::VerilogStatement;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    /// Lanes that are updated in a cycle.
    alus: usize,
    /// Cycles in which all are.
    turns: usize,
}

fn state(code: &str) -> Expr {
    is("now", code)
}

/// The cycles of the states.
fn latencies(p: &Params) -> Vec<VerilogStatement> {
    let latencies = [("LR", p.LR), ("LU", p.LU), ("LWR", p.LWR), ("LB", p.LB)];
    let named = |(name, cycles)| constant(name, p.CTW, cycles);
    latencies.into_iter().map(named).collect()
}

/// What happens in this cycle.
fn events() -> Vec<VerilogStatement> {
    vec![
        assign("idle", state("SEQ_IDLE")),
        assign("reading", state("SEQ_READ")),
        assign("writing", state("SEQ_WRITE")),
        assign("done", state("SEQ_DONE")),
        assign("accept", wire("at_valid") & wire("at_ready")),
        assign("fire", wire("sp_valid") & wire("sp_ready")),
        assign("unsupported", above("at_aop", "AOP_SMAX")),
        assign(
            "failed",
            wire("err") | (wire("sr_valid") & wire("sr_error")),
        ),
    ]
}

/// When a read or a write is over: it takes its latency for each group that
/// the answer tells of.
fn answer(p: &Params) -> Vec<VerilogStatement> {
    let latency = [(wire("writing"), wire("LWR"))];
    let total = product(extended(p.CTW, "sr_degree"), "latency");
    vec![
        choose("latency", latency, "LR"),
        choose("due", [(wire("sr_valid"), total)], "tgt"),
        assign(
            "answered",
            (wire("got") | wire("sr_valid")) & reaches("cnt", "due"),
        ),
    ]
}

/// The next state. A round goes from READ through BRANCH, and again while
/// lanes wait for their lock.
fn next_state() -> Vec<VerilogStatement> {
    let after = |state: &str| format!("after_{}", state.to_lowercase());
    let goes = |state: &str, cases: &[(Expr, &str)], otherwise: &str| {
        let cases = cases.iter().cloned();
        let coded = cases.map(|(when, next)| (when, wire(&format!("SEQ_{next}"))));
        choose(
            &after(state),
            coded.collect::<Vec<_>>(),
            wire(&format!("SEQ_{otherwise}")),
        )
    };
    let over = |latency| is("cnt", latency);
    let refused = wire("unsupported") | !any("at_mask");
    let states = ["IDLE", "READ", "UPDATE", "WRITE", "BRANCH", "DONE"];
    let names = states.map(|state| (format!("SEQ_{state}"), wire(&after(state))));
    let cases = names
        .iter()
        .map(|(code, next)| (code.as_str(), next.clone()));
    vec![
        goes(
            "IDLE",
            &[(!wire("at_valid"), "IDLE"), (refused, "DONE")],
            "READ",
        ),
        goes(
            "READ",
            &[(!wire("answered"), "READ"), (wire("failed"), "DONE")],
            "UPDATE",
        ),
        goes(
            "UPDATE",
            &[(!over("LU"), "UPDATE"), (any("winners"), "WRITE")],
            "BRANCH",
        ),
        goes("WRITE", &[(wire("answered"), "BRANCH")], "WRITE"),
        goes(
            "BRANCH",
            &[(!over("LB"), "BRANCH"), (any("waiting"), "READ")],
            "DONE",
        ),
        goes("DONE", &[(wire("sp_ready"), "IDLE")], "DONE"),
        table("next", "now", cases.collect(), "SEQ_IDLE"),
    ]
}

/// Within a state: its cycles, its request, its answer; the turn of UPDATE.
fn progress(p: &Params, turns: usize) -> Vec<VerilogStatement> {
    let cycles = [
        (wire("leaves"), number(p.CTW, 1)),
        (all("cnt"), wire("cnt")),
    ];
    let begins = wire("reading") & is("next", "SEQ_UPDATE");
    vec![
        assign("leaves", !same("next", "now")),
        choose("cnt_next", cycles, sum("cnt", number(p.CTW, 1))),
        assign("sent_next", !wire("leaves") & (wire("sent") | wire("fire"))),
        assign(
            "got_next",
            !wire("leaves") & (wire("got") | wire("sr_valid")),
        ),
        choose("turn_next", [(begins, number(turns, 1))], up("turn", 1)),
    ]
}

/// What a pass has come to: lanes that wait and that have their lock, the
/// degree of the first read, errors, rounds.
fn pass(p: &Params) -> Vec<VerilogStatement> {
    let accepted = |value: &str| (wire("accept"), wire(value));
    let zero = |width| (wire("accept"), number(width, 0));
    let begins = wire("reading") & wire("fire") & !all("begun");
    let stored = wire("writing") & wire("answered");
    let served = wire("waiting") & !wire("winners");
    let read = || wire("read");
    vec![
        assign("read", wire("reading") & wire("sr_valid")),
        choose(
            "waiting_next",
            [accepted("at_mask"), (stored, served)],
            "waiting",
        ),
        choose("winners_next", [(read(), wire("sr_success"))], "winners"),
        choose(
            "deg1_next",
            [zero(p.DG), (read() & wire("first"), wire("sr_degree"))],
            "deg1",
        ),
        assign("first_next", wire("accept") | (wire("first") & !read())),
        choose(
            "err_next",
            [accepted("unsupported"), (read(), wire("failed"))],
            "err",
        ),
        choose(
            "begun_next",
            [zero(16), (begins, sum("begun", number(16, 1)))],
            "begun",
        ),
    ]
}

/// Whether the next cycle makes a request, and for which lanes: both from
/// registers, because all of the request hangs on them.
fn asking() -> Vec<VerilogStatement> {
    let lanes = [
        (wire("accept"), wire("at_mask")),
        (wire("begins_read"), wire("waiting")),
    ];
    vec![
        assign("begins_read", is("next", "SEQ_READ")),
        assign(
            "locks_next",
            (wire("begins_read") | is("next", "SEQ_WRITE")) & !wire("sent_next"),
        ),
        assign("asking_next", wire("locks_next") | is("next", "SEQ_DONE")),
        choose("lanes_next", lanes, "winners"),
    ]
}

/// What is asked of the scratchpad, and what is handed over at the end.
fn request(p: &Params) -> Vec<VerilogStatement> {
    let operations = [
        (wire("done") | !wire("asking"), wire("OP_PASS")),
        (wire("reading"), wire("OP_LDLK")),
    ];
    let begun = gated(16, "begun", !wire("idle"));
    vec![
        assign("sp_valid", "asking"),
        choose("sp_op", operations, "OP_STUL"),
        note("Lanes outside the mask are zero."),
        assign("sp_mask", wire("asks") | gated(p.L, "mask0", "done")),
        assign("stores", gated(p.L, "asks", "writing")),
        assign("sp_tag", gated(p.TGW, "tag", "sp_valid")),
        assign("shows", wire("done") & !wire("err")),
        assign("sp_error", wire("done") & wire("err")),
        assign("sp_degree", gated(p.DG, "deg1", "done")),
        assign("at_ready", "idle"),
        assign("state", "now"),
        assign("rounds", begun),
    ]
}

/// The registers that the logic reads.
fn registers(shell: Shell, p: &Params, turns: usize) -> Shell {
    shell
        .signals(&[("now", 3), ("cnt", p.CTW), ("tgt", p.CTW)])
        .signals(&[("sent", 1), ("got", 1), ("first", 1), ("err", 1)])
        .signals(&[("mask0", p.L), ("waiting", p.L), ("winners", p.L)])
        .signals(&[("asking", 1), ("asks", p.L)])
        .signals(&[
            ("deg1", p.DG),
            ("tag", p.TGW),
            ("begun", 16),
            ("turn", turns),
        ])
}

/// Emits `spad_retry_sequencer`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    if p.LOCKS == 0 {
        return Err(HdlError::NotThere {
            unit: "spad_retry_sequencer".into(),
            reason: "it has no locks ([path] locks)".into(),
        });
    }
    // As few as get through all lanes in the cycles of UPDATE. Where they take
    // turns, the operands of one wait in a register for the next cycle.
    let alus = p.L.div_ceil((p.LU - 1).max(1)).next_power_of_two();
    let turns = p.L / alus;
    let pick = match turns {
        1 => None,
        _ => Some(spad_pick::emit_helper()?),
    };
    let alu = spad_atomic_alu::emit_kernel(p)?;
    let extra = Extra { alus, turns };
    let doc = UnitDoc {
        name: "spad_retry_sequencer".into(),
        summary: "executes one pass of an atomic operation as rounds of load-and-lock, update, \
                  store-and-unlock, branch, until every lane has had its lock. Operations: 0 add, \
                  1 and, 2 or, 3 xor, 4 exchange, 5 umin, 6 umax, 7 smin, 8 smax. ALUS lanes are \
                  updated in a cycle."
            .into(),
        parameters: p.text(&[
            "L", "m", "R", "LK", "D", "DG", "LR", "LU", "LWR", "LB", "TGW",
        ]),
        timing: "a round takes LR * r + LU + LWR * w + LB cycles for degrees r of the read and w \
                 of the write"
            .into(),
        paper: "atomics paper, sections II and III; microarchitecture/retry-sequencer.md".into(),
        latency_cycles: 1,
    };
    let mut shell = Shell::new(doc)
        .clocked()
        .input("at_valid", 1, "a pass is offered")
        .output("at_ready", 1, "it is taken: the sequencer is idle")
        .input("at_aop", 4, "operation")
        .input("at_mask", p.L, "active lanes")
        .input("at_bank", p.L * p.m, "bank, m bits per lane")
        .input("at_row", p.L * p.R, "row, R bits per lane")
        .input("at_lock", p.L * p.LK, "lock, LK bits per lane")
        .input("at_data", p.L * p.D, "operand, D bits per lane")
        .input("at_tag", p.TGW, "comes back with the result")
        .output("sp_valid", 1, "a scratchpad request is offered")
        .input("sp_ready", 1, "it is taken")
        .output(
            "sp_op",
            3,
            "3 load and lock, 4 store and unlock, 0 the final pass",
        )
        .output("sp_mask", p.L, "its lanes")
        .output("sp_bank", p.L * p.m, "their banks; else 0")
        .output("sp_row", p.L * p.R, "their rows; else 0")
        .output("sp_lock", p.L * p.LK, "their locks; else 0")
        .output(
            "sp_data",
            p.L * p.D,
            "data of a store, or the old words at the end; else 0",
        )
        .output("sp_tag", p.TGW, "tag of the pass")
        .output("sp_error", 1, "at the end: error")
        .output("sp_degree", p.DG, "at the end: degree of the first read")
        .input("sr_valid", 1, "response to one of its requests")
        .input("sr_mask", p.L, "its lanes")
        .input("sr_data", p.L * p.D, "words read")
        .input("sr_success", p.L, "lanes that took their lock")
        .input("sr_error", 1, "error")
        .input("sr_degree", p.DG, "conflict degree")
        .output(
            "state",
            3,
            "0 idle, 1 read, 2 update, 3 write, 4 branch, 5 done",
        )
        .output("rounds", 16, "rounds begun in this pass")
        .unused(true, "sr_mask", "the mask of the request is known");
    shell = registers(shell, p, turns)
        .logic("latencies", latencies(p))
        .logic("events", events())
        .logic("answer", answer(p))
        .logic("next_state", next_state())
        .logic("progress", progress(p, turns))
        .logic("pass", pass(p))
        .logic("asking", asking())
        .logic("request", request(p))
        .instantiates(&alu);
    if let Some(pick) = &pick {
        shell = shell.instantiates(pick);
    }
    let module = shell.emit_with("spad_retry_sequencer.v.tera", p, &extra)?;
    Ok(pick.into_iter().chain([alu, module]).collect())
}
