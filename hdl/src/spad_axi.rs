//! An AXI4 port that replaces a lane: bursts as requests of one word each.

mod answers;

use crate::bundle::bundle;
use crate::module::{HdlError, Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::property::offer_is_held;
use crate::signal::{Bits, Expr, Signal, concat, number, or_all, when};
use crate::size::{Size, index_bits};
use crate::spad_skid::{self, Side};
use crate::unit::UnitBuilder;
use crate::{spad_axi_burst, spad_queue};

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        axi_awvalid: input(1, "a write burst is offered"),
        axi_awid: input(s.XID, "its identifier"),
        axi_awaddr: input(s.XA, "address of its first byte"),
        axi_awlen: input(8, "beats - 1"),
        axi_awsize: input(3, "log2 of the bytes of a beat"),
        axi_awburst: input(2, "0 FIXED, 1 INCR, 2 WRAP"),
        axi_awready: output(1, "a write burst would be accepted"),
        axi_wvalid: input(1, "a beat of write data is offered"),
        axi_wdata: input(s.XL * s.D, "the data"),
        axi_wstrb: input(s.XL * s.DB, "the bytes that are written"),
        axi_wlast: input(1, "the last beat of its burst"),
        axi_wready: output(1, "write data would be accepted"),
        axi_bvalid: output(1, "a write burst is answered; the rest is 0 if not"),
        axi_bready: input(1, "the answer would be accepted"),
        axi_bid: output(s.XID, "its identifier"),
        axi_bresp: output(2, "0 OKAY, 2 SLVERR, 3 DECERR"),
        axi_arvalid: input(1, "a read burst is offered"),
        axi_arid: input(s.XID, "its identifier"),
        axi_araddr: input(s.XA, "address of its first byte"),
        axi_arlen: input(8, "beats - 1"),
        axi_arsize: input(3, "log2 of the bytes of a beat"),
        axi_arburst: input(2, "0 FIXED, 1 INCR, 2 WRAP"),
        axi_arready: output(1, "a read burst would be accepted"),
        axi_rvalid: output(1, "a beat of a read burst is answered; the rest is 0 if not"),
        axi_rready: input(1, "the answer would be accepted"),
        axi_rid: output(s.XID, "identifier of its burst"),
        axi_rdata: output(s.XL * s.D, "the words; 0 if nothing was read"),
        axi_rresp: output(2, "0 OKAY, 2 SLVERR, 3 DECERR"),
        axi_rlast: output(1, "the last beat of its burst"),
        tcdm_req: output_register(s.XL, "a request of each lane; it stays unchanged until it is granted").reset(0),
        tcdm_add: output_register(s.XL * s.n, "its word address, n bits per lane").reset(0),
        tcdm_wen: output_register(s.XL, "1 read, 0 write").reset(0),
        tcdm_wdata: output_register(s.XL * s.D, "data of a write, else 0; D bits per lane").reset(0),
        tcdm_be: output_register(s.XL * s.DB, "bytes that are written; all of a read").reset(0),
        tcdm_gnt: input(s.XL, "the request of the lane is taken at the end of this cycle"),
        tcdm_r_valid: input(s.XL, "the oldest granted request of the lane is answered"),
        tcdm_r_rdata: input(s.XL * s.D, "the word read, D bits per lane"),
        tcdm_r_opc: input(s.XL, "nothing was accessed"),
        idle: output(1, "nothing is inside"),
    }
}

bundle! {
    /// A beat of write data.
    Data(s) { last: 1, word: s.XL * s.D, strobe: s.XL * s.DB }
}

bundle! {
    /// A request that is not answered.
    Request(s) { writes: 1, last: 1, code: 2, id: s.XID }
}

bundle! {
    /// An answer at R.
    Read(s) { last: 1, resp: 2, data: s.XL * s.D, id: s.XID }
}

bundle! {
    /// An answer at B.
    Written(s) { resp: 2, id: s.XID }
}

/// Why nobody looks whether a queue of answers is full.
const ROOM: &str = "a beat is picked only if there is room for its answer";

/// The modules inside.
struct Parts {
    skid: Module,
    queue: Module,
    burst: Module,
}

/// Shared by the parts of the description.
struct Axi<'a> {
    u: &'a UnitBuilder,
    s: &'a Sizes,
    parts: &'a Parts,
    io: Ports,
}

/// The next beat of the bursts of one channel.
#[derive(Clone, Copy)]
struct Beat {
    valid: Signal,
    /// The beat is picked.
    next: Signal,
    id: Signal,
    add: Signal,
    last: Signal,
    refused: Signal,
    holds: Signal,
}

/// The beat of write data that waits.
#[derive(Clone, Copy)]
struct Waiting {
    valid: Signal,
    data: Data,
}

/// The answer of the memory.
#[derive(Clone, Copy)]
struct Answer {
    /// There is one, of all lanes.
    valid: Signal,
    data: Signal,
    /// Per lane: nothing was accessed.
    nothing: Signal,
}

/// The requests that are not answered.
#[derive(Clone, Copy)]
struct InFlight {
    /// There is room for another, `picked`.
    ready: Signal,
    picked: Request,
    valid: Signal,
    oldest: Request,
}

/// Emits `spad_axi`, its parts first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    if p.XA == 0 {
        return Err(HdlError::NotThere {
            unit: "spad_axi".into(),
            reason: "[axi] addr_bits is 0".into(),
        });
    }
    let skid = spad_skid::emit_helper()?;
    let burst = spad_axi_burst::emit_helper(p, &skid)?;
    let queue = spad_queue::emit_helper()?;
    let parts = Parts { skid, queue, burst };
    let u = UnitBuilder::new(doc(p));
    let io = Ports::declared(&u, p);
    let axi = Axi {
        u: &u,
        s: &io.s,
        parts: &parts,
        io,
    };
    let [write, read] = axi.bursts();
    let waiting = axi.write_data(write.next);
    let answered = u.wire("answered", 1);
    let answer = axi.lanes_answer(answered);
    let flight = axi.in_flight(write.next, read.next, answer.valid);
    let counts = axi.counts(write, read, p);
    let free = axi.choose(write, read, waiting, flight, counts);
    axi.request(write, read, waiting.data, flight.picked, free);
    axi.answer(flight, answer, answered);
    u.section("Whether something is inside.");
    let some = [write.holds, read.holds, waiting.valid, flight.valid];
    let counted = counts.map(|count| count.any());
    let busy = or_all(some.map(Expr::from).into_iter().chain(counted));
    let busy = u.name("busy", busy);
    u.assign(io.idle, !busy);
    u.outputs_depend_on(|_| Vec::new());
    u.assertions(|| axi.rules());
    let module = u.emit()?;
    let Parts { skid, queue, burst } = parts;
    Ok(vec![skid, queue, burst, module])
}

fn doc(p: &Params) -> UnitDoc {
    // The answers of several lanes wait for each other in a queue.
    let (waits, after) = match p.XL {
        1 => (1, "one cycle"),
        _ => (2, "two cycles"),
    };
    UnitDoc {
        name: "spad_axi".into(),
        summary: "an AXI4 subordinate in the place of a lane: each beat of a burst is a request \
                  with grant and answer, as the lanes of spad_tcdm have them. FIXED, INCR and \
                  WRAP; narrow and unaligned bursts. All outputs come from registers."
            .into(),
        parameters: p.text(&["XA", "XL", "XID", "XQ", "n", "D"]),
        timing: format!(
            "a read that is taken in cycle t requests in t+3, and answers {after} after the \
             memory; one beat per cycle"
        ),
        paper: "microarchitecture/axi.md".into(),
        latency_cycles: 4 + waits,
    }
}

impl Axi<'_> {
    /// The rules that a master must keep.
    fn rules(&self) {
        let (u, io) = (self.u, self.io);
        u.about("Rules for the master, checked in simulation.");
        offer_is_held(
            u,
            ("aw_held", "a write burst changes before it is taken"),
            "aw_waits",
            (io.axi_awvalid, io.axi_awready),
            [
                io.axi_awid,
                io.axi_awaddr,
                io.axi_awlen,
                io.axi_awsize,
                io.axi_awburst,
            ],
        );
        offer_is_held(
            u,
            ("w_held", "write data change before they are taken"),
            "w_waits",
            (io.axi_wvalid, io.axi_wready),
            [io.axi_wdata, io.axi_wstrb, io.axi_wlast],
        );
        offer_is_held(
            u,
            ("ar_held", "a read burst changes before it is taken"),
            "ar_waits",
            (io.axi_arvalid, io.axi_arready),
            [
                io.axi_arid,
                io.axi_araddr,
                io.axi_arlen,
                io.axi_arsize,
                io.axi_arburst,
            ],
        );
    }

    /// The bursts of both address channels, beat by beat: writes, reads.
    fn bursts(&self) -> [Beat; 2] {
        let io = self.io;
        let write = [
            io.axi_awvalid,
            io.axi_awid,
            io.axi_awaddr,
            io.axi_awlen,
            io.axi_awsize,
            io.axi_awburst,
            io.axi_awready,
        ];
        let read = [
            io.axi_arvalid,
            io.axi_arid,
            io.axi_araddr,
            io.axi_arlen,
            io.axi_arsize,
            io.axi_arburst,
            io.axi_arready,
        ];
        [self.burst("write", write), self.burst("read", read)]
    }

    fn burst(&self, name: &str, ports: [Signal; 7]) -> Beat {
        let (u, s) = (self.u, self.s);
        u.paragraph();
        let wire = |field: &str, width: Size| u.wire(&format!("{name}_{field}"), width);
        let beat = Beat {
            valid: wire("valid", 1.into()),
            next: wire("next", 1.into()),
            id: wire("id", s.XID),
            add: wire("add", spad_axi_burst::place_bits(s)),
            last: wire("last", 1.into()),
            refused: wire("refused", 2.into()),
            holds: wire("holds", 1.into()),
        };
        let [valid, id, addr, len, size, burst, ready] = ports;
        u.instance(&self.parts.burst, name)
            .same([self.io.clk, self.io.rst])
            .port("in_valid", valid)
            .port("in_id", id)
            .port("in_addr", addr)
            .port("in_len", len)
            .port("in_size", size)
            .port("in_burst", burst)
            .port("in_ready", ready)
            .port("valid", beat.valid)
            .port("next", beat.next)
            .port("id", beat.id)
            .port("add", beat.add)
            .port("last", beat.last)
            .port("refused", beat.refused)
            .port("holds", beat.holds)
            .done();
        beat
    }

    /// The write data that wait; `taken` takes a beat of them.
    fn write_data(&self, taken: Signal) -> Waiting {
        let (u, s, io) = (self.u, self.s, self.io);
        u.paragraph();
        let valid = u.wire("data_valid", 1);
        let data = Data::wires(u, s, "data");
        let offered = Data {
            last: io.axi_wlast,
            word: io.axi_wdata,
            strobe: io.axi_wstrb,
        };
        let offered = offered.joined(s);
        let from = Side::new(io.axi_wvalid, offered, io.axi_wready);
        let to = Side::new(valid, data.joined(s), taken);
        let buffer = ("write_data", "BEAT", false);
        spad_skid::instance(u, &self.parts.skid, [io.clk, io.rst], buffer, from, to);
        Waiting { valid, data }
    }

    /// A queue from one side to the other: valid, data and ready of each.
    fn queue(
        &self,
        (name, width): (&str, &str),
        (in_valid, in_data, in_ready): (Expr, Expr, Expr),
        (out_valid, out_data, out_ready): (Expr, Expr, Expr),
    ) {
        let u = self.u;
        u.instance(&self.parts.queue, name)
            .parameter("WIDTH", u.size(width, in_data.width))
            .parameter("DEPTH", self.s.XQ)
            .same([self.io.clk, self.io.rst])
            .port("in_valid", in_valid)
            .port("in_data", in_data)
            .port("in_ready", in_ready)
            .port("out_valid", out_valid)
            .port("out_data", out_data)
            .port("out_ready", out_ready)
            .done();
    }

    /// The beats of reads, and the last beats of writes, that have not left.
    fn counts(&self, write: Beat, read: Beat, p: &Params) -> [Signal; 2] {
        let (u, io) = (self.u, self.io);
        u.section("Beats that need room for an answer, also the one that waits at the port.");
        let bits = index_bits(p.XQ + 1);
        let leaves = io.axi_rvalid & io.axi_rready;
        let reads = u.counter("reads", bits, read.next, leaves);
        let leaves = io.axi_bvalid & io.axi_bready;
        let writes = u.counter("writes", bits, write.next & write.last, leaves);
        [reads, writes]
    }

    /// Selects the beat that becomes a request, and whether the ports accept one.
    fn choose(
        &self,
        write: Beat,
        read: Beat,
        waiting: Waiting,
        flight: InFlight,
        [reads, writes]: [Signal; 2],
    ) -> Signal {
        let (u, s, io) = (self.u, self.s, self.io);
        u.section("The beat that becomes a request. If both can go, they alternate.");
        let turn = u.register("turn", 1).reset(0);
        let one = self.has_one_lane();
        let free = !io.tcdm_req | io.tcdm_gnt;
        let free = u.name("free", if one { free } else { free.all() });
        let most = s.XQ.value().unwrap_or_default();
        let can_read = read.valid & flight.ready & !reads.is(most);
        let can_read = u.name("can_read", can_read);
        let can_write = write.valid & waiting.valid & flight.ready & !writes.is(most);
        let can_write = u.name("can_write", can_write);
        u.assign(write.next, free & can_write & !(can_read & turn));
        u.assign(read.next, free & can_read & !(can_write & !turn));
        let turn_next = when(write.next, 1).when(read.next, 0);
        u.at_clock().next(turn, turn_next);
        free
    }

    /// The registers of the request.
    fn request(&self, write: Beat, read: Beat, data: Data, picked: Request, free: Signal) {
        let (u, s, io) = (self.u, self.s, self.io);
        let one = self.has_one_lane();
        u.section("The request: a beat that is refused is a write of no byte.");
        let refused = when(write.next, write.refused).otherwise(read.refused);
        let refused = u.name("refused", refused);
        let writes = u.name("writes_bytes", write.next & !write.refused.at(1));
        let reads = u.name("reads_word", read.next & !read.refused.at(1));
        let goes = u.name("goes", write.next | read.next);
        let be = data.strobe.gated(writes) | reads.copies(s.XL * s.DB);
        let add = write.add.gated(writes) | read.add.gated(reads);
        let add = u.name("add", add);
        let adds = if one {
            add.into()
        } else {
            self.of_lanes(add, goes)
        };
        let request = u.at_clock().when(free).next(io.tcdm_add, adds);
        let request = if one {
            request.next(io.tcdm_req, goes)
        } else {
            request
        };
        request
            .next(io.tcdm_wen, reads.copies(s.XL))
            .next(io.tcdm_wdata, data.word.gated(write.next))
            .next(io.tcdm_be, be);
        if !one {
            u.note("A lane that has been granted waits for the others.");
            let requests = when(free, goes.copies(s.XL)).otherwise(io.tcdm_req & !io.tcdm_gnt);
            u.at_clock().next(io.tcdm_req, requests);
        }

        u.paragraph();
        let misplaced = u.name("misplaced", write.next & (data.last ^ write.last));
        let last = when(write.next, write.last).otherwise(read.last);
        let id = when(write.next, write.id).otherwise(read.id);
        u.assign(picked.writes, write.next);
        u.assign(picked.last, last);
        u.assign(picked.id, id);
        u.assign(picked.code.at(0), refused.at(0));
        u.assign(picked.code.at(1), refused.at(1) | misplaced);
    }

    fn has_one_lane(&self) -> bool {
        self.s.XL.value() == Some(1)
    }

    /// The word addresses of all lanes, of which `add` has all but the low bits.
    fn of_lanes(&self, add: Signal, goes: Signal) -> Expr {
        let (u, s) = (self.u, self.s);
        let lanes = s.XL.value().unwrap_or_default();
        let bits = lanes.trailing_zeros() as usize;
        let words = u.wire("lane_words", s.XL * s.n);
        for lane in 0..lanes {
            let word = concat([add.into(), number(bits, lane).gated(goes)]);
            u.assign(words.part(s.n * lane, s.n), word);
        }
        words.into()
    }
}
