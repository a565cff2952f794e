//! The papers' examples, the rules of microarchitecture/sm-model.md, and
//! programs that misbehave.

mod ahead;
mod barriers;
mod claims;
mod copies;
mod memory;
mod order;
mod overlap;
mod profile;
mod tensor;
mod texture;
mod units;

use super::*;
use crate::config::{Config, PRESETS, Pipeline, Scheduler};
use spadkit_base::error::Result;
use spadkit_mapping::trace::AccessTrace;
use spadkit_mapping::trace::kernels::generate;
use std::path::Path;

fn machine(toml: &str) -> Config {
    Config::of_figures(toml)
}

fn program(text: &str) -> WarpText {
    WarpText::parse(text, Path::new("p.warp")).unwrap()
}

fn run(config: &Config, text: &str) -> Result<Statistics> {
    Setup::default().run(config, &program(text))
}

/// Eight lanes, warps of eight threads, latencies 1, M = 2, H = F = 0.
fn tiny(more: &str) -> Config {
    machine(&format!(
        "base = \"small\"\n[geometry]\nlanes = 8\nwarp_size = 8\n{more}"
    ))
}

/// A recorded trace, where `SPADKIT_TRACES` names their folder.
fn recorded(file: &str) -> Option<AccessTrace> {
    let Some(folder) = std::env::var_os("SPADKIT_TRACES") else {
        println!("skipped: SPADKIT_TRACES does not name a folder of recorded traces");
        return None;
    };
    Some(AccessTrace::load(&Path::new(&folder).join(file)).unwrap())
}

fn warps(body: &str) -> String {
    format!(".warp_size 8\n.block 8\n.shared 1920\n{body}")
}

mod elastic;

mod papers {
    use super::*;

    /// Elastic paper, Table 1: per pass of 8 lanes, without hash.
    #[test]
    fn mean_conflict_degrees_of_the_elastic_paper() {
        let gt200 = machine("base = \"gt200\"\n");
        let degree = |trace: &AccessTrace| {
            let workload = AccessWorkload::new(trace, 1).unwrap();
            let s = Setup::default().run(&gt200, &workload).unwrap();
            (s.mean_conflict_degree * 1000.0).round() as u32
        };
        for (kernel, recorded, expected) in [
            ("dct8x8", "dct8x8-1-cse.json", 3333),
            ("transpose:tile=16", "transpose.json", 4500),
            ("reduction", "reduction.json", 3067),
        ] {
            assert_eq!(degree(&generate(kernel).unwrap()), expected, "{kernel}");
            if let Some(recorded) = super::recorded(recorded) {
                assert_eq!(degree(&recorded), expected);
            }
        }
    }

    /// Cycles of one atomic access beyond those of one without conflict.
    fn beyond_one(stride: u32, setup: &Setup) -> Vec<u64> {
        let fermi = machine("base = \"fermi\"\n");
        let cycles = |conflicts: u32| {
            let spec = format!("atomic:stride={stride},conflicts={conflicts}");
            let trace = generate(&spec).unwrap();
            let workload = AccessWorkload::new(&trace, 1).unwrap();
            setup.run(&fermi, &workload).unwrap().cycles
        };
        let one = cycles(1);
        (1..=32).map(|c| cycles(c) - one).collect()
    }

    /// Atomics paper, section III: READ 32 and WRITE 36 cycles per degree,
    /// UPDATE 18, BRANCH 32.
    #[test]
    fn the_synthetic_atomics_follow_the_four_state_model() {
        let plain = Setup::default();
        let position: Vec<u64> = (1..=32).map(|c| 118 * c - 118).collect();
        assert_eq!(beyond_one(0, &plain), position);
        let bank: Vec<u64> = (1..=32u64)
            .map(|c| 32 * c + 18 + 36 * c + 32 - 118)
            .collect();
        assert_eq!(beyond_one(32, &plain), bank);
        // Lanes i and i + 4 have one lock: rounds of at most four winners.
        let rounds = |conflicts: u64| -> u64 {
            (0..conflicts.div_ceil(4))
                .map(|round| conflicts - 4 * round)
                .map(|waiting| 32 * waiting + 18 + 36 * waiting.min(4) + 32)
                .sum()
        };
        let lock: Vec<u64> = (1..=32).map(|c| rounds(c) - 118).collect();
        assert_eq!(beyond_one(256, &plain), lock);
        let hashed = Setup {
            hash: Some("xor".parse().unwrap()),
            lock_hash: Some(crate::config::LockHash::Xor),
            ..Setup::default()
        };
        assert_eq!(beyond_one(32, &hashed), vec![0; 32]);
    }

    #[test]
    fn an_atomic_without_conflict_takes_118_cycles_more_than_the_path() {
        let fermi = machine("base = \"fermi\"\n");
        let text = |kind: &str| format!(".shared 4096\n{kind} [4*l]\n");
        let cycles = |kind| run(&fermi, &text(kind)).unwrap();
        let (store, atomic) = (cycles("st.shared"), cycles("atom.shared"));
        assert_eq!(atomic.atomic_rounds, 1);
        // 118 cycles of the loop, and one to pass the result on.
        assert_eq!(atomic.cycles - store.cycles, 118 + 1);
    }

    /// Sharing paper, Fig. 4: unshared first 15 cycles, owner first 13.
    #[test]
    fn owner_warp_first() {
        let text = warps(".grid 3\nalu r1\nld.shared r2, [1024 + 4*l], r1\nalu r3, r2\n");
        for pipeline in ["unified", "split", "elastic"] {
            let config = |policy: &str| {
                tiny(&format!(
                    "[pipeline]\nkind = \"{pipeline}\"\n[scheduler]\npolicy = \"{policy}\"\n\
                     [sharing]\non = true\n"
                ))
            };
            let run = |policy: &str, order: &[usize]| {
                let (config, program) = (config(policy), program(&text));
                let sm = Sm::new(&config, &program).unwrap();
                let residency = sm.layout().residency();
                assert_eq!((residency.pairs, residency.alone), (1, 1));
                sm.with_fill_order(order).unwrap().run().unwrap()
            };
            // Slots: 0 owner, 1 non-owner, 2 unshared.
            let unshared_first = run("gto", &[2, 0, 1]);
            assert_eq!(unshared_first.cycles, 15, "{pipeline}");
            assert_eq!(run("owf", &[0, 2, 1]).cycles, 13, "{pipeline}");
            assert_eq!(run("owf-slot", &[0, 2, 1]).cycles, 13, "{pipeline}");
        }
    }

    #[test]
    fn lanes_on_one_word_cost_nothing() {
        let fermi = machine("base = \"fermi\"\n");
        let cycles = |address: &str| {
            let text = format!(".shared 49152\nld.shared r1, [{address}]\nalu r2, r1\n");
            run(&fermi, &text).unwrap().cycles
        };
        assert_eq!(cycles("64"), cycles("4*l"));
        assert_eq!(cycles("128*l"), cycles("4*l") + 31);
    }
}

mod rules {
    use super::*;

    #[test]
    fn a_load_takes_five_cycles_and_independent_instructions_overlap() {
        let cycles = |body: &str| run(&tiny(""), &warps(body)).unwrap().cycles;
        assert_eq!(cycles("alu r1"), 1);
        assert_eq!(cycles("ld.shared r1, [4*l]"), 5);
        assert_eq!(cycles("ld.shared r1, [4*l]\nalu r2, r1"), 6);
        assert_eq!(
            cycles("ld.shared r1, [4*l]\nld.shared r2, [4*l]\nalu r3, r4"),
            6
        );
        // A load that reads or writes what is being written waits as well.
        assert_eq!(cycles("ld.shared r1, [4*l]\nld.shared r1, [4*l]"), 10);
        // 4 cycles of latency.
        assert_eq!(cycles("sfu r1\nalu r2, r1"), 5);
        // Four passes of degree 4.
        assert_eq!(cycles("st.shared.128 [16*l], r1"), 4 + 4 * 4);
    }

    #[test]
    fn strict_barrel_execution_waits_for_every_writeback() {
        let gt200 = machine("base = \"gt200\"\n");
        let text = |n: usize| format!(".shared 128\n{}", "alu r1\n".repeat(n));
        let cycles = |n| run(&gt200, &text(n)).unwrap().cycles;
        // Elastic paper, Table 4: 24 stages; 4 passes, and no memory stages
        // parallel to the elastic pipeline's NONMEM queue.
        let each = cycles(3) - cycles(2);
        assert_eq!(each, 24 + 3 - 4);
        let unified = machine("base = \"gt200\"\n[pipeline]\nkind = \"unified\"\n");
        let cycles = |n| run(&unified, &text(n)).unwrap().cycles;
        assert_eq!(cycles(3) - cycles(2), 24 + 3);
    }

    #[test]
    fn global_memory_has_latency_coalescing_and_bandwidth() {
        let config = tiny("");
        let cycles = |address: &str| {
            let body = format!("ld.global r1, [{address}]\nalu r2, r1");
            let s = run(&config, &warps(&body)).unwrap();
            (s.cycles, s.global_segments)
        };
        // Issued in 1, written back in 5, sent in 6, data in 46, written back in 47.
        assert_eq!(cycles("4*l"), (48, 1));
        // Eight segments, two cycles each; eight may be outstanding.
        assert_eq!(cycles("32*l"), (48 + 14, 8));
        let s = run(&config, &warps("ld.global r1, [0]\nalu r2, r1")).unwrap();
        assert!(s.stalls.memory > 35, "{s:?}");
    }

    #[test]
    fn barriers_hold_warps_until_all_have_come() {
        let text = ".warp_size 8\n.block 32\n.shared 64\nwarp 0\nsfu r1\nsfu r2, r1\nsfu r3, r2\n\
                    warp *\nbar\nalu r1\n";
        let s = run(&tiny(""), text).unwrap();
        // Warp 0 issues its third sfu in 9 and `bar`, which needs no register, in 10.
        assert_eq!(s.cycles, 10 + 4);
        assert!(s.stalls.barrier > 0, "{s:?}");
        // A warp that has ended does not hold up the others.
        let text = ".warp_size 8\n.block 16\nwarp 0\nbar\nalu r1\nwarp 1\nsfu r1\n";
        assert_eq!(run(&tiny(""), text).unwrap().warp_instructions, 3);
    }

    #[test]
    fn locks_go_to_one_lane_and_only_it_unlocks() {
        let body = "ldlk r1, [0]\nstul [0], r1, r2\nldlk r3, [0]\nstul [0], r3\n";
        let s = run(&tiny(""), &warps(body)).unwrap();
        assert_eq!((s.warp_instructions, s.scratchpad_passes), (4, 4));
    }

    #[test]
    fn threads_are_counted_by_active_lanes() {
        // Warps of 8 lanes: n instructions are 8 n of threads, or 4 n half masked.
        for (guard, lanes) in [("", 8), ("@0xf ", 4), ("@0x55 ", 4), ("@0x80 ", 1)] {
            let body = format!("{guard}alu r1\n{guard}ld.shared r2, [4*l]\n").repeat(5);
            let s = run(&tiny(""), &warps(&body)).unwrap();
            assert_eq!(s.thread_instructions, lanes * s.warp_instructions);
            // Every second one is a load of shared memory.
            assert_eq!(2 * s.shared_thread_instructions, s.thread_instructions);
            assert!((s.thread_ipc - lanes as f64 * s.ipc).abs() < 1e-12, "{s:?}");
        }
    }

    #[test]
    fn lanes_that_exit_are_gone() {
        let body = "@0xf exit\nld.shared r1, [32*l]\nexit\nalu r2";
        let s = run(&tiny(""), &warps(body)).unwrap();
        // Four lanes are left, all in bank 0; nothing follows the second exit.
        assert_eq!((s.warp_instructions, s.mean_conflict_degree), (1, 4.0));
    }

    #[test]
    fn blocks_follow_one_another_and_every_slot_counts_once() {
        let text = warps(".grid 9\nalu r1\nld.shared r2, [1024 + 32*l], r1\nbar\nalu r3, r2\n");
        let trace = generate("reduction").unwrap();
        for preset in PRESETS {
            let config = machine(&format!("base = \"{preset}\"\n"));
            let reduction = AccessWorkload::new(&trace, 3).unwrap();
            let schedulers = [
                Scheduler::Lrr,
                Scheduler::Gto,
                Scheduler::TwoLevel,
                Scheduler::ConflictAware,
                Scheduler::Owf,
                Scheduler::LowestSlot,
            ];
            let mut instructions = None;
            for scheduler in schedulers {
                for sharing in [None, Some(Share::All(0.1))] {
                    let setup = Setup {
                        scheduler: Some(scheduler),
                        sharing,
                        ..Setup::default()
                    };
                    let s = setup.run(&config, &reduction).unwrap();
                    let slots = s.cycles * u64::from(config.sm.schedulers);
                    assert_eq!(s.issued + s.stalls.total(), slots, "{preset} {setup:?}");
                    assert_eq!(s.blocks, 3);
                    assert!(s.masked_cycles <= s.stalls.no_ready_warp, "{s:?}");
                    let expected = *instructions.get_or_insert(s.warp_instructions);
                    assert_eq!(s.warp_instructions, expected);
                }
            }
        }
        for pipeline in [Pipeline::Unified, Pipeline::Split, Pipeline::Elastic] {
            let setup = Setup {
                pipeline: Some(pipeline),
                sharing: Some(Share::All(0.1)),
                ..Setup::default()
            };
            let s = setup.run(&tiny(""), &program(&text)).unwrap();
            assert_eq!((s.blocks, s.warp_instructions), (9, 36));
            assert!(s.stalls.shared_scratchpad > 0, "{s:?}");
            assert_eq!(s.issued + s.stalls.total(), s.cycles);
        }
    }

    #[test]
    fn a_release_lets_the_partner_go_on_earlier() {
        let text = |release: &str| {
            let tail = "sfu r3, r3\n".repeat(20);
            warps(&format!(
                ".grid 3\nld.shared r2, [1024 + 4*l]\n{release}\n{tail}"
            ))
        };
        let config = tiny("[sharing]\non = true\n");
        let cycles = |release| run(&config, &text(release)).unwrap().cycles;
        assert!(cycles("relssp") + 60 < cycles("alu r9"));
        let progress = |release| run(&config, &text(release)).unwrap().shared_progress;
        let (with, without) = (progress("relssp"), progress("alu r9"));
        assert_eq!(without.after, 0);
        assert!(
            with.after > 60 && with.holding < without.holding,
            "{with:?}"
        );
        assert!(with.before < without.before, "the partner waits less");
        // Nobody needs the shared part: all of it is before.
        let private = warps(".grid 3\nld.shared r2, [4*l]\n");
        let never = run(&config, &private).unwrap().shared_progress;
        assert!(never.before > 0 && (never.holding, never.after) == (0, 0));
        assert_eq!(never.parts(), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_recorded_program_runs_like_its_text() {
        let text = program(&warps(
            ".grid 5\nrepeat 700\nld.global r1, [4096*b + 32*i + 4*l]\nst.shared [4*l], r1\nend\n",
        ));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.spt");
        record(&text, &path).unwrap();
        let file = TraceFile::open(&path).unwrap();
        let config = tiny("");
        let of = |w: &dyn Workload| Setup::default().run(&config, w).unwrap();
        assert_eq!(of(&file), of(&text));
        assert_eq!(file.instructions(), 5 * 1400);
    }
}

mod misuse {
    use super::*;

    fn error(config: &Config, text: &str) -> String {
        let error = run(config, text).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        match &error {
            spadkit_base::error::Error::Usage { what, help } => {
                format!("{what}: {}", help.as_deref().unwrap_or(""))
            }
            other => other.to_string(),
        }
    }

    #[test]
    fn warps_at_different_barriers_are_a_deadlock_with_names() {
        let text = ".warp_size 8\n.block 24\nwarp 0-1\nbar 0\nwarp 2\nbar 1\n";
        let error = error(&tiny(""), text);
        assert!(error.contains("deadlock in cycle"), "{error}");
        let barrier = "warp 0 of block 0 waits at barrier 0 for warp 2";
        assert!(error.contains(barrier), "{error}");
        let other = "warp 2 of block 0 waits at barrier 1 for warp 0, warp 1";
        assert!(error.contains(other), "{error}");
    }

    #[test]
    fn shared_scratchpad_may_not_be_touched_after_relssp() {
        let config = tiny("[sharing]\non = true\n");
        let text = warps(".grid 3\nld.shared r1, [1024]\nrelssp\nld.shared r2, [1024 + 4*l]\n");
        let error = error(&config, &text);
        let place = "block 0, warp 0, pc 2: ld.shared touches the shared scratchpad after relssp";
        assert!(error.contains(place), "{error}");
        // Its own part it may.
        let text = warps(".grid 3\nld.shared r1, [1024]\nrelssp\nld.shared r2, [4*l]\n");
        run(&config, &text).unwrap();
        // Without sharing there is nothing to release.
        let text = warps("relssp\nld.shared r2, [1024 + 4*l]\n");
        run(&tiny(""), &text).unwrap();
    }

    #[test]
    fn what_the_machine_cannot_do_is_refused() {
        let no_locks = tiny("[path]\nlocks = 0\n");
        let text = warps("atom.shared r1, [0]");
        assert!(error(&no_locks, &text).contains("without lock unit"));
        assert!(error(&tiny(""), ".block 8\nalu r1").contains("warps of 32 threads"));
        let fermi = machine("base = \"fermi\"\n");
        let trace = generate("transpose").unwrap();
        let workload = AccessWorkload::new(&trace, 1).unwrap();
        let setup = Setup {
            hash: Some("bitwise-perm:13,1,2,3,4".parse().unwrap()),
            ..Setup::default()
        };
        let error = setup.run(&fermi, &workload).unwrap_err().to_string();
        assert!(error.contains("beyond the capacity of 12288"), "{error}");
    }
}
