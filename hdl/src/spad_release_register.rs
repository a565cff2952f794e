//! The release signals, one cycle later: where the issue is decided ahead.

use crate::module::{HdlError, Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;

/// Emits `spad_release_register`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    if p.AHEAD == 0 {
        return Err(HdlError::NotThere {
            unit: "spad_release_register".into(),
            reason: "the issue is decided in one cycle ([path] ahead = 0)".into(),
        });
    }
    let doc = UnitDoc {
        name: "spad_release_register".into(),
        summary: "what relssp says of each block, one cycle later; a block that starts is alive \
                  and not done."
            .into(),
        parameters: p.text(&["T"]),
        timing: "one cycle".into(),
        paper: "sharing paper, section 4; microarchitecture/relssp.md".into(),
        latency_cycles: 1,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("launch_valid", 1, "a block starts")
        .input("launch_block", p.TW, "its slot")
        .input(
            "now_done",
            p.T,
            "every active thread of the block has released",
        )
        .input("now_live", p.T, "the block has an active thread")
        .input("now_unlock", p.T, "now_done rises")
        .register(
            "rel_done",
            p.T,
            "now_done of the cycle before; 0 for a block that started",
        )
        .register(
            "live",
            p.T,
            "now_live of the cycle before; 1 for a block that started",
        )
        .register("unlock", p.T, "now_unlock of the cycle before")
        .emit("spad_release_register.v.tera", p)?;
    Ok(vec![module])
}
