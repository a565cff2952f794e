//! Random programs with back-pressure: nothing is lost, duplicated or
//! reordered within its path, and loads see what the stores before them left.

use super::machine::{Instruction, Machine, instruction};
use crate::model::spad_sm_path::kind;
use crate::model::{PathLaunch, Writeback};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use spadkit_mapping::hash::uniform;
use std::collections::HashMap;

fn random_instruction(rng: &mut ChaCha8Rng, words: u32) -> Instruction {
    let kinds = [
        kind::ALU,
        kind::LOAD,
        kind::LOAD,
        kind::STORE,
        kind::STORE,
        kind::GLOBAL,
        kind::RELSSP,
        9,
    ];
    let kind = kinds[uniform(rng, 8) as usize];
    let shape = uniform(rng, 3);
    let base = uniform(rng, words / 2);
    let addrs: Vec<u16> = (0..64)
        .map(|i| match shape {
            0 => (base + i) % words,
            1 => (base + 8 * i) % words,
            _ => uniform(rng, words),
        })
        .map(|a| a as u16 & !3)
        .collect();
    let mut i = instruction(kind, |t| addrs[usize::from(t)]);
    i.offer.words = uniform(rng, 4) as u8;
    i.offer.tag = uniform(rng, 256) as u8;
    i.offer.pc = uniform(rng, 32) as u16;
    i.mask = rng.next_u64() | rng.next_u64();
    i.be = uniform(rng, 16) as u8;
    i.data = (0..64).map(|_| rng.next_u64() & 0xffff).collect();
    i
}

/// Passes of an instruction: its words, subwarp-major.
fn words_of(i: &Instruction) -> usize {
    match i.offer.kind {
        kind::LOAD | kind::STORE => [1, 2, 4, 1][usize::from(i.offer.words)],
        _ => 1,
    }
}

/// The results that `i` must give, executed on `memory`.
fn execute(i: &Instruction, lanes: usize, memory: &mut HashMap<u16, u64>) -> Vec<(u64, Vec<u64>)> {
    let words = words_of(i);
    let mut results = Vec::new();
    for pass in 0..32 / lanes * words {
        let (sub, word) = (pass / words, pass % words);
        let mask = i.mask >> (sub * lanes) & (u64::MAX >> (64 - lanes));
        let mut data = vec![0; lanes];
        let before = memory.clone();
        for lane in (0..lanes).rev().filter(|lane| mask >> lane & 1 == 1) {
            let thread = sub * lanes + lane;
            let addr = i.addr[thread] + word as u16;
            let value = i.data[thread] + 1000 * word as u64;
            match i.offer.kind {
                kind::LOAD => data[lane] = before.get(&addr).copied().unwrap_or(0),
                kind::STORE => {
                    // From the highest lane down, so that the lowest has the last word.
                    let old = memory.entry(addr).or_default();
                    for byte in (0..4).filter(|b| i.be >> b & 1 == 1) {
                        let bits = 0xff << (8 * byte);
                        *old = (*old & !bits) | (value & bits);
                    }
                }
                kind::ALU | kind::GLOBAL | kind::RELSSP => data[lane] = value,
                _ => {}
            }
        }
        results.push((mask, data));
    }
    results
}

fn run(text: &str, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut machine = Machine::new(text);
    machine.cfg.pipeline = uniform(&mut rng, 3) as u8;
    machine.cfg.barrel = uniform(&mut rng, 3) as u8;
    machine.cfg.aware = rng.next_u32() % 2 == 0;
    machine.cfg.violate = rng.next_u32() % 2 == 0;
    let warps = machine.config.path.warps as usize;
    machine.launch = Some(PathLaunch {
        block: 0,
        shared: false,
        warps: u128::MAX >> (128 - warps),
        last: u64::from(u32::MAX),
    });
    machine.step();
    let words = machine.config.capacity_words;
    for warp in 0..warps {
        let count = uniform(&mut rng, 6);
        let program: Vec<_> = (0..count)
            .map(|_| random_instruction(&mut rng, words))
            .collect();
        machine.program(warp, program);
    }
    let pressure = 1 + uniform(&mut rng, 4);
    for _ in 0..20_000 {
        machine.wb_ready = uniform(&mut rng, 4) < pressure;
        let out = machine.step().out;
        if machine.programs.iter().all(|p| p.is_empty()) && out.occ == 0 && out.iss.is_none() {
            break;
        }
    }
    machine.wb_ready = true;
    machine.drain(1000);
    check(&machine);
}

/// Both paths are in order, so the results of each are those of the issued
/// instructions one after the other.
fn check(machine: &Machine) {
    let lanes = machine.config.lanes as usize;
    let mut memory = HashMap::new();
    let of_mem = |wb: &Writeback| kind::is_mem(wb.kind);
    let mut mem = machine.done.iter().filter(|d| of_mem(&d.wb));
    let mut nonmem = machine.done.iter().filter(|d| !of_mem(&d.wb));
    for (_, warp, i) in &machine.issued {
        let results = execute(i, lanes, &mut memory);
        let count = results.len();
        for (pass, (mask, data)) in results.into_iter().enumerate() {
            let done = if kind::is_mem(i.offer.kind) {
                mem.next()
            } else {
                nonmem.next()
            };
            let done = done.expect("a result for every pass");
            let wb = &done.wb;
            assert_eq!(
                (wb.warp, wb.tag, wb.kind),
                (*warp, i.offer.tag, i.offer.kind)
            );
            assert_eq!((wb.pass as usize, wb.last), (pass, pass + 1 == count));
            assert_eq!((wb.mask, &done.data), (mask, &data), "kind {}", wb.kind);
            assert_eq!(wb.error, i.offer.kind == 9);
        }
    }
    assert!(mem.next().is_none() && nonmem.next().is_none(), "no more");
    for (&addr, &word) in &memory {
        assert_eq!(machine.path.scratchpad().word(addr), word);
    }
    assert_eq!(machine.path.passes_in_flight(), 0);
}

#[test]
fn random_programs_give_the_results_of_their_issue_order() {
    for seed in 0..40 {
        run("base = \"small\"\n", seed);
        run("base = \"gt200\"\n[path]\nwarps = 8\n", seed);
        run(
            "base = \"small\"\n[hash]\nstage = 1\n[path]\nmem_stages = 3\n",
            seed,
        );
        run("[path]\nwarps = 12\n", seed);
        run(
            "base = \"small\"\n[path]\nmem_stages = 3\nahead = 3\n",
            seed,
        );
        run(
            "base = \"gt200\"\n[path]\nwarps = 8\nmem_stages = 4\nahead = 3\n",
            seed,
        );
        run("[path]\nwarps = 12\nmem_stages = 5\nahead = 3\n", seed);
        for ahead in [1, 2] {
            let text = format!("base = \"small\"\n[path]\nmem_stages = 4\nahead = {ahead}\n");
            run(&text, seed);
        }
    }
}
