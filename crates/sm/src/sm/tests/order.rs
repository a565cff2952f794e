//! Who waits for whom, for how long, and who goes first.

use super::*;
use crate::model::Policy;

/// Elastic paper, section 5.3: the counter after the mask is held with EX, so
/// the backlog of a cold history drains instead of holding up every access.
#[test]
fn a_misprediction_leaves_no_backlog() {
    let gt200 = Config::of_figures("base = \"gt200\"\n");
    let setup = Setup {
        scheduler: Some(Scheduler::ConflictAware),
        ..Setup::default()
    };
    for stride in [8, 32] {
        let stalls = |turns| {
            let text = format!(
                ".block 512\n.shared 8192\nrepeat {turns}\nld.shared r1, [({stride}*l) % 1024]\nend\n"
            );
            let s = setup.run(&gt200, &program(&text)).unwrap();
            s.stalls.bank_conflict
        };
        // Only accesses of the first turn find nothing in the history.
        assert!(stalls(5) > 0);
        assert_eq!(stalls(5), stalls(20), "stride {stride}");
    }
}

/// The mask works with any policy: loads with conflicts do not queue up in
/// front of the banks, and `conflict-aware` is `lrr` with the mask.
#[test]
fn any_policy_masks_warps_where_it_is_told_to() {
    let text = ".block 256\n.grid 4\n.shared 8192\nrepeat 20\n\
                ld.shared r1, [(32*l) % 1024]\nalu r2\nalu r3\nalu r4\nend\n";
    let run = |policy: &str, aware: &str| {
        let config = Config::of_figures(&format!(
            "base = \"gt200\"\n[sharing]\non = true\n[scheduler]\npolicy = \"{policy}\"\n{aware}"
        ));
        Setup::default().run(&config, &program(text)).unwrap()
    };
    for policy in ["lrr", "gto", "two-level", "owf", "owf-slot", "lowest-slot"] {
        let (plain, aware) = (run(policy, ""), run(policy, "aware = true\n"));
        assert_eq!(plain.masked_cycles, 0, "{policy}");
        let stalls = (plain.stalls.bank_conflict, aware.stalls.bank_conflict);
        assert!(stalls.1 * 4 < stalls.0, "{policy}: {stalls:?}");
        assert_eq!(plain.bank_conflicts, aware.bank_conflicts);
    }
    assert_eq!(run("lrr", "aware = true\n"), run("conflict-aware", ""));
    assert_ne!(run("owf", "aware = true\n"), run("conflict-aware", ""));
}

/// An atomic leaves the order of the memory path: a barrier waits for its end.
#[test]
fn a_barrier_waits_for_atomics() {
    let text = |first: &str| {
        format!(
            ".warp_size 8\n.block 16\n.shared 64\nwarp 0\n{first}\nwarp *\nbar\nld.shared r2, [4*l]\n"
        )
    };
    // One round of the retry loop: 5 + 3 + 4 + 2 cycles, and the result's way.
    let atomic = run(&tiny(""), &warps("atom.shared [4*l]")).unwrap().cycles;
    assert_eq!(atomic, 14 + 6);
    let s = run(&tiny(""), &text("atom.shared [4*l]")).unwrap();
    // bar in the cycle after it, the two loads in the next two.
    assert_eq!(s.cycles, atomic + 1 + 2 + 4);
    assert!(s.stalls.lock_retry > 10, "{s:?}");
    // An access trace has the same result.
    let trace = |barriers: &str| {
        let text = format!(
            "{{\"name\":\"t\",\"source\":\"\",\"block_dim\":[16,1,1],\"shared_bytes\":64,\
             \"warp_size\":8,{barriers}\"accesses\":[\
             {{\"warp\":0,\"pc\":0,\"op\":\"atomic\",\"addrs\":[0,1,2,3,4,5,6,7]}},\
             {{\"warp\":0,\"pc\":1,\"op\":\"load\",\"addrs\":[0,1,2,3,4,5,6,7]}},\
             {{\"warp\":1,\"pc\":1,\"op\":\"load\",\"addrs\":[0,1,2,3,4,5,6,7]}}]}}"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.json");
        std::fs::write(&path, text).unwrap();
        let workload = AccessWorkload::new(&AccessTrace::load(&path).unwrap(), 1).unwrap();
        Setup::default().run(&tiny(""), &workload).unwrap().cycles
    };
    assert_eq!(trace("\"barriers\":[1],"), atomic + 1 + 2 + 4);
    assert_eq!(
        trace(""),
        atomic + 5,
        "without a barrier the own load waits"
    );
}

#[test]
fn accesses_of_a_warp_stay_behind_its_atomics() {
    let cycles = |body: &str| run(&tiny(""), &warps(body)).unwrap().cycles;
    let atomic = cycles("atom.shared [4*l]");
    assert_eq!(cycles("atom.shared [4*l]\nld.shared r1, [4*l]"), atomic + 5);
    assert_eq!(cycles("atom.shared [4*l]\nalu r1"), atomic);
}

/// The latency of loads delays their use, and no other instruction.
#[test]
fn loads_take_as_long_as_the_machine_says() {
    let fermi = Config::of_figures("base = \"fermi\"\n");
    let on = |config: &Config, body: &str| {
        let text = format!(".shared 4096\n{body}");
        run(config, &text).unwrap().cycles
    };
    let load = "ld.shared r1, [4*l]\n";
    // Atomics paper: 32 cycles, here with one more for the hash; the add 18.
    assert_eq!(on(&fermi, load), 33);
    assert_eq!(on(&fermi, &format!("{load}alu r2, r1")), 33 + 18);
    assert_eq!(on(&fermi, "alu r2\nalu r1, r2"), 36);
    let eight: String = (0..8).map(|r| format!("ld.shared r{r}, [4*l]\n")).collect();
    assert_eq!(on(&fermi, &eight), 33 + 7, "one a cycle");
    assert_eq!(
        on(&fermi, "ld.shared r1, [128*l]"),
        33 + 31,
        "and conflicts come on top"
    );
    assert_eq!(
        on(&fermi, "st.shared [4*l], r1\nalu r2"),
        19,
        "stores do not wait"
    );
    // No less than the path takes.
    for cycles in [0, 5] {
        let machine = machine(&format!("[sm]\nshared_cycles = {cycles}\n"));
        assert_eq!(on(&machine, load), 6);
    }
    // Load-and-lock, and who unlocks by its result.
    let lock = "ldlk r1, [4*l]\nstul [4*l], r1, r2\n";
    assert_eq!(on(&fermi, lock), 34 + 6 + 1, "two lock windows each");
    // Under strict barrel execution the pipeline alone has the latency.
    let strict = |cycles| {
        let text = format!("base = \"gt200\"\n[sm]\nshared_cycles = {cycles}\n");
        on(&machine(&text), &load.repeat(3))
    };
    assert_eq!(strict(0), strict(500));
}

/// Stores take the channel's time: bytes by bandwidth, from the first slot on.
#[test]
fn stores_are_as_fast_as_the_channel() {
    // 128 bytes in 8 cycles: 16 bytes a cycle.
    let text = ".block 256\n.grid 8\nrepeat 16\nst.global [131072*b + 4*t + 4096*i], r1\nend\n";
    let bytes = 8 * 256 * 16 * 4;
    for preset in ["fermi", "sharing-48k"] {
        for max_stores in [1, 2, 32] {
            let config = machine(&format!(
                "base = \"{preset}\"\n[global]\nmax_stores = {max_stores}\n"
            ));
            let s = run(&config, text).unwrap();
            let least = bytes / 16;
            let most = match max_stores {
                1 => 3 * least, // the way through the path is not hidden
                _ => least + least / 100,
            };
            assert!((least..=most).contains(&s.cycles), "{max_stores}: {s:?}");
            assert_eq!(s.global_segments, bytes / 128);
            let slots = s.cycles * u64::from(config.sm.schedulers);
            assert_eq!(s.issued + s.stalls.total(), slots);
            assert!(s.stalls.store_queue * 10 > slots * 8, "{s:?}");
        }
    }
    // A store alone is out when its slot is over: written back in 5.
    let one = run(&tiny(""), ".warp_size 8\n.block 8\nst.global [4*l], r1\n").unwrap();
    assert_eq!((one.cycles, one.stalls.store_queue), (5 + 2, 2));
}

/// A load without active lanes asks for nothing.
#[test]
fn a_masked_global_load_waits_for_no_other_warp() {
    let text = |mask: &str| {
        let tail = "sfu r2, r2\n".repeat(20);
        format!(
            ".warp_size 8\n.block 16\nwarp 0\nld.global r1, [0]\n\
             warp 1\n{mask} ld.global r1, [0]\nsfu r2, r1\n{tail}"
        )
    };
    let cycles = |mask| run(&tiny(""), &text(mask)).unwrap().cycles;
    // Written back in 6 and sent in 7, back in 8: 21 instructions of 4 cycles.
    assert_eq!(cycles("@0x0"), 8 + 21 * 4);
    assert!(cycles("@0xff") > 8 + 21 * 4 + 30);
}

/// The order in which warps issue.
fn issue_order(config: &Config, text: &str, fill: &[usize]) -> Vec<usize> {
    let program = program(text);
    let mut sm = Sm::new(config, &program).unwrap();
    sm = sm.with_fill_order(fill).unwrap();
    let mut order = Vec::new();
    while sm
        .step_observed(&mut |_, _, out| {
            order.extend(out.iss.map(|issue| issue.warp));
        })
        .unwrap()
    {}
    order
}

/// Sharing paper, section 8.2: where all blocks own their scratchpad, OWF
/// sorts the warps by their dynamic id.
#[test]
fn owner_warp_first_goes_by_age_where_nothing_is_shared() {
    let config = |policy: &str| tiny(&format!("[scheduler]\npolicy = \"{policy}\"\n"));
    let text = ".warp_size 8\n.block 8\n.grid 2\n.shared 512\nalu r1\nalu r1\nalu r1\n";
    // The first block is in slot 1: its warp is the older one.
    assert_eq!(
        issue_order(&config("owf"), text, &[1, 0, 2, 3]),
        [1, 1, 1, 0, 0, 0]
    );
    assert_eq!(
        issue_order(&config("lrr"), text, &[1, 0, 2, 3]),
        [1, 0, 1, 0, 1, 0]
    );
    let shared = tiny("[scheduler]\npolicy = \"owf\"\n[sharing]\non = true\n");
    let three = program(&warps(".grid 3\nalu r1"));
    let policy = |config: &Config, program: &WarpText| {
        Sm::new(config, program).unwrap().path_config().policy
    };
    assert_eq!(policy(&shared, &three), Policy::OwfLrr);
    assert_eq!(policy(&config("owf"), &three), Policy::Oldest);
}

#[test]
fn each_two_level_scheduler_has_as_many_active_warps_as_the_machine_says() {
    let config = |count: u32, active: u32| {
        tiny(&format!(
            "[scheduler]\npolicy = \"two-level\"\ncount = {count}\nactive_warps = {active}\n"
        ))
    };
    // Eight warps, ready again in the cycle after each instruction.
    let text = ".warp_size 8\n.block 64\nalu r1\nalu r1\nalu r1\n";
    assert_eq!(
        issue_order(&config(1, 2), text, &[0])[..6],
        [0, 1, 0, 1, 0, 1]
    );
    assert_eq!(
        issue_order(&config(1, 8), text, &[0])[..6],
        [0, 1, 2, 3, 4, 5]
    );
    // Two schedulers with an active warp each get along twice as fast as one.
    let cycles = |count| run(&config(count, 1), text).unwrap().cycles;
    assert_eq!((cycles(1), cycles(2)), (31, 16));
}

#[test]
fn several_contexts_execute_atomics_of_several_warps() {
    let config = |contexts: u32| tiny(&format!("[retry]\ncontexts = {contexts}\n"));
    let text = ".warp_size 8\n.block 32\n.shared 512\natom.shared [32*w + 4*l]\n";
    let run = |contexts| run(&config(contexts), text).unwrap();
    let (one, four) = (run(1), run(4));
    assert_eq!((one.atomic_rounds, four.atomic_rounds), (4, 4));
    // One after another, 15 cycles each; side by side, but for the port.
    assert!(
        one.cycles > 60 && four.cycles < 30,
        "{} {}",
        one.cycles,
        four.cycles
    );
    assert!(one.stalls.lock_retry > four.stalls.lock_retry);
}

/// The hash stage is also a buffer before the banks
/// (docs/explanation/stages.md). In an elastic pipeline without PREMEM queue it
/// frees EX for d - 1 cycles a turn. Without conflicts it costs its cycle.
#[test]
fn a_hash_stage_is_a_buffer_in_front_of_the_banks() {
    let saved = |pipeline: &str, warps: u32, stride: u32| {
        let alu = "alu r2\nalu r3\nalu r4\n";
        let text = format!(
            ".block {}\n.shared 4096\nrepeat 40\nld.shared r1, [({stride}*l) % 4096]\n{alu}end\n",
            32 * warps
        );
        let cycles = |stage: u32| {
            let config = machine(&format!(
                "[hash]\npath = \"mod\"\nstage = {stage}\n[pipeline]\nkind = \"{pipeline}\"\n"
            ));
            run(&config, &text).unwrap().cycles as i64
        };
        (cycles(0) - cycles(1)) / 40
    };
    assert_eq!(saved("elastic", 24, 32), 7);
    assert_eq!(saved("unified", 24, 32), 0);
    assert_eq!(saved("elastic", 1, 32), -1);
    assert_eq!(saved("elastic", 24, 4), 0);
}

/// A block keeps its slot until its last instruction is complete, whether its program ends
/// by `exit` or by its text.
#[test]
fn an_exit_waits_for_what_is_under_way() {
    for last in ["ld.shared r1, [4*l]", "sfu r1, r1", "alu r1"] {
        let cycles = |exit: &str| {
            let text = format!(".block 64\n.grid 20\n.shared 49152\n{last}\n{exit}");
            let config = Config::preset("fermi").unwrap();
            let s = run(&config, &text).unwrap();
            let slots = s.cycles * u64::from(config.sm.schedulers);
            assert_eq!(s.issued + s.stalls.total(), slots, "{last} {exit}");
            s.cycles
        };
        assert_eq!(cycles("exit\n"), cycles(""), "{last}");
    }
}
