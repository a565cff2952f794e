//! What the report of `flow` says: one machine, one verdict; what changed since
//! an earlier run; code that can be pasted.

use crate::common;

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

fn flow(args: &[&str], out: &Path) -> Command {
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command
        .arg("flow")
        .args(args)
        .args(["--fast", "--budget", "2", "-q", "-o"])
        .arg(out);
    command
}

fn read(out: &Path, name: &str) -> String {
    std::fs::read_to_string(out.join(name)).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn flow_and_conflicts_count_on_the_machine_of_the_target() {
    let dir = tempfile::tempdir().unwrap();
    let hgemm = "kernels/gemm/hgemm.toml";
    let mut command = flow(&[hgemm, "--format", "json"], dir.path());
    let output = command.assert().success();
    let found = json(&String::from_utf8_lossy(&output.get_output().stdout));
    assert_eq!(
        (&found["machine"], &found["format_version"]),
        (&"sm80".into(), &1.into())
    );
    assert_eq!(found["machine_from"], ".target sm_80 of gemm.ptx");
    let counted = common::json(&["conflicts", hgemm]);
    assert_eq!(
        found["mappings"][0]["conflicts"],
        counted["results"][0]["conflicts"]
    );
    // The text and the page name it first.
    let html = read(dir.path(), "report.html");
    let named = html.find("(for .target sm_80 of gemm.ptx)").unwrap();
    assert!(named < html.find("<h1>").unwrap());
    // The worst line is in a function that is inlined.
    let verdict = "most of them at gemm.cu:39, called in line 108.";
    let verdict = html
        .find(verdict)
        .unwrap_or_else(|| panic!("{}", &html[named..named + 900]));
    assert!(verdict < html.find("class=\"kpis\"").unwrap());
    // What the model says, and what a GPU did, stand together.
    for part in [
        "all 4 blocks of the grid",
        "64 x 64 blocks",
        "3.03 times as fast",
        "Verilog, co-simulation",
    ] {
        assert!(html.contains(part), "{part}");
    }
    // A machine that is named is taken.
    let other = dir.path().join("fermi");
    let output = flow(
        &["kernels/tiles/tile_vector.toml", "--preset", "fermi"],
        &other,
    )
    .output()
    .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("\nmachine: fermi, 32 banks (--preset)\n"),
        "{text}"
    );
    assert!(json(&read(&other, "summary.json"))["machine_from"].is_null());
}

/// The accesses of a loop: each part has its own pattern and its own conflicts.
#[test]
fn a_pattern_that_changes_is_split_by_phase_or_iteration() {
    let parts = |summary: &str| {
        let instructions = json(summary)["instructions"].clone();
        let all = instructions.as_array().unwrap().iter();
        let of = |i: &Value| i["parts"].as_array().cloned().unwrap_or_default();
        let split = all.map(of).find(|parts| !parts.is_empty()).unwrap();
        let part = |p: &Value| {
            let number = |name: &str| p[name].as_u64().unwrap();
            let text = |name: &str| p[name].as_str().unwrap().to_owned();
            let turn = (text("turn"), number("first"), number("last"));
            (turn, text("pattern"), number("conflicts"))
        };
        split.iter().map(part).collect::<Vec<_>>()
    };
    let own = |turn: &str, first, last, pattern: &str, conflicts| {
        (
            (turn.to_owned(), first, last),
            pattern.to_owned(),
            conflicts,
        )
    };
    let dir = tempfile::tempdir().unwrap();
    let fwt = ["kernels/fwt/fwt.toml", "--preset", "fermi"];
    flow(&fwt, dir.path()).assert().success();
    assert_eq!(
        parts(&read(dir.path(), "summary.json")),
        [
            own("phase", 1, 3, "tx", 0),
            own("phase", 4, 4, "32·ty + 1·tx, 8 wide", 48),
            own("phase", 5, 5, "8·ty + 1·tx, 2 wide", 48),
        ]
    );
    assert!(read(dir.path(), "report.html").contains("<td>phases 1 to 3</td>"));
    // A reduction in one warp has no barriers.
    let access = |stride: u32| {
        let lanes = (0..32).map(|lane| (lane * stride).to_string());
        let lanes = lanes.collect::<Vec<_>>().join(",");
        format!("{{\"warp\":0,\"pc\":0,\"op\":\"load\",\"addrs\":[{lanes}],\"source\":\"k.cu:7\"}}")
    };
    let accesses = [1, 1, 2, 4, 4].map(access).join(",");
    let trace = format!(
        "{{\"name\":\"t\",\"source\":\"s\",\"block_dim\":[32,1,1],\"shared_bytes\":8192,\
         \"warp_size\":32,\"accesses\":[{accesses}]}}"
    );
    let file = dir.path().join("t.json");
    std::fs::write(&file, trace).unwrap();
    let source: String = (1..=9).map(|n| format!("line {n}\n")).collect();
    std::fs::write(dir.path().join("k.cu"), source).unwrap();
    let out = dir.path().join("out");
    flow(&[file.to_str().unwrap()], &out).assert().success();
    assert_eq!(
        parts(&read(&out, "summary.json")),
        [
            own("iteration", 0, 1, "tx", 0),
            own("iteration", 2, 2, "2·tx", 1),
            own("iteration", 3, 4, "4·tx", 6),
        ]
    );
    let html = read(&out, "report.html");
    assert!(
        html.contains("iteration 2: +1, 2·tx; iterations 3 to 4: +6, 4·tx"),
        "{html}"
    );
}

/// Differing numbers have the reason next to them, and belong to the change that
/// they are shown with; the commands are those of all tables.
#[test]
fn numbers_of_two_mappings_and_machines_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let fwt = ["kernels/fwt/fwt.toml", "--preset", "fermi"];
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.arg("flow").args(fwt);
    // Checking and measuring the hardware takes most of the time and is not looked at.
    command
        .env("SPADKIT_VERILATOR", "/nowhere/tool")
        .env("SPADKIT_YOSYS", "/nowhere/tool");
    let rest = ["--budget", "2", "--cycles", "1000", "-q", "-o"];
    command.args(rest).arg(dir.path()).output().unwrap();
    let html = read(dir.path(), "report.html");
    let summary = json(&read(dir.path(), "summary.json"));
    // An H100 is compared with a model of one SM of another machine.
    let measured = summary["measured"].as_str().unwrap();
    assert!(measured.starts_with("An H100 took "), "{measured}");
    let reason =
        "The simulation of 2 blocks on one SM of fermi has it 1.02 times as fast: it leaves out";
    assert!(measured.contains(reason), "{measured}");
    assert!(html.contains(measured) && html.contains("Measure on the grid that matters."));
    // The counts are those of the hash unit, the changed lines are software's.
    let lines = summary["sources"][0]["lines"].as_array().unwrap();
    let changed: Vec<&Value> = lines.iter().filter(|l| !l["change"].is_null()).collect();
    assert!(!changed.is_empty(), "{summary}");
    for line in changed {
        let leaves = line["change_leaves"].as_str().unwrap();
        assert!(
            leaves.contains(" in software leaves ") && leaves.contains(" of the 832 conflicts")
        );
        // The note is at the first of its lines.
        let note = format!("<small>{leaves}</small>");
        assert_eq!(html.matches(&note).count(), 1, "{leaves}");
    }
    let commands = summary["commands"].as_array().unwrap().iter();
    let commands: Vec<&str> = commands.map(|c| c.as_str().unwrap()).collect();
    for command in [
        "spadkit flow kernels/fwt/fwt.toml --tech osu018 --budget 2 --cycles 1000 --preset fermi",
        "spadkit sim kernels/fwt/fwt.toml --hash mod --preset fermi",
        "spadkit sim kernels/fwt/fwt.toml --hash bitwise-xor:0^1,1^3,1^5,2^4,2^6 --preset fermi",
        "spadkit tune kernels/fwt/fwt.toml --software --budget 2 --preset fermi",
    ] {
        assert!(commands.contains(&command), "{command}: {commands:#?}");
    }
    assert!(
        commands.iter().any(|c| c.starts_with("spadkit rewrite ")),
        "{commands:#?}"
    );
    // The cycles of the choices are those of the commands.
    let nothing = summary["choices"].as_array().unwrap().iter();
    let nothing = nothing.clone().find(|c| c["hash"] == "mod").unwrap();
    let simulated = common::json(&["sim", fwt[0], "--hash", "mod", "--preset", "fermi"]);
    assert_eq!(nothing["cycles"]["total"], simulated["cycles"]);
}

#[test]
fn a_baseline_says_what_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    let args = ["kernels/reduction/reduction.toml", "--preset", "sm80"];
    flow(&args, &old).assert().success();
    let summary = old.join("summary.json");
    let with = |baseline: &Path| {
        let baseline = baseline.to_str().unwrap();
        let mut command = flow(&[&args[..], &["--baseline", baseline]].concat(), &new);
        command.assert().success();
        json(&read(&new, "summary.json"))["since"].clone()
    };
    let same = with(&summary);
    for part in ["numbers", "lines"] {
        assert!(same[part].as_array().unwrap().is_empty(), "{same}");
    }
    assert!(read(&new, "report.html").contains("Nothing changed"));
    // A line that was better, and a machine that was another one.
    let mut before = json(&read(&old, "summary.json"));
    before["machine"] = "sm90".into();
    let lines = before["sources"][0]["lines"].as_array_mut().unwrap();
    let worst = lines.iter_mut().find(|l| l["conflicts"] != 0).unwrap();
    let (line, conflicts) = (worst["line"].clone(), worst["conflicts"].clone());
    worst["conflicts"] = 0.into();
    let changed = dir.path().join("changed.json");
    std::fs::write(&changed, before.to_string()).unwrap();
    let since = with(&changed);
    assert_eq!(since["machine"], "sm90");
    assert_eq!(since["lines"][0]["what"], format!("reduction.cu:{line}"));
    assert_eq!(since["lines"][0]["before"], 0.0);
    assert_eq!(since["lines"][0]["now"].as_f64(), conflicts.as_f64());
    assert!(read(&new, "report.html").contains("the numbers are of two machines"));
    // What is read cannot be written over; what is no summary is refused.
    for bad in [summary.as_path(), Path::new("Cargo.toml")] {
        let mut command = flow(
            &[&args[..], &["--force", "--baseline", bad.to_str().unwrap()]].concat(),
            &old,
        );
        assert_eq!(
            command.output().unwrap().status.code(),
            Some(2),
            "{}",
            bad.display()
        );
    }
}

/// What has to be written by hand is counted, and is no changed line.
#[test]
fn lines_that_are_changed_by_hand_are_not_shown_as_changed() {
    let dir = tempfile::tempdir().unwrap();
    let walked = "tests/fixtures/cuda/walked.toml";
    flow(&[walked, "--preset", "sm80"], dir.path())
        .assert()
        .success();
    let report = dir.path().join("tune.html");
    let report = report.to_str().unwrap();
    common::spadkit(&["tune", walked, "--software", "--report", report])
        .assert()
        .success();
    let summary = json(&read(dir.path(), "summary.json"));
    let changes = summary["software"]["suggestions"].as_array().unwrap();
    let lines = changes.iter().flat_map(|s| s["lines"].as_array().unwrap());
    let is_open = |l: &&Value| l["changed_text"].is_null() && l["call"].is_null();
    let open = lines.filter(is_open).count();
    assert_eq!(open, 2, "{changes:#?}");
    let choices = summary["choices"].as_array().unwrap().iter();
    let codes = choices.flat_map(|c| c["code"].as_array().unwrap());
    for code in codes {
        let expected = if code["form"] == "CUDA" { open } else { 0 };
        assert_eq!(code["by_hand"], expected, "{code}");
    }
    let pages = summary["sources"].as_array().unwrap().iter();
    let all = pages.flat_map(|page| page["lines"].as_array().unwrap());
    let by_hand: Vec<&Value> = all.filter(|l| l["change_by_hand"] == true).collect();
    assert_eq!(by_hand.len(), open, "{summary}");
    for page in [
        read(dir.path(), "report.html"),
        read(dir.path(), "tune.html"),
    ] {
        for said in [
            "In CUDA, 2 lines have to be changed by hand: their comments say how. The other",
            "every line that accesses the array. 2 lines have to be changed by hand",
        ] {
            assert!(page.contains(said), "{said}: {page}");
        }
        assert!(!page.contains("Each form is complete"), "{page}");
        assert_eq!(page.matches("<small>by hand: <code>").count(), 2, "{page}");
        let green = page.split("<ins>").skip(1).map(|rest| &rest[..40]);
        let hints: Vec<&str> = green.filter(|g| g.contains("ELEMENT")).collect();
        assert!(hints.is_empty(), "{hints:?}");
    }
}
