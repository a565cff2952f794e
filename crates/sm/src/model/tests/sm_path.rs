//! The path: the elastic paper's Figs 2 and 3 cycle by cycle, latencies, and
//! the safe distance of memory warps.

use super::machine::{Machine, conflicting, instruction};
use crate::model::spad_sm_path::kind;

/// M = 2, H = 0, one pass: the pipeline of Figs 2 and 3.
const FIGURE: &str = "[hash]\npath = \"mod\"\n";

/// W0..W3 memory without conflict, W4 = W_i of degree 2, then others.
fn figure(pipeline: u8) -> Machine {
    let mut machine = Machine::new(FIGURE);
    machine.cfg.pipeline = pipeline;
    for warp in 0..12 {
        let i = match warp {
            0..4 => conflicting(kind::LOAD, 1, 32),
            4 => conflicting(kind::LOAD, 2, 32),
            _ => instruction(kind::ALU, |_| 0),
        };
        machine.program(warp, [i]);
    }
    machine
}

/// Per cycle from W_i's in EX on: EX, valid bits MEM0 and MEM1, NONMEM
/// stages, writeback, stall.
type Row = (Option<usize>, u32, u32, Option<usize>, u8);

fn rows(pipeline: u8, count: usize) -> Vec<Row> {
    let mut machine = figure(pipeline);
    // W_k is issued in cycle k, so that i+2 of the paper is cycle 5 here.
    let all: Vec<Row> = (0..5 + count)
        .map(|_| {
            let seen = machine.step();
            let out = seen.out;
            (
                seen.ex.map(|(warp, _)| warp),
                out.occ >> 1 & 3,
                out.nm_valid,
                out.wb.map(|wb| wb.warp),
                out.stall,
            )
        })
        .collect();
    all[5..].to_vec()
}

#[test]
fn figure_2_unified_stalls_all_behind_the_conflict() {
    let expected: Vec<Row> = vec![
        (Some(4), 0b11, 0, Some(1), 0),
        // W_i in MEM0 for two cycles: W_i+1 stays in EX.
        (Some(5), 0b11, 0, Some(2), 1),
        (Some(5), 0b01, 0, Some(3), 0),
        (Some(6), 0b11, 0, None, 0),
        (Some(7), 0b11, 0, Some(4), 0),
        (Some(8), 0b11, 0, Some(5), 0),
    ];
    assert_eq!(rows(0, 6), expected);
}

#[test]
fn figure_2_split_stalls_when_both_paths_write_back() {
    let expected: Vec<Row> = vec![
        (Some(4), 0b11, 0b00, Some(1), 0),
        (Some(5), 0b11, 0b00, Some(2), 0),
        (Some(6), 0b01, 0b01, Some(3), 0),
        // W_i in MEM1 and W_i+1 in NONMEM1 want to write back: W_i does.
        (Some(7), 0b10, 0b11, None, 2),
        (Some(7), 0b00, 0b11, Some(4), 0),
        (Some(8), 0b00, 0b11, Some(5), 0),
    ];
    assert_eq!(rows(1, 6), expected);
}

#[test]
fn figure_3_elastic_fills_the_bubble_and_stalls_nobody() {
    let expected: Vec<Row> = vec![
        (Some(4), 0b11, 0b00, Some(1), 0),
        (Some(5), 0b11, 0b00, Some(2), 0),
        (Some(6), 0b01, 0b01, Some(3), 0),
        (Some(7), 0b10, 0b01, Some(5), 0),
        (Some(8), 0b00, 0b11, Some(4), 0),
        (Some(9), 0b00, 0b11, Some(6), 0),
    ];
    assert_eq!(rows(2, 6), expected);
}

/// microarchitecture/pipelines.md: cycles from issue to writeback.
#[test]
fn latencies() {
    let latency = |text: &str, pipeline, i: &super::machine::Instruction| {
        let mut machine = Machine::new(text);
        machine.cfg.pipeline = pipeline;
        machine.program(3, [i.clone()]);
        machine.drain(1000);
        assert_eq!(machine.issued[0].0, 0);
        machine.done[0].cycle
    };
    for m in [2usize, 3, 4, 8] {
        for h in [0usize, 1] {
            let text = format!("[hash]\nstage = {h}\n[path]\nmem_stages = {m}\n");
            for d in [1u16, 2, 32] {
                for pipeline in 0..3 {
                    let load = conflicting(kind::LOAD, d, 32);
                    let cycles = latency(&text, pipeline, &load);
                    assert_eq!(cycles, 1 + d as usize + m + h, "M={m} H={h} d={d}");
                }
            }
            let alu = instruction(kind::ALU, |_| 0);
            let nonmem = [0, 1, 2].map(|pipeline| latency(&text, pipeline, &alu));
            assert_eq!(nonmem, [2 + m + h, 2 + m + h, 2]);
        }
    }
}

#[test]
fn same_address_reads_by_32_lanes_take_as_long_as_conflict_free_ones() {
    let cycle = |addr: fn(u16) -> u16| {
        let mut machine = Machine::new(FIGURE);
        machine.program(0, vec![instruction(kind::LOAD, addr); 8]);
        machine.drain(1000);
        machine.done[7].cycle
    };
    assert_eq!(cycle(|_| 5), cycle(|i| i));
}

/// Elastic paper, section 5: with the history warm, the next memory warp
/// issues after passes + excess cycles and never waits in EX.
#[test]
fn memory_warps_keep_the_safe_distance() {
    let run = |aware: bool| {
        let mut machine = Machine::new("base = \"gt200\"\n[pipeline]\nbarrel = \"relaxed\"\n");
        machine.cfg.aware = aware;
        let mut load = conflicting(kind::LOAD, 3, 8);
        load.offer.pc = 40;
        machine.program(0, [load.clone()]);
        machine.drain(100);
        for warp in 0..4 {
            machine.program(warp, vec![load.clone(); 4]);
        }
        let held = (0..300).filter(|_| machine.step().out.ex_hold).count();
        let issues: Vec<usize> = machine.issued.iter().map(|i| i.0).collect();
        assert_eq!(issues.len(), 17);
        let distances: Vec<usize> = issues[1..].windows(2).map(|w| w[1] - w[0]).collect();
        (held, distances)
    };
    // 4 passes of degree 3 each; PREMEM takes what comes at one pass a cycle.
    assert_eq!(run(true), (0, vec![12; 15]));
    let (held, distances) = run(false);
    assert!(held > 0 && distances[0] < 12, "without the mask EX waits");
}

#[test]
fn unsupported_kinds_are_answered_with_an_error() {
    for locks in ["", "[path]\nlocks = 0\n"] {
        let mut machine = Machine::new(locks);
        for kind in 8..16 {
            machine.program(0, [instruction(kind, |i| i)]);
        }
        let without = !locks.is_empty();
        if without {
            for kind in [kind::ATOMIC, kind::LDLK, kind::STUL] {
                machine.program(0, [instruction(kind, |i| i)]);
            }
        }
        machine.drain(1000);
        assert_eq!(machine.done.len(), if without { 11 } else { 8 });
        for done in &machine.done {
            assert!(done.wb.error && done.data.iter().all(|&w| w == 0));
        }
    }
}

#[test]
fn wide_accesses_go_word_by_word() {
    let mut machine = Machine::new("base = \"small\"\n");
    let mut store = instruction(kind::STORE, |i| 4 * i);
    store.offer.words = 2;
    store.mask = 0x00ff_ff0f;
    let mut load = store.clone();
    load.offer.kind = kind::LOAD;
    machine.program(0, [store, load]);
    machine.drain(1000);
    // 4 subwarps of 4 words each, stores and loads.
    assert_eq!(machine.done.len(), 32);
    let loads = &machine.done[16..];
    for (pass, done) in loads.iter().enumerate() {
        let (sub, word) = (pass / 4, pass % 4);
        assert_eq!((done.wb.pass, done.wb.last), (pass as u16, pass == 15));
        for lane in 0..8 {
            let active = done.wb.mask >> lane & 1 == 1;
            let stored = 1000 * word as u64 + (8 * sub + lane) as u64;
            assert_eq!(done.data[lane], if active { stored } else { 0 });
        }
    }
    assert_eq!((loads[0].wb.mask, loads[12].wb.mask), (0x0f, 0));
}

#[test]
fn strict_barrel_has_one_instruction_per_warp_in_flight() {
    let mut machine = Machine::new("[pipeline]\nbarrel = \"strict\"\n");
    machine.program(5, vec![instruction(kind::LOAD, |i| i); 3]);
    machine.drain(1000);
    let cycles: Vec<usize> = machine.issued.iter().map(|i| i.0).collect();
    // Written back in s + 5 (M = 2, H = 1), offered again in the next cycle.
    assert_eq!(cycles, [0, 6, 12]);
}

#[test]
fn in_order_commit_holds_a_warp_whose_other_path_is_busy() {
    for (barrel, expected) in [(1, [1, 0]), (2, [0, 1])] {
        let mut machine = Machine::new("");
        machine.cfg.barrel = barrel;
        let mut slow = conflicting(kind::LOAD, 8, 32);
        slow.offer.tag = 0;
        let mut alu = instruction(kind::ALU, |_| 0);
        alu.offer.tag = 1;
        machine.program(0, [slow, alu]);
        machine.drain(1000);
        let tags: Vec<u8> = machine.done.iter().map(|d| d.wb.tag).collect();
        assert_eq!(tags, expected, "barrel {barrel}");
    }
}
