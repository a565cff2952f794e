//! One warp's eligibility: whether it may issue now, and what it has in flight.

use crate::codes::{barrel, kind};
use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, Expr, Signal, code, when};
use crate::unit::Unit;

/// Bits of a count of instructions in flight.
const COUNT: usize = 4;

/// Emits the slice of a warp.
pub(crate) fn emit_kernel() -> Result<Module> {
    let u = Unit::new(UnitDoc::part(
        "spad_eligible_warp",
        "one warp: whether it may issue, what its offer is, and what it has in flight behind \
         this cycle.",
        "none".into(),
        "issue.md",
    ));
    let about = "0 strict, 1 relaxed, 2 and 3 relaxed with in-order commit";
    let cfg_barrel = u.input("cfg_barrel", 2, about);
    let offers = u.input("offers", 1, "the warp offers an instruction");
    let kind = u.input("kind", 4, "kind of the offer");
    let allowed = u.input("allowed", 1, "the access unit allows it");
    let busy = u.input("busy", 1, "an instruction of it is on its way to EX");
    let atom_infl = u.input("atom_infl", 1, "an ATOMIC is in flight");
    let releasing = u.input("releasing", 1, "a RELSSP of it is in EX");
    let about = "instructions of it in flight on the memory path";
    let infl_m = u.input("infl_m", COUNT, about);
    let infl_n = u.input("infl_n", COUNT, "on the other path");
    let starts = u.input("starts", 1, "an instruction of it is taken");
    let starts_mem = u.input(
        "starts_mem",
        1,
        "the instruction taken is of the memory path",
    );
    let ends = u.input("ends", 1, "an instruction of it retires");
    let ends_mem = u.input(
        "ends_mem",
        1,
        "the completed instruction is of the memory path",
    );
    let ready = u.output("ready", 1, "the warp may issue");
    let is_mem = u.output("is_mem", 1, "the warp's offer is of the memory path");
    let is_atomic = u.output("is_atomic", 1, "the warp's offer is an ATOMIC");
    let shares = u.output("shares", 1, "the warp's offer may touch the shared part");
    let about = "instructions in flight on the memory path in the next cycle";
    let next_m = u.output("next_m", COUNT, about);
    let next_n = u.output("next_n", COUNT, "on the other path");
    let of_kind = |value| code(&kind::FIELD, value);
    let with_barrel = |value| cfg_barrel.is(code(&barrel::FIELD, value));

    u.assign(
        is_mem,
        !(kind.is(of_kind(kind::ALU)) | kind.is(of_kind(kind::RELSSP))),
    );
    u.assign(is_atomic, kind.is(of_kind(kind::ATOMIC)));
    let accesses = kind.at_least(of_kind(kind::LOAD));
    u.assign(
        shares,
        offers & accesses & kind.at_most(of_kind(kind::ATOMIC)),
    );

    let (none_m, none_n) = (!infl_m.any(), !infl_n.any());
    let alone = none_m.clone() & none_n.clone();
    let only_its_path = (is_mem & none_n) | (!is_mem & none_m);
    let strict = with_barrel(barrel::STRICT) & alone;
    let in_order = cfg_barrel.at(1) & only_its_path;
    let barrel_ok = u.name(
        "barrel_ok",
        with_barrel(barrel::RELAXED) | strict | in_order,
    );
    let room = u.name("room", !infl_m.all() & !infl_n.all());
    let second_atomic = u.name("second_atomic", is_atomic & atom_infl);
    let fenced = u.name("fenced", kind.is(of_kind(kind::RELSSP)) & infl_m.any());
    let barred = second_atomic | fenced | releasing | busy;
    u.assign(ready, offers & allowed & barrel_ok & room & !barred);

    // Of each path: a start and an end in one cycle leave the count.
    let count = |[up, down]: [&str; 2], [now, next]: [Signal; 2], of: [Expr; 2]| {
        let [started, ended] = of;
        let up = u.name(up, starts & started);
        let down = u.name(down, ends & ended);
        let counted = when(up & !down, now + 1).when(down & !up, now - 1);
        u.assign(next, counted.otherwise(now));
    };
    count(
        ["up_m", "down_m"],
        [infl_m, next_m],
        [starts_mem.into(), ends_mem.into()],
    );
    count(
        ["up_n", "down_n"],
        [infl_n, next_n],
        [!starts_mem, !ends_mem],
    );
    u.emit()
}
