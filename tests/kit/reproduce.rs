//! `spadkit reproduce`: the papers' results as docs/reproduction.md has them,
//! and a run's points.

use crate::common::{in_one_line, without_checks};
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

/// The figures that take seconds; of the others a sample is computed again.
const QUICK: [&str; 7] = [
    "hash.noconflict",
    "rap.t4",
    "sharing.f13",
    "elastic.t5",
    "elastic.f8",
    "elastic.f9",
    "atomics.f5",
];

/// How `reproduce --check` of a folder ends, with what it says on errors.
fn check(root: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spadkit"));
    command.current_dir(root).arg("reproduce").args(args);
    let out = command.output().expect("spadkit runs");
    let text = [out.stdout, out.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (out.status.code(), in_one_line(&text))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn points_pages_and_readme_are_those_of_the_tree() {
    let (code, text) = check(
        root(),
        &[&["--check", "docs", "--recompute", "4"][..], &QUICK].concat(),
    );
    assert_eq!(code, Some(0), "{text}");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target)
        } else {
            std::fs::copy(&path, &target).map(|_| ()).unwrap()
        }
    }
}

/// A folder with what the check reads: data, kernels, pages, README.
fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    copy(&root().join("reproduce"), &at("reproduce"));
    copy(&root().join("docs/reproduction"), &at("docs/reproduction"));
    copy(&root().join("docs/charts"), &at("docs/charts"));
    for file in ["docs/reproduction.md", "README.md"] {
        std::fs::copy(root().join(file), at(file)).unwrap();
    }
    std::os::unix::fs::symlink(root().join("kernels"), at("kernels")).unwrap();
    dir
}

/// Changes the last digit of the first number behind `mark` in a text.
fn bumped(text: &str, mark: &str) -> String {
    let start = text.find(mark).unwrap_or_else(|| panic!("no {mark}")) + mark.len();
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let number = text[start..].find(|c: char| c.is_ascii_digit()).unwrap() + start;
    let end = text[number..].find(|c| !is_number(c)).unwrap() + number;
    let last = text[..end].rfind(|c: char| c.is_ascii_digit()).unwrap();
    let digit = if &text[last..=last] == "9" { "8" } else { "9" };
    format!("{}{digit}{}", &text[..last], &text[last + 1..])
}

fn bump(root: &Path, file: &str, mark: &str) {
    let path = root.join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, bumped(&text, mark)).unwrap();
}

/// What the check says of a copy of the tree in which numbers have changed: in each
/// file the first one behind its mark.
fn after(edits: &[(&str, &str)]) -> String {
    let tree = tree();
    for (file, mark) in edits {
        bump(tree.path(), file, mark);
    }
    let (code, text) = check(tree.path(), &["--check"]);
    assert_eq!(code, Some(1), "{edits:?}: {text}");
    text
}

#[test]
fn a_number_is_bumped_where_it_ends() {
    assert_eq!(bumped("a = 1.25, b", "a = "), "a = 1.29, b");
    assert_eq!(bumped("| x | 3 / 19 |", " / "), "| x | 3 / 18 |");
}

#[test]
fn the_check_fails_after_any_edit() {
    // An unchanged tree passes: points_pages_and_readme_are_those_of_the_tree.
    let pages = after(&[
        ("docs/reproduction/atomics.md", " / "),
        ("docs/charts/atomics.f5.svg", "measured "),
        ("README.md", "These rows are furthest off"),
    ]);
    for message in [
        "reproduction/atomics.md has no line",
        "charts/atomics.f5.svg",
        "README.md differs",
    ] {
        assert!(pages.contains(message), "{message}: {pages}");
    }
    let published = after(&[(
        "reproduce/atomics/f5.toml",
        "published = { \"position conflicts, 1\" = ",
    )]);
    assert!(published.contains("has no line"), "{published}");
    // An input: the points are no longer those of the tree.
    let machine = after(&[("reproduce/atomics/machine.toml", "alu_cycles = ")]);
    assert!(machine.contains("has changed"), "{machine}");
    assert!(machine.contains("atomics.f"), "{machine}");
}

/// The digest of a point of atomics.f5 that runs in no time.
fn a_point() -> String {
    let library = Library::load().unwrap();
    let figures = library.select(&["atomics.f5".to_owned()]).unwrap();
    let points = spadkit::reproduce::points(&library.root, &figures, &Default::default()).unwrap();
    let simulated = |p: &&spadkit::reproduce::Point| p.work.input.is_some() && p.machine.is_some();
    points.iter().find(simulated).unwrap().digest.clone()
}

/// Points and pages that agree with each other, and not with the program.
#[test]
fn points_that_the_program_does_not_give_are_found_by_computing_them() {
    let tree = tree();
    let kept = "docs/reproduction/points.jsonl";
    let text = std::fs::read_to_string(root().join(kept)).unwrap();
    let point = a_point();
    let line = text.lines().find(|l| l.contains(&point)).unwrap();
    let mark = &line[..line.find("\"cycles\":").unwrap() + 9];
    bump(tree.path(), kept, mark);
    let moved = tree.path().join("docs/points.jsonl");
    std::fs::rename(tree.path().join(kept), moved).unwrap();
    let (code, text) = check(tree.path(), &["-o", "docs", "-q"]);
    assert_eq!(code, Some(0), "{text}");
    std::fs::remove_file(tree.path().join("README.md")).unwrap();
    let (code, text) = check(tree.path(), &["atomics.f5", "--check"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("cycles is kept as"), "{text}");
}

#[test]
fn the_overview_is_short_and_begins_with_what_is_not_reproduced() {
    let page = std::fs::read_to_string("docs/reproduction.md").unwrap();
    let place = |part: &str| page.find(part).unwrap_or_else(|| panic!("no {part}"));
    let parts = [
        "charts/overview.svg",
        "## What we do not reproduce",
        "## Headline numbers",
        "## All rows",
        "(reproduction/method.md)",
    ];
    let places = parts.map(place);
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.lines().count() <= 110, "{}", page.lines().count());
    let summary = std::fs::read_to_string("docs/SUMMARY.md").unwrap();
    for paper in spadkit::reproduce::PAPERS {
        assert!(
            summary.contains(&format!("(reproduction/{paper}.md)")),
            "{paper}"
        );
    }
}

/// README shows what is missed, too.
#[test]
fn readme_has_the_rows_that_are_furthest_off() {
    let readme = std::fs::read_to_string("README.md").unwrap();
    let (_, worst) = readme.split_once("These rows are furthest off").unwrap();
    let rows = worst
        .lines()
        .filter(|l| l.contains("**differs**") || l.contains("**direction only**"));
    assert!(rows.count() >= 5);
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
        assert!(
            !(figure.quantity.is_empty() && figure.not_modelled.is_empty()),
            "{} has neither quantities nor a reason",
            figure.id
        );
    }
}

#[test]
fn resident_blocks_and_latencies_are_the_published_ones() {
    let ids = "sharing.f13 atomics.f5 atomics.f3 elastic.f3 rap.f3";
    let ids: Vec<&str> = ids.split(' ').collect();
    let results = results(&ids);
    let published = |r: &&Value| !r["published"].is_null() && r["reason"].is_null();
    for id in ids {
        let own = results.iter().filter(published).filter(|r| r["id"] == id);
        assert!(own.count() > 5, "{id}");
    }
    for result in results.iter().filter(published) {
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
    // A stored point is not computed: its number is the changed one.
    let text = std::fs::read_to_string(&points).unwrap();
    let changed = without_checks(&text.replace("\"cycles\":129.0", "\"cycles\":100.0"));
    std::fs::write(&points, changed).unwrap();
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
    let ids = ["elastic.t5", "atomics.f5", "rap.t4"];
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
    for file in [
        "points.jsonl",
        "reproduction.md",
        "reproduction/elastic.md",
        "charts/elastic.t5.svg",
    ] {
        let read = |folder: &str| std::fs::read(Path::new(&at(folder)).join(file)).unwrap();
        assert!(read("one") == read("merged"), "{file}");
    }
}

#[test]
fn shards_that_are_no_shards_leave_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (name, text) in [("empty", ""), ("bad", "no point\n")] {
        std::fs::create_dir(at(name)).unwrap();
        std::fs::write(Path::new(&at(name)).join("points.jsonl"), text).unwrap();
        let out = spadkit(&["merge", &at(name), "-o", &at("out")]);
        assert_eq!(out.status.code(), Some(2), "{name}");
        assert!(!Path::new(&at("out")).exists(), "{name}");
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

/// Two pairs and a block fill the scratchpad. Both parts of each block have the
/// same offset in the mapping's period, and tuning for all of them finds no
/// less.
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
            "no file or folder no/such/folder",
        ),
    ] {
        let out = spadkit(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        let text = String::from_utf8_lossy(&out.stderr);
        assert!(text.contains(expected), "{args:?}: {text}");
    }
}
