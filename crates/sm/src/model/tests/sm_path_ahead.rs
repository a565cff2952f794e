//! The issue decided one to three stages ahead, before two to eight memory
//! stages (microarchitecture/relssp.md and microarchitecture/issue.md).

use super::machine::{Machine, conflicting, instruction, load_up_to};
use crate::model::spad_sm_path::kind;
use crate::model::{Exit, PathLaunch};

/// M = 4, AHEAD = 3, without hash stage.
const AHEAD: &str = "[hash]\npath = \"mod\"\n[path]\nmem_stages = 4\nahead = 3\n";

/// The same with this many stages before EX.
fn machine_of(ahead: usize) -> Machine {
    Machine::new(&AHEAD.replace("ahead = 3", &format!("ahead = {ahead}")))
}

/// Cycle and warp of each issue.
fn issued(machine: &Machine) -> Vec<(usize, usize)> {
    let issues = machine.issued.iter();
    issues.map(|(cycle, warp, _)| (*cycle, *warp)).collect()
}

/// microarchitecture/pipelines.md: from the offer to the issue as many cycles as stages, then as
/// ever.
#[test]
fn latencies() {
    for (m, ahead) in (2usize..=8).flat_map(|m| (1usize..=3).map(move |ahead| (m, ahead))) {
        for h in [0usize, 1] {
            let text = format!("[hash]\nstage = {h}\n[path]\nmem_stages = {m}\nahead = {ahead}\n");
            for d in [1u16, 2, 32] {
                for pipeline in 0..3 {
                    let mut machine = Machine::new(&text);
                    machine.cfg.pipeline = pipeline;
                    machine.program(3, [conflicting(kind::LOAD, d, 32)]);
                    machine.drain(1000);
                    assert_eq!(issued(&machine), [(ahead, 3)]);
                    let cycles = ahead + 1 + d as usize + m + h;
                    assert_eq!(machine.done[0].cycle, cycles, "M={m} H={h} d={d}");
                }
            }
        }
    }
}

#[test]
fn a_warp_issues_behind_all_stages_and_one_more_warp_than_stages_every_cycle() {
    for ahead in 0..=3 {
        let mut machine = machine_of(ahead);
        machine.program(5, vec![instruction(kind::ALU, |_| 0); 4]);
        machine.drain(100);
        let every: Vec<_> = (0..4).map(|i| (ahead + i * (ahead + 1), 5)).collect();
        assert_eq!(issued(&machine), every);
        for warps in 1..8 {
            let mut machine = machine_of(ahead);
            for warp in 0..warps {
                machine.program(warp, vec![conflicting(kind::LOAD, 1, 32); 5]);
            }
            machine.drain(200);
            let all = issued(&machine);
            let last = all[all.len() - 1].0;
            let expected = if warps <= ahead {
                ahead + 4 * (ahead + 1) + warps - 1
            } else {
                ahead + 5 * warps - 1
            };
            let of = format!("{warps} warps, {ahead} ahead");
            assert_eq!((all.len(), last), (5 * warps, expected), "{of}");
            // One a cycle, without conflict: no bubble between issue and writeback.
            let written: Vec<usize> = machine.done.iter().map(|d| d.cycle - 6).collect();
            let cycles: Vec<usize> = all.iter().map(|i| i.0).collect();
            assert_eq!(written, cycles, "{of}");
        }
    }
}

/// All passes of an instruction go one after the other, and another warp's
/// follow without a bubble.
#[test]
fn passes_follow_without_a_bubble() {
    for ahead in 0..=3 {
        let text = format!("base = \"gt200\"\n[path]\nahead = {ahead}\n");
        let mut machine = Machine::new(&text);
        for warp in 0..4 {
            machine.program(warp, vec![conflicting(kind::LOAD, 1, 8); 2]);
        }
        let mut passes = Vec::new();
        for cycle in 0..60 {
            let seen = machine.step();
            passes.extend(seen.out.iss.map(|i| (cycle, i.warp, i.pass)));
        }
        let expected: Vec<_> = (0..32)
            .map(|i| (ahead + i, i / 4 % 4, (i % 4) as u16))
            .collect();
        // gt200 is strict: a warp's second load waits for its first one.
        assert_eq!(passes[..16], expected[..16]);
        assert_eq!(passes.len(), 32);
    }
}

/// Two blocks that share, a while after their launch.
fn pair() -> Machine {
    pair_of(3)
}

fn pair_of(ahead: usize) -> Machine {
    let text = AHEAD.replace("ahead = 3", &format!("ahead = {ahead}"));
    let mut machine = Machine::sharing_pair(&format!("{text}[pipeline]\nkind = \"unified\"\n"));
    for _ in 0..2 {
        machine.step();
    }
    machine.cycle = 0;
    machine
}

/// Both blocks are qualified while the lock is free: one takes it, the other
/// is looked at again and waits, until an exit lets it go.
#[test]
fn one_of_two_qualified_blocks_takes_the_lock() {
    for ahead in 1..=3 {
        one_of_two_blocks_takes_the_lock(ahead);
    }
}

fn one_of_two_blocks_takes_the_lock(ahead: usize) {
    let mut machine = pair_of(ahead);
    machine.program(0, [load_up_to(150)]);
    machine.program(1, [load_up_to(150)]);
    for _ in 0..30 {
        machine.step();
    }
    assert_eq!(issued(&machine), [(ahead, 0)]);
    let out = machine.step().out;
    assert_eq!((out.wait_sh, out.locked, out.owner), (0b10, 1, 0));
    let exits = machine.cycle;
    machine.exit = Some(Exit {
        warp: 0,
        mask: u64::MAX,
    });
    let out = machine.step().out;
    assert_eq!((out.unlock, out.live, out.owner), (0, 0b11, 0));
    // From the release register: role and lock pass one cycle later.
    let out = machine.step().out;
    assert_eq!(
        (out.unlock, out.live, out.rel_done & 0b11),
        (0b01, 0b10, 0b01)
    );
    assert_eq!((out.locked, out.owner, out.wait_sh), (1, 1, 0b10));
    assert_eq!(machine.step().out.wait_sh, 0);
    machine.drain(100);
    assert_eq!(issued(&machine), [(ahead, 0), (exits + ahead + 1, 1)]);
}

#[test]
fn the_partner_waits_for_relssp_which_waits_for_the_accesses() {
    let mut machine = pair();
    let mut relssp = instruction(kind::RELSSP, |_| 0);
    relssp.mask = u64::from(u32::MAX);
    machine.program(0, [load_up_to(150), relssp]);
    machine.program(1, [load_up_to(99), load_up_to(150)]);
    machine.drain(100);
    // The load is written back in 3 + 6. The release is qualified when that is
    // seen, issues three cycles later and acts in EX; the register shows it in
    // the next cycle, in which the partner is qualified. Its access of its own
    // part waits for a cycle in S, in which the lock is seen to be taken.
    assert_eq!(issued(&machine), [(3, 0), (5, 1), (13, 0), (18, 1)]);
    // An access after the release is refused for ever.
    machine.program(0, [load_up_to(150)]);
    for _ in 0..20 {
        machine.step();
    }
    assert_eq!((machine.step().out.viol, machine.issued.len()), (0b01, 4));
}

/// A block that was launched is the owner at once, and its first access takes
/// the lock; its partner, launched in the next cycle, does not.
#[test]
fn a_launch_shows_in_the_next_cycle() {
    let mut machine = Machine::new(AHEAD);
    machine.cfg.sharing = true;
    let launch = |block| PathLaunch {
        block,
        shared: true,
        warps: 1 << block,
        last: 1,
    };
    machine.launch = Some(launch(3));
    let out = machine.step().out;
    assert_eq!((out.live, out.rel_done), (0, u64::MAX >> (64 - 8)));
    machine.launch = Some(launch(2));
    let out = machine.step().out;
    assert_eq!((out.live, out.rel_done & 0b1100), (0b1000, 0b0100));
    let out = machine.step().out;
    assert_eq!((out.live, out.rel_done & 0b1100), (0b1100, 0));
    assert_eq!((out.owner, out.locked), (0b10, 0));
}

/// Two atomics are qualified together; the second is dropped until the first
/// has ended, and nobody waits after it.
#[test]
fn two_atomics_are_never_taken_together() {
    for ahead in 1..=3 {
        two_atomics(ahead);
    }
}

fn two_atomics(ahead: usize) {
    let mut machine = machine_of(ahead);
    for warp in 0..2 {
        let mut add = instruction(kind::ATOMIC, |i| i);
        add.data = vec![1; 64];
        machine.program(warp, [add]);
    }
    machine.program(2, vec![instruction(kind::ALU, |_| 0); 3]);
    machine.drain(1000);
    let all = issued(&machine);
    // A pick that is dropped costs its cycle: the atomic's, with three stages.
    let first = match ahead {
        1 => 2,
        2 => 4,
        _ => 5,
    };
    let added: Vec<_> = (0..3).map(|i| (first + i * (ahead + 1), 2)).collect();
    assert_eq!((all[0], &all[1..4]), ((ahead, 0), &added[..]));
    assert_eq!(all[4].1, 1);
    // 118 cycles of the loop, the final PASS fires 120 cycles after the issue.
    assert_eq!(all[4].0, ahead + 120 + 1 + ahead);
    assert_eq!(machine.path.scratchpad().word(31), 2);
}

/// Elastic paper, section 6: several passes without a known conflict change
/// nothing; the load that was picked goes after them.
#[test]
fn passes_without_conflicts_do_not_mask() {
    let run = |aware: bool| {
        let mut machine = Machine::new(AHEAD);
        machine.cfg.aware = aware;
        let mut wide = conflicting(kind::LOAD, 1, 32);
        wide.offer.words = 2;
        for warp in 0..2 {
            machine.program(warp, [wide.clone()]);
        }
        machine.program(2, [instruction(kind::ALU, |_| 0)]);
        machine.drain(100);
        issued(&machine)
    };
    assert_eq!(run(false), [(3, 0), (7, 1), (11, 2)]);
    assert_eq!(run(true), run(false));
}

/// Off-chip data have every second cycle; memory results the others.
#[test]
fn off_chip_data_take_turns() {
    let mut machine = Machine::new(AHEAD);
    for warp in 0..6 {
        machine.program(warp, vec![conflicting(kind::LOAD, 1, 32); 8]);
    }
    for _ in 0..20 {
        machine.step();
    }
    machine.icn = true;
    let taken: Vec<bool> = (0..8).map(|_| machine.step().out.icn_ready).collect();
    assert_eq!(taken, [false, true, false, true, false, true, false, true]);
    machine.icn = false;
    machine.drain(200);
    assert_eq!(machine.done.len(), 6 * 8 + 4);
    let far = machine.done.iter().filter(|d| d.data[0] == 77);
    assert_eq!(far.count(), 4);
}

/// A port that waits holds what follows it, whatever the stages: nothing is
/// lost, and the operands stand still.
#[test]
fn a_writeback_port_that_waits_loses_nothing() {
    for (m, ahead) in [(2, 1), (4, 1), (4, 2), (3, 3), (4, 3), (5, 3)] {
        for pipeline in 0..3 {
            let text = format!("[path]\nmem_stages = {m}\nahead = {ahead}\n");
            let mut machine = Machine::new(&text);
            machine.cfg.pipeline = pipeline;
            for warp in 0..8 {
                let load = conflicting(kind::LOAD, 1 + warp as u16 % 3, 32);
                let alu = instruction(kind::ALU, |i| i);
                machine.program(warp, [load.clone(), alu, load]);
            }
            for cycle in 0..400 {
                machine.wb_ready = cycle / 8 % 3 == 0;
                machine.step();
            }
            machine.wb_ready = true;
            machine.drain(200);
            let per_warp = |w| machine.done.iter().filter(|d| d.wb.warp == w).count();
            assert!((0..8).all(|w| per_warp(w) == 3), "M = {m}");
            assert_eq!(machine.path.passes_in_flight(), 0);
        }
    }
}
