//! What stands behind the scratchpad: the sequencer's answers part from the
//! others, which become results for the writeback port.

use crate::expr::{any, assign, at_least, at_most, bit, choose, extended, is, number, up, wire};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use rust_hdl::core::ast::VerilogStatement;

/// Where a response goes: what the sequencer waits for leaves at once.
fn parting() -> Vec<VerilogStatement> {
    let own = || bit("resp_tag", 0);
    vec![
        assign("valid", wire("resp_valid") & !own()),
        assign("sr_valid", wire("resp_valid") & own()),
        assign("resp_ready", own() | wire("taken")),
    ]
}

/// What the pass cost in MEM0, for the conflict history: its groups, each for
/// all windows of the lock unit where it locks.
fn cost(p: &Params) -> Vec<VerilogStatement> {
    let predicted = at_least("kind", "KIND_LOAD") & at_most("kind", "KIND_STUL");
    let groups = || extended(p.OCC, "groups");
    let locks = [(at_least("kind", "KIND_LDLK"), up(groups(), p.OCC - p.DG))];
    vec![
        choose(
            "groups",
            [(any("resp_degree"), wire("resp_degree"))],
            number(p.DG, 1),
        ),
        assign("resolved_valid", wire("valid") & wire("taken") & predicted),
        assign("resolved_last", "last"),
        assign("resolved_pc", "pc"),
        if p.OCC > p.DG {
            choose("resolved_occ", locks, groups())
        } else {
            assign("resolved_occ", "groups")
        },
    ]
}

/// What an atomic reports is in its tag.
fn result() -> Vec<VerilogStatement> {
    vec![
        choose(
            "degree",
            [(is("kind", "KIND_ATOMIC"), wire("atomic_degree"))],
            "resp_degree",
        ),
        assign("error", wire("resp_error") | bit("resp_tag", 1)),
    ]
}

/// Emits `spad_memory_exit`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
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
    };
    let payload = "degree, error, success, data, mask, last, pass, kind, tag, warp, from the top";
    let shell = Shell::new(doc)
        .clocked()
        .input("resp_valid", 1, "a response is offered")
        .output("resp_ready", 1, "it is taken")
        .input("resp_mask", p.L, "active lanes of the request")
        .input("resp_tag", p.TGW, "its tag: control, degree, error, source")
        .input(
            "resp_data",
            p.L * p.D,
            "words read, or the data of a pass; else 0",
        )
        .input("resp_success", p.L, "lanes that took their lock")
        .input("resp_error", 1, "error")
        .input("resp_degree", p.DG, "conflict degree")
        .output(
            "sr_valid",
            1,
            "it is one that the sequencer waits for: taken at once",
        )
        .output(
            "resolved_valid",
            1,
            "a predicted pass leaves the scratchpad",
        )
        .output("resolved_occ", p.OCC, "cycles that it took in MEM0")
        .output("resolved_last", 1, "it is the instruction's last")
        .output("resolved_pc", p.PCW, "the instruction's program counter")
        .output("out_valid", 1, "a result is offered")
        .input("out_ready", 1, "it is taken")
        .output("out_data", p.WBW, payload);
    let shell = match p.M {
        0..=4 => shell,
        stages => shell.output(
            "mem_valid",
            stages - 4,
            "MEM4 and on hold a result, from bit 0",
        ),
    };
    let module = shell
        .signals(&[("kind", 4), ("last", 1), ("pc", p.PCW), ("taken", 1)])
        .signals(&[("atomic_degree", p.DG)])
        .logic("parting", parting())
        .logic("cost", cost(p))
        .logic("result", result())
        .unused(p.M <= 4, "clk", "no stages behind the scratchpad")
        .unused(p.M <= 4, "rst", "no stages behind the scratchpad")
        .emit("spad_memory_exit.v.tera", p)?;
    Ok(vec![module])
}
