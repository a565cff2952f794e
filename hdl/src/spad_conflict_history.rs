//! The conflict history cache.

use crate::expr::{Expr, assign, choose, gated, note, one, same, slice, wire, zero};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::spad_table_ram;
use rust_hdl::core::ast::VerilogStatement;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    /// The memory of a way's tags and values.
    entries: String,
    /// The memory of a way's tags, for updates.
    tags: String,
}

/// Set and tag of a program counter.
fn parts(p: &Params, prefix: &str) -> [VerilogStatement; 2] {
    let pc = format!("{prefix}_pc");
    [
        assign(&format!("{prefix}_set"), slice(&pc, 0, p.SETW)),
        assign(&format!("{prefix}_tag"), slice(&pc, p.SETW, p.PCW - p.SETW)),
    ]
}

/// A look-up beside the writing of its set: the way that is written answers
/// with what is written. `lk_valid` comes late, so `done` looks at it alone.
fn look_up(p: &Params) -> Vec<VerilogStatement> {
    let there = |way: usize, written: Expr| {
        let valid = wire(&format!("lk_valid{way}"));
        assign(
            &format!("there{way}_next"),
            valid & !(wire("lk_beside") & written),
        )
    };
    let same_tag = same("update_tag", "lk_tag");
    let mut logic = parts(p, "lk").to_vec();
    logic.extend([
        assign(
            "lk_beside",
            wire("update_valid") & same("update_set", "lk_set"),
        ),
        there(0, !wire("update_way")),
        there(1, wire("update_way")),
        assign("written_next", wire("lk_beside") & same_tag),
    ]);
    logic
}

/// The answer: what was being written, or what a way has.
fn answer(p: &Params) -> Vec<VerilogStatement> {
    let tag = p.PCW - p.SETW;
    let hit = |way: usize| {
        let own = slice(&format!("found{way}"), p.EX, tag);
        assign(
            &format!("hit{way}"),
            wire("done") & wire(&format!("there{way}")) & same(own, "tag"),
        )
    };
    let value = |way: usize| {
        let own = slice(&format!("found{way}"), 0, p.EX);
        gated(p.EX, own, wire(&format!("hit{way}")))
    };
    vec![
        hit(0),
        hit(1),
        assign("hit_written", wire("done") & wire("written")),
        assign("lk_done", "done"),
        assign("lk_hit", wire("hit_written") | wire("hit0") | wire("hit1")),
        assign(
            "lk_excess",
            gated(p.EX, "excess", "hit_written") | value(0) | value(1),
        ),
    ]
}

/// The update of the previous cycle.
fn update(p: &Params) -> Vec<VerilogStatement> {
    let mut logic = parts(p, "update").to_vec();
    logic.extend(parts(p, "up"));
    logic.extend([
        assign("write0", wire("update_valid") & !wire("update_way")),
        assign("write1", wire("update_valid") & wire("update_way")),
        note(
            "Behind an update of the same set: the way that it wrote, and whether it was for \
             the same program counter.",
        ),
        assign("same_set", same("update_set", "up_set")),
        assign("beside0_next", wire("write0") & wire("same_set")),
        assign("beside1_next", wire("write1") & wire("same_set")),
        assign("again_next", same("update_tag", "up_tag")),
        assign(
            "update_valid1_next",
            wire("up_valid1") | wire("beside1_next"),
        ),
        choose(
            "update_lru_next",
            [(wire("update_valid") & wire("same_set"), !wire("update_way"))],
            "up_lru",
        ),
        assign("update_valid_next", wire("up_valid") & !wire("clear")),
    ]);
    logic
}

/// The way of the update: the one that matches, else the one not used last.
fn way() -> Vec<VerilogStatement> {
    let matches = |way: usize| {
        let [beside, matches] =
            ["update_beside", "update_match"].map(|name| format!("{name}{way}"));
        let read = same(&*format!("tag{way}"), "update_tag");
        choose(&matches, [(wire(&beside), wire("update_again"))], read)
    };
    let cases = [
        (wire("update_match0"), zero()),
        (wire("update_hit1"), one()),
    ];
    vec![
        matches(0),
        matches(1),
        assign("update_hit1", wire("update_valid1") & wire("update_match1")),
        note(
            "`lru` starts at way 0 and points to the free way until both are taken: so way 0 \
             needs no valid bit here. While it is free, way 1 is free too, and both its match \
             and `lru` choose way 0.",
        ),
        choose("update_way", cases, "update_lru"),
    ]
}

/// Emits `spad_conflict_history` behind its memories.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let tag = p.PCW - p.SETW;
    let entries = spad_table_ram::emit_helper(p, p.SETS, tag + p.EX)?;
    let tags = spad_table_ram::emit_helper(p, p.SETS, tag)?;
    let extra = Extra {
        entries: entries.doc.name.clone(),
        tags: tags.doc.name.clone(),
    };
    let doc = UnitDoc {
        name: "spad_conflict_history".into(),
        summary: "remembers the excess conflict degree of memory instructions by program \
                  counter: 2 ways, SETS sets, the way not updated last is replaced; a miss \
                  predicts 0. Tags and values are in synchronous memories."
            .into(),
        parameters: p.text(&["SETS", "PCW", "EX"]),
        timing: "look-up: one cycle; an update is seen from the next cycle on".into(),
        paper: "elastic paper, section 5.2; docs/microarchitecture.md, section 13".into(),
        latency_cycles: 1,
    };
    let module = Shell::new(doc)
        .clocked()
        .input(
            "clear",
            1,
            "kernel launch: forget everything; goes before an update",
        )
        .input("lk_valid", 1, "look-up")
        .input("lk_pc", p.PCW, "its program counter")
        .output(
            "lk_done",
            1,
            "the look-up of the previous cycle is answered",
        )
        .output("lk_hit", 1, "it hits")
        .output("lk_excess", p.EX, "the value; 0 on a miss")
        .input("up_valid", 1, "update")
        .input("up_pc", p.PCW, "its program counter")
        .input("up_excess", p.EX, "the value")
        .signals(&[("update_valid", 1), ("update_pc", p.PCW), ("update_way", 1)])
        .signals(&[("lk_valid0", 1), ("lk_valid1", 1)])
        .signals(&[("done", 1), ("written", 1), ("there0", 1), ("there1", 1)])
        .signals(&[("tag", tag), ("excess", p.EX), ("tag0", tag), ("tag1", tag)])
        .signals(&[("found0", tag + p.EX), ("found1", tag + p.EX)])
        .signals(&[
            ("update_beside0", 1),
            ("update_beside1", 1),
            ("update_again", 1),
        ])
        .signals(&[("update_valid1", 1), ("update_lru", 1)])
        .signals(&[("up_valid1", 1), ("up_lru", 1)])
        .logic("update", update(p))
        .logic("look_up", look_up(p))
        .logic("answer", answer(p))
        .logic("way", way())
        .instantiates(&entries)
        .instantiates(&tags)
        .emit_with("spad_conflict_history.v.tera", p, &extra)?;
    Ok(vec![entries, tags, module])
}
