//! What stands behind the scratchpad: the sequencer's answers part from the
//! others, which become results for the writeback port.

use crate::codes::kind;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::payload::{Control, Outcome, Tag};
use crate::signal::{Bits, code, concat, when};
use crate::unit::Unit;

/// Emits `spad_memory_exit`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let u = Unit::new(doc(p));
    let s = u.all_sizes(p);
    // Those that are not in the scratchpad.
    let stages = 4..p.M;
    let [clk, rst] = u.clocked();
    let resp_valid = u.input("resp_valid", 1, "a response is offered");
    let resp_ready = u.output("resp_ready", 1, "the response is accepted");
    let resp_mask = u.input("resp_mask", s.L, "active lanes of the request");
    let about = "its tag: control, degree, error, source";
    let resp_tag = u.input("resp_tag", s.TGW, about);
    let about = "words read, or the data of a pass; else 0";
    let resp_data = u.input("resp_data", s.L * s.D, about);
    let resp_success = u.input("resp_success", s.L, "lanes that took their lock");
    let resp_error = u.input("resp_error", 1, "error");
    let resp_degree = u.input("resp_degree", s.DG, "conflict degree");
    let about = "it is one that the sequencer waits for: taken at once";
    let sr_valid = u.output("sr_valid", 1, about);
    let about = "a predicted pass leaves the scratchpad";
    let resolved_valid = u.output("resolved_valid", 1, about);
    let resolved_occ = u.output("resolved_occ", s.OCC, "cycles that it took in MEM0");
    let resolved_last = u.output(
        "resolved_last",
        1,
        "the pass is the last of its instruction",
    );
    let about = "the instruction's program counter";
    let resolved_pc = u.output("resolved_pc", s.PCW, about);
    let out_valid = u.output("out_valid", 1, "a result is offered");
    let out_ready = u.input("out_ready", 1, "the output is accepted");
    let about = "degree, error, success, data, mask, last, pass, kind, tag, warp, from the top";
    let out_data = u.output("out_data", s.WBW, about);
    let about = "MEM4 and on hold a result, from bit 0";
    let mem_valid = (p.M > 4).then(|| u.output("mem_valid", p.M - 4, about));
    for input in [clk, rst] {
        u.unused(p.M <= 4, input, "no stages behind the scratchpad");
    }

    u.section(
        "The tag: the sequencer waits for the answer; error and degree of an atomic; the \
         control of the pass.",
    );
    let tag = Tag::wires(&u, &s, "tag");
    u.assign(tag.joined(&s), resp_tag);
    let ctl = Control::wires(&u, &s, "");
    u.assign(ctl.joined(&s), tag.ctl);

    u.section("A result for the writeback port. What an atomic reports is in its tag.");
    let valid = u.name("valid", resp_valid & !tag.own);
    let is_atomic = ctl.kind.is(code(&kind::FIELD, kind::ATOMIC));
    let degree = when(is_atomic, tag.degree).otherwise(resp_degree);
    let result = Outcome {
        warp: ctl.warp,
        tag: ctl.tag,
        kind: ctl.kind,
        pass: ctl.pass,
        last: ctl.last,
        mask: resp_mask,
        data: resp_data,
        success: resp_success,
        error: u.name("error", resp_error | tag.error),
        degree: u.name("degree", degree),
    };
    let result = u.named("result", s.WBW, result.joined(&s));

    if stages.is_empty() {
        u.paragraph();
    } else {
        u.section("Stages behind the scratchpad, each free when what it holds can go on.");
    }
    let stage = |k: usize| {
        let valid = u.register(&format!("mem{k}_valid"), 1).reset(0);
        [valid, u.register(&format!("mem{k}"), s.WBW).reset(0)]
    };
    let registers: Vec<_> = stages.clone().map(stage).collect();
    let mut ready = out_ready;
    let mut free = Vec::new();
    for (k, [valid, _]) in stages.zip(&registers).rev() {
        ready = u.name(&format!("mem{k}_ready"), !*valid | ready);
        free.push(ready);
    }
    let mut before = [valid, result];
    for (stage, ready) in registers.iter().zip(free.into_iter().rev()) {
        let clocked = u.at_clock().when(ready);
        clocked.next(stage[0], before[0]).next(stage[1], before[1]);
        before = *stage;
    }
    u.assign(out_valid, before[0]);
    u.assign(out_data, before[1]);
    if let Some(mem_valid) = mem_valid {
        let valid = registers.iter().rev().map(|stage| stage[0].into());
        u.assign(mem_valid, concat(valid));
    }

    u.section("What the sequencer waits for leaves at once.");
    u.assign(sr_valid, resp_valid & tag.own);
    u.assign(resp_ready, tag.own | ready);

    u.section(
        "What the pass cost in MEM0, for the conflict history: of one that locks, each \
               group for all windows of the lock unit.",
    );
    let [load, locks, last] = [kind::LOAD, kind::LDLK, kind::STUL].map(|k| code(&kind::FIELD, k));
    let predicted = ctl.kind.at_least(load) & ctl.kind.at_most(last);
    u.assign(resolved_valid, valid & ready & predicted);
    u.assign(resolved_last, ctl.last);
    u.assign(resolved_pc, ctl.pc);
    let groups = when(resp_degree.any(), resp_degree).otherwise(1);
    let groups = u.name("groups", groups).extended(p.OCC);
    if p.OCC > p.DG {
        let windows = groups.clone().up(p.OCC - p.DG);
        let cycles = when(ctl.kind.at_least(locks), windows).otherwise(groups);
        u.assign(resolved_occ, cycles);
    } else {
        u.assign(resolved_occ, groups);
    }
    Ok(vec![u.emit()?])
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_memory_exit".into(),
        summary: "turns the scratchpad's responses into results for the writeback port, behind \
                  the memory stages that are not in the scratchpad, and tells the conflict \
                  prediction what a pass cost."
            .into(),
        parameters: p.text(&["L", "D", "DG", "OCC", "LKG", "M", "TGW", "WBW"]),
        timing: match p.M {
            0..=4 => "combinational".into(),
            stages => format!("{} cycles if nothing is in the way", stages - 4),
        },
        paper: "elastic paper, section 4; microarchitecture/memory-exit.md".into(),
        latency_cycles: p.M.saturating_sub(4) as u32,
    }
}
