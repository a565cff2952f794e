//! One block: whether all of its warps have released
//! (microarchitecture/relssp.md). Whether the relssp in EX executes depends on
//! the writeback port and arrives late, so it only selects between two
//! precomputed answers.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, Signal};
use crate::unit::UnitBuilder;

/// Emits the slice of a block.
pub(crate) fn emit_kernel(p: &Params) -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc::part(
        "spad_relssp_block",
        "a block: whether all of its warps have released, and whether the last did just now.",
        p.text(&["W"]),
        "relssp.md",
    ));
    u.machine_parameter(p, "W", 1..=128);
    let s = u.all_sizes(p);
    let mine = u.input("mine", s.W, "warps of the block");
    let was_done = u.input("was_done", s.W, "warps that had released before this cycle");
    let about = "warps with an active thread before this cycle";
    let was_live = u.input("was_live", s.W, about);
    let done = u.input("done", s.W, "warps that have released before");
    let done_if = u.input("done_if", s.W, "warps that have if relssp is executed");
    let releases = u.input("releases", 1, "it is");
    let live = u.input("live", s.W, "warps with an active thread");
    let rel_done = u.output("rel_done", 1, "every active thread has released");
    let rel_live = u.output("rel_live", 1, "the block has an active thread");
    let about = "the last of its active threads released in this cycle";
    let unlock = u.output("unlock", 1, about);

    let every = |warps: Signal| (!mine | warps).all();
    let some = |warps: Signal| (mine & warps).any();
    u.assign(rel_done, every(done) | (releases & every(done_if)));
    u.assign(rel_live, some(live));
    u.assign(unlock, rel_done & some(was_live) & !every(was_done));
    u.emit()
}
