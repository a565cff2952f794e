//! The conflict arbiter: one conflict-free group of an access per cycle.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;

/// Emits `spad_conflict_arbiter`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let (l, m, r, b) = (p.L, p.m, p.R, p.B);
    let doc = UnitDoc {
        name: "spad_conflict_arbiter".into(),
        summary: "holds one access and serves one conflict-free group per cycle: in every bank \
                  the lowest waiting lane (the leader) and all waiting lanes on its row."
            .into(),
        parameters: p.text(&["n", "m", "L", "B", "R", "DG", "BCAST"]),
        timing: "an access that fires in cycle t is in the groups of t+1 and on, one for each \
                 cycle with adv; the next may fire with the last group"
            .into(),
        paper: "docs/microarchitecture.md, section 3; bank conflict degree as in all five papers"
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
        .input("adv", 1, "the present group is served in this cycle")
        .output("grp_valid", 1, "there is a group")
        .output("grp_last", 1, "it is the access's last")
        .output("grp_served", l, "its lanes")
        .output("grp_leader", l, "its leaders, at most one per bank")
        .output("grp_bank_valid", b, "banks that it uses")
        .output("grp_bank", l * m, "bank of each lane of the access")
        .output("grp_row", l * r, "row of each lane of the access")
        .output(
            "grp_degree",
            p.DG,
            "groups of the access up to this one; 0 if it has no lane to serve",
        )
        .emit("spad_conflict_arbiter.v.tera", p)?;
    Ok(vec![module])
}
