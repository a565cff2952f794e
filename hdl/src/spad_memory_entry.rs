//! The logic before MEM0: the PREMEM queue, and the atomic operations that
//! share the scratchpad's request port with it.

use crate::codes::{kind, seq};
use crate::module::{Module, Result, UnitDoc, top};
use crate::params::{Params, Sizes};
use crate::payload::{Control, Lanes, Tag};
use crate::signal::{Bits, Expr, Operand, Signal, code, concat, when};
use crate::unit::UnitBuilder;
use crate::{spad_kind_operation, spad_premem_queue, spad_retry_sequencer};

/// Emits `spad_memory_entry`, its parts first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let queue = spad_premem_queue::emit_unit(p)?;
    let operation = spad_kind_operation::emit_kernel()?;
    let u = UnitBuilder::new(doc(p));
    let entry = Entry {
        u: &u,
        io: Ports::new(&u, p),
    };
    let head = entry.premem(p, top(&queue), &operation);
    let sequencer = if p.LOCKS == 0 {
        entry.without_locks(&head);
        Vec::new()
    } else {
        let sequencer = spad_retry_sequencer::emit_unit(p)?;
        entry.atomics(&head, top(&queue), top(&sequencer));
        sequencer
    };
    let module = u.emit()?;
    let parts = queue.into_iter().chain([operation]).chain(sequencer);
    Ok(parts.chain([module]).collect())
}

/// Shared by the parts of the description.
struct Entry<'a> {
    u: &'a UnitBuilder,
    io: Ports,
}

/// The ports, by their names.
struct Ports {
    s: Sizes,
    clk: Signal,
    rst: Signal,
    cfg_elastic: Signal,
    take_atomic: Signal,
    in_valid: Signal,
    in_ready: Signal,
    pass: Pass,
    request: Request,
    atom_infl: Signal,
    /// The scratchpad's answer to the sequencer, `sr_valid` first.
    answer: [Signal; 6],
    seq_busy: Signal,
    seq_state: Signal,
    pre_count: Signal,
}

impl Ports {
    fn new(u: &UnitBuilder, p: &Params) -> Self {
        let s = u.all_sizes(p);
        let [clk, rst] = u.clocked();
        let accepted = "an input would be accepted at the end of this cycle";
        let in_flight = "an ATOMIC is in flight";
        let io = Ports {
            s,
            clk,
            rst,
            cfg_elastic: u.input("cfg_elastic", 1, "the PREMEM queue is in use"),
            take_atomic: u.input("take_atomic", 1, "an ATOMIC is taken in this cycle"),
            in_valid: u.input("in_valid", 1, "a pass is offered"),
            in_ready: u.output("in_ready", 1, accepted),
            pass: pass_ports(u, &s),
            request: request_ports(u, &s),
            atom_infl: match p.LOCKS {
                0 => u.output("atom_infl", 1, in_flight),
                _ => u.output_register("atom_infl", 1, in_flight).reset(0),
            },
            answer: [
                u.input("sr_valid", 1, "response to a request of the sequencer"),
                u.input("sr_mask", s.L, "lanes of the response"),
                u.input("sr_data", s.L * s.D, "words read"),
                u.input("sr_success", s.L, "lanes that took their lock"),
                u.input("sr_error", 1, "error"),
                u.input("sr_degree", s.DG, "conflict degree"),
            ],
            seq_busy: u.output("seq_busy", 1, "the sequencer has the request port"),
            seq_state: u.output("seq_state", 3, "state of the retry sequencer"),
            pre_count: u.output("pre_count", s.PQW, "entries of the PREMEM queue"),
        };
        for input in [io.take_atomic].into_iter().chain(io.answer) {
            u.unused(p.LOCKS == 0, input, "the machine has no locks");
        }
        io
    }
}

/// The head of the PREMEM queue.
struct Head {
    valid: Signal,
    ready: Signal,
    pass: Pass,
    kind: Signal,
    op: Signal,
    /// The tag of its request.
    tag: Signal,
}

/// The sequencer's requests.
struct Sequencer {
    valid: Signal,
    op: Signal,
    lanes: Lanes,
    tag: Signal,
    error: Signal,
    degree: Signal,
}

impl Entry<'_> {
    fn premem(&self, p: &Params, queue: &Module, operation: &Module) -> Head {
        let (u, io, s) = (self.u, &self.io, &self.io.s);
        u.section("The PREMEM queue.");
        let [valid, ready] = u.wires(["head_valid", "head_ready"], 1);
        let pass = Pass::wires(u, s, "head");
        let reason = "only atomics have an operation code";
        u.unused(p.LOCKS == 0, pass.aop, reason);
        u.instance(queue, "premem")
            .same([io.clk, io.rst])
            .port("cfg_on", io.cfg_elastic)
            .port("in_valid", io.in_valid)
            .port("in_data", io.pass.joined(s))
            .port("in_ready", io.in_ready)
            .port("out_valid", valid)
            .port("out_data", pass.joined(s))
            .port("out_ready", ready)
            .port("count", io.pre_count)
            .done();
        let kind = u.name("head_kind", Control::parts(s, pass.ctl).kind);
        let op = u.wire("head_op", 3);
        u.instance(operation, "operation")
            .port("kind", kind)
            .port("op", op)
            .done();
        Head {
            valid,
            ready,
            pass,
            kind,
            op,
            tag: u.named("head_tag", s.TGW, tag_of(s, pass.ctl)),
        }
    }

    fn without_locks(&self, head: &Head) {
        let (u, io, request) = (self.u, &self.io, &self.io.request);
        u.section("The entry to MEM0. No locks: the scratchpad answers an ATOMIC with an error.");
        u.assign(io.atom_infl, 0);
        u.assign(io.seq_state, code(&seq::FIELD, seq::IDLE));
        u.assign(io.seq_busy, 0);
        u.assign(head.ready, request.ready);
        u.assign(request.valid, head.valid);
        u.assign(request.op, head.op);
        let lanes = request.lanes.fields().into_iter();
        lanes
            .zip(head.pass.lanes.fields())
            .for_each(|(to, from)| u.assign(to, from));
        u.assign(request.be, head.pass.be);
        u.assign(request.tag, head.tag);
    }

    /// The queue and the sequencer of atomics, and who has the request port.
    fn atomics(&self, head: &Head, queue: &Module, sequencer: &Module) {
        let u = self.u;
        u.section(
            "ATOMIC leaves the path here, for a queue of its own: after it may come the \
             store-and-unlock that it waits for.",
        );
        let is_atomic = head.kind.is(code(&kind::FIELD, kind::ATOMIC));
        let head_atomic = u.name("head_atomic", head.valid & is_atomic);
        let seq_valid = u.wire("seq_valid", 1);
        let [aq_ready, at_valid, at_ready] = u.wires(["aq_ready", "at_valid", "at_ready"], 1);
        let at = self.queue_of_atomics(
            head,
            queue,
            head_atomic & !seq_valid,
            [aq_ready, at_valid, at_ready],
        );
        let seq = self.sequencer(sequencer, at, [at_valid, at_ready], seq_valid);
        let seq_ends = self.in_flight(&seq);
        self.request(head, head_atomic, aq_ready, &seq, seq_ends);
    }

    fn queue_of_atomics(
        &self,
        head: &Head,
        queue: &Module,
        enters: Expr,
        [aq_ready, at_valid, at_ready]: [Signal; 3],
    ) -> Pass {
        let (u, io, s) = (self.u, &self.io, &self.io.s);
        let at = Pass::wires(u, s, "at");
        u.unused(true, at.be, "atomics write whole words");
        let aq_count = u.wire_in_part("aq_count", s.PQW, "for debugging");
        u.instance(queue, "atomics")
            .same([io.clk, io.rst])
            .port("cfg_on", 1)
            .port("in_valid", enters)
            .port("in_data", head.pass.joined(s))
            .port("in_ready", aq_ready)
            .port("out_valid", at_valid)
            .port("out_data", at.joined(s))
            .port("out_ready", at_ready)
            .port("count", aq_count)
            .done();
        at
    }

    fn sequencer(
        &self,
        sequencer: &Module,
        at: Pass,
        offered: [Signal; 2],
        valid: Signal,
    ) -> Sequencer {
        let (u, io, s) = (self.u, &self.io, &self.io.s);
        let seq = Sequencer {
            valid,
            op: u.wire("seq_op", 3),
            lanes: Lanes::wires(u, s, "seq"),
            tag: u.wire("seq_tag", s.TGW),
            error: u.wire("seq_error", 1),
            degree: u.wire("seq_degree", s.DG),
        };
        let rounds = u.wire_in_part("rounds", 16, "for debugging");
        u.instance(sequencer, "sequencer")
            .same([io.clk, io.rst])
            .same(offered)
            .port("at_aop", at.aop)
            .bundle("at", at.lanes.values(s))
            .port("at_tag", tag_of(s, at.ctl))
            .port("sp_valid", seq.valid)
            .port("sp_ready", io.request.ready)
            .port("sp_op", seq.op)
            .bundle("sp", seq.lanes.values(s))
            .port("sp_tag", seq.tag)
            .port("sp_error", seq.error)
            .port("sp_degree", seq.degree)
            .same(io.answer)
            .port("state", io.seq_state)
            .same([rounds])
            .done();
        seq
    }

    /// `atom_infl`; whether the sequencer finishes with its pass.
    fn in_flight(&self, seq: &Sequencer) -> Signal {
        let (u, io) = (self.u, &self.io);
        u.section("One ATOMIC at a time, until the last answer of its last pass has gone.");
        let seq_ends = io.seq_state.is(code(&seq::FIELD, seq::DONE));
        let seq_ends = u.name("seq_ends", seq_ends);
        // The control ends with the bit of the last pass.
        let seq_last = u.name("seq_last", seq.tag.at(io.s.TGW - 1));
        let atomic_ends = seq_ends & io.request.ready & seq_last;
        let atomic_ends = u.name("atomic_ends", atomic_ends);
        let in_flight = when(io.take_atomic, 1).when(atomic_ends, 0);
        u.at_clock().next(io.atom_infl, in_flight);
        seq_ends
    }

    /// The request of the sequencer, or of the queue.
    fn request(
        &self,
        head: &Head,
        head_atomic: Signal,
        aq_ready: Signal,
        seq: &Sequencer,
        seq_ends: Signal,
    ) {
        let (u, s, request) = (self.u, &self.io.s, &self.io.request);
        u.section(
            "The entry to MEM0. The sequencer goes first. Its answers are its own, but for the \
             last.",
        );
        let own = Tag::<Operand> {
            own: (!seq_ends).into(),
            error: seq.error.into(),
            degree: seq.degree.into(),
            ctl: 0.into(),
        };
        let seq_req_tag = u.named("seq_req_tag", s.TGW, seq.tag | own.joined(s));
        u.assign(self.io.seq_busy, seq.valid);
        let leaves = when(head_atomic, aq_ready).otherwise(request.ready);
        let head_leaves = u.name("head_leaves", leaves);
        u.assign(head.ready, !seq.valid & head_leaves);
        u.assign(request.valid, seq.valid | (head.valid & !head_atomic));
        let chosen = |to: Signal, own: Signal, other: Signal| {
            u.assign(to, when(seq.valid, own).otherwise(other));
        };
        chosen(request.op, seq.op, head.op);
        let sides = seq.lanes.fields().into_iter().zip(head.pass.lanes.fields());
        for (to, (own, other)) in request.lanes.fields().into_iter().zip(sides) {
            chosen(to, own, other);
        }
        chosen(request.tag, seq_req_tag, head.tag);
        u.note("An atomic writes whole words.");
        u.assign(request.be, head.pass.be | seq.valid.copies(s.L * s.DB));
    }
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_memory_entry".into(),
        summary: "queues passes in front of the scratchpad and makes requests of them; atomics \
                  go to a queue of their own and its sequencer, which goes first."
            .into(),
        parameters: p.text(&["L", "D", "R", "LK", "PQ", "LOCKS", "TGW"]),
        timing: "a pass is requested in the cycle in which it comes if the queue is empty and \
                 the sequencer does not ask"
            .into(),
        paper: "elastic paper, section 4.1; atomics paper, section II; \
                microarchitecture/memory-entry.md"
            .into(),
        latency_cycles: 0,
    }
}

/// The tag of a request for a pass with this control.
fn tag_of(s: &Sizes, ctl: Signal) -> Expr {
    let tag = Tag::<Operand> {
        own: 0.into(),
        error: 0.into(),
        degree: 0.into(),
        ctl: ctl.into(),
    };
    tag.joined(s)
}

/// A pass, as the queues hold it.
#[derive(Clone, Copy)]
struct Pass {
    ctl: Signal,
    lanes: Lanes,
    be: Signal,
    aop: Signal,
}

impl Pass {
    fn wires(u: &UnitBuilder, s: &Sizes, prefix: &str) -> Self {
        let wire = |name: &str, width| u.wire(&format!("{prefix}_{name}"), width);
        Pass {
            ctl: wire("ctl", s.CTL),
            lanes: Lanes::wires(u, s, prefix),
            be: wire("be", s.L * s.DB),
            aop: wire("aop", 4.into()),
        }
    }

    fn joined(self, s: &Sizes) -> Expr {
        let lanes = self.lanes.joined(s);
        concat([self.aop.into(), self.be.into(), lanes, self.ctl.into()])
    }
}

fn pass_ports(u: &UnitBuilder, s: &Sizes) -> Pass {
    let about = "its control: last, pass, pc, tag, kind, warp, from the top";
    Pass {
        ctl: u.input("in_ctl", s.CTL, about),
        lanes: Lanes {
            mask: u.input("in_mask", s.L, "active lanes"),
            bank: u.input("in_bank", s.L * s.m, "bank, m bits per lane"),
            row: u.input("in_row", s.L * s.R, "row, R bits per lane"),
            lock: u.input("in_lock", s.L * s.LK, "lock, LK bits per lane"),
            data: u.input("in_data", s.L * s.D, "data, D bits per lane"),
        },
        be: u.input("in_be", s.L * s.DB, "byte enables, DB bits per lane"),
        aop: u.input("in_aop", 4, "operation of an atomic"),
    }
}

/// The request port of the scratchpad.
struct Request {
    valid: Signal,
    ready: Signal,
    op: Signal,
    lanes: Lanes,
    be: Signal,
    tag: Signal,
}

fn request_ports(u: &UnitBuilder, s: &Sizes) -> Request {
    let about = "control, degree, error, source: 1 for what the sequencer waits for";
    Request {
        valid: u.output("req_valid", 1, "a scratchpad request is offered"),
        ready: u.input("req_ready", 1, "a request would be accepted"),
        op: u.output("req_op", 3, "operation"),
        lanes: Lanes {
            mask: u.output("req_mask", s.L, "active lanes"),
            bank: u.output("req_bank", s.L * s.m, "bank, m bits per lane"),
            row: u.output("req_row", s.L * s.R, "row, R bits per lane"),
            lock: u.output("req_lock", s.L * s.LK, "lock, LK bits per lane"),
            data: u.output("req_data", s.L * s.D, "data, D bits per lane"),
        },
        be: u.output("req_be", s.L * s.DB, "byte enables, DB bits per lane"),
        tag: u.output("req_tag", s.TGW, about),
    }
}
