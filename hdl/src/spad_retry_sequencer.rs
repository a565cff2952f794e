//! The retry loop of atomic operations.

use crate::codes::{aop, op, seq};
use crate::module::{HdlError, Module, Result, UnitDoc};
use crate::params::Params;
use crate::payload::Lanes;
use crate::signal::{Bits, Signal, code, when};
use crate::size::Size;
use crate::unit::Unit;
use crate::{spad_atomic_alu, spad_pick};

/// Emits `spad_retry_sequencer` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    if p.LOCKS == 0 {
        return Err(HdlError::NotThere {
            unit: "spad_retry_sequencer".into(),
            reason: "it has no locks ([path] locks)".into(),
        });
    }
    let alu = spad_atomic_alu::emit_kernel(p)?;
    let u = Unit::new(doc(p));
    let s = u.all_sizes(p);
    u.clocked();
    let at_valid = u.input("at_valid", 1, "a pass is offered");
    let at_ready = u.output("at_ready", 1, "the pass is accepted: the sequencer is idle");
    let at_aop = u.input("at_aop", 4, "operation");
    let at = Lanes {
        mask: u.input("at_mask", s.L, "active lanes"),
        bank: u.input("at_bank", s.L * s.m, "bank, m bits per lane"),
        row: u.input("at_row", s.L * s.R, "row, R bits per lane"),
        lock: u.input("at_lock", s.L * s.LK, "lock, LK bits per lane"),
        data: u.input("at_data", s.L * s.D, "operand, D bits per lane"),
    };
    let at_tag = u.input("at_tag", s.TGW, "comes back with the result");
    let sp_valid = u.output("sp_valid", 1, "a scratchpad request is offered");
    let sp_ready = u.input("sp_ready", 1, "the request is accepted");
    let about = "3 load and lock, 4 store and unlock, 0 the final pass";
    let sp_op = u.output("sp_op", 3, about);
    let about = "data of a store, or the old words at the end; else 0";
    let sp = Lanes {
        mask: u.output("sp_mask", s.L, "lanes of the request"),
        bank: u.output("sp_bank", s.L * s.m, "their banks; else 0"),
        row: u.output("sp_row", s.L * s.R, "their rows; else 0"),
        lock: u.output("sp_lock", s.L * s.LK, "their locks; else 0"),
        data: u.output("sp_data", s.L * s.D, about),
    };
    let sp_tag = u.output("sp_tag", s.TGW, "tag of the pass");
    let sp_error = u.output("sp_error", 1, "at the end: error");
    let about = "at the end: degree of the first read";
    let sp_degree = u.output("sp_degree", s.DG, about);
    let sr_valid = u.input("sr_valid", 1, "response to one of its requests");
    let sr_mask = u.input("sr_mask", s.L, "lanes of the response");
    let sr_data = u.input("sr_data", s.L * s.D, "words read");
    let sr_success = u.input("sr_success", s.L, "lanes that took their lock");
    let sr_error = u.input("sr_error", 1, "error");
    let sr_degree = u.input("sr_degree", s.DG, "conflict degree");
    let about = "0 idle, 1 read, 2 update, 3 write, 4 branch, 5 done";
    let state = u.output("state", 3, about);
    let rounds = u.output("rounds", 16, "rounds begun in this pass");
    u.unused(true, sr_mask, "the mask of the request is known");

    u.section("The state, the number of the present cycle within it, and the cycle to leave in.");
    let to = |state| code(&seq::FIELD, state);
    let now = u.register("state", 3).reset(to(seq::IDLE));
    let cnt = u.register("cnt", s.CTW);
    let cnt = cnt.without_reset("it begins anew with each state");
    let tgt = u.register("tgt", s.CTW);
    let tgt = tgt.without_reset("a response sets it");
    u.about("The state's request has been taken; its response has come.");
    let sent = u.register("sent", 1).reset(0);
    let got = u.register("got", 1).reset(0);
    u.about("The pass. No reset: used between `accept` and IDLE only.");
    let register = |name: &str, width| u.register(name, width).without_reset("`accept` sets it");
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
    let waiting = register("waiting", s.L);
    let winners = register("winners", s.L);
    let first = register("first", 1.into());
    let deg1 = register("deg1", s.DG);
    let err = register("err", 1.into());
    let begun = register("begun", 16.into());
    u.about(
        "The request of this cycle: whether there is one, and the lanes that it locks or unlocks.",
    );
    let asking = u.register("asking", 1).reset(0);
    let asks = u.register("asks", s.L).reset(0);

    u.section("What happens in this cycle.");
    let idle = u.name("idle", now.is(to(seq::IDLE)));
    let reading = u.name("reading", now.is(to(seq::READ)));
    let writing = u.name("writing", now.is(to(seq::WRITE)));
    let done = u.name("done", now.is(to(seq::DONE)));
    let accept = u.name("accept", at_valid & at_ready);
    let fire = u.name("fire", sp_valid & sp_ready);
    let read = u.name("read", reading & sr_valid);
    let unsupported = at_aop.above(code(&aop::FIELD, aop::SMAX));
    let unsupported = u.name("unsupported", unsupported);
    let failed = u.name("failed", err | (sr_valid & sr_error));
    u.note("A read or a write takes its latency for each group that the answer reports.");
    let latency = u.named("latency", s.CTW, when(writing, s.LWR).otherwise(s.LR));
    let total = sr_degree.extended(p.CTW) * latency;
    let due = u.named("due", s.CTW, when(sr_valid, total).otherwise(tgt));
    let answered = u.name("answered", (got | sr_valid) & cnt.at_least(due));

    u.section(
        "The next state. A round goes from READ through BRANCH, and again while lanes wait for \
         their lock.",
    );
    let refused = unsupported | !at.mask.any();
    let after_idle = when(!at_valid, to(seq::IDLE))
        .when(refused, to(seq::DONE))
        .otherwise(to(seq::READ));
    let after_idle = u.name("after_idle", after_idle);
    let after_read = when(!answered, to(seq::READ))
        .when(failed, to(seq::DONE))
        .otherwise(to(seq::UPDATE));
    let after_read = u.name("after_read", after_read);
    let after_update = when(!cnt.is(s.LU), to(seq::UPDATE))
        .when(winners.any(), to(seq::WRITE))
        .otherwise(to(seq::BRANCH));
    let after_update = u.name("after_update", after_update);
    let after_write = when(answered, to(seq::BRANCH)).otherwise(to(seq::WRITE));
    let after_write = u.name("after_write", after_write);
    let after_branch = when(!cnt.is(s.LB), to(seq::BRANCH))
        .when(waiting.any(), to(seq::READ))
        .otherwise(to(seq::DONE));
    let after_branch = u.name("after_branch", after_branch);
    let after_done = when(sp_ready, to(seq::IDLE)).otherwise(to(seq::DONE));
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
    let next = u.table(&now.next_state(), now, after, to(seq::IDLE));

    u.section("Within a state: its cycles, its request, its answer.");
    let leaves = u.name("leaves", !next.is(now));
    let sent_next = u.next_state(sent, !leaves & (sent | fire));
    u.at_clock()
        .next(now, next)
        .next(sent, sent_next)
        .next(got, !leaves & (got | sr_valid));
    u.at_clock()
        .next(cnt, when(leaves, 1).when(!cnt.all(), cnt + 1));
    u.at_clock().next(tgt, due);

    u.section("The pass.");
    u.at_clock()
        .when(accept)
        .next(aop, at_aop)
        .next(mask0, at.mask)
        .next(bank, at.bank)
        .next(row, at.row)
        .next(lock, at.lock)
        .next(tag, at_tag);
    let served = waiting & !winners;
    u.at_clock().next(
        waiting,
        when(accept, at.mask).when(writing & answered, served),
    );
    u.at_clock().when(read).next(winners, sr_success);
    u.at_clock().next(first, accept | (first & !read));
    u.at_clock()
        .next(deg1, when(accept, 0).when(read & first, sr_degree));
    u.at_clock()
        .next(err, when(accept, unsupported).when(read, failed));
    let begins = reading & fire & !begun.all();
    u.at_clock()
        .next(begun, when(accept, 0).when(begins, begun + 1));

    u.section(
        "Whether the next cycle makes a request, and for which lanes: both from registers, \
         because the whole request depends on them.",
    );
    let begins_read = u.name("begins_read", next.is(to(seq::READ)));
    let locks = (begins_read | next.is(to(seq::WRITE))) & !sent_next;
    let locks_next = u.name("locks_next", locks);
    let lanes = when(accept, at.mask)
        .when(begins_read, waiting)
        .otherwise(winners);
    let lanes_next = u.name("lanes_next", lanes);
    u.at_clock()
        .next(asking, locks_next | next.is(to(seq::DONE)))
        .next(asks, lanes_next.gated(locks_next));

    u.section("What is asked of the scratchpad, and what is handed over at the end.");
    u.assign(sp_valid, asking);
    let [pass, load, store] = [op::PASS, op::LDLK, op::STUL].map(|value| code(&op::FIELD, value));
    u.assign(
        sp_op,
        when(done | !asking, pass)
            .when(reading, load)
            .otherwise(store),
    );
    u.note("Lanes outside the mask are zero.");
    u.assign(sp.mask, asks | mask0.gated(done));
    let stores = u.name("stores", asks.gated(writing));
    u.assign(sp_tag, tag.gated(sp_valid));
    let shows = u.name("shows", done & !err);
    u.assign(sp_error, done & err);
    u.assign(sp_degree, deg1.gated(done));
    u.assign(at_ready, idle);
    u.assign(state, now);
    u.assign(rounds, begun.gated(!idle));
    u.paragraph();
    let [i, t] = u.indices(["i", "t"]);
    u.generate(|| {
        u.each("lane", i, (0, s.L), |i| {
            let asked = |to: Signal, from: Signal, width: Size| {
                let asked = from.part(i * width, width) & asks.at(i).copies(width);
                u.assign(to.part(i * width, width), asked);
            };
            asked(sp.bank, bank, s.m);
            asked(sp.row, row, s.R);
            asked(sp.lock, lock, s.LK);
            let word = |words: Signal| words.part(i * s.D, s.D);
            let stored = word(opnd) & stores.at(i).copies(s.D);
            u.assign(word(sp.data), stored | (word(old) & shows.copies(s.D)));
            let found = when(accept, 0).when(read & sr_success.at(i), word(sr_data));
            u.at_clock().next(word(old), found);
        });
    });

    // As few as get through all lanes in the cycles of UPDATE.
    let alus = p.L.div_ceil((p.LU - 1).max(1)).next_power_of_two();
    let turns = u.size("TURNS", p.L / alus);
    let alus = u.size("ALUS", alus);
    u.section(
        "In the first cycles of UPDATE, the operands of the winners become the words to store, \
         ALUS lanes in a turn, lowest lanes first.",
    );
    let turn = u.register("turn", turns).reset(0);
    let begins = when(reading & next.is(to(seq::UPDATE)), 1).otherwise(turn.up(1));
    u.at_clock().next(turn, begins);
    let word = |words: Signal, lane: Size| words.part(lane * s.D, s.D);
    let [late, words, operands] = match turns.value() {
        Some(1) => [turn, old, opnd],
        _ => {
            u.about("What is read in one cycle is computed and written in the next.");
            let late = u.register("late", turns).reset(0);
            u.at_clock().next(late, turn);
            let read = |name| {
                let register = u.register(name, alus * s.D);
                register.without_reset("`late` says what of it is used")
            };
            [late, read("word"), read("operand")]
        }
    };
    let pick = match turns.value() {
        Some(1) => None,
        _ => Some(spad_pick::emit_helper()?),
    };
    let read = pick.as_ref().map(|pick| {
        let [word_next, operand_next] = [words, operands].map(|r| u.next_state_wire(r));
        u.at_clock()
            .next(words, word_next)
            .next(operands, operand_next);
        (pick, [(word_next, old), (operand_next, opnd)])
    });
    let result = u.wire("result", alus * s.D);
    u.generate(|| {
        u.each("alu", i, (0, alus), |i| {
            if let Some((pick, sides)) = &read {
                let [olds, opnds] = u.wires(["olds", "opnds"], turns * s.D);
                u.each("of_turn", t, (0, turns), |t| {
                    u.assign(word(olds, t), word(old, t * alus + i));
                    u.assign(word(opnds, t), word(opnd, t * alus + i));
                });
                spad_pick::instance(&u, pick, "old_of", turn, olds, word(sides[0].0, i));
                spad_pick::instance(&u, pick, "opnd_of", turn, opnds, word(sides[1].0, i));
            }
            u.instance(&alu, "slice")
                .same([aop])
                .port("word", word(words, i))
                .port("operand", word(operands, i))
                .port("result", word(result, i))
                .done();
        });
        u.each("each_turn", t, (0, turns), |t| {
            u.each("winner", i, (0, alus), |i| {
                let lane = t * alus + i;
                let updates = u.name("updates", late.at(t) & winners.at(lane));
                let changes = when(accept, word(at.data, lane)).when(updates, word(result, i));
                u.at_clock().next(word(opnd, lane), changes);
            });
        });
    });
    let module = u.emit()?;
    Ok(pick.into_iter().chain([alu, module]).collect())
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
        timing: "a round takes LR * r + LU + LWR * w + LB cycles for degrees r of the read and w \
                 of the write"
            .into(),
        paper: "atomics paper, sections II and III; microarchitecture/retry-sequencer.md".into(),
        latency_cycles: 1,
    }
}
