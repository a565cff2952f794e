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

/// What updates under way mean to a look-up. The way that is written holds
/// something else now; `lk_valid` comes late, so `done` looks at it alone.
fn look_up(p: &Params) -> Vec<VerilogStatement> {
    let there = |way: usize| {
        let valid = wire(&format!("lk_valid{way}"));
        let written = wire(&format!("write{way}"));
        assign(
            &format!("there{way}_next"),
            valid & !(wire("lk_beside") & written),
        )
    };
    let mut logic = parts(p, "lk").to_vec();
    logic.extend([
        assign("lk_beside", same("write_set", "lk_set")),
        there(0),
        there(1),
        assign(
            "written_next",
            wire("write_valid") & wire("lk_beside") & same("write_tag", "lk_tag"),
        ),
        assign(
            "after_next",
            wire("update_valid") & same("update_set", "lk_set"),
        ),
        assign("again_next", same("update_tag", "lk_tag")),
    ]);
    logic
}

/// The answer: the newest update of the program counter, or what a way has.
fn answer(p: &Params) -> Vec<VerilogStatement> {
    let tag = p.PCW - p.SETW;
    let kept = |way| !(wire("after") & way);
    let hit = |way: usize, kept: Expr| {
        let own = slice(&format!("found{way}"), p.EX, tag);
        assign(
            &format!("hit{way}"),
            wire("done") & wire(&format!("there{way}")) & kept & same(own, "tag"),
        )
    };
    let value = |way: usize| {
        let own = slice(&format!("found{way}"), 0, p.EX);
        gated(p.EX, own, wire(&format!("hit{way}")))
    };
    vec![
        note(
            "An update replaces what the one before it wrote only if both are for one program \
             counter.",
        ),
        assign("hit_update", wire("done") & wire("after") & wire("again")),
        assign(
            "hit_written",
            wire("done") & wire("written") & !wire("hit_update"),
        ),
        hit(0, kept(!wire("write_way"))),
        hit(1, kept(wire("write_way"))),
        assign("lk_done", "done"),
        assign(
            "lk_hit",
            wire("hit_update") | wire("hit_written") | wire("hit0") | wire("hit1"),
        ),
        assign(
            "lk_excess",
            gated(p.EX, "write_excess", "hit_update")
                | gated(p.EX, "excess", "hit_written")
                | value(0)
                | value(1),
        ),
    ]
}

/// An update that is offered: what it has to know of the two before it.
fn update(p: &Params) -> Vec<VerilogStatement> {
    let mut logic = parts(p, "write").to_vec();
    logic.extend(parts(p, "update"));
    logic.extend(parts(p, "up"));
    logic.extend([
        assign("write0", wire("write_valid") & !wire("write_way")),
        assign("write1", wire("write_valid") & wire("write_way")),
        note(
            "Behind an update of the same set: whether it was for the same program counter, \
             and of the one that is being written the way.",
        ),
        assign("up_beside", same("write_set", "up_set")),
        assign("beside0_next", wire("write0") & wire("up_beside")),
        assign("beside1_next", wire("write1") & wire("up_beside")),
        assign("twice_next", same("write_tag", "up_tag")),
        assign(
            "behind_next",
            wire("update_valid") & same("update_set", "up_set"),
        ),
        assign("same_next", same("update_tag", "up_tag")),
        assign(
            "update_valid1_next",
            wire("up_valid1") | wire("beside1_next"),
        ),
        choose(
            "update_lru_next",
            [(wire("write_valid") & wire("up_beside"), !wire("write_way"))],
            "up_lru",
        ),
        assign("update_valid_next", wire("up_valid") & !wire("clear")),
        assign("write_valid_next", wire("update_valid") & !wire("clear")),
    ]);
    logic
}

/// The way of the update: the one that matches, else the one not used last.
fn way() -> Vec<VerilogStatement> {
    let matches = |way: usize| {
        let [behind, beside, matches] =
            ["behind", "update_beside", "update_match"].map(|name| format!("{name}{way}"));
        let cases = [
            (wire(&behind), wire("update_same")),
            (wire(&beside), wire("update_twice")),
        ];
        let read = same(&*format!("tag{way}"), "update_tag");
        choose(&matches, cases, read)
    };
    let cases = [
        (wire("update_match0"), zero()),
        (wire("update_hit1"), one()),
        (wire("update_behind"), !wire("write_way")),
    ];
    vec![
        assign("behind0", wire("update_behind") & !wire("write_way")),
        assign("behind1", wire("update_behind") & wire("write_way")),
        matches(0),
        matches(1),
        assign(
            "update_hit1",
            (wire("update_valid1") | wire("behind1")) & wire("update_match1"),
        ),
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
    let entries = spad_table_ram::emit_helper(p.SETS, tag + p.EX)?;
    let tags = spad_table_ram::emit_helper(p.SETS, tag)?;
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
        paper: "elastic paper, section 5.2; microarchitecture/conflict-history.md".into(),
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
        .signals(&[("write_valid", 1), ("write_pc", p.PCW), ("write_way", 1)])
        .signals(&[("write_excess", p.EX)])
        .signals(&[("lk_valid0", 1), ("lk_valid1", 1)])
        .signals(&[("done", 1), ("there0", 1), ("there1", 1)])
        .signals(&[("written", 1), ("after", 1), ("again", 1)])
        .signals(&[("tag", tag), ("excess", p.EX), ("tag0", tag), ("tag1", tag)])
        .signals(&[("found0", tag + p.EX), ("found1", tag + p.EX)])
        .signals(&[
            ("update_beside0", 1),
            ("update_beside1", 1),
            ("update_twice", 1),
        ])
        .signals(&[("update_behind", 1), ("update_same", 1)])
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
