//! Campaigns that keep what they found: shards, and runs that go on
//! (docs/guides/campaigns.md).

use crate::common::in_one_line;
use crate::common::tools::missing;
use assert_cmd::Command;
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// A command on the small machine: exit status and results.
fn run(command: &mut Command, args: &[&str]) -> (Option<i32>, Value) {
    command.args(args);
    command.args(["--preset", "small", "--format", "json", "-q"]);
    let output = command.output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code(), json["results"].clone())
}

fn spadkit(args: &[&str]) -> (Option<i32>, Value) {
    run(&mut Command::cargo_bin("spadkit").unwrap(), args)
}

/// Files for the points of two shards, and of both.
fn files(folder: &TempDir) -> [String; 3] {
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    ["1.jsonl", "2.jsonl", "all.jsonl"].map(file)
}

fn list(results: &Value) -> Vec<Value> {
    results.as_array().unwrap().clone()
}

/// Shards together know all that is proved, and ask no solver.
#[test]
fn what_shards_have_proved_is_not_proved_again() {
    if missing(&["yosys"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [one, two, all] = files(&folder);
    let prove = |more: &[&str]| {
        let units = ["prove", "spad_lock_unit", "spad_degree_accumulator"];
        spadkit(&[&units, more].concat())
    };
    let first = prove(&["--shard", "1/2", "--points", &one]).1;
    let second = prove(&["--shard", "2/2", "--points", &two]).1;
    // Shards deal the circuits out in turn.
    let sorted = |mut all: Vec<Value>| {
        all.sort_by_key(Value::to_string);
        all
    };
    let expected = sorted([list(&first), list(&second)].concat());
    assert!(expected.len() > 4, "{expected:?}");
    let (status, both) = prove(&["--points", &all, "--points", &one, "--points", &two]);
    assert_eq!(status, Some(0));
    assert_eq!(sorted(list(&both)), expected, "with their times");
    // A disproof is not kept: it is found again.
    let rtl = folder.path().join("rtl").to_str().unwrap().to_owned();
    spadkit(&["emit", "spad_lock_unit", "-o", &rtl]);
    let verilog = Path::new(&rtl).join("spad_lock_unit.v");
    let text = std::fs::read_to_string(&verilog).unwrap();
    let wrong = text.replacen("& ~beaten & ~held", "& ~beaten", 1);
    assert_ne!(text, wrong);
    std::fs::write(&verilog, wrong).unwrap();
    let known = std::fs::read_to_string(&all).unwrap();
    let of_fault = ["prove", "spad_lock_unit", "--rtl", &rtl, "--points", &all];
    assert_eq!(spadkit(&of_fault).0, Some(1));
    assert_eq!(std::fs::read_to_string(&all).unwrap(), known);
}

/// `merge` takes files of points, too: byte for byte those of one run.
#[test]
fn files_of_points_are_merged_to_those_of_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, all] = files(&folder);
    let whole = folder.path().join("whole.jsonl");
    let whole = whole.to_str().unwrap();
    let sweep = |more: &[&str]| {
        let args = ["sim", "kernel:transpose", "--sweep"];
        assert_eq!(spadkit(&[&args, more].concat()).0, Some(0));
    };
    sweep(&["--shard", "1/2", "--points", &one]);
    sweep(&["--shard", "2/2", "--points", &two]);
    sweep(&["--points", whole]);
    let merge = |args: &[&str]| {
        let mut command = Command::cargo_bin("spadkit").unwrap();
        let output = command.arg("merge").args(args).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.code(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    };
    let (status, text) = merge(&[&one, &two, "-o", &all]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("points of 2 files."), "{text}");
    let bytes = |file: &str| std::fs::read(file).unwrap();
    assert!(bytes(&all) == bytes(whole));
    // So are shards of another number; a part of them is refused, or marked.
    let [three, four] = ["2/3", "3/3"].map(|shard| {
        let file = folder
            .path()
            .join(format!("{}.jsonl", shard.replace('/', "-of-")));
        let file = file.to_str().unwrap().to_owned();
        sweep(&["--shard", shard, "--points", &file]);
        file
    });
    let part = folder.path().join("part.jsonl");
    let to_part = part.to_str().unwrap();
    let (status, text) = merge(&[&three, &four, "-o", to_part]);
    assert_eq!(status, Some(2), "{text}");
    assert!(
        in_one_line(&text).contains("no file is shard 1/3"),
        "{text}"
    );
    assert!(!part.exists());
    let (status, text) = merge(&[&three, &four, "-o", to_part, "--partial"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(
        in_one_line(&text).contains("not the whole campaign"),
        "{text}"
    );
    assert_eq!(merge(&[&one, &four, &two, "-o", to_part]).0, Some(0));
    assert!(bytes(to_part) == bytes(whole));
    // A shard of another kernel.
    let foreign = folder.path().join("foreign.jsonl");
    let foreign = foreign.to_str().unwrap();
    let args = [
        "sim",
        "kernel:fwt",
        "--sweep",
        "--shard",
        "2/2",
        "--points",
        foreign,
    ];
    assert_eq!(spadkit(&args).0, Some(0));
    let (status, text) = merge(&[&one, foreign, "-o", to_part]);
    assert_eq!(status, Some(2), "{text}");
    assert!(in_one_line(&text).contains("another campaign"), "{text}");
    // What is no whole shard is refused, and nothing is written.
    let cut = folder.path().join("cut.jsonl");
    std::fs::write(&cut, &bytes(&one)[..50]).unwrap();
    let (cut, none) = (cut.to_str().unwrap(), folder.path().join("none.jsonl"));
    let to = none.to_str().unwrap();
    for (other, reason) in [
        (cut, "the last line is broken"),
        (folder.path().to_str().unwrap(), "expected folders"),
    ] {
        let (status, text) = merge(&[&one, other, "-o", to]);
        assert_eq!(status, Some(2), "{text}");
        assert!(text.contains(reason), "{text}");
        assert!(!none.exists());
    }
    // A shard may have nothing to do, but not all of them.
    let empty = folder.path().join("empty.jsonl");
    std::fs::write(&empty, "").unwrap();
    let empty = empty.to_str().unwrap();
    let (status, text) = merge(&[empty, "-o", to]);
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("no points in"), "{text}");
    assert!(!none.exists());
    assert_eq!(merge(&[&one, &two, empty, "-o", to]).0, Some(0));
}

/// Shards together know all units that agree, and need no tool.
#[test]
fn units_of_shards_do_not_run_again() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [one, two, all] = files(&folder);
    let cosim = |more: &[&str], tools: bool| {
        let mut command = Command::cargo_bin("spadkit").unwrap();
        if !tools {
            command.env("SPADKIT_VERILATOR", "/nowhere/verilator");
        }
        command.args(["cosim", "spad_hash_xor", "spad_hash_add", "spad_relssp"]);
        run(command.args(["--cycles", "500"]), more)
    };
    let first = cosim(&["--shard", "1/2", "--points", &one], true).1;
    let second = cosim(&["--shard", "2/2", "--points", &two], true).1;
    let merged = ["--points", &all, "--points", &one, "--points", &two];
    let (status, both) = cosim(&merged, false);
    assert_eq!(status, Some(0));
    let expected = [&first[0], &second[0], &first[1]].map(Value::clone);
    assert_eq!(list(&both), expected);
    // Another seed is another point.
    let other = cosim(&[&merged[..], &["--seed", "2"]].concat(), false);
    assert_eq!(other.0, Some(3));
}

/// `tune` of three kernels, in both modes: its JSON, as bytes.
fn tuned(more: &[&str]) -> Vec<u8> {
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["tune", "kernel:transpose", "kernels/fwt/fwt.toml"]);
    command
        .args(["kernel:nw", "--format", "json", "-q"])
        .args(more);
    command.assert().success().get_output().stdout.clone()
}

/// The kernels of shards together are those of one run, to the byte.
#[test]
fn kernels_that_shards_have_tuned_are_not_tuned_again() {
    for mode in [
        &["--software"][..],
        &["--hash", "matrix", "--hash", "bitvec-xor"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, all] = files(&folder);
        let whole = folder.path().join("whole.jsonl");
        let whole = whole.to_str().unwrap();
        let run = |more: &[&str]| tuned(&[mode, more].concat());
        let shards = [(&one, "1/2"), (&two, "2/2")];
        let parts = shards.map(|(points, i)| run(&["--shard", i, "--points", points]));
        let counts = parts.map(|part| {
            let part: Value = serde_json::from_slice(&part).unwrap();
            list(&part["kernels"]).len()
        });
        assert_eq!(counts, [2, 1], "{mode:?}");
        let merged = run(&["--points", &all, "--points", &one, "--points", &two]);
        assert!(merged == run(&["--points", whole]), "{mode:?}");
        let read = |path: &str| std::fs::read_to_string(path).unwrap();
        assert_eq!(read(&all), read(whole), "{mode:?}");
        // What is kept is read, not found again.
        let edited = read(whole).replacen("\"conflicts\":0", "\"conflicts\":7", 1);
        std::fs::write(whole, &edited).unwrap();
        let mut damaged = Command::cargo_bin("spadkit").unwrap();
        damaged.current_dir(env!("CARGO_MANIFEST_DIR"));
        damaged.args(["tune", "kernel:nw", "--points", whole]);
        let damaged = damaged.assert().code(2).get_output().stderr.clone();
        let text = String::from_utf8(damaged).unwrap();
        assert!(in_one_line(&text).contains("damaged"), "{text}");
        let unchecked = |line: &str| line.split(",\"check\"").next().unwrap().to_owned() + "}\n";
        let edited: String = edited.lines().map(unchecked).collect();
        std::fs::write(whole, edited).unwrap();
        let again: Value = serde_json::from_slice(&run(&["--points", whole])).unwrap();
        let results = list(&again["kernels"]);
        let mut results = results.iter().flat_map(|k| list(&k["results"]));
        assert!(results.any(|r| r["conflicts"] == 7), "{mode:?}");
        // Another machine makes other points.
        let other = run(&["--points", whole, "--preset", "gt200"]);
        assert!(other != merged, "{mode:?}");
        assert_eq!(read(whole).lines().count(), 6, "{mode:?}");
    }
}

/// A launch file that has changed makes another point.
#[test]
fn a_kernel_that_has_changed_is_tuned_again() {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/transpose");
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let [points, ..] = files(&folder);
    let launch = folder.path().join("transpose.toml");
    let tune = || {
        let launch = launch.to_str().unwrap();
        let mut command = Command::cargo_bin("spadkit").unwrap();
        command.args(["tune", launch, "--hash", "bitvec-xor", "--points", &points]);
        command.assert().success();
        std::fs::read_to_string(&points).unwrap().lines().count()
    };
    assert_eq!([tune(), tune()], [1, 1]);
    let text = std::fs::read_to_string(&launch).unwrap();
    std::fs::write(&launch, format!("# another\n{text}")).unwrap();
    assert_eq!(tune(), 2);
}

/// The command of docs/guides/campaigns.md: a kernel with a fault does not stop the others,
/// and its fault is a point as well, so that the shards together are the whole campaign.
#[test]
fn a_kernel_that_cannot_be_traced_does_not_stop_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, all] = files(&folder);
    let kernels = [
        "kernel:nw",
        "kernels/faults/out_of_bounds.toml",
        "kernel:transpose",
        "kernels/fwt/fwt.toml",
    ];
    let tune = |args: &[&str]| {
        let mut command = Command::cargo_bin("spadkit").unwrap();
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        command.args(args).output().unwrap()
    };
    let campaign = |more: &[&str]| {
        let hash = ["--hash", "bitvec-xor", "--format", "json", "-q"];
        tune(&[&["tune"], &kernels[..], &hash, more].concat())
    };
    let shard = |i: &str, points: &str| campaign(&["--shard", i, "--points", points]);
    assert_eq!(shard("1/2", &one).status.code(), Some(0));
    let faulty = shard("2/2", &two);
    let text = String::from_utf8(faulty.stderr).unwrap();
    assert_eq!(faulty.status.code(), Some(1), "{text}");
    assert!(
        in_one_line(&text).contains("out_of_bounds.toml cannot be tuned"),
        "{text}"
    );
    let json: Value = serde_json::from_slice(&faulty.stdout).unwrap();
    let of = |i: usize| &json["kernels"][i];
    assert!(
        of(0)["error"].as_str().unwrap().contains("out-of-bounds"),
        "{json}"
    );
    assert!(
        of(1)["results"].is_array() && of(1)["error"].is_null(),
        "{json}"
    );
    // Nothing is missing; the fault is known without a run.
    let merged = tune(&["merge", &one, &two, "-o", &all]);
    assert_eq!(merged.status.code(), Some(0));
    let lines = std::fs::read_to_string(&all).unwrap();
    assert_eq!(lines.lines().count(), 4, "{lines}");
    let whole = campaign(&["--points", &all]);
    assert_eq!(whole.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&whole.stdout).unwrap();
    assert_eq!(list(&json["kernels"]).len(), 4);
    // A file that is missing is bad input, and leaves the others all the same.
    let missing = [
        "tune",
        "kernel:nw",
        "/nowhere/k.toml",
        "kernel:transpose",
        "--format",
        "json",
    ];
    let missing = tune(&missing);
    assert_eq!(missing.status.code(), Some(2));
    let json: Value = serde_json::from_slice(&missing.stdout).unwrap();
    assert_eq!(list(&json["kernels"]).len(), 3, "{json}");
}

/// A unit that agrees is kept when it ends, not when all have ended.
#[test]
fn units_that_agreed_before_an_error_are_kept() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [points, ..] = files(&folder);
    let script = folder.path().join("verilator");
    let text = "#!/bin/sh\ncase \"$*\" in *spad_relssp*) exit 1;; esac\nexec verilator \"$@\"\n";
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.env("SPADKIT_VERILATOR", &script);
    command.env("SPADKIT_CACHE", folder.path().join("cache"));
    // In their order.
    command.env("RAYON_NUM_THREADS", "1");
    command.args(["cosim", "spad_hash_xor", "spad_relssp", "--cycles", "500"]);
    let (status, _) = run(&mut command, &["--points", &points]);
    assert_ne!(status, Some(0));
    let kept = std::fs::read_to_string(&points).unwrap();
    assert_eq!(kept.lines().count(), 1, "{kept}");
    assert!(kept.contains("spad_hash_xor"), "{kept}");
}
