//! The scratchpad behind one warp-wide valid/ready port, with the hash of the
//! lanes.

use crate::bundle::bundle;
use crate::bus::{self, Bus};
use crate::codes::{lock_hash, op};
use crate::hashed_lanes::{Lanes, Writing};
use crate::machine::Machine;
use crate::module::{Module, Result, UnitDoc, top};
use crate::params::{Params, Sizes, TAG};
use crate::ports::ports;
use crate::property::{offer_is_held, stable};
use crate::signal::{Bits, Expr, Signal, code, concat};
use crate::spad_skid::{self, Side};
use crate::unit::UnitBuilder;

ports! {
    /// The ports, after those that write the registers of the hash.
    Io(s) {
        cfg_lock_hash: input(
            lock_hash::FIELD.width,
            "0 none, 1 XOR, 2 ADD; it and the hash change only while idle"
        ),
        req_valid: input(1, "an access is offered"),
        req_ready: output(1, "a request would be accepted at the end of this cycle"),
        req_op: input(op::FIELD.width, "operation"),
        req_mask: input(s.L, "active lanes"),
        req_addr: input(s.L * s.n, "word address, n bits per lane"),
        req_data: input(s.L * s.D, "data, D bits per lane"),
        req_be: input(s.L * s.DB, "byte enables of a store, DB bits per lane"),
        req_tag: input(s.STG, "comes back with the answer"),
        rsp_valid: output(1, "an answer is offered; the rest is 0 if not"),
        rsp_ready: input(1, "a response would be accepted"),
        rsp_op: output(op::FIELD.width, "operation of the access"),
        rsp_mask: output(s.L, "active lanes of the response"),
        rsp_tag: output(s.STG, "tag of the response"),
        rsp_data: output(
            s.L * s.D,
            "words read, or the data of a pass, D bits per lane; else 0"
        ),
        rsp_success: output(s.L, "lanes that took their lock"),
        rsp_error: output(
            1,
            "unsupported operation, or a row beyond the capacity: nothing was accessed"
        ),
        rsp_degree: output(s.DG, "conflict degree; with a window, the cycles in which it was served"),
        idle: output(1, "no access is inside"),
    }
}

bundle! {
    /// An access as it enters the scratchpad, before the hash.
    Access(s) {
        op: op::FIELD.width, mask: s.L, addr: s.L * s.n, data: s.L * s.D, be: s.L * s.DB,
        tag: s.STG,
    }
}

ports! {
    /// Ports for atomic operations, where the banks perform them.
    AtomicAsks(s) {
        req_amo: input(1, "an atomic operation; req_op does not count"),
        req_aop: input(4, "which one"),
        req_cmp: input(s.L * s.D, "what a compare-and-swap expects, D bits per lane"),
        req_warp: input(
            s.WW,
            "the warp: only its store-conditionals find its reservations"
        ),
    }
}

bundle! {
    /// An atomic operation as it enters the window.
    Operation(s) { amo: 1, aop: 4, cmp: s.L * s.D, warp: s.WW }
}

/// Shared by the parts of the description.
struct Stream<'a> {
    u: &'a UnitBuilder,
    p: &'a Params,
    s: &'a Sizes,
    bus: &'a Bus,
    clock: [Signal; 2],
    writing: &'a Writing,
    io: Io,
    /// The operations at the port, where the banks perform them.
    asked: Option<Operation>,
    /// A posted store leaves in this cycle, where there are some.
    posted: Option<Signal>,
}

/// An access at the head of the requests.
struct Head {
    access: Access,
    operation: Option<Operation>,
}

/// A source, and whether it is taken.
#[derive(Clone, Copy)]
struct Handshake {
    valid: Signal,
    ready: Signal,
}

/// Emits `spad_stream`, its parts first.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<Vec<Module>> {
    let bus = Bus::new(p, machine)?;
    let u = UnitBuilder::new(doc(p));
    u.machine_parameter(p, "STG", TAG);
    let s = &u.all_sizes(p);
    let clock = u.clocked();
    let writing = &bus.lanes.write_ports(&u, clock);
    let io = Io::new(&u, s);
    let asked = p.SATM.then(|| AtomicAsks::new(&u, s)).map(|io| Operation {
        amo: io.req_amo,
        aop: io.req_aop,
        cmp: io.req_cmp,
        warp: io.req_warp,
    });
    // Everything comes from registers.
    u.outputs_depend_on(|_| Vec::new());
    let stream = Stream {
        u: &u,
        p,
        s,
        bus: &bus,
        clock,
        writing,
        io,
        asked,
        posted: p.SPOST.then(|| u.wire("posted", 1)),
    };
    let (taken, head) = stream.requests();
    let places = stream.hash(taken, &head.access);
    match p.SWIN {
        0 => stream.scratchpad(taken, &head.access, places),
        _ => stream.window(taken, &head, places),
    }
    stream.accesses_inside();
    u.assertions(|| stream.rules());
    let module = u.emit()?;
    Ok(bus.modules_of(module))
}

impl Stream<'_> {
    /// The access at the head of the requests.
    fn requests(&self) -> (Handshake, Head) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.paragraph();
        let [valid, ready] = u.wires(["head_valid", "head_ready"], 1);
        let head = Head {
            access: Access::wires(u, s, "head"),
            operation: self.asked.map(|_| Operation::wires(u, s, "head")),
        };
        let offered = Access {
            op: io.req_op,
            mask: io.req_mask,
            addr: io.req_addr,
            data: io.req_data,
            be: io.req_be,
            tag: io.req_tag,
        };
        let payload = |access: Access, operation: Option<Operation>| {
            let access = access.joined(s);
            match operation {
                Some(operation) => concat([operation.joined(s), access]),
                None => access,
            }
        };
        let from = Side::new(io.req_valid, payload(offered, self.asked), io.req_ready);
        let to = Side::new(valid, payload(head.access, head.operation), ready);
        let buffer = ("requests", "REQUEST", false);
        spad_skid::instance(u, &self.bus.skid, self.clock, buffer, from, to);
        (Handshake { valid, ready }, head)
    }

    /// Bank, row and lock of each lane.
    fn hash(&self, head: Handshake, access: &Access) -> [Signal; 3] {
        let (u, p, s) = (self.u, self.p, self.s);
        u.paragraph();
        let bank = u.wire("head_bank", s.L * s.m);
        let row = u.wire("head_row", s.L * s.R);
        let lock = match p.SWIN {
            0 => u.wire("head_lock", s.L * s.LK),
            _ => u.wire_in_part("head_lock", s.L * s.LK, "a window has no locks"),
        };
        let lanes = Lanes {
            valid: head.valid,
            lock_hash: self.io.cfg_lock_hash.into(),
            addr: access.addr,
            bank,
            row,
            lock,
        };
        self.bus.lanes.instances(u, p, self.writing, lanes);
        [bank, row, lock]
    }

    /// The scratchpad, and its answers on their way out.
    fn scratchpad(&self, head: Handshake, access: &Access, [bank, row, lock]: [Signal; 3]) {
        let (u, p, s) = (self.u, self.p, self.s);
        u.paragraph();
        let unread = |name, width| bus::unread(u, name, width);
        let stages = unread("sp_stages", p.SMS - 1);
        let busy_more = unread("sp_busy_more", 1);
        let blocked = unread("sp_blocked", 1);
        let tag = u.wire("sp_resp_tag", s.STG);
        let [valid, ready] = u.wires(["sp_resp_valid", "sp_resp_ready"], 1);
        let op = u.wire("sp_resp_op", op::FIELD.width);
        let mask = u.wire("sp_resp_mask", s.L);
        let data = u.wire("sp_resp_data", s.L * s.D);
        let success = u.wire("sp_resp_success", s.L);
        let error = u.wire("sp_resp_error", 1);
        let degree = u.wire("sp_resp_degree", s.DG);
        u.instance(top(&self.bus.scratchpad), "scratchpad")
            .parameter("STG", s.STG)
            .same(self.clock)
            .port("req_valid", head.valid)
            .port("req_ready", head.ready)
            .port("req_op", access.op)
            .port("req_mask", access.mask)
            .port("req_bank", bank)
            .port("req_row", row)
            .port("req_lock", lock)
            .port("req_data", access.data)
            .port("req_be", access.be)
            .port("req_tag", access.tag)
            .port("resp_valid", valid)
            .port("resp_ready", ready)
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
        let fields = [tag, degree, error, success, data, mask, op];
        self.answers(None, Handshake { valid, ready }, fields);
    }

    /// The window of accesses, and its answers on their way out.
    fn window(&self, taken: Handshake, head: &Head, [bank, row, _]: [Signal; 3]) {
        let (u, s, access) = (self.u, self.s, &head.access);
        u.paragraph();
        let [valid, ready] = u.wires(["win_resp_valid", "win_resp_ready"], 1);
        let op = u.wire("win_resp_op", op::FIELD.width);
        let mask = u.wire("win_resp_mask", s.L);
        let tag = u.wire("win_resp_tag", s.STG);
        let data = u.wire("win_resp_data", s.L * s.D);
        let error = u.wire("win_resp_error", 1);
        let degree = u.wire("win_resp_degree", s.DG);
        let mut window = u
            .instance(top(&self.bus.scratchpad), "window")
            .parameter("STG", s.STG)
            .same(self.clock)
            .port("req_valid", taken.valid)
            .port("req_ready", taken.ready)
            .port("req_op", access.op)
            .port("req_mask", access.mask)
            .port("req_addr", access.addr)
            .port("req_bank", bank)
            .port("req_row", row)
            .port("req_data", access.data)
            .port("req_be", access.be)
            .port("req_tag", access.tag)
            .port("resp_valid", valid)
            .port("resp_ready", ready)
            .port("resp_op", op)
            .port("resp_mask", mask)
            .port("resp_tag", tag)
            .port("resp_data", data)
            .port("resp_error", error)
            .port("resp_degree", degree);
        if let Some(operation) = head.operation {
            window = window
                .port("req_amo", operation.amo)
                .port("req_aop", operation.aop)
                .port("req_cmp", operation.cmp)
                .port("req_warp", operation.warp);
        }
        let amo =
            (self.posted.is_some() && head.operation.is_some()).then(|| u.wire("win_resp_amo", 1));
        if let Some(amo) = amo {
            window = window.port("resp_amo", amo);
        }
        window.done();
        let success = u.named("win_resp_success", s.L, 0);
        let fields = [tag, degree, error, success, data, mask, op];
        self.answers(amo, Handshake { valid, ready }, fields);
    }

    /// The answers from inside, of atomic operations if `amo`, and those at the port.
    fn answers(&self, amo: Option<Signal>, inside: Handshake, fields: [Signal; 7]) {
        let (u, io) = (self.u, self.io);
        let from = match self.posted {
            Some(posted) => self.without_stores(posted, amo, inside, fields),
            None => {
                let data = concat(fields.map(Expr::from));
                Side::new(inside.valid, data, inside.ready)
            }
        };
        u.paragraph();
        let at_port = [
            io.rsp_tag,
            io.rsp_degree,
            io.rsp_error,
            io.rsp_success,
            io.rsp_data,
            io.rsp_mask,
            io.rsp_op,
        ];
        let to = Side::new(io.rsp_valid, concat(at_port.map(Expr::from)), io.rsp_ready);
        let buffer = ("answers", "ANSWER", true);
        spad_skid::instance(u, &self.bus.skid, self.clock, buffer, from, to);
    }

    /// The answers but those of plain stores, which leave at once.
    fn without_stores(
        &self,
        posted: Signal,
        amo: Option<Signal>,
        inside: Handshake,
        [tag, degree, error, success, data, mask, operation]: [Signal; 7],
    ) -> Side {
        let u = self.u;
        u.section("A store leaves without an answer, and waits for none.");
        let store = operation.is(code(&op::FIELD, op::STORE));
        let plain = match amo {
            Some(amo) => store & !amo,
            None => store,
        };
        u.assign(posted, inside.valid & plain);
        let ready = u.wire("answer_ready", 1);
        u.assign(inside.ready, posted | ready);
        // Nothing is shown of it; it has neither words nor locks.
        let others = |field: Signal| field.gated(!posted);
        let data = concat([
            others(tag),
            others(degree),
            others(error),
            success.into(),
            data.into(),
            others(mask),
            others(operation),
        ]);
        Side::new(inside.valid & !posted, data, ready)
    }

    fn accesses_inside(&self) {
        let (u, io) = (self.u, self.io);
        u.section("Accesses inside.");
        let enters = u.name("enters", io.req_valid & io.req_ready);
        let leaves = u.name("leaves", io.rsp_valid & io.rsp_ready);
        let posted = self.posted.map(Expr::from);
        let count = bus::inside(u, self.p, [enters.into(), leaves.into()], posted);
        u.assign(io.idle, count.is(0));
    }

    /// The rules that a neighbour must keep.
    fn rules(&self) {
        let (u, io) = (self.u, self.io);
        u.about("Rules for the neighbours, checked in simulation.");
        let operation = self.asked.map(|o| [o.amo, o.aop, o.cmp, o.warp]);
        offer_is_held(
            u,
            ("request_held", "an access changes before it is taken"),
            "req_valid_waits",
            (io.req_valid, io.req_ready),
            [
                io.req_op,
                io.req_mask,
                io.req_addr,
                io.req_data,
                io.req_be,
                io.req_tag,
            ]
            .into_iter()
            .chain(operation.into_iter().flatten()),
        );
        u.property(
            "cfg_static",
            !io.idle,
            stable([io.cfg_lock_hash]),
            "the lock hash changes with an access inside",
        );
        let message = "a hash is written with an access inside";
        let lanes = &self.bus.lanes;
        lanes.writes_are_idle(u, self.writing, io.idle, message);
    }
}

/// The operations on locks, which a window does not have.
fn lock_operations(p: &Params) -> &'static str {
    if p.LOCKS > 0 && p.SWIN == 0 {
        ", 3 load and lock, 4 store and unlock"
    } else {
        ""
    }
}

/// The header's sentence about atomic operations.
fn atomic_operations(p: &Params) -> &'static str {
    if p.SATM {
        " With req_amo, an access is an atomic operation, the same in all lanes."
    } else {
        ""
    }
}

/// The header's sentence about posted stores.
fn posted_stores(p: &Params) -> &'static str {
    if p.SPOST {
        " Stores (2) are not answered; idle tells when all of them are written."
    } else {
        ""
    }
}

fn doc(p: &Params) -> UnitDoc {
    let names = [
        "n", "m", "L", "D", "ROWS", "LOCKS", "LKG", "SMS", "SWIN", "STG",
    ];
    let atomics = ["SATM"].into_iter().filter(|_| p.SATM);
    let posted = ["SPOST"].into_iter().filter(|_| p.SPOST);
    let names: Vec<&str> = names.into_iter().chain(atomics).chain(posted).collect();
    UnitDoc {
        name: "spad_stream".into(),
        summary: "the scratchpad behind one warp-wide valid/ready port in and one out: word \
                  addresses are hashed here, every access is answered once, in order. No input \
                  has a combinational path to an output. Operations: 0 pass, 1 load, 2 store"
            .to_owned()
            + lock_operations(p)
            + "; others are answered with an error."
            + atomic_operations(p)
            + posted_stores(p),
        parameters: p.text(&names),
        timing: match p.SWIN {
            0 => {
                "taken in cycle t, an access of degree d is answered in t+1+SMS+max(1, d) (with \
                 locks LKG * max(1, d)) if nothing is in the way; one access per cycle at d <= 1"
            }
            _ => {
                "taken in cycle t, an access of degree d is answered in t+3+max(1, d) if nothing \
                 is in the way; one access per cycle at d <= 1"
            }
        }
        .into(),
        paper: "microarchitecture/bus.md; hash paper, section 4".into(),
        latency_cycles: 2 + match p.SWIN {
            0 => p.SMS as u32,
            _ => 2,
        },
    }
}
