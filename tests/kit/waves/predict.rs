//! What an instruction's conflicts cost, remembered and waited for.

use crate::waves::wave::{Value, Wave};
use spadkit::model::{
    AccumulatorInputs, ConflictHistory, DegreeAccumulator, HistoryInputs, HistoryOutputs,
    MaskInputs, MemoryWarpMask, ResolvedPass,
};

const PC: u16 = 0x12;

fn optional(value: Option<u64>) -> Value {
    value.map_or("".into(), Value::from)
}

pub fn conflict_history() -> Wave {
    let mut wave = Wave::new(
        "spad_degree_accumulator into spad_conflict_history: four passes, then the instruction again",
    );
    let mut accumulator = DegreeAccumulator::new(5);
    let mut history = ConflictHistory::new(16);
    let occupancies = [1, 3, 1, 2];
    for cycle in 1..=10 {
        let pass = usize::checked_sub(cycle, 2).and_then(|i| occupancies.get(i).map(|o| (i, *o)));
        let resolved = pass.map(|(i, occupancy)| ResolvedPass {
            occupancy,
            last: i + 1 == occupancies.len(),
            pc: PC,
        });
        let update = accumulator.step(&AccumulatorInputs {
            rst: false,
            clear: false,
            pass: resolved,
        });
        let lookup = [1, 8].contains(&cycle).then_some(PC);
        let out = history.step(&HistoryInputs {
            lookup,
            update,
            ..HistoryInputs::default()
        });
        wave.cycle();
        wave.input("lk_valid", lookup.is_some());
        wave.input("lk_pc", optional(lookup.map(u64::from)));
        wave.output("lk_done", out.done);
        wave.output("lk_hit", out.hit);
        wave.output("lk_excess", optional(out.done.then_some(out.excess.into())));
        wave.input("resolved_valid", resolved.is_some());
        wave.input(
            "resolved_occ",
            optional(resolved.map(|p| p.occupancy.into())),
        );
        wave.input("resolved_last", resolved.is_some_and(|p| p.last));
        wave.output("up_valid", update.is_some());
        wave.output("up_pc", optional(update.map(|u| u.pc.into())));
        wave.output("up_excess", optional(update.map(|u| u.excess.into())));
    }
    wave
}

pub fn warp_mask() -> Wave {
    let mut wave =
        Wave::new("spad_warp_mask, AHEAD = 0: one pass of excess 3; EX is held in cycle 4");
    let mut mask = MemoryWarpMask::new(0);
    for cycle in 1..=8 {
        let known = cycle == 2;
        let inputs = MaskInputs {
            set: (cycle == 1).then_some(0),
            history: HistoryOutputs {
                done: known,
                hit: known,
                excess: if known { 3 } else { 0 },
            },
            hold: cycle == 4,
            ..MaskInputs::default()
        };
        let out = mask.step(&inputs);
        wave.cycle();
        wave.input("set_valid", inputs.set.is_some());
        wave.input("set_base", optional(inputs.set.map(u64::from)));
        wave.input("lk_hit", inputs.history.hit);
        let excess = known.then_some(inputs.history.excess.into());
        wave.input("lk_excess", optional(excess));
        wave.input("hold", inputs.hold);
        wave.output("mask", out.mask);
        wave.output("lasts", out.lasts);
    }
    wave
}
