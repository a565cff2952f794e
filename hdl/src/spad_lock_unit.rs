//! The lock bits: load-and-lock, store-and-unlock.

mod owners;

use crate::codes::op;
use crate::module::{HdlError, Module, Result, UnitDoc};
use crate::params::Params;
use crate::ports::ports;
use crate::signal::{Bits, Expr, Signal, code};
use crate::size::Size;
use crate::spad_select;
use crate::unit::{Index, UnitBuilder};
use owners::Owners;

/// Emits `spad_lock_unit`, after the multiplexer of its windows if it has them.
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
    let u = UnitBuilder::new(doc(p));
    let io = Ports::declared(&u, p);
    u.unused(p.LKG == 1, io.lk_win, "one window covers all lanes");
    u.paragraph();
    let op = |value| code(&op::FIELD, value);
    let take = u.name("take", io.lk_valid & io.lk_op.is(op(op::LDLK)));
    let give = u.name("give", io.lk_valid & io.lk_op.is(op(op::STUL)));
    u.assign(io.lk_error, io.lk_valid & io.lk_op.above(op(op::STUL)));
    let lock = u.register("lock", io.s.LOCKS).reset(0);
    let window = Window::new(&u, &io, select.as_ref());
    let asked = Asked::new(&u, p, &io);
    let [i, j, r, c] = u.indices(["i", "j", "r", "c"]);
    u.generate(|| {
        asked.each_lane(&u, &io, &window, lock, [i, r, c]);
        asked.each_lock(&u, &io, [r, c]);
        asked.earlier_lanes(&u, &io, &window, [i, j]);
    });

    u.paragraph();
    u.note("The lowest lane that asks for a free lock takes it.");
    // `held`, after the widest multiplexer, comes last.
    let win = u.name("win", window.req.gated(take) & !asked.beaten & !asked.held);
    u.paragraph();
    let lock_next = (lock & !asked.asked) | asked.asked.gated(take);
    let lock_next = u.next_state(lock, lock_next);
    u.at_clock().when(take | give).next(lock, lock_next);
    let mut success = win;
    if p.LKO {
        let [k] = u.indices(["k"]);
        let owners = Owners::new(&u, p, &io, lock);
        owners.taken(&u, (take, win), &asked, [k, r, c]);
        let own = owners.unlocking(&u, give, &window, asked.held, [k, i]);
        success = u.name("succeeds", win | own);
    }
    show_success(&u, p, &io, success, i);
    u.assign(io.lk_held, lock);
    u.assertions(|| {
        let locks = [lock, lock_next];
        one_owner(&u, &io, &window, [win, give], locks, [i, j]);
    });
    let module = u.emit()?;
    Ok(select.into_iter().chain([module]).collect())
}

fn doc(p: &Params) -> UnitDoc {
    let plain = ["LOCKS", "LK", "L", "LKG", "P"].into_iter();
    let parameters: Vec<&str> = plain.chain(p.LKO.then_some("LKO")).collect();
    UnitDoc {
        name: "spad_lock_unit".into(),
        summary: "the lock bits of the scratchpad. A group's leaders are looked at in LKG \
                  windows, one per cycle; for each lock asked for and free, the lowest lane of \
                  the window takes it."
            .into(),
        parameters: p.text(&parameters),
        timing: "success in the cycle of the request; the bit changes at its end".into(),
        paper: "atomics paper, section II.A; microarchitecture/lock-unit.md".into(),
        latency_cycles: 0,
    }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        lk_valid: input(1, "a window is served in this cycle"),
        lk_win: input(s.LKW, "its number; lanes lk_win*P to lk_win*P+P-1"),
        lk_op: input(3, "3 load-and-lock, 4 store-and-unlock; others do nothing"),
        lk_req: input(s.L, "lanes that ask: the group's leaders"),
        lk_addr: input(s.L * s.LK, "lock, LK bits per lane"),
        lk_success: output(s.L, "lanes that take their lock now; of an unlock, those that own \
                                 their lock (LKO = 1)"),
        lk_error: output(1, "the operation is not supported (5 to 7)"),
        lk_held: output(s.LOCKS, "the lock bits"),
    }
}

/// Each lock is at a row and a column.
struct Crossings {
    rows: Size,
    row_bits: Size,
    cols: Size,
    col_bits: Size,
}

impl Crossings {
    fn new(u: &UnitBuilder, p: &Params) -> Self {
        let (row_bits, col_bits) = (p.LK - p.LK / 2, p.LK / 2);
        Crossings {
            rows: u.size("LOCK_ROWS", 1 << row_bits),
            row_bits: u.size("LOCK_ROW_BITS", row_bits),
            cols: u.size("LOCK_COLS", 1 << col_bits),
            col_bits: u.size("LOCK_COL_BITS", col_bits),
        }
    }
}

/// The lanes of this window.
struct Window {
    req: Signal,
    addr: Signal,
}

impl Window {
    fn new(u: &UnitBuilder, io: &Ports, select: Option<&Module>) -> Self {
        u.section("The lanes of this window.");
        let Some(select) = select else {
            return Window {
                req: io.lk_req,
                addr: io.lk_addr,
            };
        };
        let (req, addr) = (u.wire("req", io.s.P), u.wire("addr", io.s.P * io.s.LK));
        spad_select::instance(u, select, "window_req", io.lk_win, io.lk_req, req);
        spad_select::instance(u, select, "window_addr", io.lk_win, io.lk_addr, addr);
        Window { req, addr }
    }

    fn lock(&self, io: &Ports, lane: Size) -> Expr {
        self.addr.part(lane * io.s.LK, io.s.LK)
    }
}

/// The locks that the window asks for.
struct Asked {
    at: Crossings,
    /// Per row and column, the lanes that ask for one of its locks.
    at_row: Signal,
    at_col: Signal,
    /// Per lock: a lane asks for it.
    asked: Signal,
    /// Per lane: its lock is taken; an earlier lane asks for it.
    held: Signal,
    beaten: Signal,
}

impl Asked {
    fn new(u: &UnitBuilder, p: &Params, io: &Ports) -> Self {
        let (lanes, at) = (io.s.P, Crossings::new(u, p));
        u.section(
            "Each lock is a crossing of a row and a column: two small decoders per lane and one \
             AND per lock are less than a full decoder.",
        );
        let at_row = u.wire("at_row", at.rows * lanes);
        let at_col = u.wire("at_col", at.cols * lanes);
        let asked = u.wire("asked", io.s.LOCKS);
        u.about("Per lane: its lock is taken; an earlier lane asks for it.");
        let [held, beaten] = u.wires(["held", "beaten"], lanes);
        u.assign(beaten.at(0), 0);
        Asked {
            at,
            at_row,
            at_col,
            asked,
            held,
            beaten,
        }
    }

    fn each_lane(
        &self,
        u: &UnitBuilder,
        io: &Ports,
        window: &Window,
        lock: Signal,
        [i, r, c]: [Index; 3],
    ) {
        let (lanes, lk_bits, addr) = (io.s.P, io.s.LK, window.addr);
        let Crossings {
            row_bits, col_bits, ..
        } = self.at;
        u.each("lane", i, (0, lanes), |i| {
            u.each("row", r, (0, self.at.rows), |r| {
                let row = addr.part(i * lk_bits + col_bits, row_bits);
                let asks = window.req.at(i) & row.is(r);
                u.assign(self.at_row.at(r * lanes + i), asks);
            });
            u.each("col", c, (0, self.at.cols), |c| {
                let col = addr.part(i * lk_bits, col_bits);
                u.assign(self.at_col.at(c * lanes + i), col.is(c));
            });
            u.assign(self.held.at(i), lock.select(window.lock(io, i)));
        });
    }

    fn each_lock(&self, u: &UnitBuilder, io: &Ports, [r, c]: [Index; 2]) {
        let cols = self.at.cols;
        u.each("lock_row", r, (0, self.at.rows), |r| {
            u.each("lock_col", c, (0, cols), |c| {
                let lanes = self.crossing(io, r, c);
                u.assign(self.asked.at(r * cols + c), lanes.any());
            });
        });
    }

    /// The lanes that ask for the lock at row `r` and column `c`.
    fn crossing(&self, io: &Ports, r: Size, c: Size) -> Expr {
        let lanes = io.s.P;
        self.at_row.part(r * lanes, lanes) & self.at_col.part(c * lanes, lanes)
    }

    fn earlier_lanes(&self, u: &UnitBuilder, io: &Ports, window: &Window, [i, j]: [Index; 2]) {
        u.each("later", i, (1, io.s.P), |i| {
            let same = u.wire("same", i);
            u.each("earlier", j, (0, i), |j| {
                let same_lock = window.lock(io, j).is(window.lock(io, i));
                u.assign(same.at(j), window.req.at(j) & same_lock);
            });
            u.assign(self.beaten.at(i), same.any());
        });
    }
}

/// The lanes of the group that take their lock, or own it: `win` of the window.
fn show_success(u: &UnitBuilder, p: &Params, io: &Ports, win: Signal, i: Index) {
    let lanes = io.s.P;
    u.paragraph();
    if p.LKG == 1 {
        return u.assign(io.lk_success, win);
    }
    u.generate(|| {
        u.each("window", i, (0, p.LKG), |i| {
            let success = win & io.lk_win.is(i).copies(lanes);
            u.assign(io.lk_success.part(i * lanes, lanes), success);
        });
    });
}

/// Assertions about every window: a lock has one owner. `locks` are the bits
/// before and after this cycle.
fn one_owner(
    u: &UnitBuilder,
    io: &Ports,
    window: &Window,
    [win, give]: [Signal; 2],
    [lock, lock_next]: [Signal; 2],
    [i, j]: [Index; 2],
) {
    u.about("A lock has one owner, checked in simulation.");
    u.generate(|| {
        u.each("owner_check", i, (0, io.s.P), |i| {
            let own = window.lock(io, i);
            u.property(
                "taken_was_free",
                win.at(i),
                !lock.select(own.clone()),
                "a lane takes a lock that is held",
            );
            u.property(
                "taken_is_held",
                win.at(i),
                lock_next.select(own.clone()),
                "a lane takes a lock that stays free",
            );
            u.property(
                "given_is_free",
                window.req.at(i) & give,
                !lock_next.select(own),
                "a lock that is given back stays held",
            );
        });
        u.each("rival_check", i, (1, io.s.P), |i| {
            let rivals = u.wire("rivals", i);
            u.each("rival", j, (0, i), |j| {
                let same_lock = window.lock(io, j).is(window.lock(io, i));
                u.assign(rivals.at(j), win.at(j) & same_lock);
            });
            u.property(
                "one_owner",
                win.at(i),
                !rivals.any(),
                "two lanes take one lock",
            );
        });
    });
}
