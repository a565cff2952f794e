//! The conflict prediction: degrees of the past, by program counter, become
//! cycles in which no memory warp goes.

use crate::module::{Module, Result, UnitDoc, top};
use crate::params::Params;
use crate::ports::ports;
use crate::signal::{Bits, Operand, Signal};
use crate::unit::UnitBuilder;
use crate::{spad_conflict_history, spad_degree_accumulator, spad_warp_mask};

/// Emits `spad_conflict_predictor`, its parts first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let accumulator = spad_degree_accumulator::emit_unit(p)?;
    let history = spad_conflict_history::emit_unit(p)?;
    let warp_mask = spad_warp_mask::emit_unit(p)?;
    let u = UnitBuilder::new(doc(p));
    let io = Ports::declared(&u, p);
    let update = accumulate(&u, &io, top(&accumulator));
    let [hit, excess] = look_up(&u, &io, top(&history), &update);
    let answer = match p.AHEAD {
        0 => [hit.into(), excess.into(), 0.into(), 0.into()],
        _ => answer_later(&u, p, &io, &update, [hit, excess]).map(Operand::from),
    };
    if p.AHEAD == 3 {
        u.section("The first excess since the kernel started.");
        let learned = u.register("learned", 1).reset(0);
        let first = update.valid & update.excess.any();
        u.at_clock().clear(io.clear).when(first).next(learned, 1);
        u.assign(io.mask_likely, learned);
    } else {
        u.assign(io.mask_likely, 0);
    }
    mask(&u, &io, top(&warp_mask), answer);
    let module = u.emit()?;
    let parts = [accumulator, history, warp_mask];
    Ok(parts.into_iter().flatten().chain([module]).collect())
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_conflict_predictor".into(),
        summary: "remembers what the instructions at each program counter cost in MEM0 and \
                  masks memory warps after the next one for as long."
            .into(),
        parameters: p.text(&["PW", "DG", "OCW", "EX", "SETS", "AHEAD"]),
        timing: "taken in cycle s with P passes and excess x: after the passes mask is 1 for x \
                 cycles without hold"
            .into(),
        paper: "elastic paper, section 5; microarchitecture/warp-mask.md".into(),
        latency_cycles: 1,
    }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        clear: input(1, "kernel launch: as reset"),
        resolved_valid: input(1, "a predicted pass leaves the scratchpad"),
        resolved_occ: input(s.OCW, "cycles that it took in MEM0"),
        resolved_last: input(1, "the pass is the last of its instruction"),
        resolved_pc: input(s.PCW, "the instruction's program counter"),
        set_valid: input(1, "a predicted instruction is taken in this cycle"),
        set_pc: input(s.PCW, "program counter of the instruction taken"),
        set_base: input(s.PW, "number of its passes - 1"),
        hold: input(1, "EX is held in this cycle: it does not count"),
        mask: output(1, "memory warps are masked"),
        mask_lasts: output(1, "they will be in the next cycle, too, if EX is not held in this one"),
        mask_likely: output(1, "AHEAD = 3: some instruction has had an excess; else 0"),
    }
}

/// An update of the history.
struct Update {
    valid: Signal,
    pc: Signal,
    excess: Signal,
}

fn accumulate(u: &UnitBuilder, io: &Ports, accumulator: &Module) -> Update {
    let update = Update {
        valid: u.wire("up_valid", 1),
        pc: u.wire("up_pc", io.s.PCW),
        excess: u.wire("up_excess", io.s.EX),
    };
    u.instance(accumulator, "accumulator")
        .same([io.clk, io.rst, io.clear])
        .same([io.resolved_valid, io.resolved_occ])
        .same([io.resolved_last, io.resolved_pc])
        .same([update.valid, update.pc, update.excess])
        .done();
    update
}

/// Whether the history knows the instruction that is taken, and its excess.
fn look_up(u: &UnitBuilder, io: &Ports, history: &Module, update: &Update) -> [Signal; 2] {
    u.paragraph();
    let lk_hit = u.wire("lk_hit", 1);
    let lk_excess = u.wire("lk_excess", io.s.EX);
    let lk_done = u.wire_in_part("lk_done", 1, "for debugging: the mask itself decides");
    u.instance(history, "history")
        .same([io.clk, io.rst, io.clear])
        .port("lk_valid", io.set_valid)
        .port("lk_pc", io.set_pc)
        .same([lk_done, lk_hit, lk_excess])
        .same([update.valid, update.pc, update.excess])
        .done();
    [lk_hit, lk_excess]
}

/// AHEAD > 0: the answer of the history, and what the set's last update tells
/// until it comes.
fn answer_later(
    u: &UnitBuilder,
    p: &Params,
    io: &Ports,
    update: &Update,
    [lk_hit, lk_excess]: [Signal; 2],
) -> [Signal; 4] {
    u.section(
        "The answer of the history counts in the second cycle after the question. Until then the \
         set's last update decides: heavy means an excess, heavier one of more than one cycle.",
    );
    let lq_hit = u.register("lq_hit", 1).reset(0);
    let lq_excess = u.register("lq_excess", io.s.EX).reset(0);
    let per_set = ["heavy", "heavier"].map(|name| u.register(name, io.s.SETS).reset(0));
    let [heavy, heavier] = per_set;
    let [lq_heavy, lq_heavier] =
        ["lq_heavy", "lq_heavier"].map(|name| u.register(name, 1).reset(0));
    let (set, up_set) = (io.set_pc.part(0, p.SETW), update.pc.part(0, p.SETW));
    u.at_clock()
        .next(lq_hit, lk_hit)
        .next(lq_excess, lk_excess)
        .next(lq_heavy, heavy.select(set.clone()))
        .next(lq_heavier, heavier.select(set));
    let of_more: Operand = match p.EX {
        1 => 0.into(),
        bits => update.excess.part(1, bits - 1).any().into(),
    };
    u.at_clock()
        .clear(io.clear)
        .when(update.valid)
        .next_bit(heavy, up_set.clone(), update.excess.any())
        .next_bit(heavier, up_set, of_more);
    [lq_hit, lq_excess, lq_heavy, lq_heavier]
}

fn mask(u: &UnitBuilder, io: &Ports, warp_mask: &Module, answer: [Operand; 4]) {
    u.paragraph();
    let [hit, excess, heavy, heavier] = answer;
    u.instance(warp_mask, "warp_mask")
        .same([io.clk, io.rst, io.clear, io.set_valid, io.set_base])
        .port("lk_hit", hit)
        .port("lk_excess", excess)
        .port("lk_heavy", heavy)
        .port("lk_heavier", heavier)
        .same([io.hold, io.mask])
        .port("lasts", io.mask_lasts)
        .done();
}
