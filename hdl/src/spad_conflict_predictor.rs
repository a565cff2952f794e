//! The conflict prediction: degrees of the past, by program counter, become
//! cycles in which no memory warp goes.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_conflict_history, spad_degree_accumulator, spad_warp_mask};

/// Emits `spad_conflict_predictor` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let parts = [
        spad_degree_accumulator::emit_unit(p)?,
        spad_conflict_history::emit_unit(p)?,
        spad_warp_mask::emit_unit(p)?,
    ];
    let doc = UnitDoc {
        name: "spad_conflict_predictor".into(),
        summary: "remembers what the instructions at each program counter cost in MEM0 and \
                  masks memory warps behind the next one for as long."
            .into(),
        parameters: p.text(&["PW", "DG", "OCC", "EX", "SETS", "AHEAD"]),
        timing: "taken in cycle s with P passes and excess x: behind the passes mask is 1 for x \
                 cycles without hold"
            .into(),
        paper: "elastic paper, section 5; microarchitecture/warp-mask.md".into(),
        latency_cycles: 1,
    };
    let shell = Shell::new(doc)
        .clocked()
        .input("clear", 1, "kernel launch: as reset")
        .input(
            "resolved_valid",
            1,
            "a predicted pass leaves the scratchpad",
        )
        .input("resolved_occ", p.OCC, "cycles that it took in MEM0")
        .input("resolved_last", 1, "it is the instruction's last")
        .input("resolved_pc", p.PCW, "the instruction's program counter")
        .input(
            "set_valid",
            1,
            "a predicted instruction is taken in this cycle",
        )
        .input("set_pc", p.PCW, "its program counter")
        .input("set_base", p.PW, "number of its passes - 1")
        .input("hold", 1, "EX is held in this cycle: it does not count")
        .output("mask", 1, "memory warps are masked")
        .output(
            "mask_lasts",
            1,
            "they will be in the next cycle, too, if EX is not held in this one",
        )
        .output(
            "mask_likely",
            1,
            "AHEAD = 3: some instruction has had an excess; else 0",
        );
    let module = shell
        .instantiates_last(&parts)
        .emit("spad_conflict_predictor.v.tera", p)?;
    Ok(parts.into_iter().flatten().chain([module]).collect())
}
