//! The reservations of lanes at banks that perform atomic operations: a
//! load-reserved makes one, and any write of its word ends it.

use crate::params::Sizes;
use crate::signal::{Bits, Expr, Signal, when};
use crate::size::Size;
use crate::unit::{Index, UnitBuilder};

/// The later cycles of the banks' accesses.
#[derive(Clone, Copy)]
pub(crate) struct Later {
    /// The bank's store-conditional, in its second cycle, finds its reservation.
    pub(crate) reserved: Signal,
    /// The bank writes a word, in the third cycle of an access.
    pub(crate) written: Signal,
    /// Row of that word.
    pub(crate) rows: Signal,
}

impl Later {
    pub(crate) fn wires(u: &UnitBuilder, s: &Sizes) -> Self {
        Later {
            reserved: u.wire("conditional_reserved", s.B),
            written: u.wire("written", s.B),
            rows: u.wire("written_row", s.B * s.RW),
        }
    }
}

/// The accesses that a lane begins in this cycle.
pub(crate) struct Begins {
    /// A load-reserved that makes a reservation.
    pub(crate) load: Expr,
    /// A store-conditional that ends one.
    pub(crate) store: Expr,
    /// Bank and row of its access.
    pub(crate) place: [Expr; 2],
}

/// The accesses of the lanes.
pub(crate) struct Accesses<F> {
    /// The accesses that lane `i` begins, described in a loop over the lanes.
    pub(crate) begins: F,
    /// Bank of each lane's access in its second cycle.
    pub(crate) from: Signal,
    pub(crate) later: Later,
}

/// The reservation of each lane, and its accesses in their second cycle.
#[derive(Clone, Copy)]
struct Reservations {
    held: Signal,
    bank: Signal,
    row: Signal,
    /// Accesses in their second cycle: load-reserved, store-conditional, and accesses
    /// of the lane's reserved word.
    load: Signal,
    conditional: Signal,
    meets: Signal,
    /// Accesses that find their reservation.
    found: Signal,
}

/// The registers of the reservations, which `describe` follows with what the
/// accesses need; it also tells the banks who finds its reservation. `row_of` gives
/// a row the value of that of the bank, of the rows of all. `lane` and `bank` are
/// indices.
pub(crate) fn reservations<F: Fn(Size) -> Begins>(
    (u, s): (&UnitBuilder, &Sizes),
    row_of: impl Fn([Signal; 2], Signal),
    [lane, bank]: [Index; 2],
    describe: impl FnOnce() -> Accesses<F>,
) {
    u.section(
        "A reservation of each lane. A load-reserved makes it in its second cycle, a \
         store-conditional of the lane ends it there; any write of the word ends it in the \
         third, and is seen at once by a store-conditional that is behind it. Accesses of one \
         word are in one bank, so they follow each other here, too.",
    );
    let held = u.register("reserved", s.L).reset(0);
    let lanes = Reservations {
        held,
        bank: u.register("reserved_bank", s.L * s.m).covered_by(held),
        row: u.register("reserved_row", s.L * s.RW).covered_by(held),
        load: u.register("load_reserved", s.L).reset(0),
        conditional: u.register("conditional", s.L).reset(0),
        meets: u.register("meets", s.L).reset(0),
        found: u.wire("found", s.L),
    };
    let accesses = describe();
    let later = accesses.later;
    u.generate(|| {
        u.each("reservation_of", lane, (0, s.L), |i| {
            lanes.begin((u, s), i, (accesses.begins)(i));
            let [own_bank, own_row] = lanes.place(s, i);
            let bank = u.name("its_bank", own_bank);
            let row = u.wire("row_there", s.RW);
            row_of([bank, later.rows], row);
            let written = row.is(own_row) & later.written.select(bank);
            lanes.end(u, i, u.name("its_word_is_written", written));
        });
    });
    tell(
        (u, s),
        lanes.found,
        (accesses.from, later.reserved),
        [lane, bank],
    );
}

impl Reservations {
    /// Bank and row that lane `i` has reserved.
    fn place(&self, s: &Sizes, i: Size) -> [Expr; 2] {
        [self.bank.part(i * s.m, s.m), self.row.part(i * s.RW, s.RW)]
    }

    /// Lane `i` begins an access: its second cycle, and its reservation.
    fn begin(&self, (u, s): (&UnitBuilder, &Sizes), i: Size, begins: Begins) {
        let Begins { load, store, place } = begins;
        let [own_bank, own_row] = self.place(s, i);
        let load = u.name("load", load);
        let store = u.name("store", store);
        let [bank, row] = place.clone();
        let same = bank.is(own_bank.clone()) & row.is(own_row.clone());
        let same = u.name("reserved_place", same);
        u.at_clock()
            .next(self.load.at(i), load)
            .next(self.conditional.at(i), store)
            .next(self.meets.at(i), store & same);
        let [bank, row] = place;
        u.at_clock()
            .when(load)
            .next(own_bank, bank)
            .next(own_row, row);
    }

    /// Lane `i` finds its reservation, or it ends, as its word is `written`.
    fn end(&self, u: &UnitBuilder, i: Size, written: Signal) {
        let found = self.meets.at(i) & self.held.at(i) & !written;
        u.assign(self.found.at(i), found);
        let ends = self.conditional.at(i) | written;
        u.at_clock()
            .next(self.held.at(i), when(self.load.at(i), 1).when(ends, 0));
    }
}

/// Tells the banks whose store-conditional finds its reservation.
fn tell(
    (u, s): (&UnitBuilder, &Sizes),
    found: Signal,
    (from, reserved): (Signal, Signal),
    [lane, bank]: [Index; 2],
) {
    u.paragraph();
    u.generate(|| {
        u.each("found_in", bank, (0, s.B), |b| {
            let by = u.wire("by_lane", s.L);
            u.each("found_by", lane, (0, s.L), |i| {
                let here = from.part(i * s.m, s.m).is(b);
                u.assign(by.at(i), found.at(i) & here);
            });
            u.assign(reserved.at(b), by.any());
        });
    });
}
