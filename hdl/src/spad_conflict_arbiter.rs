//! The conflict arbiter: one conflict-free group of an access per cycle.

mod checks;

use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::signal::{Bits, Signal, when};
use crate::size::Size;
use crate::unit::{Index, UnitBuilder};

/// Emits `spad_conflict_arbiter`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let u = UnitBuilder::new(doc(p));
    let io = Ports::new(&u, p);
    let access = Access::new(&u, io.s);
    let conflicts = Conflicts::new(&u, p, io.s);
    let bytes = Bytes::new(&u, p, io.s, &access);
    let arbiter = Arbiter {
        u: &u,
        p,
        io,
        access,
        conflicts,
        bytes,
    };
    let moves = arbiter.moves();
    u.paragraph();
    let indices = u.indices(["i", "j", "k"]);
    let want = u.generate(|| {
        arbiter.compare(&moves, indices);
        arbiter.writes(indices);
        arbiter.banks(indices)
    });
    arbiter.show();
    arbiter.update(&moves);
    u.assertions(|| arbiter.checks(&moves, want, indices));
    Ok(vec![u.emit()?])
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_conflict_arbiter".into(),
        summary: "holds one access and serves one conflict-free group per cycle: in every bank \
                  the lowest waiting lane (the leader) and all waiting lanes on its row; a byte \
                  of their word is written by the lowest of them that enables it (MERGE = 1), or \
                  by the leader if it enables it (MERGE = 0)."
            .into(),
        parameters: p.text(&["n", "m", "L", "B", "R", "DB", "DG", "BCAST", "MERGE"]),
        timing: "an access accepted in cycle t is served from t+1 on, one group in each cycle \
                 with adv; the next can be accepted together with the last group"
            .into(),
        paper: "microarchitecture/conflict-arbiter.md; bank conflict degree as in all five papers"
            .into(),
        latency_cycles: 1,
    }
}

/// Shared by the parts of the description.
struct Arbiter<'a> {
    u: &'a UnitBuilder,
    p: &'a Params,
    io: Ports,
    access: Access,
    conflicts: Conflicts,
    bytes: Bytes,
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        req_valid: input(1, "an access is offered"),
        req_ready: output(1, "a request would be accepted at the end of this cycle"),
        req_mask: input(s.L, "active lanes"),
        req_access: input(1, "0: no lane is served, one empty group"),
        req_bank: input(s.L * s.m, "bank, m bits per lane"),
        req_row: input(s.L * s.R, "row, R bits per lane"),
        req_be: input(s.L * s.DB, "bytes to write, DB bits per lane"),
        adv: input(1, "the current group is served in this cycle"),
        grp_valid: output(1, "there is a group"),
        grp_last: output(1, "the group is the access's last"),
        grp_served: output(s.L, "lanes that the group serves"),
        grp_leader: output(s.L, "leaders of the group, at most one per bank"),
        grp_writes: output(
            s.L * s.DB,
            "bytes each lane writes if the access is a store; at most one lane writes each byte of a bank"
        ),
        grp_bank_valid: output(s.B, "banks that it uses"),
        grp_bank: output(s.L * s.m, "bank of each lane of the access"),
        grp_row: output(s.L * s.R, "row of each lane of the access"),
        grp_degree: output(
            s.DG,
            "groups of the access up to this one; 0 if it has no lane to serve"
        ),
    }
}

impl Ports {
    fn new(u: &UnitBuilder, p: &Params) -> Self {
        Ports::declared(u, p)
    }
}

/// The access that is served.
struct Access {
    busy: Signal,
    /// The group of this cycle is its last.
    last: Signal,
    /// Lanes that wait.
    pend: Signal,
    bank: Signal,
    row: Signal,
    /// Groups served so far.
    cnt: Signal,
    /// The access has a lane to serve.
    acc: Signal,
}

impl Access {
    fn new(u: &UnitBuilder, s: Sizes) -> Self {
        u.paragraph();
        let busy = u.register("busy", 1).reset(0);
        let last = u.register("last", 1).reset(0);
        let pend = u.register("pend", s.L).reset(0);
        Access {
            busy,
            last,
            pend,
            bank: u.register("bank", s.L * s.m).covered_by(pend),
            row: u.register("row", s.L * s.R).covered_by(pend),
            cnt: u.register("cnt", s.DG).reset(0),
            acc: u.register("acc", 1).reset(0),
        }
    }
}

/// Per lane, what earlier lanes do to it.
struct Conflicts {
    follows: Signal,
    kept_off: Signal,
    clash_coming: Signal,
    clash_remaining: Signal,
}

impl Conflicts {
    fn new(u: &UnitBuilder, p: &Params, s: Sizes) -> Self {
        u.section(
            "An access is compared when it comes: per lane, which earlier lanes want its bank \
             (`same_bank_q`), and which of these are in its way (`clash_q`):",
        );
        u.about(if p.BCAST {
            "those on another row."
        } else {
            "all of them, without broadcast."
        });
        u.about(
            "What a group serves follows from these bits and from who waits: a lane `follows` if \
             an earlier one waits for its bank; the first of these, the leader, keeps it off if \
             they clash.",
        );
        let [follows, kept_off] = u.wires(["follows", "kept_off"], s.L);
        u.about("Per lane: it clashes with an earlier lane that comes, or that remains.");
        let [clash_coming, clash_remaining] = u.wires(["clash_coming", "clash_remaining"], s.L);
        for of_earlier in [follows, kept_off, clash_coming, clash_remaining] {
            u.assign(of_earlier.at(0), 0);
        }
        Conflicts {
            follows,
            kept_off,
            clash_coming,
            clash_remaining,
        }
    }
}

/// The bytes of words that are written.
struct Bytes {
    be: Signal,
    merged: Option<Merged>,
}

/// If lanes on one word write its bytes together: for each byte, the lanes that wait to
/// write it, and the first of them.
#[derive(Clone, Copy)]
struct Merged {
    wants: Signal,
    /// Lanes with no earlier one on their word; with broadcast, several lanes are on one.
    first: Option<Signal>,
}

impl Bytes {
    fn new(u: &UnitBuilder, p: &Params, s: Sizes, access: &Access) -> Self {
        let merged = p.MERGE.then(|| Merged::new(u, p, s));
        if merged.is_none() {
            u.paragraph();
        }
        let be = u.register("be", s.L * s.DB).covered_by(access.pend);
        Bytes { be, merged }
    }
}

impl Merged {
    fn new(u: &UnitBuilder, p: &Params, s: Sizes) -> Self {
        let more = if p.BCAST {
            ", `first` those of them with no earlier one on their word. All lanes that wait on \
             the word of a served lane are served with it, so this is independent of the group"
        } else {
            ""
        };
        let about = "Each byte position by itself: `wants` has the lanes that wait to write byte k";
        u.section(&format!("{about}{more}."));
        Merged {
            wants: u.wire("wants", s.DB * s.L),
            first: p.BCAST.then(|| u.wire("first", s.DB * s.L)),
        }
    }
}

/// The inputs, and the signals that advance the state.
struct Moves {
    fire: Signal,
    step: Signal,
    coming: Signal,
    remain: Signal,
}

impl Arbiter<'_> {
    fn moves(&self) -> Moves {
        let (u, io, access) = (self.u, &self.io, &self.access);
        u.paragraph();
        u.assign(io.req_ready, !access.busy | (io.adv & access.last));
        Moves {
            fire: u.name("fire", io.req_valid & io.req_ready),
            step: u.name("step", access.busy & io.adv),
            coming: u.name("coming", io.req_mask.gated(io.req_access)),
            remain: u.name("remain", access.pend & self.conflicts.kept_off),
        }
    }

    /// Each lane with those before it.
    fn compare(&self, moves: &Moves, [i, j, k]: [Index; 3]) {
        let (u, conflicts, pend) = (self.u, &self.conflicts, self.access.pend);
        let s = self.io.s;
        let Moves { coming, remain, .. } = *moves;
        u.each("lane", i, (1, s.L), |i| {
            let same_bank = u.register("same_bank", i).covered_by(pend);
            let clash = u.register("clash", i).covered_by(pend);
            let clash_next = self.earlier_lanes(same_bank, clash, (i, j), moves.fire);
            let kept = clash & pend.low(i) & !conflicts.follows.low(i);
            let follows = (same_bank & pend.low(i)).any();
            u.assign(conflicts.follows.at(i), follows);
            u.assign(conflicts.kept_off.at(i), kept.any());
            let clashes = coming.at(i) & (clash_next & coming.low(i)).any();
            u.assign(conflicts.clash_coming.at(i), clashes);
            let clashes = remain.at(i) & (clash & remain.low(i)).any();
            u.assign(conflicts.clash_remaining.at(i), clashes);
            if let Some(Merged {
                wants,
                first: Some(first),
            }) = self.bytes.merged
            {
                let same_word = u.named("same_word", i, same_bank & !clash);
                u.each("lane_byte", k, (0, s.DB), |k| {
                    let earlier = (same_word & wants.part(k * s.L, i)).any();
                    let at = k * s.L + i;
                    u.assign(first.at(at), wants.at(at) & !earlier);
                });
            }
        });
    }

    /// Lane `i` of an access that comes, with all before it: the next state of
    /// `clash`.
    fn earlier_lanes(
        &self,
        same_bank: Signal,
        clash: Signal,
        (i, j): (Size, Index),
        fire: Signal,
    ) -> Signal {
        let (u, io, s) = (self.u, &self.io, self.io.s);
        let [same_bank_next, clash_next] = [same_bank, clash].map(|r| u.next_state_wire(r));
        u.each("earlier", j, (0, i), |j| {
            let bank = |lane: Size| io.req_bank.part(lane * s.m, s.m);
            let row = |lane: Size| io.req_row.part(lane * s.R, s.R);
            u.assign(same_bank_next.at(j), bank(i).is(bank(j)));
            let same_bank = same_bank_next.at(j);
            let clashes = if self.p.BCAST {
                same_bank & !row(i).is(row(j))
            } else {
                same_bank
            };
            u.assign(clash_next.at(j), clashes);
        });
        u.at_clock()
            .when(fire)
            .next(same_bank, same_bank_next)
            .next(clash, clash_next);
        clash_next
    }

    /// The bytes that each lane writes.
    fn writes(&self, [i, _, k]: [Index; 3]) {
        let (u, io, conflicts) = (self.u, &self.io, &self.conflicts);
        let (l, be_bits) = (io.s.L, io.s.DB);
        let be = self.bytes.be;
        match self.bytes.merged {
            Some(Merged { wants, first }) => u.each("of_byte", k, (0, be_bits), |k| {
                if let Some(first) = first {
                    u.assign(first.at(k * l), wants.at(k * l));
                }
                u.each("of_lane", i, (0, l), |i| {
                    let (by_byte, by_lane) = (k * l + i, i * be_bits + k);
                    u.assign(wants.at(by_byte), self.access.pend.at(i) & be.at(by_lane));
                    let writes = first.unwrap_or(wants).at(by_byte) & !conflicts.kept_off.at(i);
                    u.assign(io.grp_writes.at(by_lane), writes);
                });
            }),
            None => u.each("of_lane", i, (0, l), |i| {
                let enables = be.part(i * be_bits, be_bits);
                let writes = enables.gated(io.grp_leader.at(i));
                u.assign(io.grp_writes.part(i * be_bits, be_bits), writes);
            }),
        }
    }

    /// The banks that the group uses: per bank, the lanes that wait for it.
    fn banks(&self, [i, j, _]: [Index; 3]) -> Signal {
        let (u, access, s) = (self.u, &self.access, self.io.s);
        u.each("bank_used", j, (0, s.B), |j| {
            let want = u.wire("want", s.L);
            u.each("lane_wants", i, (0, s.L), |i| {
                let is_here = access.bank.part(i * s.m, s.m).is(j);
                u.assign(want.at(i), access.pend.at(i) & is_here);
            });
            u.assign(self.io.grp_bank_valid.at(j), want.any());
            want
        })
    }

    /// The group that is shown. Nothing waits while the arbiter is idle, so
    /// `pend` needs no gate.
    fn show(&self) {
        let (u, io) = (self.u, &self.io);
        let Access {
            busy,
            last,
            pend,
            cnt,
            ..
        } = self.access;
        u.paragraph();
        u.assign(io.grp_valid, busy);
        u.assign(io.grp_last, busy & last);
        u.assign(io.grp_served, pend & !self.conflicts.kept_off);
        u.assign(io.grp_leader, pend & !self.conflicts.follows);
        u.assign(io.grp_bank, self.access.bank);
        u.assign(io.grp_row, self.access.row);
        u.assign(io.grp_degree, (cnt + 1).gated(busy & self.access.acc));
    }

    /// The lanes that wait after this cycle, and whether one group serves them
    /// all: none conflicts with an earlier lane.
    fn update(&self, moves: &Moves) {
        let (u, io, conflicts) = (self.u, &self.io, &self.conflicts);
        let Access {
            busy,
            last,
            pend,
            cnt,
            ..
        } = self.access;
        let Moves {
            fire,
            coming,
            remain,
            ..
        } = *moves;
        u.paragraph();
        let busy_next = u.next_state(busy, fire | !last);
        let pend_next = u.next_state(pend, when(fire, coming).otherwise(remain));
        let alone =
            when(fire, !conflicts.clash_coming.any()).otherwise(!conflicts.clash_remaining.any());
        let last_next = u.next_state(last, alone);
        let cnt_next = when(fire, 0).when(last, cnt).otherwise(cnt + 1);
        let cnt_next = u.next_state(cnt, cnt_next);

        u.paragraph();
        u.at_clock()
            .when(fire | moves.step)
            .next(busy, busy_next)
            .next(last, last_next)
            .next(pend, pend_next)
            .next(cnt, cnt_next);
        u.at_clock().when(fire).next(self.access.acc, coming.any());
        u.at_clock()
            .when(fire)
            .next(self.access.bank, io.req_bank)
            .next(self.access.row, io.req_row)
            .next(self.bytes.be, io.req_be);
    }
}
