//! The lock bits: load-and-lock, store-and-unlock.

use crate::codes::op;
use crate::module::{HdlError, Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, code};
use crate::size::Size;
use crate::spad_select;
use crate::unit::Unit;

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
    let u = Unit::new(UnitDoc {
        name: "spad_lock_unit".into(),
        summary: "the lock bits of the scratchpad. A group's leaders are looked at in LKG \
                  windows, one per cycle; for each lock asked for and free, the lowest lane of \
                  the window takes it."
            .into(),
        parameters: p.text(&["LOCKS", "LK", "L", "LKG", "P"]),
        timing: "success in the cycle of the request; the bit changes at its end".into(),
        paper: "atomics paper, section II.A; microarchitecture/lock-unit.md".into(),
        latency_cycles: 0,
    });
    let s = u.all_sizes(p);
    let [lk_bits, lanes, locks] = u.sizes(p, ["LK", "P", "LOCKS"]);
    let rows = u.size("LOCK_ROWS", 1 << (p.LK - p.LK / 2));
    let row_bits = u.size("LOCK_ROW_BITS", p.LK - p.LK / 2);
    let cols = u.size("LOCK_COLS", 1 << (p.LK / 2));
    let col_bits = u.size("LOCK_COL_BITS", p.LK / 2);
    u.clocked();
    let lk_valid = u.input("lk_valid", 1, "a window is served in this cycle");
    let about = "its number; lanes lk_win*P to lk_win*P+P-1";
    let lk_win = u.input("lk_win", s.LKW, about);
    let about = "3 load-and-lock, 4 store-and-unlock; others do nothing";
    let lk_op = u.input("lk_op", 3, about);
    let lk_req = u.input("lk_req", s.L, "lanes that ask: the group's leaders");
    let lk_addr = u.input("lk_addr", s.L * s.LK, "lock, LK bits per lane");
    let lk_success = u.output("lk_success", s.L, "lanes that take their lock now");
    let about = "the operation is not supported (5 to 7)";
    let lk_error = u.output("lk_error", 1, about);
    let lk_held = u.output("lk_held", locks, "the lock bits");
    u.unused(p.LKG == 1, lk_win, "one window covers all lanes");

    u.paragraph();
    let op = |value| code(&op::FIELD, value);
    let take = u.name("take", lk_valid & lk_op.is(op(op::LDLK)));
    let give = u.name("give", lk_valid & lk_op.is(op(op::STUL)));
    u.assign(lk_error, lk_valid & lk_op.above(op(op::STUL)));
    let lock = u.register("lock", locks).reset(0);
    u.section("The lanes of this window.");
    let (req, addr) = match &select {
        None => (lk_req, lk_addr),
        Some(select) => {
            let (req, addr) = (u.wire("req", lanes), u.wire("addr", lanes * lk_bits));
            spad_select::instance(&u, select, "window_req", lk_win, lk_req, req);
            spad_select::instance(&u, select, "window_addr", lk_win, lk_addr, addr);
            (req, addr)
        }
    };

    u.section(
        "Each lock is a crossing of a row and a column: two small decoders per lane and one AND \
         per lock are less than a full decoder.",
    );
    let at_row = u.wire("at_row", rows * lanes);
    let at_col = u.wire("at_col", cols * lanes);
    let asked = u.wire("asked", locks);
    u.about("Per lane: its lock is taken; an earlier lane asks for it.");
    let [held, beaten] = u.wires(["held", "beaten"], lanes);
    u.assign(beaten.at(0), 0);
    let [i, j, r, c] = u.indices(["i", "j", "r", "c"]);
    u.generate(|| {
        u.each("lane", i, (0, lanes), |i| {
            u.each("row", r, (0, rows), |r| {
                let row = addr.part(i * lk_bits + col_bits, row_bits);
                u.assign(at_row.at(r * lanes + i), req.at(i) & row.is(r));
            });
            u.each("col", c, (0, cols), |c| {
                let col = addr.part(i * lk_bits, col_bits);
                u.assign(at_col.at(c * lanes + i), col.is(c));
            });
            u.assign(held.at(i), lock.select(addr.part(i * lk_bits, lk_bits)));
        });
        u.each("lock_row", r, (0, rows), |r| {
            u.each("lock_col", c, (0, cols), |c| {
                let crossing = at_row.part(r * lanes, lanes) & at_col.part(c * lanes, lanes);
                u.assign(asked.at(r * cols + c), crossing.any());
            });
        });
        u.each("later", i, (1, lanes), |i| {
            let same = u.wire("same", i);
            u.each("earlier", j, (0, i), |j| {
                let lock = |lane: Size| addr.part(lane * lk_bits, lk_bits);
                u.assign(same.at(j), req.at(j) & lock(j).is(lock(i)));
            });
            u.assign(beaten.at(i), same.any());
        });
    });

    u.paragraph();
    u.note("The lowest lane that asks for a free lock takes it.");
    // `held`, behind the widest multiplexer, comes last.
    let win = u.name("win", req.gated(take) & !beaten & !held);
    u.paragraph();
    let lock_next = u.next_state(lock, (lock & !asked) | asked.gated(take));
    u.at_clock().when(take | give).next(lock, lock_next);
    u.paragraph();
    match &select {
        None => u.assign(lk_success, win),
        Some(_) => u.generate(|| {
            u.each("window", i, (0, p.LKG), |i| {
                let success = win & lk_win.is(i).copies(lanes);
                u.assign(lk_success.part(i * lanes, lanes), success);
            });
        }),
    }
    u.assign(lk_held, lock);
    let module = u.emit()?;
    Ok(select.into_iter().chain([module]).collect())
}
