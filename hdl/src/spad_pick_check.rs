//! Whether the picked warp still may go (section 18.3, stage S).

use crate::expr::{assign, wire};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};

/// Emits the check.
pub(crate) fn emit_kernel() -> Result<Module> {
    let masked = wire("mem") & wire("cfg_aware") & wire("mask") & !wire("cfg_violate");
    let second_atomic = wire("atomic") & wire("atom_infl");
    let logic = vec![
        assign("stale", wire("shared") & (wire("changed") | wire("moved"))),
        assign(
            "drops",
            wire("picked") & !wire("stale") & (wire("refused") | second_atomic | masked),
        ),
        assign(
            "take",
            wire("picked") & !wire("stale") & !wire("drops") & wire("room"),
        ),
        assign("leaves", wire("take") | wire("drops")),
    ];
    let kernel = Kernel::default()
        .input("cfg_aware", 1, "the scheduler applies the mask")
        .input("cfg_violate", 1, "masked warps go when nothing else can")
        .input("picked", 1, "a warp is picked")
        .input("shared", 1, "it may touch the shared part")
        .input("refused", 1, "it was refused when it was qualified")
        .input("atomic", 1, "it offers an ATOMIC")
        .input("mem", 1, "its offer is of the memory path")
        .input(
            "changed",
            1,
            "a block started, threads left, or a release left EX then",
        )
        .input(
            "moved",
            1,
            "lock or owner of a pair is not what it was then",
        )
        .input("atom_infl", 1, "an ATOMIC is in flight")
        .input("mask", 1, "memory warps are masked")
        .input("room", 1, "an instruction may be taken")
        .output("take", 1, "it is taken")
        .output("leaves", 1, "it is taken, or dropped")
        .logic(logic);
    Unit::new(UnitDoc::part(
        "spad_pick_check",
        "the pick waits where what it was qualified with may be out of date, and is dropped \
         where it is.",
        "none".into(),
        "18.3",
    ))
    .emit_kernel(kernel)
}
