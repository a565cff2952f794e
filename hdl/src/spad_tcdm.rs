//! The banks behind a request/grant/valid port per lane, with the hash of the
//! lanes. Lanes and banks are independent of each other.

mod answers;
mod banks;
mod reservations;

use crate::codes::{amo, lock_hash};
use crate::hashed_lanes::{HashedLanes, Lanes, Writing};
use crate::machine::Machine;
use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::property::offer_is_held;
use crate::signal::{Bits, Expr, Signal, code, concat, or_all};
use crate::size::Size;
use crate::spad_skid::{self, Side};
use crate::unit::{Index, UnitBuilder};
use crate::{spad_atomic_bank, spad_bank_ram, spad_pick, spad_select, spad_turn};
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

ports! {
    /// Ports for atomic operations, where the banks perform them.
    AtomicAsks(s) {
        tcdm_amo: input(s.L, "the lane requests an atomic operation; tcdm_wen does not count"),
        tcdm_aop: input(s.L * 4, "which one, 4 bits per lane"),
        tcdm_cmp: input(s.L * s.D, "what a compare-and-swap expects, D bits per lane"),
    }
}

/// The operations of the requests, side by side.
#[derive(Clone, Copy)]
struct Operations {
    amo: Signal,
    aop: Signal,
    cmp: Signal,
}

/// Requests of all lanes, side by side.
#[derive(Clone, Copy)]
struct Requests {
    valid: Signal,
    wen: Signal,
    addr: Signal,
    data: Signal,
    be: Signal,
    /// Operations, where the banks perform atomic ones.
    operations: Option<Operations>,
    /// Identifiers of the requests, if any.
    id: Option<Signal>,
}

/// The requests that contend in this cycle, and bank and row of their words.
struct Heads {
    of: Requests,
    bank: Signal,
    row: Signal,
    /// Requests within the capacity, and requests outside or of an unknown
    /// operation.
    inside: Signal,
    beyond: Signal,
    /// Requests that count, where the banks perform atomic operations.
    counts: Option<Signal>,
}

/// The modules that it instantiates.
struct Parts {
    hash: HashedLanes,
    /// A bank: words alone, or with atomic operations.
    ram: Vec<Module>,
    turn: Vec<Module>,
    pick: Module,
    select: Module,
    skid: Module,
}

/// Shared by the parts of the description.
struct Tcdm<'a> {
    u: &'a UnitBuilder,
    p: &'a Params,
    s: &'a Sizes,
    parts: &'a Parts,
    clock: [Signal; 2],
    writing: &'a Writing,
    io: Asks,
    operations: Option<Operations>,
    /// The identifiers of requests.
    id: Option<Signal>,
    answers: Answers,
    idle: Signal,
}

/// Emits `spad_tcdm`, its parts first.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<Vec<Module>> {
    let parts = Parts {
        hash: HashedLanes::new(p, machine)?,
        ram: if p.TATM {
            spad_atomic_bank::emit_unit(p)?
        } else {
            spad_bank_ram::emit_unit(p)?
        },
        turn: spad_turn::emit_helper(p.L)?,
        pick: spad_pick::emit_helper()?,
        select: spad_select::emit_helper()?,
        skid: spad_skid::emit_helper()?,
    };
    let u = UnitBuilder::new(doc(p));
    let s = &u.all_sizes(p);
    let clock = u.clocked();
    let writing = &parts.hash.write_ports(&u, clock);
    let io = Asks::new(&u, s);
    let operations = p
        .TATM
        .then(|| AtomicAsks::new(&u, s))
        .map(Operations::asked);
    let about = "identifier, TID bits per lane";
    let id = (p.TID > 0).then(|| u.input("tcdm_id", s.L * s.TID, about));
    let answers = Answers::new(&u, p, s);
    let idle = u.output("idle", 1, "nothing is inside");
    // The grant alone, and only where requests are not registered.
    u.outputs_depend_on(|port| match port {
        "tcdm_gnt" if !p.TREQ => granted_by(p),
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
        operations,
        id,
        answers,
        idle,
    };
    let takes = u.wire("takes", s.L);
    let (heads, lane) = tcdm.heads(takes);
    let banks = tcdm.banks(&heads, takes, lane);
    let from = tcdm.answer(&heads, takes, banks.words, lane);
    if let (Some(operations), Some(later)) = (heads.of.operations, banks.later) {
        tcdm.reservations((&heads, operations), takes, (from, later), lane);
    }
    u.assertions(|| tcdm.rules(lane));
    let module = u.emit()?;
    Ok(parts.with(module, p))
}

/// The inputs that the grants depend on, if requests are not registered.
fn granted_by(p: &Params) -> Vec<&'static str> {
    let operations = ["tcdm_amo", "tcdm_aop"].into_iter().filter(|_| p.TATM);
    let plain = ["tcdm_req", "tcdm_add", "tcdm_wen"];
    plain.into_iter().chain(operations).collect()
}

impl Operations {
    /// The operations at the ports.
    fn asked(ports: AtomicAsks) -> Self {
        Operations {
            amo: ports.tcdm_amo,
            aop: ports.tcdm_aop,
            cmp: ports.tcdm_cmp,
        }
    }

    /// Wires for them after the requests' registers.
    fn wires(u: &UnitBuilder, s: &Sizes) -> Self {
        Operations {
            amo: u.wire("head_amo", s.L),
            aop: u.wire("head_aop", s.L * 4),
            cmp: u.wire("head_cmp", s.L * s.D),
        }
    }

    /// Operands and flag of lane `i`.
    fn of_lane(self, s: &Sizes, i: Size) -> [Expr; 3] {
        let cmp = self.cmp.part(i * s.D, s.D);
        [cmp, self.aop.part(i * 4, 4), self.amo.at(i)]
    }

    /// Lane `i` requests one that there is not.
    fn is_unknown(self, i: Size) -> Expr {
        let last = code(&amo::FIELD, amo::COUNT);
        self.amo.at(i) & self.aop.part(i * 4, 4).above(last)
    }

    /// Lane `i` requests this operation.
    fn is(self, i: Size, operation: u8) -> Expr {
        let asked = self.aop.part(i * 4, 4).is(code(&amo::FIELD, operation));
        self.amo.at(i) & asked
    }
}

impl Requests {
    /// The fields of lane `i`, from the high bits on.
    fn of_lane(&self, s: &Sizes, i: Size) -> Vec<Expr> {
        let id = self.id.map(|id| id.part(i * s.TID, s.TID));
        let operation = self.operations.map(|operations| operations.of_lane(s, i));
        let plain = [
            self.be.part(i * s.DB, s.DB),
            self.data.part(i * s.D, s.D),
            self.addr.part(i * s.n, s.n),
            self.wen.at(i),
        ];
        let fields = id.into_iter().chain(operation.into_iter().flatten());
        fields.chain(plain).collect()
    }
}

impl Parts {
    /// All modules of the machine's unit, each after the modules that it instantiates.
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
        let (u, p, s) = (self.u, self.p, self.s);
        let heads = if p.TREQ { self.waiting() } else { self.asked() };
        let (valid, addr) = (heads.valid, heads.addr);
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
            self.buffers(takes, &heads, lane);
        }
        let beyond = self.beyond(&heads, row, lane);
        let inside = u.name("in_range", valid & !beyond);
        let (be, counts) = match heads.operations {
            Some(operations) => {
                let (be, counts) = self.words(operations, heads.be, lane);
                (be, Some(counts))
            }
            None => (heads.be, None),
        };
        let heads = Heads {
            bank,
            row,
            inside,
            beyond,
            counts,
            of: Requests { be, ..heads },
        };
        (heads, lane)
    }

    /// The requests at the ports.
    fn asked(&self) -> Requests {
        let io = self.io;
        Requests {
            valid: io.tcdm_req,
            wen: io.tcdm_wen,
            addr: io.tcdm_add,
            data: io.tcdm_wdata,
            be: io.tcdm_be,
            operations: self.operations,
            id: self.id,
        }
    }

    /// Wires for the requests after their registers.
    fn waiting(&self) -> Requests {
        let (u, s) = (self.u, self.s);
        u.section("The oldest request of each lane, out of a buffer.");
        Requests {
            valid: u.wire("head", s.L),
            wen: u.wire("head_wen", s.L),
            addr: u.wire("head_addr", s.L * s.n),
            data: u.wire("head_data", s.L * s.D),
            be: u.wire("head_be", s.L * s.DB),
            operations: self.operations.map(|_| Operations::wires(u, s)),
            id: self.id.map(|_| u.wire("head_id", s.L * s.TID)),
        }
    }

    /// The buffers of the lanes.
    fn buffers(&self, takes: Signal, heads: &Requests, lane: Index) {
        let (u, s, asked) = (self.u, self.s, self.asked());
        u.paragraph();
        u.generate(|| {
            u.each("buffer", lane, (0, s.L), |i| {
                let from = concat(asked.of_lane(s, i));
                let to = concat(heads.of_lane(s, i));
                let from = Side::new(asked.valid.at(i), from, self.io.tcdm_gnt.at(i));
                let to = Side::new(heads.valid.at(i), to, takes.at(i));
                let buffer = ("skid", "REQUEST", false);
                spad_skid::instance(u, &self.parts.skid, self.clock, buffer, from, to);
            });
        });
    }

    /// Requests whose row is beyond the capacity: there are row numbers without
    /// a row; and those of operations that there are not.
    fn beyond(&self, heads: &Requests, row: Signal, lane: Index) -> Signal {
        let (u, p, s) = (self.u, self.p, self.s);
        u.paragraph();
        let full = p.ROWS == 1 << p.R;
        if full && heads.operations.is_none() {
            return u.named("beyond", s.L, 0);
        }
        let beyond = u.wire("beyond", s.L);
        u.generate(|| {
            u.each("range", lane, (0, s.L), |i| {
                let row = row.part(i * s.R, s.R);
                let outside = (!full).then(|| row.at_least(p.ROWS));
                let unknown = heads.operations.map(|operations| operations.is_unknown(i));
                let refused = or_all(outside.into_iter().chain(unknown));
                u.assign(beyond.at(i), heads.valid.at(i) & refused);
            });
        });
        beyond
    }

    /// The byte enables, with all of an atomic operation, and the lanes that count.
    fn words(&self, operations: Operations, be: Signal, lane: Index) -> (Signal, Signal) {
        let (u, s) = (self.u, self.s);
        u.section("An atomic operation is one of the whole word.");
        let enables = u.wire("enables", s.L * s.DB);
        let counts = u.wire("counts", s.L);
        u.generate(|| {
            u.each("enables_of", lane, (0, s.L), |i| {
                let all = operations.amo.at(i).copies(s.DB);
                let own = be.part(i * s.DB, s.DB);
                u.assign(enables.part(i * s.DB, s.DB), own | all);
                u.assign(counts.at(i), operations.is(i, amo::COUNT));
            });
        });
        (enables, counts)
    }

    /// The rules that a neighbour must keep.
    fn rules(&self, lane: Index) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.about("Rules for the neighbours, checked in simulation.");
        u.generate(|| {
            u.each("asks", lane, (0, s.L), |i| {
                let id = self.id.map(|id| id.part(i * s.TID, s.TID));
                let operation = self.operations.map(|operations| operations.of_lane(s, i));
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
                    .chain(operation.into_iter().flatten())
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
    let plain = [
        "n", "m", "L", "D", "ROWS", "BCAST", "MERGE", "TREQ", "TRSP", "TID",
    ];
    let atomics = ["TATM"].into_iter().filter(|_| p.TATM);
    let posted = ["TPOST"].into_iter().filter(|_| p.TPOST);
    let parameters: Vec<&str> = plain.into_iter().chain(atomics).chain(posted).collect();
    UnitDoc {
        name: "spad_tcdm".into(),
        summary: "the banks behind a request/grant/valid port per lane. Each bank serves one of \
                  the lanes that request it in turn, together with those that read the same word \
                  (BCAST = 1) or write it (MERGE = 1). Answers come in the order of a lane's \
                  requests."
            .to_owned()
            + if p.TPOST {
                " Writes are not answered; idle tells when all of them are done."
            } else {
                ""
            },
        parameters: p.text(&parameters),
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
