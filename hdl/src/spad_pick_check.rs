//! Whether the picked warp still may go (microarchitecture/issue.md, stage S).

use crate::module::{Module, Result, UnitDoc};
use crate::unit::UnitBuilder;

/// Emits the check.
pub(crate) fn emit_kernel() -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc::part(
        "spad_pick_check",
        "the pick waits where what it was qualified with may be out of date, and is dropped \
         where it is. It waits for the mask, too, but lets others go ahead.",
        "none".into(),
        "issue.md",
    ));
    let picked = u.input("picked", 1, "a warp is picked");
    let shared = u.input("shared", 1, "the pick may touch the shared part");
    let refused = u.input("refused", 1, "the pick was refused when it was qualified");
    let atomic = u.input("atomic", 1, "the pick is an ATOMIC");
    let held = u.input("held", 1, "the mask holds it");
    let about = "it will for longer, and another warp can go";
    let overtaken = u.input("overtaken", 1, about);
    let about = "a block started, threads left, or a release left EX then";
    let changed = u.input("changed", 1, about);
    let about = "lock or owner of a pair is not what it was then";
    let moved = u.input("moved", 1, about);
    let atom_infl = u.input("atom_infl", 1, "an ATOMIC is in flight");
    let room = u.input("room", 1, "an instruction may be taken");
    let take = u.output("take", 1, "the pick is taken");
    let leaves = u.output("leaves", 1, "the pick is taken or dropped");

    let stale = u.name("stale", shared & (changed | moved));
    let (second_atomic, yields) = (atomic & atom_infl, held & overtaken);
    let drops = u.name(
        "drops",
        picked & !stale & (refused | second_atomic | yields),
    );
    u.assign(take, picked & !stale & !drops & !held & room);
    u.assign(leaves, take | drops);
    u.emit()
}
