//! The scratchpad after a request/grant/valid port per lane, with the hash of
//! the lanes.

use crate::bundle::bundle;
use crate::bus::{self, Bus, Side};
use crate::codes::{lock_hash, op};
use crate::hashed_lanes::{Lanes, Writing};
use crate::machine::Machine;
use crate::module::{Module, Result, UnitDoc, top};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::property::offer_is_held;
use crate::signal::{Bits, Operand, Signal, code, when};
use crate::unit::{Index, Unit};

ports! {
    /// The ports of the lanes, after those that write the registers of the hash.
    Asks(s) {
        tcdm_req: input(s.L, "the lane asks"),
        tcdm_gnt: output(
            s.L,
            "a lane that asks is taken at the end of this cycle; the same for all lanes"
        ),
        tcdm_add: input(s.L * s.n, "word address, n bits per lane"),
        tcdm_wen: input(s.L, "1 read, 0 write"),
        tcdm_wdata: input(s.L * s.D, "data, D bits per lane"),
        tcdm_be: input(s.L * s.BE, "byte enables of a write, BE bits per lane"),
    }
}

/// The ports that answer; registers.
#[derive(Clone, Copy)]
struct Answers {
    r_valid: Signal,
    r_rdata: Signal,
    r_opc: Signal,
}

impl Answers {
    fn new(u: &Unit, s: &Sizes) -> Self {
        let answer = |name, width, about| u.output_register(name, width, about).reset(0);
        let valid = "the lane's oldest request is answered; there is no ready";
        let error = "the address is beyond the capacity: nothing was accessed";
        Answers {
            r_valid: answer("tcdm_r_valid", s.L, valid),
            r_rdata: answer("tcdm_r_rdata", s.L * s.D, "the word read; else 0"),
            r_opc: answer("tcdm_r_opc", s.L, error),
        }
    }
}

bundle! {
    /// The lanes that ask in one cycle.
    Batch(s) { req: s.L, wen: s.L, addr: s.L * s.n, data: s.L * s.D, be: s.L * s.BE }
}

/// What the unit is described with.
struct Tcdm<'a> {
    u: &'a Unit,
    p: &'a Params,
    s: &'a Sizes,
    bus: &'a Bus,
    clock: [Signal; 2],
    writing: &'a Writing,
    io: Asks,
    answers: Answers,
    idle: Signal,
}

/// The batch at the head of those that wait.
struct Head {
    valid: Signal,
    /// It leaves.
    done: Signal,
    batch: Batch,
    bank: Signal,
    row: Signal,
}

/// The part of a batch that is offered to the scratchpad: its reads, its
/// writes, or the lanes beyond the capacity.
struct Part {
    lanes: Signal,
    op: Signal,
    /// It is the last of its batch.
    last: Signal,
    /// Of the parts that count as done before the last, which this one is.
    is_loads: Signal,
    is_stores: Signal,
    did_loads: Signal,
    did_stores: Signal,
}

/// Emits `spad_tcdm`, its parts first.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<Vec<Module>> {
    let bus = Bus::new(p, machine)?;
    let u = Unit::new(doc(p));
    let s = &u.all_sizes(p);
    let clock = u.clocked();
    let writing = &bus.lanes.write_ports(&u, clock);
    let io = Asks::new(&u, s);
    let answers = Answers::new(&u, s);
    let idle = u.output("idle", 1, "nothing is inside");
    // Everything comes from registers.
    u.outputs_depend_on(|_| Vec::new());
    let tcdm = Tcdm {
        u: &u,
        p,
        s,
        bus: &bus,
        clock,
        writing,
        io,
        answers,
        idle,
    };
    let (head, lane) = tcdm.batches();
    let part = tcdm.next_part(&head, lane);
    tcdm.scratchpad(&head, &part);
    u.assertions(|| tcdm.rules(lane));
    let module = u.emit()?;
    Ok(bus.modules_of(module))
}

impl Tcdm<'_> {
    /// The batches that wait, and bank and row of each lane of the first; the
    /// index of lanes.
    fn batches(&self) -> (Head, Index) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.section("The lanes that ask in one cycle are a batch.");
        let ready = u.wire("batch_ready", 1);
        let [valid, done] = u.wires(["head_valid", "head_done"], 1);
        let batch = Batch::wires(u, s, "head");
        let asks = Batch {
            req: io.tcdm_req,
            wen: io.tcdm_wen,
            addr: io.tcdm_add,
            data: io.tcdm_wdata,
            be: io.tcdm_be,
        };
        let from = Side {
            valid: io.tcdm_req.any(),
            data: asks.joined(s),
            ready,
        };
        let to = Side {
            valid: valid.into(),
            data: batch.joined(s),
            ready: done,
        };
        let buffer = ("batches", "BATCH", false);
        self.bus.buffer(u, self.clock, buffer, from, to);
        u.assign(io.tcdm_gnt, ready.copies(s.L));

        u.paragraph();
        let bank = u.wire("head_bank", s.L * s.m);
        let row = u.wire("head_row", s.L * s.R);
        let reason = "this bus has no operation with locks";
        let lanes = Lanes {
            valid,
            lock_hash: code(&lock_hash::FIELD, lock_hash::NONE).into(),
            addr: batch.addr,
            bank,
            row,
            lock: u.wire_in_part("head_lock", s.L * s.LK, reason),
        };
        let lane = self.bus.lanes.instances(u, self.p, self.writing, lanes);
        let head = Head {
            valid,
            done,
            batch,
            bank,
            row,
        };
        (head, lane)
    }

    /// What of the batch is served next.
    fn next_part(&self, head: &Head, lane: Index) -> Part {
        let u = self.u;
        u.section(
            "Its reads are one access, its writes the next; lanes beyond the capacity are answered \
             after both. A part without lanes takes no cycle.",
        );
        let did_loads = u.register("did_loads", 1).reset(0);
        let did_stores = u.register("did_stores", 1).reset(0);
        let beyond = self.beyond_capacity(head, lane);
        let batch = &head.batch;
        let loads = u.name("loads", batch.req & !beyond & batch.wen);
        let stores = u.name("stores", batch.req & !beyond & !batch.wen);
        let loads_left = u.name("loads_left", loads.any() & !did_loads);
        let stores_left = u.name("stores_left", stores.any() & !did_stores);
        let errors_left = u.name("errors_left", beyond.any());
        let first = |loads: Operand, stores: Operand, errors: Operand| {
            let first = when(loads_left, loads).when(stores_left, stores);
            first.otherwise(errors)
        };
        let lanes = u.name("part", first(loads.into(), stores.into(), beyond.into()));
        let operation = |value| code(&op::FIELD, value).into();
        let [load, store, error] = [op::LOAD, op::STORE, op::UNSUPPORTED].map(operation);
        let op = u.name("part_op", first(load, store, error));
        let alone = !stores_left & !errors_left;
        let last = when(loads_left, alone).otherwise(!(stores_left & errors_left));
        Part {
            lanes,
            op,
            last: u.name("last", last),
            is_loads: loads_left,
            is_stores: stores_left,
            did_loads,
            did_stores,
        }
    }

    /// Lanes whose row is beyond the capacity: there are row numbers without a
    /// row.
    fn beyond_capacity(&self, head: &Head, lane: Index) -> Signal {
        let (u, p, s) = (self.u, self.p, self.s);
        if p.ROWS == 1 << p.R {
            return u.named("beyond", s.L, 0);
        }
        let beyond = u.wire("beyond", s.L);
        u.generate(|| {
            u.each("range", lane, (0, s.L), |i| {
                let row = head.row.part(i * s.R, s.R);
                u.assign(beyond.at(i), head.batch.req.at(i) & row.at_least(p.ROWS));
            });
        });
        beyond
    }

    /// Notes which parts of the batch are done: the `part` goes when the
    /// scratchpad is `ready` for it. Whether it does.
    fn goes(&self, head: &Head, part: &Part, ready: Signal) -> Signal {
        let u = self.u;
        let goes = u.name("goes", head.valid & ready);
        u.assign(head.done, part.last & ready);
        let with_stores = part.is_stores & !part.is_loads;
        let (did_loads, did_stores) = (part.did_loads, part.did_stores);
        u.at_clock()
            .when(goes)
            .next(did_loads, !part.last & (did_loads | part.is_loads))
            .next(did_stores, !part.last & (did_stores | with_stores));
        goes
    }

    /// Offers the part to the scratchpad, and answers.
    fn scratchpad(&self, head: &Head, part: &Part) {
        let (u, p, s) = (self.u, self.p, self.s);
        u.paragraph();
        let ready = u.wire("sp_req_ready", 1);
        let goes = self.goes(head, part, ready);

        u.paragraph();
        let unread = |name, width| bus::unread(u, name, width);
        let op = unread("sp_resp_op", 3);
        let tag = unread("sp_resp_tag", p.TGW);
        let success = unread("sp_resp_success", p.L);
        let degree = unread("sp_resp_degree", p.DG);
        let stages = unread("sp_stages", p.MS - 1);
        let busy_more = unread("sp_busy_more", 1);
        let blocked = unread("sp_blocked", 1);
        let valid = u.wire("sp_resp_valid", 1);
        let mask = u.wire("sp_resp_mask", s.L);
        let data = u.wire("sp_resp_data", s.L * s.D);
        let error = u.wire("sp_resp_error", 1);
        u.instance(top(&self.bus.scratchpad), "scratchpad")
            .same(self.clock)
            .port("req_valid", head.valid)
            .port("req_ready", ready)
            .port("req_op", part.op)
            .port("req_mask", part.lanes)
            .port("req_bank", head.bank)
            .port("req_row", head.row)
            .port("req_lock", 0)
            .port("req_data", head.batch.data)
            .port("req_be", head.batch.be)
            .port("req_tag", 0)
            .port("resp_valid", valid)
            .port("resp_ready", 1)
            .port("resp_op", op)
            .port("resp_mask", mask)
            .port("resp_tag", tag)
            .port("resp_data", data)
            .port("resp_success", success)
            .port("resp_error", error)
            .port("resp_degree", degree)
            .port("stages", stages)
            .port("busy_more", busy_more)
            .port("blocked", blocked)
            .done();

        u.section("The answers, and the accesses inside the scratchpad.");
        let to = self.answers;
        u.at_clock()
            .next(to.r_valid, mask)
            .next(to.r_rdata, data)
            .next(to.r_opc, mask & error.copies(s.L));
        let count = bus::inside(u, goes, valid);
        let nothing = !head.valid & count.is(0) & !to.r_valid.any();
        u.assign(self.idle, nothing);
    }

    /// What a neighbour has to keep.
    fn rules(&self, lane: Index) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.about("Rules for the neighbours, checked in simulation.");
        u.generate(|| {
            u.each("asks", lane, (0, s.L), |i| {
                offer_is_held(
                    u,
                    ("ask_held", "a lane's request changes before it is granted"),
                    "waits",
                    (io.tcdm_req.at(i), io.tcdm_gnt.at(i)),
                    [
                        io.tcdm_wen.at(i),
                        io.tcdm_add.part(i * s.n, s.n),
                        io.tcdm_wdata.part(i * s.D, s.D),
                        io.tcdm_be.part(i * s.BE, s.BE),
                    ],
                );
            });
        });
        let message = "a hash is written with a request inside";
        let lanes = &self.bus.lanes;
        lanes.writes_are_idle(u, self.writing, self.idle, message);
    }
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_tcdm".into(),
        summary: "the scratchpad behind a request/grant/valid port per lane. The lanes that ask \
                  in one cycle are granted together; their reads are one access, their writes \
                  another one after it. Answers come in the order of a lane's requests. No input \
                  has a combinational path to an output."
            .into(),
        parameters: p.text(&["n", "m", "L", "D", "ROWS", "MS"]),
        timing: "granted in cycle t, lanes of one kind and degree d are answered in \
                 t+1+MS+max(1, d) if nothing is in the way; one access per cycle at d <= 1"
            .into(),
        paper: "microarchitecture/bus.md".into(),
        latency_cycles: 2 + p.MS as u32,
    }
}
