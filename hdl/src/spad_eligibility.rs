//! Decides which warps may issue, and counts their instructions in flight.

use crate::codes::kind;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::ports::ports;
use crate::signal::{Bits, Signal, code};
use crate::size::Size;
use crate::spad_eligible_warp;
use crate::unit::UnitBuilder;

/// Emits `spad_eligibility`, its slice first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let slice = spad_eligible_warp::emit_kernel()?;
    let u = UnitBuilder::new(doc(p));
    let io = Ports::declared(&u, p);
    u.section("What is taken and what retires is on the memory path, or on the other.");
    let of_memory = |kind: Signal| {
        let is = |value| kind.is(code(&kind::FIELD, value));
        !is(kind::ALU) & !is(kind::RELSSP)
    };
    let take_mem = u.name("take_mem", of_memory(io.take_kind));
    let retire_mem = u.name("retire_mem", of_memory(io.retire_kind));

    u.paragraph();
    let [i] = u.indices(["i"]);
    u.generate(|| {
        u.each("warp", i, (0, io.s.W), |i| {
            each_warp(&u, &io, &slice, [take_mem, retire_mem], i);
        });
    });
    let module = u.emit()?;
    Ok(vec![slice, module])
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_eligibility".into(),
        summary: "which warps may issue, by what they offer and have in flight; counts the \
                  instructions in flight of each warp, per path."
            .into(),
        parameters: p.text(&["W"]),
        timing: "combinational from the offers; what starts or retires counts in the next cycle"
            .into(),
        paper: "elastic paper, section 4; microarchitecture/issue.md".into(),
        latency_cycles: 0,
    }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        cfg_barrel: input(2, "0 strict, 1 relaxed, 2 and 3 relaxed with in-order commit per warp"),
        off_valid: input(s.W, "the warp offers an instruction"),
        off_kind: input(s.W * 4, "kind of each warp's offer, 4 bits per warp"),
        allow: input(s.W, "the access unit allows it"),
        busy: input(s.W, "an instruction of the warp is on its way to EX"),
        atom_infl: input(1, "an ATOMIC is in flight"),
        ex_relssp: input(1, "a RELSSP is in EX"),
        ex_warp: input(s.WW, "the warp in EX"),
        take: input(1, "an instruction is taken in this cycle"),
        take_sel: input(s.W, "of which warp, one-hot"),
        take_kind: input(4, "kind of the instruction taken"),
        retire: input(1, "an instruction's last pass is written back in this cycle"),
        retire_warp: input(s.WW, "warp of the completed instruction"),
        retire_kind: input(4, "kind of the completed instruction"),
        ready: output(s.W, "the warp may issue"),
        is_mem: output(s.W, "the warp's offer is of the memory path"),
        is_atomic: output(s.W, "the warp's offer is an ATOMIC"),
        shares: output(s.W, "its offer may touch the shared part of the scratchpad"),
    }
}

/// The slice of warp `i`, and its counters of instructions in flight.
fn each_warp(
    u: &UnitBuilder,
    io: &Ports,
    slice: &Module,
    [take_mem, retire_mem]: [Signal; 2],
    i: Size,
) {
    u.about("Its instructions in flight on the memory path and on the other.");
    let [infl_m, infl_n] = ["infl_m", "infl_n"].map(|n| u.register(n, 4).reset(0));
    let [next_m, next_n] = u.wires(["next_m", "next_n"], 4);
    u.instance(slice, "slice")
        .same([io.cfg_barrel])
        .port("offers", io.off_valid.at(i))
        .port("kind", io.off_kind.part(4 * i, 4))
        .port("allowed", io.allow.at(i))
        .port("busy", io.busy.at(i))
        .same([io.atom_infl])
        .port("releasing", io.ex_relssp & io.ex_warp.is(i))
        .same([infl_m, infl_n])
        .port("starts", io.take & io.take_sel.at(i))
        .port("starts_mem", take_mem)
        .port("ends", io.retire & io.retire_warp.is(i))
        .port("ends_mem", retire_mem)
        .port("ready", io.ready.at(i))
        .port("is_mem", io.is_mem.at(i))
        .port("is_atomic", io.is_atomic.at(i))
        .port("shares", io.shares.at(i))
        .same([next_m, next_n])
        .done();
    u.at_clock().next(infl_m, next_m).next(infl_n, next_n);
}
