//! Gaussian elimination over GF(2), for assertions.

use crate::signal::{Bits, Signal, when};
use crate::size::Size;
use crate::unit::UnitBuilder;

/// Why some bits are not used.
const LAST: &str = "nothing follows the last one";

/// Whether `count` vectors of `width` bits, side by side in `vectors`, are
/// linearly independent: no XOR of some of them is zero.
///
/// Each vector is reduced by the basis of the vectors before it, a vector per
/// leading bit. What is left joins the basis under its lowest bit; a vector of
/// which nothing is left depends on the others.
pub(crate) fn independent(u: &UnitBuilder, vectors: Signal, count: Size, width: Size) -> Signal {
    let joins = u.wire("joins", count);
    let [vector, bit] = u.indices(["v", "e"]);
    u.generate(|| {
        u.each("vector", vector, (0, count), |v| {
            let [led_before, leads] = u.wires(["led_before", "leads"], width);
            let basis_before = u.wire("basis_before", width * width);
            let led = u.wire_in_part("led", width, LAST);
            let basis = u.wire_in_part("basis", width * width, LAST);
            u.first(
                v,
                ("empty", |_| {
                    u.assign(led_before, 0);
                    u.assign(basis_before, 0);
                }),
                ("so_far", |v| {
                    u.assign(led_before, u.of_iteration(led, v - 1));
                    u.assign(basis_before, u.of_iteration(basis, v - 1));
                }),
            );
            u.each("reduction", bit, (0, width), |b| {
                let left = u.wire("left", width);
                let rest = u.wire_in_part("rest", width, LAST);
                u.first(
                    b,
                    ("whole", |_| {
                        u.assign(left, vectors.part(v * width, width));
                    }),
                    ("reduced", |b| u.assign(left, u.of_iteration(rest, b - 1))),
                );
                let row = |basis: Signal| basis.part(b * width, width);
                let new = left.at(b) & !led_before.at(b);
                u.assign(leads.at(b), new);
                u.assign(led.at(b), led_before.at(b) | left.at(b));
                u.assign(
                    row(basis),
                    when(leads.at(b), left).otherwise(row(basis_before)),
                );
                let reduced = left ^ row(basis_before).gated(left.at(b));
                u.assign(rest, reduced.gated(!leads.at(b)));
            });
            u.assign(joins.at(v), leads.any());
        });
    });
    u.name("independent", joins.all())
}
