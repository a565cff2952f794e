//! Performance counters beside the path: degrees, stalls, retries.

use crate::codes::{counter, kind, seq, source, stall};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, Expr, Operand, code, place, when};
use crate::spad_pick;
use crate::unit::Unit;

/// Emits `spad_counters`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let places: usize = 1 << counter::FIELD.width;
    let pick = spad_pick::emit_helper()?;
    let u = Unit::new(UnitDoc {
        name: "spad_counters".into(),
        summary: "performance counters beside spad_sm_path: passes, conflict degrees, stalls, \
                  rounds of atomics. An option: the path does not need them."
            .into(),
        parameters: p.text(&["DG"]),
        timing: "an event is counted two cycles later; a counter is shown in the cycle behind \
                 its index"
            .into(),
        paper: "microarchitecture/counters.md".into(),
        latency_cycles: 1,
    });
    let counters = u.size("COUNTERS", counter::FIELD.codes.len());
    let [dg] = u.sizes(p, ["DG"]);
    u.clocked();
    let clear = u.input("clear", 1, "all counters start again from 0");
    let iss_valid = u.input("iss_valid", 1, "of the path: a pass enters EXE");
    let stall = u.input("stall", 2, "of the path: why EXE is held");
    let about = "of the path: the mask holds a ready warp back";
    let masked = u.input("masked", 1, about);
    let about = "of the path: state of the retry sequencer";
    let seq_state = u.input("seq_state", 3, about);
    let wb_valid = u.input("wb_valid", 1, "of the path: a result is written back");
    let wb_ready = u.input("wb_ready", 1, "the register file takes it");
    let about = "of the path: where the result comes from";
    let wb_src = u.input("wb_src", 2, about);
    let wb_kind = u.input("wb_kind", 4, "of the path: kind of the instruction");
    let wb_degree = u.input("wb_degree", dg, "of the path: its conflict degree");
    let wr_en = u.input("wr_en", 1, "sets a counter");
    let wr_index = u.input("wr_index", counter::FIELD.width, "which one");
    let wr_data = u.input("wr_data", 32, "to what");
    let about = "which counter is shown";
    let rd_index = u.input("rd_index", counter::FIELD.width, about);
    let rd_count = u.output("rd_count", 32, "the counter; 0 if there is none");

    u.section("What the path shows, one bit per counter.");
    let of_memory = wb_src.is(code(&source::FIELD, source::MEM));
    let written = u.name("written", wb_valid & wb_ready & of_memory);
    let kind = |value| code(&kind::FIELD, value);
    let accesses = wb_kind.at_least(kind(kind::LOAD));
    let access = written & accesses & wb_kind.at_most(kind(kind::STUL));
    let access = u.name("access", access);
    let reads = u.name("reads", seq_state.is(code(&seq::FIELD, seq::READ)));
    let was_read = u.register("was_read", 1).reset(0);
    let happens = u.wire("happens", counters);
    let stalled = |why| stall.is(code(&stall::FIELD, why));
    let events: [(u8, Operand); 10] = [
        (counter::CYCLES, Operand::Number(1)),
        (counter::PASSES, iss_valid.into()),
        (counter::ACCESSES, access.into()),
        (counter::DEGREE, access.into()),
        (counter::STALL_BANK, stalled(stall::BANK_CONFLICT).into()),
        (counter::STALL_WRITEBACK, stalled(stall::WRITEBACK).into()),
        (counter::STALL_RETRY, stalled(stall::LOCK_RETRY).into()),
        (counter::MASKED, masked.into()),
        (counter::ROUNDS, (reads & !was_read).into()),
        (
            counter::ATOMICS,
            (written & wb_kind.is(kind(kind::ATOMIC))).into(),
        ),
    ];
    for (counter, event) in events {
        u.assign(happens.at(place(&counter::FIELD, counter)), event);
    }

    u.section("A register in front of the counters: they put no load on the path.");
    let seen = u.register("seen", counters).reset(0);
    let degree = u.register("degree", dg).reset(0);
    u.at_clock()
        .next(was_read, reads)
        .next(seen, happens & (!clear).copies(counters))
        .next(degree, wb_degree);

    u.paragraph();
    let counts = u.wire("counts", places * 32);
    let wanted = u.wire("wanted", places);
    let [k] = u.indices(["k"]);
    u.generate(|| {
        u.each("counter", k, (0, counters), |k| {
            let count = u.register("count", 32).reset(0);
            let of_degree = Expr::leaf(k.text(), 32.into());
            let of_degree = of_degree.is(place(&counter::FIELD, counter::DEGREE));
            let amount = when(of_degree, degree.extended(32)).otherwise(1);
            let amount = u.named("amount", 32, amount);
            let counted = when(wr_en & wr_index.is(k), wr_data).when(seen.at(k), count + amount);
            u.at_clock().clear(clear).next(count, counted);
            u.assign(counts.part(32 * k, 32), count);
        });
        u.each("no_counter", k, (counters, places), |k| {
            u.assign(counts.part(32 * k, 32), 0);
        });
        u.each("place", k, (0, places), |k| {
            u.assign(wanted.at(k), rd_index.is(k))
        });
    });

    u.paragraph();
    let word = u.wire("word", 32);
    spad_pick::instance(&u, &pick, "select_counter", wanted, counts, word);
    let shown = u.register("shown", 32).reset(0);
    u.at_clock().next(shown, word);
    u.assign(rd_count, shown);
    let module = u.emit()?;
    Ok(vec![pick, module])
}
