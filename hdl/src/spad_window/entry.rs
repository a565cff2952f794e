//! The access as it enters the window: one lane stands for all on its word.

use super::{Entry, Window};
use crate::codes::{amo, op};
use crate::signal::{Bits, Expr, Signal, below, code, same, when};
use crate::size::Size;
use crate::{spad_lowest, spad_pick};

impl Window<'_> {
    /// The access that is offered: the lowest lane on each word stands for all of
    /// them, and has the bytes that they store together.
    pub(super) fn entry(&self) -> Entry {
        let (u, s, io) = (self.u, self.s, self.io);
        u.section(
            "The access that is offered. The lowest lane on a word stands for all on it, and \
             brings the bytes that they store: each of the lowest lane that enables it.",
        );
        let storing = self.plain(io.req_op.is(code(&op::FIELD, op::STORE)));
        let storing = u.name("storing", storing);
        let loading = io.req_op.is(code(&op::FIELD, op::LOAD));
        let loading = match &self.atomics {
            Some(atomics) => loading | atomics.io.req_amo,
            None => loading,
        };
        let apart = self.atomics.map(|atomics| atomics.apart(u));
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
                    let together = self.together(apart, one_word, [i, j]);
                    u.assign(alike.at(i * s.L + j), together);
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
        let unsupported = match &self.atomics {
            Some(atomics) => {
                let unknown = atomics.io.req_aop.above(code(&amo::FIELD, amo::COUNT));
                u.name(
                    "unsupported",
                    when(atomics.io.req_amo, unknown).otherwise(unsupported),
                )
                .into()
            }
            None => unsupported,
        };
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
}
