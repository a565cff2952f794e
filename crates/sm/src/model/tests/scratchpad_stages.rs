//! The scratchpad in two, three and four stages: the same answers, later.

use super::scratchpad::{Access, Bench, access};
use crate::model::ResponseControl;
use crate::model::spad_scratchpad::op;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use spadkit_mapping::hash::uniform;

/// Stages of a scratchpad in a path of M = 2 to 5: the rest is after it.
const STAGES: [(u32, u32); 4] = [(2, 2), (3, 3), (4, 4), (5, 4)];

fn bench(m: u32, more: &str) -> Bench {
    Bench::new(&format!("[path]\nmem_stages = {m}\n{more}"))
}

/// A load of that degree.
fn load(degree: u16) -> Access {
    access(op::LOAD, move |i| if i < degree { 32 * i } else { i })
}

#[test]
fn an_access_takes_its_groups_and_the_stages_behind_mem0() {
    for (m, ms) in STAGES {
        for degree in [1, 2, 7, 32] {
            let responses = bench(m, "").run(&[load(degree)]);
            let (cycle, resp, _) = &responses[0];
            assert_eq!(
                (*cycle, resp.degree),
                (u32::from(degree) + ms - 1, degree.into())
            );
        }
    }
}

#[test]
fn accesses_follow_each_other_without_a_gap() {
    for (m, ms) in STAGES {
        let degrees = [1, 1, 3, 1, 2, 2, 1, 1];
        let responses = bench(m, "").run(&degrees.map(load));
        let mut at = ms - 1;
        for (degree, (cycle, resp, _)) in degrees.into_iter().zip(&responses) {
            at += u32::from(degree);
            assert_eq!((*cycle, resp.degree), (at, degree.into()), "M = {m}");
        }
    }
}

/// The last group of an access in MEM1, MEM2, ..., one a cycle.
#[test]
fn stages_show_the_end_of_an_access_alone() {
    for (m, ms) in STAGES {
        let mut bench = bench(m, "");
        let shown: Vec<u32> = (0..8)
            .map(|cycle| {
                let stages = bench.spad.stages();
                bench.cycle(Some(&load(3)).filter(|_| cycle == 0), true);
                stages
            })
            .collect();
        // MEM0 in cycles 1 to 3.
        let mut expected = vec![0; 8];
        for k in 0..ms - 1 {
            expected[4 + k as usize] = 1 << k;
        }
        assert_eq!(shown, expected, "M = {m}");
    }
}

#[test]
fn data_that_pass_behind_a_load_of_many_groups_keep_their_place() {
    for (m, _) in STAGES {
        let store = access(op::STORE, |i| 32 * (i % 5) + i / 5);
        let load = access(op::LOAD, |i| 32 * (i % 5) + i / 5);
        let mut pass = access(op::PASS, |_| 0);
        pass.data = (0..32).map(|i| 0x9000 + i).collect();
        pass.mask = 0x0f0f_0f0f;
        let responses = bench(m, "").run(&[store, load.clone(), pass.clone(), load, pass]);
        let words: Vec<u64> = (0..32).map(|i| 0x100 + i).collect();
        let masked: Vec<u64> = (0..32)
            .map(|i| (0x9000 + i) * (0x0f0f_0f0f_u64 >> i & 1))
            .collect();
        let data = responses.iter().skip(1).map(|r| &r.2);
        assert_eq!(data.collect::<Vec<_>>(), [&words, &masked, &words, &masked]);
        assert_eq!(responses[1].1.degree, 5);
    }
}

/// Lanes i and i + 4 want one lock, each group holds one lane: the first four
/// win, in whatever windows and stages.
#[test]
fn locks_of_several_groups_and_windows() {
    for (m, ms) in STAGES {
        for windows in [1, 2, 4, 8] {
            let mut bench = bench(m, &format!("lock_group_cycles = {windows}\n"));
            let lock = access(op::LDLK, |i| 256 * i);
            let (cycle, resp, _) = &bench.run(std::slice::from_ref(&lock))[0];
            assert_eq!((resp.success, resp.degree), (0b1111, 32));
            assert_eq!(*cycle, 32 * windows + ms - 1);
            // Held until they are given back, the one of lane 1 first.
            let mut unlock = access(op::STUL, |i| 256 * i);
            unlock.mask = 0b10;
            let mut again = vec![lock.clone(), unlock, lock.clone()];
            unlock = access(op::STUL, |i| 256 * i);
            again.extend([unlock, lock]);
            let responses = bench.run(&again);
            let success: Vec<u64> = responses.iter().map(|r| r.1.success).collect();
            assert_eq!(
                success,
                [0, 0, 0b10, 0, 0b1111],
                "M = {m}, {windows} windows"
            );
        }
    }
}

fn random_access(rng: &mut ChaCha8Rng) -> Access {
    let ops = [0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7];
    let op = ops[uniform(rng, 12) as usize];
    let spread = [1, 8, 32, 33][uniform(rng, 4) as usize];
    let base = uniform(rng, 400) * 31;
    let scattered = uniform(rng, 2) == 0;
    let addrs: Vec<u16> = (0..32)
        .map(|i| {
            if scattered {
                uniform(rng, 256)
            } else {
                (base + spread * i) % 16384
            }
        })
        .map(|a| a as u16)
        .collect();
    let mut a = access(op, |i| addrs[usize::from(i)]);
    a.mask = rng.next_u64() & rng.next_u64() & u64::from(u32::MAX) | 1;
    a.data = (0..32).map(|_| rng.next_u64() & 0xffff_ffff).collect();
    a.be = (0..32).map(|_| uniform(rng, 16) as u8).collect();
    a
}

/// What came back, but for the cycles; and the lock bits.
type Answers = (Vec<(ResponseControl<u32>, Vec<u64>)>, Vec<u64>);

/// Runs `accesses`; responses are taken in `pressure` of 4 cycles. Requests
/// pause now and then.
fn answers(m: u32, windows: u32, accesses: &[Access], pressure: u32, seed: u64) -> Answers {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = bench(m, &format!("lock_group_cycles = {windows}\n"));
    let (mut next, mut responses) = (0, Vec::new());
    for _ in 0..200_000 {
        if responses.len() == accesses.len() {
            break;
        }
        let ready = uniform(&mut rng, 4) < pressure;
        let access = accesses.get(next).filter(|_| uniform(&mut rng, 8) != 0);
        let (taken, mut resp, data) = bench.cycle(access, ready);
        next += usize::from(taken && access.is_some());
        if resp.valid && ready {
            resp.tag = 0; // the cycle of the request
            responses.push((resp, data));
        }
    }
    for _ in 0..8 {
        assert!(!bench.cycle(None, true).1.valid, "nothing comes twice");
    }
    (responses, bench.spad.held_locks().to_vec())
}

#[test]
fn back_pressure_loses_doubles_and_reorders_nothing() {
    for seed in 0..24 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let accesses: Vec<Access> = (0..60).map(|_| random_access(&mut rng)).collect();
        let windows = [1, 2, 4][seed as usize % 3];
        let expected = answers(2, windows, &accesses, 4, seed);
        assert_eq!(expected.0.len(), accesses.len());
        for (m, _) in STAGES {
            for pressure in [4, 2, 1] {
                let got = answers(m, windows, &accesses, pressure, seed + 100);
                assert!(got == expected, "M = {m}, {windows} windows, seed {seed}");
            }
        }
    }
}
