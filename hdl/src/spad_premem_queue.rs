//! The queue in front of the memory stages, with bypass.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, number, when};
use crate::size::Size;
use crate::unit::Unit;

/// Emits `spad_premem_queue`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let u = Unit::new(UnitDoc {
        name: "spad_premem_queue".into(),
        summary: "first-in first-out queue of PQ entries in front of MEM0. An entry that finds it empty and MEM0 ready passes in the same cycle; a full queue takes an entry in the cycle in which it gives one. Depth 0 is wires.".into(),
        parameters: p.text(&["L", "WS", "PQ", "PREW"]),
        timing: "0 cycles when empty and out_ready, else in order".into(),
        paper: "elastic paper, section 4.3 and Fig. 4; microarchitecture/elastic-queues.md".into(),
        latency_cycles: 0,
    });
    let s = u.all_sizes(p);
    let [prew, pq] = u.sizes(p, ["PREW", "PQ"]);
    let [clk, rst] = u.clocked();
    let about = "0: behaves as depth 0; static while not empty";
    let cfg_on = u.input("cfg_on", 1, about);
    let in_valid = u.input("in_valid", 1, "an entry is offered");
    let in_data = u.input("in_data", prew, "the entry");
    let in_ready = u.output("in_ready", 1, "the input is accepted");
    let out_valid = u.output("out_valid", 1, "the oldest entry is offered");
    let out_data = u.output("out_data", prew, "the entry; 0 if none");
    let out_ready = u.input("out_ready", 1, "the output is accepted");
    let count = u.output("count", s.PQW, "entries held");
    if p.PQ == 0 {
        for input in [clk, rst, cfg_on] {
            u.unused(true, input, "depth 0 has no state");
        }
        u.about("Depth 0: wires.");
        u.assign(in_ready, out_ready);
        u.assign(out_valid, in_valid);
        u.assign(out_data, in_data.gated(out_valid));
        u.assign(count, number(p.PQW, 0));
        return Ok(vec![u.emit()?]);
    }

    u.section("Entry 0 is the oldest. Entries have no reset: `held_q` qualifies them.");
    let entry = u
        .register("entry", pq * prew)
        .without_reset("`held` qualifies entries");
    let held = u.register("held", s.PQW).reset(0);

    u.paragraph();
    let empty = u.name("empty", held.is(0));
    let full = u.name("full", held.is(p.PQ));
    let oldest = when(empty, in_data).otherwise(entry.part(0, p.PREW));
    let oldest = u.name("oldest", oldest);
    u.assign(in_ready, out_ready | (cfg_on & !full));
    u.assign(out_valid, !empty | in_valid);
    u.assign(out_data, oldest.gated(out_valid));
    u.assign(count, held);

    u.paragraph();
    let pop = u.name("pop", !empty & out_ready);
    let push = u.name("push", in_valid & in_ready & !(empty & out_ready));
    let left = u.name("left", when(pop, held - 1).otherwise(held));
    let held_next = u.next_state(held, when(push, left + 1).otherwise(left));

    u.paragraph();
    let [k] = u.indices(["k"]);
    u.generate(|| {
        u.each("slot", k, (0, pq), |k| {
            u.about(
                "Slots behind the entries may hold anything, so the last one\n\
                 takes every push, and the others need only look below themselves.",
            );
            let word = |k: Size| entry.part(k * prew, prew);
            let inner = |k| {
                let shifted = when(push & left.at_most(k), in_data).when(pop, word(k + 1));
                u.at_clock().next(word(k), shifted);
            };
            let last = |k| {
                u.at_clock().when(push).next(word(k), in_data);
            };
            u.last((k, pq), ("inner", inner), ("last", last));
        });
    });

    u.paragraph();
    u.at_clock().next(held, held_next);
    Ok(vec![u.emit()?])
}
