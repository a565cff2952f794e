//! The priority search of the scheduler: the lowest set bit of a vector, one-hot,
//! by prefix sums, because its depth is what the pick's clock period hangs on.

use crate::helper;
use crate::module::{Dir, Module, Port, Result, UnitDoc};
use crate::signal::{Expr, Signal};
use crate::unit::Unit;

/// Emits `spad_lowest`.
pub(crate) fn emit_helper() -> Result<Module> {
    let found = "per position: a bit at or below it is set";
    let ports = vec![
        Port::new("want", Dir::In, 0, "the candidates, WIDTH bits"),
        Port::new("found", Dir::Out, 0, found),
        Port::new(
            "lowest",
            Dir::Out,
            0,
            "the lowest set bit alone; none if none is",
        ),
    ];
    let doc = UnitDoc {
        name: "spad_lowest".into(),
        summary: "the lowest set bit of a vector.".into(),
        parameters: "WIDTH, bits, 2 to 128".into(),
        timing: "combinational".into(),
        paper: "the lowest warp goes first: microarchitecture/warp-scheduler.md".into(),
        latency_cycles: 0,
    };
    helper::emit("spad_lowest.v.tera", doc, ports)
}

/// An instance: `lowest` is the lowest bit of `want`, `found` that and all above.
#[track_caller]
pub(crate) fn instance(
    u: &Unit,
    module: &Module,
    name: &'static str,
    want: impl Into<Expr>,
    [found, lowest]: [Signal; 2],
) {
    let want = want.into();
    assert!(
        found.width.same(want.width) && lowest.width.same(want.width),
        "{name}"
    );
    u.instance(module, name)
        .parameter("WIDTH", found.width)
        .port("want", want)
        .port("found", found)
        .port("lowest", lowest)
        .done();
}
