//! The reservations of the lanes.

use super::{Heads, Operations, Tcdm};
use crate::codes::amo;
use crate::reservations::{Accesses, Begins, Later, reservations};
use crate::signal::{Bits, Signal};
use crate::spad_select;
use crate::unit::Index;

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
        let [bank] = u.indices(["h"]);
        let row_of = |[bank, rows]: [Signal; 2], row| {
            spad_select::instance(u, &self.parts.select, "row_of", bank, rows, row);
        };
        reservations((u, s), row_of, [lane, bank], || {
            let begins = u.name("begins", takes & heads.inside);
            let begins = move |i| Begins {
                load: begins.at(i) & operations.is(i, amo::LR),
                store: begins.at(i) & operations.is(i, amo::SC),
                place: [heads.bank.part(i * s.m, s.m), heads.row.part(i * s.R, s.RW)],
            };
            Accesses {
                begins,
                from,
                later,
            }
        });
    }
}
