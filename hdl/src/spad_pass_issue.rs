//! The passes of an instruction, one after the other into EX.

use crate::expr::{assign, choose, gated, number, one, same, slice, sum, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_pass_count, spad_pick};
use rust_hdl::core::ast::VerilogStatement;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    /// Bits that a warp offers: pc, tag, words, kind.
    offer: usize,
    /// Warp slots, rounded up to a power of two.
    slots: usize,
}

/// The pass that enters EX. Without stages ahead the first pass of what is
/// taken goes in the same cycle.
fn issue(p: &Params) -> Vec<VerilogStatement> {
    let at_once = p.AHEAD == 0;
    let fields = [
        ("warp", wire("take_warp")),
        ("kind", wire("take_kind")),
        ("tag", slice("offer", 6, p.TG)),
        ("pc", wire("take_pc")),
        ("np", wire("take_np")),
    ];
    let field = |(name, taken)| {
        let [target, current] = [format!("{name}_in"), format!("cur_{name}")];
        if at_once {
            choose(&target, [(wire("cur_valid"), wire(&current))], taken)
        } else {
            assign(&target, &*current)
        }
    };
    let goes_on = || wire("ex_free") & wire("cur_valid");
    let mut logic = vec![assign("ex_free", !wire("ex_valid") | wire("ex_fire"))];
    logic.extend(fields.map(field));
    logic.extend(if at_once {
        [
            assign("issue", wire("take") | goes_on()),
            choose(
                "pass",
                [(wire("cur_valid"), wire("cur_next"))],
                number(p.PW, 0),
            ),
            assign("last_pass", same("pass", "np_in")),
            assign("room", wire("ex_free") & !wire("cur_valid")),
        ]
    } else {
        [
            assign("issue", goes_on()),
            assign("pass", "cur_next"),
            assign("last_pass", same("pass", "np_in")),
            assign(
                "room",
                !wire("cur_valid") | (wire("ex_free") & wire("last_pass")),
            ),
        ]
    });
    logic.extend([
        assign("iss_valid", "issue"),
        assign("iss_warp", gated(p.WW, "warp_in", "issue")),
        assign("iss_pass", gated(p.PW, "pass", "issue")),
        assign("iss_last", wire("last_pass") & wire("issue")),
    ]);
    logic
}

/// Whether passes follow in the next cycle, and which.
fn next(p: &Params) -> Vec<VerilogStatement> {
    let issued = [
        (wire("issue"), !wire("last_pass")),
        (wire("issue"), sum("pass", number(p.PW, 1))),
    ];
    let taken = [(wire("take"), one()), (wire("take"), number(p.PW, 0))];
    let [valid, next] = [0, 1].map(|i| {
        let first = (p.AHEAD > 0).then(|| taken[i].clone());
        first
            .into_iter()
            .chain([issued[i].clone()])
            .collect::<Vec<_>>()
    });
    vec![
        choose("cur_valid_next", valid, "cur_valid"),
        choose("pass_after", next, "cur_next"),
    ]
}

/// Emits `spad_pass_issue` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let offer = p.PCW + p.TG + 2 + 4;
    let slots = p.W.next_power_of_two();
    let pick = spad_pick::emit_helper()?;
    let count = spad_pass_count::emit_kernel(p)?;
    let extra = Extra { offer, slots };
    let module = ports(p)
        .signals(&[("offer", offer), ("cur_valid", 1), ("cur_warp", p.WW)])
        .signals(&[("cur_kind", 4), ("cur_tag", p.TG), ("cur_pc", p.PCW)])
        .signals(&[("cur_np", p.PW), ("cur_next", p.PW)])
        .logic("issue", issue(p))
        .logic("next", next(p))
        .instantiates(&pick)
        .instantiates(&count)
        .emit_with("spad_pass_issue.v.tera", p, &extra)?;
    Ok(vec![pick, count, module])
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
        paper: "microarchitecture/issue.md".into(),
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
