//! One pair of block slots: whether the shared part is held, and by which of
//! the two (microarchitecture/access-unit.md).

use crate::expr::{Expr, any, assign, bit, choose, note, wire};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::core::ast::VerilogStatement;

/// Lock and owner with the releases of this cycle: the lock falls when nobody
/// needs it any more, and passes on when only the partner does.
fn now() -> Vec<VerilogStatement> {
    let of_slot = |name, when_owner: usize| -> VerilogStatement {
        let slots = [when_owner, 1 - when_owner].map(|slot| bit("needs", slot));
        let [owned_by_1, owned_by_0] = slots;
        choose(name, [(wire("owner"), owned_by_1)], owned_by_0)
    };
    vec![
        of_slot("owner_needs", 1),
        of_slot("other_needs", 0),
        assign(
            "locked",
            wire("lock") & (wire("owner_needs") | wire("other_needs")),
        ),
        assign(
            "owned_by",
            wire("owner") ^ (!wire("owner_needs") & wire("other_needs")),
        ),
    ]
}

/// Lock and owner in the next cycle.
fn next() -> Vec<VerilogStatement> {
    let alone = |slot: usize| -> Expr { bit("starts", slot) & !bit("live", 1 - slot) };
    let cases = [
        (wire("fresh"), bit("starts", 1)),
        (wire("acquired"), bit("acquires", 1)),
    ];
    vec![
        note("A block that finds its partner gone starts with a free lock."),
        assign("fresh", alone(0) | alone(1)),
        assign("acquired", any("acquires")),
        assign(
            "lock_next",
            !wire("fresh") & (wire("acquired") | wire("locked")),
        ),
        choose("owner_next", cases, "owned_by"),
    ]
}

/// Emits the slice of a pair.
pub(crate) fn emit_kernel() -> Result<Module> {
    let kernel = Kernel::default()
        .input("lock", 1, "the shared part was held")
        .input("owner", 1, "by which slot")
        .input("needs", 2, "per slot: a thread has not released")
        .input("live", 2, "per slot: it has an active thread")
        .input(
            "acquires",
            2,
            "per slot: a warp of it takes the shared part",
        )
        .input("starts", 2, "per slot: a block starts")
        .output("locked", 1, "the shared part is held")
        .output("owned_by", 1, "by which slot")
        .output("lock_next", 1, "it is in the next cycle")
        .output("owner_next", 1, "by which slot")
        .logic([now(), next()].concat());
    Unit::new(UnitDoc::part(
        "spad_access_pair",
        "a pair of block slots: whether the shared part of their scratchpad is held, and by \
         which of them, with and behind the events of this cycle.",
        "none".into(),
        "access-unit.md",
    ))
    .emit_kernel(kernel)
}
