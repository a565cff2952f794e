//! The scratchpad: banks, arbiter, crossbars, locks, request and response stage.

use crate::expr::{
    Expr, above, any, assign, choose, copies, equals, gated, is, note, number, one, or_all, sum,
    wire,
};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_bank_ram, spad_conflict_arbiter, spad_crossbar, spad_lock_unit};
use rust_hdl::core::ast::VerilogStatement;
use serde::Serialize;

/// Where things happen: stages by number, `mem0` to `mem3`.
#[derive(Serialize)]
struct Stages {
    /// The banks and locks are accessed from here.
    access: usize,
    /// They answer here.
    words: usize,
    /// The words of an access's groups come together here.
    response: usize,
    /// What a PASS brings leaves from here.
    pass: usize,
}

impl Stages {
    fn of(p: &Params) -> Self {
        let access = usize::from(p.MS > 2);
        let response = p.MS - 1;
        Stages {
            access,
            words: access + 1,
            response,
            pass: response - 1,
        }
    }
}

/// The signal of a stage.
fn at(stage: usize, name: &str) -> String {
    format!("mem{stage}_{name}")
}

/// The operation in a stage is one of these.
fn operates(stage: usize, operations: &[&str]) -> Expr {
    let op = at(stage, "op");
    or_all(operations.iter().map(|operation| is(&op, operation)))
}

/// What is answered with an error takes no part in arbitration. All stages
/// move together, unless the response cannot leave.
fn request(p: &Params, holes: bool) -> Vec<VerilogStatement> {
    let last = match p.LOCKS {
        0 => "OP_STORE",
        _ => "OP_STUL",
    };
    let accesses = || !is("req_op", "OP_PASS");
    let outside = if holes {
        Some(accesses() & any("beyond"))
    } else {
        None
    };
    let refused = [above("req_op", last)].into_iter().chain(outside);
    let locks = is("req_op", "OP_LDLK") | is("req_op", "OP_STUL");
    let stores = match p.LOCKS {
        0 => is("req_op", "OP_STORE"),
        _ => is("req_op", "OP_STORE") | is("req_op", "OP_STUL"),
    };
    let mut logic = vec![
        assign("refused", or_all(refused)),
        assign("accessing", accesses() & !wire("refused")),
        assign("fire", wire("req_valid") & wire("req_ready")),
        assign("adv", wire("resp_ready") | !wire("resp_valid")),
        note("The byte enables of a bank do not toggle with those of a load."),
        assign("storing", stores),
        assign("stored", wire("req_be") & copies(p.L * p.BE, "storing")),
    ];
    if p.LOCKS > 0 {
        logic.push(assign("locking", wire("accessing") & locks));
    }
    logic
}

/// When a group leaves MEM0: one that locks stays for several windows.
fn windows(p: &Params) -> Vec<VerilogStatement> {
    let (logic, last) = if p.LOCKS > 0 && p.LKG > 1 {
        let next = sum("mem0_window", number(p.LKW, 1));
        let locks = wire("mem0_valid") & wire("adv") & wire("mem0_locking");
        let last = equals("mem0_window", p.LKW, p.LKG - 1);
        (
            vec![choose("window_next", [(locks, next)], "mem0_window")],
            !wire("mem0_locking") | last,
        )
    } else {
        (Vec::new(), one())
    };
    let leaves = [
        assign("last_window", last),
        assign("mem0_last", wire("grp_last") & wire("last_window")),
    ];
    logic.into_iter().chain(leaves).collect()
}

/// The access to banks and locks.
fn access(stages: &Stages) -> Vec<VerilogStatement> {
    let stage = stages.access;
    vec![
        assign("access", wire(&at(stage, "valid")) & wire("adv")),
        assign("read", operates(stage, &["OP_LOAD", "OP_LDLK"])),
    ]
}

/// The banks that a group writes, a bit for each: one for all would have to
/// drive every memory.
fn writes(p: &Params) -> Vec<VerilogStatement> {
    let writes = operates(0, &["OP_STORE", "OP_STUL"]);
    vec![
        assign("mem0_stores", writes),
        assign(
            "mem0_bank_write",
            gated(p.B, "mem0_bank_valid", "mem0_stores"),
        ),
    ]
}

/// The lanes that have their lock, of the access so far.
fn success(p: &Params, stages: &Stages) -> Vec<VerilogStatement> {
    let goes_on = !wire(&at(stages.access, "last"));
    vec![
        assign("succeeded", wire("success") | wire("lk_success")),
        assign("success_next", gated(p.L, "succeeded", goes_on)),
    ]
}

/// The response: the last group of an access. Data of what does not answer
/// with any is zero.
fn response(p: &Params, stages: &Stages) -> Vec<VerilogStatement> {
    let own = |name| wire(&at(stages.response, name));
    let shown = |width, name| gated(width, own(name), "resp_valid");
    let passes =
        wire(&at(stages.pass, "valid")) & wire("adv") & operates(stages.pass, &["OP_PASS"]);
    let answers = operates(stages.response, &["OP_PASS", "OP_LOAD", "OP_LDLK"]);
    let success = match p.LOCKS {
        0 => number(p.L, 0),
        _ => shown(p.L, "success"),
    };
    vec![
        assign("resp_valid", own("valid") & own("last")),
        assign("pass", passes),
        assign("gathers", own("valid") & !own("last")),
        assign("answers", answers),
        assign("show", wire("resp_valid") & wire("answers") & !own("error")),
        assign("resp_op", shown(3, "op")),
        assign("resp_mask", shown(p.L, "mask")),
        assign("resp_tag", shown(p.TGW, "tag")),
        assign("resp_success", success),
        assign("resp_error", shown(1, "error")),
        assign("resp_degree", shown(p.DG, "degree")),
        assign("busy_more", wire("mem0_valid") & !wire("mem0_last")),
        assign("blocked", !wire("adv")),
    ]
}

/// Everything, with the registers and wires that it reads.
fn logic(mut shell: Shell, p: &Params, stages: &Stages, holes: bool) -> Shell {
    let fields = [
        ("valid", 1),
        ("last", 1),
        ("op", 3),
        ("error", 1),
        ("mask", p.L),
        ("tag", p.TGW),
        ("degree", p.DG),
        ("success", p.L),
    ];
    for stage in 0..p.MS {
        shell = shell.signals(&fields.map(|(name, width)| (at(stage, name), width)));
    }
    shell = shell
        .signals(&[("beyond", p.L), ("grp_last", 1), ("mem0_bank_valid", p.B)])
        .signals(&[("mem0_window", p.LKW), ("mem0_locking", 1)])
        .logic("request", request(p, holes))
        .logic("windows", windows(p))
        .logic("writes", writes(p))
        .logic("access", access(stages))
        .logic("response", response(p, stages));
    match p.LOCKS {
        0 => shell,
        _ => shell
            .signals(&[("success", p.L), ("lk_success", p.L)])
            .logic("success", success(p, stages)),
    }
}

#[derive(Serialize)]
struct Extra {
    at: Stages,
    /// There are row numbers without a row.
    holes: bool,
    /// A bank takes fewer row bits than the address has.
    short_rows: bool,
}

/// Emits `spad_scratchpad` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let mut parts = spad_conflict_arbiter::emit_unit(p)?;
    parts.extend(spad_crossbar::emit_unit(p)?);
    parts.extend(spad_bank_ram::emit_unit(p)?);
    if p.LOCKS > 0 {
        parts.extend(spad_lock_unit::emit_unit(p)?);
    }
    let extra = Extra {
        at: Stages::of(p),
        holes: p.ROWS != 1 << p.R,
        short_rows: p.RW < p.R,
    };
    let (l, d) = (p.L, p.D);
    let doc = UnitDoc {
        name: "spad_scratchpad".into(),
        summary:
            "the scratchpad of L lanes and B banks in MS stages: loads, stores, load-and-lock, \
                  store-and-unlock, one conflict-free group a cycle; lanes on one word are \
                  served together. Operations: 0 pass, 1 load, 2 store, 3 load and lock, \
                  4 store and unlock; others are answered with an error."
                .into(),
        parameters: p.text(&[
            "n", "m", "L", "B", "R", "ROWS", "D", "LOCKS", "LKG", "MERGE", "MS", "TGW",
        ]),
        timing: "an access of degree d answers MS - 1 + max(1, d) cycles after the cycle in which \
                 it fires (with locks LKG * max(1, d)); one access per cycle at d <= 1"
            .into(),
        paper: "microarchitecture/scratchpad.md; atomics paper, section II".into(),
        latency_cycles: p.MS as u32,
    };
    let mut shell = Shell::new(doc)
        .clocked()
        .input("req_valid", 1, "a request is offered")
        .output("req_ready", 1, "it is taken at the end of this cycle")
        .input("req_op", 3, "operation")
        .input("req_mask", l, "active lanes")
        .input("req_bank", l * p.m, "bank, m bits per lane")
        .input("req_row", l * p.R, "row, R bits per lane")
        .input("req_lock", l * p.LK, "lock, LK bits per lane")
        .input("req_data", l * d, "data, D bits per lane")
        .input(
            "req_be",
            l * p.BE,
            "byte enables of a store, BE bits per lane",
        )
        .input("req_tag", p.TGW, "comes back with the response")
        .output("resp_valid", 1, "a response is offered")
        .input("resp_ready", 1, "it is taken")
        .output("resp_op", 3, "operation of the request")
        .output("resp_mask", l, "active lanes of the request")
        .output("resp_tag", p.TGW, "tag of the request")
        .output(
            "resp_data",
            l * d,
            "words read, or the data of a pass; else 0",
        )
        .output("resp_success", l, "lanes that took their lock")
        .output(
            "resp_error",
            1,
            "unsupported operation, or a row beyond the capacity",
        )
        .output("resp_degree", p.DG, "conflict degree")
        .output(
            "stages",
            p.MS - 1,
            "MEM1 and on, from bit 0: the stage holds the last group of an access",
        )
        .output(
            "busy_more",
            1,
            "bank conflict: the access in MEM0 stays for another cycle",
        )
        .output("blocked", 1, "the response stage cannot take a group")
        .outputs_depend_on(|output| match output {
            "req_ready" | "blocked" => vec!["resp_ready"],
            _ => Vec::new(),
        })
        .unused(p.LOCKS == 0, "req_lock", "the machine has no locks");
    shell = logic(shell, p, &extra.at, extra.holes);
    for part in &parts {
        let direct = part.doc.name.as_str();
        if [
            "spad_conflict_arbiter",
            "spad_crossbar",
            "spad_bank_ram",
            "spad_lock_unit",
        ]
        .contains(&direct)
        {
            shell = shell.instantiates(part);
        }
    }
    let module = shell.emit_with("spad_scratchpad.v.tera", p, &extra)?;
    parts.push(module);
    Ok(parts)
}
