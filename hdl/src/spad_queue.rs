//! A queue of a few entries, all of its outputs from registers.

use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, when};
use crate::unit::UnitBuilder;

/// Emits `spad_queue`.
pub(crate) fn emit_helper() -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_queue".into(),
        summary: "first-in first-out queue of DEPTH entries; nothing combinational leads from \
                  one side to the other."
            .into(),
        parameters: "WIDTH, bits of an entry; DEPTH, entries".into(),
        timing: "one cycle; one entry a cycle".into(),
        paper: "microarchitecture/axi.md".into(),
        latency_cycles: 1,
    });
    let width = u.parameter("WIDTH", 8, 1..=4096);
    let depth = u.parameter("DEPTH", 4, 2..=32);
    u.clocked();
    let in_valid = u.input("in_valid", 1, "an entry is offered");
    let in_data = u.input("in_data", width, "the entry, WIDTH bits");
    let in_ready = u.output("in_ready", 1, "an input would be accepted: it is not full");
    let out_valid = u.output("out_valid", 1, "the oldest entry is offered");
    let out_data = u.output("out_data", width, "the entry, WIDTH bits; 0 if none");
    let out_ready = u.input("out_ready", 1, "an output would be accepted");

    u.section("Entry 0 is the oldest; an entry that is there has its bit set.");
    let held = u.register("held", depth).reset(0);
    let entry = u.register("entry", depth * width);
    let entry = entry.without_reset("`held_q` tells the entries in use");
    u.assign(in_ready, !held.at(depth - 1));
    u.assign(out_valid, held.at(0));
    u.assign(out_data, entry.part(0, width).gated(held.at(0)));

    u.paragraph();
    let push = u.name("push", in_valid & !held.at(depth - 1));
    let pop = u.name("pop", out_ready & held.at(0));
    u.about("The bits with those beside them: below the first, and behind the last.");
    let around = u.wire("around", depth + 2);
    u.assign(around.at(0), 1);
    u.assign(around.part(1, depth), held);
    u.assign(around.at(depth + 1), 0);
    u.about("The entry behind each; behind the last one is the input.");
    let behind = u.wire("behind", depth * width);
    let others = (depth - 1) * width;
    u.assign(behind.part(0, others), entry.part(width, others));
    u.assign(behind.part(others, width), in_data);

    u.paragraph();
    let [k] = u.indices(["k"]);
    u.generate(|| {
        u.each("slot", k, (0, depth), |k| {
            let next = when(push & !pop, around.at(k)).when(pop & !push, around.at(k + 2));
            u.at_clock().next(held.at(k), next);
            u.about("A slot without an entry may hold anything: it follows the input.");
            let next = behind.part(k * width, width);
            let next = when(pop & around.at(k + 2), next).otherwise(in_data);
            let next = u.named("word_next", width, next);
            let word = entry.part(k * width, width);
            u.at_clock().when(pop | !held.at(k)).next(word, next);
        });
    });
    u.emit()
}
