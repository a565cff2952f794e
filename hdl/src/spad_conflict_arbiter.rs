//! The conflict arbiter: one conflict-free group of an access per cycle.

use crate::expr::{any, assign, choose, gated, number, sum, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use rust_hdl::core::ast::VerilogStatement;

/// What comes in, what moves on.
fn events(p: &Params) -> Vec<VerilogStatement> {
    vec![
        assign("req_ready", !wire("busy") | (wire("adv") & wire("last"))),
        assign("fire", wire("req_valid") & wire("req_ready")),
        assign("step", wire("busy") & wire("adv")),
        assign("coming", gated(p.L, "req_mask", "req_access")),
        assign("remain", wire("pend") & wire("kept_off")),
    ]
}

/// The group that is shown. Nothing waits while the arbiter is idle, so `pend`
/// needs no gate.
fn group(p: &Params) -> Vec<VerilogStatement> {
    let degree = sum("cnt", number(p.DG, 1));
    vec![
        assign("grp_valid", "busy"),
        assign("grp_last", wire("busy") & wire("last")),
        assign("grp_served", wire("pend") & !wire("kept_off")),
        assign("grp_leader", wire("pend") & !wire("follows")),
        assign("grp_bank", "bank"),
        assign("grp_row", "row"),
        assign(
            "grp_degree",
            gated(p.DG, degree, wire("busy") & wire("acc")),
        ),
    ]
}

/// Who waits behind this cycle, and whether one group serves them all: nobody
/// clashes with an earlier lane.
fn next(p: &Params) -> Vec<VerilogStatement> {
    let count = [(wire("fire"), number(p.DG, 0)), (wire("last"), wire("cnt"))];
    let alone = |lanes| !any(wire(lanes));
    vec![
        assign("busy_next", wire("fire") | !wire("last")),
        choose("pend_next", [(wire("fire"), wire("coming"))], "remain"),
        choose(
            "last_next",
            [(wire("fire"), alone("clash_coming"))],
            alone("clash_remaining"),
        ),
        choose("cnt_next", count, sum("cnt", number(p.DG, 1))),
    ]
}

/// Emits `spad_conflict_arbiter`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let (l, m, r, b) = (p.L, p.m, p.R, p.B);
    let doc = UnitDoc {
        name: "spad_conflict_arbiter".into(),
        summary: "holds one access and serves one conflict-free group per cycle: in every bank \
                  the lowest waiting lane (the leader) and all waiting lanes on its row; a byte \
                  of their word is written by the lowest of them that enables it (MERGE = 1), or \
                  all bytes by the leader (MERGE = 0)."
            .into(),
        parameters: p.text(&["n", "m", "L", "B", "R", "BE", "DG", "BCAST", "MERGE"]),
        timing: "an access that fires in cycle t is in the groups of t+1 and on, one for each \
                 cycle with adv; the next may fire with the last group"
            .into(),
        paper: "microarchitecture/conflict-arbiter.md; bank conflict degree as in all five papers"
            .into(),
        latency_cycles: 1,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("req_valid", 1, "an access is offered")
        .output("req_ready", 1, "it is taken at the end of this cycle")
        .input("req_mask", l, "active lanes")
        .input("req_access", 1, "0: no lane is served, one empty group")
        .input("req_bank", l * m, "bank, m bits per lane")
        .input("req_row", l * r, "row, R bits per lane")
        .input("req_be", l * p.BE, "bytes to write, BE bits per lane")
        .input("adv", 1, "the present group is served in this cycle")
        .output("grp_valid", 1, "there is a group")
        .output("grp_last", 1, "it is the access's last")
        .output("grp_served", l, "its lanes")
        .output("grp_leader", l, "its leaders, at most one per bank")
        .output(
            "grp_writes",
            l * p.BE,
            "bytes each lane writes if the access is a store; a byte of a bank is of one lane at most",
        )
        .output("grp_bank_valid", b, "banks that it uses")
        .output("grp_bank", l * m, "bank of each lane of the access")
        .output("grp_row", l * r, "row of each lane of the access")
        .output(
            "grp_degree",
            p.DG,
            "groups of the access up to this one; 0 if it has no lane to serve",
        )
        .unused(!p.MERGE, "req_be", "the leader writes its whole word")
        .signals(&[("busy", 1), ("last", 1), ("acc", 1), ("cnt", p.DG)])
        .signals(&[("pend", l), ("bank", l * m), ("row", l * r)])
        .signals(&[("follows", l), ("kept_off", l)])
        .signals(&[("clash_coming", l), ("clash_remaining", l)])
        .logic("events", events(p))
        .logic("group", group(p))
        .logic("next", next(p))
        .emit("spad_conflict_arbiter.v.tera", p)?;
    Ok(vec![module])
}
