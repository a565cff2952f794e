//! The passes of an instruction, one after the other into EX.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_pass_count, spad_pick};
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    /// Bits that a warp offers: pc, tag, words, kind.
    offer: usize,
    /// Warp slots, rounded up to a power of two.
    slots: usize,
    /// One-hot selector over them.
    select: String,
}

/// Emits `spad_pass_issue` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let offer = p.PCW + p.TG + 2 + 4;
    let slots = p.W.next_power_of_two();
    let select = spad_pick::emit_helper(p, slots, offer)?;
    let count = spad_pass_count::emit_kernel(p)?;
    let extra = Extra {
        offer,
        slots,
        select: select.doc.name.clone(),
    };
    let module = ports(p)
        .instantiates(&select)
        .instantiates(&count)
        .emit_with("spad_pass_issue.v.tera", p, &extra)?;
    Ok(vec![select, count, module])
}

fn ports(p: &Params) -> Shell {
    let doc = UnitDoc {
        name: "spad_pass_issue".into(),
        summary: "issues the passes of the instruction that is taken, one a cycle, into EX, and \
                  holds the control of the pass that is there."
            .into(),
        parameters: p.text(&["W", "S", "PW", "PCW", "TG", "AHEAD"]),
        timing: match p.AHEAD {
            0 => "taken in cycle t, the first pass is in EX in t+1",
            _ => "taken in cycle t, the first pass issues in t+1 and is in EX in t+2",
        }
        .into(),
        paper: "docs/microarchitecture.md, section 18.3".into(),
        latency_cycles: if p.AHEAD == 0 { 1 } else { 2 },
    };
    Shell::new(doc)
        .clocked()
        .input(
            "off_kind",
            p.W * 4,
            "kind that the warp offers, 4 bits per warp",
        )
        .input(
            "off_words",
            p.W * 2,
            "words per lane of loads and stores: 0 one, 1 two, 2 four",
        )
        .input("off_tag", p.W * p.TG, "destination tag, TG bits per warp")
        .input("off_pc", p.W * p.PCW, "program counter, PCW bits per warp")
        .input(
            "take",
            1,
            "an instruction is taken in this cycle; only with room",
        )
        .input("take_sel", p.W, "whose offer, one-hot")
        .input("take_warp", p.WW, "its number")
        .input("picked", p.W, "the warp between pick and take")
        .input("ex_fire", 1, "the pass in EX leaves it")
        .output("room", 1, "an instruction may be taken")
        .output(
            "busy",
            p.W,
            "an instruction of the warp is on its way to EX; AHEAD = 0: none",
        )
        .output("take_kind", 4, "kind of the offer of take_sel")
        .output("take_pc", p.PCW, "its program counter")
        .output("take_np", p.PW, "its passes but for the first")
        .output("iss_valid", 1, "a pass enters EX at the end of this cycle")
        .output("iss_warp", p.WW, "its warp; 0 if none")
        .output("iss_pass", p.PW, "its number; 0 if none")
        .output("iss_last", 1, "it is the instruction's last")
        .register("ex_valid", 1, "a pass is in EX")
        .register(
            "ex_warp",
            p.WW,
            "its warp; this and the next ones stay when it leaves",
        )
        .register("ex_kind", 4, "its kind")
        .register("ex_tag", p.TG, "its tag")
        .register("ex_pc", p.PCW, "its program counter")
        .register("ex_pass", p.PW, "its number")
        .register("ex_last", 1, "it is the instruction's last")
        .unused(p.AHEAD == 0, "picked", "picked and taken in one cycle")
}
