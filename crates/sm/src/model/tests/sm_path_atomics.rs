//! Atomics on the whole path.

use super::machine::{Done, Machine, instruction};
use crate::model::spad_retry_sequencer::State;
use crate::model::spad_sm_path::kind;

/// Cycles from issue to writeback of one atomic, and its rounds.
fn atomic(text: &str, c: u16, stride: u16, lock_hash: u8) -> (usize, u32) {
    let mut machine = Machine::new(text);
    machine.cfg.lock_hash = lock_hash;
    let mut atomic = instruction(kind::ATOMIC, move |i| if i < c { i * stride } else { 0 });
    atomic.mask = (1 << c) - 1;
    machine.program(0, [atomic]);
    let mut rounds = 0;
    for _ in 0..100_000 {
        machine.step();
        rounds = rounds.max(machine.path.atomic_rounds());
        if let Some(done) = machine.done.first() {
            return (done.cycle, rounds);
        }
    }
    panic!("the atomic hangs");
}

/// microarchitecture/pipelines.md: issue, EX, hash stage, 118 cycles, PASS, MEM0 .. WB.
#[test]
fn an_atomic_without_conflict_takes_118_cycles_in_the_sequencer() {
    assert_eq!(atomic("[hash]\nstage = 0\n", 32, 1, 0), (121 + 2, 1));
    assert_eq!(atomic("", 32, 1, 0), (121 + 2 + 1, 1));
}

/// Atomics paper, Fig. 5, as differences to c = 1.
#[test]
fn the_three_synthetic_benchmarks() {
    let plain = "[hash]\npath = \"mod\"\n";
    let hashed = "[hash]\npath = \"xor\"\n";
    let base = atomic(plain, 1, 0, 0).0;
    for c in 1..=32 {
        let n = usize::from(c);
        assert_eq!(atomic(plain, c, 0, 0).0 - base, 118 * (n - 1));
        assert_eq!(atomic(plain, c, 32, 0).0 - base, 68 * (n - 1));
        assert_eq!(atomic(hashed, c, 32, 1).0, base, "flat with hashes");
        assert_eq!(atomic(plain, c, 256, 0).1, u32::from(c).div_ceil(4));
        assert_eq!(atomic(hashed, c, 256, 1).1, 1);
    }
}

#[test]
fn atomics_of_four_subwarps_add_up_and_release_every_lock() {
    let mut machine = Machine::new("base = \"small\"\n");
    for warp in 0..8 {
        let mut add = instruction(kind::ATOMIC, |i| i % 5);
        add.data = vec![1; 64];
        machine.program(warp, [add]);
    }
    machine.drain(100_000);
    let total: u64 = (0..5).map(|a| machine.path.scratchpad().word(a)).sum();
    assert_eq!(total, 8 * 32);
    assert_eq!(machine.path.scratchpad().held_locks(), 0);
    assert_eq!(machine.done.iter().filter(|d| d.wb.last).count(), 8);
}

/// A warp holds the lock by LDLK; its STUL comes after the ATOMIC that wants it.
#[test]
fn a_store_and_unlock_passes_a_waiting_atomic() {
    let mut machine = Machine::new("base = \"small\"\n");
    let mut lock = instruction(kind::LDLK, |_| 9);
    lock.mask = 1;
    let mut unlock = instruction(kind::STUL, |_| 9);
    unlock.mask = 1;
    unlock.data = vec![100; 64];
    machine.program(0, [lock]);
    machine.drain(100);
    assert_eq!(machine.path.scratchpad().held_locks(), 1);
    let mut add = instruction(kind::ATOMIC, |_| 9);
    add.data = vec![1; 64];
    machine.program(1, [add.clone()]);
    // A second warp's offer waits for the context without blocking others.
    machine.program(2, [add]);
    for _ in 0..200 {
        machine.step();
    }
    assert!(machine.path.atomic_rounds() > 3, "it spins");
    machine.program(3, [unlock]);
    machine.drain(100_000);
    assert_eq!(machine.path.scratchpad().word(9), 100 + 64);
    assert_eq!(machine.path.scratchpad().held_locks(), 0);
}

#[test]
fn loads_of_other_warps_pass_between_the_sequencers_requests() {
    let mut machine = Machine::new("");
    machine.program(0, [instruction(kind::ATOMIC, |_| 3)]);
    machine.program(1, vec![instruction(kind::LOAD, |i| i); 50]);
    let mut in_loop = 0;
    for _ in 0..300 {
        let seen = machine.step();
        in_loop += usize::from(seen.out.seq_state != State::Idle);
    }
    let loads = machine.done.iter().filter(|d| d.wb.warp == 1).count();
    assert_eq!(loads, 50);
    assert!(in_loop > 250);
}

/// Several contexts, in the model alone: sums are right, no lock stays, and a
/// holder of a lock gets through between the retries of all of them.
#[test]
fn contexts_side_by_side_lose_nothing() {
    for contexts in [2, 3, 8, 32] {
        let mut machine = Machine::new(&format!(
            "base = \"small\"\n[retry]\ncontexts = {contexts}\nread = 1\nupdate = 1\nwrite = 1\nbranch = 1\n"
        ));
        let mut lock = instruction(kind::LDLK, |_| 3);
        lock.mask = 1;
        machine.program(0, [lock]);
        machine.drain(100);
        let mut add = instruction(kind::ATOMIC, |i| i % 5);
        add.data = vec![1; 64];
        for warp in 1..8 {
            machine.program(warp, [add.clone(), add.clone()]);
        }
        for _ in 0..300 {
            machine.step();
        }
        assert!(machine.path.atomic_rounds() > 10, "it spins");
        let mut unlock = instruction(kind::STUL, |_| 3);
        unlock.mask = 1;
        unlock.data = vec![1000; 64];
        machine.program(0, [unlock]);
        for _ in 0..10_000 {
            machine.step();
        }
        let total: u64 = (0..5).map(|a| machine.path.scratchpad().word(a)).sum();
        assert_eq!(total, 1000 + 7 * 2 * 32, "{contexts} contexts");
        assert_eq!(machine.path.scratchpad().held_locks(), 0);
        let atomics = |d: &&Done| d.wb.kind == kind::ATOMIC;
        let passes: Vec<_> = machine.done.iter().filter(atomics).collect();
        assert_eq!(passes.len(), 7 * 2 * 4);
        // Each atomic's passes come back in order, the last one last.
        for warp in 1..8 {
            let own = passes.iter().filter(|d| d.wb.warp == warp);
            let own: Vec<u16> = own.map(|d| d.wb.pass).collect();
            let mut sorted = own.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 0, 1, 1, 2, 2, 3, 3]);
        }
    }
}
