//! Accesses of 8 and 16 bytes on machines that serve them in phases: conflicts
//! against a plain formulation, search under the machine's rule, and what such
//! machines refuse.

use crate::common::recorded;
use crate::common::tools::{OSU018, missing};
use crate::common::{json, refused, spadkit};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use spadkit::config::Config;
use spadkit::hash::kind::BitvecPerm;
use spadkit::hash::{HashKind, HashSpec, Mapping};
use spadkit::search::bitvec::all_pairs;
use spadkit::search::reference::{Selection, of_trace};
use spadkit::search::tune::{Method, Tuner};
use spadkit::search::{Control, Problem};
use spadkit::sm::{AccessWorkload, Setup};
use spadkit::trace::{Access, AccessTrace, ConflictProfile, Op};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// Conflicts, largest degree, wavefronts, ideal wavefronts by the definition:
/// 8 bytes in two phases of half a warp, 16 in four of a quarter, each with the
/// degree over all words of its lanes.
fn plainly(trace: &AccessTrace, lanes_count: bool, bank: impl Fn(u32) -> u32) -> [u64; 4] {
    in_phases(trace, lanes_count, false, bank)
}

/// The same where loads that agree in pairs may take half the phases (`merge`).
fn in_phases(
    trace: &AccessTrace,
    lanes_count: bool,
    merge: bool,
    bank: impl Fn(u32) -> u32,
) -> [u64; 4] {
    let mut total = [0; 4];
    for access in &trace.accesses {
        let (mut phases, words) = match access.bytes {
            16 => (4, 4),
            8 => (2, 2),
            _ => (1, 1),
        };
        if merge && words > 1 && access.op == Op::Load && agrees_in_pairs(&access.addrs) {
            phases /= 2;
        }
        let threads = access.addrs.len() / phases;
        for phase in 0..phases {
            let mut in_bank: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for lane in phase * threads..(phase + 1) * threads {
                let Some(first) = access.addrs[lane] else {
                    continue;
                };
                for word in first..first + words {
                    in_bank.entry(bank(word)).or_default().push(word);
                }
            }
            if in_bank.is_empty() {
                continue;
            }
            let distinct = |words: &Vec<u32>| words.iter().collect::<BTreeSet<_>>().len() as u64;
            let one_lane = access.increment || access.aggregated;
            let serial = lanes_count && access.op == Op::Atomic && !one_lane;
            let load = |words: &Vec<u32>| {
                if serial {
                    words.len() as u64
                } else {
                    distinct(words)
                }
            };
            let degree = in_bank.values().map(load).max().unwrap();
            let words: u64 = in_bank.values().map(distinct).sum();
            total[0] += degree - 1;
            total[1] = degree.max(total[1]);
            total[2] += degree;
            total[3] += words.div_ceil(32).max(1);
        }
    }
    total
}

/// Lanes 0 and 1, 2 and 3, ... have one address, or lanes 0 and 2, 1 and 3, 4
/// and 6, ...; an idle lane goes with any other.
fn agrees_in_pairs(addrs: &[Option<u32>]) -> bool {
    let same = |a: Option<u32>, b: Option<u32>| a.is_none() || b.is_none() || a == b;
    let neighbours = addrs.chunks(2).all(|p| same(p[0], p[1]));
    let alternate = |q: &[Option<u32>]| same(q[0], q[2]) && same(q[1], q[3]);
    neighbours || addrs.chunks(4).all(alternate)
}

fn access(op: Op, bytes: u32, addrs: Vec<Option<u32>>) -> Access {
    Access {
        warp: 0,
        pc: 0,
        op,
        addrs,
        bytes,
        increment: false,
        aggregated: false,
        extra: Default::default(),
    }
}

fn trace(accesses: Vec<Access>) -> AccessTrace {
    AccessTrace {
        name: "t".to_owned(),
        source: "a test".to_owned(),
        block_dim: [32, 1, 1],
        shared_bytes: 32768,
        warp_size: 32,
        barriers: Vec::new(),
        accesses,
        executed: Default::default(),
        extra: Default::default(),
    }
}

/// Accesses of every width and kind: strided, random, with idle lanes and with
/// lanes on one word.
fn random_trace(seed: u64, accesses: usize) -> AccessTrace {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut below = move |n: u32| rng.next_u32() % n;
    let one = |_| {
        let bytes = [1, 2, 4, 4, 8, 8, 16, 16][below(8) as usize];
        let words = (bytes / 4u32).max(1);
        let op = [Op::Load, Op::Store, Op::Atomic][below(3) as usize];
        let (kind, stride, start, idle) = (below(3), below(40), below(64), below(3));
        let place = |lane: u32, any: u32| match kind {
            0 => any,
            1 => start + stride * lane,
            _ => (start + lane) / 4 * stride,
        };
        let addrs = (0..32)
            .map(|lane| {
                let addr = place(lane, below(8192 / words)) % (8192 / words) * words;
                (idle == 0 || below(4) > 0).then_some(addr)
            })
            .collect();
        access(op, bytes, addrs)
    };
    let trace = trace((0..accesses).map(one).collect());
    trace.check().unwrap();
    trace
}

/// Every third atomic of a word adds one, and nobody reads its result.
fn with_increments(mut trace: AccessTrace) -> AccessTrace {
    let is_word = |a: &&mut Access| a.op == Op::Atomic && a.bytes == 4;
    let atomics = trace.accesses.iter_mut().filter(is_word);
    atomics.step_by(3).for_each(|a| a.increment = true);
    trace
}

fn counted(trace: &AccessTrace, machine: &Config, bank: impl Fn(u32) -> u32) -> [u64; 4] {
    let profile = ConflictProfile::new(trace, machine.conflict_rule());
    let count = profile.count(bank);
    let ideal = profile.ideal_wavefronts(machine.geometry.banks());
    [
        count.conflicts,
        count.max_degree.into(),
        count.wavefronts(),
        ideal,
    ]
}

#[test]
fn conflicts_are_those_of_the_definition() {
    let sm80 = Config::preset("sm80").unwrap();
    let phases = "[geometry]\nwide = \"phases\"\n";
    let words = Config::from_toml(phases, Path::new("m.toml")).unwrap();
    let mut traces: Vec<AccessTrace> = (0..20).map(|seed| random_trace(seed, 60)).collect();
    traces.extend(
        ["lavaMD", "hist256", "MRI-grid-splitSort"]
            .iter()
            .filter_map(|n| recorded::trace(n)),
    );
    for (i, trace) in traces.iter().enumerate() {
        let modulo = |a: u32| a % 32;
        let xor = |a: u32| (a ^ (a >> 5)) % 32;
        // Atomics count lanes on sm80, words on a machine that only has phases.
        assert_eq!(
            counted(trace, &sm80, modulo),
            plainly(trace, true, modulo),
            "{i}"
        );
        assert_eq!(counted(trace, &sm80, xor), plainly(trace, true, xor), "{i}");
        assert_eq!(
            counted(trace, &words, modulo),
            plainly(trace, false, modulo),
            "{i}"
        );
        assert_eq!(
            counted(trace, &words, xor),
            plainly(trace, false, xor),
            "{i}"
        );
    }
}

#[test]
fn every_search_counts_by_the_machines_rule() {
    let sm80 = Config::preset("sm80").unwrap();
    let (rule, geometry) = (sm80.conflict_rule(), sm80.geometry);
    let trace = random_trace(99, 12);
    let profile = ConflictProfile::new(&trace, rule);
    let problem = Problem::new(&profile, geometry);
    let tuner = Tuner {
        problem: &problem,
        sets: &of_trace(&trace, rule, geometry),
        pairs: &all_pairs(geometry),
        selection: Selection::Allowed,
    };
    let plain = |spec: &HashSpec| {
        let mapping = Mapping::new(spec, geometry).unwrap();
        plainly(&trace, true, |a| mapping.bank(a))[0]
    };
    let methods = [
        Method::Exhaustive,
        Method::Givargis,
        Method::Mih,
        Method::Optimal,
    ];
    for kind in HashKind::ALL {
        for method in methods.into_iter().filter(|m| m.supports(kind)) {
            let control = Control::none().budget(Duration::from_millis(300));
            let found = tuner.run(kind, method, &control).unwrap();
            assert_eq!(found.conflicts, plain(&found.spec), "{kind} {method}");
            assert!(found.lower_bound <= found.conflicts, "{kind} {method}");
            if kind == HashKind::BitvecPerm {
                let all =
                    (0..=geometry.row_bits()).map(|k| plain(&HashSpec::from(BitvecPerm { k })));
                assert_eq!(Some(found.conflicts), all.min());
            }
        }
    }
    // One reference set per phase, with every word of its lanes.
    let copy = trace_of_float4();
    let sets = of_trace(&copy, rule, geometry);
    let sizes: Vec<_> = sets.iter().map(|s| (s.len(), s.weight())).collect();
    assert_eq!(sizes, [(32, 1); 4]);
}

/// The SM charges every phase, and the lanes of atomics one by one; those of
/// increments together on sm80 and sm90.
#[test]
fn the_sm_counts_what_the_definition_does() {
    for (preset, seed) in [("sm70", 1), ("sm80", 2), ("sm90", 3)] {
        let machine = Config::preset(preset).unwrap();
        let (increments, merges) = (preset != "sm70", preset == "sm90");
        let mut trace = random_trace(seed, 300);
        if increments {
            trace = with_increments(trace);
        }
        for spec in ["mod", "xor", "bitwise-xor:0^7,1^6,2^5,3^8,4^9"] {
            let spec: HashSpec = spec.parse().unwrap();
            let mapping = Mapping::new(&spec, machine.geometry).unwrap();
            let plain = in_phases(&trace, true, merges, |a| mapping.bank(a));
            assert_eq!(
                counted(&trace, &machine, |a| mapping.bank(a)),
                plain,
                "{preset}"
            );
            let [conflicts, _, wavefronts, _] = plain;
            let setup = Setup {
                hash: Some(spec),
                ..Setup::default()
            };
            let workload = AccessWorkload::new(&trace, 1).unwrap();
            let s = setup.run(&machine, &workload).unwrap();
            assert_eq!(s.bank_conflicts, conflicts, "{preset}");
            assert_eq!(s.scratchpad_passes, wavefronts - conflicts, "{preset}");
            assert!(s.cycles >= wavefronts, "{preset}");
        }
    }
}

/// A float4 load costs two wavefronts where lanes agree in pairs, four elsewhere.
#[test]
fn loads_that_agree_in_pairs_take_half_the_phases() {
    let rule = "[geometry]\nwide = \"phases-merged\"\n";
    let merged = Config::from_toml(rule, Path::new("m.toml")).unwrap();
    let load = |op, bytes, of_lane: fn(u32) -> Option<u32>| {
        let trace = trace(vec![access(op, bytes, (0..32).map(of_lane).collect())]);
        counted(&trace, &merged, |a| a % 32)
    };
    let neighbours = |l| Some(4 * (l / 2));
    assert_eq!(load(Op::Load, 16, neighbours), [0, 1, 2, 2]);
    assert_eq!(load(Op::Store, 16, neighbours), [0, 1, 4, 4]);
    let alternate = |l| Some(4 * (l % 2 + l / 4 * 2));
    assert_eq!(load(Op::Load, 16, alternate), [0, 1, 2, 2]);
    let in_fours = |l| Some(4 * (l % 4 + l / 8 * 4));
    assert_eq!(load(Op::Load, 16, in_fours), [0, 1, 4, 4]);
    let some_idle = |l| (l % 4 != 1).then_some(4 * (l / 2));
    assert_eq!(load(Op::Load, 16, some_idle), [0, 1, 2, 2]);
    assert_eq!(load(Op::Load, 8, |l| Some(2 * (l / 2))), [0, 1, 1, 1]);
    // Two pairs on one bank: the merged phase has the conflict once.
    assert_eq!(load(Op::Load, 8, |l| Some(l / 2 % 2 * 32)), [1, 2, 2, 1]);
}

/// Counting and the SM follow a plain formulation of the rule.
#[test]
fn merged_phases_are_those_of_the_definition() {
    let rule = "base = \"sm70\"\n[geometry]\nwide = \"phases-merged\"\n";
    let machine = Config::from_toml(rule, Path::new("m.toml")).unwrap();
    let mut merges = 0;
    for seed in 0..8 {
        let trace = random_trace(seed, 200);
        let plain = in_phases(&trace, true, true, |a| a % 32);
        assert_eq!(counted(&trace, &machine, |a| a % 32), plain, "{seed}");
        merges += u32::from(plain[2] < plainly(&trace, true, |a| a % 32)[2]);
        let workload = AccessWorkload::new(&trace, 1).unwrap();
        let s = Setup::default().run(&machine, &workload).unwrap();
        let [conflicts, _, wavefronts, _] = plain;
        assert_eq!(s.bank_conflicts, conflicts, "{seed}");
        assert_eq!(s.scratchpad_passes, wavefronts - conflicts, "{seed}");
    }
    assert!(merges > 0, "no trace has a load that merges");
}

/// Thread t of a warp loads bytes 16 t to 16 t + 15.
fn trace_of_float4() -> AccessTrace {
    let addrs = (0..32).map(|lane| Some(4 * lane)).collect();
    trace(vec![access(Op::Load, 16, addrs)])
}

#[test]
fn a_perfect_float4_copy_has_no_conflicts_on_todays_machines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("float4.json");
    std::fs::write(&path, trace_of_float4().to_json()).unwrap();
    let path = path.to_str().unwrap();
    let rules = [
        ("sm70", "phases"),
        ("sm80", "phases"),
        ("sm90", "phases-merged"),
    ];
    for (preset, rule) in rules {
        let args = ["conflicts", path, "--hash", "mod", "xor", "--per-pc"];
        let found = json(&[&args[..], &["--preset", preset]].concat());
        assert_eq!(found["rule"], rule);
        for result in found["results"].as_array().unwrap() {
            assert_eq!(result["conflicts"], 0, "{result}");
            assert_eq!(result["wavefronts"], 4);
            assert_eq!(result["ideal_wavefronts"], 4);
            assert_eq!(result["per_pc"][0]["wavefronts"], 4);
        }
    }
    // The papers' machines count on the first word.
    let found = json(&["conflicts", path, "--hash", "mod"]);
    assert_eq!(found["rule"], "first-word");
    assert_eq!(found["results"][0]["conflicts"], 3);
    let tuned = json(&[
        "tune",
        path,
        "--preset",
        "sm80",
        "--hash",
        "bitvec-xor",
        "--pruned",
    ]);
    assert_eq!(tuned["rule"], "phases");
    assert_eq!(tuned["results"][0]["conflicts"], 0);
    assert_eq!(tuned["results"][0]["wavefronts"], 4);
    let classified = json(&["classify", path, "--preset", "sm80"]);
    assert_eq!(classified["instructions"][0]["ideal_wavefronts"], 4);
    assert_eq!(classified["instructions"][0]["conflicts"], 0);
}

#[test]
fn machines_with_phases_refuse_what_has_no_rtl() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let out = out.to_str().unwrap();
    let sm80 = ["--preset", "sm80"];
    for args in [
        &["emit", "spad_sm_path", "-o", out][..],
        &["emit", "spad_wide_stream", "spad_memory_entry", "-o", out],
        &["cosim", "spad_sm_path"],
        &["synth", "spad_warp_scheduler"],
    ] {
        let text = refused(&[args, &sm80].concat());
        assert!(text.contains("serves wide accesses in phases"), "{text}");
        assert!(!Path::new(out).exists(), "{args:?}");
    }
    // Hash units and the scratchpad on a bus are for every machine; all means all that
    // there are.
    spadkit(&["emit", "-o", out, "--preset", "sm80"])
        .assert()
        .success();
    assert!(Path::new(out).join("spad_hash_matrix.v").exists());
    assert!(Path::new(out).join("spad_wide_stream.v").exists());
    assert!(!Path::new(out).join("spad_sm_path.v").exists());
}

/// The hash units and the phases in lockstep on the kernel's own accesses, their
/// area, and no word of a pipeline that there is not.
#[test]
#[ignore = "part of make campaign"]
fn flow_on_such_a_machine_has_the_hardware_that_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    if missing(&["verilator", "g++", "yosys", "sta", OSU018]) {
        return;
    }
    let args = ["flow", "kernel:lavamd", "--preset", "sm80", "--budget", "1"];
    let short = ["--cycles", "2000", "-q", "-o", out.to_str().unwrap()];
    let found = json(&[&args[..], &short].concat());
    assert_eq!(found["rule"], "phases");
    let skipped = found["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    let skipped = skipped[0].as_str().unwrap();
    assert!(skipped.contains("in phases"), "{skipped}");
    assert!(skipped.contains("spad_wide_stream"), "{skipped}");
    let rtl = out.join("rtl");
    assert!(rtl.join("spad_wide_stream.v").exists() && !rtl.join("spad_sm_path.v").exists());
    let cosim = found["cosim"].as_array().unwrap();
    for unit in ["spad_phases", "spad_hash_matrix"] {
        let line = cosim.iter().find(|line| line["unit"] == unit).unwrap();
        assert_eq!(line["mismatches"], 0, "{line}");
        assert!(line["cycles"].as_u64() >= Some(2000), "{line}");
    }
    let areas = found["synthesis"]["per_sm"].as_array().unwrap();
    let matrix = areas.iter().find(|l| l["unit"] == "spad_hash_matrix");
    assert!(matrix.unwrap()["area_um2"].as_f64() > Some(1000.0));
    let html = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(html.contains("four of a quarter") && html.contains("no hash"));
    let kernel = &found["kernel"];
    assert!(kernel["wavefronts"].as_u64() > kernel["ideal_wavefronts"].as_u64());
    let mappings = found["mappings"].as_array().unwrap();
    let best = mappings.iter().find(|m| m["recommended"] == true).unwrap();
    assert_eq!(best["ideal_wavefronts"], kernel["ideal_wavefronts"]);
}

#[test]
fn a_block_that_the_machine_cannot_hold_does_not_fit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("big.json");
    let write = |last: u32| {
        let addrs = (0..32).map(|lane| Some(last - lane)).collect();
        let mut trace = trace(vec![access(Op::Load, 4, addrs)]);
        trace.shared_bytes = 160 * 1024;
        std::fs::write(&path, trace.to_json()).unwrap();
    };
    let big = path.to_str().unwrap();
    // Its addresses need more than 14 bits: nothing is cut.
    write(40000);
    for args in [
        &["conflicts", big, "--hash", "mod"][..],
        &["tune", big],
        &["classify", big],
        &["flow", big, "-o", dir.path().to_str().unwrap()],
        &["cosim", "spad_hash_xor", "--trace", big],
    ] {
        let text = refused(args);
        assert!(
            text.contains("reaches word 40000, fermi addresses 16384"),
            "{text}"
        );
        assert!(text.contains("--preset sm80"), "{text}");
    }
    let fits = |preset: &str| {
        let found = json(&["conflicts", big, "--hash", "mod", "--preset", preset]);
        found["results"][0]["fits"].as_bool().unwrap()
    };
    assert!(fits("sm80"));
    // The addresses exist, but the block has no space.
    write(1000);
    assert!(!fits("fermi"));
    let text = refused(&["tune", big, "--fits"]);
    assert!(text.contains("no mapping fits"), "{text}");
    let text = refused(&["flow", big, "-o", dir.path().join("out").to_str().unwrap()]);
    assert!(text.contains("has 163840 bytes"), "{text}");
}
