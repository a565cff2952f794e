//! `spadkit gate`: limits, baselines, and the files for code review.

use crate::common::tools::missing;
use crate::common::{json, json_of, refused, spadkit};
use serde_json::Value;
use std::collections::BTreeSet;
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

#[test]
fn only_what_is_worse_than_the_baseline_fails() {
    let dir = transpose();
    let write = [
        "transpose.toml",
        "--preset",
        "sm80",
        "--write-baseline",
        "gate.json",
    ];
    let (status, ..) = gate(dir.path(), &write);
    assert_eq!(status, Some(0));
    let path = dir.path().join("gate.json");
    let baseline = read(path.clone());
    assert_eq!(baseline["kernels"]["transpose.toml"]["conflicts"], 56);
    let check = [
        "transpose.toml",
        "--preset",
        "sm80",
        "--baseline",
        "gate.json",
    ];
    let (status, text, _) = gate(dir.path(), &check);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("1 limit was exceeded before, too"), "{text}");
    let better = std::fs::read_to_string(&path).unwrap().replace("56", "55");
    std::fs::write(&path, better).unwrap();
    let (status, text, errors) = gate(dir.path(), &check);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("55 -> 56"), "{text}");
    assert!(errors.contains("was 55"), "{errors}");
    // A kernel that the baseline does not have is held to its limits.
    std::fs::write(&path, "{\"format_version\": 1, \"kernels\": {}}").unwrap();
    assert_eq!(gate(dir.path(), &check).0, Some(1));
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

/// The rules of SARIF 2.1.0 that a log of this kind can break.
fn check_sarif(log: &Value, root: &Path) -> usize {
    assert_eq!(log["version"], "2.1.0");
    assert!(
        log["$schema"]
            .as_str()
            .unwrap()
            .ends_with("sarif-schema-2.1.0.json")
    );
    let [run] = &log["runs"].as_array().unwrap()[..] else {
        panic!("one run");
    };
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "spadkit");
    let rules = driver["rules"].as_array().unwrap();
    let ids: BTreeSet<&str> = rules.iter().map(|r| r["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len(), "ids are unique");
    for rule in rules {
        assert!(
            !rule["shortDescription"]["text"]
                .as_str()
                .unwrap()
                .is_empty()
        );
    }
    let mut fingerprints = BTreeSet::new();
    let results = run["results"].as_array().unwrap();
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let levels = ["none", "note", "warning", "error"];
        assert!(levels.contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let print = result["partialFingerprints"]["spadkit/v1"]
            .as_str()
            .unwrap();
        assert!(fingerprints.insert(print.to_owned()), "fingerprints differ");
        let locations = result["locations"].as_array().unwrap();
        assert_eq!(locations.len(), 1);
        let physical = &locations[0]["physicalLocation"];
        let lines = lines_of(&physical["artifactLocation"], run, root);
        let line = physical["region"]["startLine"].as_u64().unwrap() as usize;
        assert!((1..=lines.len()).contains(&line), "{result}");
        for fix in result["fixes"].as_array().into_iter().flatten() {
            check_fix(fix, run, root);
        }
    }
    results.len()
}

/// The lines of an artifact, whose URI is relative to a known base.
fn lines_of(artifact: &Value, run: &Value, root: &Path) -> Vec<String> {
    let uri = artifact["uri"].as_str().unwrap();
    assert!(
        !uri.starts_with('/') && !uri.contains('\\') && !uri.contains(' '),
        "{uri}"
    );
    let base = artifact["uriBaseId"].as_str().unwrap();
    assert!(run["originalUriBaseIds"][base].is_object(), "{base}");
    let text = std::fs::read_to_string(root.join(uri)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// A fix has changes, each with regions inside its file that do not overlap.
fn check_fix(fix: &Value, run: &Value, root: &Path) {
    assert!(!fix["description"]["text"].as_str().unwrap().is_empty());
    let changes = fix["artifactChanges"].as_array().unwrap();
    assert!(!changes.is_empty());
    for change in changes {
        let lines = lines_of(&change["artifactLocation"], run, root);
        let mut seen = BTreeSet::new();
        for replacement in change["replacements"].as_array().unwrap() {
            let region = &replacement["deletedRegion"];
            let at = |name: &str| region[name].as_u64().unwrap() as usize;
            let (start, end) = (at("startLine"), at("endLine"));
            assert!((start, at("startColumn")) <= (end, at("endColumn")));
            assert!(seen.insert((start, at("endColumn"))));
            assert!(at("startColumn") <= lines[start - 1].chars().count());
            assert!(at("endColumn") <= lines[end - 1].chars().count() + 1);
            assert!(
                !replacement["insertedContent"]["text"]
                    .as_str()
                    .unwrap()
                    .is_empty()
            );
        }
    }
}

/// The source with a fix of one file.
fn applied(source: &str, fix: &Value) -> String {
    let [change] = &fix["artifactChanges"].as_array().unwrap()[..] else {
        panic!("one file");
    };
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    let byte = |line: &Value, column: &Value| {
        let line = line.as_u64().unwrap() as usize - 1;
        let column = column.as_u64().unwrap() as usize - 1;
        let before: usize = lines[..line].iter().map(|l| l.len()).sum();
        let inside: usize = lines[line].chars().take(column).map(char::len_utf8).sum();
        before + inside
    };
    let replacements = change["replacements"].as_array().unwrap();
    let mut edits: Vec<(usize, usize, &str)> = (replacements.iter())
        .map(|r| {
            let at = &r["deletedRegion"];
            let start = byte(&at["startLine"], &at["startColumn"]);
            let end = byte(&at["endLine"], &at["endColumn"]);
            (start, end, r["insertedContent"]["text"].as_str().unwrap())
        })
        .collect();
    edits.sort();
    let mut text = source.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}

/// Each array has a fix, and all of them together have one, which comes first. A
/// statement may be on several lines.
#[test]
fn fixes_of_several_arrays_apply_together() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["two.toml", "two.ptx", "two.cu"] {
        let from = Path::new("tests/fixtures/cuda").join(file);
        std::fs::copy(from, dir.path().join(file)).unwrap();
    }
    let path = dir.path().join("two.cu");
    let source = std::fs::read_to_string(&path).unwrap();
    let source = source.replace(
        "out[t] = dot(As, Bs, t);",
        "out[t] = dot(As, Bs,\n        t);",
    );
    std::fs::write(&path, &source).unwrap();
    gate(
        dir.path(),
        &["two.toml", "--preset", "sm80", "--sarif", "gate.sarif"],
    );
    let log = read(dir.path().join("gate.sarif"));
    assert_eq!(check_sarif(&log, dir.path()), 1);
    let fixes = log["runs"][0]["results"][0]["fixes"].as_array().unwrap();
    assert_eq!(fixes.len(), 3);
    let texts: Vec<String> = fixes.iter().map(|fix| applied(&source, fix)).collect();
    let body = "s += (*spad_place_As_at(spad_As, &a[32 * t + k])) * \
                (*spad_place_Bs_at(spad_Bs, &b[32 * t + k]));";
    for line in [
        body,
        "out[t] = dot(As, Bs,\n        t, As, Bs);",
        "\n        As[spad_place_As(32 * k + t)] =",
    ] {
        assert!(texts[0].contains(line), "{line}: {}", texts[0]);
    }
    for (text, arrays) in texts.iter().zip([["As", "Bs"], ["As", "As"], ["Bs", "Bs"]]) {
        for array in ["As", "Bs"] {
            let function = format!("unsigned spad_place_{array}(");
            assert_eq!(text.contains(&function), arrays.contains(&array), "{text}");
        }
    }
}

#[test]
fn the_sarif_log_follows_its_rules_and_its_fix_applies() {
    let dir = transpose();
    let args = [
        "transpose.toml",
        "--preset",
        "sm80",
        "--sarif",
        "gate.sarif",
        "--junit",
        "gate.xml",
    ];
    let (status, ..) = gate(dir.path(), &args);
    assert_eq!(status, Some(1));
    let log = read(dir.path().join("gate.sarif"));
    assert_eq!(check_sarif(&log, dir.path()), 1);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "spadkit/bank-conflict");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "transpose.cu");
    assert_eq!(place["region"]["startLine"], 25);
    let message = result["message"]["text"].as_str().unwrap();
    assert!(message.contains("swizzle:3,1,4"), "{message}");
    assert!(message.contains("This line becomes:"), "{message}");
    // Both lines that access the tile change, and the function is there.
    let source = std::fs::read_to_string(dir.path().join("transpose.cu")).unwrap();
    let fixed = applied(&source, &result["fixes"][0]);
    assert_eq!(fixed.matches("spad_place(").count(), 3, "{fixed}");
    assert!(
        fixed.contains("unsigned spad_place(unsigned index)"),
        "{fixed}"
    );
    let uses = fixed.lines().filter(|l| l.contains("[spad_place("));
    assert!(
        uses.clone()
            .all(|l| l.starts_with("    ") && l.ends_with(';'))
    );
    assert_eq!(uses.count(), 2);
    let junit = std::fs::read_to_string(dir.path().join("gate.xml")).unwrap();
    assert!(
        junit.contains("<testsuites tests=\"2\" failures=\"1\">"),
        "{junit}"
    );
    assert_eq!(junit.matches("<testcase ").count(), 2);
    assert_eq!(junit.matches("</failure>").count(), 1);
    assert!(junit.contains("name=\"conflicts &gt; 0\""), "{junit}");
}

#[test]
fn what_the_baseline_excuses_is_a_note() {
    let dir = transpose();
    let common = ["transpose.toml", "--preset", "sm80"];
    gate(
        dir.path(),
        &[&common[..], &["--write-baseline", "b.json"]].concat(),
    );
    let more = ["--baseline", "b.json", "--sarif", "gate.sarif"];
    let (status, ..) = gate(dir.path(), &[&common[..], &more].concat());
    assert_eq!(status, Some(0));
    let log = read(dir.path().join("gate.sarif"));
    check_sarif(&log, dir.path());
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["level"], "note");
    assert_eq!(result["baselineState"], "unchanged");
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
        errors.contains("spadkit synth spad_hash_xor --preset fermi"),
        "{errors}"
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
    // A limit beside the kernel; the machine's own hash.
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
    std::fs::write(at("b.json"), "{\"format_version\": 2, \"kernels\": {}}").unwrap();
    let message = refused(&["gate", "kernel:nw", "--baseline", &at("b.json")]);
    assert!(message.contains("format_version 2"), "{message}");
    let sarif = at("gate.sarif");
    refused(&["gate", "kernel:nw", "no.toml", "--sarif", &sarif]);
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
