//! A bank that performs atomic operations: it reads a word, operates on it, and
//! writes it, one access a cycle.

use crate::codes::amo;
use crate::module::{HdlError, Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::signal::{Bits, Expr, Signal, code, concat, number, when};
use crate::size::Size;
use crate::unit::UnitBuilder;
use crate::{spad_atomic_alu, spad_two_port_ram};

ports! {
    /// The ports, by their names.
    Io(s) clocked {
        en: input(1, "an access begins in this cycle"),
        amo: input(1, "it is an atomic operation"),
        aop: input(4, "which one"),
        we: input(1, "of other accesses: 1 write, 0 read"),
        be: input(s.DB, "bytes that a write writes"),
        row: input(s.RW, "row, must be below ROWS (not checked here)"),
        data: input(s.D, "data of a write, operand of an operation"),
        cmp: input(s.D, "what compare-and-swap expects"),
        lanes: input(s.L, "the lanes that a count counts"),
        reserved: input(1, "second cycle of a store-conditional: it finds its reservation"),
        dout: output(s.D, "second cycle: the word before the access; of a store-conditional 0, \
                           or 1 if it fails"),
        written: output(1, "third cycle: the word is written at its end"),
        at: output(s.RW, "third cycle: the row of the access"),
    }
}

/// The access in its second cycle.
struct Second {
    busy: Signal,
    amo: Signal,
    aop: Signal,
    we: Signal,
    be: Signal,
    row: Signal,
    data: Signal,
    cmp: Signal,
    lanes: Signal,
}

/// The access in its third cycle.
struct Third {
    /// The access writes; a compare-and-swap only if the word is the expected one.
    stores: Signal,
    swaps: Signal,
    /// The access has an operation with one operand.
    updates: Signal,
    aop: Signal,
    be: Signal,
    row: Signal,
    data: Signal,
    cmp: Signal,
    word: Signal,
}

/// Emits `spad_atomic_bank`, its parts first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    if !p.TATM && !p.SATM {
        return Err(HdlError::NotThere {
            unit: "spad_atomic_bank".into(),
            reason: "[tcdm] atomics and [stream] atomics are false".into(),
        });
    }
    let alu = spad_atomic_alu::emit_kernel(p)?;
    let ram = spad_two_port_ram::emit_helper(p)?;
    let u = UnitBuilder::new(doc(p));
    let io = Io::declared(&u, p);
    let second = Second::begun(&u, &io);
    let third = Third::new(&u, &io);
    let new = third.write(&u, &io, &alu);
    let old = second.old_word(&u, &io, &ram, (&third, new));
    second.answer(&u, &io, old);
    let count = second.count(&u, p, io.s);
    third.follow(&u, &io, &second, (old, count));
    let module = u.emit()?;
    Ok(vec![alu, ram, module])
}

fn is(aop: Signal, operation: u8) -> Expr {
    aop.is(code(&amo::FIELD, operation))
}

impl Second {
    /// An access that began in the cycle before.
    fn begun(u: &UnitBuilder, io: &Io) -> Self {
        let s = io.s;
        u.section("The access in its second cycle, in which its word comes from the memory.");
        let busy = u.register("busy", 1).reset(0);
        let held = |name, width: Size| u.register(name, width).covered_by(busy);
        let access = Second {
            busy,
            amo: held("amo", 1.into()),
            aop: held("aop", 4.into()),
            we: held("we", 1.into()),
            be: held("be", s.DB),
            row: held("row", s.RW),
            data: held("data", s.D),
            cmp: held("cmp", s.D),
            lanes: held("lanes", s.L),
        };
        u.at_clock().next(busy, io.en);
        u.at_clock()
            .when(io.en)
            .next(access.amo, io.amo)
            .next(access.aop, io.aop)
            .next(access.we, io.we)
            .next(access.be, io.be)
            .next(access.row, io.row)
            .next(access.data, io.data)
            .next(access.cmp, io.cmp)
            .next(access.lanes, io.lanes);
        access
    }

    /// Word of the access in its second cycle: from the preceding access, if that
    /// writes it or has just written it, else from the memory.
    fn old_word(
        &self,
        u: &UnitBuilder,
        io: &Io,
        ram: &Module,
        (third, new): (&Third, Signal),
    ) -> Signal {
        let s = io.s;
        u.section(
            "The memory is read in the first cycle and written in the third. What is written now, \
             and what was written in the cycle before, after the word was read, is not in it.",
        );
        let wrote = u.register("wrote", 1).reset(0);
        let last = u.register("last", s.D).covered_by(wrote);
        let last_row = u.register("last_row", s.RW).covered_by(wrote);
        let stored = u.wire("stored", s.D);
        u.instance(ram, "ram")
            .same([io.clk])
            .port("rd_en", io.en)
            .port("rd_row", io.row)
            .port("rd_data", stored)
            .port("wr_en", io.written)
            .port("wr_row", third.row)
            .port("wr_data", new)
            .done();
        u.at_clock().next(wrote, io.written);
        u.at_clock().next(last, new).next(last_row, third.row);
        let now = u.name("written_now", io.written & third.row.is(self.row));
        let before = u.name("written_before", wrote & last_row.is(self.row));
        let kept = u.name("kept", when(before, last).otherwise(stored));
        u.name("old", when(now, new).otherwise(kept))
    }

    /// The number of lanes that it counts, as an operand.
    fn count(&self, u: &UnitBuilder, p: &Params, s: Sizes) -> Expr {
        u.section("The lanes of a count, added up in pairs beside the memory.");
        let [k, j] = u.indices(["k", "j"]);
        let sums = u.generate(|| {
            u.each("level", k, (0, s.LW), |k| {
                let from = u.wire("from", (s.L >> k) * s.DG);
                let sums = u.wire("sums", (s.L >> (k + 1)) * s.DG);
                let first = |_| {
                    u.each("lane", j, (0, s.L), |j| {
                        let one = self.lanes.at(j).extended(p.DG).of_width(s.DG);
                        u.assign(from.part(j * s.DG, s.DG), one);
                    });
                };
                let next = |k| u.assign(from, u.of_iteration(sums, k - 1).of_width(from.width));
                u.first(k, ("first", first), ("next", next));
                u.each("pair", j, (0, s.L >> (k + 1)), |j| {
                    let even = from.part(2 * j * s.DG, s.DG);
                    let odd = from.part((2 * j + 1) * s.DG, s.DG);
                    u.assign(sums.part(j * s.DG, s.DG), even + odd);
                });
                sums
            })
        });
        let count = u.name("count", u.of_iteration(sums, s.LW - 1).of_width(s.DG));
        count.extended(p.D).of_width(s.D)
    }

    /// The answer.
    fn answer(&self, u: &UnitBuilder, io: &Io, old: Signal) {
        let s = io.s;
        u.section("A store-conditional answers whether it fails.");
        let conditional = u.name("conditional", self.amo & is(self.aop, amo::SC));
        let bits = s.D.value().expect("a word has one width");
        let failed = concat([number(bits - 1, 0), !io.reserved]);
        let answer = when(conditional, failed.of_width(s.D)).otherwise(old);
        u.assign(io.dout, answer);
    }
}

impl Third {
    fn new(u: &UnitBuilder, io: &Io) -> Self {
        let s = io.s;
        u.section(
            "The access in its third cycle, which writes: in any case, or as a compare-and-swap.",
        );
        let stores = u.register("stores", 1).reset(0);
        let swaps = u.register("swaps", 1).reset(0);
        let reason = "`stores_q` and `swaps_q` cover it";
        let held = |name, width: Size| u.register(name, width).without_reset(reason);
        Third {
            stores,
            swaps,
            updates: held("updates", 1.into()),
            aop: held("update", 4.into()),
            be: held("bytes", s.DB),
            row: held("write_row", s.RW),
            data: held("operand", s.D),
            cmp: held("expected", s.D),
            word: held("word", s.D),
        }
    }

    /// Whether it writes, and what: of a plain write, the bytes that it enables.
    fn write(&self, u: &UnitBuilder, io: &Io, alu: &Module) -> Signal {
        let s = io.s;
        u.paragraph();
        u.assign(
            io.written,
            self.stores | (self.swaps & self.word.is(self.cmp)),
        );
        u.assign(io.at, self.row);
        let result = u.wire("result", s.D);
        u.instance(alu, "alu")
            .port("aop", self.aop)
            .port("word", self.word)
            .port("operand", self.data)
            .port("result", result)
            .done();
        let merged = u.wire("merged", s.D);
        let [k] = u.indices(["b"]);
        u.generate(|| {
            u.each("byte_of", k, (0, s.DB), |k| {
                let byte = |word: Signal| word.part(k * 8, 8);
                let merges = when(self.be.at(k), byte(self.data)).otherwise(byte(self.word));
                u.assign(byte(merged), merges);
            });
        });
        let value = when(self.updates, result).otherwise(merged);
        u.name("new_word", value)
    }

    /// The access that has been in its second cycle.
    fn follow(&self, u: &UnitBuilder, io: &Io, second: &Second, (old, count): (Signal, Expr)) {
        let s = io.s;
        u.paragraph();
        let of_path = second.aop.less(code(&amo::FIELD, amo::CAS));
        let counts = u.name("counts", is(second.aop, amo::COUNT));
        let one_operand = u.name("one_operand", second.amo & (of_path | counts));
        let add = code(&amo::FIELD, amo::ADD);
        let update = u.name("of_alu", when(counts, add).otherwise(second.aop));
        let operand = when(second.amo & counts, count).otherwise(second.data);
        let operand = u.named("of_operation", s.D, operand);
        let conditional = second.amo & is(second.aop, amo::SC) & io.reserved;
        let plain = !second.amo & second.we;
        let stores = second.busy & (plain | one_operand | conditional);
        let stores = u.next_state(self.stores, stores);
        let swaps = second.busy & second.amo & is(second.aop, amo::CAS);
        u.at_clock()
            .next(self.stores, stores)
            .next(self.swaps, swaps);
        u.at_clock()
            .when(second.busy)
            .next(self.updates, one_operand)
            .next(self.aop, update)
            .next(self.be, second.be | second.amo.copies(s.DB))
            .next(self.row, second.row)
            .next(self.data, operand)
            .next(self.cmp, second.cmp)
            .next(self.word, old);
    }
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_atomic_bank".into(),
        summary: "a bank that performs atomic operations. An access reads its word in one cycle, \
                  answers it in the next, and operates on it and writes it in the third, while \
                  other accesses begin: one a cycle, also of one word. Codes of aop above 12 read."
            .into(),
        parameters: p.text(&["L", "ROWS", "D", "DB"]),
        timing: "dout belongs to the access that began in the cycle before, written and at to \
                 the one before that"
            .into(),
        paper: "microarchitecture/atomic-bank.md".into(),
        latency_cycles: 1,
    }
}
