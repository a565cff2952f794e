//! The reservations of lanes: a load-reserved makes one, and any write of its word
//! ends it.

use super::banks::Later;
use super::{Heads, Operations, Tcdm};
use crate::codes::amo;
use crate::signal::{Bits, Signal, when};
use crate::spad_select;
use crate::unit::Index;

/// The reservation of each lane, and its accesses in their second cycle.
#[derive(Clone, Copy)]
struct Reservations {
    bank: Signal,
    row: Signal,
    /// A load-reserved, a store-conditional, and one of the lane's reserved place.
    load: Signal,
    conditional: Signal,
    meets: Signal,
    /// Those that find their reservation.
    found: Signal,
}

impl Tcdm<'_> {
    /// The reservations; `takes` are the lanes whose accesses begin, `from` the
    /// banks of those in their second cycle.
    pub(super) fn reservations(
        &self,
        (heads, operations): (&Heads, Operations),
        takes: Signal,
        (from, later): (Signal, Later),
        lane: Index,
    ) {
        let (u, s) = (self.u, self.s);
        u.section(
            "A reservation of each lane. A load-reserved makes it in its second cycle, a \
             store-conditional of the lane ends it there; any write of the word ends it in the \
             third, and is seen at once by a store-conditional that is behind it. Accesses of one \
             word are in one bank, so they follow each other here, too.",
        );
        let held = u.register("reserved", s.L).reset(0);
        let lanes = Reservations {
            bank: u.register("reserved_bank", s.L * s.m).covered_by(held),
            row: u.register("reserved_row", s.L * s.RW).covered_by(held),
            load: u.register("load_reserved", s.L).reset(0),
            conditional: u.register("conditional", s.L).reset(0),
            meets: u.register("meets", s.L).reset(0),
            found: u.wire("found", s.L),
        };
        let begins = u.name("begins", takes & heads.inside);
        u.generate(|| {
            u.each("reservation_of", lane, (0, s.L), |i| {
                let place = [heads.bank.part(i * s.m, s.m), heads.row.part(i * s.R, s.RW)];
                let own_bank = lanes.bank.part(i * s.m, s.m);
                let own_row = lanes.row.part(i * s.RW, s.RW);
                let load = u.name("load", begins.at(i) & operations.is(i, amo::LR));
                let store = u.name("store", begins.at(i) & operations.is(i, amo::SC));
                let [bank, row] = place.clone();
                let same = bank.is(own_bank.clone()) & row.is(own_row.clone());
                let same = u.name("reserved_place", same);
                u.at_clock()
                    .next(lanes.load.at(i), load)
                    .next(lanes.conditional.at(i), store)
                    .next(lanes.meets.at(i), store & same);
                let [bank, row] = place;
                u.at_clock()
                    .when(load)
                    .next(own_bank.clone(), bank)
                    .next(own_row.clone(), row);

                let bank = u.name("its_bank", own_bank);
                let row = u.wire("row_there", s.RW);
                let select = &self.parts.select;
                spad_select::instance(u, select, "row_of", bank, later.rows, row);
                let written = row.is(own_row) & later.written.select(bank);
                let written = u.name("its_word_is_written", written);
                let found = lanes.meets.at(i) & held.at(i) & !written;
                u.assign(lanes.found.at(i), found);
                let ends = lanes.conditional.at(i) | written;
                u.at_clock()
                    .next(held.at(i), when(lanes.load.at(i), 1).when(ends, 0));
            });
        });
        self.found(&lanes, (from, later), lane);
    }

    /// Tells the banks.
    fn found(&self, lanes: &Reservations, (from, later): (Signal, Later), lane: Index) {
        let (u, s) = (self.u, self.s);
        u.paragraph();
        let [bank] = u.indices(["h"]);
        u.generate(|| {
            u.each("found_in", bank, (0, s.B), |b| {
                let by = u.wire("by_lane", s.L);
                u.each("found_by", lane, (0, s.L), |i| {
                    let here = from.part(i * s.m, s.m).is(b);
                    u.assign(by.at(i), lanes.found.at(i) & here);
                });
                u.assign(later.reserved.at(b), by.any());
            });
        });
    }
}
