//! The warp scheduler.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, when};
use crate::unit::Unit;
use crate::{spad_first_warp, spad_number};

/// Emits `spad_warp_scheduler` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let first = spad_first_warp::emit_helper(p)?;
    let number = spad_number::emit_kernel(p.W)?;
    let first_warp = first.last().expect("a unit's own module is the last");
    let u = Unit::new(UnitDoc {
        name: "spad_warp_scheduler".into(),
        summary: "selects the warp that issues: loose round-robin, owner warps first, or lowest slot; bank-conflict-aware on top of each. Policies: 0 round-robin; 1 owner first, round-robin in a class; 2 owner first, lowest slot in a class; 3 lowest slot.".into(),
        parameters: p.text(&["W", "WW"]),
        timing: "the selection is combinational; the round-robin pointer moves with take".into(),
        paper: "elastic paper, section 5; sharing paper, section 4; microarchitecture/warp-scheduler.md".into(),
        latency_cycles: 0,
    });
    let s = u.all_sizes(p);
    let [warps] = u.sizes(p, ["W"]);
    u.clocked();
    let cfg_policy = u.input("cfg_policy", 2, "policy");
    let cfg_aware = u.input("cfg_aware", 1, "apply the mask");
    let about = "masked warps go when nothing else can";
    let cfg_violate = u.input("cfg_violate", 1, about);
    let ready = u.input("ready", warps, "warps that may issue");
    let is_mem = u.input("is_mem", warps, "the warp offers a memory instruction");
    let mask = u.input("mask", 1, "memory warps are masked");
    let about = "warps, none of is_mem, that wait for the others while nothing is masked";
    let put_off = u.input("put_off", warps, about);
    let about = "class per warp: 0 owner, 1 unshared, 2 non-owner";
    let cls = u.input("cls", 2 * warps, about);
    let take = u.input("take", 1, "the selection is issued in this cycle");
    let sel_valid = u.output("sel_valid", 1, "a warp is selected");
    let sel = u.output("sel", warps, "the warp, one-hot; 0 if none");
    let sel_warp = u.output("sel_warp", s.WW, "number of the selected warp; 0 if none");
    let masked = u.output("masked", 1, "some ready warp is held back by the mask");

    u.section("The warps behind the one that was taken last.");
    let behind = u.register("behind", warps).reset(0);
    u.paragraph();
    let of_class = u.wire("of_class", 4 * warps);
    let [i, c] = u.indices(["i", "c"]);
    u.generate(|| {
        u.each("each_class", c, (0, 4), |c| {
            u.each("warp", i, (0, warps), |i| {
                u.assign(of_class.at(c * warps + i), cls.part(2 * i, 2).is(c));
            });
        });
    });

    u.section(
        "Who would go with and without masked warps is found side by side, because the mask \
         comes late.",
    );
    let [of_all, of_all_found] = u.wires(["of_all", "of_all_found"], warps);
    let [of_others, of_others_found] = u.wires(["of_others", "of_others_found"], warps);
    let others = u.name("others", ready & !is_mem);
    u.note("Masked warps go where violating is allowed and nothing else can.");
    let keeps = u.name("keeps", !cfg_violate | others.any());
    let held = u.name("held", cfg_aware & mask & keeps);
    let some_mem = u.name("some_mem", (ready & is_mem).any());
    u.assign(masked, held & some_mem);
    let unmasked = u.name("unmasked", ready & !put_off);
    u.note("Where all are put off none of them is a memory warp.");
    let only_others = u.name("only_others", held | !unmasked.any());
    let searches = [
        ("first_of_all", unmasked, of_all, of_all_found),
        ("first_of_others", others, of_others, of_others_found),
    ];
    for (name, cand, sel, found_sel) in searches {
        u.instance(first_warp, name)
            .port("cfg_policy", cfg_policy)
            .port("cand", cand)
            .port("of_class", of_class)
            .port("behind", behind)
            .port("sel", sel)
            .port("found_sel", found_sel)
            .done();
    }
    u.assign(sel, when(only_others, of_others).otherwise(of_all));
    u.note("Behind the selected warp are those at which it has been found below.");
    let found_sel = when(only_others, of_others_found).otherwise(of_all_found);
    let found_sel = u.name("found_sel", found_sel);
    u.assign(sel_valid, found_sel.at(p.W - 1));
    let behind_next = u.next_state(behind, found_sel.up(1));
    u.instance(&number, "encode")
        .port("above", sel.high(1))
        .port("number", sel_warp)
        .done();

    u.paragraph();
    u.at_clock()
        .when(take & sel_valid)
        .next(behind, behind_next);
    let module = u.emit()?;
    Ok(first.into_iter().chain([number, module]).collect())
}
