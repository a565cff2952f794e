//! One warp's eligibility: whether it may issue now, and its counters of instructions in flight.

use crate::codes::{barrel, kind};
use crate::module::{Module, Result, UnitDoc};
use crate::register::counted;
use crate::signal::{Bits, Expr, Signal, code};
use crate::unit::UnitBuilder;

/// Bits of a count of instructions in flight.
const COUNT: usize = 4;

/// Emits the slice of a warp.
pub(crate) fn emit_kernel() -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc::part(
        "spad_eligible_warp",
        "one warp: whether it may issue, what its offer is, and what it has in flight after \
         this cycle.",
        "none".into(),
        "issue.md",
    ));
    let io = Ports::new(&u);
    offer(&u, &io);
    may_issue(&u, &io);
    // Per path: a start and an end in one cycle leave the count unchanged.
    let count = |[up, down]: [&str; 2], [now, next]: [Signal; 2], of: [Expr; 2]| {
        let [started, ended] = of;
        let up = u.name(up, io.starts & started);
        let down = u.name(down, io.ends & ended);
        u.assign(next, counted(now, up, down).otherwise(now));
    };
    let of_memory = [io.starts_mem.into(), io.ends_mem.into()];
    count(["up_m", "down_m"], [io.infl_m, io.next_m], of_memory);
    let others = [!io.starts_mem, !io.ends_mem];
    count(["up_n", "down_n"], [io.infl_n, io.next_n], others);
    u.emit()
}

/// The ports, by their names.
struct Ports {
    cfg_barrel: Signal,
    offers: Signal,
    kind: Signal,
    allowed: Signal,
    busy: Signal,
    atom_infl: Signal,
    releasing: Signal,
    infl_m: Signal,
    infl_n: Signal,
    starts: Signal,
    starts_mem: Signal,
    ends: Signal,
    ends_mem: Signal,
    ready: Signal,
    is_mem: Signal,
    is_atomic: Signal,
    shares: Signal,
    next_m: Signal,
    next_n: Signal,
}

impl Ports {
    fn new(u: &UnitBuilder) -> Self {
        let barrel = "0 strict, 1 relaxed, 2 and 3 relaxed with in-order commit";
        let in_flight = "instructions of it in flight on the memory path";
        let starts_mem = "the instruction taken is of the memory path";
        let ends_mem = "the completed instruction is of the memory path";
        let next = "instructions in flight on the memory path in the next cycle";
        Ports {
            cfg_barrel: u.input("cfg_barrel", 2, barrel),
            offers: u.input("offers", 1, "the warp offers an instruction"),
            kind: u.input("kind", 4, "kind of the offer"),
            allowed: u.input("allowed", 1, "the access unit allows it"),
            busy: u.input("busy", 1, "an instruction of it is on its way to EX"),
            atom_infl: u.input("atom_infl", 1, "an ATOMIC is in flight"),
            releasing: u.input("releasing", 1, "a RELSSP of it is in EX"),
            infl_m: u.input("infl_m", COUNT, in_flight),
            infl_n: u.input("infl_n", COUNT, "on the other path"),
            starts: u.input("starts", 1, "an instruction of it is taken"),
            starts_mem: u.input("starts_mem", 1, starts_mem),
            ends: u.input("ends", 1, "an instruction of it retires"),
            ends_mem: u.input("ends_mem", 1, ends_mem),
            ready: u.output("ready", 1, "the warp may issue"),
            is_mem: u.output("is_mem", 1, "the warp's offer is of the memory path"),
            is_atomic: u.output("is_atomic", 1, "the warp's offer is an ATOMIC"),
            shares: u.output("shares", 1, "the warp's offer may touch the shared part"),
            next_m: u.output("next_m", COUNT, next),
            next_n: u.output("next_n", COUNT, "on the other path"),
        }
    }
}

fn of_kind(value: u8) -> Expr {
    code(&kind::FIELD, value)
}

/// Decodes the offer.
fn offer(u: &UnitBuilder, io: &Ports) {
    let kind = io.kind;
    let others = kind.is(of_kind(kind::ALU)) | kind.is(of_kind(kind::RELSSP));
    u.assign(io.is_mem, !others);
    u.assign(io.is_atomic, kind.is(of_kind(kind::ATOMIC)));
    let accesses = kind.at_least(of_kind(kind::LOAD));
    let shares = io.offers & accesses & kind.at_most(of_kind(kind::ATOMIC));
    u.assign(io.shares, shares);
}

fn may_issue(u: &UnitBuilder, io: &Ports) {
    let with_barrel = |value| io.cfg_barrel.is(code(&barrel::FIELD, value));
    let (none_m, none_n) = (!io.infl_m.any(), !io.infl_n.any());
    let alone = none_m.clone() & none_n.clone();
    let only_its_path = (io.is_mem & none_n) | (!io.is_mem & none_m);
    let strict = with_barrel(barrel::STRICT) & alone;
    let in_order = io.cfg_barrel.at(1) & only_its_path;
    let barrel_ok = with_barrel(barrel::RELAXED) | strict | in_order;
    let barrel_ok = u.name("barrel_ok", barrel_ok);
    let room = u.name("room", !io.infl_m.all() & !io.infl_n.all());
    let second_atomic = u.name("second_atomic", io.is_atomic & io.atom_infl);
    let fenced = io.kind.is(of_kind(kind::RELSSP)) & io.infl_m.any();
    let fenced = u.name("fenced", fenced);
    let barred = second_atomic | fenced | io.releasing | io.busy;
    u.assign(
        io.ready,
        io.offers & io.allowed & barrel_ok & room & !barred,
    );
}
