//! The release instruction: which threads have released.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_lowest, spad_relssp_block, spad_relssp_warp};

/// Emits `spad_relssp` behind its slices.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let warp = spad_relssp_warp::emit_kernel(p)?;
    let block = spad_relssp_block::emit_kernel(p)?;
    let lowest = spad_lowest::emit_helper()?;
    let doc = UnitDoc {
        name: "spad_relssp".into(),
        summary:
            "tracks which active threads have executed relssp, and says when all of a block have."
                .into(),
        parameters: p.text(&["W", "WS", "L", "S", "T", "TW"]),
        timing: "rel_done, live and unlock include this cycle's events; launches show in the next"
            .into(),
        paper: "sharing paper, section 5; microarchitecture/relssp.md".into(),
        latency_cycles: 0,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("launch_valid", 1, "a block starts")
        .input("launch_block", p.TW, "its slot")
        .input("launch_wmask", p.W, "its warps")
        .input(
            "launch_last",
            p.WS,
            "threads of the highest of them; the others are full",
        )
        .input("rel_valid", 1, "lanes of a subwarp execute relssp")
        .input("rel_warp", p.WW, "their warp")
        .input("rel_sub", p.SUBW, "their subwarp")
        .input("rel_mask", p.L, "the lanes")
        .input("exit_valid", 1, "threads exit")
        .input("exit_warp", p.WW, "their warp")
        .input("exit_mask", p.WS, "the threads")
        .input(
            "warp_blk",
            p.W * p.TW,
            "block slot of each warp, TW bits, before this launch",
        )
        .output(
            "rel_done",
            p.T,
            "every active thread of the block has released",
        )
        .output("live", p.T, "the block has an active thread")
        .output("unlock", p.T, "rel_done rises")
        .unused(true, "launch_block", "the path keeps it in warp_blk")
        .unused(p.S == 1, "rel_sub", "a warp is one subwarp")
        .instantiates(&warp)
        .instantiates(&block)
        .instantiates(&lowest)
        .emit("spad_relssp.v.tera", p)?;
    Ok(vec![warp, block, lowest, module])
}
