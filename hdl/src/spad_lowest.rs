//! The priority search of the scheduler: the lowest set bit of a vector, one-hot,
//! by prefix sums, because its depth determines the critical path of the pick.

use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, Expr, Signal};
use crate::unit::UnitBuilder;

/// Emits `spad_lowest`.
pub(crate) fn emit_helper() -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_lowest".into(),
        summary: "the lowest set bit of a vector.".into(),
        parameters: "WIDTH, bits, 2 to 128".into(),
        timing: "combinational".into(),
        paper: "microarchitecture/warp-scheduler.md".into(),
        latency_cycles: 0,
    });
    let width = u.parameter("WIDTH", 8, 2..=128);
    let want = u.input("want", width, "the vector");
    let about = "bit i: a bit of want from 0 to i is set";
    let found = u.output("found", width, about);
    let about = "the lowest set bit of want alone; none if none is";
    let lowest = u.output("lowest", width, about);

    let levels = u.size("LEVELS", width.index_bits());
    u.section(
        "A prefix network. In front of level k a position has seen the 2**k from itself down; \
         after it twice as many.",
    );
    let [k] = u.indices(["k"]);
    let seen = u.generate(|| {
        u.each("level", k, (0, levels), |k| {
            let so_far = u.wire("so_far", width);
            let seen = u.named("seen", width, so_far | so_far.up(1 << k));
            let first = |_| u.assign(so_far, want);
            let next = |k| u.assign(so_far, u.of_iteration(seen, k - 1));
            u.first(k, ("first", first), ("next", next));
            seen
        })
    });
    u.paragraph();
    u.assign(found, u.of_iteration(seen, levels - 1));
    u.assign(lowest, want & !found.up(1));
    u.emit()
}

/// An instance: `lowest` is the lowest bit of `want`, `found` that and all above.
#[track_caller]
pub(crate) fn instance(
    u: &UnitBuilder,
    module: &Module,
    name: &'static str,
    want: impl Into<Expr>,
    [found, lowest]: [Signal; 2],
) {
    u.instance(module, name)
        .parameter("WIDTH", found.width)
        .port("want", want.into())
        .port("found", found)
        .port("lowest", lowest)
        .done();
}
