//! One warp's eligibility: whether it may issue now, and what it has in flight.

use crate::expr::{Expr, all, any, assign, at_least, at_most, bit, choose, difference};
use crate::expr::{is, number, sum, wire};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::core::ast::VerilogStatement;

/// Bits of a count of instructions in flight.
const COUNT: usize = 4;

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

/// The rules of microarchitecture/issue.md, one signal each.
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
    let now = || wire(&format!("infl_{path}"));
    let one = || number(COUNT, 1);
    let cases = [
        (wire(&up) & !wire(&down), sum(now(), one())),
        (wire(&down) & !wire(&up), difference(now(), one())),
    ];
    vec![
        assign(&up, wire("starts") & of_path("starts_mem")),
        assign(&down, wire("ends") & of_path("ends_mem")),
        choose(&format!("next_{path}"), cases, now()),
    ]
}

/// Emits the slice of a warp.
pub(crate) fn emit_kernel() -> Result<Module> {
    let counts = [count("m", wire), count("n", |class| !wire(class))].concat();
    let kernel = Kernel::default()
        .input(
            "cfg_barrel",
            2,
            "0 strict, 1 relaxed, 2 and 3 relaxed with in-order commit",
        )
        .input("offers", 1, "it offers an instruction")
        .input("kind", 4, "its kind")
        .input("allowed", 1, "the access unit lets it")
        .input("busy", 1, "an instruction of it is on its way to EX")
        .input("atom_infl", 1, "an ATOMIC is in flight")
        .input("releasing", 1, "a RELSSP of it is in EX")
        .input(
            "infl_m",
            COUNT,
            "instructions of it in flight on the memory path",
        )
        .input("infl_n", COUNT, "on the other path")
        .input("starts", 1, "an instruction of it is taken")
        .input("starts_mem", 1, "it is of the memory path")
        .input("ends", 1, "an instruction of it retires")
        .input("ends_mem", 1, "it is of the memory path")
        .output("ready", 1, "it may issue")
        .output("is_mem", 1, "its offer is of the memory path")
        .output("is_atomic", 1, "its offer is an ATOMIC")
        .output("shares", 1, "its offer may touch the shared part")
        .output(
            "next_m",
            COUNT,
            "instructions in flight on the memory path in the next cycle",
        )
        .output("next_n", COUNT, "on the other path")
        .logic([kind(), ready(), counts].concat());
    Unit::new(UnitDoc::part(
        "spad_eligible_warp",
        "one warp: whether it may issue, what its offer is, and what it has in flight behind \
         this cycle.",
        "none".into(),
        "issue.md",
    ))
    .emit_kernel(kernel)
}
