//! The registers of the retry loop: its state, its pass, its request.

use super::to;
use crate::codes::seq;
use crate::params::{Params, Sizes};
use crate::signal::{Bits, Signal, Value};
use crate::size::Size;
use crate::unit::UnitBuilder;

/// The state, and the cycle within it.
pub(super) struct State {
    pub(super) now: Signal,
    /// The number of the present cycle within the state, where one lasts longer
    /// than it needs to.
    pub(super) cnt: Option<Signal>,
    /// Waits of READ or WRITE, where these last longer than their answer takes.
    pub(super) waits: Option<Waits>,
    pub(super) sent: Signal,
    /// The answer of WRITE has not come, where WRITE ends before it.
    pub(super) owed: Option<Signal>,
}

/// READ or WRITE last longer than their answer takes: the cycle to leave in, and
/// whether the answer has come.
#[derive(Clone, Copy)]
pub(super) struct Waits {
    pub(super) tgt: Signal,
    pub(super) got: Signal,
}

impl State {
    pub(super) fn new(u: &UnitBuilder, p: &Params, s: Sizes) -> Self {
        let accesses_wait = p.LR + p.LWR > 0;
        u.section(if accesses_wait {
            "The state, the number of the present cycle within it, and the cycle to leave in."
        } else {
            "The state."
        });
        let now = u.register("state", 3).reset(to(seq::IDLE));
        let cnt = (accesses_wait || p.LU.max(p.LB) > 1).then(|| {
            let cnt = u.register("cnt", s.CTW);
            cnt.without_reset("each state sets it")
        });
        let tgt = accesses_wait.then(|| {
            let tgt = u.register("tgt", s.CTW);
            tgt.without_reset("a response sets it")
        });
        u.about(if accesses_wait {
            "The state's request has been taken; its response has come."
        } else {
            "The state's request has been taken."
        });
        let sent = u.register("sent", 1).reset(0);
        let waits = tgt.map(|tgt| Waits {
            tgt,
            got: u.register("got", 1).reset(0),
        });
        let owed = (p.LWR == 0).then(|| {
            u.about("A store-and-unlock has been taken; its response has not come.");
            u.register("owed", 1).reset(0)
        });
        State {
            now,
            cnt,
            waits,
            sent,
            owed,
        }
    }

    /// `next` once the state has lasted this many cycles, until then the same.
    pub(super) fn after(&self, cycles: Size, state: u8, mut next: Value) -> Value {
        if let Some(cnt) = self.cnt {
            next.cases.insert(0, (!cnt.is(cycles), to(state).into()));
        }
        next
    }
}

/// The pass, and how far it has got.
pub(super) struct Pass {
    pub(super) aop: Signal,
    pub(super) mask0: Signal,
    pub(super) bank: Signal,
    pub(super) row: Signal,
    pub(super) lock: Signal,
    pub(super) opnd: Signal,
    pub(super) old: Signal,
    pub(super) tag: Signal,
    pub(super) waiting: Signal,
    pub(super) winners: Signal,
    pub(super) first: Signal,
    pub(super) deg1: Signal,
    pub(super) err: Signal,
    pub(super) begun: Signal,
}

impl Pass {
    pub(super) fn new(u: &UnitBuilder, s: Sizes) -> Self {
        u.about("The pass, from `accept` until IDLE.");
        let register =
            |name: &str, width| u.register(name, width).without_reset("`accept` sets it");
        let aop = register("aop", 4.into());
        let mask0 = register("mask0", s.L);
        let bank = register("bank", s.L * s.m);
        let row = register("row", s.L * s.R);
        let lock = register("lock", s.L * s.LK);
        let opnd = register("opnd", s.L * s.D);
        let old = register("old", s.L * s.D);
        let tag = register("tag", s.TGW);
        u.about(
            "Progress: lanes that wait, lanes that have their lock, the degree of the first \
             read, errors, rounds.",
        );
        Pass {
            aop,
            mask0,
            bank,
            row,
            lock,
            opnd,
            old,
            tag,
            waiting: register("waiting", s.L),
            winners: u.register("winners", s.L).without_reset("a read sets it"),
            first: register("first", 1.into()),
            deg1: register("deg1", s.DG),
            err: register("err", 1.into()),
            begun: register("begun", 16.into()),
        }
    }
}

/// The request to the scratchpad in this cycle.
pub(super) struct Request {
    pub(super) asking: Signal,
    pub(super) asks: Signal,
}

impl Request {
    pub(super) fn new(u: &UnitBuilder, s: Sizes) -> Self {
        u.about(
            "The request of this cycle: whether there is one, and the lanes that it locks or \
             unlocks.",
        );
        Request {
            asking: u.register("asking", 1).reset(0),
            asks: u.register("asks", s.L).reset(0),
        }
    }
}
