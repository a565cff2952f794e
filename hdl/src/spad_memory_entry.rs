//! What stands in front of MEM0: the PREMEM queue, and the atomic operations
//! that share the scratchpad's request port with it.

use crate::codes::{kind, seq};
use crate::module::{Module, Result, UnitDoc, top};
use crate::params::{Params, Sizes};
use crate::payload::{Control, Lanes, Tag};
use crate::signal::{Bits, Expr, Operand, Signal, code, concat, when};
use crate::unit::Unit;
use crate::{spad_kind_operation, spad_premem_queue, spad_retry_sequencer};

/// Emits `spad_memory_entry` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let queue = spad_premem_queue::emit_unit(p)?;
    let operation = spad_kind_operation::emit_kernel()?;
    let u = Unit::new(doc(p));
    let s = u.all_sizes(p);
    let [clk, rst] = u.clocked();
    let cfg_elastic = u.input("cfg_elastic", 1, "the PREMEM queue is in use");
    let take_atomic = u.input("take_atomic", 1, "an ATOMIC is taken in this cycle");
    let in_valid = u.input("in_valid", 1, "a pass is offered");
    let in_ready = u.output(
        "in_ready",
        1,
        "the input is accepted at the end of this cycle",
    );
    let pass = pass_ports(&u, &s);
    let request = request_ports(&u, &s);
    let about = "an ATOMIC is in flight";
    let atom_infl = match p.LOCKS {
        0 => u.output("atom_infl", 1, about),
        _ => u.output_register("atom_infl", 1, about).reset(0),
    };
    let answer = [
        u.input("sr_valid", 1, "response to a request of the sequencer"),
        u.input("sr_mask", s.L, "lanes of the response"),
        u.input("sr_data", s.L * s.D, "words read"),
        u.input("sr_success", s.L, "lanes that took their lock"),
        u.input("sr_error", 1, "error"),
        u.input("sr_degree", s.DG, "conflict degree"),
    ];
    let seq_busy = u.output("seq_busy", 1, "the sequencer has the request port");
    let seq_state = u.output("seq_state", 3, "state of the retry sequencer");
    let pre_count = u.output("pre_count", s.PQW, "entries of the PREMEM queue");
    for input in [take_atomic].into_iter().chain(answer) {
        u.unused(p.LOCKS == 0, input, "the machine has no locks");
    }

    u.section("The PREMEM queue.");
    let [head_valid, head_ready] = u.wires(["head_valid", "head_ready"], 1);
    let head = Pass::wires(&u, &s, "head");
    let reason = "only atomics have an operation code";
    u.unused(p.LOCKS == 0, head.aop, reason);
    u.instance(top(&queue), "premem")
        .same([clk, rst])
        .port("cfg_on", cfg_elastic)
        .port("in_valid", in_valid)
        .port("in_data", pass.joined(&s))
        .port("in_ready", in_ready)
        .port("out_valid", head_valid)
        .port("out_data", head.joined(&s))
        .port("out_ready", head_ready)
        .port("count", pre_count)
        .done();
    let head_kind = u.name("head_kind", Control::parts(&s, head.ctl).kind);
    let head_op = u.wire("head_op", 3);
    u.instance(&operation, "operation")
        .port("kind", head_kind)
        .port("op", head_op)
        .done();
    let head_tag = u.named("head_tag", s.TGW, tag_of(&s, head.ctl));
    if p.LOCKS == 0 {
        u.section("The entry to MEM0. No locks: the scratchpad answers an ATOMIC with an error.");
        u.assign(atom_infl, 0);
        u.assign(seq_state, code(&seq::FIELD, seq::IDLE));
        u.assign(seq_busy, 0);
        u.assign(head_ready, request.ready);
        u.assign(request.valid, head_valid);
        u.assign(request.op, head_op);
        let lanes = request.lanes.fields().into_iter();
        lanes
            .zip(head.lanes.fields())
            .for_each(|(to, from)| u.assign(to, from));
        u.assign(request.be, head.be);
        u.assign(request.tag, head_tag);
        let module = u.emit()?;
        return Ok(queue.into_iter().chain([operation, module]).collect());
    }

    u.section(
        "ATOMIC leaves the path here, for a queue of its own: behind it may be the \
         store-and-unlock that it waits for.",
    );
    let is_atomic = head_kind.is(code(&kind::FIELD, kind::ATOMIC));
    let head_atomic = u.name("head_atomic", head_valid & is_atomic);
    let seq_valid = u.wire("seq_valid", 1);
    let [aq_ready, at_valid, at_ready] = u.wires(["aq_ready", "at_valid", "at_ready"], 1);
    let at = Pass::wires(&u, &s, "at");
    u.unused(true, at.be, "atomics write whole words");
    let aq_count = u.wire_in_part("aq_count", s.PQW, "for debugging");
    u.instance(top(&queue), "atomics")
        .same([clk, rst])
        .port("cfg_on", 1)
        .port("in_valid", head_atomic & !seq_valid)
        .port("in_data", head.joined(&s))
        .port("in_ready", aq_ready)
        .port("out_valid", at_valid)
        .port("out_data", at.joined(&s))
        .port("out_ready", at_ready)
        .port("count", aq_count)
        .done();
    let sequencer = spad_retry_sequencer::emit_unit(p)?;
    let seq_op = u.wire("seq_op", 3);
    let seq = Lanes::wires(&u, &s, "seq");
    let seq_tag = u.wire("seq_tag", s.TGW);
    let seq_error = u.wire("seq_error", 1);
    let seq_degree = u.wire("seq_degree", s.DG);
    let rounds = u.wire_in_part("rounds", 16, "for debugging");
    u.instance(top(&sequencer), "sequencer")
        .same([clk, rst, at_valid, at_ready])
        .port("at_aop", at.aop)
        .bundle("at", at.lanes.values(&s))
        .port("at_tag", tag_of(&s, at.ctl))
        .port("sp_valid", seq_valid)
        .port("sp_ready", request.ready)
        .port("sp_op", seq_op)
        .bundle("sp", seq.values(&s))
        .port("sp_tag", seq_tag)
        .port("sp_error", seq_error)
        .port("sp_degree", seq_degree)
        .same(answer)
        .port("state", seq_state)
        .same([rounds])
        .done();

    u.section("One ATOMIC at a time, until the last answer of its last pass has gone.");
    let seq_ends = seq_state.is(code(&seq::FIELD, seq::DONE));
    let seq_ends = u.name("seq_ends", seq_ends);
    // The control ends with the bit of the last pass.
    let seq_last = u.name("seq_last", seq_tag.at(s.TGW - 1));
    let atomic_ends = u.name("atomic_ends", seq_ends & request.ready & seq_last);
    u.at_clock()
        .next(atom_infl, when(take_atomic, 1).when(atomic_ends, 0));

    u.section(
        "The entry to MEM0. The sequencer goes first. Its answers are its own, but for the last.",
    );
    let own = Tag::<Operand> {
        own: (!seq_ends).into(),
        error: seq_error.into(),
        degree: seq_degree.into(),
        ctl: 0.into(),
    };
    let seq_req_tag = u.named("seq_req_tag", s.TGW, seq_tag | own.joined(&s));
    u.assign(seq_busy, seq_valid);
    let leaves = when(head_atomic, aq_ready).otherwise(request.ready);
    let head_leaves = u.name("head_leaves", leaves);
    u.assign(head_ready, !seq_valid & head_leaves);
    u.assign(request.valid, seq_valid | (head_valid & !head_atomic));
    let chosen = |to: Signal, own: Signal, other: Signal| {
        u.assign(to, when(seq_valid, own).otherwise(other));
    };
    chosen(request.op, seq_op, head_op);
    let sides = seq.fields().into_iter().zip(head.lanes.fields());
    for (to, (own, other)) in request.lanes.fields().into_iter().zip(sides) {
        chosen(to, own, other);
    }
    chosen(request.tag, seq_req_tag, head_tag);
    u.note("An atomic writes whole words.");
    u.assign(request.be, head.be | seq_valid.copies(s.L * s.BE));
    let module = u.emit()?;
    let parts = queue.into_iter().chain([operation]).chain(sequencer);
    Ok(parts.chain([module]).collect())
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
    fn wires(u: &Unit, s: &Sizes, prefix: &str) -> Self {
        let wire = |name: &str, width| u.wire(&format!("{prefix}_{name}"), width);
        Pass {
            ctl: wire("ctl", s.CTL),
            lanes: Lanes::wires(u, s, prefix),
            be: wire("be", s.L * s.BE),
            aop: wire("aop", 4.into()),
        }
    }

    fn joined(self, s: &Sizes) -> Expr {
        let lanes = self.lanes.joined(s);
        concat([self.aop.into(), self.be.into(), lanes, self.ctl.into()])
    }
}

fn pass_ports(u: &Unit, s: &Sizes) -> Pass {
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
        be: u.input("in_be", s.L * s.BE, "byte enables, BE bits per lane"),
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

fn request_ports(u: &Unit, s: &Sizes) -> Request {
    let about = "control, degree, error, source: 1 for what the sequencer waits for";
    Request {
        valid: u.output("req_valid", 1, "a scratchpad request is offered"),
        ready: u.input("req_ready", 1, "the request is accepted"),
        op: u.output("req_op", 3, "operation"),
        lanes: Lanes {
            mask: u.output("req_mask", s.L, "active lanes"),
            bank: u.output("req_bank", s.L * s.m, "bank, m bits per lane"),
            row: u.output("req_row", s.L * s.R, "row, R bits per lane"),
            lock: u.output("req_lock", s.L * s.LK, "lock, LK bits per lane"),
            data: u.output("req_data", s.L * s.D, "data, D bits per lane"),
        },
        be: u.output("req_be", s.L * s.BE, "byte enables, BE bits per lane"),
        tag: u.output("req_tag", s.TGW, about),
    }
}
