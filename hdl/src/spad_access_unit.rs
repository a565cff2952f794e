//! Who may touch the shared part of the scratchpad.

use crate::expr::{assign, gated, note, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::spad_access_pair;
use rust_hdl::core::ast::VerilogStatement;

/// What each warp may do, one bit per warp.
fn decisions(p: &Params) -> Vec<VerilogStatement> {
    let held_by_partner = wire("pair_locked") & !wire("owns");
    vec![
        note(
            "Only what lies in the shared part needs it. Behind its release a block is refused; \
             before, it waits for the partner's.",
        ),
        assign("shared", gated(p.W, "in_sharing", "cfg_sharing")),
        assign("need", wire("off_shmem") & wire("shared") & wire("beyond")),
        assign("viol", wire("need") & wire("released")),
        assign("wait_sh", wire("need") & !wire("viol") & held_by_partner),
        assign("allow", !wire("wait_sh") & !wire("viol")),
        assign("takes", wire("issues") & wire("need") & wire("allow")),
        assign("non_owner", wire("shared") & !wire("owns")),
        assign("unshared", !wire("shared")),
    ]
}

/// Emits `spad_access_unit` behind its slice.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let pair = spad_access_pair::emit_kernel()?;
    let doc = UnitDoc {
        name: "spad_access_unit".into(),
        summary: "per pair of thread-block slots (2p, 2p+1): who owns the shared part of the scratchpad, and which warps must wait. The first access takes it; it passes to the partner when the owner has released.".into(),
        parameters: p.text(&["n", "W", "WW", "T", "TW"]),
        timing: "decisions are combinational, ownership changes at the end of the cycle".into(),
        paper: "sharing paper, sections 3 and 7.1, Fig. 3; microarchitecture/access-unit.md".into(),
        latency_cycles: 0,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("cfg_sharing", 1, "scratchpad sharing is on")
        .input(
            "cfg_limit",
            p.n,
            "first word of the shared part, block-relative",
        )
        .input("launch_valid", 1, "a block starts")
        .input("launch_block", p.TW, "its slot")
        .input("launch_shared", 1, "it runs in sharing mode")
        .input(
            "rel_done",
            p.T,
            "every active thread of the block has released (this cycle included)",
        )
        .input(
            "live",
            p.T,
            "the block has an active thread (this cycle included)",
        )
        .input("warp_blk", p.W * p.TW, "block slot of each warp, TW bits")
        .input("off_shmem", p.W, "the warp offers a scratchpad instruction")
        .input(
            "off_hi",
            p.W * p.n,
            "its highest block-relative word address",
        )
        .input("acq_valid", 1, "an instruction is issued")
        .input("acq_warp", p.WW, "its warp")
        .output("allow", p.W, "may be issued")
        .output("wait_sh", p.W, "waits: the partner holds the shared part")
        .output("viol", p.W, "refused: its block has released")
        .output(
            "cls",
            2 * p.W,
            "class per warp: 0 owner, 1 unshared, 2 non-owner",
        )
        .output("locked", p.T / 2, "per pair: the shared part is held")
        .output("owner", p.T / 2, "per pair: 0 slot 2p, 1 slot 2p+1")
        .signals(&[("in_sharing", p.W), ("owns", p.W), ("pair_locked", p.W)])
        .signals(&[("released", p.W), ("beyond", p.W), ("issues", p.W)])
        .logic("decisions", decisions(p))
        .instantiates(&pair)
        .emit("spad_access_unit.v.tera", p)?;
    Ok(vec![pair, module])
}
