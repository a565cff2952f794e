//! Which of the ready warps goes.

use crate::expr::{any, assign, gated, same, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_number, spad_pick_check, spad_warp_scheduler};
use rust_hdl::core::ast::VerilogStatement;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    /// Encoder of the pick.
    number: String,
}

/// Whether what is picked may be taken in the same cycle, where it was
/// qualified in the one before. It was not refused then, and the scheduler sees
/// the mask of this cycle: what may have changed is the shared part, and that
/// another atomic has gone.
fn take(p: &Params) -> Vec<VerilogStatement> {
    let selects = |what: &str| any(wire("take_sel") & wire(what));
    let moved = !same("locked", "was_locked") | !same("owner", "was_owner");
    vec![
        assign("moved", moved),
        assign(
            "stale",
            selects("qualified_shared") & (wire("was_changed") | wire("moved")),
        ),
        assign(
            "second_atomic",
            selects("qualified_atomic") & wire("atom_infl"),
        ),
        assign(
            "take",
            wire("sel_valid") & !wire("stale") & !wire("second_atomic") & wire("room"),
        ),
        assign(
            "still_ready",
            wire("ready") & !gated(p.W, "take_sel", "take"),
        ),
    ]
}

/// AHEAD = 3: what the mask means for the warp in S and for the next pick. The
/// pick is taken in the next cycle at the earliest: where the mask will, or
/// may, be on then, other warps are picked first; else memory warps are, once
/// there were conflicts.
fn masking() -> Vec<VerilogStatement> {
    vec![
        assign("behind", wire("qualified_ready") & !wire("pk")),
        assign("others", any(wire("behind") & !wire("qualified_mem"))),
        assign("pk_mem", any(wire("pk") & wire("qualified_mem"))),
        assign(
            "others_first",
            wire("mask_lasts") | (wire("mask_likely") & wire("pk_mem")),
        ),
        assign(
            "masks",
            wire("cfg_aware") & wire("mask") & (wire("others") | !wire("cfg_violate")),
        ),
        assign("held", wire("masks") & wire("pk_mem")),
        assign("overtaken", wire("others") & wire("mask_lasts")),
        assign(
            "masked",
            wire("masks") & any((wire("qualified_ready") | wire("pk")) & wire("qualified_mem")),
        ),
    ]
}

/// Emits `spad_issue_select` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let scheduler = spad_warp_scheduler::emit_unit(p)?;
    let number = spad_number::emit_kernel(p.W)?;
    let extra = Extra {
        number: number.doc.name.clone(),
    };
    let mut parts = vec![scheduler];
    if p.AHEAD == 3 {
        parts.push(vec![number]);
        parts.push(vec![spad_pick_check::emit_kernel()?]);
    }
    let mut shell = waived(ports(p), p);
    if p.AHEAD == 2 {
        shell = shell
            .signals(&[
                ("qualified_shared", p.W),
                ("qualified_atomic", p.W),
                ("sel_valid", 1),
            ])
            .signals(&[("was_locked", p.T / 2), ("was_owner", p.T / 2)])
            .signals(&[("was_changed", 1)])
            .logic("take", take(p));
    }
    if p.AHEAD == 3 {
        shell = shell
            .signals(&[("qualified_ready", p.W), ("qualified_mem", p.W)])
            .signals(&[("pk", p.W)])
            .logic("masking", masking());
    }
    let module =
        shell
            .instantiates_last(&parts)
            .emit_with("spad_issue_select.v.tera", p, &extra)?;
    Ok(parts.into_iter().flatten().chain([module]).collect())
}

fn ports(p: &Params) -> Shell {
    let doc = UnitDoc {
        name: "spad_issue_select".into(),
        summary: "selects the warp whose instruction is taken. AHEAD = 0 and 1: of those that \
                  are ready in this cycle. AHEAD = 2: qualified in one cycle, picked and taken \
                  in the next. AHEAD = 3: qualified, picked, looked at again and taken in the \
                  third."
            .into(),
        parameters: p.text(&["W", "T", "AHEAD"]),
        timing: match p.AHEAD {
            0 | 1 => "combinational; the round robin moves with what is taken",
            2 => "ready in cycle t, taken in t+1 or, ready again, later",
            _ => "ready in cycle t, picked in t+1, taken in t+2 or later",
        }
        .into(),
        paper: "elastic paper, section 5; sharing paper, section 4; microarchitecture/issue.md"
            .into(),
        latency_cycles: p.AHEAD.saturating_sub(1) as u32,
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
        .input(
            "mask_lasts",
            1,
            "AHEAD = 3: they will be in the next cycle, too",
        )
        .input(
            "mask_likely",
            1,
            "AHEAD = 3: the kernel has shown conflicts: what is taken now may mask those behind it",
        )
        .input("atom_infl", 1, "an ATOMIC is in flight")
        .input("room", 1, "an instruction may be taken")
        .output("take", 1, "the selected warp's instruction is taken")
        .output("take_sel", p.W, "the selected warp, taken or not; one-hot")
        .output("take_warp", p.WW, "its number")
        .output(
            "picked",
            p.W,
            "the warp between pick and take; none but with AHEAD = 3",
        )
        .output(
            "masked",
            1,
            "some ready warp is held back by the mask; AHEAD = 1: one cycle later",
        )
        .output("wait_sh", p.W, "allowed_wait; AHEAD > 0: one cycle later")
        .output("viol", p.W, "allowed_viol; AHEAD > 0: one cycle later")
}

/// What is qualified and taken in one cycle cannot change in between.
fn waived(shell: Shell, p: &Params) -> Shell {
    let only_ahead = [
        "is_atomic",
        "shares",
        "locked",
        "owner",
        "changes",
        "atom_infl",
    ];
    let shell = only_ahead.into_iter().fold(shell, |shell, name| {
        shell.unused(p.AHEAD < 2, name, "qualified and taken in one cycle")
    });
    let picked_early = ["mask_lasts", "mask_likely"];
    picked_early.into_iter().fold(shell, |shell, name| {
        shell.unused(p.AHEAD < 3, name, "picked and taken in one cycle")
    })
}
