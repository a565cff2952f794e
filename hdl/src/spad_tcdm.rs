//! The banks after a request/grant/valid port per lane, with the hash of the
//! lanes. Lanes and banks are independent of each other.

mod answers;
mod banks;

use crate::codes::lock_hash;
use crate::hashed_lanes::{HashedLanes, Lanes, Writing};
use crate::machine::Machine;
use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::property::offer_is_held;
use crate::signal::{Bits, Expr, Signal, code, concat};
use crate::unit::{Index, Unit};
use crate::{spad_bank_ram, spad_pick, spad_select, spad_skid, spad_turn};
use answers::Answers;

ports! {
    /// The ports of the lanes, after those that write the registers of the hash.
    Asks(s) {
        tcdm_req: input(s.L, "the lane requests"),
        tcdm_gnt: output(s.L, "the lane's request is taken at the end of this cycle"),
        tcdm_add: input(s.L * s.n, "word address, n bits per lane"),
        tcdm_wen: input(s.L, "1 read, 0 write"),
        tcdm_wdata: input(s.L * s.D, "data, D bits per lane"),
        tcdm_be: input(s.L * s.DB, "byte enables of a write, DB bits per lane"),
    }
}

/// The requests that contend in this cycle, side by side.
struct Heads {
    valid: Signal,
    wen: Signal,
    addr: Signal,
    data: Signal,
    be: Signal,
    /// Their identifiers, where there are any.
    id: Option<Signal>,
    bank: Signal,
    row: Signal,
    /// Those within the capacity, and those outside.
    inside: Signal,
    beyond: Signal,
}

/// The modules that it instantiates.
struct Parts {
    hash: HashedLanes,
    ram: Vec<Module>,
    turn: Vec<Module>,
    pick: Module,
    select: Module,
    skid: Module,
}

/// What the unit is described with.
struct Tcdm<'a> {
    u: &'a Unit,
    p: &'a Params,
    s: &'a Sizes,
    parts: &'a Parts,
    clock: [Signal; 2],
    writing: &'a Writing,
    io: Asks,
    /// The identifiers of requests.
    id: Option<Signal>,
    answers: Answers,
    idle: Signal,
}

/// Emits `spad_tcdm`, its parts first.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<Vec<Module>> {
    let parts = Parts {
        hash: HashedLanes::new(p, machine)?,
        ram: spad_bank_ram::emit_unit(p)?,
        turn: spad_turn::emit_helper(p.L)?,
        pick: spad_pick::emit_helper()?,
        select: spad_select::emit_helper()?,
        skid: spad_skid::emit_helper()?,
    };
    let u = Unit::new(doc(p));
    let s = &u.all_sizes(p);
    let clock = u.clocked();
    let writing = &parts.hash.write_ports(&u, clock);
    let io = Asks::new(&u, s);
    let about = "identifier, TID bits per lane";
    let id = (p.TID > 0).then(|| u.input("tcdm_id", s.L * s.TID, about));
    let answers = Answers::new(&u, p, s);
    let idle = u.output("idle", 1, "nothing is inside");
    // The grant alone, and only where requests are not registered.
    u.outputs_depend_on(|port| match port {
        "tcdm_gnt" if !p.TREQ => vec!["tcdm_req", "tcdm_add", "tcdm_wen"],
        _ => Vec::new(),
    });
    let tcdm = Tcdm {
        u: &u,
        p,
        s,
        parts: &parts,
        clock,
        writing,
        io,
        id,
        answers,
        idle,
    };
    let takes = u.wire("takes", s.L);
    let (heads, lane) = tcdm.heads(takes);
    let words = tcdm.banks(&heads, takes, lane);
    tcdm.answer(&heads, takes, words, lane);
    u.assertions(|| tcdm.rules(lane));
    let module = u.emit()?;
    Ok(parts.with(module, p))
}

impl Parts {
    /// All modules of the machine's unit, each after what it instantiates.
    fn with(self, unit: Module, p: &Params) -> Vec<Module> {
        let skid = [self.skid].into_iter().filter(|_| p.TREQ);
        let banks = self.ram.into_iter().chain(self.turn);
        let banks = banks.chain([self.pick, self.select]).chain(skid);
        banks
            .chain(self.hash.into_modules())
            .chain([unit])
            .collect()
    }
}

impl Tcdm<'_> {
    /// The requests that contend for the banks, with bank and row, and the index
    /// of lanes; `takes` has those that leave.
    fn heads(&self, takes: Signal) -> (Heads, Index) {
        let (u, p, s, io) = (self.u, self.p, self.s, self.io);
        let waiting = p.TREQ.then(|| self.waiting());
        let (valid, [wen, addr, data, be], id) = match waiting {
            Some((valid, fields, id)) => (valid, fields, id),
            None => (
                io.tcdm_req,
                [io.tcdm_wen, io.tcdm_add, io.tcdm_wdata, io.tcdm_be],
                self.id,
            ),
        };
        let any = u.wire_in_part("any", 1, "only the rules ask for it");
        u.assign(any, valid.any());
        let bank = u.wire("bank", s.L * s.m);
        let row = u.wire("row", s.L * s.R);
        let reason = "this bus has no operation with locks";
        let lanes = Lanes {
            valid: any,
            lock_hash: code(&lock_hash::FIELD, lock_hash::NONE).into(),
            addr,
            bank,
            row,
            lock: u.wire_in_part("lock", s.L * s.LK, reason),
        };
        let lane = self.parts.hash.instances(u, p, self.writing, lanes);
        if p.TREQ {
            self.buffers(takes, (valid, [wen, addr, data, be], id), lane);
        }
        let beyond = self.beyond_capacity(valid, row, lane);
        let inside = u.name("in_range", valid & !beyond);
        let heads = Heads {
            valid,
            wen,
            addr,
            data,
            be,
            id,
            bank,
            row,
            inside,
            beyond,
        };
        (heads, lane)
    }

    /// Wires for the requests after their registers.
    fn waiting(&self) -> (Signal, [Signal; 4], Option<Signal>) {
        let (u, s) = (self.u, self.s);
        u.section("The oldest request of each lane, out of a buffer.");
        let valid = u.wire("head", s.L);
        let wen = u.wire("head_wen", s.L);
        let addr = u.wire("head_addr", s.L * s.n);
        let data = u.wire("head_data", s.L * s.D);
        let be = u.wire("head_be", s.L * s.DB);
        let id = self.id.map(|_| u.wire("head_id", s.L * s.TID));
        (valid, [wen, addr, data, be], id)
    }

    /// The buffers of the lanes.
    fn buffers(
        &self,
        takes: Signal,
        (valid, [wen, addr, data, be], id): (Signal, [Signal; 4], Option<Signal>),
        lane: Index,
    ) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.paragraph();
        u.generate(|| {
            u.each("buffer", lane, (0, s.L), |i| {
                let request = |wen: Signal, addr: Signal, data: Signal, be: Signal| -> Vec<Expr> {
                    vec![
                        be.part(i * s.DB, s.DB),
                        data.part(i * s.D, s.D),
                        addr.part(i * s.n, s.n),
                        wen.at(i),
                    ]
                };
                let with = |id: Option<Signal>, fields: Vec<Expr>| {
                    let id = id.map(|id| id.part(i * s.TID, s.TID));
                    concat(id.into_iter().chain(fields))
                };
                let fields = request(io.tcdm_wen, io.tcdm_add, io.tcdm_wdata, io.tcdm_be);
                let from = with(self.id, fields);
                let to = with(id, request(wen, addr, data, be));
                u.instance(&self.parts.skid, "skid")
                    .parameter("WIDTH", u.size("REQUEST", from.width))
                    .parameter("CLEAR", 0.into())
                    .same(self.clock)
                    .port("in_valid", io.tcdm_req.at(i))
                    .port("in_data", from)
                    .port("in_ready", io.tcdm_gnt.at(i))
                    .port("out_valid", valid.at(i))
                    .port("out_data", to)
                    .port("out_ready", takes.at(i))
                    .done();
            });
        });
    }

    /// Requests whose row is beyond the capacity: there are row numbers without
    /// a row.
    fn beyond_capacity(&self, valid: Signal, row: Signal, lane: Index) -> Signal {
        let (u, p, s) = (self.u, self.p, self.s);
        u.paragraph();
        if p.ROWS == 1 << p.R {
            return u.named("beyond", s.L, 0);
        }
        let beyond = u.wire("beyond", s.L);
        u.generate(|| {
            u.each("range", lane, (0, s.L), |i| {
                let row = row.part(i * s.R, s.R);
                u.assign(beyond.at(i), valid.at(i) & row.at_least(p.ROWS));
            });
        });
        beyond
    }

    /// What a neighbour has to keep.
    fn rules(&self, lane: Index) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.about("Rules for the neighbours, checked in simulation.");
        u.generate(|| {
            u.each("asks", lane, (0, s.L), |i| {
                let id = self.id.map(|id| id.part(i * s.TID, s.TID));
                offer_is_held(
                    u,
                    ("ask_held", "a lane's request changes before it is granted"),
                    "waits",
                    (io.tcdm_req.at(i), io.tcdm_gnt.at(i)),
                    [
                        io.tcdm_wen.at(i),
                        io.tcdm_add.part(i * s.n, s.n),
                        io.tcdm_wdata.part(i * s.D, s.D),
                        io.tcdm_be.part(i * s.DB, s.DB),
                    ]
                    .into_iter()
                    .chain(id),
                );
            });
        });
        let message = "a hash is written with a request inside or at the port";
        let quiet = self.idle & !io.tcdm_req.any();
        let hash = &self.parts.hash;
        hash.writes_are_idle(u, self.writing, quiet, message);
    }
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_tcdm".into(),
        summary: "the banks behind a request/grant/valid port per lane. Each bank serves one of \
                  the lanes that request it in turn, together with those that read the same word \
                  (BCAST = 1) or write it (MERGE = 1). Answers come in the order of a lane's \
                  requests."
            .into(),
        parameters: p.text(&[
            "n", "m", "L", "D", "ROWS", "BCAST", "MERGE", "TREQ", "TRSP", "TID",
        ]),
        timing: if p.TREQ {
            "a request is granted if the lane's buffer has room, and contends for its bank from \
             the next cycle on; the answer comes 1 + TRSP cycles after it is served"
        } else {
            "the grant depends on the requests in the same cycle; the answer comes 1 + TRSP \
             cycles later"
        }
        .into(),
        paper: "microarchitecture/bus.md".into(),
        latency_cycles: 1 + u32::from(p.TREQ) + u32::from(p.TRSP),
    }
}
