//! Whether the picked warp still may go (microarchitecture/issue.md, stage S).

use crate::expr::{assign, wire};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};

/// Emits the check.
pub(crate) fn emit_kernel() -> Result<Module> {
    let second_atomic = wire("atomic") & wire("atom_infl");
    let yields = wire("held") & wire("overtaken");
    let logic = vec![
        assign("stale", wire("shared") & (wire("changed") | wire("moved"))),
        assign(
            "drops",
            wire("picked") & !wire("stale") & (wire("refused") | second_atomic | yields),
        ),
        assign(
            "take",
            wire("picked") & !wire("stale") & !wire("drops") & !wire("held") & wire("room"),
        ),
        assign("leaves", wire("take") | wire("drops")),
    ];
    let kernel = Kernel::default()
        .input("picked", 1, "a warp is picked")
        .input("shared", 1, "it may touch the shared part")
        .input("refused", 1, "it was refused when it was qualified")
        .input("atomic", 1, "it offers an ATOMIC")
        .input("held", 1, "the mask holds it")
        .input(
            "overtaken",
            1,
            "it will for longer, and another warp can go",
        )
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
        .input("room", 1, "an instruction may be taken")
        .output("take", 1, "it is taken")
        .output("leaves", 1, "it is taken, or dropped")
        .logic(logic);
    Unit::new(UnitDoc::part(
        "spad_pick_check",
        "the pick waits where what it was qualified with may be out of date, and is dropped \
         where it is. It waits for the mask, too, but lets others go ahead.",
        "none".into(),
        "issue.md",
    ))
    .emit_kernel(kernel)
}
