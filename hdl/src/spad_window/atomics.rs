//! Atomic operations of the window's accesses: the banks perform them.

use super::Window;
use crate::codes::amo;
use crate::module::top;
use crate::params::Sizes;
use crate::ports::ports;
use crate::reservations::{Accesses, Begins, Later, reservations};
use crate::signal::{Bits, Expr, Signal, code, number, same, when};
use crate::size::Size;
use crate::unit::UnitBuilder;
use crate::{spad_pick, spad_select};

/// Bits of the counter whose turns age the reservations.
const AGE_BITS: usize = 8;

ports! {
    /// The ports of atomic operations.
    AtomicPorts(s) {
        req_amo: input(1, "an atomic operation; req_op does not count"),
        req_aop: input(4, "which one"),
        req_cmp: input(s.L * s.D, "what a compare-and-swap expects, D bits per lane"),
        req_warp: input(s.WW, "the warp: only its store-conditionals find the reservations of its \
                               load-reserveds"),
    }
}

/// The operations of the window's accesses.
#[derive(Clone, Copy)]
pub(super) struct Atomics {
    pub(super) io: AtomicPorts,
    /// Per slot, as at the ports.
    pub(super) amo: Signal,
    pub(super) aop: Signal,
    pub(super) cmp: Signal,
    pub(super) warp: Signal,
    later: Later,
}

/// The work of a bank in this cycle.
pub(super) struct Turn {
    /// The slot that it serves.
    pub(super) slot: Signal,
    /// Per slot, the lane that it would serve.
    pub(super) lanes: Signal,
    /// Per slot, the expected value of that lane.
    pub(super) expected: Signal,
}

impl Atomics {
    /// The registers of the slots; `valid` covers them.
    pub(super) fn new(u: &UnitBuilder, s: &Sizes, io: AtomicPorts, valid: Signal) -> Self {
        let covered = |name, width: Size| u.register(name, s.SWIN * width).covered_by(valid);
        Atomics {
            io,
            amo: covered("amo", 1.into()),
            aop: covered("aop", 4.into()),
            cmp: covered("cmp", s.L * s.D),
            warp: covered("warp", s.WW),
            later: Later::wires(u, s),
        }
    }

    /// The lanes of the offered access that must not be served together.
    pub(super) fn apart(&self, u: &UnitBuilder) -> Signal {
        let counts = self.io.req_aop.is(code(&amo::FIELD, amo::COUNT));
        u.name("apart", self.io.req_amo & !counts)
    }

    /// The access that is offered makes or looks for reservations.
    fn asks_reservation(&self) -> Expr {
        let asks = |operation| self.io.req_aop.is(code(&amo::FIELD, operation));
        self.io.req_amo & (asks(amo::LR) | asks(amo::SC))
    }
}

impl Window<'_> {
    /// The operation, unless the port has an atomic one.
    pub(super) fn plain(&self, operation: Expr) -> Expr {
        match &self.atomics {
            Some(atomics) => operation & !atomics.io.req_amo,
            None => operation,
        }
    }

    /// Two lanes on one word are served together.
    pub(super) fn together(&self, apart: Option<Signal>, one_word: Expr, lanes: [Size; 2]) -> Expr {
        match apart {
            Some(apart) => one_word & (!apart | same(lanes[0], lanes[1])),
            None => one_word,
        }
    }

    /// The bank of `g` with the operation of the slot that it serves.
    pub(super) fn atomic_bank(
        &self,
        atomics: &Atomics,
        turn: &Turn,
        [used, writes, row]: [Expr; 3],
        [wbe, wdata]: [Signal; 2],
        (g, dout): (Size, Expr),
    ) {
        let (u, s, parts, later) = (self.u, self.s, self.parts, atomics.later);
        let of_slot = |name, from, to| self.of_slot(turn.slot, name, from, to);
        let aop = u.wire("aop_now", 4);
        let cmp = u.wire("cmp_now", s.D);
        of_slot("aop_from", atomics.aop, aop);
        of_slot("cmp_from", turn.expected, cmp);
        let counted = self.counted(turn);
        u.instance(top(&parts.ram), "atomic")
            .same(self.clock)
            .port("en", used)
            .port("amo", (turn.slot & atomics.amo).any())
            .port("aop", aop)
            .port("we", writes)
            .port("be", wbe)
            .port("row", row)
            .port("data", wdata)
            .port("cmp", cmp)
            .port("lanes", counted)
            .port("reserved", later.reserved.at(g))
            .port("dout", dout)
            .port("written", later.written.at(g))
            .port("at", later.rows.part(g * s.RW, s.RW))
            .done();
    }

    /// The field of one slot, selected from those of all.
    #[track_caller]
    fn of_slot(&self, slot: Signal, name: &'static str, from: Signal, to: Signal) {
        spad_pick::instance(self.u, &self.parts.pick, name, slot, from, to);
    }

    /// The lanes that address the word in service: those whose lowest lane with
    /// the same word is the served lane.
    fn counted(&self, turn: &Turn) -> Signal {
        let (u, s, slots) = (self.u, self.s, &self.slots);
        let of_slot = |name, from, to| self.of_slot(turn.slot, name, from, to);
        let lane = u.wire("lane_now", s.L);
        let mask = u.wire("mask_now", s.L);
        let lead = u.wire("lead_now", s.L * s.LW);
        of_slot("lane_from", turn.lanes, lane);
        of_slot("mask_from", slots.mask, mask);
        of_slot("lead_from", slots.lead, lead);
        let counted = u.wire("counted", s.L);
        u.each("counted_of", self.i, (0, s.L), |i| {
            let leader = u.name("its_leader", lead.part(i * s.LW, s.LW));
            u.assign(counted.at(i), mask.at(i) & lane.select(leader));
        });
        counted
    }

    /// The reservations; `served` are the lanes that begin, by slots. Gives the
    /// accesses that may not enter in this cycle.
    pub(super) fn reservations(&self, atomics: &Atomics, served: Signal) -> Signal {
        let (u, s, parts, slots) = (self.u, self.s, self.parts, &self.slots);
        u.section(
            "One access at most that makes or looks for reservations is inside; it is the one \
             whose slot is here.",
        );
        let loads = u.wire("load_reserveds", s.SWIN);
        let stores = u.wire("conditionals", s.SWIN);
        u.generate(|| {
            u.each("reserving_of", self.q, (0, s.SWIN), |q| {
                let operation = u.name("which", atomics.aop.part(q * 4, 4));
                let is = |value| operation.is(code(&amo::FIELD, value));
                let here = slots.valid.at(q) & atomics.amo.at(q);
                u.assign(loads.at(q), here.clone() & is(amo::LR));
                u.assign(stores.at(q), here & is(amo::SC));
            });
        });
        let slot = u.name("reserving", loads | stores);
        let waits = u.name("waits_for_it", atomics.asks_reservation() & slot.any());
        let of_slot = |name, from, to| self.of_slot(slot, name, from, to);
        let begins = u.wire("begins", s.L);
        let bank = u.wire("its_banks", s.L * s.m);
        let row = self.rows("its_rows", s.L * s.R);
        let warp = u.wire("its_warp", s.WW);
        of_slot("begins_of", served, begins);
        of_slot("banks_of", slots.bank, bank);
        of_slot("rows_of", slots.row, row);
        of_slot("warp_of", atomics.warp, warp);
        let [loads, stores] = [loads, stores].map(|slots| slots.any());
        let loads = u.name("load_reserved", loads);
        let stores = u.name("conditional", stores);
        let row_of = |[bank, rows]: [Signal; 2], row| {
            spad_select::instance(u, &parts.select, "row_of", bank, rows, row);
        };
        reservations((u, s), row_of, [self.i, self.g], || {
            let kept = Kept::new(self);
            let begins = move |i| {
                let begins = begins.at(i);
                let [load, store] =
                    kept.begins(self, i, warp, [begins.clone() & loads, begins & stores]);
                Begins {
                    load,
                    store,
                    place: [bank.part(i * s.m, s.m), row.part(i * s.R, s.RW)],
                }
            };
            Accesses {
                begins,
                from: bank,
                later: atomics.later,
            }
        });
        waits
    }
}

/// The owners of the reservations, and how long other warps must leave them alone.
#[derive(Clone, Copy)]
struct Kept {
    owner: Signal,
    /// Another warp does not take it.
    kept: Signal,
    /// The reservation has seen no turn of the counter.
    fresh: Signal,
    /// The counter begins again.
    turn: Signal,
}

impl Kept {
    fn new(window: &Window) -> Self {
        let (u, s) = (window.u, window.s);
        u.section(
            "Another warp takes a lane's reservation only after the counter has turned twice, or \
             its owner has used it: so an owner that comes soon finds it, and one that never \
             comes holds nobody up.",
        );
        let age = u.register("age", AGE_BITS).reset(0);
        u.at_clock().next(age, age + number(AGE_BITS, 1));
        let kept = u.register("kept", s.L).reset(0);
        Kept {
            owner: u.register("owner", s.L * s.WW).covered_by(kept),
            kept,
            fresh: u.register("fresh", s.L).reset(0),
            turn: u.name("turn", age.all()),
        }
    }

    /// The load-reserved and the store-conditional that lane `i` begins and that
    /// count.
    fn begins(&self, window: &Window, i: Size, warp: Signal, begins: [Expr; 2]) -> [Expr; 2] {
        let (u, s) = (window.u, window.s);
        let owner = self.owner.part(i * s.WW, s.WW);
        let own = u.name("own", owner.clone().is(warp));
        let [load, store] = begins;
        let takes = u.name("takes", load & (own | !self.kept.at(i)));
        let uses = u.name("uses", store & own);
        u.at_clock().when(takes).next(owner, warp);
        let [kept, fresh] = [self.kept.at(i), self.fresh.at(i)];
        let aged = |to: Expr| when(takes, 1).when(uses, 0).when(self.turn, to);
        u.at_clock().next(kept, aged(fresh.clone()));
        u.at_clock().next(fresh, aged(number(1, 0)));
        [takes.into(), uses.into()]
    }
}
