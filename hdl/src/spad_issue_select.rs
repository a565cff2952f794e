//! Which of the ready warps goes.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_number, spad_pick_check, spad_warp_scheduler};
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    /// Encoder of the pick.
    number: String,
}

/// Emits `spad_issue_select` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let scheduler = spad_warp_scheduler::emit_unit(p)?;
    let number = spad_number::emit_kernel(p.W)?;
    let extra = Extra {
        number: number.doc.name.clone(),
    };
    let mut parts = vec![scheduler];
    if p.AHEAD > 0 {
        parts.push(vec![number]);
        parts.push(vec![spad_pick_check::emit_kernel()?]);
    }
    let shell = waived(ports(p), p);
    let module =
        shell
            .instantiates_last(&parts)
            .emit_with("spad_issue_select.v.tera", p, &extra)?;
    Ok(parts.into_iter().flatten().chain([module]).collect())
}

fn ports(p: &Params) -> Shell {
    let doc = UnitDoc {
        name: "spad_issue_select".into(),
        summary: "selects the warp whose instruction is taken. AHEAD = 0: of those that are \
                  ready in this cycle. AHEAD = 3: qualified in one cycle, picked in the next, \
                  looked at again and taken in the third."
            .into(),
        parameters: p.text(&["W", "T", "AHEAD"]),
        timing: match p.AHEAD {
            0 => "combinational; the round robin moves with what is taken",
            _ => "ready in cycle t, picked in t+1, taken in t+2 or later",
        }
        .into(),
        paper: "elastic paper, section 5; sharing paper, section 4; docs/microarchitecture.md, \
                section 18.3"
            .into(),
        latency_cycles: if p.AHEAD == 0 { 0 } else { 2 },
    };
    let policy = "scheduler: 0 round-robin, 1 and 2 owner first, 3 lowest slot";
    let changes = "a block starts, threads exit, or a RELSSP leaves EX in this cycle";
    Shell::new(doc)
        .clocked()
        .input("cfg_policy", 2, policy)
        .input("cfg_aware", 1, "bank-conflict-aware scheduling")
        .input("cfg_violate", 1, "masked warps go when nothing else can")
        .input("ready", p.W, "the warp may issue")
        .input("is_mem", p.W, "its offer is of the memory path")
        .input("is_atomic", p.W, "its offer is an ATOMIC")
        .input("shares", p.W, "its offer may touch the shared part")
        .input(
            "cls",
            2 * p.W,
            "its class: 0 owner, 1 unshared, 2 non-owner",
        )
        .input(
            "allowed_wait",
            p.W,
            "it is refused: the partner holds the shared part",
        )
        .input(
            "allowed_viol",
            p.W,
            "it is refused: its block has released the shared part",
        )
        .input("locked", p.T / 2, "per pair: the shared part is held")
        .input("owner", p.T / 2, "per pair: the owner")
        .input("changes", 1, changes)
        .input("mask", 1, "memory warps are masked")
        .input("atom_infl", 1, "an ATOMIC is in flight")
        .input("room", 1, "an instruction may be taken")
        .output("take", 1, "the selected warp's instruction is taken")
        .output("take_sel", p.W, "the selected warp, taken or not; one-hot")
        .output("take_warp", p.WW, "its number")
        .output(
            "picked",
            p.W,
            "the warp between pick and take; AHEAD = 0: none",
        )
        .output("masked", 1, "some ready warp is held back by the mask")
        .output("wait_sh", p.W, "allowed_wait; AHEAD = 3: one cycle later")
        .output("viol", p.W, "allowed_viol; AHEAD = 3: one cycle later")
}

/// Without stages ahead nothing changes between qualifying and taking.
fn waived(shell: Shell, p: &Params) -> Shell {
    let only_ahead = [
        "is_atomic",
        "shares",
        "locked",
        "owner",
        "changes",
        "atom_infl",
    ];
    only_ahead.into_iter().fold(shell, |shell, name| {
        shell.unused(p.AHEAD == 0, name, "picked and taken in one cycle")
    })
}
