//! One warp's threads: which are active, which have released
//! (microarchitecture/relssp.md).

use crate::expr::{all, any, assign, choose, gated, note, number, wire};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};
use crate::params::Params;
use rust_hdl::core::ast::VerilogStatement;

/// What the threads are with the events of this cycle.
fn now(p: &Params) -> Vec<VerilogStatement> {
    let exited = gated(p.WS, "exit_mask", "exits");
    let done = |active, released| all(!wire(active) | wire(released));
    vec![
        note("Threads that exit are no longer active; only active ones release."),
        assign("active_now", wire("active") & !exited),
        assign(
            "released_now",
            wire("released") | (wire("marks") & wire("active")),
        ),
        assign("was_done", done("active", "released")),
        assign("was_live", any("active")),
        assign("done", done("active_now", "released")),
        assign("done_if", done("active_now", "released_now")),
        assign("live", any("active_now")),
    ]
}

/// What they are in the next cycle: a warp that starts has released nothing.
fn next(p: &Params) -> Vec<VerilogStatement> {
    vec![
        note("The highest warp of a block has its last threads, the others are full."),
        choose(
            "started",
            [(wire("highest"), wire("launch_last"))],
            !number(p.WS, 0),
        ),
        choose(
            "active_next",
            [(wire("starts"), wire("started"))],
            "active_now",
        ),
        choose(
            "released_next",
            [(wire("starts"), number(p.WS, 0))],
            "released_now",
        ),
    ]
}

/// Emits the slice of a warp.
pub(crate) fn emit_kernel(p: &Params) -> Result<Module> {
    let kernel = Kernel::default()
        .input("starts", 1, "its block starts")
        .input("highest", 1, "it is the highest warp of that block")
        .input("launch_last", p.WS, "threads of the highest warp")
        .input("exits", 1, "threads of it exit")
        .input("exit_mask", p.WS, "these threads")
        .input("marks", p.WS, "threads that stand before relssp")
        .input("active", p.WS, "threads that are launched and not exited")
        .input(
            "released",
            p.WS,
            "threads that have released; of active ones only it counts",
        )
        .output("active_next", p.WS, "the same in the next cycle")
        .output(
            "released_next",
            p.WS,
            "the same in the next cycle, if relssp is executed",
        )
        .output(
            "was_done",
            1,
            "every active thread had released before this cycle",
        )
        .output("was_live", 1, "it had an active thread before this cycle")
        .output("done", 1, "every active thread has released before")
        .output("done_if", 1, "or has if relssp is executed")
        .output("live", 1, "it has an active thread")
        .logic([now(p), next(p)].concat());
    Unit::new(UnitDoc::part(
        "spad_relssp_warp",
        "the threads of a warp: which are active and which have released, before, with and \
         behind the events of this cycle.",
        p.text(&["WS"]),
        "relssp.md",
    ))
    .emit_kernel(kernel)
}
