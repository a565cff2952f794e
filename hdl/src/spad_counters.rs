//! Performance counters that observe the path: degrees, stalls, retries.

use crate::codes::{counter, kind, seq, source, stall};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::ports::ports;
use crate::signal::{Bits, Expr, Operand, Signal, code, place, when};
use crate::size::Size;
use crate::spad_pick;
use crate::tree::Tree;
use crate::unit::UnitBuilder;

/// Emits `spad_counters`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let pick = spad_pick::emit_helper()?;
    let u = UnitBuilder::new(doc(p));
    let counters = u.size("COUNTERS", counter::FIELD.codes.len());
    let io = Ports::declared(&u, p);
    let (events, was_read, reads) = events(&u, &io, counters);
    u.section("A register in front of the counters: they put no load on the path.");
    let seen = u.register("seen", counters).reset(0);
    let degree = u.register("degree", io.s.DG).reset(0);
    u.at_clock()
        .next(was_read, reads)
        .next(seen, events & (!io.clear).copies(counters))
        .next(degree, io.wb_degree);
    count(&u, &io, &pick, seen, degree);
    let module = u.emit()?;
    Ok(vec![pick, module])
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_counters".into(),
        summary: "performance counters beside spad_sm_path: passes, conflict degrees, stalls, \
                  rounds of atomics. An option: the path does not need them."
            .into(),
        parameters: p.text(&["DG"]),
        timing: "an event is counted two cycles later; a counter is shown in the cycle after \
                 its index"
            .into(),
        paper: "microarchitecture/counters.md".into(),
        latency_cycles: 1,
    }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        clear: input(1, "all counters start again from 0"),
        iss_valid: input(1, "of the path: a pass enters EX"),
        stall: input(2, "of the path: why EX is held"),
        masked: input(1, "of the path: the mask holds a ready warp back"),
        seq_state: input(3, "of the path: state of the retry sequencer"),
        wb_valid: input(1, "of the path: a result is written back"),
        wb_ready: input(1, "the register file takes it"),
        wb_src: input(2, "of the path: where the result comes from"),
        wb_kind: input(4, "of the path: kind of the instruction"),
        wb_degree: input(s.DG, "of the path: its conflict degree"),
        wr_en: input(1, "sets a counter"),
        wr_index: input(counter::FIELD.width, "which one"),
        wr_data: input(32, "to what"),
        rd_index: input(counter::FIELD.width, "which counter is shown"),
        rd_count: output(32, "the counter; 0 if there is none"),
    }
}

/// The observed events, one bit per counter; the register that tells a new
/// round from a read in progress, and its next state.
fn events(u: &UnitBuilder, io: &Ports, counters: Size) -> (Signal, Signal, Signal) {
    u.section("What the path shows, one bit per counter.");
    let of_memory = io.wb_src.is(code(&source::FIELD, source::MEM));
    let written = u.name("written", io.wb_valid & io.wb_ready & of_memory);
    let kind = |value| code(&kind::FIELD, value);
    let accesses = io.wb_kind.at_least(kind(kind::LOAD));
    let access = written & accesses & io.wb_kind.at_most(kind(kind::STUL));
    let access = u.name("access", access);
    let reads = io.seq_state.is(code(&seq::FIELD, seq::READ));
    let reads = u.name("reads", reads);
    let was_read = u.register("was_read", 1).reset(0);
    let happens = u.wire("happens", counters);
    let stalled = |why| io.stall.is(code(&stall::FIELD, why)).into();
    let atomic = written & io.wb_kind.is(kind(kind::ATOMIC));
    let events: [(u8, Operand); 10] = [
        (counter::CYCLES, Operand::Number(1)),
        (counter::PASSES, io.iss_valid.into()),
        (counter::ACCESSES, access.into()),
        (counter::DEGREE, access.into()),
        (counter::STALL_BANK, stalled(stall::BANK_CONFLICT)),
        (counter::STALL_WRITEBACK, stalled(stall::WRITEBACK)),
        (counter::STALL_RETRY, stalled(stall::LOCK_RETRY)),
        (counter::MASKED, io.masked.into()),
        (counter::ROUNDS, (reads & !was_read).into()),
        (counter::ATOMICS, atomic.into()),
    ];
    for (counter, event) in events {
        u.assign(happens.at(place(&counter::FIELD, counter)), event);
    }
    (happens, was_read, reads)
}

/// The counters, and the selected one.
fn count(u: &UnitBuilder, io: &Ports, pick: &Module, seen: Signal, degree: Signal) {
    let (counters, places): (_, usize) = (seen.width, 1 << counter::FIELD.width);
    u.paragraph();
    let counts = u.wire("counts", places * 32);
    let wanted = u.wire("wanted", places);
    let [k] = u.indices(["k"]);
    u.generate(|| {
        u.each("counter", k, (0, counters), |k| {
            let count = u.register("count", 32).reset(0);
            let of_degree = Expr::new(Tree::Number(k.number()), 32.into());
            let of_degree = of_degree.is(place(&counter::FIELD, counter::DEGREE));
            let amount = when(of_degree, degree.extended(32)).otherwise(1);
            let amount = u.named("amount", 32, amount);
            let written = io.wr_en & io.wr_index.is(k);
            let counted = when(written, io.wr_data).when(seen.at(k), count + amount);
            u.at_clock().clear(io.clear).next(count, counted);
            u.assign(counts.part(32 * k, 32), count);
        });
        u.each("no_counter", k, (counters, places), |k| {
            u.assign(counts.part(32 * k, 32), 0);
        });
        u.each("place", k, (0, places), |k| {
            u.assign(wanted.at(k), io.rd_index.is(k));
        });
    });

    u.paragraph();
    let word = u.wire("word", 32);
    spad_pick::instance(u, pick, "select_counter", wanted, counts, word);
    let shown = u.register("shown", 32).reset(0);
    u.at_clock().next(shown, word);
    u.assign(io.rd_count, shown);
}
