//! `spadkit reproduce`: the papers' results as docs/reproduction.md has them,
//! and a run's points.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn spadkit(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spadkit"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(args).output().expect("spadkit runs")
}

fn results(ids: &[&str]) -> Vec<Value> {
    let mut args = vec!["reproduce", "--format", "json"];
    args.extend(ids);
    let out = spadkit(&args);
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    json["results"].as_array().expect("results").clone()
}

fn measured(results: &[Value], quantity: &str) -> f64 {
    let of = |r: &&Value| r["quantity"] == quantity && r["workload"].is_null();
    let result = results
        .iter()
        .find(of)
        .unwrap_or_else(|| panic!("no {quantity}"));
    result["measured"].as_f64().expect("a number")
}

/// The figures that take seconds; the others are `make reproduction`.
const QUICK: [&str; 12] = [
    "hash.noconflict",
    "rap.t4",
    "sharing.f13",
    "sharing.t6",
    "elastic.t5",
    "elastic.f6",
    "elastic.f7",
    "elastic.f8",
    "elastic.f9",
    "atomics.f4",
    "atomics.f5",
    "fidelity",
];

#[test]
fn quick_figures_are_as_the_page_has_them() {
    let mut args = vec!["reproduce", "--check", "docs/reproduction.md"];
    args.extend(QUICK);
    let out = spadkit(&args);
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

#[test]
fn a_page_with_another_number_fails() {
    let dir = tempfile::tempdir().unwrap();
    let page = std::fs::read_to_string("docs/reproduction.md").unwrap();
    let changed = dir.path().join("page.md");
    std::fs::write(
        &changed,
        page.replace(
            "| cycles that conflicts add | bank conflicts, 2 | 68",
            "| x | y | 69",
        ),
    )
    .unwrap();
    let out = spadkit(&[
        "reproduce",
        "atomics.f5",
        "--check",
        changed.to_str().unwrap(),
    ]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("bank conflicts, 2"));
}

#[test]
fn resident_blocks_and_latencies_are_the_published_ones() {
    for result in results(&["sharing.f13", "atomics.f5"]) {
        assert_eq!(result["verdict"], "reproduced", "{result}");
    }
}

#[test]
fn the_elastic_pipeline_gains_what_the_paper_says_and_nothing_without_conflicts() {
    let f7 = results(&["elastic.f7"]);
    let gain = measured(&f7, "mean gain, elastic+aware");
    assert!((10.0..=17.0).contains(&gain), "{gain}");
    assert!(measured(&f7, "mean gain, elastic") < gain / 2.0);
    let f9 = results(&["elastic.f9"]);
    let exact = f9
        .iter()
        .filter(|r| r["quantity"] == "cycles of conflict-aware over round robin");
    for result in exact {
        assert_eq!(result["measured"], 1.0, "{result}");
    }
}

#[test]
fn a_run_takes_the_points_of_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().to_str().unwrap();
    assert!(
        spadkit(&["reproduce", "atomics.f5", "-o", folder])
            .status
            .success()
    );
    let points = dir.path().join("points.jsonl");
    // A point that is there is not computed: its number is the changed one.
    let text = std::fs::read_to_string(&points).unwrap();
    std::fs::write(
        &points,
        text.replace("\"cycles\":129.0", "\"cycles\":100.0"),
    )
    .unwrap();
    let out = spadkit(&["reproduce", "atomics.f5", "-o", folder, "--format", "json"]);
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    let differs = json["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|r| r["verdict"] == "differs");
    assert!(differs.count() > 0);
    // What an interrupted run left of its last line is dropped.
    std::fs::write(&points, &text[..text.len() - 40]).unwrap();
    assert!(
        spadkit(&["reproduce", "atomics.f5", "-o", folder])
            .status
            .success()
    );
    assert_eq!(std::fs::read_to_string(&points).unwrap(), text);
}

#[test]
fn merged_shards_have_the_bytes_of_one_run() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let ids = ["elastic.f7", "atomics.f5", "rap.t4"];
    let run = |extra: &[&str]| {
        let mut args = vec!["reproduce"];
        args.extend(ids);
        args.extend(extra);
        let out = spadkit(&args);
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
    };
    run(&["-o", &at("one")]);
    for i in 1..=3 {
        run(&["-o", &at(&format!("s{i}")), "--shard", &format!("{i}/3")]);
    }
    let mut merge = vec!["merge".to_owned()];
    merge.extend((1..=3).map(|i| at(&format!("s{i}"))));
    merge.extend(["-o".to_owned(), at("merged")]);
    for id in ids {
        merge.extend(["--id".to_owned(), id.to_owned()]);
    }
    let merge: Vec<&str> = merge.iter().map(String::as_str).collect();
    assert!(spadkit(&merge).status.success());
    for file in ["points.jsonl", "reproduction.md", "charts/elastic.f7.svg"] {
        let read = |folder: &str| std::fs::read(Path::new(&at(folder)).join(file)).unwrap();
        assert!(read("one") == read("merged"), "{file}");
    }
}

#[test]
fn every_subset_is_composed_and_the_front_has_the_best() {
    let out = spadkit(&[
        "compose",
        "kernels/transpose/transpose.toml",
        "--format",
        "json",
    ]);
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 16);
    let speed_up = |r: &Value| r["speed_up"].as_f64().unwrap();
    let best = results.iter().map(speed_up).fold(0.0, f64::max);
    let front: Vec<&Value> = results.iter().filter(|r| r["front"] == true).collect();
    assert!(front.iter().any(|r| speed_up(r) == best));
    for hashed in results.iter().filter(|r| !r["hash"].is_null()) {
        assert_eq!(hashed["bank_conflicts"], 0.0, "{hashed}");
    }
}

#[test]
fn wrong_arguments_name_what_was_expected() {
    for (args, expected) in [
        (&["reproduce", "hash.t7"][..], "hash.t6"),
        (
            &["reproduce", "hash.t6", "--shard", "3/2", "-o", "x"],
            "I/N",
        ),
        (
            &["merge", "no/such/folder", "-o", "target/tmp/none"],
            "no/such/folder",
        ),
    ] {
        let out = spadkit(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        let text = String::from_utf8_lossy(&out.stderr);
        assert!(text.contains(expected), "{args:?}: {text}");
    }
}
