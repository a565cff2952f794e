//! Rates of arithmetic: instructions of one unit follow each other at its interval.

use super::copies::Programs;
use super::*;

/// Cycles of 32 warps, eight of each scheduler, that have each of the instructions 64 times.
fn cycles(preset: &str, instrs: &[(InstrKind, Option<Unit>)]) -> u64 {
    let one = |&(kind, unit): &(InstrKind, Option<Unit>)| {
        let mut instr = Instr::new(kind, 0, u64::from(u32::MAX));
        instr.detail = unit.map_or(Detail::None, Detail::Unit);
        instr
    };
    let all: Vec<Instr> = instrs.iter().map(one).collect();
    let same = Programs {
        info: KernelInfo {
            name: "units".to_owned(),
            source: String::new(),
            block_dim: [1024, 1, 1],
            blocks: 1,
            shared_bytes: 0,
            warp_size: 32,
            registers: 0,
            target: None,
            together: None,
        },
        warps: vec![vec![all; 64].concat(); 32],
        incoming: Vec::new(),
    };
    let config = Config::preset(preset).unwrap();
    let fast = Setup::default().run(&config, &same).unwrap();
    assert_eq!(
        fast,
        Sm::new(&config, &same).unwrap().run_every_cycle().unwrap()
    );
    assert_eq!(fast.issued + fast.stalls.total(), 4 * fast.cycles);
    fast.cycles
}

/// The CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions": 32 lanes
/// over the results of a scheduler in a cycle.
#[test]
fn units_begin_an_instruction_at_their_interval() {
    use InstrKind::{Alu, Mov, Sfu};
    let table = [
        ("sm70", [2, 2, 4, 8, 4]),
        ("sm75", [2, 2, 64, 8, 4]),
        ("sm80", [2, 2, 4, 8, 4]),
        ("sm86", [1, 2, 64, 8, 4]),
        ("sm89", [1, 2, 64, 8, 4]),
        ("sm90", [1, 2, 2, 1, 4]),
        ("sm120", [1, 2, 64, 8, 4]),
        ("gpgpusim-16k", [1; 5]),
    ];
    let units = [
        (Alu, None),
        (Alu, Some(Unit::Integer)),
        (Alu, Some(Unit::Double)),
        (Sfu, None),
        (Sfu, Some(Unit::Exchange)),
    ];
    for (preset, intervals) in table {
        for (unit, interval) in units.into_iter().zip(intervals) {
            let took = cycles(preset, &[unit]);
            let least = (8 * 64 - 1) * interval;
            assert!(
                (least..least + 40).contains(&took),
                "{preset} {unit:?}: {took}"
            );
        }
        for free in [(Mov, None), (Alu, Some(Unit::Free))] {
            assert!(cycles(preset, &[free]) < 8 * 64 + 40, "{preset}");
        }
    }
    // Two units work at the same time.
    let both = cycles("sm80", &[(Alu, None), (Alu, Some(Unit::Integer))]);
    assert!((2 * 8 * 64..2 * 8 * 64 + 40).contains(&both), "{both}");
}
