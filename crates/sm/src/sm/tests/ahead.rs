//! Machines that decide the issue one to three stages ahead, before more
//! memory stages: what is known in advance hides them, nothing issues too early, and
//! every cycle still counts once.

use super::*;

/// `base` with this many memory stages and stages before EX.
fn machine_with(base: &str, mem_stages: u32, ahead: u32) -> Config {
    machine(&format!(
        "{base}[path]\nmem_stages = {mem_stages}\nahead = {ahead}\n"
    ))
}

/// Cycle of each issue.
fn issues(config: &Config, text: &str) -> Vec<u64> {
    let program = program(text);
    let mut sm = Sm::new(config, &program).unwrap();
    let (mut cycle, mut issued) = (0, Vec::new());
    while sm
        .step_observed(&mut |_, _, out| {
            issued.extend(out.iss.filter(|i| i.pass == 0).map(|_| cycle));
            cycle += 1;
        })
        .unwrap()
    {}
    issued
}

/// Cycles between the issues of a warp's instructions.
fn distances(config: &Config, text: &str) -> Vec<u64> {
    let issued = issues(config, text);
    issued.windows(2).map(|w| w[1] - w[0]).collect()
}

#[test]
fn strict_barrel_execution_hides_the_stages_in_its_front_end() {
    let text = ".shared 1024\nalu r1\nld.shared r1, [4*l]\nalu r1\nbar\nalu r2\n";
    let on = |ahead| machine_with("base = \"gt200\"\n", 4, ahead);
    let of = |ahead| run(&on(ahead), text).unwrap();
    for ahead in 1..=3 {
        assert_eq!(issues(&on(ahead), text), issues(&on(0), text));
        assert_eq!(of(ahead), of(0));
    }
    // Without a front end all are seen, after every completion.
    let none = |ahead| {
        let base = "base = \"gt200\"\n[pipeline]\nfrontend_stages = 0\n";
        distances(&machine_with(base, 4, ahead), text)
    };
    for ahead in 1..=3 {
        let later: Vec<u64> = none(0).iter().map(|d| d + u64::from(ahead)).collect();
        assert_eq!(none(ahead), later);
    }
}

#[test]
fn latencies_that_are_known_hide_the_stages() {
    let text = ".shared 4096\nalu r1\nsfu r2, r1\nbranch r2\nld.shared r3, [4*l]\nalu r4, r3\n\
                ldlk r5, [4*l]\nstul [4*l], r5, r4\nalu r6, r5\n";
    let on = |ahead| distances(&machine_with("", 4, ahead), text);
    // Fermi: add and sfu 18, branch 32, loads 32 and one more for the hash.
    assert_eq!(on(0)[..5], [18, 18, 32, 33, 1]);
    // Independent instructions of one warp come when all stages are after the
    // one before: every second, third or fourth cycle.
    let many = ".block 32\nalu r1\nalu r2\nalu r3\n";
    for ahead in 1..=3 {
        let each = u64::from(ahead) + 1;
        assert_eq!(on(ahead)[..5], [18, 18, 32, 33, each]);
        assert_eq!(distances(&machine_with("", 4, ahead), many), [each, each]);
    }
}

/// Where the path alone is the latency of a load, its use comes as many cycles
/// later as there are stages; an atomic's likewise.
#[test]
fn nothing_issues_before_its_operands_are_there() {
    for mem_stages in 2..=5 {
        let on = |ahead: u32, body: &str| {
            let more = format!("[path]\nmem_stages = {mem_stages}\nahead = {ahead}\n");
            distances(&tiny(&more), &warps(body))
        };
        for first in ["ld.shared r1, [32*l]", "atom.shared r1, [4*l]"] {
            let body = format!("{first}\nalu r2, r1\nst.shared [4*l], r2");
            let at_once = on(0, &body);
            assert_eq!(at_once[1], 1);
            for stages in 1..=3u32 {
                let ahead = on(stages, &body);
                let of = format!("M = {mem_stages}, {stages} ahead: {first}");
                assert_eq!(ahead[0], at_once[0] + u64::from(stages), "{of}");
                assert_eq!(ahead[1], u64::from(stages) + 1, "{of}");
            }
        }
    }
}

#[test]
fn from_four_warps_on_loads_fill_every_cycle() {
    let loads = "ld.shared r1, [4*l]\nld.shared r2, [4*l]\nld.shared r3, [4*l]\n";
    for warps in [4, 6, 16] {
        let text = format!(".block {}\n.shared 4096\n{loads}", 32 * warps);
        let issued = distances(&machine_with("", 4, 3), &text);
        assert_eq!(issued, vec![1; 3 * warps - 1], "{warps} warps");
    }
}

/// A block is launched when the path has shown its slot empty in a cycle
/// before; blocks follow one another, and every cycle counts once.
#[test]
fn blocks_follow_when_the_path_shows_their_slot_empty() {
    let text = warps(
        ".grid 9\nalu r1\nld.shared r2, [1024 + 32*l], r1\nrelssp\nbar\nalu r3, r2\n\
         atom.shared r4, [4*l]\n@0xf exit\nalu r5, r4\n",
    );
    let mut waited = 0;
    for scheduler in [
        "lrr",
        "gto",
        "two-level",
        "conflict-aware",
        "owf",
        "lowest-slot",
    ] {
        for (mem_stages, ahead) in [(2, 0), (4, 0), (4, 1), (4, 2), (3, 3), (4, 3), (5, 3)] {
            let config = tiny(&format!(
                "[path]\nmem_stages = {mem_stages}\nahead = {ahead}\n[sharing]\non = true\n\
                 [scheduler]\npolicy = \"{scheduler}\"\n"
            ));
            let program = program(&text);
            let mut sm = Sm::new(&config, &program).unwrap();
            let (mut live, mut launches) = (0, 0);
            while sm
                .step_observed(&mut |_, inputs, out| {
                    if let Some(launch) = inputs.launch {
                        assert_eq!(live >> launch.block & 1, 0, "slot {}", launch.block);
                        launches += 1;
                    }
                    live = out.live;
                })
                .unwrap()
            {}
            assert_eq!(launches, 9);
            let s = Setup::default().run(&config, &program).unwrap();
            assert_eq!((s.blocks, s.warp_instructions), (9, 9 * 7));
            assert_eq!(s.issued + s.stalls.total(), s.cycles, "{scheduler}");
            waited += s.stalls.shared_scratchpad;
        }
    }
    assert!(waited > 0);
}

#[test]
fn every_preset_counts_every_slot_once() {
    let trace = generate("reduction").unwrap();
    let reduction = AccessWorkload::new(&trace, 3).unwrap();
    for preset in PRESETS {
        let mut config = Config::preset(preset).unwrap();
        let at_once = Setup::default().run(&config, &reduction).unwrap();
        (config.path.mem_stages, config.path.ahead) = (4, 3);
        for sharing in [None, Some(Share::All(0.1))] {
            let setup = Setup {
                sharing,
                ..Setup::default()
            };
            let s = setup.run(&config, &reduction).unwrap();
            let slots = s.cycles * u64::from(config.sm.schedulers);
            assert_eq!(s.issued + s.stalls.total(), slots, "{preset}");
            assert_eq!(s.warp_instructions, at_once.warp_instructions);
            assert_eq!(s.bank_conflicts, at_once.bank_conflicts);
        }
    }
}

/// Three cycles without an issue are not a deadlock, and a deadlock is found.
#[test]
fn a_deadlock_is_told_from_the_stages() {
    let config = tiny("[path]\nmem_stages = 4\nahead = 3\n[sharing]\non = true\n");
    // The partner waits for the lock from its first instruction on.
    let tail = "alu r3, r2\n".repeat(10);
    let text = warps(&format!(".grid 6\nld.shared r2, [1024 + 4*l]\n{tail}"));
    let s = run(&config, &text).unwrap();
    assert!(s.stalls.shared_scratchpad > 20, "{s:?}");
    let text = ".warp_size 8\n.block 24\nwarp 0-1\nbar 0\nwarp 2\nbar 1\n";
    let error = run(&config, text).unwrap_err().to_string();
    assert!(error.contains("deadlock in cycle"), "{error}");
}

/// Cycles and bank stalls with `scheduler`, the issue decided `ahead`.
fn paced(preset: &str, scheduler: &str, ahead: u32, body: &str) -> (u64, u64) {
    let config = machine_with(
        &format!("base = \"{preset}\"\n[scheduler]\npolicy = \"{scheduler}\"\n"),
        4,
        ahead,
    );
    let threads = (config.path.warps * config.warp_size).min(512);
    let text = format!(".block {threads}\n.shared 4096\nrepeat 20\n{body}end\n");
    let s = run(&config, &text).unwrap();
    (s.cycles, s.stalls.bank_conflict)
}

/// Elastic paper, section 6: without conflicts conflict-aware scheduling is
/// round robin, to the cycle, however early the issue is decided.
#[test]
fn without_conflicts_conflict_aware_is_round_robin() {
    let bodies = [
        "ld.shared r1, [4*l]\n",
        "ld.shared r1, [4*l]\nalu r2\nst.shared [4*l], r2\n",
    ];
    for preset in PRESETS {
        for body in bodies {
            for ahead in 0..=3 {
                let of = |scheduler| paced(preset, scheduler, ahead, body);
                assert_eq!(of("conflict-aware"), of("lrr"), "{preset} {ahead} {body}");
            }
        }
    }
}

/// Elastic paper, section 5.3: the safe distance is kept whatever the number
/// of stages before EX. With a pick between, other warps go first while
/// the mask may be on, which costs nothing.
#[test]
fn the_mask_holds_memory_warps_that_are_picked() {
    let bodies = [
        "ld.shared r1, [32*l]\n",
        "ld.shared r1, [32*l]\nalu r2\nalu r3\nld.shared r4, [4*l]\nalu r5\n",
        "ld.shared r1, [8*l]\nalu r2\nalu r3\nalu r4\n",
    ];
    for preset in ["fermi", "gt200", "small", "gpgpusim-16k", "sharing-48k"] {
        for body in bodies {
            let (cycles, stalls) = paced(preset, "conflict-aware", 0, body);
            for ahead in 1..=3 {
                let of = format!("{preset} {ahead} {body}");
                let (slower, more) = paced(preset, "conflict-aware", ahead, body);
                assert!(more <= 3 * stalls.max(8), "{of}: {more} after {stalls}");
                assert!(
                    100 * slower <= 103 * cycles,
                    "{of}: {slower} after {cycles}"
                );
            }
        }
    }
}
