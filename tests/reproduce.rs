//! `spadkit reproduce`: the papers' results as docs/reproduction.md has them,
//! and a run's points.

use serde_json::Value;
use spadkit::reproduce::Library;
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
const QUICK: [&str; 11] = [
    "hash.noconflict",
    "rap.t4",
    "sharing.f13",
    "sharing.t6",
    "elastic.t5",
    "elastic.f6",
    "elastic.f7",
    "elastic.f8",
    "elastic.f9",
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
    let (before, section) = page.split_once("\n## atomics.f5").unwrap();
    let row = section.lines().find(|l| l.starts_with("| 12 |")).unwrap();
    let section = section.replacen(row, &row.replace("354", "355").replace("1298", "1299"), 1);
    let changed = dir.path().join("page.md");
    std::fs::write(&changed, format!("{before}\n## atomics.f5{section}")).unwrap();
    let args = ["reproduce", "atomics.f5", "--check"];
    let out = spadkit(&[&args[..], &[changed.to_str().unwrap()]].concat());
    assert_eq!(out.status.code(), Some(1));
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(
        error.contains("rows differ") && error.contains("atomics.f5"),
        "{error}"
    );
}

#[test]
fn the_page_is_short_and_says_how_to_read_it() {
    let page = std::fs::read_to_string("docs/reproduction.md").unwrap();
    assert!(page.lines().count() <= 780, "{}", page.lines().count());
    for part in [
        "How to read",
        "| ID | what | verdict |",
        "make reproduction",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

/// Of the two sizes of the histogram only one has a published value.
#[test]
fn a_column_is_judged_by_its_own_workloads() {
    let page = std::fs::read_to_string("docs/reproduction.md").unwrap();
    let (_, figure) = page.split_once("## atomics.f7").unwrap();
    let verdict = figure.lines().find(|l| l.starts_with("| *verdict*"));
    assert_eq!(verdict, Some("| *verdict* | – | – | **differs** | – |"));
}

/// The contract of the design: each of these is measured, or says why not.
#[test]
fn every_id_of_the_contract_is_there() {
    let ids = [
        "hash.t5",
        "hash.t6",
        "hash.f9",
        "hash.f10",
        "hash.noconflict",
        "hash.f4",
        "rap.t2",
        "rap.t3",
        "rap.t4",
        "sharing.f13",
        "sharing.f14",
        "sharing.t6",
        "sharing.f18",
        "sharing.f19",
        "sharing.f20",
        "sharing.f22",
        "elastic.t5",
        "elastic.f6",
        "elastic.f7",
        "elastic.f8",
        "elastic.f9",
        "atomics.f4",
        "atomics.f5",
        "atomics.f7",
        "atomics.f8",
        "fidelity",
        "compose",
    ];
    let ids: Vec<String> = ids.map(str::to_owned).into();
    let library = Library::load().unwrap();
    for figure in library.select(&ids).unwrap() {
        let why = figure.not_reproducible.as_deref().unwrap_or_default();
        assert!(
            !figure.quantity.is_empty() || why.len() > 20,
            "{} has neither quantities nor a reason",
            figure.id
        );
    }
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
    let number = |r: &Value, key: &str| r[key].as_f64().unwrap_or_else(|| panic!("{key}: {r}"));
    let speed_up = |r: &Value| number(r, "speed_up");
    let best = results.iter().map(speed_up).fold(0.0, f64::max);
    let front: Vec<&Value> = results.iter().filter(|r| r["front"] == true).collect();
    assert!(front.iter().any(|r| speed_up(r) == best));
    let is_none = |r: &&Value| {
        r["hash"].is_null()
            && ["elastic", "sharing", "locks"]
                .iter()
                .all(|m| r[*m] == false)
    };
    let base = results.iter().find(is_none).unwrap();
    assert_eq!(speed_up(base), 1.0);
    for result in results {
        let time = number(result, "cycles") * number(result, "clock_ps") / 1000.0;
        assert!((number(result, "time_ns") - time).abs() < 1e-6, "{result}");
        let times = number(base, "time_ns") / number(result, "time_ns");
        assert!((speed_up(result) - times).abs() < 1e-9, "{result}");
        assert!(number(result, "clock_ps") >= number(base, "clock_ps"));
        assert!(number(result, "stalls") >= number(result, "stalls_shared_scratchpad"));
        // No other one is as fast and smaller.
        let beats = |o: &Value| {
            speed_up(o) >= speed_up(result) && number(o, "area_um2") < number(result, "area_um2")
        };
        assert_eq!(
            result["front"] == true,
            !results.iter().any(beats),
            "{result}"
        );
        if !result["hash"].is_null() {
            assert_eq!(result["bank_conflicts"], 0.0, "{result}");
        }
    }
    assert!(json["sentence"].as_str().unwrap().contains("hash"));
}

/// Two pairs and a block fill the scratchpad; both parts of each block lie at
/// one place of the mapping's period, and tuning for all of them finds no less.
#[test]
fn a_mapping_has_no_conflicts_in_any_block_of_a_pair() {
    let kernel = "kernels/convolution/conv_columns_grid.toml";
    let sim = |hash: &str| -> f64 {
        let out = spadkit(&[
            "sim",
            kernel,
            "--preset",
            "gpgpusim-16k",
            "--sharing",
            "0.1",
            "--hash",
            hash,
            "--format",
            "json",
        ]);
        let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        assert!(json["pairs"].as_u64().unwrap() > 0);
        json["bank_conflicts"].as_f64().unwrap()
    };
    let tune = |more: &[&str]| -> String {
        let args = [
            "tune",
            kernel,
            "--preset",
            "gpgpusim-16k",
            "--hash",
            "bitwise-xor",
            "--method",
            "mih",
            "--format",
            "json",
        ];
        let out = spadkit(&[&args[..], more].concat());
        let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        json["results"][0]["hash"].as_str().unwrap().to_owned()
    };
    let (alone, pairs) = (sim(&tune(&[])), sim(&tune(&["--sharing", "0.1"])));
    assert_eq!((alone, pairs), (0.0, 0.0));
    assert!(sim("mod") > 10_000.0);
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
