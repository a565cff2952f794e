//! The scratchpad: banks, arbiter, crossbars, locks, request and response stage.

mod banks;
mod mem0;
mod stages;

use crate::codes::op;
use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, TAG};
use crate::signal::{Bits, Expr, Signal, code, concat, or_all, when};
use crate::size::Size;
use crate::unit::{Index, UnitBuilder};
use crate::{spad_bank_ram, spad_conflict_arbiter, spad_crossbar, spad_lock_unit};
use banks::{Banks, banks, crossbar, locks};
use mem0::mem0;
use stages::{Group, Stage};

/// Emits `spad_scratchpad`, its parts first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    emit_as("spad_scratchpad", "TGW", p)
}

/// The scratchpad inside `spad_stream`.
const FOR_STREAM: &str = "spad_stream_scratchpad";

/// Emits `spad_stream_scratchpad`, the same with the stages and the tag of
/// `spad_stream`: a design may have both.
pub(crate) fn emit_for_stream(p: &Params) -> Result<Vec<Module>> {
    let own = Params {
        MS: p.SMS,
        ..p.clone()
    };
    emit_as(FOR_STREAM, "STG", &own)
}

/// The scratchpad under that name, its tag as wide as that parameter says.
fn emit_as(name: &str, tag: &str, p: &Params) -> Result<Vec<Module>> {
    let parts = Parts::emit(p)?;
    let u = UnitBuilder::new(doc(name, tag, p));
    u.machine_parameter(p, tag, TAG);
    let io = Ports::new(&u, p, tag);
    let request = request(&u, p, &io);
    let adv = request.adv;
    let (mut group, mut to_banks) = mem0(&u, p, &io, &parts, request);
    let mut groups = Vec::new();
    if p.MS > 2 {
        u.section("MEM1: a group on its way to the banks.");
        let mut mem1 = Stage::after(&u, 1, adv, group.valid);
        let moved = group.in_stage(&mut mem1, group.served);
        to_banks = to_banks.in_stage(&mut mem1);
        mem1.loaded_when(group.valid & adv);
        group = moved;
        groups.push(group);
    }
    let banks = banks(&u, p, &io, &parts, adv, group, &to_banks);
    let success = locks(&u, p, &io, &parts, &banks, group, &to_banks);
    let mut answer = answer(&u, &io, groups.len() + 1, adv, &banks, group, success);
    groups.push(answer.group);
    let mut passing = Passing {
        group,
        data: to_banks.data,
    };
    if p.MS == 4 {
        (answer, passing) = mem3(&u, &io, adv, &banks, answer, passing);
        groups.push(answer.group);
    }
    let words = crossbar(&u, &io, &parts, &banks, group, &to_banks, &answer);
    respond(&u, &io, adv, &groups, &answer, passing, words);
    let module = u.emit()?;
    Ok(parts.all().chain([module]).collect())
}

/// The modules that the scratchpad instantiates.
struct Parts {
    arbiter: Vec<Module>,
    crossbar: Vec<Module>,
    bank_ram: Vec<Module>,
    /// Empty for a machine without locks.
    lock_unit: Vec<Module>,
}

impl Parts {
    fn emit(p: &Params) -> Result<Self> {
        Ok(Parts {
            arbiter: spad_conflict_arbiter::emit_unit(p)?,
            crossbar: spad_crossbar::emit_unit(p)?,
            bank_ram: spad_bank_ram::emit_unit(p)?,
            lock_unit: match p.LOCKS {
                0 => Vec::new(),
                _ => spad_lock_unit::emit_unit(p)?,
            },
        })
    }

    fn all(self) -> impl Iterator<Item = Module> {
        let parts = [self.arbiter, self.crossbar, self.bank_ram, self.lock_unit];
        parts.into_iter().flatten()
    }
}

/// Sizes, by their names in the contract.
#[derive(Clone, Copy)]
struct Sizes {
    l: Size,
    m: Size,
    banks: Size,
    r: Size,
    rw: Size,
    d: Size,
    be: Size,
    dg: Size,
}

/// The ports and indices, by their names.
struct Ports {
    sizes: Sizes,
    clk: Signal,
    rst: Signal,
    req_valid: Signal,
    req_ready: Signal,
    req_op: Signal,
    req_mask: Signal,
    req_bank: Signal,
    req_row: Signal,
    req_lock: Signal,
    req_data: Signal,
    req_be: Signal,
    req_tag: Signal,
    resp_valid: Signal,
    resp_ready: Signal,
    resp_op: Signal,
    resp_mask: Signal,
    resp_tag: Signal,
    resp_data: Signal,
    resp_success: Signal,
    resp_error: Signal,
    resp_degree: Signal,
    stages: Signal,
    busy_more: Signal,
    blocked: Signal,
    i: Index,
    j: Index,
}

impl Ports {
    fn new(u: &UnitBuilder, p: &Params, tag: &str) -> Self {
        let [l, m, banks, r, rw] = u.sizes(p, ["L", "m", "B", "R", "RW"]);
        let [d, be, lk, dg, tag] = u.sizes(p, ["D", "DB", "LK", "DG", tag]);
        let [clk, rst] = u.clocked();
        let enables = "byte enables of a store, DB bits per lane";
        let words = "words read, or the data of a pass; else 0";
        let error = "unsupported operation, or a row beyond the capacity";
        let stages = "MEM1 and on, from bit 0: the stage holds the last group of an access";
        let busy_more = "bank conflict: the access in MEM0 stays for another cycle";
        let [i, j] = u.indices(["i", "j"]);
        let io = Ports {
            sizes: Sizes {
                l,
                m,
                banks,
                r,
                rw,
                d,
                be,
                dg,
            },
            clk,
            rst,
            req_valid: u.input("req_valid", 1, "a request is offered"),
            req_ready: u.output(
                "req_ready",
                1,
                "a request would be accepted at the end of this cycle",
            ),
            req_op: u.input("req_op", 3, "operation"),
            req_mask: u.input("req_mask", l, "active lanes"),
            req_bank: u.input("req_bank", l * m, "bank, m bits per lane"),
            req_row: u.input("req_row", l * r, "row, R bits per lane"),
            req_lock: u.input("req_lock", l * lk, "lock, LK bits per lane"),
            req_data: u.input("req_data", l * d, "data, D bits per lane"),
            req_be: u.input("req_be", l * be, enables),
            req_tag: u.input("req_tag", tag, "comes back with the response"),
            resp_valid: u.output("resp_valid", 1, "a response is offered"),
            resp_ready: u.input("resp_ready", 1, "a response would be accepted"),
            resp_op: u.output("resp_op", 3, "operation of the request"),
            resp_mask: u.output("resp_mask", l, "active lanes of the request"),
            resp_tag: u.output("resp_tag", tag, "tag of the request"),
            resp_data: u.output("resp_data", l * d, words),
            resp_success: u.output("resp_success", l, "lanes that took their lock"),
            resp_error: u.output("resp_error", 1, error),
            resp_degree: u.output("resp_degree", dg, "conflict degree"),
            stages: u.output("stages", p.MS - 1, stages),
            busy_more: u.output("busy_more", 1, busy_more),
            blocked: u.output("blocked", 1, "the response stage cannot take a group"),
            i,
            j,
        };
        u.outputs_depend_on(|output| match output {
            "req_ready" | "blocked" => vec!["resp_ready"],
            _ => Vec::new(),
        });
        u.unused(p.LOCKS == 0, io.req_lock, "the machine has no locks");
        io
    }
}

/// Properties of the offered request.
struct Request {
    /// The request is answered with an error.
    refused: Signal,
    /// The request takes part in arbitration.
    accessing: Signal,
    fire: Signal,
    /// All stages move.
    adv: Signal,
    /// The bytes that it stores.
    stored: Signal,
}

fn request(u: &UnitBuilder, p: &Params, io: &Ports) -> Request {
    let Sizes { l, r, be, .. } = io.sizes;
    u.section("Request: what is answered with an error takes no part in arbitration.");
    let stores = match p.LOCKS {
        0 => vec![op::STORE],
        _ => vec![op::STORE, op::STUL],
    };
    let last_operation = code(&op::FIELD, *stores.last().expect("it has one"));
    let accesses = !is_one_of(io.req_op, &[op::PASS]);
    let unsupported = io.req_op.above(last_operation);
    // Some row numbers have no row.
    let refused = if p.ROWS == 1 << p.R {
        unsupported
    } else {
        let beyond = u.wire("beyond", l);
        u.generate(|| {
            u.each("range", io.i, (0, l), |i| {
                let row = io.req_row.part(i * r, r);
                u.assign(beyond.at(i), io.req_mask.at(i) & row.at_least(p.ROWS));
            });
        });
        unsupported | (accesses.clone() & beyond.any())
    };
    let refused = u.name("refused", refused);
    let accessing = u.name("accessing", accesses & !refused);
    let fire = u.name("fire", io.req_valid & io.req_ready);
    u.note("All stages move together, unless the response cannot leave.");
    let adv = u.name("adv", io.resp_ready | !io.resp_valid);
    u.note("Gate the byte enables, so that a load does not toggle those of the banks.");
    let storing = u.name("storing", is_one_of(io.req_op, &stores));
    let stored = u.named("stored", l * be, io.req_be & storing.copies(l * be));
    Request {
        refused,
        accessing,
        fire,
        adv,
        stored,
    }
}

/// A group whose words the banks have shown.
struct Answer {
    group: Group,
    rdata: Signal,
    /// The lanes that took their lock; none where the machine has no locks.
    success: Option<Signal>,
}

/// The data of a PASS, in the stage before the response.
#[derive(Clone, Copy)]
struct Passing {
    group: Group,
    data: Signal,
}

/// The stage in which the banks show the words of `group`.
fn answer(
    u: &UnitBuilder,
    io: &Ports,
    number: usize,
    adv: Signal,
    banks: &Banks,
    group: Group,
    success: Option<Signal>,
) -> Answer {
    u.section(&format!("MEM{number}: the banks show the group's words."));
    let mut words = Stage::after(u, number, adv, group.valid);
    let read = banks.read.copies(io.sizes.l);
    let answered = group.in_stage(&mut words, group.served & read);
    let success = success.map(|success| words.holds("success", success));
    words.loaded_when(banks.access);
    Answer {
        group: answered,
        rdata: banks.rdata,
        success,
    }
}

/// MEM3: one more stage between the banks and the lanes.
fn mem3(
    u: &UnitBuilder,
    io: &Ports,
    adv: Signal,
    banks: &Banks,
    before: Answer,
    at_banks: Passing,
) -> (Answer, Passing) {
    let Sizes { l, d, .. } = io.sizes;
    u.section("What a PASS brings goes along.");
    let data = u
        .register("mem2_data", l * d)
        .covered_by(before.group.valid);
    let is_pass = is_one_of(at_banks.group.op, &[op::PASS]);
    u.at_clock()
        .when(banks.access & is_pass)
        .next(data, at_banks.data);
    u.section("MEM3: the words on their way to the lanes.");
    let mut mem3 = Stage::after(u, 3, adv, before.group.valid);
    let group = before.group.in_stage(&mut mem3, before.group.served);
    let rdata = mem3.holds("words", before.rdata);
    let success = before.success.map(|success| mem3.holds("success", success));
    mem3.loaded_when(before.group.valid & adv);
    let answer = Answer {
        group,
        rdata,
        success,
    };
    let group = before.group;
    (answer, Passing { group, data })
}

/// The response. `groups` are those of all stages from MEM1 on, `words` those
/// of the last one by lane.
fn respond(
    u: &UnitBuilder,
    io: &Ports,
    adv: Signal,
    groups: &[Group],
    answer: &Answer,
    passing: Passing,
    words: Signal,
) {
    let Sizes { l, d, .. } = io.sizes;
    let group = answer.group;
    u.section(
        "Response: the last group of an access. Data of what does not answer with any is zero.",
    );
    u.assign(io.resp_valid, group.valid & group.last);
    let is_pass = is_one_of(passing.group.op, &[op::PASS]);
    let pass = u.name("pass", passing.group.valid & adv & is_pass);
    let gathers = u.name("gathers", group.valid & !group.last);
    let answers = is_one_of(group.op, &[op::PASS, op::LOAD, op::LDLK]);
    let answers = u.name("answers", answers);
    let show = u.name("show", io.resp_valid & answers & !group.error);
    u.assign(io.resp_op, group.op.gated(io.resp_valid));
    u.assign(io.resp_mask, group.mask.gated(io.resp_valid));
    u.assign(io.resp_tag, group.tag.gated(io.resp_valid));
    match answer.success {
        Some(success) => u.assign(io.resp_success, success.gated(io.resp_valid)),
        None => u.assign(io.resp_success, 0),
    }
    u.assign(io.resp_error, group.error & io.resp_valid);
    u.assign(io.resp_degree, group.degree.gated(io.resp_valid));
    let last = groups[..groups.len() - 1].iter().rev();
    let last = last.map(|group| group.valid & group.last);
    u.assign(
        io.stages,
        concat([io.resp_valid.into()].into_iter().chain(last)),
    );

    u.section("Words of earlier groups, or the data of a PASS.");
    let acc = u.register("acc", l * d);
    let acc = acc.without_reset("an access writes it before it reads it");
    let [word, passed] = u.wires(["word", "passed"], l * d);
    u.generate(|| {
        u.each("lane", io.i, (0, l), |i| {
            let lane = |words: Signal| words.part(i * d, d);
            let newest = when(group.served.at(i), lane(words)).otherwise(lane(acc));
            u.assign(lane(word), newest);
            let active = passing.group.mask.at(i).copies(d);
            u.assign(lane(passed), lane(passing.data) & active);
            let shown = (show & group.mask.at(i)).copies(d);
            u.assign(lane(io.resp_data), lane(word) & shown);
        });
    });
    u.at_clock()
        .next(acc, when(pass, passed).when(gathers, word));
}

fn doc(name: &str, tag: &str, p: &Params) -> UnitDoc {
    let inside = match name {
        FOR_STREAM => " Inside spad_stream: MS = [stream] mem_stages.",
        _ => "",
    };
    UnitDoc {
        name: name.into(),
        summary: format!(
            "the scratchpad of L lanes and B banks in MS stages: loads, stores, load-and-lock, \
             store-and-unlock, one conflict-free group a cycle; lanes on one word are served \
             together. Operations: 0 pass, 1 load, 2 store, 3 load and lock, 4 store and unlock; \
             others are answered with an error.{inside}"
        ),
        parameters: p.text(&[
            "n", "m", "L", "B", "R", "ROWS", "D", "LOCKS", "LKG", "MERGE", "MS", tag,
        ]),
        timing: "an access of degree d answers MS - 1 + max(1, d) cycles after the cycle in which \
                 it fires (with locks LKG * max(1, d)); one access per cycle at d <= 1"
            .into(),
        paper: "microarchitecture/scratchpad.md; atomics paper, section II".into(),
        latency_cycles: p.MS as u32,
    }
}

/// Whether the operation is one of these.
fn is_one_of(operation: Signal, operations: &[u8]) -> Expr {
    let is = |value: &u8| operation.is(code(&op::FIELD, *value));
    or_all(operations.iter().map(is))
}
