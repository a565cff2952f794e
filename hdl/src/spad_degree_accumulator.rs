//! The conflict degree of a whole warp instruction.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, number, when};
use crate::unit::UnitBuilder;

/// Emits `spad_degree_accumulator`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_degree_accumulator".into(),
        summary: "sums the extra cycles in MEM0 of the passes of one warp instruction, for the conflict history. Saturates.".into(),
        parameters: p.text(&["OCW", "EX", "PCW"]),
        timing: "the update is offered for one cycle, the one after the last pass".into(),
        paper: "elastic paper, section 5.2 and Eq. 6; microarchitecture/conflict-history.md".into(),
        latency_cycles: 1,
    });
    let s = u.all_sizes(p);
    u.clocked();
    let clear = u.input("clear", 1, "kernel launch: the sum starts again");
    let resolved_valid = u.input("resolved_valid", 1, "a pass is resolved");
    let about = "cycles that it took in MEM0, at least 1";
    let resolved_occ = u.input("resolved_occ", s.OCW, about);
    let resolved_last = u.input(
        "resolved_last",
        1,
        "the pass is the last of its instruction",
    );
    let resolved_pc = u.input("resolved_pc", s.PCW, "program counter");
    let up_valid = u.output("up_valid", 1, "an instruction is complete");
    let up_pc = u.output("up_pc", s.PCW, "program counter of the update; else 0");
    let about = "sum of (cycles - 1) over its passes; else 0";
    let up_excess = u.output("up_excess", s.EX, about);

    let sum = u.register("sum", s.EX).reset(0);
    let valid = u.register("valid", 1).reset(0);
    let pc = u.register("pc", s.PCW).reset(0);
    let excess = u.register("excess", s.EX).reset(0);

    u.paragraph();
    u.note("Wide enough for both terms; everything above the field saturates.");
    let (bits, most) = (p.EX.max(p.OCW) + 1, (1 << p.EX) - 1);
    let wide = u.name("wide", sum.extended(bits) + resolved_occ.extended(bits) - 1);
    let saturated = when(wide.above(most), number(p.EX, most));
    let total = u.name("total", saturated.otherwise(wide.part(0, p.EX)));

    u.paragraph();
    let over = clear | (resolved_valid & resolved_last);
    let sum_next = when(over, 0).when(resolved_valid, total).otherwise(sum);
    let sum_next = u.next_state(sum, sum_next);
    let done = u.name("done", resolved_valid & resolved_last & !clear);
    let pc_next = u.next_state(pc, resolved_pc.gated(done));
    let excess_next = u.next_state(excess, total.gated(done));

    u.paragraph();
    u.assign(up_valid, valid);
    u.assign(up_pc, pc);
    u.assign(up_excess, excess);

    u.paragraph();
    u.at_clock()
        .next(sum, sum_next)
        .next(valid, done)
        .next(pc, pc_next)
        .next(excess, excess_next);
    Ok(vec![u.emit()?])
}
