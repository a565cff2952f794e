//! Assertions about every group: derived from banks and rows, as the contract
//! defines a group, not from the comparisons that form it.

use super::{Arbiter, Moves};
use crate::property::one_at_most;
use crate::signal::{Bits, Signal};
use crate::size::Size;
use crate::unit::Index;

impl Arbiter<'_> {
    /// Writes the assertions; `want` has the lanes that wait for a bank, in the
    /// loop over banks.
    pub(super) fn checks(&self, moves: &Moves, want: Signal, [i, j, k]: [Index; 3]) {
        let (u, s) = (self.u, self.io.s);
        u.about("What holds of every group, checked in simulation.");
        self.of_the_access(moves);
        u.generate(|| {
            u.each("bank_check", j, (0, s.B), |bank| {
                self.of_a_bank(want, bank, [i, k]);
            });
            u.each("lane_check", i, (0, s.L), |lane| self.of_a_lane(lane, j));
        });
    }

    /// Groups of waiting lanes follow each other until no lane waits.
    fn of_the_access(&self, moves: &Moves) {
        let (u, io, access) = (self.u, &self.io, &self.access);
        let served = io.grp_served;
        u.property(
            "served_waits",
            served.any(),
            !(served & !access.pend).any(),
            "a lane is served that does not wait",
        );
        u.property(
            "some_is_served",
            access.pend.any(),
            served.any(),
            "lanes wait, but none is served",
        );
        u.property(
            "last_serves_all",
            access.busy,
            access.last.is(!moves.remain.any()),
            "the last group leaves lanes waiting, or an earlier one none",
        );
        u.property(
            "idle_is_empty",
            !access.busy,
            !access.pend.any(),
            "lanes wait while there is no access",
        );
        u.property(
            "degree_within_lanes",
            access.busy,
            access.cnt.less(self.p.L),
            "an access has more groups than there are lanes",
        );
    }

    /// One leader, the lowest waiting lane, and one writer of each byte.
    fn of_a_bank(&self, want: Signal, bank: Size, [i, k]: [Index; 2]) {
        let (u, io, s) = (self.u, &self.io, self.io.s);
        let want = u.of_iteration(want, bank).of_width(s.L);
        let waiting = u.named("waiting", s.L, want);
        let leads = u.named("leads", s.L, waiting & io.grp_leader);
        u.property(
            "one_leader",
            waiting.any(),
            one_at_most([leads]),
            "a bank has two leaders",
        );
        u.property(
            "lowest_leads",
            waiting.any(),
            leads.is(waiting & (!waiting + 1)),
            "the leader of a bank is not its lowest waiting lane",
        );
        u.each("byte_check", k, (0, s.DB), |byte| {
            let writers = u.wire("writers", s.L);
            u.each("writer", i, (0, s.L), |lane| {
                let writes = io.grp_writes.at(lane * s.DB + byte);
                u.assign(writers.at(lane), waiting.at(lane) & writes);
            });
            u.property(
                "one_writer",
                writers.any(),
                one_at_most([writers]),
                "two lanes write one byte of a bank",
            );
        });
    }

    /// Served together with the leader of its bank, on the leader's row.
    fn of_a_lane(&self, lane: Size, j: Index) {
        let (u, io, s) = (self.u, &self.io, self.io.s);
        let bank = |lane: Size| self.access.bank.part(lane * s.m, s.m);
        let row = |lane: Size| self.access.row.part(lane * s.R, s.R);
        let leaders = u.wire("leaders", s.L);
        u.each("leader", j, (0, s.L), |other| {
            let one_word = bank(other).is(bank(lane)) & row(other).is(row(lane));
            u.assign(leaders.at(other), io.grp_leader.at(other) & one_word);
        });
        u.property(
            "served_with_leader",
            io.grp_served.at(lane) & self.access.pend.at(lane),
            leaders.any(),
            "a lane is served without the leader of its bank",
        );
        u.property(
            "writer_is_served",
            io.grp_writes.part(lane * s.DB, s.DB).any(),
            io.grp_served.at(lane),
            "a lane writes that is not served",
        );
    }
}
