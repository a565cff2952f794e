//! The queue in front of the memory stages, with bypass.

use crate::module::{Module, Result, UnitDoc};
use crate::params::{PAYLOAD, Params};
use crate::ports::ports;
use crate::property::stable;
use crate::signal::{Bits, Signal, number, when};
use crate::size::Size;
use crate::unit::UnitBuilder;

/// Emits `spad_premem_queue`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let u = UnitBuilder::new(doc(p));
    u.machine_parameter(p, "PREW", PAYLOAD);
    let io = Ports::declared(&u, p);
    if p.PQ == 0 {
        without_entries(&u, p, &io);
    } else {
        queue(&u, p, &io);
    }
    Ok(vec![u.emit()?])
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_premem_queue".into(),
        summary: "first-in first-out queue of PQ entries in front of MEM0. An entry that finds it \
                  empty and MEM0 ready passes in the same cycle; a full queue takes an entry in \
                  the cycle in which it gives one. Depth 0 is wires."
            .into(),
        parameters: p.text(&["L", "WS", "PQ", "PREW"]),
        timing: "0 cycles when empty and out_ready, else in order".into(),
        paper: "elastic paper, section 4.3 and Fig. 4; microarchitecture/elastic-queues.md".into(),
        latency_cycles: 0,
    }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        cfg_on: input(1, "0: behaves as depth 0; static while not empty"),
        in_valid: input(1, "an entry is offered"),
        in_data: input(s.PREW, "the entry"),
        in_ready: output(1, "an input would be accepted"),
        out_valid: output(1, "the oldest entry is offered"),
        out_data: output(s.PREW, "the entry; 0 if none"),
        out_ready: input(1, "an output would be accepted"),
        count: output(s.PQW, "entries held"),
    }
}

fn without_entries(u: &UnitBuilder, p: &Params, io: &Ports) {
    for input in [io.clk, io.rst, io.cfg_on] {
        u.unused(true, input, "depth 0 has no state");
    }
    u.about("Depth 0: wires.");
    u.assign(io.in_ready, io.out_ready);
    u.assign(io.out_valid, io.in_valid);
    u.assign(io.out_data, io.in_data.gated(io.out_valid));
    u.assign(io.count, number(p.PQW, 0));
}

fn queue(u: &UnitBuilder, p: &Params, io: &Ports) {
    u.section("Entry 0 is the oldest.");
    let entry = u.register("entry", io.s.PQ * io.s.PREW);
    let entry = entry.without_reset("`held_q` counts the entries in use");
    let held = u.register("held", io.s.PQW).reset(0);

    u.paragraph();
    let empty = u.name("empty", held.is(0));
    let full = u.name("full", held.is(p.PQ));
    let oldest = when(empty, io.in_data).otherwise(entry.part(0, io.s.PREW));
    let oldest = u.name("oldest", oldest);
    u.assign(io.in_ready, io.out_ready | (io.cfg_on & !full));
    u.assign(io.out_valid, !empty | io.in_valid);
    u.assign(io.out_data, oldest.gated(io.out_valid));
    u.assign(io.count, held);

    u.paragraph();
    let pop = u.name("pop", !empty & io.out_ready);
    let passes = empty & io.out_ready;
    let push = u.name("push", io.in_valid & io.in_ready & !passes);
    let left = u.name("left", when(pop, held - 1).otherwise(held));
    let held_next = u.next_state(held, when(push, left + 1).otherwise(left));
    slots(u, io, entry, left, [push, pop]);

    u.paragraph();
    u.at_clock().next(held, held_next);
    u.assertions(|| {
        let message = "an entry is pushed into a full queue";
        u.property("no_overflow", push & full, pop, message);
        let message = "the depth changes with an entry inside";
        u.property("cfg_static", !empty, stable([io.cfg_on]), message);
    });
}

/// The entries, of which `left` stay.
fn slots(u: &UnitBuilder, io: &Ports, entry: Signal, left: Signal, [push, pop]: [Signal; 2]) {
    let (pq, prew, in_data) = (io.s.PQ, io.s.PREW, io.in_data);
    u.paragraph();
    let [k] = u.indices(["k"]);
    u.generate(|| {
        u.each("slot", k, (0, pq), |k| {
            u.about(
                "Slots after the entries may hold anything, so the last one\n\
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
}
