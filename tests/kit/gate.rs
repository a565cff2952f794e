//! `spadkit gate`: limits, baselines, and the files for code review.

mod baseline;
mod sarif;

use crate::common::tools::missing;
use crate::common::{in_one_line, json, json_of, refused, spadkit};
use sarif::check_sarif;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A folder with a copy of the transpose: source, PTX and launch file.
fn transpose() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/transpose");
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    dir
}

/// `spadkit gate` in `dir`: its exit status, standard output and error.
fn gate(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = spadkit(&["gate"])
        .current_dir(dir)
        .env("COLUMNS", "80")
        .args(args)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn read(path: PathBuf) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn conflicts_fail_with_their_line_and_what_removes_them() {
    let dir = transpose();
    let (status, text, errors) = gate(dir.path(), &["transpose.toml", "--preset", "sm80"]);
    assert_eq!(status, Some(1), "{text}{errors}");
    assert!(
        text.starts_with("transpose.toml exceeds a limit.\nmachine: sm80"),
        "{text}"
    );
    for part in [
        "FAIL",
        "conflicts > 0 fails",
        "transpose.cu:25",
        "spadkit tune transpose.toml",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        errors.contains("transpose.toml exceeds a limit"),
        "{errors}"
    );
    assert!(!errors.contains("conflicts"), "printed twice: {errors}");
    let (_, _, errors) = gate(dir.path(), &["transpose.toml", "--format", "json"]);
    assert!(
        errors.contains("transpose.toml: conflicts is 56"),
        "{errors}"
    );
    let loose = [
        "transpose.toml",
        "--preset",
        "sm80",
        "--fail-on",
        "conflicts > 56",
    ];
    let (status, text, _) = gate(dir.path(), &loose);
    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.starts_with("transpose.toml is within its limits.\n"),
        "{text}"
    );
}

/// One that cannot be read takes nothing from the others.
#[test]
fn the_others_are_judged_without_a_kernel_that_cannot_be_read() {
    let dir = transpose();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("bad.toml"), "nothing = 1\n").unwrap();
    let files = [
        "--sarif",
        "gate.sarif",
        "--junit",
        "gate.xml",
        "--budget",
        "0",
    ];
    let all = [&["bad.toml", "gone.toml", "transpose.toml"], &files[..]].concat();
    let (status, text, errors) = gate(dir.path(), &all);
    assert_eq!(status, Some(2));
    assert!(
        text.contains("transpose.toml exceeds a limit; 2 cannot be judged."),
        "{text}"
    );
    assert!(
        in_one_line(&text).contains("cannot read gone.toml"),
        "{text}"
    );
    assert!(in_one_line(&errors).contains("2 kernels cannot be judged: bad.toml, gone.toml"));
    let log = read(at("gate.sarif"));
    check_sarif(&log, dir.path());
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(
        invocation["toolExecutionNotifications"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let cases = std::fs::read_to_string(at("gate.xml")).unwrap();
    assert!(
        cases.contains("tests=\"4\" failures=\"1\" errors=\"2\""),
        "{cases}"
    );
    // Its numbers would be lost.
    let write = [&all[..], &["--write-baseline", "b.json"]].concat();
    assert_eq!(gate(dir.path(), &write).0, Some(2));
    assert!(!at("b.json").exists());
    // It is known, and left out.
    let skip = "[kernel.\"bad.toml\"]\nskip = \"written next week\"\n";
    std::fs::write(at("spadkit-gate.toml"), skip).unwrap();
    let (status, text, _) = gate(dir.path(), &["bad.toml", "transpose.toml", "--budget", "0"]);
    assert_eq!(status, Some(1));
    assert!(
        text.contains("bad.toml is left out: written next week"),
        "{text}"
    );
}

/// Files of one name in several folders are told apart.
#[test]
fn kernels_have_names_of_their_own() {
    let dir = transpose();
    let at = |name: &str| dir.path().join(name);
    for folder in ["a", "b"] {
        std::fs::create_dir(at(folder)).unwrap();
        for name in ["transpose.toml", "transpose.ptx", "transpose.cu"] {
            std::fs::copy(at(name), at(folder).join(name)).unwrap();
        }
    }
    let names = ["a/transpose.toml", "b/transpose.toml", "--budget", "0"];
    let (_, text, _) = gate(dir.path(), &names);
    let rows = text.lines().filter(|l| l.contains("FAIL"));
    let rows: Vec<&str> = rows.filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(rows, ["a/transpose.toml", "b/transpose.toml"], "{text}");
}

#[test]
fn limits_stand_beside_the_kernels() {
    let dir = transpose();
    let file = dir.path().join("spadkit-gate.toml");
    let own = "fail-on = [\"conflicts > 0\"]\n[kernel.\"transpose.toml\"]\n\
               fail-on = [\"conflicts > 56\", \"cycles > 1\"]\n";
    std::fs::write(&file, own).unwrap();
    // A pattern names the file of limits, too.
    let args = [
        "transpose.toml",
        "spadkit-gate.toml",
        "--preset",
        "sm80",
        "--format",
        "json",
    ];
    let output = spadkit(&["gate"])
        .current_dir(dir.path())
        .args(args)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let json = json_of(&output.stdout);
    assert_eq!(json["failed"], true);
    let kernels = json["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), 1);
    let kernel = &kernels[0];
    assert_eq!(kernel["machine"]["preset"], "sm80");
    assert!(kernel["cycles"].as_u64().unwrap() > 1);
    let failed: Vec<(&Value, &Value)> = (kernel["checks"].as_array().unwrap().iter())
        .map(|check| (&check["limit"], &check["failed"]))
        .collect();
    let expected = [("conflicts > 56", false), ("cycles > 1", true)];
    let expected = expected.map(|(limit, failed)| (Value::from(limit), Value::from(failed)));
    assert_eq!(failed, expected.each_ref().map(|(a, b)| (a, b)));
}

#[test]
fn a_fault_fails_and_its_conflicts_are_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let sarif = dir.path().join("gate.sarif");
    let launch = "kernels/faults/out_of_bounds.toml";
    let args = [
        "gate",
        launch,
        "--sarif",
        sarif.to_str().unwrap(),
        "--format",
        "json",
    ];
    let output = spadkit(&args).output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{:?}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json = json_of(&output.stdout);
    let kernel = &json["kernels"][0];
    assert!(kernel["findings"].as_u64().unwrap() > 0, "{kernel}");
    assert!(kernel["conflicts"].is_null());
    let log = read(sarif);
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(
        results.iter().all(|r| r["ruleId"] == "spadkit/fault"),
        "{results:?}"
    );
    assert!(!results.is_empty());
}

/// Code review recognises a result whose line has moved.
#[test]
fn fingerprints_stay_while_lines_move() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/transpose");
    let dir = tempfile::tempdir().unwrap();
    let copy = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let at = |name: &str| dir.path().join(name);
    let found = |ptx: String, source: String| -> Vec<(Value, Value)> {
        std::fs::write(at("transpose.ptx"), ptx).unwrap();
        std::fs::write(at("transpose.cu"), source).unwrap();
        let args = ["transpose.toml", "--sarif", "gate.sarif", "--budget", "0"];
        assert_eq!(gate(dir.path(), &args).0, Some(1));
        let log = read(at("gate.sarif"));
        let results = log["runs"][0]["results"].as_array().unwrap();
        let line = |r: &Value| r["locations"][0]["physicalLocation"]["region"]["startLine"].clone();
        let print = |r: &Value| r["partialFingerprints"].clone();
        results.iter().map(|r| (line(r), print(r))).collect()
    };
    std::fs::write(at("transpose.toml"), copy("transpose.toml")).unwrap();
    let (ptx, source) = (copy("transpose.ptx"), copy("transpose.cu"));
    let before = found(ptx.clone(), source.clone());
    let down = |line: &str| match line.trim().strip_prefix(".loc") {
        Some(rest) => {
            let mut words: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
            words[1] = (words[1].parse::<u32>().unwrap() + 3).to_string();
            format!(".loc {}", words.join(" "))
        }
        None => line.to_owned(),
    };
    let moved: Vec<String> = ptx.lines().map(down).collect();
    let after = found(moved.join("\n"), format!("//\n//\n//\n{source}"));
    assert_eq!(before.len(), after.len());
    for ((line, print), (moved, same)) in before.iter().zip(&after) {
        assert_eq!(line.as_u64().unwrap() + 3, moved.as_u64().unwrap());
        assert_eq!(print, same);
    }
}

#[test]
fn limits_without_a_kernel_are_refused() {
    let dir = transpose();
    let limits = dir.path().join("spadkit-gate.toml");
    std::fs::write(limits, "fail-on = [\"conflicts > 0\"]\n").unwrap();
    let (status, text, errors) = gate(dir.path(), &["spadkit-gate.toml"]);
    assert_eq!(status, Some(2), "{text}");
    assert!(errors.contains("no kernel to check"), "{errors}");
}

/// An output that is not as expected is one finding and no warning.
#[test]
fn a_wrong_output_is_told_once() {
    let dir = transpose();
    let path = dir.path().join("transpose.toml");
    let file = std::fs::read_to_string(&path).unwrap();
    let expected = file.replace("name = \"out\"", "name = \"out\"\nexpect = \"shift.raw\"");
    std::fs::write(dir.path().join("shift.raw"), vec![1; 4 * 3072]).unwrap();
    std::fs::write(&path, expected).unwrap();
    for (limits, count) in [
        (
            &["--fail-on", "findings > 0", "--fail-on", "warnings > 0"][..],
            1,
        ),
        (&["--fail-on", "warnings > 0"][..], 0),
    ] {
        let args = [&["transpose.toml", "--sarif", "gate.sarif"], limits].concat();
        let (status, text, errors) = gate(dir.path(), &args);
        assert_eq!(status, Some(count), "{text}{errors}");
        let log = read(dir.path().join("gate.sarif"));
        let results = log["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), count as usize, "{results:?}");
    }
}

/// The area is what `synth` gives for a whole SM: of the named mapping, else of the
/// machine's hash.
#[test]
fn area_is_that_of_the_mapping_in_one_sm() {
    if missing(&["yosys"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let synth = json(&["synth", "spad_hash_xor"]);
    let gates = synth["per_sm"][0]["nand2_equivalents"].as_f64().unwrap();
    let gates = gates.ceil() as u64;
    assert!(gates > 100, "{synth}");
    let nw = ["kernel:nw", "--preset", "fermi"];
    let xor = [&nw[..], &["--hash", "xor", "--fail-on"]].concat();
    let less = format!("area > {}", gates - 1);
    let files = ["--sarif", "gate.sarif", "--junit", "gate.xml"];
    let (status, text, errors) = gate(dir.path(), &[&xor[..], &[&less], &files].concat());
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("spad_hash_xor in one"), "{text}");
    assert!(
        text.contains("spadkit synth spad_hash_xor --preset fermi"),
        "{text}{errors}"
    );
    let result = &read(dir.path().join("gate.sarif"))["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "spadkit/limit");
    let message = result["message"]["text"].as_str().unwrap();
    assert!(
        message.contains(&format!("area is {gates}, and {less} fails")),
        "{message}"
    );
    let junit = std::fs::read_to_string(dir.path().join("gate.xml")).unwrap();
    assert!(
        junit.contains(&format!("name=\"area &gt; {}\"", gates - 1)),
        "{junit}"
    );
    let enough = format!("area > {gates}");
    let (status, text, _) = gate(dir.path(), &[&xor[..], &[&enough]].concat());
    assert_eq!(status, Some(0), "{text}");
    // A limit in the kernel's folder; the machine's own hash.
    let machine = "base = \"fermi\"\n[hash]\npath = \"add\"\n";
    std::fs::write(dir.path().join("machine.toml"), machine).unwrap();
    let transpose = transpose();
    let own = "fail-on = [\"area > 1\"]\n";
    std::fs::write(transpose.path().join("spadkit-gate.toml"), own).unwrap();
    let launch = transpose.path().join("transpose.toml");
    let args = [launch.to_str().unwrap(), "--config", "machine.toml"];
    let (status, text, _) = gate(dir.path(), &[&args[..], &["--format", "json"]].concat());
    assert_eq!(status, Some(1));
    let found: Value = serde_json::from_str(&text).unwrap();
    let hardware = &found["kernels"][0]["hardware"];
    assert_eq!(
        hardware["units"],
        serde_json::json!(["spad_hash_add"]),
        "{found}"
    );
}

/// No unit, no area, and no tool.
#[test]
fn a_mapping_without_hardware_has_no_area() {
    for hash in ["mod", "swizzle:3,1,4"] {
        let args = ["gate", "kernel:nw", "--hash", hash, "--fail-on", "area > 0"];
        let output = spadkit(&args)
            .env("SPADKIT_YOSYS", "/nowhere/yosys")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{hash}");
    }
    // With one, the tool is missed.
    let args = [
        "gate",
        "kernel:nw",
        "--hash",
        "add",
        "--fail-on",
        "area > 0",
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut command = spadkit(&args);
    command.env("SPADKIT_YOSYS", "/nowhere/yosys");
    command.env("SPADKIT_CACHE", folder.path());
    assert_eq!(command.output().unwrap().status.code(), Some(3));
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let message = refused(&["gate", "kernel:nw", "--fail-on", "conflict > 0"]);
    assert!(message.contains("did you mean 'conflicts'"), "{message}");
    let message = refused(&["gate", "kernel:nww"]);
    assert!(message.contains("did you mean 'nw'"), "{message}");
    std::fs::write(at("b.json"), "{\"format_version\": 1}").unwrap();
    let message = refused(&["gate", "kernel:nw", "--baseline", &at("b.json")]);
    assert!(message.contains("--write-baseline"), "{message}");
    std::fs::write(at("b.json"), "{\"format_version\": 3, \"kernels\": {}}").unwrap();
    let message = refused(&["gate", "kernel:nw", "--baseline", &at("b.json")]);
    assert!(message.contains("format_version 3"), "{message}");
    let sarif = at("gate.sarif");
    let other = [
        "gate",
        "kernel:nw",
        "--baseline",
        &at("none.json"),
        "--sarif",
        &sarif,
    ];
    refused(&other);
    assert!(!Path::new(&sarif).exists());
}

/// A block that is all of its launch is recorded in the run that checks it: with the
/// same accesses as in a run of its own.
#[test]
fn the_checked_run_has_the_accesses_of_a_run_of_its_own() {
    use spadkit::capture::{LaunchInput, RunOptions};
    use spadkit::ptx::exec::Options;
    let mut alone = 0;
    for name in [
        "kernels/aes/aes.toml",
        "kernels/atomics/atomics.toml",
        "kernels/transpose/transpose.toml",
        "tests/fixtures/cuda/wm.toml",
        "tests/fixtures/cuda/hoisted.toml",
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let launch = LaunchInput::at(&path);
        let run = launch.run(RunOptions::default()).unwrap();
        let options = Options {
            races: true,
            ..Options::default()
        };
        let checked = run.checked(&options).unwrap();
        let own = run.access_trace().unwrap();
        if let Some(trace) = checked.trace {
            assert_eq!(trace.accesses, own.accesses, "{name}");
            assert_eq!(trace.barriers, own.barriers, "{name}");
            alone += 1;
        }
    }
    assert!(alone >= 3, "{alone}");
}

/// A fix that no tool can apply has its reason, and so has none.
#[test]
fn what_is_no_fix_says_why() {
    let of = |file: &str, more: &[&str]| {
        let args = ["gate", file, "--preset", "sm80", "--format", "json"];
        let output = spadkit(&[&args[..], more].concat()).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        found["kernels"][0].clone()
    };
    let by_hand = of("tests/fixtures/cuda/walked.toml", &["--no-machine-code"]);
    assert_eq!(by_hand["fixes"][0]["complete"], false);
    let note = by_hand["fix_note"].as_str().unwrap();
    assert!(
        note.contains("as is no fix that can be applied as it is: walked.cu:20 has to be changed"),
        "{note}"
    );
    let whole = of("tests/fixtures/cuda/rows.toml", &["--no-machine-code"]);
    assert_eq!(whole["fixes"][0]["complete"], true);
    assert_eq!(whole["fix_note"], Value::Null);
    let none = of("tests/fixtures/cuda/wm.toml", &["--budget", "0"]);
    assert_eq!(none["fix_note"], "No fix was searched for (--budget 0)");
}
