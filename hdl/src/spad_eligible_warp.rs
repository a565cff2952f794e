//! One warp's eligibility: whether it may issue now, and what it has in flight.

use crate::expr::{Expr, all, any, assign, at_least, at_most, bit, choose, difference};
use crate::expr::{is, number, sum, vector};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::core::ast::VerilogStatement;

/// Bits of a count of instructions in flight.
const COUNT: usize = 4;

fn wire(name: &str) -> Expr {
    vector(name)
}

/// What the offered kind is.
fn kind() -> Vec<VerilogStatement> {
    vec![
        assign(
            "is_mem",
            !(is("kind", "KIND_ALU") | is("kind", "KIND_RELSSP")),
        ),
        assign("is_atomic", is("kind", "KIND_ATOMIC")),
        assign(
            "shares",
            wire("offers") & at_least("kind", "KIND_LOAD") & at_most("kind", "KIND_ATOMIC"),
        ),
    ]
}

/// The rules of section 18.2, one signal each.
fn ready() -> Vec<VerilogStatement> {
    let strict = is("cfg_barrel", "BARREL_STRICT");
    let relaxed = is("cfg_barrel", "BARREL_RELAXED");
    let in_order = bit("cfg_barrel", 1);
    let (mem, none_m, none_n) = (wire("is_mem"), !any("infl_m"), !any("infl_n"));
    let alone = none_m.clone() & none_n.clone();
    let only_its_path = (mem.clone() & none_n) | (!mem & none_m);
    vec![
        assign(
            "barrel_ok",
            relaxed | (strict & alone) | (in_order & only_its_path),
        ),
        assign("room", !all("infl_m") & !all("infl_n")),
        assign("second_atomic", wire("is_atomic") & wire("atom_infl")),
        assign("fenced", is("kind", "KIND_RELSSP") & any("infl_m")),
        assign(
            "ready",
            wire("offers")
                & wire("allowed")
                & wire("barrel_ok")
                & wire("room")
                & !(wire("second_atomic") | wire("fenced") | wire("releasing") | wire("busy")),
        ),
    ]
}

/// The count of one path behind this cycle: a start and an end leave it.
fn count(path: &str, of_path: impl Fn(&str) -> Expr) -> Vec<VerilogStatement> {
    let [up, down] = ["up", "down"].map(|way| format!("{way}_{path}"));
    let now = || vector(&format!("infl_{path}"));
    let one = || number(COUNT, 1);
    let cases = [
        (wire(&up) & !wire(&down), sum(now(), one())),
        (wire(&down) & !wire(&up), difference(now(), one())),
    ];
    vec![
        assign(&up, wire("starts") & of_path("starts_mem")),
        assign(&down, wire("ends") & of_path("ends_mem")),
        choose(&format!("next_{path}"), cases.into_iter(), now()),
    ]
}

/// Emits the slice of a warp.
pub(crate) fn emit_kernel() -> Result<Module> {
    let counts = [count("m", wire), count("n", |class| !wire(class))].concat();
    let logic = [kind(), ready(), counts].concat();
    let kernel = Kernel::default()
        .input("cfg_barrel", 2)
        .input("offers", 1)
        .input("kind", 4)
        .input("allowed", 1)
        .input("busy", 1)
        .input("atom_infl", 1)
        .input("releasing", 1)
        .input("infl_m", COUNT)
        .input("infl_n", COUNT)
        .input("starts", 1)
        .input("starts_mem", 1)
        .input("ends", 1)
        .input("ends_mem", 1)
        .output("ready", 1)
        .output("is_mem", 1)
        .output("is_atomic", 1)
        .output("shares", 1)
        .output("next_m", COUNT)
        .output("next_n", COUNT)
        .local("barrel_ok", 1)
        .local("room", 1)
        .local("second_atomic", 1)
        .local("fenced", 1)
        .local("up_m", 1)
        .local("down_m", 1)
        .local("up_n", 1)
        .local("down_n", 1)
        .logic(logic);
    Unit::new(UnitDoc {
        name: "spad_eligible_warp".into(),
        summary: "one warp: whether it may issue, what its offer is, and what it has in flight \
                  behind this cycle."
            .into(),
        parameters: "none".into(),
        timing: "combinational".into(),
        paper: "docs/microarchitecture.md, section 18.2".into(),
        latency_cycles: 0,
    })
    .port(
        "cfg_barrel",
        "0 strict, 1 relaxed, 2 and 3 relaxed with in-order commit",
    )
    .port("offers", "it offers an instruction")
    .port("kind", "its kind")
    .port("allowed", "the access unit lets it")
    .port("busy", "an instruction of it is on its way to EX")
    .port("atom_infl", "an ATOMIC is in flight")
    .port("releasing", "a RELSSP of it is in EX")
    .port("infl_m", "instructions of it in flight on the memory path")
    .port("infl_n", "on the other path")
    .port("starts", "an instruction of it is taken")
    .port("starts_mem", "it is of the memory path")
    .port("ends", "an instruction of it retires")
    .port("ends_mem", "it is of the memory path")
    .port("ready", "it may issue")
    .port("is_mem", "its offer is of the memory path")
    .port("is_atomic", "its offer is an ATOMIC")
    .port("shares", "its offer may touch the shared part")
    .port(
        "next_m",
        "instructions in flight on the memory path in the next cycle",
    )
    .port("next_n", "on the other path")
    .emit_kernel(kernel)
}
