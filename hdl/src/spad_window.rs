//! The banks behind a window of accesses: each bank serves the oldest access of
//! the window that still wants it.

use crate::codes::op;
use crate::module::{Module, Result, UnitDoc, top};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::signal::{Bits, Expr, Signal, below, code, one_hot, same, when};
use crate::size::Size;
use crate::unit::{Index, Unit};
use crate::{spad_bank_ram, spad_lowest, spad_number, spad_pick, spad_select};

ports! {
    /// The ports, by their names.
    Ports(s) {
        req_valid: input(1, "an access is offered"),
        req_ready: output(1, "a request would be accepted at the end of this cycle"),
        req_op: input(op::FIELD.width, "operation"),
        req_mask: input(s.L, "active lanes"),
        req_addr: input(s.L * s.n, "word address, n bits per lane: equal where the word is"),
        req_bank: input(s.L * s.m, "bank, m bits per lane"),
        req_row: input(s.L * s.R, "row, R bits per lane"),
        req_data: input(s.L * s.D, "data, D bits per lane"),
        req_be: input(s.L * s.DB, "byte enables of a store, DB bits per lane"),
        req_tag: input(s.STG, "comes back with the response"),
        resp_valid: output(1, "a response is offered"),
        resp_ready: input(1, "a response would be accepted"),
        resp_op: output(op::FIELD.width, "operation of the request"),
        resp_mask: output(s.L, "active lanes of the request"),
        resp_tag: output(s.STG, "tag of the request"),
        resp_data: output(s.L * s.D, "words read, or the data of a pass; else 0"),
        resp_error: output(1, "unsupported operation, or a row beyond the capacity"),
        resp_degree: output(s.DG, "cycles in which some of its words were served"),
    }
}

/// The modules that it instantiates.
struct Parts {
    ram: Vec<Module>,
    lowest: Module,
    number: Module,
    pick: Module,
    select: Module,
}

/// The accesses of the window, the oldest in the low bits.
struct Slots {
    valid: Signal,
    op: Signal,
    mask: Signal,
    tag: Signal,
    error: Signal,
    degree: Signal,
    bank: Signal,
    row: Signal,
    data: Signal,
    be: Signal,
    /// The lowest lane on each lane's word.
    lead: Signal,
    /// Of these, those that wait for their bank.
    waits: Signal,
    /// Lanes whose word the banks show.
    comes: Signal,
}

/// What an access brings into the window.
struct Entry {
    error: Signal,
    lead: Signal,
    waits: Signal,
    data: Signal,
    be: Signal,
}

/// What the unit is described with.
struct Window<'a> {
    u: &'a Unit,
    p: &'a Params,
    s: &'a Sizes,
    parts: &'a Parts,
    clock: [Signal; 2],
    io: Ports,
    slots: Slots,
    /// Indices of lanes, other lanes, bytes, slots, and banks.
    i: Index,
    j: Index,
    k: Index,
    q: Index,
    g: Index,
}

/// Emits `spad_window`, its parts first.
pub(crate) fn emit_helper(p: &Params) -> Result<Vec<Module>> {
    let parts = Parts {
        ram: spad_bank_ram::emit_unit(p)?,
        lowest: spad_lowest::emit_helper()?,
        number: spad_number::of_lane(p.L)?,
        pick: spad_pick::emit_helper()?,
        select: spad_select::emit_helper()?,
    };
    let u = Unit::new(doc(p));
    let s = &u.all_sizes(p);
    let clock = u.clocked();
    let io = Ports::new(&u, s);
    u.outputs_depend_on(|port| match port {
        "req_ready" => vec!["resp_ready"],
        _ => Vec::new(),
    });
    u.section("The accesses of the window, the oldest in the low bits.");
    let slots = Slots::new(&u, s);
    let [i, j, k, q, g] = u.indices(["i", "j", "k", "q", "g"]);
    let window = Window {
        u: &u,
        p,
        s,
        parts: &parts,
        clock,
        io,
        slots,
        i,
        j,
        k,
        q,
        g,
    };
    let entry = window.entry();
    let (served, words) = window.banks();
    let after = window.after(served, words);
    let pop = window.answer(after.data);
    window.moves(&entry, &after, pop);
    let module = u.emit()?;
    let Parts {
        ram,
        lowest,
        number,
        pick,
        select,
    } = parts;
    let helpers = [lowest, number, pick, select];
    Ok(ram.into_iter().chain(helpers).chain([module]).collect())
}

impl Slots {
    fn new(u: &Unit, s: &Sizes) -> Self {
        let q = s.SWIN;
        let valid = u.register("valid", q).reset(0);
        let covered = |name, width: Size| u.register(name, q * width).covered_by(valid);
        Slots {
            valid,
            op: covered("op", op::FIELD.width.into()),
            mask: covered("mask", s.L),
            tag: covered("tag", s.STG),
            error: covered("error", 1.into()),
            degree: covered("degree", s.DG),
            bank: covered("bank", s.L * s.m),
            row: covered("row", s.L * s.R),
            data: covered("data", s.L * s.D),
            be: covered("be", s.L * s.DB),
            lead: covered("lead", s.L * s.LW),
            waits: u.register("waits", q * s.L).reset(0),
            comes: u.register("comes", q * s.L).reset(0),
        }
    }
}

/// The slots after what the banks do in this cycle.
struct After {
    waits: Signal,
    comes: Signal,
    data: Signal,
    degree: Signal,
}

impl Window<'_> {
    /// The access that is offered: the lowest lane on each word stands for all of
    /// them, and has the bytes that they store together.
    fn entry(&self) -> Entry {
        let (u, s, io) = (self.u, self.s, self.io);
        u.section(
            "The access that is offered. The lowest lane on a word stands for all on it, and \
             brings the bytes that they store: each of the lowest lane that enables it.",
        );
        let storing = u.name("storing", io.req_op.is(code(&op::FIELD, op::STORE)));
        let loading = io.req_op.is(code(&op::FIELD, op::LOAD));
        let error = self.refused(storing | loading.clone());
        let accessing = u.name("accessing", (storing | loading) & !error);
        let alike = u.wire("alike", s.L * s.L);
        let owned = u.wire("owned", s.L * s.DB);
        let lead = u.wire("new_lead", s.L * s.LW);
        let waits = u.wire("new_waits", s.L);
        let data = u.wire("new_data", s.L * s.D);
        let be = u.wire("new_be", s.L * s.DB);
        u.generate(|| {
            u.each("alike_of", self.i, (0, s.L), |i| {
                u.each("with_lane", self.j, (0, s.L), |j| {
                    let addr = |lane: Size| io.req_addr.part(lane * s.n, s.n);
                    let active = io.req_mask.at(i) & io.req_mask.at(j);
                    let one_word = active & addr(i).is(addr(j));
                    u.assign(alike.at(i * s.L + j), one_word);
                });
                self.leader(i, (alike, lead, waits), accessing);
            });
            u.each("bytes_of", self.i, (0, s.L), |i| {
                self.owned(i, storing, alike, owned);
            });
            u.each("merged_of", self.i, (0, s.L), |i| {
                self.merged(i, storing, (alike, owned), (data, be));
            });
        });
        Entry {
            error,
            lead,
            waits,
            data,
            be,
        }
    }

    /// The access is answered with an error.
    fn refused(&self, accesses: Expr) -> Signal {
        let (u, p, s, io) = (self.u, self.p, self.s, self.io);
        let unsupported = io.req_op.above(code(&op::FIELD, op::STORE));
        if p.ROWS == 1 << p.R {
            return u.name("refused", unsupported);
        }
        let beyond = u.wire("beyond", s.L);
        u.generate(|| {
            u.each("range", self.i, (0, s.L), |i| {
                let row = io.req_row.part(i * s.R, s.R);
                u.assign(beyond.at(i), io.req_mask.at(i) & row.at_least(p.ROWS));
            });
        });
        u.name("refused", unsupported | (accesses & beyond.any()))
    }

    /// The lowest lane on the word of lane `i`.
    fn leader(&self, i: Size, (alike, lead, waits): (Signal, Signal, Signal), accessing: Signal) {
        let (u, s, parts) = (self.u, self.s, self.parts);
        let found = u.wire_in_part("found", s.L, "the lowest is enough");
        let first = u.wire_in_part("first", s.L, "the first lane needs no number");
        let row = alike.part(i * s.L, s.L);
        spad_lowest::instance(u, &parts.lowest, "lead_of", row, [found, first]);
        u.instance(&parts.number, "number_of")
            .port("above", first.high(1))
            .port("number", lead.part(i * s.LW, s.LW))
            .done();
        u.assign(waits.at(i), accessing & first.at(i));
    }

    /// The bytes that lane `i` brings: of a store those that it enables and no
    /// lower lane on its word does, else all.
    fn owned(&self, i: Size, storing: Signal, alike: Signal, owned: Signal) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.each("enable", self.k, (0, s.DB), |k| {
            let lower = u.wire("lower", s.L);
            u.each("below", self.j, (0, s.L), |j| {
                let taken = alike.at(j * s.L + i) & io.req_be.at(j * s.DB + k);
                u.assign(lower.at(j), below(j, i) & taken);
            });
            let stored = io.req_be.at(i * s.DB + k) & !lower.any();
            u.assign(owned.at(i * s.DB + k), stored | !storing);
        });
    }

    /// The bytes of the word of lane `i`; of what does not store, its own.
    fn merged(
        &self,
        i: Size,
        storing: Signal,
        (alike, owned): (Signal, Signal),
        (data, be): (Signal, Signal),
    ) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.each("byte_of", self.k, (0, s.DB), |k| {
            let writer = u.wire("writer", s.L);
            let bytes = u.wire("bytes", s.L * 8);
            u.each("from_lane", self.j, (0, s.L), |j| {
                let joins = alike.at(i * s.L + j) & (storing | same(i, j));
                u.assign(writer.at(j), joins & owned.at(j * s.DB + k));
                let byte = io.req_data.part(j * s.D + k * 8, 8);
                u.assign(bytes.part(j * 8, 8), byte);
            });
            let byte = data.part(i * s.D + k * 8, 8);
            spad_pick::instance(u, &self.parts.pick, "byte_for", writer, bytes, byte);
            u.assign(be.at(i * s.DB + k), writer.any());
        });
    }

    /// The banks: which lanes of which slots are served, and the words that the
    /// banks show.
    fn banks(&self) -> (Signal, Signal) {
        let (u, s, slots) = (self.u, self.s, &self.slots);
        u.section(
            "Each bank serves the oldest access that waits for it, of that the lowest lane: so \
             the accesses of a word keep their order.",
        );
        let stores = u.wire("stores", s.SWIN);
        let turns = u.wire("turns", s.B * s.SWIN * s.L);
        let words = u.wire("words", s.B * s.D);
        let served = u.wire("served", s.SWIN * s.L);
        u.generate(|| {
            u.each("stores_of", self.q, (0, s.SWIN), |q| {
                let width = op::FIELD.width;
                let operation = u.name("operation", slots.op.part(q * width, width));
                u.assign(stores.at(q), operation.is(code(&op::FIELD, op::STORE)));
            });
            u.each("bank_of", self.g, (0, s.B), |g| {
                self.one_bank(g, stores, turns, words);
            });
            u.each("served_of", self.i, (0, s.SWIN * s.L), |i| {
                let by = u.wire("by", s.B);
                u.each("by_bank", self.g, (0, s.B), |g| {
                    u.assign(by.at(g), turns.at(g * (s.SWIN * s.L) + i));
                });
                u.assign(served.at(i), by.any());
            });
        });
        (served, words)
    }

    fn one_bank(&self, g: Size, stores: Signal, turns: Signal, words: Signal) {
        let (u, s, parts, slots) = (self.u, self.s, self.parts, &self.slots);
        let some = u.wire("some", s.SWIN);
        let rows = u.wire("rows", s.SWIN * s.R);
        let slot_data = u.wire("slot_data", s.SWIN * s.D);
        let enables = u.wire("enables", s.SWIN * s.DB);
        let found = u.wire_in_part("slots_found", s.SWIN, "the oldest is enough");
        let oldest = u.wire("oldest", s.SWIN);
        u.each("in_slot", self.q, (0, s.SWIN), |q| {
            let want = u.wire("want", s.L);
            u.each("wants", self.i, (0, s.L), |i| {
                let bank = slots.bank.part((q * s.L + i) * s.m, s.m);
                u.assign(want.at(i), slots.waits.at(q * s.L + i) & bank.is(g));
            });
            u.assign(some.at(q), want.any());
            let found = u.wire_in_part("found", s.L, "the lowest is enough");
            let first = u.wire("first", s.L);
            spad_lowest::instance(u, &parts.lowest, "lowest_of", want, [found, first]);
            let turn = first & oldest.at(q).copies(s.L);
            u.assign(turns.part((g * s.SWIN + q) * s.L, s.L), turn);
            let pick = |name, from: Signal, to: Signal, width: Size| {
                let of_slot = from.part(q * (s.L * width), s.L * width);
                let to = to.part(q * width, width);
                spad_pick::instance(u, &parts.pick, name, first, of_slot, to);
            };
            pick("row_of", slots.row, rows, s.R);
            pick("data_of", slots.data, slot_data, s.D);
            pick("enables_of", slots.be, enables, s.DB);
        });
        spad_lowest::instance(u, &parts.lowest, "oldest_of", some, [found, oldest]);
        let reason = "rows beyond the capacity are refused before";
        let row = if self.p.RW < self.p.R {
            u.wire_in_part("row_now", s.R, reason)
        } else {
            u.wire("row_now", s.R)
        };
        let [wdata, wbe] = [u.wire("wdata", s.D), u.wire("wbe", s.DB)];
        spad_pick::instance(u, &parts.pick, "row_from", oldest, rows, row);
        spad_pick::instance(u, &parts.pick, "data_from", oldest, slot_data, wdata);
        spad_pick::instance(u, &parts.pick, "enables_from", oldest, enables, wbe);
        u.instance(top(&parts.ram), "ram")
            .same(self.clock)
            .port("en", some.any())
            .port("we", (oldest & stores).any())
            .port("be", wbe)
            .port("row", row.low(s.RW))
            .port("wdata", wdata)
            .port("dout", words.part(g * s.D, s.D))
            .done();
    }

    /// The slots after this cycle, before they move.
    fn after(&self, served: Signal, words: Signal) -> After {
        let (u, s, slots) = (self.u, self.s, &self.slots);
        u.section(
            "What the slots hold after this cycle: lanes that have been served wait no longer, \
             and words that the banks show are kept.",
        );
        let after = After {
            waits: u.name("waits_after", slots.waits & !served),
            comes: u.wire("comes_after", s.SWIN * s.L),
            data: u.wire("data_after", s.SWIN * s.L * s.D),
            degree: u.wire("degree_after", s.SWIN * s.DG),
        };
        u.generate(|| {
            u.each("slot", self.q, (0, s.SWIN), |q| {
                let width = op::FIELD.width;
                let operation = u.name("operation", slots.op.part(q * width, width));
                let loads = operation.is(code(&op::FIELD, op::LOAD));
                let loads = u.name("loads", loads);
                let here = u.name("served_here", served.part(q * s.L, s.L));
                let more = here.any().extended(self.p.DG);
                let degree = slots.degree.part(q * s.DG, s.DG);
                u.assign(after.degree.part(q * s.DG, s.DG), degree + more);
                u.each("lane", self.i, (0, s.L), |i| {
                    self.lane((q, i), loads, here, words, &after);
                });
            });
        });
        after
    }

    fn lane(&self, (q, i): (Size, Size), loads: Signal, here: Signal, words: Signal, to: &After) {
        let (u, s, parts, slots) = (self.u, self.s, self.parts, &self.slots);
        let at = q * s.L + i;
        let lead = u.name("leader", slots.lead.part(at * s.LW, s.LW));
        let with = u.wire("with_leader", 1);
        spad_select::instance(u, &parts.select, "of_leader", lead, here, with);
        u.assign(to.comes.at(at), loads & slots.mask.at(at) & with);
        let bank = u.name("from", slots.bank.part(at * s.m, s.m));
        let word = u.wire("word", s.D);
        spad_select::instance(u, &parts.select, "word_of", bank, words, word);
        let kept = slots.data.part(at * s.D, s.D);
        let data = when(slots.comes.at(at), word).otherwise(kept);
        u.assign(to.data.part(at * s.D, s.D), data);
    }

    /// The oldest access answers when nothing of it waits; whether it leaves.
    fn answer(&self, data: Signal) -> Signal {
        let (u, s, io, slots) = (self.u, self.s, self.io, &self.slots);
        u.section("The oldest access answers when none of its words waits any more.");
        let valid = slots.valid.at(0) & !slots.waits.low(s.L).any();
        u.assign(io.resp_valid, valid);
        let pop = u.name("pop", io.resp_valid & io.resp_ready);
        let full = slots.valid.at(s.SWIN - 1);
        u.assign(io.req_ready, !full | pop);
        let operation = u.name("resp_op_of", slots.op.low(op::FIELD.width));
        let is = |value| operation.is(code(&op::FIELD, value));
        let shows = (is(op::PASS) | is(op::LOAD)) & !slots.error.at(0) & io.resp_valid;
        let shows = u.name("shows", shows);
        u.assign(io.resp_op, operation.gated(io.resp_valid));
        u.assign(io.resp_mask, slots.mask.low(s.L).gated(io.resp_valid));
        u.assign(io.resp_tag, slots.tag.low(s.STG).gated(io.resp_valid));
        u.assign(io.resp_error, slots.error.at(0) & io.resp_valid);
        u.assign(io.resp_degree, slots.degree.low(s.DG).gated(io.resp_valid));
        u.generate(|| {
            u.each("shown", self.i, (0, s.L), |i| {
                let word = data.part(i * s.D, s.D);
                let word = word.gated(shows & slots.mask.at(i));
                u.assign(io.resp_data.part(i * s.D, s.D), word);
            });
        });
        pop
    }

    /// The slots move down as the oldest leaves; a new access follows the last.
    fn moves(&self, entry: &Entry, after: &After, pop: Signal) {
        let (u, s, io, slots) = (self.u, self.s, self.io, &self.slots);
        u.section("The slots move down as the oldest leaves; a new access follows the last.");
        let enter = u.name("enter", io.req_valid & io.req_ready);
        let stays = when(pop, slots.valid.down(1)).otherwise(slots.valid);
        let stay = u.name("stay", stays);
        let free = u.name("free", (stay.up(1) | one_hot(s.SWIN, 0)) & !stay);
        let load = u.name("load", free & enter.copies(s.SWIN));
        u.at_clock().next(slots.valid, stay | load);
        let operation = Size::from(op::FIELD.width);
        let no_lane = || Expr::leaf("{L{1'b0}}", s.L);
        let none = Expr::leaf("{DG{1'b0}}", s.DG);
        let kept = |register, new: Signal, width| (register, register, new.into(), width);
        let moving: [(Signal, Signal, Expr, Size); 12] = [
            kept(slots.op, io.req_op, operation),
            kept(slots.mask, io.req_mask, s.L),
            kept(slots.tag, io.req_tag, s.STG),
            kept(slots.error, entry.error, 1.into()),
            kept(slots.bank, io.req_bank, s.L * s.m),
            kept(slots.row, io.req_row, s.L * s.R),
            kept(slots.be, entry.be, s.L * s.DB),
            kept(slots.lead, entry.lead, s.L * s.LW),
            (slots.data, after.data, entry.data.into(), s.L * s.D),
            (slots.degree, after.degree, none, s.DG),
            (slots.waits, after.waits, entry.waits.into(), s.L),
            (slots.comes, after.comes, no_lane(), s.L),
        ];
        let names = [
            "op_above",
            "mask_above",
            "tag_above",
            "error_above",
            "bank_above",
            "row_above",
            "be_above",
            "lead_above",
            "data_above",
            "degree_above",
            "waits_above",
            "comes_above",
        ];
        let above: Vec<Signal> = moving
            .iter()
            .zip(names)
            .map(|((_, from, _, width), name)| u.name(name, from.down(*width)))
            .collect();
        u.generate(|| {
            u.each("move", self.q, (0, s.SWIN), |q| {
                for ((register, from, new, width), above) in moving.into_iter().zip(above) {
                    let here = |signal: Signal| signal.part(q * width, width);
                    let value = when(load.at(q), new).when(pop, here(above));
                    let value = value.otherwise(here(from));
                    u.at_clock().next(here(register), value);
                }
            });
        });
    }
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_window".into(),
        summary: "the banks behind a window of SWIN accesses. In each cycle each bank serves one \
                  word of the oldest access that waits for it, so accesses whose conflicts are \
                  in different banks overlap. Answers come in the order of the requests. \
                  Operations: 0 pass, 1 load, 2 store; others are answered with an error."
            .into(),
        parameters: p.text(&["n", "m", "L", "D", "ROWS", "SWIN", "STG"]),
        timing: "an access that no older one delays answers max(1, d) + 1 cycles after the cycle \
                 in which it fires, d its conflict degree (1 if it accesses nothing)"
            .into(),
        paper: "microarchitecture/bus.md".into(),
        latency_cycles: 2,
    }
}
