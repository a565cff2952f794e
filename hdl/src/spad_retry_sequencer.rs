//! The retry loop of atomic operations.

use crate::module::HdlError;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::spad_pick;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    /// Lanes that are updated in a cycle.
    alus: usize,
    /// Cycles in which all are.
    turns: usize,
    /// The selector of a turn's words.
    pick: String,
}

/// Emits `spad_retry_sequencer`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    if p.LOCKS == 0 {
        return Err(HdlError::Machine {
            expected: "locks: the machine has none, so it has no spad_retry_sequencer".into(),
        });
    }
    // As few as get through all lanes in the cycles of UPDATE.
    let alus = p.L.div_ceil(p.LU).next_power_of_two();
    let turns = p.L / alus;
    let pick = match turns {
        1 => None,
        _ => Some(spad_pick::emit_helper(p, turns, p.D)?),
    };
    let extra = Extra {
        alus,
        turns,
        pick: pick.as_ref().map_or(String::new(), |m| m.doc.name.clone()),
    };
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
        paper: "atomics paper, sections II and III; docs/microarchitecture.md, section 8".into(),
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
    if let Some(pick) = &pick {
        shell = shell.instantiates(pick);
    }
    let module = shell.emit_with("spad_retry_sequencer.v.tera", p, &extra)?;
    Ok(pick.into_iter().chain([module]).collect())
}
