//! The banks: which lanes each serves, and what it does for them.

use super::{Heads, Tcdm};
use crate::module::top;
use crate::signal::{Bits, Signal, same};
use crate::size::Size;
use crate::unit::Index;
use crate::{spad_lowest, spad_select, spad_turn};

impl Tcdm<'_> {
    /// The words that the banks read, a cycle after their accesses; gives `takes`
    /// its value.
    pub(super) fn banks(&self, heads: &Heads, takes: Signal, lane: Index) -> Signal {
        let (u, s) = (self.u, self.s);
        u.section(
            "Each bank chooses one of the lanes that want it: the next in the order after the \
             one that it chose last.",
        );
        let last = u.register("last", s.B * s.LW).reset_to_ones();
        let turns = u.wire("turns", s.B * s.L);
        let served = u.wire("served", s.L);
        let words = u.wire("words", s.B * s.D);
        let [bank, other] = u.indices(["g", "j"]);
        let byte = self.merges().then(|| u.indices(["k"]));
        u.generate(|| {
            u.each("bank_of", bank, (0, s.B), |b| {
                self.bank(heads, (last, turns, served, words), b, (lane, byte));
            });
        });
        self.served(heads, turns, served, [lane, other, bank]);
        u.assign(takes, served | heads.beyond);
        if !self.p.TREQ {
            u.assign(self.io.tcdm_gnt, takes);
        }
        words
    }

    /// Writes of one word are merged.
    fn merges(&self) -> bool {
        self.p.BCAST && self.p.MERGE
    }

    /// One bank.
    fn bank(
        &self,
        heads: &Heads,
        (last, turns, served, words): (Signal, Signal, Signal, Signal),
        b: Size,
        (lane, byte): (Index, Option<[Index; 1]>),
    ) {
        let (u, s, parts) = (self.u, self.s, self.parts);
        let want = u.wire("want", s.L);
        u.each("wants", lane, (0, s.L), |i| {
            let here = heads.bank.part(i * s.m, s.m).is(b);
            u.assign(want.at(i), heads.inside.at(i) & here);
        });
        let used = u.name("used", want.any());
        let number = u.wire("number", s.LW);
        let last = last.part(b * s.LW, s.LW);
        let turn = turns.part(b * s.L, s.L);
        spad_turn::instance(
            u,
            &parts.turn,
            "round_robin",
            (want, last.clone()),
            (turn, number),
        );
        u.at_clock().when(used).next(last, number);

        let reason = "rows beyond the capacity are refused before";
        let row = if self.p.RW < self.p.R {
            u.wire_in_part("turn_row", s.R, reason)
        } else {
            u.wire("turn_row", s.R)
        };
        let writes = u.name("writes", !heads.wen.select(number));
        let wdata = u.wire("wdata", s.D);
        let wbe = u.wire("wbe", s.BE);
        spad_select::instance(u, &parts.select, "row_of", number, heads.row, row);
        match byte {
            None => {
                spad_select::instance(u, &parts.select, "data_of", number, heads.data, wdata);
                spad_select::instance(u, &parts.select, "enables_of", number, heads.be, wbe);
            }
            Some([byte]) => {
                let group = u.name("group", want & served);
                self.merged(heads, group, (wdata, wbe), (lane, byte));
            }
        }
        u.instance(top(&parts.ram), "ram")
            .same(self.clock)
            .port("en", used)
            .port("we", writes)
            .port("be", wbe)
            .port("row", row.low(s.RW))
            .port("wdata", wdata)
            .port("dout", words.part(b * s.D, s.D))
            .done();
    }

    /// The bytes of a write: of each the lowest lane of `group` that enables it.
    fn merged(
        &self,
        heads: &Heads,
        group: Signal,
        (wdata, wbe): (Signal, Signal),
        (lane, byte): (Index, Index),
    ) {
        let (u, s, parts) = (self.u, self.s, self.parts);
        u.each("byte_of", byte, (0, s.BE), |k| {
            let enables = u.wire("enables", s.L);
            let bytes = u.wire("bytes", s.L * 8);
            u.each("of_lane", lane, (0, s.L), |i| {
                u.assign(enables.at(i), group.at(i) & heads.be.at(i * s.BE + k));
                let byte = heads.data.part(i * s.D + k * 8, 8);
                u.assign(bytes.part(i * 8, 8), byte);
            });
            let found = u.wire_in_part("found", s.L, "the lowest is enough");
            let first = u.wire_in_part("first", s.L, "the first lane needs no number");
            spad_lowest::instance(u, &parts.lowest, "first_of", enables, [found, first]);
            let writer = u.wire("writer", s.LW);
            u.instance(&parts.number, "writer_of")
                .port("above", first.high(1))
                .port("number", writer)
                .done();
            let chosen = u.wire("chosen", 8);
            spad_select::instance(u, &parts.select, "byte_for", writer, bytes, chosen);
            u.assign(wdata.part(k * 8, 8), chosen);
            u.assign(wbe.at(k), enables.any());
        });
    }

    /// The lanes that are served: those whose turn it is, and those with them.
    fn served(
        &self,
        heads: &Heads,
        turns: Signal,
        served: Signal,
        [lane, other, bank]: [Index; 3],
    ) {
        let (u, p, s) = (self.u, self.p, self.s);
        u.section(match (p.BCAST, p.MERGE) {
            (true, true) => {
                "A lane is served if it is its turn in its bank, or that of a lane that does the \
                 same with the same word."
            }
            (true, false) => {
                "A lane is served if it is its turn in its bank, or if it reads the word that a \
                 lane reads whose turn it is."
            }
            (false, _) => "A lane is served if it is its turn in its bank.",
        });
        let chosen = if p.BCAST {
            u.wire("picked", s.L)
        } else {
            served
        };
        u.generate(|| {
            u.each("picked_of", lane, (0, s.L), |i| {
                let by = u.wire("by", s.B);
                u.each("by_bank", bank, (0, s.B), |b| {
                    u.assign(by.at(b), turns.at(b * s.L + i));
                });
                u.assign(chosen.at(i), by.any());
            });
            if !p.BCAST {
                return;
            }
            u.each("served_of", lane, (0, s.L), |i| {
                let with = u.wire("partners", s.L);
                u.each("with_lane", other, (0, s.L), |j| {
                    let addr = |lane: Size| heads.addr.part(lane * s.n, s.n);
                    let wen = |lane: Size| heads.wen.at(lane);
                    let alike = addr(i).is(addr(j));
                    let alike = if p.MERGE {
                        alike & !(wen(i) ^ wen(j))
                    } else {
                        same(i, j) | (alike & wen(i) & wen(j))
                    };
                    u.assign(with.at(j), chosen.at(j) & alike);
                });
                u.assign(served.at(i), heads.valid.at(i) & with.any());
            });
        });
    }
}
