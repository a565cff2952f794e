//! The retry loop of atomic operations.

mod alus;
mod checks;
mod state;

use crate::codes::{aop, op, seq};
use crate::module::{HdlError, Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::payload::Lanes;
use crate::signal::{Bits, Expr, Signal, code, when};
use crate::size::Size;
use crate::spad_atomic_alu;
use crate::unit::{Index, UnitBuilder};
use state::{Pass, Request, State, Waits};

/// Emits `spad_retry_sequencer`, its parts first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    if p.LOCKS == 0 {
        return Err(HdlError::NotThere {
            unit: "spad_retry_sequencer".into(),
            reason: "it has no locks ([path] locks)".into(),
        });
    }
    let alu = spad_atomic_alu::emit_kernel(p)?;
    let u = UnitBuilder::new(doc(p));
    let io = Ports::new(&u, p);
    let sequencer = Sequencer {
        state: State::new(&u, p, io.s),
        pass: Pass::new(&u, io.s),
        request: Request::new(&u, io.s),
        u: &u,
        p,
        io,
    };
    let now = sequencer.now();
    let next = sequencer.next_state(&now);
    let sent_next = sequencer.within_a_state(&now, next);
    sequencer.progress(&now);
    sequencer.next_request(&now, next, sent_next);
    let words = sequencer.ask(&now);
    u.paragraph();
    let [lane, turn] = u.indices(["i", "t"]);
    sequencer.lanes(&now, words, lane);
    let pick = sequencer.update(&now, next, &alu, [lane, turn])?;
    u.assertions(|| sequencer.checks(&now));
    let module = u.emit()?;
    Ok(pick.into_iter().chain([alu, module]).collect())
}

/// Shared by the parts of the description.
struct Sequencer<'a> {
    u: &'a UnitBuilder,
    p: &'a Params,
    io: Ports,
    state: State,
    pass: Pass,
    request: Request,
}

/// The ports, by their names.
struct Ports {
    s: Sizes,
    at_valid: Signal,
    at_ready: Signal,
    at_aop: Signal,
    at: Lanes,
    at_tag: Signal,
    sp_valid: Signal,
    sp_ready: Signal,
    sp_op: Signal,
    sp: Lanes,
    sp_tag: Signal,
    sp_error: Signal,
    sp_degree: Signal,
    sr_valid: Signal,
    sr_mask: Signal,
    sr_data: Signal,
    sr_success: Signal,
    sr_error: Signal,
    sr_degree: Signal,
    state: Signal,
    rounds: Signal,
}

impl Ports {
    fn new(u: &UnitBuilder, p: &Params) -> Self {
        let s = u.all_sizes(p);
        u.clocked();
        let ready = "a pass would be accepted: the sequencer is idle";
        let operation = "3 load and lock, 4 store and unlock, 0 the final pass";
        let data = "data of a store, or the old words at the end; else 0";
        let states = "0 idle, 1 read, 2 update, 3 write, 4 branch, 5 done";
        let io = Ports {
            s,
            at_valid: u.input("at_valid", 1, "a pass is offered"),
            at_ready: u.output("at_ready", 1, ready),
            at_aop: u.input("at_aop", 4, "operation"),
            at: Lanes {
                mask: u.input("at_mask", s.L, "active lanes"),
                bank: u.input("at_bank", s.L * s.m, "bank, m bits per lane"),
                row: u.input("at_row", s.L * s.R, "row, R bits per lane"),
                lock: u.input("at_lock", s.L * s.LK, "lock, LK bits per lane"),
                data: u.input("at_data", s.L * s.D, "operand, D bits per lane"),
            },
            at_tag: u.input("at_tag", s.TGW, "comes back with the result"),
            sp_valid: u.output("sp_valid", 1, "a scratchpad request is offered"),
            sp_ready: u.input("sp_ready", 1, "a request would be accepted"),
            sp_op: u.output("sp_op", 3, operation),
            sp: Lanes {
                mask: u.output("sp_mask", s.L, "lanes of the request"),
                bank: u.output("sp_bank", s.L * s.m, "their banks; else 0"),
                row: u.output("sp_row", s.L * s.R, "their rows; else 0"),
                lock: u.output("sp_lock", s.L * s.LK, "their locks; else 0"),
                data: u.output("sp_data", s.L * s.D, data),
            },
            sp_tag: u.output("sp_tag", s.TGW, "tag of the pass"),
            sp_error: u.output("sp_error", 1, "at the end: error"),
            sp_degree: u.output("sp_degree", s.DG, "at the end: degree of the first read"),
            sr_valid: u.input("sr_valid", 1, "response to one of its requests"),
            sr_mask: u.input("sr_mask", s.L, "lanes of the response"),
            sr_data: u.input("sr_data", s.L * s.D, "words read"),
            sr_success: u.input("sr_success", s.L, "lanes that took their lock"),
            sr_error: u.input("sr_error", 1, "error"),
            sr_degree: u.input("sr_degree", s.DG, "conflict degree"),
            state: u.output("state", 3, states),
            rounds: u.output("rounds", 16, "rounds begun in this pass"),
        };
        u.unused(true, io.sr_mask, "the mask of the request is known");
        io
    }
}

/// The code of a state.
fn to(state: u8) -> Expr {
    code(&seq::FIELD, state)
}

/// The events of this cycle.
struct Now {
    idle: Signal,
    reading: Signal,
    writing: Signal,
    done: Signal,
    accept: Signal,
    fire: Signal,
    read: Signal,
    unsupported: Signal,
    failed: Signal,
    /// A response to the request of this state.
    answer: Signal,
    /// The cycle to leave READ or WRITE in, where they wait.
    due: Option<Signal>,
    /// READ may be left.
    answered: Signal,
    /// WRITE may be left.
    stored: Signal,
}

impl Sequencer<'_> {
    fn now(&self) -> Now {
        let (u, io, state, pass) = (self.u, &self.io, &self.state, &self.pass);
        u.section("What happens in this cycle.");
        let is = |name, value| u.name(name, state.now.is(to(value)));
        let idle = is("idle", seq::IDLE);
        let reading = is("reading", seq::READ);
        let writing = is("writing", seq::WRITE);
        let done = is("done", seq::DONE);
        let accept = u.name("accept", io.at_valid & io.at_ready);
        let fire = u.name("fire", io.sp_valid & io.sp_ready);
        let answer = match state.owed {
            Some(owed) => u.name("answer", io.sr_valid & !owed),
            None => io.sr_valid,
        };
        let read = u.name("read", reading & answer);
        let unsupported = io.at_aop.above(code(&aop::FIELD, aop::SMAX));
        let unsupported = u.name("unsupported", unsupported);
        let failed = u.name("failed", pass.err | (answer & io.sr_error));
        let (due, answered) = self.answered(writing, answer);
        let stored = match state.owed {
            Some(_) => fire,
            None => answered,
        };
        Now {
            idle,
            reading,
            writing,
            done,
            accept,
            fire,
            read,
            unsupported,
            failed,
            answer,
            due,
            answered,
            stored,
        }
    }

    /// The last cycle of the state, if accesses wait; whether the answer has
    /// arrived and the state's time is over.
    fn answered(&self, writing: Signal, answer: Signal) -> (Option<Signal>, Signal) {
        let (u, s) = (self.u, self.io.s);
        let (Some(Waits { tgt, got }), Some(cnt)) = (self.state.waits, self.state.cnt) else {
            return (None, answer);
        };
        u.note("A read or a write takes its latency for each group that the answer reports.");
        let latency = match self.state.owed {
            Some(_) => u.named("latency", s.CTW, s.LR),
            None => u.named("latency", s.CTW, when(writing, s.LWR).otherwise(s.LR)),
        };
        let total = self.io.sr_degree.extended(self.p.CTW) * latency;
        let due = when(answer, total).otherwise(tgt);
        let due = u.named("due", s.CTW, due);
        let answered = (got | answer) & cnt.at_least(due);
        (Some(due), u.name("answered", answered))
    }

    fn next_state(&self, now: &Now) -> Signal {
        let (u, io, pass) = (self.u, &self.io, &self.pass);
        let state = self.state.now;
        u.section(
            "The next state. A round goes from READ through BRANCH, and again while lanes wait \
             for their lock.",
        );
        let refused = now.unsupported | !io.at.mask.any();
        let after_idle = when(!io.at_valid, to(seq::IDLE))
            .when(refused, to(seq::DONE))
            .otherwise(to(seq::READ));
        let after_idle = u.name("after_idle", after_idle);
        let after_read = when(!now.answered, to(seq::READ))
            .when(now.failed, to(seq::DONE))
            .otherwise(to(seq::UPDATE));
        let after_read = u.name("after_read", after_read);
        let stores = when(pass.winners.any(), to(seq::WRITE)).otherwise(to(seq::BRANCH));
        let after_update = self.state.after(io.s.LU, seq::UPDATE, stores);
        let after_update = u.name("after_update", after_update);
        let after_write = when(now.stored, to(seq::BRANCH)).otherwise(to(seq::WRITE));
        let after_write = u.name("after_write", after_write);
        let again = when(pass.waiting.any(), to(seq::READ)).otherwise(to(seq::DONE));
        let after_branch = self.state.after(io.s.LB, seq::BRANCH, again);
        let after_branch = u.name("after_branch", after_branch);
        let after_done = when(io.sp_ready, to(seq::IDLE)).otherwise(to(seq::DONE));
        let after_done = u.name("after_done", after_done);
        let after = [
            (seq::IDLE, after_idle),
            (seq::READ, after_read),
            (seq::UPDATE, after_update),
            (seq::WRITE, after_write),
            (seq::BRANCH, after_branch),
            (seq::DONE, after_done),
        ];
        let after = after.map(|(state, next)| (to(state), next.into()));
        u.table(&state.next_state(), state, after, to(seq::IDLE))
    }

    /// The registers of the state; whether its request will have been taken.
    fn within_a_state(&self, now: &Now, next: Signal) -> Signal {
        let (u, state) = (self.u, &self.state);
        let sent = state.sent;
        u.section("Within a state: its cycles, its request, its answer.");
        let leaves = u.name("leaves", !next.is(state.now));
        let sent_next = u.next_state(sent, !leaves & (sent | now.fire));
        let clock = u.at_clock().next(state.now, next).next(sent, sent_next);
        if let Some(Waits { got, .. }) = state.waits {
            clock.next(got, !leaves & (got | now.answer));
        }
        if let Some(cnt) = state.cnt {
            u.at_clock()
                .next(cnt, when(leaves, 1).when(!cnt.all(), cnt + 1));
        }
        if let (Some(Waits { tgt, .. }), Some(due)) = (state.waits, now.due) {
            u.at_clock().next(tgt, due);
        }
        if let Some(owed) = state.owed {
            let stores = now.writing & now.fire;
            u.at_clock().next(owed, stores | (owed & !self.io.sr_valid));
        }
        sent_next
    }

    /// The registers of the pass but for its words.
    fn progress(&self, now: &Now) {
        let (u, io, pass) = (self.u, &self.io, &self.pass);
        let (accept, read) = (now.accept, now.read);
        u.section("The pass.");
        u.at_clock()
            .when(accept)
            .next(pass.aop, io.at_aop)
            .next(pass.mask0, io.at.mask)
            .next(pass.bank, io.at.bank)
            .next(pass.row, io.at.row)
            .next(pass.lock, io.at.lock)
            .next(pass.tag, io.at_tag);
        let served = now.writing & now.stored;
        let waits = when(accept, io.at.mask).when(served, pass.waiting & !pass.winners);
        u.at_clock().next(pass.waiting, waits);
        u.at_clock().when(read).next(pass.winners, io.sr_success);
        let first = accept | (pass.first & !read);
        u.at_clock().next(pass.first, first);
        let degree = when(accept, 0).when(read & pass.first, io.sr_degree);
        u.at_clock().next(pass.deg1, degree);
        let error = when(accept, now.unsupported).when(read, now.failed);
        u.at_clock().next(pass.err, error);
        let begins = now.reading & now.fire & !pass.begun.all();
        let begun = when(accept, 0).when(begins, pass.begun + 1);
        u.at_clock().next(pass.begun, begun);
    }

    fn next_request(&self, now: &Now, next: Signal, sent_next: Signal) {
        let (u, pass) = (self.u, &self.pass);
        u.section(
            "Whether the next cycle makes a request, and for which lanes: both from registers, \
             because the whole request depends on them.",
        );
        let begins_read = u.name("begins_read", next.is(to(seq::READ)));
        let locks = (begins_read | next.is(to(seq::WRITE))) & !sent_next;
        let locks_next = u.name("locks_next", locks);
        let lanes = when(now.accept, self.io.at.mask)
            .when(begins_read, pass.waiting)
            .otherwise(pass.winners);
        let lanes_next = u.name("lanes_next", lanes);
        u.at_clock()
            .next(self.request.asking, locks_next | next.is(to(seq::DONE)))
            .next(self.request.asks, lanes_next.gated(locks_next));
    }

    /// The request but for its lanes: those that store, and whether old words
    /// are shown.
    fn ask(&self, now: &Now) -> [Signal; 2] {
        let (u, io, pass) = (self.u, &self.io, &self.pass);
        let Request { asking, asks } = self.request;
        u.section("What is asked of the scratchpad, and what is handed over at the end.");
        u.assign(io.sp_valid, asking);
        let operation = |value| code(&op::FIELD, value);
        let asked = when(now.done | !asking, operation(op::PASS))
            .when(now.reading, operation(op::LDLK))
            .otherwise(operation(op::STUL));
        u.assign(io.sp_op, asked);
        u.note("Lanes outside the mask are zero.");
        u.assign(io.sp.mask, asks | pass.mask0.gated(now.done));
        let stores = u.name("stores", asks.gated(now.writing));
        u.assign(io.sp_tag, pass.tag.gated(io.sp_valid));
        let shows = u.name("shows", now.done & !pass.err);
        u.assign(io.sp_error, now.done & pass.err);
        u.assign(io.sp_degree, pass.deg1.gated(now.done));
        u.assign(io.at_ready, now.idle);
        u.assign(io.state, self.state.now);
        u.assign(io.rounds, pass.begun.gated(!now.idle));
        [stores, shows]
    }

    /// Addresses and words of the request.
    fn lanes(&self, now: &Now, [stores, shows]: [Signal; 2], lane: Index) {
        let (u, io, pass) = (self.u, &self.io, &self.pass);
        let (s, asks) = (io.s, self.request.asks);
        u.generate(|| {
            u.each("lane", lane, (0, s.L), |i| {
                let asked = |to: Signal, from: Signal, width: Size| {
                    let asked = from.part(i * width, width) & asks.at(i).copies(width);
                    u.assign(to.part(i * width, width), asked);
                };
                asked(io.sp.bank, pass.bank, s.m);
                asked(io.sp.row, pass.row, s.R);
                asked(io.sp.lock, pass.lock, s.LK);
                let word = |words: Signal| words.part(i * s.D, s.D);
                let stored = word(pass.opnd) & stores.at(i).copies(s.D);
                let shown = word(pass.old) & shows.copies(s.D);
                u.assign(word(io.sp.data), stored | shown);
                let succeeds = now.read & io.sr_success.at(i);
                let found = when(now.accept, 0).when(succeeds, word(io.sr_data));
                u.at_clock().next(word(pass.old), found);
            });
        });
    }
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_retry_sequencer".into(),
        summary: "executes one pass of an atomic operation as rounds of load-and-lock, update, \
                  store-and-unlock, branch, until every lane has had its lock. Operations: 0 add, \
                  1 and, 2 or, 3 xor, 4 exchange, 5 umin, 6 umax, 7 smin, 8 smax. ALUS lanes are \
                  updated in a cycle."
            .into(),
        parameters: p.text(&[
            "L", "m", "R", "LK", "D", "DG", "LR", "LU", "LWR", "LB", "TGW",
        ]),
        timing: "a round takes at least LR * r + LU + LWR * w + LB cycles for degrees r of the \
                 read and w of the write, and its read lasts until the scratchpad answers. With \
                 LR, LU, LWR, LB = 0, 1, 0, 1 and an answer S cycles after the cycle in which \
                 the read fires, a round takes S + 4 cycles"
            .into(),
        paper: "atomics paper, sections II and III; microarchitecture/retry-sequencer.md".into(),
        latency_cycles: 1,
    }
}
