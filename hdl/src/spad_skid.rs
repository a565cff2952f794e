//! A buffer of two entries whose ready comes from a flip-flop.

use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, Expr, Signal, when};
use crate::unit::UnitBuilder;

/// Emits `spad_skid`.
pub(crate) fn emit_helper() -> Result<Module> {
    let u = UnitBuilder::new(doc());
    let width = u.parameter("WIDTH", 8, 1..=65536);
    let clear = u.parameter("CLEAR", 0, 0..=1);
    let [_, rst] = u.clocked();
    let in_valid = u.input("in_valid", 1, "an entry is offered");
    let in_data = u.input("in_data", width, "the entry, WIDTH bits");
    let in_ready = u.output(
        "in_ready",
        1,
        "an input would be accepted; from a flip-flop",
    );
    let out_valid = u.output("out_valid", 1, "the oldest entry is offered");
    let about = "the entry, WIDTH bits; without a valid entry, the previous in_data";
    let out_data = u.output("out_data", width, about);
    let out_ready = u.input("out_ready", 1, "an output would be accepted");

    let first_valid = u.register("first_valid", 1).reset(0);
    let first = u
        .register("first", width)
        .without_reset("`first_valid_q` covers it, but with CLEAR");
    let second_valid = u.register("second_valid", 1).reset(0);
    let second = u.register("second", width).covered_by(second_valid);

    u.paragraph();
    let moves = u.name("move", !first_valid | out_ready);
    let next = u.name("next", when(second_valid, second).otherwise(in_data));
    let waits = u.name("waits", second_valid | in_valid);

    u.paragraph();
    u.assign(in_ready, !second_valid);
    u.assign(out_valid, first_valid);
    u.assign(out_data, first);

    u.paragraph();
    u.at_clock().when(moves).next(first_valid, waits);
    u.at_clock().next(second_valid, waits & !moves);

    u.section("The second entry follows the input while it is empty.");
    u.at_clock().when(!second_valid).next(second, in_data);

    u.paragraph();
    let cleared = || {
        u.at_clock().next(first, when(rst, 0).when(moves, next));
    };
    let plain = || {
        u.at_clock().when(moves).next(first, next);
    };
    u.generate(|| u.where_set(clear, ("cleared", cleared), ("plain", plain)));
    u.assertions(|| {
        let message = "the second entry is held, but not the first";
        u.property("first_comes_first", second_valid, first_valid, message);
    });
    u.emit()
}

fn doc() -> UnitDoc {
    UnitDoc {
        name: "spad_skid".into(),
        summary: "a buffer of two entries with registered ready: nothing combinational leads \
                  from one side to the other."
            .into(),
        parameters: "WIDTH, bits of an entry; CLEAR = 1, out_data is 0 from the reset on".into(),
        timing: "one cycle; one entry a cycle".into(),
        paper: "microarchitecture/bus.md".into(),
        latency_cycles: 1,
    }
}

/// A side of a buffer.
pub(crate) struct Side {
    pub valid: Expr,
    pub data: Expr,
    pub ready: Expr,
}

impl Side {
    pub(crate) fn new(
        valid: impl Into<Expr>,
        data: impl Into<Expr>,
        ready: impl Into<Expr>,
    ) -> Self {
        let (valid, data, ready) = (valid.into(), data.into(), ready.into());
        Side { valid, data, ready }
    }
}

/// An instance called `name` between two sides; an entry is `width` wide, by its name.
/// With `clear`, its data are 0 from the reset on.
#[track_caller]
pub(crate) fn instance(
    u: &UnitBuilder,
    skid: &Module,
    clock: [Signal; 2],
    (name, width, clear): (&str, &str, bool),
    from: Side,
    to: Side,
) {
    let width = u.size(width, from.data.width);
    assert!(to.data.width.same(from.data.width), "sides of {name}");
    u.instance(skid, name)
        .parameter("WIDTH", width)
        .parameter("CLEAR", usize::from(clear).into())
        .same(clock)
        .port("in_valid", from.valid)
        .port("in_data", from.data.of_width(width))
        .port("in_ready", from.ready)
        .port("out_valid", to.valid)
        .port("out_data", to.data.of_width(width))
        .port("out_ready", to.ready)
        .done();
}
