//! Assertions for a pass in progress.

use super::{Now, Sequencer, to};
use crate::codes::seq;
use crate::property::offer_is_held;
use crate::signal::{Bits, Expr, Signal};

impl Sequencer<'_> {
    /// Writes the assertions.
    pub(super) fn checks(&self, now: &Now) {
        self.u
            .about("What holds while a pass is under way, checked in simulation.");
        self.requests(now);
        self.answers(now);
        self.winners(now);
    }

    /// One request per state, which is held until it is accepted.
    fn requests(&self, now: &Now) {
        let (u, io) = (self.u, &self.io);
        let locks = u.name("locks_now", now.reading | now.writing);
        u.property(
            "one_request",
            locks & self.state.sent,
            !io.sp_valid,
            "a state asks the scratchpad twice",
        );
        let lanes = io.sp.fields().into_iter();
        let payload = [io.sp_op, io.sp_tag, io.sp_error, io.sp_degree];
        offer_is_held(
            u,
            ("request_held", "a request changes before it is taken"),
            "sp_valid_waits",
            (io.sp_valid, io.sp_ready),
            lanes.chain(payload),
        );
    }

    /// An answer comes once, after its request, and gives locks only to lanes
    /// that wait for one.
    fn answers(&self, now: &Now) {
        let (u, io, state) = (self.u, &self.io, &self.state);
        let asked = match state.waits {
            Some(waits) => (now.reading | now.writing) & state.sent & !waits.got,
            None => now.reading & state.sent,
        };
        let asked = match state.owed {
            Some(owed) => owed | asked,
            None => asked,
        };
        u.property(
            "answer_has_request",
            io.sr_valid,
            asked,
            "an answer comes without a request",
        );
        u.property(
            "lock_was_asked",
            now.read,
            disjoint(io.sr_success, !self.pass.waiting),
            "a lane gets a lock that it does not wait for",
        );
    }

    /// Lanes that have their lock wait until their word is stored, and then no
    /// longer.
    fn winners(&self, now: &Now) {
        let (u, pass) = (self.u, &self.pass);
        let branches = self.state.now.is(to(seq::BRANCH));
        u.property(
            "winners_wait",
            now.writing,
            disjoint(pass.winners, !pass.waiting),
            "a lane stores its word twice",
        );
        u.property(
            "winners_leave",
            branches,
            disjoint(pass.winners, pass.waiting),
            "a lane waits for its lock after its store",
        );
    }
}

/// No lane is in both.
fn disjoint(lanes: Signal, others: impl Into<Expr>) -> Expr {
    !(lanes & others.into()).any()
}
