//! Round-robin arbitration of a bank.

use crate::module::{Module, Result, UnitDoc, top};
use crate::signal::{Bits, Expr, Signal, when};
use crate::unit::UnitBuilder;
use crate::{spad_lowest, spad_number};

/// Emits `spad_turn` of `lanes` lanes after its parts.
pub(crate) fn emit_helper(lanes: usize) -> Result<Vec<Module>> {
    let parts = [spad_lowest::emit_helper()?, spad_number::of_lane(lanes)?];
    let [lowest, number_of] = &parts;
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_turn".into(),
        summary: "round-robin arbiter: grants the first requester after the lane that was \
                  granted last."
            .into(),
        parameters: format!("{lanes} lanes"),
        timing: "combinational".into(),
        paper: "microarchitecture/bus.md".into(),
        latency_cycles: 0,
    });
    let l = u.size("L", lanes);
    let lw = u.size("LW", l.index_bits());
    let want = u.input("want", l, "the lanes that request");
    let last = u.input("last", lw, "number of the lane that was granted last");
    let turn = u.output(
        "turn",
        l,
        "the lane that is granted, one-hot; none if none requests",
    );
    let number = u.output("number", lw, "its number; 0 if none");

    u.section("The first lane after the last one, or else the first of all.");
    let after = u.wire("after", l);
    u.assign(after.at(0), 0);
    let [i] = u.indices(["i"]);
    u.generate(|| {
        u.each("order", i, (1, l), |i| {
            u.assign(after.at(i), last.less(i));
        });
    });
    let later = u.name("later", want & after);
    let some = u.wire_in_part("later_found", l, "only whether there is one");
    let any = u.wire_in_part("any_found", l, "the lowest is enough");
    let [first_later, first_any] = u.wires(["first_later", "first_any"], l);
    spad_lowest::instance(&u, lowest, "after_last", later, [some, first_later]);
    spad_lowest::instance(&u, lowest, "of_all", want, [any, first_any]);
    let chosen = when(some.at(l - 1), first_later).otherwise(first_any);
    let chosen = u.name("chosen", chosen);
    u.assign(turn, chosen);
    u.instance(number_of, "number_of")
        .port("above", chosen.high(1))
        .port("number", number)
        .done();
    let module = u.emit()?;
    Ok(parts.into_iter().chain([module]).collect())
}

/// An instance.
pub(crate) fn instance(
    u: &UnitBuilder,
    modules: &[Module],
    name: &'static str,
    (want, last): (Signal, Expr),
    (turn, number): (Expr, Signal),
) {
    u.instance(top(modules), name)
        .port("want", want)
        .port("last", last)
        .port("turn", turn)
        .port("number", number)
        .done();
}
