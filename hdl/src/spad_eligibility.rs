//! Which warps may issue, and what each has in flight.

use crate::codes::kind;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, Signal, code};
use crate::spad_eligible_warp;
use crate::unit::Unit;

/// Emits `spad_eligibility` behind its slice.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let slice = spad_eligible_warp::emit_kernel()?;
    let u = Unit::new(UnitDoc {
        name: "spad_eligibility".into(),
        summary: "which warps may issue, by what they offer and have in flight; counts the \
                  instructions in flight of each warp, per path."
            .into(),
        parameters: p.text(&["W"]),
        timing: "combinational from the offers; what starts or retires counts in the next cycle"
            .into(),
        paper: "elastic paper, section 4; microarchitecture/issue.md".into(),
        latency_cycles: 0,
    });
    let s = u.all_sizes(p);
    let [warps] = u.sizes(p, ["W"]);
    u.clocked();
    let about = "0 strict, 1 relaxed, 2 and 3 relaxed with in-order commit per warp";
    let cfg_barrel = u.input("cfg_barrel", 2, about);
    let off_valid = u.input("off_valid", warps, "the warp offers an instruction");
    let off_kind = u.input(
        "off_kind",
        warps * 4,
        "kind of each warp's offer, 4 bits per warp",
    );
    let allow = u.input("allow", warps, "the access unit allows it");
    let about = "an instruction of the warp is on its way to EX";
    let busy = u.input("busy", warps, about);
    let atom_infl = u.input("atom_infl", 1, "an ATOMIC is in flight");
    let ex_relssp = u.input("ex_relssp", 1, "a RELSSP is in EX");
    let ex_warp = u.input("ex_warp", s.WW, "the warp in EX");
    let take = u.input("take", 1, "an instruction is taken in this cycle");
    let take_sel = u.input("take_sel", warps, "of which warp, one-hot");
    let take_kind = u.input("take_kind", 4, "kind of the instruction taken");
    let about = "an instruction's last pass is written back in this cycle";
    let retire = u.input("retire", 1, about);
    let retire_warp = u.input("retire_warp", s.WW, "warp of the completed instruction");
    let retire_kind = u.input("retire_kind", 4, "kind of the completed instruction");
    let ready = u.output("ready", warps, "the warp may issue");
    let is_mem = u.output("is_mem", warps, "the warp's offer is of the memory path");
    let is_atomic = u.output("is_atomic", warps, "the warp's offer is an ATOMIC");
    let about = "its offer may touch the shared part of the scratchpad";
    let shares = u.output("shares", warps, about);

    u.section("What is taken and what retires is on the memory path, or on the other.");
    let of_memory = |kind: Signal| {
        let is = |value| kind.is(code(&kind::FIELD, value));
        !is(kind::ALU) & !is(kind::RELSSP)
    };
    let take_mem = u.name("take_mem", of_memory(take_kind));
    let retire_mem = u.name("retire_mem", of_memory(retire_kind));

    u.paragraph();
    let [i] = u.indices(["i"]);
    u.generate(|| {
        u.each("warp", i, (0, warps), |i| {
            u.about("Its instructions in flight on the memory path and on the other.");
            let [infl_m, infl_n] = ["infl_m", "infl_n"].map(|n| u.register(n, 4).reset(0));
            let [next_m, next_n] = u.wires(["next_m", "next_n"], 4);
            u.instance(&slice, "slice")
                .port("cfg_barrel", cfg_barrel)
                .port("offers", off_valid.at(i))
                .port("kind", off_kind.part(4 * i, 4))
                .port("allowed", allow.at(i))
                .port("busy", busy.at(i))
                .port("atom_infl", atom_infl)
                .port("releasing", ex_relssp & ex_warp.is(i))
                .port("infl_m", infl_m)
                .port("infl_n", infl_n)
                .port("starts", take & take_sel.at(i))
                .port("starts_mem", take_mem)
                .port("ends", retire & retire_warp.is(i))
                .port("ends_mem", retire_mem)
                .port("ready", ready.at(i))
                .port("is_mem", is_mem.at(i))
                .port("is_atomic", is_atomic.at(i))
                .port("shares", shares.at(i))
                .port("next_m", next_m)
                .port("next_n", next_n)
                .done();
            u.at_clock().next(infl_m, next_m).next(infl_n, next_n);
        });
    });
    let module = u.emit()?;
    Ok(vec![slice, module])
}
