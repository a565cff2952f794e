//! The banks: each serves the oldest access of the window that waits for it.

use super::Window;
use super::atomics::Turn;
use crate::codes::op;
use crate::module::top;
use crate::signal::{Bits, Signal, code};
use crate::size::Size;
use crate::{spad_lowest, spad_pick};

/// The candidate of each slot at a bank.
struct Served {
    some: Signal,
    rows: Signal,
    data: Signal,
    enables: Signal,
}

impl Window<'_> {
    /// A wire with a row, or with those of lanes, of accesses that are served.
    #[track_caller]
    pub(super) fn rows(&self, name: &str, width: Size) -> Signal {
        if self.p.RW < self.p.R {
            let reason = "rows beyond the capacity are refused before";
            self.u.wire_in_part(name, width, reason)
        } else {
            self.u.wire(name, width)
        }
    }

    /// The banks: which lanes of which slots are served, and the words that the
    /// banks show.
    pub(super) fn banks(&self) -> (Signal, Signal) {
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
                let stored = operation.is(code(&op::FIELD, op::STORE));
                let stored = match &self.atomics {
                    Some(atomics) => stored & !atomics.amo.at(q),
                    None => stored,
                };
                u.assign(stores.at(q), stored);
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
        let (u, s, parts) = (self.u, self.s, self.parts);
        let slots = Served {
            some: u.wire("some", s.SWIN),
            rows: u.wire("rows", s.SWIN * s.R),
            data: u.wire("slot_data", s.SWIN * s.D),
            enables: u.wire("enables", s.SWIN * s.DB),
        };
        let found = u.wire_in_part("slots_found", s.SWIN, "the oldest is enough");
        let oldest = u.wire("oldest", s.SWIN);
        let atomic = self.atomics.map(|atomics| {
            let turn = Turn {
                slot: oldest,
                lanes: u.wire("lanes", s.SWIN * s.L),
                expected: u.wire("expected", s.SWIN * s.D),
            };
            (atomics, turn)
        });
        u.each("in_slot", self.q, (0, s.SWIN), |q| {
            let first = self.lane_of_slot((g, q), &slots);
            let turn = first & oldest.at(q).copies(s.L);
            u.assign(turns.part((g * s.SWIN + q) * s.L, s.L), turn);
            self.pick(q, first, "row_of", [self.slots.row, slots.rows], s.R);
            self.pick(q, first, "data_of", [self.slots.data, slots.data], s.D);
            self.pick(q, first, "enables_of", [self.slots.be, slots.enables], s.DB);
            if let Some((atomics, turn)) = &atomic {
                u.assign(turn.lanes.part(q * s.L, s.L), first);
                self.pick(q, first, "expected_of", [atomics.cmp, turn.expected], s.D);
            }
        });
        spad_lowest::instance(u, &parts.lowest, "oldest_of", slots.some, [found, oldest]);
        let row = self.rows("row_now", s.R);
        let [wdata, wbe] = [u.wire("wdata", s.D), u.wire("wbe", s.DB)];
        spad_pick::instance(u, &parts.pick, "row_from", oldest, slots.rows, row);
        spad_pick::instance(u, &parts.pick, "data_from", oldest, slots.data, wdata);
        spad_pick::instance(u, &parts.pick, "enables_from", oldest, slots.enables, wbe);
        let (used, writes) = (slots.some.any(), (oldest & stores).any());
        let (low, dout) = (row.low(s.RW), words.part(g * s.D, s.D));
        if let Some((atomics, turn)) = &atomic {
            let plain = [used, writes, low];
            return self.atomic_bank(atomics, turn, plain, [wbe, wdata], (g, dout));
        }
        u.instance(top(&parts.ram), "ram")
            .same(self.clock)
            .port("en", used)
            .port("we", writes)
            .port("be", wbe)
            .port("row", low)
            .port("wdata", wdata)
            .port("dout", dout)
            .done();
    }

    /// The lane of slot `q` that bank `g` would serve: the lowest that waits for it.
    fn lane_of_slot(&self, (g, q): (Size, Size), served: &Served) -> Signal {
        let (u, s, slots) = (self.u, self.s, &self.slots);
        let want = u.wire("want", s.L);
        u.each("wants", self.i, (0, s.L), |i| {
            let bank = slots.bank.part((q * s.L + i) * s.m, s.m);
            u.assign(want.at(i), slots.waits.at(q * s.L + i) & bank.is(g));
        });
        u.assign(served.some.at(q), want.any());
        let found = u.wire_in_part("found", s.L, "the lowest is enough");
        let first = u.wire("first", s.L);
        spad_lowest::instance(u, &self.parts.lowest, "lowest_of", want, [found, first]);
        first
    }

    /// The field of slot `q` for the lane `first`, next to that of the other slots.
    fn pick(
        &self,
        q: Size,
        first: Signal,
        name: &'static str,
        [from, to]: [Signal; 2],
        width: Size,
    ) {
        let lanes = self.s.L;
        let of_slot = from.part(q * (lanes * width), lanes * width);
        let to = to.part(q * width, width);
        spad_pick::instance(self.u, &self.parts.pick, name, first, of_slot, to);
    }
}
