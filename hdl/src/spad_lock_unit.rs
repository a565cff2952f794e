//! The lock bits: load-and-lock, store-and-unlock.

use crate::expr::{above, assign, gated, is, note, wire};
use crate::module::{HdlError, Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::spad_select;
use rust_hdl::core::ast::VerilogStatement;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    rows: usize,
    row_bits: usize,
    cols: usize,
    col_bits: usize,
}

/// What the window is asked to do.
fn request() -> Vec<VerilogStatement> {
    let asks = |operation| wire("lk_valid") & operation;
    vec![
        assign("take", asks(is("lk_op", "OP_LDLK"))),
        assign("give", asks(is("lk_op", "OP_STUL"))),
        assign("lk_error", asks(above("lk_op", "OP_STUL"))),
    ]
}

/// The lanes of the window that take their lock.
fn winners(p: &Params) -> Vec<VerilogStatement> {
    // `held`, behind the widest multiplexer, comes last.
    let first = gated(p.P, "req", "take") & !wire("beaten");
    vec![
        note("The lowest lane that asks for a free lock takes it."),
        assign("win", first & !wire("held")),
    ]
}

/// What becomes of the lock bits that are asked for.
fn locks(p: &Params) -> Vec<VerilogStatement> {
    let taken = gated(p.LOCKS, "asked", "take");
    vec![assign("lock_next", (wire("lock") & !wire("asked")) | taken)]
}

/// Emits `spad_lock_unit`, behind the multiplexer of its windows if it has them.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    if p.LOCKS == 0 {
        return Err(HdlError::NotThere {
            unit: "spad_lock_unit".into(),
            reason: "it has no locks ([path] locks)".into(),
        });
    }
    let select = match p.LKG {
        1 => None,
        _ => Some(spad_select::emit_helper()?),
    };
    let col_bits = p.LK / 2;
    let extra = Extra {
        rows: 1 << (p.LK - col_bits),
        row_bits: p.LK - col_bits,
        cols: 1 << col_bits,
        col_bits,
    };
    let doc = UnitDoc {
        name: "spad_lock_unit".into(),
        summary: "the lock bits of the scratchpad. A group's leaders are looked at in LKG \
                  windows, one per cycle; for each lock asked for and free, the lowest lane of \
                  the window takes it."
            .into(),
        parameters: p.text(&["LOCKS", "LK", "L", "LKG", "P"]),
        timing: "success in the cycle of the request; the bit changes at its end".into(),
        paper: "atomics paper, section II.A; microarchitecture/lock-unit.md".into(),
        latency_cycles: 0,
    };
    let mut shell = Shell::new(doc)
        .clocked()
        .input("lk_valid", 1, "a window is served in this cycle")
        .input(
            "lk_win",
            p.LKW,
            "its number; lanes lk_win*P to lk_win*P+P-1",
        )
        .input(
            "lk_op",
            3,
            "3 load-and-lock, 4 store-and-unlock; others do nothing",
        )
        .input("lk_req", p.L, "lanes that ask: the group's leaders")
        .input("lk_addr", p.L * p.LK, "lock, LK bits per lane")
        .output("lk_success", p.L, "lanes that take their lock now")
        .output("lk_error", 1, "the operation is not supported (5 to 7)")
        .output("lk_held", p.LOCKS, "the lock bits")
        .unused(p.LKG == 1, "lk_win", "one window covers all lanes");
    shell = shell
        .signals(&[("req", p.P), ("held", p.P), ("beaten", p.P)])
        .signals(&[("asked", p.LOCKS), ("lock", p.LOCKS)])
        .logic("request", request())
        .logic("winners", winners(p))
        .logic("locks", locks(p));
    if let Some(select) = &select {
        shell = shell.instantiates(select);
    }
    let module = shell.emit_with("spad_lock_unit.v.tera", p, &extra)?;
    Ok(select.into_iter().chain([module]).collect())
}
