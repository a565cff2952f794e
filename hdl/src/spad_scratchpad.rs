//! The scratchpad: banks, arbiter, crossbars, locks, request and response stage.

use crate::codes::op;
use crate::module::{Module, Result, UnitDoc, top};
use crate::params::Params;
use crate::signal::{Bits, Expr, Operand, Signal, code, concat, or_all, when};
use crate::unit::Unit;
use crate::{spad_bank_ram, spad_conflict_arbiter, spad_crossbar, spad_lock_unit};

/// Emits `spad_scratchpad` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let arbiter = spad_conflict_arbiter::emit_unit(p)?;
    let crossbar = spad_crossbar::emit_unit(p)?;
    let bank_ram = spad_bank_ram::emit_unit(p)?;
    let lock_unit = match p.LOCKS {
        0 => Vec::new(),
        _ => spad_lock_unit::emit_unit(p)?,
    };
    let u = Unit::new(doc(p));
    let [l, m, banks, r, rw] = u.sizes(p, ["L", "m", "B", "R", "RW"]);
    let [d, be, lk, dg, tgw] = u.sizes(p, ["D", "BE", "LK", "DG", "TGW"]);
    let [clk, rst] = u.clocked();
    let req_valid = u.input("req_valid", 1, "a request is offered");
    let req_ready = u.output("req_ready", 1, "it is taken at the end of this cycle");
    let req_op = u.input("req_op", 3, "operation");
    let req_mask = u.input("req_mask", l, "active lanes");
    let req_bank = u.input("req_bank", l * m, "bank, m bits per lane");
    let req_row = u.input("req_row", l * r, "row, R bits per lane");
    let req_lock = u.input("req_lock", l * lk, "lock, LK bits per lane");
    let req_data = u.input("req_data", l * d, "data, D bits per lane");
    let about = "byte enables of a store, BE bits per lane";
    let req_be = u.input("req_be", l * be, about);
    let req_tag = u.input("req_tag", tgw, "comes back with the response");
    let resp_valid = u.output("resp_valid", 1, "a response is offered");
    let resp_ready = u.input("resp_ready", 1, "it is taken");
    let resp_op = u.output("resp_op", 3, "operation of the request");
    let resp_mask = u.output("resp_mask", l, "active lanes of the request");
    let resp_tag = u.output("resp_tag", tgw, "tag of the request");
    let about = "words read, or the data of a pass; else 0";
    let resp_data = u.output("resp_data", l * d, about);
    let resp_success = u.output("resp_success", l, "lanes that took their lock");
    let about = "unsupported operation, or a row beyond the capacity";
    let resp_error = u.output("resp_error", 1, about);
    let resp_degree = u.output("resp_degree", dg, "conflict degree");
    let about = "MEM1 and on, from bit 0: the stage holds the last group of an access";
    let stages = u.output("stages", p.MS - 1, about);
    let about = "bank conflict: the access in MEM0 stays for another cycle";
    let busy_more = u.output("busy_more", 1, about);
    let blocked = u.output("blocked", 1, "the response stage cannot take a group");
    u.outputs_depend_on(|output| match output {
        "req_ready" | "blocked" => vec!["resp_ready"],
        _ => Vec::new(),
    });
    u.unused(p.LOCKS == 0, req_lock, "the machine has no locks");
    let [i, b] = u.indices(["i", "b"]);

    u.section("Request: what is answered with an error takes no part in arbitration.");
    let of_locks = [op::LDLK, op::STUL];
    let stores = match p.LOCKS {
        0 => vec![op::STORE],
        _ => vec![op::STORE, op::STUL],
    };
    let last_operation = code(&op::FIELD, *stores.last().expect("it has one"));
    let accesses = !is_one_of(req_op, &[op::PASS]);
    let unsupported = req_op.above(last_operation);
    // There are row numbers without a row.
    let refused = if p.ROWS == 1 << p.R {
        unsupported
    } else {
        let beyond = u.wire("beyond", l);
        u.generate(|| {
            u.each("range", i, (0, l), |i| {
                let row = req_row.part(i * r, r);
                u.assign(beyond.at(i), req_mask.at(i) & row.at_least(p.ROWS));
            });
        });
        unsupported | (accesses.clone() & beyond.any())
    };
    let refused = u.name("refused", refused);
    let accessing = u.name("accessing", accesses & !refused);
    let fire = u.name("fire", req_valid & req_ready);
    u.note("All stages move together, unless the response cannot leave.");
    let adv = u.name("adv", resp_ready | !resp_valid);
    u.note("The byte enables of a bank do not toggle with those of a load.");
    let storing = u.name("storing", is_one_of(req_op, &stores));
    let stored = u.named("stored", l * be, req_be & storing.copies(l * be));

    u.section("MEM0: the request in the arbiter. It has no reset: `mem0_valid` covers it.");
    let mem0_valid = u.wire("mem0_valid", 1);
    let mut request = Stage::new(&u, 0, mem0_valid);
    let op = request.holds("op", req_op);
    let mask = request.holds("mask", req_mask);
    let data = request.holds("data", req_data);
    let tag = request.holds("tag", req_tag);
    let error = request.holds("error", refused);
    let locks = (p.LOCKS > 0).then(|| {
        let locking = accessing & is_one_of(req_op, &of_locks);
        [
            request.holds("locking", locking),
            request.holds("lock", req_lock),
        ]
    });
    request.loaded_when(fire);
    // A group that locks stays for several windows.
    let windows = p.LOCKS > 0 && p.LKG > 1;
    let window = windows.then(|| u.register("mem0_window", p.LKW).reset(0));
    let grp_last = u.wire("grp_last", 1);
    let last_window = match (locks, window) {
        (Some([locking, _]), Some(window)) => {
            let locks = mem0_valid & adv & locking;
            u.at_clock().when(locks).next(window, window + 1);
            u.name("last_window", !locking | window.is(p.LKG - 1))
        }
        _ => u.named("last_window", 1, 1),
    };
    let mem0_last = u.name("mem0_last", grp_last & last_window);
    u.assign(busy_more, mem0_valid & !mem0_last);
    u.assign(blocked, !adv);

    u.paragraph();
    let [served, leader] = u.wires(["mem0_served", "mem0_leader"], l);
    let writes = u.wire("mem0_writes", l * be);
    let bank_valid = u.wire("mem0_bank_valid", banks);
    let (bank, row) = (u.wire("mem0_bank", l * m), u.wire("mem0_row", l * r));
    let degree = u.wire("mem0_degree", dg);
    u.instance(top(&arbiter), "arbiter")
        .same([clk, rst, req_valid, req_ready, req_mask])
        .port("req_access", accessing)
        .same([req_bank, req_row])
        .port("req_be", stored)
        .port("adv", adv & last_window)
        .port("grp_valid", mem0_valid)
        .same([grp_last])
        .port("grp_served", served)
        .port("grp_leader", leader)
        .port("grp_writes", writes)
        .port("grp_bank_valid", bank_valid)
        .port("grp_bank", bank)
        .port("grp_row", row)
        .port("grp_degree", degree)
        .done();
    u.note("The banks that a group writes: one bit for all would have to drive every memory.");
    let mem0_stores = u.name("mem0_stores", is_one_of(op, &[op::STORE, op::STUL]));
    let bank_write = u.named("mem0_bank_write", banks, bank_valid.gated(mem0_stores));
    let mem0 = Group {
        valid: mem0_valid,
        last: mem0_last,
        served,
        bank,
        degree,
        op,
        mask,
        tag,
        error,
    };
    let mut to_banks = ToBanks {
        leader,
        bank_valid,
        bank_write,
        row,
        data,
        writes,
        locks,
        window,
    };

    // The stages behind MEM0, up to the response.
    let mut groups = Vec::new();
    let mut group = mem0;
    if p.MS > 2 {
        u.section("MEM1: a group on its way to the banks.");
        let mut mem1 = Stage::behind(&u, 1, adv, group.valid);
        let moved = group.in_stage(&mut mem1, group.served);
        to_banks = to_banks.in_stage(&mut mem1);
        mem1.loaded_when(group.valid & adv);
        group = moved;
        groups.push(group);
    }

    u.section("The banks.");
    let reason = "rows beyond the capacity are refused before";
    let bank_row = if p.RW < p.R {
        u.wire_in_part("bank_row", banks * r, reason)
    } else {
        u.wire("bank_row", banks * r)
    };
    let bank_wdata = u.wire("bank_wdata", banks * d);
    let bank_wbe = u.wire("bank_wbe", banks * be);
    let bank_rdata = u.wire("bank_rdata", banks * d);
    let access = u.name("access", group.valid & adv);
    let read = u.name("read", is_one_of(group.op, &[op::LOAD, op::LDLK]));
    u.generate(|| {
        u.each("bank", b, (0, banks), |b| {
            u.instance(top(&bank_ram), "ram")
                .same([clk, rst])
                .port("en", access & to_banks.bank_valid.at(b))
                .port("we", to_banks.bank_write.at(b))
                .port("be", bank_wbe.part(b * be, be))
                .port("row", bank_row.part(b * r, rw))
                .port("wdata", bank_wdata.part(b * d, d))
                .port("dout", bank_rdata.part(b * d, d))
                .done();
        });
    });

    let mut succeeded = to_banks.locks.map(|[locking, lock]| {
        u.section(
            "The lock bits are read and written in the cycle of the data. `success` has the \
             lanes of the access's earlier groups and windows.",
        );
        let success = u.register("success", l).reset(0);
        let lk_success = u.wire("lk_success", l);
        let reason = "for formal; refused operations never get here";
        let lk_error = u.wire_in_part("lk_error", 1, reason);
        let lk_held = u.wire_in_part("lk_held", p.LOCKS, reason);
        let window: Operand = to_banks.window.map_or(0.into(), Operand::from);
        u.instance(top(&lock_unit), "locks")
            .same([clk, rst])
            .port("lk_valid", access & locking)
            .port("lk_win", window)
            .port("lk_op", group.op)
            .port("lk_req", to_banks.leader)
            .port("lk_addr", lock)
            .same([lk_success, lk_error, lk_held])
            .done();
        let succeeded = u.named("succeeded", l, success | lk_success);
        u.at_clock()
            .when(access)
            .next(success, succeeded.gated(!group.last));
        succeeded
    });

    let number = groups.len() + 1;
    u.section(&format!(
        "MEM{number}: the banks show the group's words. No reset: `mem{number}_valid` covers it."
    ));
    let from_banks = group;
    let mut words = Stage::behind(&u, number, adv, group.valid);
    group = from_banks.in_stage(&mut words, from_banks.served & read.copies(l));
    succeeded = succeeded.map(|succeeded| words.holds("success", succeeded));
    words.loaded_when(access);
    groups.push(group);

    // What a PASS brings is taken over from the stage in front of the response.
    let (mut passing, mut pass_data, mut rdata) = (from_banks, to_banks.data, bank_rdata);
    if p.MS == 4 {
        u.section("What a PASS brings goes along.");
        pass_data = u.register("mem2_data", l * d).covered_by(group.valid);
        let is_pass = is_one_of(from_banks.op, &[op::PASS]);
        u.at_clock()
            .when(access & is_pass)
            .next(pass_data, to_banks.data);
        u.section("MEM3: the words on their way to the lanes.");
        passing = group;
        let mut mem3 = Stage::behind(&u, 3, adv, group.valid);
        group = passing.in_stage(&mut mem3, passing.served);
        rdata = mem3.holds("words", bank_rdata);
        succeeded = succeeded.map(|succeeded| mem3.holds("success", succeeded));
        mem3.loaded_when(passing.valid & adv);
        groups.push(group);
    }

    u.section("To the banks, and back to the lanes.");
    let lane_rdata = u.wire("lane_rdata", l * d);
    u.instance(top(&crossbar), "crossbar")
        .port("leader", to_banks.leader)
        .port("lane_bank", from_banks.bank)
        .port("lane_row", to_banks.row)
        .port("lane_data", to_banks.data)
        .port("lane_writes", to_banks.writes)
        .same([bank_row, bank_wdata, bank_wbe])
        .port("sel_valid", group.served)
        .port("sel_bank", group.bank)
        .port("bank_rdata", rdata)
        .same([lane_rdata])
        .done();

    u.section(
        "Response: the last group of an access. Data of what does not answer with any is zero.",
    );
    u.assign(resp_valid, group.valid & group.last);
    let is_pass = is_one_of(passing.op, &[op::PASS]);
    let pass = u.name("pass", passing.valid & adv & is_pass);
    let gathers = u.name("gathers", group.valid & !group.last);
    let answers = is_one_of(group.op, &[op::PASS, op::LOAD, op::LDLK]);
    let answers = u.name("answers", answers);
    let show = u.name("show", resp_valid & answers & !group.error);
    u.assign(resp_op, group.op.gated(resp_valid));
    u.assign(resp_mask, group.mask.gated(resp_valid));
    u.assign(resp_tag, group.tag.gated(resp_valid));
    match succeeded {
        Some(success) => u.assign(resp_success, success.gated(resp_valid)),
        None => u.assign(resp_success, 0),
    }
    u.assign(resp_error, group.error & resp_valid);
    u.assign(resp_degree, group.degree.gated(resp_valid));
    let last = groups[..groups.len() - 1].iter().rev();
    let last = last.map(|group| group.valid & group.last);
    u.assign(stages, concat([resp_valid.into()].into_iter().chain(last)));

    u.section("Words of earlier groups, or the data of a PASS.");
    let acc = u.register("acc", l * d);
    let acc = acc.without_reset("an access writes it before it looks at it");
    let [word, passed] = u.wires(["word", "passed"], l * d);
    u.generate(|| {
        u.each("lane", i, (0, l), |i| {
            let lane = |words: Signal| words.part(i * d, d);
            let newest = when(group.served.at(i), lane(lane_rdata)).otherwise(lane(acc));
            u.assign(lane(word), newest);
            let active = passing.mask.at(i).copies(d);
            u.assign(lane(passed), lane(pass_data) & active);
            let shown = (show & group.mask.at(i)).copies(d);
            u.assign(lane(resp_data), lane(word) & shown);
        });
    });
    u.at_clock()
        .next(acc, when(pass, passed).when(gathers, word));
    let module = u.emit()?;
    let parts = [arbiter, crossbar, bank_ram, lock_unit];
    Ok(parts.into_iter().flatten().chain([module]).collect())
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_scratchpad".into(),
        summary:
            "the scratchpad of L lanes and B banks in MS stages: loads, stores, load-and-lock, \
                  store-and-unlock, one conflict-free group a cycle; lanes on one word are \
                  served together. Operations: 0 pass, 1 load, 2 store, 3 load and lock, \
                  4 store and unlock; others are answered with an error."
                .into(),
        parameters: p.text(&[
            "n", "m", "L", "B", "R", "ROWS", "D", "LOCKS", "LKG", "MERGE", "MS", "TGW",
        ]),
        timing: "an access of degree d answers MS - 1 + max(1, d) cycles after the cycle in which \
                 it fires (with locks LKG * max(1, d)); one access per cycle at d <= 1"
            .into(),
        paper: "microarchitecture/scratchpad.md; atomics paper, section II".into(),
        latency_cycles: p.MS as u32,
    }
}

/// The operation is one of these.
fn is_one_of(operation: Signal, operations: &[u8]) -> Expr {
    let is = |value: &u8| operation.is(code(&op::FIELD, *value));
    or_all(operations.iter().map(is))
}

/// The registers of a stage, which are all loaded in the same cycles.
struct Stage<'u> {
    unit: &'u Unit,
    number: usize,
    /// The stage holds a group.
    valid: Signal,
    values: Vec<(Signal, Expr)>,
}

impl<'u> Stage<'u> {
    fn new(unit: &'u Unit, number: usize, valid: Signal) -> Self {
        Stage {
            unit,
            number,
            valid,
            values: Vec::new(),
        }
    }

    /// The stage that holds in the next cycle what another one holds now.
    fn behind(unit: &'u Unit, number: usize, adv: Signal, holds: Signal) -> Self {
        let valid = unit.register(&format!("mem{number}_valid"), 1).reset(0);
        unit.at_clock().when(adv).next(valid, holds);
        Stage::new(unit, number, valid)
    }

    /// A register that takes this value.
    fn holds(&mut self, name: &str, value: impl Into<Expr>) -> Signal {
        let value = value.into();
        let name = format!("mem{}_{name}", self.number);
        let register = self
            .unit
            .register(&name, value.width)
            .covered_by(self.valid);
        self.values.push((register, value));
        register
    }

    fn loaded_when(self, condition: impl Into<Expr>) {
        let clocked = self.unit.at_clock().when(condition);
        for (register, value) in self.values {
            clocked.next(register, value);
        }
    }
}

/// A group of an access in a stage: what its answer needs.
#[derive(Clone, Copy)]
struct Group {
    valid: Signal,
    last: Signal,
    served: Signal,
    bank: Signal,
    degree: Signal,
    op: Signal,
    mask: Signal,
    tag: Signal,
    error: Signal,
}

impl Group {
    /// It goes on to a stage; the lanes `served` get words there.
    fn in_stage(&self, stage: &mut Stage, served: impl Into<Expr>) -> Self {
        Group {
            valid: stage.valid,
            last: stage.holds("last", self.last),
            served: stage.holds("served", served),
            bank: stage.holds("bank", self.bank),
            degree: stage.holds("degree", self.degree),
            op: stage.holds("op", self.op),
            mask: stage.holds("mask", self.mask),
            tag: stage.holds("tag", self.tag),
            error: stage.holds("error", self.error),
        }
    }
}

/// What banks and locks need of a group, too.
struct ToBanks {
    leader: Signal,
    bank_valid: Signal,
    bank_write: Signal,
    row: Signal,
    data: Signal,
    writes: Signal,
    /// It takes or clears locks, and which.
    locks: Option<[Signal; 2]>,
    window: Option<Signal>,
}

impl ToBanks {
    /// It goes on to a stage.
    fn in_stage(&self, stage: &mut Stage) -> Self {
        ToBanks {
            leader: stage.holds("leader", self.leader),
            bank_valid: stage.holds("bank_valid", self.bank_valid),
            bank_write: stage.holds("bank_write", self.bank_write),
            row: stage.holds("row", self.row),
            data: stage.holds("data", self.data),
            writes: stage.holds("writes", self.writes),
            locks: self.locks.map(|[locking, lock]| {
                [stage.holds("locking", locking), stage.holds("lock", lock)]
            }),
            window: self.window.map(|window| stage.holds("window", window)),
        }
    }
}
