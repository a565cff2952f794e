//! The banks: the lanes that each serves, and the operation that it performs for them.

use super::{Heads, Tcdm};
use crate::module::top;
use crate::reservations::Later;
use crate::signal::{Bits, Expr, Signal, below, same};
use crate::size::Size;
use crate::unit::Index;
use crate::{spad_pick, spad_turn};

/// Per lane those that do the same with the same word; with merging, the bytes
/// that it writes for them, and the index of bytes.
type Sharing = (Signal, Option<(Signal, Index)>);

/// The outputs of the banks, side by side.
#[derive(Clone, Copy)]
pub(super) struct Banks {
    /// The words of accesses in their second cycle.
    pub(super) words: Signal,
    /// Later cycles of the accesses, where the banks perform atomic operations.
    pub(super) later: Option<Later>,
}

impl Tcdm<'_> {
    /// The outputs of the banks; assigns `takes`.
    pub(super) fn banks(&self, heads: &Heads, takes: Signal, lane: Index) -> Banks {
        let (u, s) = (self.u, self.s);
        let sharing = self.sharing(heads, lane);
        u.section(
            "Each bank chooses one of the lanes that want it: the next in the order after the \
             one that it chose last.",
        );
        let last = u.register("last", s.B * s.LW).reset_to_ones();
        let turns = u.wire("turns", s.B * s.L);
        let served = u.wire("served", s.L);
        let banks = Banks {
            words: u.wire("words", s.B * s.D),
            later: self.p.TATM.then(|| Later::wires(u, s)),
        };
        let [bank] = u.indices(["g"]);
        u.generate(|| {
            u.each("bank_of", bank, (0, s.B), |b| {
                self.bank(heads, (last, turns, banks), sharing, (b, lane));
            });
        });
        let alike = sharing.map(|(alike, _)| alike);
        self.served((turns, served), alike, [lane, bank]);
        u.assign(takes, served | heads.beyond);
        if !self.p.TREQ {
            u.assign(self.io.tcdm_gnt, takes);
        }
        banks
    }

    /// Writes of one word are merged.
    fn merges(&self) -> bool {
        self.p.BCAST && self.p.MERGE
    }

    /// One bank.
    fn bank(
        &self,
        heads: &Heads,
        (last, turns, banks): (Signal, Signal, Banks),
        sharing: Option<Sharing>,
        (b, lane): (Size, Index),
    ) {
        let (u, s, parts) = (self.u, self.s, self.parts);
        let turn = turns.part(b * s.L, s.L);
        let used = self.round_robin(heads, last, &turn, (b, lane));
        let reason = "rows beyond the capacity are refused before";
        let row = if self.p.RW < self.p.R {
            u.wire_in_part("turn_row", s.R, reason)
        } else {
            u.wire("turn_row", s.R)
        };
        let writes = u.name("writes", (turn.clone() & !heads.of.wen).any());
        let wdata = u.wire("wdata", s.D);
        let wbe = u.wire("wbe", s.DB);
        spad_pick::instance(u, &parts.pick, "row_of", turn.clone(), heads.row, row);
        let group = self.group(&turn, sharing, lane);
        match (group, sharing) {
            (Some(group), Some((_, Some((owned, byte))))) => {
                self.merged(heads, (group, owned), (wdata, wbe), (lane, byte));
            }
            _ => {
                let turn = turn.clone();
                spad_pick::instance(
                    u,
                    &parts.pick,
                    "data_of",
                    turn.clone(),
                    heads.of.data,
                    wdata,
                );
                spad_pick::instance(u, &parts.pick, "enables_of", turn, heads.of.be, wbe);
            }
        }
        let dout = banks.words.part(b * s.D, s.D);
        if let (Some(counts), Some(later)) = (heads.counts, banks.later) {
            let served = group.map_or(turn.clone(), Expr::from);
            let counted = u.name("counted", served & counts);
            let plain = [used, writes, wbe, row, wdata, counted];
            return self.atomic_bank((heads, turn), plain, (dout, later), b);
        }
        u.instance(top(&parts.ram), "ram")
            .same(self.clock)
            .port("en", used)
            .port("we", writes)
            .port("be", wbe)
            .port("row", row.low(s.RW))
            .port("wdata", wdata)
            .port("dout", dout)
            .done();
    }

    /// Gives one of the lanes that want the bank its turn; whether there is one.
    fn round_robin(
        &self,
        heads: &Heads,
        last: Signal,
        turn: &Expr,
        (b, lane): (Size, Index),
    ) -> Signal {
        let (u, s, parts) = (self.u, self.s, self.parts);
        let want = u.wire("want", s.L);
        u.each("wants", lane, (0, s.L), |i| {
            let here = heads.bank.part(i * s.m, s.m).is(b);
            u.assign(want.at(i), heads.inside.at(i) & here);
        });
        let used = u.name("used", want.any());
        let number = u.wire("number", s.LW);
        let last = last.part(b * s.LW, s.LW);
        spad_turn::instance(
            u,
            &parts.turn,
            "round_robin",
            (want, last.clone()),
            (turn.clone(), number),
        );
        u.at_clock().when(used).next(last, number);
        used
    }

    /// The lanes that are served together with the one whose turn it is, where some can be.
    fn group(&self, turn: &Expr, sharing: Option<Sharing>, lane: Index) -> Option<Signal> {
        let (u, s) = (self.u, self.s);
        let (alike, _) = sharing.filter(|_| self.p.TATM || self.merges())?;
        let group = u.wire("group", s.L);
        u.each("in_group", lane, (0, s.L), |i| {
            let with = turn.clone() & alike.part(i * s.L, s.L);
            u.assign(group.at(i), with.any());
        });
        Some(group)
    }

    /// The words of bank `b`, with its operation.
    fn atomic_bank(
        &self,
        (heads, turn): (&Heads, Expr),
        [used, writes, wbe, row, wdata, counted]: [Signal; 6],
        (dout, later): (Expr, Later),
        b: Size,
    ) {
        let (u, s, parts) = (self.u, self.s, self.parts);
        let Some(operations) = heads.of.operations else {
            return;
        };
        let amo = u.name("amo", (turn.clone() & operations.amo).any());
        let aop = u.wire("aop", 4);
        let cmp = u.wire("cmp", s.D);
        let pick = |name, words, word| {
            spad_pick::instance(u, &parts.pick, name, turn.clone(), words, word);
        };
        pick("operation_of", operations.aop, aop);
        pick("expected_of", operations.cmp, cmp);
        u.instance(top(&parts.ram), "atomic")
            .same(self.clock)
            .port("en", used)
            .port("amo", amo)
            .port("aop", aop)
            .port("we", writes)
            .port("be", wbe)
            .port("row", row.low(s.RW))
            .port("data", wdata)
            .port("cmp", cmp)
            .port("lanes", counted)
            .port("reserved", later.reserved.at(b))
            .port("dout", dout)
            .port("written", later.written.at(b))
            .port("at", later.rows.part(b * s.RW, s.RW))
            .done();
    }

    /// The bytes of a write: each from the lane of `group` that owns it.
    fn merged(
        &self,
        heads: &Heads,
        (group, owned): (Signal, Signal),
        (wdata, wbe): (Signal, Signal),
        (lane, byte): (Index, Index),
    ) {
        let (u, s, parts) = (self.u, self.s, self.parts);
        u.each("byte_of", byte, (0, s.DB), |k| {
            let writer = u.wire("writer", s.L);
            let bytes = u.wire("bytes", s.L * 8);
            u.each("of_lane", lane, (0, s.L), |i| {
                u.assign(writer.at(i), group.at(i) & owned.at(i * s.DB + k));
                let byte = heads.of.data.part(i * s.D + k * 8, 8);
                u.assign(bytes.part(i * 8, 8), byte);
            });
            let byte = wdata.part(k * 8, 8);
            spad_pick::instance(u, &parts.pick, "byte_for", writer, bytes, byte);
            u.assign(wbe.at(k), writer.any());
        });
    }

    /// The lanes with the same operation on the same word, and the bytes of it
    /// that a lane writes for all of them. Neither waits for the banks' choice.
    fn sharing(&self, heads: &Heads, lane: Index) -> Option<Sharing> {
        let (u, p, s) = (self.u, self.p, self.s);
        if !p.BCAST {
            return None;
        }
        u.section(if p.MERGE {
            "Lanes that do the same with the same word, in row i those alike lane i. A lane owns \
             the bytes that it enables and no lower lane of these does. Both are found beside the \
             choice of the banks, which would be slower if they waited for it."
        } else {
            "Lanes that read the same word, in row i those alike lane i. They are found beside \
             the choice of the banks, which would be slower if they waited for it."
        });
        let [other] = u.indices(["j"]);
        let alike = u.wire("alike", s.L * s.L);
        let owned = self
            .merges()
            .then(|| (u.wire("owned", s.L * s.DB), u.indices(["k"])[0]));
        u.generate(|| {
            u.each("alike_of", lane, (0, s.L), |i| {
                u.each("with_lane", other, (0, s.L), |j| {
                    let alike_j = self.alike(heads, i, j);
                    u.assign(alike.at(i * s.L + j), heads.of.valid.at(i) & alike_j);
                });
            });
            if let Some((owned, byte)) = owned {
                self.owned(heads, (alike, owned), [lane, other, byte]);
            }
        });
        Some((alike, owned))
    }

    /// Whether lane `j` does the same as lane `i` with the same word. An atomic
    /// operation is like no other, but a count like a count.
    fn alike(&self, heads: &Heads, i: Size, j: Size) -> Expr {
        let (p, s) = (self.p, self.s);
        let addr = |lane: Size| heads.of.addr.part(lane * s.n, s.n);
        let wen = |lane: Size| heads.of.wen.at(lane);
        let one_word = addr(i).is(addr(j));
        let counts = heads
            .counts
            .map(|counts| counts.at(i) & counts.at(j) & one_word.clone());
        let both = if p.MERGE {
            one_word & !(wen(i) ^ wen(j))
        } else {
            one_word & wen(i) & wen(j)
        };
        match (heads.of.operations, counts) {
            (Some(operations), Some(counts)) => {
                let plain = !(operations.amo.at(i) | operations.amo.at(j));
                same(i, j) | (both & plain) | counts
            }
            _ if p.MERGE => both,
            _ => same(i, j) | both,
        }
    }

    /// The bytes that each lane owns.
    fn owned(
        &self,
        heads: &Heads,
        (alike, owned): (Signal, Signal),
        [lane, other, byte]: [Index; 3],
    ) {
        let (u, s) = (self.u, self.s);
        let enables = |i: Size, k: Size| heads.of.be.at(i * s.DB + k);
        u.each("bytes_of", lane, (0, s.L), |i| {
            u.each("enable", byte, (0, s.DB), |k| {
                let lower = u.wire("lower", s.L);
                u.each("below", other, (0, s.L), |j| {
                    let taken = alike.at(j * s.L + i) & enables(j, k);
                    u.assign(lower.at(j), below(j, i) & taken);
                });
                u.assign(owned.at(i * s.DB + k), enables(i, k) & !lower.any());
            });
        });
    }

    /// The lanes that are served: those whose turn it is, and those with them.
    fn served(
        &self,
        (turns, served): (Signal, Signal),
        alike: Option<Signal>,
        [lane, bank]: [Index; 2],
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
            let Some(alike) = alike else { return };
            u.each("served_of", lane, (0, s.L), |i| {
                let with = chosen & alike.part(i * s.L, s.L);
                u.assign(served.at(i), with.any());
            });
        });
    }
}
