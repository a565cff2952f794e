//! The stages beside the memory stages: elastic queue or fixed pipeline.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, Expr, one_hot, or_all};
use crate::size::Size;
use crate::unit::Unit;

/// Emits `spad_nonmem_queue`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let u = Unit::new(UnitDoc {
        name: "spad_nonmem_queue".into(),
        summary: "NQ stages beside the memory stages. Elastic: a first-in first-out queue with taps on every stage and on EXE; fixed: a pipeline. Bubbles close up in both.".into(),
        parameters: p.text(&["M", "H", "NQ", "NMW"]),
        timing: "elastic: 0 cycles when empty and out_ready; fixed: at least NQ cycles".into(),
        paper: "elastic paper, section 4 and Eq. 4; microarchitecture/elastic-queues.md".into(),
        latency_cycles: 0,
    });
    let [nq, nmw] = u.sizes(p, ["NQ", "NMW"]);
    u.clocked();
    let about = "1 elastic queue, 0 fixed pipeline; static while not empty";
    let cfg_elastic = u.input("cfg_elastic", 1, about);
    let in_valid = u.input("in_valid", 1, "an entry is offered");
    let in_data = u.input("in_data", nmw, "the entry");
    let in_ready = u.output("in_ready", 1, "the input is accepted");
    let out_valid = u.output("out_valid", 1, "the oldest entry is offered");
    let out_data = u.output("out_data", nmw, "the entry; 0 if none");
    let out_ready = u.input("out_ready", 1, "the output is accepted");
    let about = "occupied stages, stage 0 is the youngest";
    let stage_valid = u.output("stage_valid", nq, about);

    u.section("Stage 0 is the youngest. Data has no reset: `valid_q` qualifies it.");
    let valid = u.register("valid", nq).reset(0);
    let data = u.register("data", nq * nmw).covered_by(valid);
    u.section("Per stage: a later one holds an entry; it or a later one has room.");
    let [older, free] = u.wires(["older", "free"], nq);

    u.paragraph();
    let bypass = u.name("bypass", cfg_elastic & !valid.any());
    u.note("The oldest entry is offered; the fixed pipeline offers that of its last stage.");
    let exits = cfg_elastic.copies(nq) | one_hot(nq, p.NQ - 1);
    let offer = u.named("offer", nq, valid & !older & exits);
    let give = u.named("give", nq, offer & out_ready.copies(nq));
    let room = u.named("room", nq, !valid | give);

    u.paragraph();
    u.assign(in_ready, free.at(0));
    let passes = bypass & out_ready;
    let push = u.name("push", in_valid & in_ready & !passes);
    let stay = u.named("stay", nq, valid & !give);
    let moves = u.named("move", nq, stay & free.down(1));
    let enter = u.named("enter", nq, moves.up(1) | push.extended(p.NQ));
    let valid_next = u.next_state(valid, enter | (stay & !moves));

    u.paragraph();
    u.assign(out_valid, offer.any() | (bypass & in_valid));
    let straight = in_data & (bypass & in_valid).copies(nmw);
    let stage = |k: usize| data.part(k * nmw, nmw) & offer.at(k).copies(nmw);
    u.assign(
        out_data,
        or_all([straight].into_iter().chain((0..p.NQ).map(stage))),
    );
    u.assign(stage_valid, valid);

    u.paragraph();
    u.at_clock().next(valid, valid_next);
    u.paragraph();
    let [k] = u.indices(["k"]);
    u.generate(|| {
        u.each("stage", k, (0, nq), |k| {
            let word = |k: Size| data.part(k * nmw, nmw);
            u.assign(free.at(k), room.high(k).any());
            u.last(
                (k, nq),
                ("inner", |k| u.assign(older.at(k), valid.high(k + 1).any())),
                ("last", |k| u.assign(older.at(k), 0)),
            );
            let enters = |k, value: Expr| {
                u.at_clock().when(enter.at(k)).next(word(k), value);
            };
            u.first(
                k,
                ("entrance", |k| enters(k, in_data.into())),
                ("behind", |k| enters(k, word(k - 1))),
            );
        });
    });
    Ok(vec![u.emit()?])
}
