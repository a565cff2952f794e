//! The conflict arbiter: one conflict-free group of an access per cycle.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, when};
use crate::unit::Unit;

/// Emits `spad_conflict_arbiter`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let u = Unit::new(UnitDoc {
        name: "spad_conflict_arbiter".into(),
        summary: "holds one access and serves one conflict-free group per cycle: in every bank \
                  the lowest waiting lane (the leader) and all waiting lanes on its row; a byte \
                  of their word is written by the lowest of them that enables it (MERGE = 1), or \
                  all bytes by the leader (MERGE = 0)."
            .into(),
        parameters: p.text(&["n", "m", "L", "B", "R", "BE", "DG", "BCAST", "MERGE"]),
        timing: "an access that fires in cycle t is in the groups of t+1 and on, one for each \
                 cycle with adv; the next may fire with the last group"
            .into(),
        paper: "microarchitecture/conflict-arbiter.md; bank conflict degree as in all five papers"
            .into(),
        latency_cycles: 1,
    });
    let s = u.all_sizes(p);
    let [l, m, r, banks, be_bits] = u.sizes(p, ["L", "m", "R", "B", "BE"]);
    u.clocked();
    let req_valid = u.input("req_valid", 1, "an access is offered");
    let req_ready = u.output(
        "req_ready",
        1,
        "the request is accepted at the end of this cycle",
    );
    let req_mask = u.input("req_mask", l, "active lanes");
    let req_access = u.input("req_access", 1, "0: no lane is served, one empty group");
    let req_bank = u.input("req_bank", l * m, "bank, m bits per lane");
    let req_row = u.input("req_row", l * r, "row, R bits per lane");
    let req_be = u.input("req_be", l * be_bits, "bytes to write, BE bits per lane");
    let adv = u.input("adv", 1, "the present group is served in this cycle");
    let grp_valid = u.output("grp_valid", 1, "there is a group");
    let grp_last = u.output("grp_last", 1, "the group is the access's last");
    let grp_served = u.output("grp_served", l, "lanes that the group serves");
    let grp_leader = u.output(
        "grp_leader",
        l,
        "leaders of the group, at most one per bank",
    );
    let grp_writes = u.output(
        "grp_writes",
        l * be_bits,
        "bytes each lane writes if the access is a store; a byte of a bank is of one lane at most",
    );
    let grp_bank_valid = u.output("grp_bank_valid", banks, "banks that it uses");
    let grp_bank = u.output("grp_bank", l * m, "bank of each lane of the access");
    let grp_row = u.output("grp_row", l * r, "row of each lane of the access");
    let about = "groups of the access up to this one; 0 if it has no lane to serve";
    let grp_degree = u.output("grp_degree", s.DG, about);
    u.unused(!p.MERGE, req_be, "the leader writes its whole word");

    u.paragraph();
    let busy = u.register("busy", 1).reset(0);
    let last = u.register("last", 1).reset(0);
    let pend = u.register("pend", l).reset(0);
    let bank = u.register("bank", l * m).covered_by(pend);
    let row = u.register("row", l * r).covered_by(pend);
    let cnt = u.register("cnt", s.DG).reset(0);
    let acc = u.register("acc", 1).reset(0);
    let in_the_way = if p.BCAST {
        "those on another row."
    } else {
        "all of them, without broadcast."
    };
    u.section(
        "An access is compared when it comes: per lane, which earlier lanes want its bank \
         (`same_bank_q`), and which of these are in its way (`clash_q`):",
    );
    u.about(in_the_way);
    u.about(
        "What a group serves follows from these bits and from who waits: a lane `follows` if an \
         earlier one waits for its bank; the first of these, the leader, keeps it off if they \
         clash.",
    );
    let [follows, kept_off] = u.wires(["follows", "kept_off"], l);
    u.about("Per lane: it clashes with an earlier lane that comes, or that remains.");
    let [clash_coming, clash_remaining] = u.wires(["clash_coming", "clash_remaining"], l);
    for of_earlier in [follows, kept_off, clash_coming, clash_remaining] {
        u.assign(of_earlier.at(0), 0);
    }
    // Who waits to write a byte, and who of them comes first.
    let bytes = p.MERGE.then(|| {
        let more = if p.BCAST {
            ", `first` those of them with no earlier one on their word. Whoever waits on the \
                 word of a served lane is served with it, so that this need not know the group"
        } else {
            ""
        };
        let about = "Byte k of all lanes apart: `wants` has those that wait to write it";
        u.section(&format!("{about}{more}."));
        let be = u.register("be", l * be_bits).covered_by(pend);
        let wants = u.wire("wants", be_bits * l);
        (be, wants, p.BCAST.then(|| u.wire("first", be_bits * l)))
    });

    // What comes in, what moves on.
    u.paragraph();
    u.assign(req_ready, !busy | (adv & last));
    let fire = u.name("fire", req_valid & req_ready);
    let step = u.name("step", busy & adv);
    let coming = u.name("coming", req_mask.gated(req_access));
    let remain = u.name("remain", pend & kept_off);

    u.paragraph();
    let [i, j, k] = u.indices(["i", "j", "k"]);
    let lane = |i| {
        let same_bank = u.register("same_bank", i).covered_by(pend);
        let clash = u.register("clash", i).covered_by(pend);
        let [same_bank_next, clash_next] = [same_bank, clash].map(|r| u.next_state_wire(r));
        u.each("earlier", j, (0, i), |j| {
            let same_bank = req_bank.part(i * m, m).is(req_bank.part(j * m, m));
            u.assign(same_bank_next.at(j), same_bank);
            let same_bank = same_bank_next.at(j);
            let other_row = !req_row.part(i * r, r).is(req_row.part(j * r, r));
            u.assign(
                clash_next.at(j),
                if p.BCAST {
                    same_bank & other_row
                } else {
                    same_bank
                },
            );
        });
        u.at_clock()
            .when(fire)
            .next(same_bank, same_bank_next)
            .next(clash, clash_next);
        let kept = clash & pend.low(i) & !follows.low(i);
        u.assign(follows.at(i), (same_bank & pend.low(i)).any());
        u.assign(kept_off.at(i), kept.any());
        u.assign(
            clash_coming.at(i),
            coming.at(i) & (clash_next & coming.low(i)).any(),
        );
        u.assign(
            clash_remaining.at(i),
            remain.at(i) & (clash & remain.low(i)).any(),
        );
        if let Some((_, wants, Some(first))) = bytes {
            let same_word = u.named("same_word", i, same_bank & !clash);
            u.each("lane_byte", k, (0, be_bits), |k| {
                let earlier = (same_word & wants.part(k * l, i)).any();
                u.assign(first.at(k * l + i), wants.at(k * l + i) & !earlier);
            });
        }
    };
    u.generate(|| {
        u.each("lane", i, (1, l), lane);
        match bytes {
            Some((be, wants, first)) => u.each("of_byte", k, (0, be_bits), |k| {
                if let Some(first) = first {
                    u.assign(first.at(k * l), wants.at(k * l));
                }
                u.each("of_lane", i, (0, l), |i| {
                    u.assign(wants.at(k * l + i), pend.at(i) & be.at(i * be_bits + k));
                    let writes = first.unwrap_or(wants).at(k * l + i) & !kept_off.at(i);
                    u.assign(grp_writes.at(i * be_bits + k), writes);
                });
            }),
            None => u.each("of_lane", i, (0, l), |i| {
                let writes = grp_leader.at(i).copies(be_bits);
                u.assign(grp_writes.part(i * be_bits, be_bits), writes);
            }),
        }
        u.each("bank_used", j, (0, banks), |j| {
            let want = u.wire("want", l);
            u.each("lane_wants", i, (0, l), |i| {
                u.assign(want.at(i), pend.at(i) & bank.part(i * m, m).is(j));
            });
            u.assign(grp_bank_valid.at(j), want.any());
        });
    });

    // The group that is shown. Nothing waits while the arbiter is idle, so
    // `pend` needs no gate.
    u.paragraph();
    u.assign(grp_valid, busy);
    u.assign(grp_last, busy & last);
    u.assign(grp_served, pend & !kept_off);
    u.assign(grp_leader, pend & !follows);
    u.assign(grp_bank, bank);
    u.assign(grp_row, row);
    u.assign(grp_degree, (cnt + 1).gated(busy & acc));

    // Who waits behind this cycle, and whether one group serves them all: nobody
    // clashes with an earlier lane.
    u.paragraph();
    let busy_next = u.next_state(busy, fire | !last);
    let pend_next = u.next_state(pend, when(fire, coming).otherwise(remain));
    let alone = when(fire, !clash_coming.any()).otherwise(!clash_remaining.any());
    let last_next = u.next_state(last, alone);
    let cnt_next = u.next_state(cnt, when(fire, 0).when(last, cnt).otherwise(cnt + 1));

    u.paragraph();
    u.at_clock()
        .when(fire | step)
        .next(busy, busy_next)
        .next(last, last_next)
        .next(pend, pend_next)
        .next(cnt, cnt_next);
    u.at_clock().when(fire).next(acc, coming.any());
    u.about("No reset: `pend_q` covers it.");
    let held = u
        .at_clock()
        .when(fire)
        .next(bank, req_bank)
        .next(row, req_row);
    if let Some((be, ..)) = bytes {
        held.next(be, req_be);
    }
    Ok(vec![u.emit()?])
}
