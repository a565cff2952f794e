//! `gate --baseline`: only what is worse than an earlier run fails.

use super::sarif::check_sarif;
use super::{gate, read, transpose};
use crate::common::in_one_line;
use std::path::Path;

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
    let known = &baseline["kernels"]["transpose.toml"];
    assert_eq!(known["numbers"]["conflicts"], 56);
    assert_eq!(known["machine"], "sm80");
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
    assert!(text.contains("was 55"), "{text}{errors}");
    // A kernel that the baseline does not have is held to its limits.
    let none = "{\"format_version\": 2, \"hash\": \"mod\", \"kernels\": {}}";
    std::fs::write(&path, none).unwrap();
    let (status, _, errors) = gate(dir.path(), &check);
    assert_eq!(status, Some(1));
    assert!(errors.contains("not in gate.json"), "{errors}");
    // An older form is no baseline.
    std::fs::write(&path, "{\"format_version\": 1, \"kernels\": {}}").unwrap();
    let (status, _, errors) = gate(dir.path(), &check);
    assert_eq!(status, Some(2));
    assert!(errors.contains("format_version 1"), "{errors}");
}

/// The same kernel, however the command line names it; on another machine or under another
/// mapping, its numbers are no measure.
#[test]
fn a_baseline_knows_its_kernels() {
    let dir = transpose();
    let inner = dir.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let plain = ["--preset", "sm80", "--budget", "0"];
    let run = |at: &Path, kernel: &str, more: &[&str]| gate(at, &[&[kernel], more].concat());
    let write = [&plain[..], &["--write-baseline", "gate.json"]].concat();
    assert_eq!(run(dir.path(), "transpose.toml", &write).0, Some(0));
    let absolute = dir.path().join("transpose.toml");
    for (at, kernel, baseline) in [
        (dir.path(), "./transpose.toml", "gate.json"),
        (
            dir.path(),
            absolute.to_str().unwrap(),
            "./inner/../gate.json",
        ),
        (&inner, "../transpose.toml", "../gate.json"),
    ] {
        let (status, text, errors) = run(
            at,
            kernel,
            &[&plain[..], &["--baseline", baseline]].concat(),
        );
        assert_eq!(status, Some(0), "{kernel}: {text}{errors}");
    }
    let check = ["--baseline", "gate.json", "--budget", "0"];
    let other = [&check[..], &["--preset", "fermi"]].concat();
    let (status, _, errors) = run(dir.path(), "transpose.toml", &other);
    assert_eq!(status, Some(2));
    assert!(
        in_one_line(&errors).contains("give --preset sm80"),
        "{errors}"
    );
    let other = [&check[..], &["--preset", "sm80", "--hash", "xor"]].concat();
    let (status, _, errors) = run(dir.path(), "transpose.toml", &other);
    assert_eq!(status, Some(2));
    assert!(in_one_line(&errors).contains("give --hash mod"), "{errors}");
    // The kernel was renamed: it is new, and its old entry is reported.
    std::fs::rename(&absolute, dir.path().join("renamed.toml")).unwrap();
    let same = [&check[..], &["--preset", "sm80"]].concat();
    let (status, _, errors) = run(dir.path(), "renamed.toml", &same);
    assert_eq!(status, Some(1));
    let errors = in_one_line(&errors);
    assert!(errors.contains("count: renamed.toml"), "{errors}");
    assert!(
        errors.contains("files are gone: transpose.toml"),
        "{errors}"
    );
}

/// Other faults instead of known ones fail, however many there were before.
#[test]
fn a_new_fault_fails_although_an_old_one_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/faults");
    let copy = |from: &str, to: &str| {
        std::fs::copy(root.join(from), dir.path().join(to)).unwrap();
    };
    let findings = ["--fail-on", "findings > 0"];
    let with = |more: &[&str]| gate(dir.path(), &[&["k.toml"][..], &findings, more].concat());
    copy("faults.ptx", "faults.ptx");
    copy("faults.cu", "faults.cu");
    copy("race.toml", "k.toml");
    assert_eq!(with(&["--write-baseline", "b.json"]).0, Some(0));
    assert_eq!(with(&["--baseline", "b.json"]).0, Some(0));
    let before = read(dir.path().join("b.json"));
    let known = before["kernels"]["k.toml"]["results"].as_object().unwrap();
    assert!(
        known.keys().all(|k| k.starts_with("race at faults.cu: ")),
        "{known:?}"
    );
    copy("out_of_bounds.toml", "k.toml");
    let (status, text, _) = with(&["--baseline", "b.json", "--sarif", "gate.sarif"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(in_one_line(&text).contains("of them new"), "{text}");
    assert!(
        in_one_line(&text).contains("first new one: out-of-bounds"),
        "{text}"
    );
    let log = read(dir.path().join("gate.sarif"));
    for result in log["runs"][0]["results"].as_array().unwrap() {
        assert_eq!(result["level"], "error");
        assert_eq!(result["baselineState"], "new");
    }
}

/// A limit on a number that a fault hides fails, unless the baseline has the fault.
#[test]
fn what_cannot_be_measured_fails() {
    let dir = tempfile::tempdir().unwrap();
    let files = [dir.path().join("b.json"), dir.path().join("gate.sarif")];
    let [baseline, sarif] = files.each_ref().map(|f| f.to_str().unwrap());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let limited = [
        "kernels/faults/barrier_counts.toml",
        "--fail-on",
        "conflicts > 0",
    ];
    let with = |more: &[&str]| gate(root, &[&limited[..], more].concat());
    let (status, text, errors) = with(&["--sarif", sarif]);
    assert_eq!(status, Some(1), "{text}");
    let unknown = "conflicts is unknown because the kernel has a fault";
    assert!(in_one_line(&text).contains(unknown), "{text}{errors}");
    assert!(
        text.contains("spadkit run kernels/faults/barrier_counts.toml"),
        "{text}"
    );
    let results = &read(sarif.into())["runs"][0]["results"];
    assert_eq!(results[0]["ruleId"], "spadkit/limit", "{results}");
    assert_eq!(with(&["--write-baseline", baseline]).0, Some(0));
    assert_eq!(with(&["--baseline", baseline]).0, Some(0));
    // It was measured before.
    let known = std::fs::read_to_string(baseline).unwrap();
    let known = known.replacen("\"findings\"", "\"conflicts\": 3, \"findings\"", 1);
    std::fs::write(baseline, known).unwrap();
    assert_eq!(with(&["--baseline", baseline]).0, Some(1));
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
