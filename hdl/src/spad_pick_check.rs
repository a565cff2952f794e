//! Whether the picked warp still may go (section 18.3, stage S).

use crate::expr::{Expr, assign, vector};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};

/// Emits the check.
pub(crate) fn emit_kernel() -> Result<Module> {
    let wire = |name: &str| -> Expr { vector(name) };
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
    let inputs = [
        ("cfg_aware", "the scheduler applies the mask"),
        ("cfg_violate", "masked warps go when nothing else can"),
        ("picked", "a warp is picked"),
        ("shared", "it may touch the shared part"),
        ("refused", "it was refused when it was qualified"),
        ("atomic", "it offers an ATOMIC"),
        ("mem", "its offer is of the memory path"),
        (
            "changed",
            "a block started, threads left, or a release left EX then",
        ),
        ("moved", "lock or owner of a pair is not what it was then"),
        ("atom_infl", "an ATOMIC is in flight"),
        ("mask", "memory warps are masked"),
        ("room", "an instruction may be taken"),
    ];
    let outputs = [
        ("take", "it is taken"),
        ("leaves", "it is taken, or dropped"),
    ];
    let kernel = inputs
        .iter()
        .fold(Kernel::default(), |k, (name, _)| k.input(name, 1));
    let kernel = outputs
        .iter()
        .fold(kernel, |k, (name, _)| k.output(name, 1));
    let unit = Unit::new(UnitDoc {
        name: "spad_pick_check".into(),
        summary: "the pick waits where what it was qualified with may be out of date, and is \
                  dropped where it is."
            .into(),
        parameters: "none".into(),
        timing: "combinational".into(),
        paper: "docs/microarchitecture.md, section 18.3".into(),
        latency_cycles: 0,
    });
    let ports = inputs.into_iter().chain(outputs);
    let unit = ports.fold(unit, |unit, (name, doc)| unit.port(name, doc));
    unit.emit_kernel(kernel.local("stale", 1).local("drops", 1).logic(logic))
}
