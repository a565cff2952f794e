//! The answers to the lanes.

use super::{Heads, Tcdm};
use crate::params::{Params, Sizes};
use crate::signal::{Bits, Expr, Signal};
use crate::spad_select;
use crate::unit::{Index, UnitBuilder};

/// The ports that answer.
#[derive(Clone, Copy)]
pub(super) struct Answers {
    r_valid: Signal,
    r_rdata: Signal,
    r_opc: Signal,
    r_id: Option<Signal>,
}

impl Answers {
    pub(super) fn new(u: &UnitBuilder, p: &Params, s: &Sizes) -> Self {
        let answer = |name, width, about| u.output_register(name, width, about).reset(0);
        let valid = "the lane's oldest request is answered; there is no ready";
        let word = "the word read; else 0";
        let error = if p.TATM {
            "an address beyond the capacity, or an unsupported operation (13 to 15): nothing was \
             accessed"
        } else {
            "the address is beyond the capacity: nothing was accessed"
        };
        let id = "identifier of the request; else 0";
        Answers {
            r_valid: answer("tcdm_r_valid", s.L, valid),
            r_rdata: if p.TRSP {
                answer("tcdm_r_rdata", s.L * s.D, word)
            } else {
                u.output("tcdm_r_rdata", s.L * s.D, word)
            },
            r_opc: answer("tcdm_r_opc", s.L, error),
            r_id: (p.TID > 0).then(|| answer("tcdm_r_id", s.L * s.TID, id)),
        }
    }
}

impl Tcdm<'_> {
    /// The answers to the lanes in `takes`; `words` are those of the banks. Returns
    /// the banks that the lanes have had.
    pub(super) fn answer(
        &self,
        heads: &Heads,
        takes: Signal,
        words: Signal,
        lane: Index,
    ) -> Signal {
        let (u, p, s, to) = (self.u, self.p, self.s, self.answers);
        u.section("The answers: a lane that has read is shown the word of its bank.");
        let reads = u.register("reads", s.L).reset(0);
        let from = u.register("from", s.L * s.m).covered_by(reads);
        let shown = match heads.of.operations {
            Some(operations) => heads.of.wen | operations.amo,
            None => heads.of.wen.into(),
        };
        let landing = (p.TPOST && p.TATM).then(|| self.landing(heads, takes, &shown));
        let (takes, beyond) = if p.TPOST {
            // A write is not answered.
            let answers = u.name("answers", takes & shown);
            u.at_clock().next(reads, answers & heads.inside);
            (answers, u.name("failing", heads.beyond & answers))
        } else {
            u.at_clock().next(reads, takes & heads.inside & shown);
            (takes, heads.beyond)
        };
        u.at_clock().next(from, heads.bank);
        let rdata = if p.TRSP {
            u.wire("rdata", s.L * s.D)
        } else {
            to.r_rdata
        };
        u.generate(|| {
            u.each("answer_of", lane, (0, s.L), |i| {
                let from = u.name("from_bank", from.part(i * s.m, s.m));
                let word = u.wire("word", s.D);
                spad_select::instance(u, &self.parts.select, "word_of", from, words, word);
                u.assign(rdata.part(i * s.D, s.D), word.gated(reads.at(i)));
            });
        });
        let stage = self.stage(heads, [takes, beyond], rdata, lane);
        let quiet: Expr = match stage {
            Some(answered) => !answered.any() & !to.r_valid.any(),
            None => !to.r_valid.any(),
        };
        let quiet = match landing {
            Some(landing) => quiet & !landing,
            None => quiet,
        };
        u.assign(
            self.idle,
            if p.TREQ {
                !heads.of.valid.any() & quiet
            } else {
                quiet
            },
        );
        from
    }

    /// A bank writes in this cycle what a lane has stored in the last one.
    fn landing(&self, heads: &Heads, takes: Signal, shown: &Expr) -> Signal {
        let u = self.u;
        let landing = u.register("landing", 1).reset(0);
        let stores = takes & heads.inside & !shown.clone();
        u.at_clock().next(landing, stores.any());
        landing
    }

    /// The registers of the answers; with TRSP there are two in a row, the first
    /// of which is returned.
    fn stage(
        &self,
        heads: &Heads,
        [takes, beyond]: [Signal; 2],
        rdata: Signal,
        lane: Index,
    ) -> Option<Signal> {
        let (u, p, s, to) = (self.u, self.p, self.s, self.answers);
        let id = heads.of.id.map(|id| self.identifiers(takes, id, lane));
        if !p.TRSP {
            let clock = u.at_clock();
            let clock = clock.next(to.r_valid, takes).next(to.r_opc, beyond);
            if let (Some(r_id), Some(id)) = (to.r_id, id) {
                clock.next(r_id, id);
            }
            return None;
        }
        u.paragraph();
        let answered = u.register("answered", s.L).reset(0);
        let failed = u.register("failed", s.L).reset(0);
        let ident = to.r_id.map(|_| u.register("ident", s.L * s.TID).reset(0));
        let clock = u.at_clock();
        let clock = clock.next(answered, takes).next(failed, beyond);
        if let (Some(ident), Some(id)) = (ident, id) {
            clock.next(ident, id);
        }
        let clock = u.at_clock();
        let clock = clock.next(to.r_valid, answered).next(to.r_opc, failed);
        let clock = clock.next(to.r_rdata, rdata);
        if let (Some(r_id), Some(ident)) = (to.r_id, ident) {
            clock.next(r_id, ident);
        }
        Some(answered)
    }

    /// The identifiers of the lanes in `takes`; else 0.
    fn identifiers(&self, takes: Signal, id: Signal, lane: Index) -> Signal {
        let (u, s) = (self.u, self.s);
        let taken = u.wire("taken_id", s.L * s.TID);
        u.generate(|| {
            u.each("id_of", lane, (0, s.L), |i| {
                let id = id.part(i * s.TID, s.TID).gated(takes.at(i));
                u.assign(taken.part(i * s.TID, s.TID), id);
            });
        });
        taken
    }
}
