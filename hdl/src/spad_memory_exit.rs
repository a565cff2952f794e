//! The logic after the scratchpad: the sequencer's answers are split from the
//! others, which become results for the writeback port.

use crate::codes::kind;
use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::payload::{Control, Outcome, Tag};
use crate::signal::{Bits, Expr, Signal, code, concat, when};
use crate::unit::UnitBuilder;

/// Emits `spad_memory_exit`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let u = UnitBuilder::new(doc(p));
    let io = Ports::new(&u, p);
    u.section(
        "The tag: the sequencer waits for the answer; error and degree of an atomic; the \
         control of the pass.",
    );
    let tag = Tag::wires(&u, &io.s, "tag");
    u.assign(tag.joined(&io.s), io.resp_tag);
    let ctl = Control::wires(&u, &io.s, "");
    u.assign(ctl.joined(&io.s), tag.ctl);
    let [valid, result] = result(&u, &io, tag, ctl);
    let ready = stages(&u, p, &io, [valid, result]);
    u.section("What the sequencer waits for leaves at once.");
    u.assign(io.sr_valid, io.resp_valid & tag.own);
    u.assign(io.resp_ready, tag.own | ready);
    resolve(&u, p, &io, ctl, valid & ready);
    Ok(vec![u.emit()?])
}

/// The ports, by their names.
struct Ports {
    s: Sizes,
    resp_valid: Signal,
    resp_ready: Signal,
    resp_mask: Signal,
    resp_tag: Signal,
    resp_data: Signal,
    resp_success: Signal,
    resp_error: Signal,
    resp_degree: Signal,
    sr_valid: Signal,
    resolved_valid: Signal,
    resolved_occ: Signal,
    resolved_last: Signal,
    resolved_pc: Signal,
    out_valid: Signal,
    out_ready: Signal,
    out_data: Signal,
    /// Occupied stages, where there are stages after the scratchpad.
    mem_valid: Option<Signal>,
}

impl Ports {
    fn new(u: &UnitBuilder, p: &Params) -> Self {
        let s = u.all_sizes(p);
        let clocks = u.clocked();
        let tag = "its tag: control, degree, error, source";
        let words = "words read, or the data of a pass; else 0";
        let waits = "it is one that the sequencer waits for: taken at once";
        let predicted = "a predicted pass leaves the scratchpad";
        let last = "the pass is the last of its instruction";
        let fields = "degree, error, success, data, mask, last, pass, kind, tag, warp, from the \
                      top";
        let occupied = "MEM4 and on hold a result, from bit 0";
        let io = Ports {
            s,
            resp_valid: u.input("resp_valid", 1, "a response is offered"),
            resp_ready: u.output("resp_ready", 1, "a response would be accepted"),
            resp_mask: u.input("resp_mask", s.L, "active lanes of the request"),
            resp_tag: u.input("resp_tag", s.TGW, tag),
            resp_data: u.input("resp_data", s.L * s.D, words),
            resp_success: u.input("resp_success", s.L, "lanes that took their lock"),
            resp_error: u.input("resp_error", 1, "error"),
            resp_degree: u.input("resp_degree", s.DG, "conflict degree"),
            sr_valid: u.output("sr_valid", 1, waits),
            resolved_valid: u.output("resolved_valid", 1, predicted),
            resolved_occ: u.output("resolved_occ", s.OCW, "cycles that it took in MEM0"),
            resolved_last: u.output("resolved_last", 1, last),
            resolved_pc: u.output("resolved_pc", s.PCW, "the instruction's program counter"),
            out_valid: u.output("out_valid", 1, "a result is offered"),
            out_ready: u.input("out_ready", 1, "an output would be accepted"),
            out_data: u.output("out_data", s.WBW, fields),
            mem_valid: (p.M > 4).then(|| u.output("mem_valid", p.M - 4, occupied)),
        };
        for input in clocks {
            u.unused(p.M <= 4, input, "no stages after the scratchpad");
        }
        io
    }
}

/// A result for the writeback port: whether there is one, and its fields.
fn result(u: &UnitBuilder, io: &Ports, tag: Tag, ctl: Control) -> [Signal; 2] {
    u.section("A result for the writeback port. What an atomic reports is in its tag.");
    let valid = u.name("valid", io.resp_valid & !tag.own);
    let is_atomic = ctl.kind.is(code(&kind::FIELD, kind::ATOMIC));
    let degree = when(is_atomic, tag.degree).otherwise(io.resp_degree);
    let result = Outcome {
        warp: ctl.warp,
        tag: ctl.tag,
        kind: ctl.kind,
        pass: ctl.pass,
        last: ctl.last,
        mask: io.resp_mask,
        data: io.resp_data,
        success: io.resp_success,
        error: u.name("error", io.resp_error | tag.error),
        degree: u.name("degree", degree),
    };
    [valid, u.named("result", io.s.WBW, result.joined(&io.s))]
}

/// The stages that are not in the scratchpad; whether the first can take a
/// result.
fn stages(u: &UnitBuilder, p: &Params, io: &Ports, result: [Signal; 2]) -> Signal {
    let numbers = 4..p.M;
    if numbers.is_empty() {
        u.paragraph();
    } else {
        u.section("Stages after the scratchpad, each free when what it holds can go on.");
    }
    let stage = |k: usize| {
        let valid = u.register(&format!("mem{k}_valid"), 1).reset(0);
        [valid, u.register(&format!("mem{k}"), io.s.WBW).reset(0)]
    };
    let registers: Vec<_> = numbers.clone().map(stage).collect();
    let mut ready = io.out_ready;
    let mut free = Vec::new();
    for (k, [valid, _]) in numbers.zip(&registers).rev() {
        ready = u.name(&format!("mem{k}_ready"), !*valid | ready);
        free.push(ready);
    }
    let mut before = result;
    for (stage, ready) in registers.iter().zip(free.into_iter().rev()) {
        let clocked = u.at_clock().when(ready);
        clocked.next(stage[0], before[0]).next(stage[1], before[1]);
        before = *stage;
    }
    u.assign(io.out_valid, before[0]);
    u.assign(io.out_data, before[1]);
    if let Some(mem_valid) = io.mem_valid {
        let valid = registers.iter().rev().map(|stage| stage[0].into());
        u.assign(mem_valid, concat(valid));
    }
    ready
}

/// The excess of a pass that `leaves`.
fn resolve(u: &UnitBuilder, p: &Params, io: &Ports, ctl: Control, leaves: Expr) {
    u.section(
        "What the pass cost in MEM0, for the conflict history: of one that locks, each \
         group for all windows of the lock unit.",
    );
    let [load, locks, last] = [kind::LOAD, kind::LDLK, kind::STUL].map(|k| code(&kind::FIELD, k));
    let predicted = ctl.kind.at_least(load) & ctl.kind.at_most(last);
    u.assign(io.resolved_valid, leaves & predicted);
    u.assign(io.resolved_last, ctl.last);
    u.assign(io.resolved_pc, ctl.pc);
    let groups = when(io.resp_degree.any(), io.resp_degree).otherwise(1);
    let groups = u.name("groups", groups).extended(p.OCW);
    if p.OCW > p.DG {
        let windows = groups.clone().up(p.OCW - p.DG);
        let cycles = when(ctl.kind.at_least(locks), windows).otherwise(groups);
        u.assign(io.resolved_occ, cycles);
    } else {
        u.assign(io.resolved_occ, groups);
    }
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_memory_exit".into(),
        summary: "turns the scratchpad's responses into results for the writeback port, after \
                  the memory stages that are not in the scratchpad, and tells the conflict \
                  prediction what a pass cost."
            .into(),
        parameters: p.text(&["L", "D", "DG", "OCW", "LKG", "M", "TGW", "WBW"]),
        timing: match p.M {
            0..=4 => "combinational".into(),
            stages => format!("{} cycles if nothing is in the way", stages - 4),
        },
        paper: "elastic paper, section 4; microarchitecture/memory-exit.md".into(),
        latency_cycles: p.M.saturating_sub(4) as u32,
    }
}
