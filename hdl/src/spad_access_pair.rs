//! One pair of block slots: whether the shared part is held, and by which of
//! the two (microarchitecture/access-unit.md).

use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, when};
use crate::unit::UnitBuilder;

/// Emits the slice of a pair.
pub(crate) fn emit_kernel() -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc::part(
        "spad_access_pair",
        "a pair of block slots: whether the shared part of their scratchpad is held, and by \
         which of them, before and after the events of this cycle.",
        "none".into(),
        "access-unit.md",
    ));
    let lock = u.input("lock", 1, "the shared part was held");
    let owner = u.input("owner", 1, "the slot that held it, 0 or 1");
    let needs = u.input("needs", 2, "per slot: a thread has not released");
    let live = u.input("live", 2, "per slot: it has an active thread");
    let about = "per slot: a warp of it takes the shared part";
    let acquires = u.input("acquires", 2, about);
    let starts = u.input("starts", 2, "per slot: a block starts");
    let locked = u.output("locked", 1, "the shared part is held");
    let owned_by = u.output("owned_by", 1, "the slot that holds it");
    let lock_next = u.output("lock_next", 1, "the shared part is held in the next cycle");
    let owner_next = u.output("owner_next", 1, "the slot that then holds it");

    // With the releases of this cycle, the lock is freed if nobody needs it any
    // more, and passed on if only the partner does.
    let owner_needs = when(owner, needs.at(1)).otherwise(needs.at(0));
    let owner_needs = u.name("owner_needs", owner_needs);
    let other_needs = when(owner, needs.at(0)).otherwise(needs.at(1));
    let other_needs = u.name("other_needs", other_needs);
    u.assign(locked, lock & (owner_needs | other_needs));
    u.assign(owned_by, owner ^ (!owner_needs & other_needs));

    u.note("A block that finds its partner gone starts with a free lock.");
    let alone = |slot: usize| starts.at(slot) & !live.at(1 - slot);
    let fresh = u.name("fresh", alone(0) | alone(1));
    let acquired = u.name("acquired", acquires.any());
    u.assign(lock_next, !fresh & (acquired | locked));
    let owner_in_turn = when(fresh, starts.at(1)).when(acquired, acquires.at(1));
    u.assign(owner_next, owner_in_turn.otherwise(owned_by));
    u.emit()
}
