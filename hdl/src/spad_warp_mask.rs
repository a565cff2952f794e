//! The countdown that keeps memory warps apart.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;

/// Emits `spad_warp_mask`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
        name: "spad_warp_mask".into(),
        summary: "counts the cycles in which no memory warp may be scheduled: the passes of the one issued last plus its predicted excess.".into(),
        parameters: p.text(&["PW", "EX", "CW"]),
        timing: "issued in cycle s with P passes and excess x: mask is 1 from s+1 on, until P-1+x cycles without hold have passed".into(),
        paper: "elastic paper, sections 5.1 and 5.3, Eqs 3 and 7; docs/microarchitecture.md, section 14".into(),
        latency_cycles: 1,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("clear", 1, "kernel launch: as reset")
        .input(
            "set_valid",
            1,
            "a predicted instruction was issued in this cycle",
        )
        .input("set_base", p.PW, "number of its passes - 1")
        .input(
            "lk_hit",
            1,
            "the history knows it (one cycle after set_valid)",
        )
        .input("lk_excess", p.EX, "its excess")
        .input("hold", 1, "EX is held in this cycle: it does not count")
        .output("mask", 1, "memory warps are masked")
        .output(
            "remaining",
            p.CW,
            "cycles without hold that remain, this one included",
        )
        .emit("spad_warp_mask.v.tera", p)?;
    Ok(vec![module])
}
