//! Selects the first of the candidates, by class, then order. The scheduler has
//! two instances, because the mask arrives too late to search after it.

use crate::codes::policy;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, code, concat, when};
use crate::spad_lowest;
use crate::unit::UnitBuilder;

/// Emits the helper after its priority search.
pub(crate) fn emit_helper(p: &Params) -> Result<Vec<Module>> {
    let search = spad_lowest::emit_helper()?;
    let u = UnitBuilder::new(doc(p));
    let s = u.all_sizes(p);
    let [warps] = u.sizes(p, ["W"]);
    let cfg_policy = u.input("cfg_policy", 2, "policy");
    let cand = u.input("cand", warps, "the candidates");
    let about = "warps of each class, class 0 lowest";
    let of_class = u.input("of_class", 4 * warps, about);
    let behind = u.input("behind", warps, "warps after the one that was taken last");
    let sel = u.output("sel", warps, "the warp, one-hot; 0 if none");
    let about = "per position: the warp is at it or below; nonzero if there is one";
    let found_sel = u.output("found_sel", warps, about);

    u.section("Per class: whether it has a candidate; whether it is the first class with one.");
    let [present, first] = u.wires(["present", "first"], 4);
    let of_first = u.wire("of_first", warps);
    u.assign(first.at(0), present.at(0));
    u.assign(first.at(1), present.at(1) & !present.at(0));
    for class in 2..4 {
        u.assign(
            first.at(class),
            present.at(class) & !present.part(0, class).any(),
        );
    }

    u.paragraph();
    let [i, c] = u.indices(["i", "c"]);
    u.generate(|| {
        u.each("each_class", c, (0, 4), |c| {
            let of_it = cand & of_class.part(c * warps, warps);
            u.assign(present.at(c), of_it.any());
        });
        u.each("keep", i, (0, warps), |i| {
            let in_class = |class: usize| of_class.at(class * warps + i);
            let mine = u.name("mine", concat((0..4).rev().map(in_class)));
            u.assign(of_first.at(i), (mine & first).any());
        });
    });
    let policy = |value| code(&policy::FIELD, value);
    let of_owners =
        cfg_policy.is(policy(policy::OWF_LRR)) | cfg_policy.is(policy(policy::OWF_SLOT));
    let by_class = u.name("by_class", of_owners);
    let chosen = cand & ((!by_class).copies(p.W) | of_first);
    let chosen = u.named("chosen", s.W, chosen);

    u.section("Round-robin: first the warps after the last one, then all.");
    let [found_behind, next] = u.wires(["found_behind", "next"], warps);
    let [found, lowest] = u.wires(["found", "lowest"], warps);
    let (before, all) = ([found_behind, next], [found, lowest]);
    spad_lowest::instance(&u, &search, "search_behind", chosen & behind, before);
    spad_lowest::instance(&u, &search, "search_all", chosen, all);
    let go_on = u.name("go_on", found_behind.at(p.W - 1) & !cfg_policy.at(1));
    u.assign(sel, when(go_on, next).otherwise(lowest));
    u.assign(found_sel, when(go_on, found_behind).otherwise(found));
    let module = u.emit()?;
    Ok(vec![search, module])
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_first_warp".into(),
        summary: "the candidate that goes first: by class where the policy says so, then \
                  round-robin after the warp selected last, or the lowest."
            .into(),
        parameters: p.text(&["W"]),
        timing: "combinational".into(),
        paper: "sharing paper, section 4; microarchitecture/warp-scheduler.md".into(),
        latency_cycles: 0,
    }
}
