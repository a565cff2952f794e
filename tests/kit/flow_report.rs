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
