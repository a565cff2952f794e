//! The owner of each lock, if the machine has them (LKO = 1).

use super::{Asked, Ports, Window};
use crate::params::Params;
use crate::signal::{Bits, Expr, Signal, number};
use crate::size::Size;
use crate::unit::{Index, UnitBuilder};

/// The lane that took each lock; it counts while the lock is held.
pub(super) struct Owners<'a> {
    p: &'a Params,
    io: &'a Ports,
    lock: Signal,
    /// The bits 0 of the lanes' numbers, of all locks, then the bits 1 and so on.
    owner: Signal,
}

impl<'a> Owners<'a> {
    pub(super) fn new(u: &UnitBuilder, p: &'a Params, io: &'a Ports, lock: Signal) -> Self {
        u.section(
            "The lane that took each lock: bit 0 of its number for all locks, then bit 1 and so \
             on.",
        );
        let owner = u.register("owner", io.s.LW * io.s.LOCKS);
        let owner = owner.covered_by(lock);
        Owners { p, io, lock, owner }
    }

    /// The lowest bit of the window's number in a lane's number.
    fn low(&self) -> Size {
        match self.p.LKG {
            1 => self.io.s.LW,
            _ => self.io.s.LW - self.io.s.LKW,
        }
    }

    /// The lanes `win` become the owners of their locks, which nobody else takes.
    pub(super) fn taken(
        &self,
        u: &UnitBuilder,
        (take, win): (Signal, Signal),
        asked: &Asked,
        [k, r, c]: [Index; 3],
    ) {
        let (lanes, locks, cols) = (self.io.s.P, self.io.s.LOCKS, asked.at.cols);
        u.about("Per bit of a lane number: the winning lanes whose number has this bit set.");
        let by = u.wire("by", self.io.s.LW * lanes);
        self.winners(u, win, by);
        let taken = u.name("taken", asked.asked & !self.lock);
        let ones = u.wire("ones", self.owner.width);
        let next = u.next_state_wire(self.owner);
        u.generate(|| {
            u.each("owner_bit", k, (0, self.io.s.LW), |k| {
                u.each("owner_row", r, (0, asked.at.rows), |r| {
                    u.each("owner_col", c, (0, cols), |c| {
                        let winners = by.part(k * lanes, lanes) & asked.crossing(self.io, r, c);
                        let winners = u.named("winners", lanes, winners);
                        u.assign(ones.at(k * locks + r * cols + c), winners.any());
                    });
                });
                let kept = self.owner.part(k * locks, locks) & !taken;
                u.assign(
                    next.part(k * locks, locks),
                    kept | ones.part(k * locks, locks),
                );
            });
        });
        u.at_clock().when(take).next(self.owner, next);
    }

    fn winners(&self, u: &UnitBuilder, win: Signal, by: Signal) {
        let (p, lanes) = (self.p, self.io.s.P);
        let low = p.P.trailing_zeros() as usize;
        for k in 0..p.LW {
            let winners = if k < low {
                let with = (0..p.P).filter(|lane| lane >> k & 1 == 1);
                win & number(p.P, with.fold(0, |mask, lane| mask | 1 << lane)).of_width(lanes)
            } else {
                win.gated(self.io.lk_win.at(k - low))
            };
            u.assign(by.part(lanes * k, lanes), winners);
        }
    }

    /// The lanes of the window that clear a lock of their own.
    pub(super) fn unlocking(
        &self,
        u: &UnitBuilder,
        give: Signal,
        window: &Window,
        held: Signal,
        [k, i]: [Index; 2],
    ) -> Expr {
        let (lanes, lw, locks) = (self.io.s.P, self.io.s.LW, self.io.s.LOCKS);
        u.about("Per lane, the owner of its lock, and whether that is itself.");
        let owner_of = u.wire("owner_of", lanes * lw);
        let owns = u.wire("owns", lanes);
        u.generate(|| {
            u.each("number_bit", k, (0, lw), |k| {
                let bit = u.named("bit_of", locks, self.owner.part(k * locks, locks));
                u.each("of_lane", i, (0, lanes), |i| {
                    let lock = window.lock(self.io, i);
                    u.assign(owner_of.at(i * lw + k), bit.select(lock));
                });
            });
            u.each("own_lane", i, (0, lanes), |i| {
                u.assign(owns.at(i), self.is_lane(owner_of, i));
            });
        });
        (window.req & held & owns).gated(give)
    }

    /// The owner is lane `i` of the window.
    fn is_lane(&self, owner_of: Signal, i: Size) -> Expr {
        let (lw, low) = (self.io.s.LW, self.low());
        let of_window = |from, bits| owner_of.part(i * lw + from, bits).is(self.io.lk_win);
        match (self.p.LKG, self.p.P) {
            (1, _) => owner_of.part(i * lw, lw).is(i),
            (_, 1) => of_window(Size::from(0), lw),
            _ => owner_of.part(i * lw, low).is(i) & of_window(low, self.io.s.LKW),
        }
    }
}
