//! Kernels in PTX as traces: against the generated and the recorded traces of
//! the same algorithms, in every command, and on the SM.

use crate::common;

use crate::common::{json, recorded, refused, spadkit};
use serde_json::Value;
use spadkit::capture::{LaunchInput, RunOptions};
use spadkit::config::Config;
use spadkit::hash::{HashSpec, Mapping};
use spadkit::sm::{Setup, TraceFile, Workload};
use spadkit::trace::{AccessTrace, ConflictProfile, Op, kernels};
use spadkit::workload::LaunchWorkload;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

fn launch(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("kernels").join(name)
}

fn traced(name: &str) -> AccessTrace {
    LaunchInput::at(&launch(name))
        .access_trace(RunOptions::default())
        .unwrap()
}

/// Operation, lanes and words of an access, with its warp and bytes.
type What = (u32, Op, u32, Vec<Option<u32>>);
/// How often each access occurs between two barriers.
type Interval = Vec<(What, usize)>;

/// How compilers change what the source says.
#[derive(Clone, Copy, PartialEq)]
enum Compared {
    /// Not at all.
    Exactly,
    /// Neighbouring words are accessed by one wide access: it is taken apart.
    ByWords,
    /// A word that is accessed again between two barriers stays in a register
    /// instead: how often is not compared.
    Once,
}

/// The intervals of a trace in which anything happens.
fn intervals(trace: &AccessTrace, how: Compared) -> Vec<Interval> {
    let mut intervals = vec![HashMap::new(); trace.barriers.len() + 1];
    for (i, a) in trace.accesses.iter().enumerate() {
        let at = trace.barriers.partition_point(|b| *b as usize <= i);
        let parts = if how == Compared::ByWords {
            a.words()
        } else {
            1
        };
        for part in 0..parts {
            let addrs = a.addrs.iter().map(|addr| addr.map(|a| a + part)).collect();
            let what: What = (a.warp, a.op, a.bytes / parts, addrs);
            let count = intervals[at].entry(what).or_insert(0);
            *count = if how == Compared::Once { 1 } else { *count + 1 };
        }
    }
    let sorted = |counts: HashMap<What, usize>| {
        let mut list: Interval = counts.into_iter().collect();
        list.sort_by_key(|((warp, op, bytes, addrs), _)| {
            (*warp, format!("{op:?}"), *bytes, addrs.clone())
        });
        list
    };
    let all = intervals.into_iter().filter(|counts| !counts.is_empty());
    all.map(sorted).collect()
}

/// Kernels whose algorithm is that of a generated trace (which equal recorded
/// ones), per barrier interval and warp as multisets: compilers reorder
/// accesses, merge and drop some.
const SAME: [(&str, &str, Compared); 14] = [
    (
        "transpose/transpose.toml",
        "transpose:tile=16",
        Compared::Exactly,
    ),
    (
        "transpose/transpose_padded.toml",
        "transpose:tile=16,pad=1",
        Compared::Exactly,
    ),
    ("reduction/reduction.toml", "reduction", Compared::Exactly),
    ("fwt/fwt.toml", "fwt:log2n=11", Compared::ByWords),
    ("fft/fft_radix2.toml", "fft:log2n=10", Compared::Exactly),
    ("convolution/conv_rows.toml", "conv-rows", Compared::Exactly),
    ("dct8x8/dct_plain.toml", "dct8x8", Compared::Exactly),
    ("dct8x8/dct.toml", "dct8x8:pad=1", Compared::Exactly),
    ("nw/nw_upper.toml", "nw:block=16", Compared::Exactly),
    ("backprop/layer_forward.toml", "backprop", Compared::Exactly),
    ("sort/bitonic.toml", "bitonic:log2n=10", Compared::Exactly),
    (
        "matmul/matmul.toml",
        "matmul:tile=32,tiles=2",
        Compared::Exactly,
    ),
    // The compiler keeps the last element of the scan in a register between
    // the two sweeps.
    ("scan/scan.toml", "scan:threads=256", Compared::Once),
    ("lavamd/lavamd.toml", "lavamd:particles=100", Compared::Once),
];

#[test]
fn traces_of_kernels_equal_the_generated_ones() {
    for (name, spec, how) in SAME {
        let generated = kernels::generate(spec).unwrap();
        let traced = if name.starts_with("lavamd") {
            // The generated trace has the home box alone.

            traced_with(name, "grid = [2]", "grid = [1]")
        } else {
            traced(name)
        };
        assert_eq!(traced.block_dim, generated.block_dim, "{name}");
        assert_eq!(traced.shared_bytes, generated.shared_bytes, "{name}");
        let (got, mut wanted) = (intervals(&traced, how), intervals(&generated, how));
        assert_eq!(got.len(), wanted.len(), "{name}: intervals");
        if name.starts_with("scan") {
            // At the end of the scan all threads of the radix sort read the
            // total, here thread 0 alone.
            wanted.pop();
        }
        for (i, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
            assert!(
                got == wanted,
                "{name}, interval {i}: {got:?}\nexpected {wanted:?}"
            );
        }
        // Sites are numbered in the order of the text.
        let places = traced.places();
        let last = traced.accesses.iter().map(|a| a.pc).max().unwrap();
        let lines: Vec<u32> = (0..=last).filter_map(|pc| places.of(pc).ptx_line).collect();
        assert!(lines.is_sorted() && !lines.is_empty(), "{name}: {lines:?}");
    }
}

/// The trace of a launch file in which a line is another one.
fn traced_with(name: &str, line: &str, other: &str) -> AccessTrace {
    let path = launch(name);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(line), "{text}");
    let ptx = path.with_extension("ptx");
    let own = format!("ptx = {:?}", ptx.file_name().unwrap());
    assert!(text.contains(&own), "{text}");
    let text = text.replace(line, other);
    let text = text.replace(&own, &format!("ptx = {:?}", ptx.to_str().unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let changed = folder.path().join("k.toml");
    std::fs::write(&changed, text).unwrap();
    LaunchInput::at(&changed)
        .access_trace(RunOptions::default())
        .unwrap()
}

fn conflicts(trace: &AccessTrace, machine: &Config, spec: &str) -> u64 {
    let mapping = Mapping::new(&spec.parse::<HashSpec>().unwrap(), machine.geometry).unwrap();
    let profile = ConflictProfile::new(trace, machine.conflict_rule());
    profile.count(|addr| mapping.bank(addr)).conflicts
}

#[test]
fn conflicts_equal_those_of_the_recorded_traces() {
    let fermi = Config::preset("fermi").unwrap();
    for (name, recorded) in [
        ("transpose/transpose.toml", "transpose"),
        ("reduction/reduction.toml", "reduction"),
        ("convolution/conv_rows.toml", "conv-1"),
        ("dct8x8/dct_plain.toml", "dct8x8-1-cse"),
        ("nw/nw_upper.toml", "NW-1"),
        ("backprop/layer_forward.toml", "backprop"),
    ] {
        let Some(recorded) = recorded::trace(recorded) else {
            return;
        };
        let traced = traced(name);
        for spec in ["mod", "xor", "add", "bitvec-xor:k1=0,k2=5,mask=7"] {
            let count = |trace| conflicts(trace, &fermi, spec);
            assert_eq!(count(&traced), count(&recorded), "{name} {spec}");
        }
    }
}

/// The SM counts what `conflicts` counts, summed over the blocks.
fn assert_sim_agrees(name: &str, blocks: u64, presets: &[&str]) {
    let input = LaunchInput::at(&launch(name));
    let workload = LaunchWorkload::open(&input.run(RunOptions::default()).unwrap()).unwrap();
    let traces: Vec<AccessTrace> = (0..blocks)
        .map(|block| input.access_trace(RunOptions::of_block(block)).unwrap())
        .collect();
    for preset in presets {
        let machine = Config::preset(preset).unwrap();
        for spec in ["mod", "xor"] {
            let setup = Setup {
                hash: Some(spec.parse().unwrap()),
                ..Setup::default()
            };
            let s = setup.run(&machine, &workload).unwrap();
            let expected: u64 = traces.iter().map(|t| conflicts(t, &machine, spec)).sum();
            assert_eq!(s.bank_conflicts, expected, "{name} {preset} {spec}");
            assert_eq!(s.blocks, blocks, "{name} {preset}");
        }
    }
}

#[test]
fn the_sm_counts_the_conflicts_of_the_traces() {
    assert_sim_agrees("fwt/fwt.toml", 2, &["fermi", "sm80"]);
    assert_sim_agrees(
        "transpose/transpose.toml",
        12,
        &["fermi", "sharing-48k", "sm70"],
    );
    // Accesses of 16 bytes, of 8, and atomics.
    assert_sim_agrees(
        "matmul/matmul_wide.toml",
        1,
        &["fermi", "sm70", "sm80", "sm90"],
    );
    assert_sim_agrees("lavamd/lavamd.toml", 2, &["sm80"]);
    assert_sim_agrees("histogram/histogram256.toml", 2, &["sm80"]);
}

#[test]
fn a_full_trace_is_the_same_every_time_and_runs_alike() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let path = launch("reduction/reduction.toml");
    let captured = LaunchInput::at(&path)
        .full_trace(RunOptions::default(), &file("a.spt"))
        .unwrap();
    LaunchInput::at(&path)
        .full_trace(RunOptions::default(), &file("b.spt"))
        .unwrap();
    let bytes = |name: &str| std::fs::read(file(name)).unwrap();
    assert!(bytes("a.spt") == bytes("b.spt"));
    assert_eq!((captured.crowded, captured.info.blocks), (0, 4));
    let sm80 = Config::preset("sm80").unwrap();
    let of_file = TraceFile::open(&file("a.spt")).unwrap();
    let a = Setup::default().run(&sm80, &of_file).unwrap();
    let of_launch =
        LaunchWorkload::open(&LaunchInput::at(&path).run(RunOptions::default()).unwrap()).unwrap();
    let b = Setup::default().run(&sm80, &of_launch).unwrap();
    assert_eq!(a, b);
    assert_eq!(a.warp_instructions + 32, captured.summary.instructions);
    // Addresses of the run: 256 words of 4 bytes a block, read once.
    assert!(a.global_segments >= 4 * 8, "{a:?}");
}

#[test]
fn every_command_takes_a_launch_file_and_names_the_lines() {
    let path = launch("transpose/transpose.toml");
    let path = path.to_str().unwrap();
    let found = json(&["conflicts", path, "--hash", "mod", "--per-pc"]);
    let per_pc = found["results"][0]["per_pc"].as_array().unwrap();
    let load = per_pc.iter().find(|p| p["conflicts"] != 0).unwrap();
    let ptx = std::fs::read_to_string(launch("transpose/transpose.ptx")).unwrap();
    let line = load["ptx_line"].as_u64().unwrap() as usize;
    let text = ptx.lines().nth(line - 1).unwrap();
    assert!(text.contains("ld.shared"), "{text}");
    let source = load["source"].as_str().unwrap();
    assert!(source.contains("transpose.cu:"), "{source}");
    let text = common::text(&["conflicts", path, "--hash", "mod", "--per-pc"]);
    assert!(
        text.contains(&format!("PTX {line}, transpose.cu:")),
        "{text}"
    );
    let classified = json(&["classify", path]);
    let sites = classified["instructions"].as_array().unwrap();
    assert!(sites.iter().any(|i| i["ptx_line"] == line), "{classified}");
    assert_eq!(
        json(&["tune", path, "--hash", "bitvec-xor"])["results"][0]["conflicts"],
        0
    );
    let sim = json(&["sim", path, "--preset", "sm80"]);
    assert_eq!(
        (&sim["blocks"], &sim["dependent"]),
        (&Value::from(12), &Value::Null)
    );
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let flow = json(&[
        "flow",
        path,
        "--fast",
        "--budget",
        "1",
        "-q",
        "-o",
        out.to_str().unwrap(),
    ]);
    let lines = flow["instructions"].as_array().unwrap();
    assert!(lines.iter().any(|i| i["ptx_line"] == line), "{flow}");
    let html = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(html.contains("PTX line") && html.contains("transpose.cu:"));
}

#[test]
fn a_recorded_trace_keeps_the_machine_of_its_ptx() {
    let folder = tempfile::tempdir().unwrap();
    let launch = launch("gemm/hgemm.toml");
    let launch = launch.to_str().unwrap();
    let machine = |answer: &Value| answer["machine"]["preset"].clone();
    let of_launch = json(&["conflicts", launch]);
    assert_eq!(machine(&of_launch), "sm80");
    let recorded = |name: &str| {
        let file = folder.path().join(name).to_str().unwrap().to_owned();
        spadkit(&["trace", launch, "-o", &file]).assert().success();
        file
    };
    let (accesses, programs) = (recorded("h.json"), recorded("h.spt"));
    let of_trace = json(&["conflicts", &accesses]);
    assert_eq!(of_trace["results"], of_launch["results"]);
    assert_eq!(of_trace["machine"]["from"], ".target sm_80 of h.json");
    assert_eq!(machine(&json(&["sim", &programs])), "sm80");
    // Those of an access trace keep it, too.
    let again = folder.path().join("again.spt").to_str().unwrap().to_owned();
    spadkit(&["trace", &accesses, "-o", &again])
        .assert()
        .success();
    assert_eq!(
        TraceFile::open(Path::new(&again))
            .unwrap()
            .info()
            .target
            .as_deref(),
        Some("sm_80")
    );
    let named = json(&["conflicts", &accesses, "--preset", "fermi"]);
    assert_eq!(machine(&named), "fermi");
}

#[test]
fn what_cannot_be_traced_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (full, access) = (file("a.spt"), file("a.json"));
    let path = launch("fwt/fwt.toml");
    let path = path.to_str().unwrap();
    // More shared memory than the machine has.
    let big = std::fs::read_to_string(path).unwrap();
    let big = big.replace("dynamic_shared = 8192", "dynamic_shared = 60000");
    let ptx = launch("fwt/fwt.ptx");
    let big = big.replace("fwt.ptx", ptx.to_str().unwrap());
    std::fs::write(file("big.toml"), big).unwrap();
    for (args, expected) in [
        (
            &["trace", path, "-o", &access, "--block", "2"][..],
            "no block 2",
        ),
        (
            &["trace", path, "-o", &full, "--block", "1"],
            "has all blocks",
        ),
        (
            &["trace", "kernel:fwt", "-o", &access, "--block", "0"],
            "not a launch file",
        ),
        (
            &["trace", path, "-o", &full, "--dependent", "1"],
            "registers of its own",
        ),
        (&["sim", path, "--blocks", "3"], "a grid of its own"),
        (
            &["sim", &file("big.toml")],
            "needs 15000 words of scratchpad, the machine has 12288",
        ),
        (&["sim", "no.toml"], "cannot read no.toml"),
        (&["classify", "no.toml"], "cannot read no.toml"),
        (&["tune", "Cargo.toml"], "unknown key"),
    ] {
        let error = refused(args);
        assert!(error.contains(expected), "{args:?}: {error}");
    }
    assert!(!Path::new(&full).exists() && !Path::new(&access).exists());
}

#[test]
fn a_launch_of_a_chain_is_named_behind_a_colon() {
    let path = launch("lud/lud.toml");
    let path = path.to_str().unwrap();
    let third = format!("{path}:2");
    let by_name = format!("{path}:lud_internal");
    let conflicts = |input: &str| json(&["conflicts", input, "--hash", "mod", "xor"]);
    let count = conflicts(&third)["accesses"].as_u64().unwrap();
    // 16 x 16 threads: each stores two words and loads 32.
    assert_eq!(count, 8 * (2 + 32));
    assert_eq!(conflicts(&third), conflicts(&by_name));
    assert_ne!(conflicts(path)["accesses"], count);
    assert_eq!(json(&["sim", &third])["blocks"], 4);
    // Without one the first is taken, and said so.
    let error = |input: &str| {
        let output = spadkit(&["sim", input]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(
        error(path).contains("has 7 launches, this is the first"),
        "{}",
        error(path)
    );
    assert_eq!(error(&by_name), "");
    let wrong = format!("{path}:7");
    assert!(refused(&["classify", &wrong]).contains("no launch '7'"));
}

/// Mean conflict degree of each access of `drdw`: in, read, write, out.
fn degrees(trace: &AccessTrace) -> Vec<f64> {
    let profiles = ConflictProfile::per_pc(trace, 32);
    let mean = |(_, profile): &(u32, ConflictProfile)| {
        profile.count(|word| word & 31).degree_sum as f64 / profile.active_passes() as f64
    };
    profiles.iter().map(mean).collect()
}

/// RAP paper, Table III: DRDW is diagonal on both sides, degree 1 without RAP;
/// under it 3.61 on the mean over permutations.
#[test]
fn drdw_has_the_published_congestion() {
    assert_eq!(degrees(&traced("transpose/drdw.toml")), [1.0; 4]);
    let folder = tempfile::tempdir().unwrap();
    let ptx = launch("transpose/transpose.ptx");
    let text = format!(
        "ptx = {ptx:?}\nentry = \"drdw_rap\"\ngrid = [1]\nblock = [32, 32]\n\
         [[arg]]\nname = \"out\"\ntype = \"f32\"\ncount = 1024\n\
         [[arg]]\nname = \"in\"\ntype = \"f32\"\ncount = 1024\ninit = \"iota\"\n\
         [[symbol]]\nname = \"shift\"\ntype = \"s32\"\ncount = 32\ninit = \"shift.raw\"\n"
    );
    let file = folder.path().join("rap.toml");
    std::fs::write(&file, text).unwrap();
    let mut shifts: Vec<u32> = (0..32).collect();
    let mut state = 1u64;
    let draws = 300;
    let mut sums = [0.0; 4];
    for _ in 0..draws {
        for i in (1..shifts.len()).rev() {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            shifts.swap(i, (state >> 33) as usize % (i + 1));
        }
        let bytes: Vec<u8> = shifts.iter().flat_map(|s| s.to_le_bytes()).collect();
        std::fs::write(folder.path().join("shift.raw"), bytes).unwrap();
        let one = degrees(
            &LaunchInput::at(&file)
                .access_trace(RunOptions::default())
                .unwrap(),
        );
        sums.iter_mut().zip(one).for_each(|(sum, d)| *sum += d);
    }
    let means = sums.map(|sum| sum / f64::from(draws));
    for (mean, published) in means.iter().zip([1.0, 3.61, 3.61, 1.0]) {
        assert!((mean - published).abs() < 0.06, "{means:?}");
    }
}
