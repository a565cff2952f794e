//! `sim --sweep`: what is varied, compared, skipped, written and, after an
//! interrupt, kept; and what `sim` and `trace` make of access traces.

use crate::common::{json, refused, text, tools::missing, without_checks};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) fn results(json: &Value) -> &[Value] {
    json["results"].as_array().unwrap()
}

pub(crate) fn at(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

/// Sharing paper, section 8.1.1: 7 and 14 blocks of 2112 bytes, 7 and 12 of 2176.
#[test]
fn blocks_are_resident_as_in_the_sharing_paper() {
    let folder = tempfile::tempdir().unwrap();
    for (bytes, threads, blocks, pairs, limit) in [
        (2112, 64, 14, 7, "scratchpad"),
        (2176, 128, 12, 5, "scratchpad"),
        (3872, 484, 6, 2, "warps"),
    ] {
        let program = format!(".block {threads}\n.shared {bytes}\n.grid 20\nst.shared [4*l], r1\n");
        let file = at(folder.path(), "k.warp");
        std::fs::write(&file, program).unwrap();
        let args = ["sim", "--preset", "gpgpusim-16k", &file, "--sharing", "0.1"];
        let result = json(&args);
        assert_eq!(result["resident_blocks"], blocks, "{bytes}");
        assert_eq!(
            (&result["pairs"], &result["limited_by"]),
            (&pairs.into(), &limit.into())
        );
        assert_eq!(result["blocks"], 20);
        assert!(
            result["dependent"].is_null(),
            "a program has registers of its own"
        );
    }
}

/// The first value is what the speed-ups are over.
#[test]
fn without_sharing_is_a_point_of_a_sweep() {
    let base = [
        "sim",
        "--preset",
        "gpgpusim-16k",
        "kernel:nw",
        "--blocks",
        "12",
    ];
    let run = |more: &[&str]| json(&[&base[..], more].concat());
    let swept = run(&["--sweep", "--sharing", "off,0.1", "--hash", "mod"]);
    let points = swept["results"].as_array().unwrap();
    assert_eq!(points.len(), 2);
    assert_eq!(
        (&points[0]["sharing"], &points[0]["speed_up"]),
        (&Value::Null, &1.0.into())
    );
    let cycles = |point: &Value| point["cycles"].as_f64().unwrap();
    assert_eq!(cycles(&points[0]), cycles(&run(&[])));
    let gain = cycles(&points[0]) / cycles(&points[1]);
    assert_eq!(points[1]["speed_up"].as_f64().unwrap(), gain);
    assert_ne!(gain, 1.0);
}

#[test]
fn the_dependences_of_an_access_trace_are_a_choice_that_is_shown() {
    let cycles = |n: &str| {
        let result = json(&["sim", "kernel:nw", "--dependent", n]);
        assert_eq!(result["dependent"].to_string(), n);
        result["cycles"].as_u64().unwrap()
    };
    let (none, one, two) = (cycles("0"), cycles("1"), cycles("2"));
    assert!(none < two && two < one, "{none} {two} {one}");
    let default = json(&["sim", "kernel:nw"]);
    assert_eq!(
        (&default["dependent"], &default["cycles"]),
        (&2.into(), &two.into())
    );
    let shown = text(&["sim", "kernel:nw"]);
    assert!(shown.contains("N = 2 (--dependent"), "{shown}");
    // What `trace` writes runs alike.
    let folder = tempfile::tempdir().unwrap();
    let file = at(folder.path(), "t.spt");
    for (options, expected) in [(&[][..], two), (&["--dependent", "1"], one)] {
        json(&[&["trace", "kernel:nw", "-o", &file], options].concat());
        assert_eq!(json(&["sim", &file])["cycles"], expected);
    }
    let error = refused(&["sim", &file, "--dependent", "1"]);
    assert!(error.contains("registers of its own"), "{error}");
    let error = refused(&["sim", "kernel:nw", "--dependent", "256"]);
    assert!(error.contains("256 accesses"), "{error}");
}

#[test]
fn accesses_are_the_share_of_instructions_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (file, access) = (at(folder.path(), "t.spt"), at(folder.path(), "t.json"));
    let options = ["--intensity", "0.216", "--blocks", "7"];
    let trace = |output| [&["trace", "kernel:dct8x8", "-o", output], &options[..]].concat();
    let written = json(&trace(&file));
    let number = |field: &str| written[field].as_u64().unwrap() as f64;
    let share = number("shared_accesses") / number("instructions");
    assert!((share - 0.216).abs() < 0.001, "{share}");
    assert_eq!(written["blocks"], 7);
    let run = json(&["sim", "--preset", "gt200", &file]);
    assert_eq!(run["warp_instructions"], written["instructions"]);
    let first = std::fs::read(&file).unwrap();
    json(&trace(&file));
    assert_eq!(std::fs::read(&file).unwrap(), first, "the same file again");
    assert!(refused(&trace(&access)).contains("has only accesses"));
    assert!(!Path::new(&access).exists());
    for wrong in ["0", "1.5", "nan"] {
        let error = refused(&["trace", "kernel:fwt", "-o", &file, "--intensity", wrong]);
        assert!(error.contains("not a share of the instructions"), "{error}");
    }
    let error = refused(&["trace", &file, "-o", &file, "--intensity", "0.5"]);
    assert!(error.contains("instructions of its own"), "{error}");
}

#[test]
fn speed_ups_are_over_mod_without_a_hash_stage() {
    // The preset's mod goes through the configurable unit and its stage.
    let args = [
        "sim",
        "kernel:fwt",
        "--sweep",
        "--pipeline",
        "unified,elastic",
    ];
    let sweep = json(&args);
    let baseline = &sweep["baselines"][0];
    assert_eq!(baseline["hash"], "mod");
    assert_eq!(
        (&baseline["hash_stage"], &baseline["pipeline"]),
        (&0.into(), &"unified".into())
    );
    let cycles = |point: &Value| point["cycles"].as_f64().unwrap();
    for point in results(&sweep) {
        assert_eq!(point["hash_stage"], 1);
        let speed_up = point["speed_up"].as_f64().unwrap();
        assert!(
            (speed_up - cycles(baseline) / cycles(point)).abs() < 1e-12,
            "{point}"
        );
    }
    let alone = json(&[
        "sim",
        "kernel:fwt",
        "--pipeline",
        "unified",
        "--hash",
        "mod",
    ]);
    assert_eq!(cycles(&alone), cycles(baseline));
    let table = text(&args);
    let line = format!(
        "speed-up: over mod without a hash stage, unified pipeline, lrr scheduler: {} cycles",
        baseline["cycles"]
    );
    assert!(table.contains(&line), "{table}");
    for column in [
        "dominant stall",
        "other stalls",
        "other: all but bank",
        "in one bank, less one",
    ] {
        assert!(table.contains(column), "{column}: {table}");
    }
    let single = text(&["sim", "kernel:fwt"]);
    assert!(
        single.contains("configurable matrix unit, a pipeline stage of its own"),
        "{single}"
    );
    assert!(text(&["sim", "kernel:fwt", "--hash", "mod"]).contains("no hash stage"));
}

/// Another latency is another machine, another pipeline a choice for it.
#[test]
fn each_setting_has_a_baseline_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let program = ".block 128\n.shared 16384\nld.global r1, [4*t]\nst.shared [128*l], r1\n\
                bar\nld.shared r2, [128*l], r1\nalu r3, r2\n";
    let file = folder.path().join("k.warp");
    std::fs::write(&file, program).unwrap();
    let args = [
        "sim",
        file.to_str().unwrap(),
        "--sweep",
        "--set",
        "global.latency=100,800",
        "--set",
        "pipeline.kind=unified,elastic",
        "--hash",
        "mod",
        "--hash",
        "xor",
    ];
    let sweep = json(&args);
    let points = results(&sweep);
    assert_eq!(
        (points.len(), sweep["baselines"].as_array().unwrap().len()),
        (8, 2)
    );
    let cycles = |point: &Value| point["cycles"].as_f64().unwrap();
    for of_one_latency in points.chunks(4) {
        for point in of_one_latency {
            let expected = cycles(&of_one_latency[0]) / cycles(point);
            assert_eq!(point["speed_up"].as_f64().unwrap(), expected, "{point}");
        }
        assert!(cycles(&of_one_latency[0]) > 1.05 * cycles(&of_one_latency[1]));
    }
    assert!(text(&args).contains("global.latency 800"));
}

/// A stage that is asked for stands, whatever the mapping comes with.
#[test]
fn a_stage_is_swept_beside_a_mapping() {
    let args = [
        "sim",
        "kernel:transpose:tile=16",
        "--preset",
        "small",
        "--sweep",
        "--set",
        "hash.stage=0,1",
        "--hash",
        "mod",
        "--hash",
        "bitvec-xor:k1=0,k2=3,mask=7",
    ];
    let sweep = json(&args);
    let points = results(&sweep);
    assert_eq!(points.len(), 4);
    for point in points {
        let stage = point["hash_stage"].to_string();
        assert_eq!(point["set"]["hash.stage"], stage, "{point}");
    }
}

#[test]
fn machines_keys_grids_and_lock_hashes_are_swept_and_illegal_points_listed() {
    let args = [
        "sim",
        "kernel:transpose",
        "--sweep",
        "--preset",
        "fermi,gt200",
        "--set",
        "path.mem_stages=1,2,3",
        "--blocks",
        "4,8",
        "--lock-hash",
        "none,xor",
    ];
    let sweep = json(&args);
    assert_eq!(results(&sweep).len(), 2 * 2 * 2 * 2);
    let skipped = sweep["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 2 * 2 * 2);
    assert_eq!(skipped[0]["point"]["path.mem_stages"], "1");
    assert!(
        skipped[0]["reason"]
            .as_str()
            .unwrap()
            .contains("mem_stages 1")
    );
    // One baseline a machine, number of memory stages that can be, and grid.
    assert_eq!(sweep["baselines"].as_array().unwrap().len(), 8);
    assert!(results(&sweep).iter().all(|p| p["speed_up"].is_number()));
    for point in results(&sweep).iter().step_by(5) {
        let text = |field: &str| point[field].as_str().unwrap().to_owned();
        let stages = format!(
            "path.mem_stages={}",
            point["set"]["path.mem_stages"].as_str().unwrap()
        );
        let (preset, lock_hash) = (text("preset"), text("lock_hash"));
        let blocks = point["blocks"].to_string();
        let alone = [
            "sim",
            "kernel:transpose",
            "--preset",
            &preset,
            "--set",
            &stages,
            "--blocks",
            &blocks,
            "--lock-hash",
            &lock_hash,
        ];
        assert_eq!(json(&alone)["cycles"], point["cycles"], "{point}");
    }
    let table = text(&args);
    assert!(table.contains("skipped, 8 of 24:"), "{table}");
    assert!(
        table.contains("path.mem_stages 1, blocks 4, lock hash none: path.mem_stages 1"),
        "{table}"
    );
}

#[test]
fn slips_of_the_pen_are_no_points_to_skip() {
    let sim = |more: &[&str]| refused(&[&["sim", "kernel:transpose"], more].concat());
    for (more, reason) in [
        (
            &["--sweep", "--preset", "fermi,nope"][..],
            "no preset 'nope'",
        ),
        (&["--preset", "fermi,gt200"], "--preset has 2 values"),
        (&["--set", "sm.alu_cycles=1,2"], "--set has 2 values"),
        (&["--set", "sm.alu_cycle=1"], "not a key of a configuration"),
        (
            &["--sweep", "--set", "sm.alu_cycles=1,fast"],
            "sm.alu_cycles is a string",
        ),
        (&["--set", "sm.alu_cycles"], "is missing a value"),
        (
            &["--set", "path.blocks=3"],
            "3 block slots are not compatible with",
        ),
        (
            &["--sweep", "--set", "path.blocks=3,5"],
            "no point of the sweep can run",
        ),
        (&["--csv", "/proc/no/such.csv"], "/proc/no"),
    ] {
        let error = sim(more);
        assert!(error.contains(reason), "{more:?}: {error}");
    }
}

/// Reads up to the first `text`, which must come.
fn read_until(from: &mut impl Read, text: &str) {
    let (mut read, mut chunk) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&read).contains(text) {
        let count = from.read(&mut chunk).unwrap();
        assert!(count > 0, "it ended without {text}");
        read.extend(&chunk[..count]);
    }
}

/// The first point and its baseline are done at once; the second ones would
/// take hours.
#[test]
fn an_interrupted_sweep_prints_what_it_has() {
    if missing(&["script"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |signal: &str, status: i32| {
        // On a terminal, standard error shows how many runs are done.
        let shell = "echo $$ > id; exec \"$PROGRAM\" sim --preset small kernel:transpose --sweep \
                     --blocks 1,1000000000 --format json --csv t.csv > t.json";
        let mut child = Command::new("script")
            .args(["-qefc", shell, "terminal"])
            .current_dir(&folder)
            .env("SHELL", "/bin/sh")
            .env("PROGRAM", env!("CARGO_BIN_EXE_spadkit"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let screen = child.stdout.as_mut().unwrap();
        read_until(screen, " 2/4,");
        let id = std::fs::read_to_string(folder.path().join("id")).unwrap();
        let killed = Command::new("kill")
            .args(["-s", signal, id.trim()])
            .status();
        assert!(killed.unwrap().success());
        std::io::copy(screen, &mut std::io::sink()).unwrap();
        let printed = std::fs::read_to_string(folder.path().join("t.json")).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status), "{printed}");
        let sweep: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(sweep["interrupted"], true);
        assert_eq!(results(&sweep).len(), 1, "{sweep}");
        assert!(results(&sweep)[0]["speed_up"].as_f64().unwrap() > 0.0);
        // A complete table of an earlier run is kept; the partial one is written next to it.
        let csv = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(csv("t.csv"), "whole\n");
        assert_eq!(csv("t.csv.partial").lines().count(), 2);
        std::fs::remove_file(folder.path().join("t.csv.partial")).unwrap();
    };
    std::fs::write(folder.path().join("t.csv"), "whole\n").unwrap();
    run("INT", 130);
    run("TERM", 143);
}

/// Three machines take a third of the sweep each; who puts the thirds together
/// gets what one machine gets, to the byte, and runs nothing.
#[test]
fn shards_of_a_sweep_give_what_one_run_gives() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| at(folder.path(), name);
    let sweep = [
        "sim",
        "kernel:nw",
        "--sweep",
        "--hash",
        "xor",
        "--pipeline",
        "unified,split,elastic",
    ];
    let run = |more: &[&str]| json(&[&sweep[..], more].concat());
    let (csv, one) = (file("one.csv"), file("one.jsonl"));
    let whole = run(&["--csv", &csv, "--points", &one]);
    assert_eq!(whole, run(&[]));
    let shards = ["1/3", "2/3", "3/3"].map(|shard| {
        let points = file(&format!("{}.jsonl", &shard[..1]));
        let part = run(&["--shard", shard, "--points", &points]);
        // Three points, and what they are compared with.
        assert_eq!(part["runs"], if shard == "1/3" { 2 } else { 1 });
        points
    });
    let (all, merged) = (file("all.jsonl"), file("all.csv"));
    let points = ["--points", &all, "--points", &shards[0]];
    let others = ["--points", &shards[1], "--points", &shards[2]];
    let together = run(&[&points[..], &others, &["--csv", &merged]].concat());
    assert_eq!(together, whole);
    let read = |name: &str| std::fs::read_to_string(name).unwrap();
    assert_eq!(read(&merged), read(&csv));
    assert_eq!(read(&all), read(&one));
    // Stored results are used, not computed again.
    let cycles = whole["results"][0]["cycles"].as_u64().unwrap();
    let text = read(&all).replace(&format!("\"cycles\":{cycles},"), "\"cycles\":7,");
    let text = without_checks(&text);
    std::fs::write(&all, text).unwrap();
    assert_eq!(run(&["--points", &all])["results"][0]["cycles"], 7);
    let refused = refused(&[&sweep[..], &["--points", &all, "--points", &one]].concat());
    assert!(refused.contains("other numbers"), "{refused}");
}

/// A point is named by everything that its numbers depend on.
#[test]
fn a_kernel_that_changed_runs_again() {
    let folder = tempfile::tempdir().unwrap();
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/fwt");
    let launch = folder.path().join("fwt.toml");
    let toml = std::fs::read_to_string(kernels.join("fwt.toml")).unwrap();
    let ptx = std::fs::read_to_string(kernels.join("fwt.ptx")).unwrap();
    std::fs::write(folder.path().join("fwt.ptx"), &ptx).unwrap();
    let (points, launch) = (at(folder.path(), "p.jsonl"), launch.to_str().unwrap());
    let lines = |toml: &str, more: &[&str]| {
        std::fs::write(launch, toml).unwrap();
        let sweep = [
            "sim", launch, "--sweep", "--hash", "mod", "--points", &points,
        ];
        json(&[&sweep[..], more].concat());
        std::fs::read_to_string(&points).unwrap().lines().count()
    };
    assert_eq!(lines(&toml, &[]), 1);
    assert_eq!(lines(&toml, &[]), 1);
    assert_eq!(lines(&toml.replace("seed = 1", "seed = 2"), &[]), 2);
    assert_eq!(lines(&toml, &["--preset", "gt200"]), 3);
    std::fs::write(folder.path().join("fwt.ptx"), format!("{ptx}\n")).unwrap();
    assert_eq!(lines(&toml, &[]), 4);
    assert_eq!(lines(&toml, &["--allow", "out-of-bounds-read"]), 5);
    let stdin = refused(&["sim", "-", "--sweep", "--points", &points]);
    assert!(stdin.contains("standard input"), "{stdin}");
}

/// Points that take the same time are named by what they have in common.
#[test]
fn equally_fast_points_are_no_fastest_one() {
    let args = [
        "sim",
        "kernel:nw",
        "--sweep",
        "--hash",
        "mod",
        "--hash",
        "xor",
        "--scheduler",
        "lrr",
        "--scheduler",
        "gto",
    ];
    let sweep = json(&args);
    let points = results(&sweep);
    let cycles = |p: &Value| p["cycles"].as_u64().unwrap();
    let least = points.iter().map(cycles).min().unwrap();
    let equal = points.iter().filter(|p| cycles(p) == least).count();
    assert!(equal > 1, "{sweep}");
    let text = text(&args).replace('\n', " ");
    let said = format!(
        "{equal} of {} points are equally fast, all with hash xor: {least} cycles",
        points.len()
    );
    assert!(text.contains(&said), "{text}");
}
