//! Selects the ready warp that issues.

use crate::module::{Module, Result, UnitDoc, top};
use crate::params::Params;
use crate::ports::ports;
use crate::signal::{Bits, Expr, Signal};
use crate::unit::UnitBuilder;
use crate::{spad_number, spad_pick_check, spad_warp_scheduler};

/// Emits `spad_issue_select`, its parts first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let scheduler = spad_warp_scheduler::emit_unit(p)?;
    let u = UnitBuilder::new(doc(p));
    let io = Ports::new(&u, p);
    let scheduler_unit = top(&scheduler);
    let mut check = Vec::new();
    match p.AHEAD {
        0 => {
            let [masked, wait_sh, viol] = [io.masked, io.allowed_wait, io.allowed_viol];
            take_what_is_ready(&u, &io, scheduler_unit, masked);
            u.assign(io.wait_sh, wait_sh);
            u.assign(io.viol, viol);
        }
        1 => {
            let masked = u.wire("masked_now", 1);
            take_what_is_ready(&u, &io, scheduler_unit, masked);
            show_a_cycle_later(&u, &io, masked);
        }
        2 => take_what_was_ready(&u, &io, scheduler_unit),
        _ => {
            check = vec![spad_number::of_warp(p)?, spad_pick_check::emit_kernel()?];
            take_what_was_picked(&u, &io, scheduler_unit, &check);
        }
    }
    let module = u.emit()?;
    Ok(scheduler.into_iter().chain(check).chain([module]).collect())
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_issue_select".into(),
        summary: "selects the warp whose instruction is taken. AHEAD = 0 and 1: of those that \
                  are ready in this cycle. AHEAD = 2: qualified in one cycle, picked and taken \
                  in the next. AHEAD = 3: qualified, picked, looked at again and taken in the \
                  third."
            .into(),
        parameters: p.text(&["W", "T", "AHEAD"]),
        timing: match p.AHEAD {
            0 | 1 => "combinational; the round robin moves with what is taken",
            2 => "ready in cycle t, taken in t+1 or, ready again, later",
            _ => "ready in cycle t, picked in t+1, taken in t+2 or later",
        }
        .into(),
        paper: "elastic paper, section 5; sharing paper, section 4; microarchitecture/issue.md"
            .into(),
        latency_cycles: p.AHEAD.saturating_sub(1) as u32,
    }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        cfg_policy: input(2, "scheduler: 0 round-robin, 1 and 2 owner first, 3 lowest slot"),
        cfg_aware: input(1, "bank-conflict-aware scheduling"),
        cfg_violate: input(1, "masked warps go when nothing else can"),
        ready: input(s.W, "the warp may issue"),
        is_mem: input(s.W, "the warp's offer is of the memory path"),
        is_atomic: input(s.W, "the warp's offer is an ATOMIC"),
        shares: input(s.W, "the warp's offer may touch the shared part"),
        cls: input(2 * s.W, "its class: 0 owner, 1 unshared, 2 non-owner"),
        allowed_wait: input(s.W, "it is refused: the partner holds the shared part"),
        allowed_viol: input(s.W, "it is refused: its block has released the shared part"),
        locked: input(s.T / 2, "per pair: the shared part is held"),
        owner: input(s.T / 2, "per pair: the owner"),
        changes: input(1, "a block starts, threads exit, or a RELSSP leaves EX in this cycle"),
        mask: input(1, "memory warps are masked"),
        mask_lasts: input(1, "AHEAD = 3: they will be in the next cycle, too"),
        mask_likely: input(
            1,
            "AHEAD = 3: the kernel has shown conflicts: what is taken now may mask those after it"
        ),
        atom_infl: input(1, "an ATOMIC is in flight"),
        room: input(1, "an instruction may be taken"),
        take: output(1, "the selected warp's instruction is taken"),
        take_sel: output(s.W, "the selected warp, taken or not; one-hot"),
        take_warp: output(s.WW.plain(), "number of the warp taken"),
        picked: output(s.W, "the warp between pick and take; none but with AHEAD = 3"),
        masked: output(1, "some ready warp is held back by the mask; AHEAD = 1: one cycle later"),
        wait_sh: output(s.W, "allowed_wait; AHEAD > 0: one cycle later"),
        viol: output(s.W, "allowed_viol; AHEAD > 0: one cycle later"),
    }
}

impl Ports {
    fn new(u: &UnitBuilder, p: &Params) -> Self {
        let io = Ports::declared(u, p);
        io.waive(u, p);
        io
    }

    /// Waives the lint of inputs that are unused if qualification and take are in one
    /// cycle, because nothing can change in between.
    fn waive(&self, u: &UnitBuilder, p: &Params) {
        let pairs = [self.locked, self.owner, self.changes];
        for input in [self.is_atomic, self.shares, self.atom_infl]
            .into_iter()
            .chain(pairs)
        {
            u.unused(p.AHEAD < 2, input, "qualified and taken in one cycle");
        }
        for input in [self.mask_lasts, self.mask_likely] {
            u.unused(p.AHEAD < 3, input, "picked and taken in one cycle");
        }
    }
}

/// AHEAD = 0 and 1.
fn take_what_is_ready(u: &UnitBuilder, io: &Ports, scheduler: &Module, masked: Signal) {
    u.about("What is ready is picked and taken in one cycle.");
    let sel_valid = u.wire("sel_valid", 1);
    u.instance(scheduler, "scheduler")
        .same([io.clk, io.rst])
        .same([io.cfg_policy, io.cfg_aware, io.cfg_violate])
        .same([io.ready, io.is_mem, io.mask])
        .port("put_off", 0)
        .same([io.cls])
        .port("take", io.room)
        .same([sel_valid])
        .port("sel", io.take_sel)
        .port("sel_warp", io.take_warp)
        .port("masked", masked)
        .done();
    u.assign(io.take, sel_valid & io.room);
    u.assign(io.picked, 0);
}

/// AHEAD = 1: `masked`, `wait_sh` and `viol`.
fn show_a_cycle_later(u: &UnitBuilder, io: &Ports, masked: Signal) {
    u.section("The ports show registers.");
    let w = io.s.W;
    let masked_then = u.register("masked_then", 1).reset(0);
    let wait_then = u.register("wait_then", w).reset(0);
    let viol_then = u.register("viol_then", w).reset(0);
    u.at_clock()
        .next(masked_then, masked)
        .next(wait_then, io.allowed_wait)
        .next(viol_then, io.allowed_viol);
    u.assign(io.masked, masked_then);
    u.assign(io.wait_sh, wait_then);
    u.assign(io.viol, viol_then);
}

/// The qualification of each warp in the previous cycle.
struct Qualified {
    ready: Signal,
    mem: Signal,
    atomic: Signal,
    shared: Signal,
    cls: Signal,
    wait: Signal,
    viol: Signal,
    was_locked: Signal,
    was_owner: Signal,
    was_changed: Signal,
}

impl Qualified {
    fn new(u: &UnitBuilder, io: &Ports) -> Self {
        let (w, pairs) = (io.s.W, u.size("PAIRS", io.s.T / 2));
        u.section(
            "Q: what each warp was qualified with, and the shared parts as they were then: held \
             or not, by whom, and whether that changed in that cycle.",
        );
        let of_warps = |what| u.register(&format!("qualified_{what}"), w).reset(0);
        Qualified {
            ready: of_warps("ready"),
            mem: of_warps("mem"),
            atomic: of_warps("atomic"),
            shared: of_warps("shared"),
            cls: u.register("qualified_cls", 2 * w).reset(0),
            wait: of_warps("wait"),
            viol: of_warps("viol"),
            was_locked: u.register("was_locked", pairs).reset(0),
            was_owner: u.register("was_owner", pairs).reset(0),
            was_changed: u.register("was_changed", 1).reset(0),
        }
    }

    /// Lock or owner of a pair has changed since.
    fn moved(&self, io: &Ports) -> Expr {
        !io.locked.is(self.was_locked) | !io.owner.is(self.was_owner)
    }

    /// Qualifies the warps that are `ready` for the next cycle.
    fn update(&self, u: &UnitBuilder, io: &Ports, ready: impl Into<Expr>) {
        u.at_clock()
            .next(self.ready, ready.into())
            .next(self.mem, io.is_mem)
            .next(self.atomic, io.is_atomic)
            .next(self.shared, io.shares)
            .next(self.cls, io.cls)
            .next(self.wait, io.allowed_wait)
            .next(self.viol, io.allowed_viol)
            .next(self.was_locked, io.locked)
            .next(self.was_owner, io.owner)
            .next(self.was_changed, io.changes);
        u.assign(io.wait_sh, self.wait);
        u.assign(io.viol, self.viol);
    }
}

/// AHEAD = 2. What is picked was not refused in the cycle before, and the
/// scheduler sees the mask of this cycle: what may have changed is the shared
/// part, and that another atomic has gone.
fn take_what_was_ready(u: &UnitBuilder, io: &Ports, scheduler: &Module) {
    let q = Qualified::new(u, io);
    u.section("P, S: what was ready is picked, and taken unless it has to be qualified anew.");
    let sel_valid = u.wire("sel_valid", 1);
    u.instance(scheduler, "scheduler")
        .same([io.clk, io.rst])
        .same([io.cfg_policy, io.cfg_aware, io.cfg_violate])
        .port("ready", q.ready)
        .port("is_mem", q.mem)
        .same([io.mask])
        .port("put_off", 0)
        .port("cls", q.cls)
        .port("take", io.take)
        .same([sel_valid])
        .port("sel", io.take_sel)
        .port("sel_warp", io.take_warp)
        .same([io.masked])
        .done();
    let selects = |warps: Signal| (io.take_sel & warps).any();
    let moved = u.name("moved", q.moved(io));
    let stale = u.name("stale", selects(q.shared) & (q.was_changed | moved));
    let second_atomic = u.name("second_atomic", selects(q.atomic) & io.atom_infl);
    u.assign(io.take, sel_valid & !stale & !second_atomic & io.room);
    u.assign(io.picked, 0);

    u.section("What is taken is not ready again, though it is offered until it is issued.");
    let still_ready = u.name("still_ready", io.ready & !io.take_sel.gated(io.take));
    q.update(u, io, still_ready);
}

/// AHEAD = 3.
fn take_what_was_picked(u: &UnitBuilder, io: &Ports, scheduler: &Module, check: &[Module]) {
    let w = io.s.W;
    let q = Qualified::new(u, io);
    u.about("Warps put off in favour of memory warps: the mask will probably need them later.");
    let put_off = u.register("qualified_put_off", w).reset(0);
    q.update(u, io, io.ready);
    let likely = io.cfg_aware & io.mask_likely;
    u.at_clock().next(put_off, (!io.is_mem).gated(likely));

    u.section("P: the warp that is picked, one bit per warp.");
    let pk_valid = u.register("pk_valid", 1).reset(0);
    let pk = u.register("pk", w).reset(0);
    let pk_leaves = u.wire("pk_leaves", 1);
    let pk_free = u.name("pk_free", !pk_valid | pk_leaves);
    let masked = Masked::new(u, io, &q, pk);
    let [sel_valid, sel] = pick(u, io, scheduler, &q, &masked, put_off, pk_free);
    u.at_clock()
        .when(pk_free)
        .next(pk_valid, sel_valid)
        .next(pk, sel);
    recheck(u, io, check, &q, &masked, [pk_valid, pk, pk_leaves]);
}

/// The mask's effect on the picked warp, and on the next pick.
struct Masked {
    /// The ready warps without the picked one.
    behind: Signal,
    others_first: Signal,
    /// The pick is held by the mask; others go before it.
    held: Signal,
    overtaken: Signal,
}

impl Masked {
    fn new(u: &UnitBuilder, io: &Ports, q: &Qualified, pk: Signal) -> Self {
        u.section(
            "What the mask means for the warp in S and for the next pick. That is taken in the \
             next cycle at the earliest: where the mask will, or may, be on then, other warps \
             are picked first; else memory warps are, once there were conflicts.",
        );
        let behind = u.name("behind", q.ready & !pk);
        let others = u.name("others", (behind & !q.mem).any());
        let pk_mem = u.name("pk_mem", (pk & q.mem).any());
        let others_first = io.mask_lasts | (io.mask_likely & pk_mem);
        let others_first = u.name("others_first", others_first);
        let masks = io.cfg_aware & io.mask & (others | !io.cfg_violate);
        let masks = u.name("masks", masks);
        let held = u.name("held", masks & pk_mem);
        let overtaken = u.name("overtaken", others & io.mask_lasts);
        u.assign(io.masked, masks & ((q.ready | pk) & q.mem).any());
        Masked {
            behind,
            others_first,
            held,
            overtaken,
        }
    }
}

/// The next pick: whether there is one, and the warp.
fn pick(
    u: &UnitBuilder,
    io: &Ports,
    scheduler: &Module,
    q: &Qualified,
    masked: &Masked,
    put_off: Signal,
    pk_free: Signal,
) -> [Signal; 2] {
    u.paragraph();
    let sel_valid = u.wire("sel_valid", 1);
    let sel = u.wire("sel", io.s.W);
    let sel_warp = io.take_warp.width;
    let sel_warp = u.wire_in_part("sel_warp", sel_warp, "the pick goes on as one bit per warp");
    let overlooked = u.wire_in_part("overlooked", 1, "held picks are handled above");
    u.instance(scheduler, "scheduler")
        .same([io.clk, io.rst, io.cfg_policy, io.cfg_aware])
        .port("cfg_violate", 1)
        .port("ready", masked.behind)
        .port("is_mem", q.mem)
        .port("mask", masked.others_first)
        .port("put_off", put_off)
        .port("cls", q.cls)
        .port("take", pk_free)
        .same([sel_valid, sel, sel_warp])
        .port("masked", overlooked)
        .done();
    [sel_valid, sel]
}

/// The pick is taken unless a condition that it was qualified with no longer holds.
fn recheck(
    u: &UnitBuilder,
    io: &Ports,
    check: &[Module],
    q: &Qualified,
    masked: &Masked,
    [pk_valid, pk, pk_leaves]: [Signal; 3],
) {
    u.section("S: the pick is rechecked.");
    let [number, check] = [&check[0], &check[1]];
    u.instance(check, "check")
        .port("picked", pk_valid)
        .port("shared", (pk & q.shared).any())
        .port("refused", (pk & (q.wait | q.viol)).any())
        .port("atomic", (pk & q.atomic).any())
        .same([masked.held, masked.overtaken])
        .port("changed", q.was_changed)
        .port("moved", q.moved(io))
        .same([io.atom_infl, io.room, io.take])
        .port("leaves", pk_leaves)
        .done();
    u.assign(io.picked, pk);
    u.assign(io.take_sel, pk);
    u.instance(number, "encode_pick")
        .port("above", pk.high(1))
        .port("number", io.take_warp)
        .done();
}
