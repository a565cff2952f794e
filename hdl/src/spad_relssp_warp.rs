//! One warp's threads: which are active, which have released
//! (microarchitecture/relssp.md).

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, all_bits, when};
use crate::unit::UnitBuilder;

/// Emits the slice of a warp.
pub(crate) fn emit_kernel(p: &Params) -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc::part(
        "spad_relssp_warp",
        "the threads of a warp: which are active and which have released, before and after \
         this cycle's events, and combinationally with them.",
        p.text(&["WS"]),
        "relssp.md",
    ));
    u.machine_parameter(p, "WS", 1..=64);
    let s = u.all_sizes(p);
    let starts = u.input("starts", 1, "the warp's block starts");
    let highest = u.input("highest", 1, "the warp is the highest of the block");
    let launch_last = u.input("launch_last", s.WS, "threads of the highest warp");
    let exits = u.input("exits", 1, "threads of it exit");
    let exit_mask = u.input("exit_mask", s.WS, "these threads");
    let marks = u.input("marks", s.WS, "threads that stand before relssp");
    let active = u.input("active", s.WS, "threads that are launched and not exited");
    let about = "threads that have released; of active ones only it counts";
    let released = u.input("released", s.WS, about);
    let active_next = u.output("active_next", s.WS, "active threads in the next cycle");
    let about = "the same in the next cycle, if relssp is executed";
    let released_next = u.output("released_next", s.WS, about);
    let about = "every active thread had released before this cycle";
    let was_done = u.output("was_done", 1, about);
    let was_live = u.output(
        "was_live",
        1,
        "the warp had an active thread before this cycle",
    );
    let done = u.output("done", 1, "every active thread has released before");
    let done_if = u.output("done_if", 1, "or has if relssp is executed");
    let live = u.output("live", 1, "the warp has an active thread");

    u.note("Threads that exit are no longer active; only active ones release.");
    let active_now = u.name("active_now", active & !exit_mask.gated(exits));
    let released_now = u.name("released_now", released | (marks & active));
    u.assign(was_done, (!active | released).all());
    u.assign(was_live, active.any());
    u.assign(done, (!active_now | released).all());
    u.assign(done_if, (!active_now | released_now).all());
    u.assign(live, active_now.any());
    u.note("The highest warp of a block has its last threads, the others are full.");
    let started = when(highest, launch_last).otherwise(all_bits(s.WS, true));
    let started = u.name("started", started);
    u.assign(active_next, when(starts, started).otherwise(active_now));
    u.assign(released_next, when(starts, 0).otherwise(released_now));
    u.emit()
}
