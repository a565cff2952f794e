//! Which warps may issue, and what each has in flight.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::spad_eligible_warp;

/// Emits `spad_eligibility` behind its slice.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let slice = spad_eligible_warp::emit_kernel()?;
    let doc = UnitDoc {
        name: "spad_eligibility".into(),
        summary: "which warps may issue, by what they offer and have in flight; counts the \
                  instructions in flight of each warp, per path."
            .into(),
        parameters: p.text(&["W"]),
        timing: "combinational from the offers; what starts or retires counts in the next cycle"
            .into(),
        paper: "elastic paper, section 4; microarchitecture/issue.md".into(),
        latency_cycles: 0,
    };
    let module = Shell::new(doc)
        .clocked()
        .input(
            "cfg_barrel",
            2,
            "0 strict, 1 relaxed, 2 and 3 relaxed with in-order commit per warp",
        )
        .input("off_valid", p.W, "the warp offers an instruction")
        .input("off_kind", p.W * 4, "its kind, 4 bits per warp")
        .input("allow", p.W, "the access unit lets it")
        .input(
            "busy",
            p.W,
            "an instruction of the warp is on its way to EX",
        )
        .input("atom_infl", 1, "an ATOMIC is in flight")
        .input("ex_relssp", 1, "a RELSSP is in EX")
        .input("ex_warp", p.WW, "the warp in EX")
        .input("take", 1, "an instruction is taken in this cycle")
        .input("take_sel", p.W, "of which warp, one-hot")
        .input("take_kind", 4, "its kind")
        .input(
            "retire",
            1,
            "an instruction's last pass is written back in this cycle",
        )
        .input("retire_warp", p.WW, "its warp")
        .input("retire_kind", 4, "its kind")
        .output("ready", p.W, "the warp may issue")
        .output("is_mem", p.W, "its offer is of the memory path")
        .output("is_atomic", p.W, "its offer is an ATOMIC")
        .output(
            "shares",
            p.W,
            "its offer may touch the shared part of the scratchpad",
        )
        .instantiates(&slice)
        .emit("spad_eligibility.v.tera", p)?;
    Ok(vec![slice, module])
}
