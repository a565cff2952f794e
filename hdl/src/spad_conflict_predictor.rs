//! The conflict prediction: degrees of the past, by program counter, become
//! cycles in which no memory warp goes.

use crate::module::{Module, Result, UnitDoc, top};
use crate::params::Params;
use crate::signal::{Bits, Operand};
use crate::unit::Unit;
use crate::{spad_conflict_history, spad_degree_accumulator, spad_warp_mask};

/// Emits `spad_conflict_predictor` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let accumulator = spad_degree_accumulator::emit_unit(p)?;
    let history = spad_conflict_history::emit_unit(p)?;
    let warp_mask = spad_warp_mask::emit_unit(p)?;
    let u = Unit::new(UnitDoc {
        name: "spad_conflict_predictor".into(),
        summary: "remembers what the instructions at each program counter cost in MEM0 and \
                  masks memory warps behind the next one for as long."
            .into(),
        parameters: p.text(&["PW", "DG", "OCC", "EX", "SETS", "AHEAD"]),
        timing: "taken in cycle s with P passes and excess x: behind the passes mask is 1 for x \
                 cycles without hold"
            .into(),
        paper: "elastic paper, section 5; microarchitecture/warp-mask.md".into(),
        latency_cycles: 1,
    });
    let s = u.all_sizes(p);
    let [sets] = u.sizes(p, ["SETS"]);
    let [clk, rst] = u.clocked();
    let clear = u.input("clear", 1, "kernel launch: as reset");
    let about = "a predicted pass leaves the scratchpad";
    let resolved_valid = u.input("resolved_valid", 1, about);
    let about = "cycles that it took in MEM0";
    let resolved_occ = u.input("resolved_occ", s.OCC, about);
    let resolved_last = u.input(
        "resolved_last",
        1,
        "the pass is the last of its instruction",
    );
    let about = "the instruction's program counter";
    let resolved_pc = u.input("resolved_pc", s.PCW, about);
    let about = "a predicted instruction is taken in this cycle";
    let set_valid = u.input("set_valid", 1, about);
    let set_pc = u.input("set_pc", s.PCW, "program counter of the instruction taken");
    let set_base = u.input("set_base", s.PW, "number of its passes - 1");
    let hold = u.input("hold", 1, "EX is held in this cycle: it does not count");
    let mask = u.output("mask", 1, "memory warps are masked");
    let about = "they will be in the next cycle, too, if EX is not held in this one";
    let mask_lasts = u.output("mask_lasts", 1, about);
    let about = "AHEAD = 3: some instruction has had an excess; else 0";
    let mask_likely = u.output("mask_likely", 1, about);

    let up_valid = u.wire("up_valid", 1);
    let up_pc = u.wire("up_pc", s.PCW);
    let up_excess = u.wire("up_excess", s.EX);
    u.instance(top(&accumulator), "accumulator")
        .same([clk, rst, clear])
        .same([resolved_valid, resolved_occ, resolved_last, resolved_pc])
        .same([up_valid, up_pc, up_excess])
        .done();

    u.paragraph();
    let lk_hit = u.wire("lk_hit", 1);
    let lk_excess = u.wire("lk_excess", s.EX);
    let lk_done = u.wire_in_part("lk_done", 1, "for debugging: the mask itself decides");
    u.instance(top(&history), "history")
        .same([clk, rst, clear])
        .port("lk_valid", set_valid)
        .port("lk_pc", set_pc)
        .same([lk_done, lk_hit, lk_excess])
        .same([up_valid, up_pc, up_excess])
        .done();

    let mut answer: [Operand; 4] = [lk_hit.into(), lk_excess.into(), 0.into(), 0.into()];
    if p.AHEAD > 0 {
        u.section(
            "The answer of the history counts in the second cycle after the question. Until \
             then the set's last update decides: heavy means an excess, heavier one of \
             more than one cycle.",
        );
        let lq_hit = u.register("lq_hit", 1).reset(0);
        let lq_excess = u.register("lq_excess", s.EX).reset(0);
        let [heavy, heavier] = ["heavy", "heavier"].map(|name| u.register(name, sets).reset(0));
        let [lq_heavy, lq_heavier] =
            ["lq_heavy", "lq_heavier"].map(|name| u.register(name, 1).reset(0));
        let (set, up_set) = (set_pc.part(0, p.SETW), up_pc.part(0, p.SETW));
        u.at_clock()
            .next(lq_hit, lk_hit)
            .next(lq_excess, lk_excess)
            .next(lq_heavy, heavy.select(set.clone()))
            .next(lq_heavier, heavier.select(set));
        let of_more: Operand = match p.EX {
            1 => 0.into(),
            bits => up_excess.part(1, bits - 1).any().into(),
        };
        u.at_clock()
            .clear(clear)
            .when(up_valid)
            .next_bit(heavy, up_set.clone(), up_excess.any())
            .next_bit(heavier, up_set, of_more);
        answer = [lq_hit, lq_excess, lq_heavy, lq_heavier].map(Operand::from);
    }

    if p.AHEAD == 3 {
        u.section("The first excess since the kernel started.");
        let learned = u.register("learned", 1).reset(0);
        let first = up_valid & up_excess.any();
        u.at_clock().clear(clear).when(first).next(learned, 1);
        u.assign(mask_likely, learned);
    } else {
        u.assign(mask_likely, 0);
    }

    u.paragraph();
    let [hit, excess, heavy, heavier] = answer;
    u.instance(top(&warp_mask), "warp_mask")
        .same([clk, rst, clear, set_valid, set_base])
        .port("lk_hit", hit)
        .port("lk_excess", excess)
        .port("lk_heavy", heavy)
        .port("lk_heavier", heavier)
        .same([hold, mask])
        .port("lasts", mask_lasts)
        .done();
    let module = u.emit()?;
    let parts = [accumulator, history, warp_mask];
    Ok(parts.into_iter().flatten().chain([module]).collect())
}
