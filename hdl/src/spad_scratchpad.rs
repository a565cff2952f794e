//! The scratchpad: banks, arbiter, crossbars, locks, request and response stage.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_bank_ram, spad_conflict_arbiter, spad_crossbar, spad_lock_unit};
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    /// There are row numbers without a row.
    holes: bool,
    /// A bank takes fewer row bits than the address has.
    short_rows: bool,
}

/// Emits `spad_scratchpad` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let mut parts = spad_conflict_arbiter::emit_unit(p)?;
    parts.extend(spad_crossbar::emit_unit(p)?);
    parts.extend(spad_bank_ram::emit_unit(p)?);
    if p.LOCKS > 0 {
        parts.extend(spad_lock_unit::emit_unit(p)?);
    }
    let extra = Extra {
        holes: p.ROWS != 1 << p.R,
        short_rows: p.RW < p.R,
    };
    let (l, d) = (p.L, p.D);
    let doc = UnitDoc {
        name: "spad_scratchpad".into(),
        summary:
            "the scratchpad of L lanes and B banks in MS stages: loads, stores, load-and-lock, \
                  store-and-unlock, one conflict-free group a cycle; lanes on one word are \
                  served together. Operations: 0 pass, 1 load, 2 store, 3 load and lock, \
                  4 store and unlock; others are answered with an error."
                .into(),
        parameters: p.text(&[
            "n", "m", "L", "B", "R", "ROWS", "D", "LOCKS", "LKG", "MERGE", "MS", "TGW",
        ]),
        timing: "an access of degree d answers MS - 1 + max(1, d) cycles after the cycle in which \
                 it fires (with locks LKG * max(1, d)); one access per cycle at d <= 1"
            .into(),
        paper: "docs/microarchitecture.md, section 7; atomics paper, section II".into(),
        latency_cycles: p.MS as u32,
    };
    let mut shell = Shell::new(doc)
        .clocked()
        .input("req_valid", 1, "a request is offered")
        .output("req_ready", 1, "it is taken at the end of this cycle")
        .input("req_op", 3, "operation")
        .input("req_mask", l, "active lanes")
        .input("req_bank", l * p.m, "bank, m bits per lane")
        .input("req_row", l * p.R, "row, R bits per lane")
        .input("req_lock", l * p.LK, "lock, LK bits per lane")
        .input("req_data", l * d, "data, D bits per lane")
        .input(
            "req_be",
            l * p.BE,
            "byte enables of a store, BE bits per lane",
        )
        .input("req_tag", p.TGW, "comes back with the response")
        .output("resp_valid", 1, "a response is offered")
        .input("resp_ready", 1, "it is taken")
        .output("resp_op", 3, "operation of the request")
        .output("resp_mask", l, "active lanes of the request")
        .output("resp_tag", p.TGW, "tag of the request")
        .output(
            "resp_data",
            l * d,
            "words read, or the data of a pass; else 0",
        )
        .output("resp_success", l, "lanes that took their lock")
        .output(
            "resp_error",
            1,
            "unsupported operation, or a row beyond the capacity",
        )
        .output("resp_degree", p.DG, "conflict degree")
        .output(
            "stages",
            p.MS - 1,
            "MEM1 and on, from bit 0: the stage holds the last group of an access",
        )
        .output(
            "busy_more",
            1,
            "bank conflict: the access in MEM0 stays for another cycle",
        )
        .output("blocked", 1, "the response stage cannot take a group")
        .outputs_depend_on(|output| match output {
            "req_ready" | "blocked" => vec!["resp_ready"],
            _ => Vec::new(),
        })
        .unused(p.LOCKS == 0, "req_lock", "the machine has no locks");
    for part in &parts {
        let direct = part.doc.name.as_str();
        if [
            "spad_conflict_arbiter",
            "spad_crossbar",
            "spad_bank_ram",
            "spad_lock_unit",
        ]
        .contains(&direct)
        {
            shell = shell.instantiates(part);
        }
    }
    let module = shell.emit_with("spad_scratchpad.v.tera", p, &extra)?;
    parts.push(module);
    Ok(parts)
}
