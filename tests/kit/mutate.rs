//! A short version of `make mutate`: injected faults are caught or proved
//! equivalent, and a bench that looks away would not catch them.

use crate::common::tools::missing;
use assert_cmd::Command;
use serde_json::Value;

/// Injects 60 faults into each unit of a machine.
fn mutate(machine: &[&str], units: &[&str]) {
    if missing(&["verilator", "c++", "yosys"]) {
        return;
    }
    let output = Command::cargo_bin("spadkit")
        .unwrap()
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("mutate")
        .args(units)
        .args(machine)
        .args(["--faults", "60", "--seeds", "1", "--format", "json"])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), units.len());
    for result in results {
        let number = |key: &str| result[key].as_u64().unwrap();
        assert_eq!(number("injected"), 60, "{result}");
        assert_eq!(number("caught") + number("equivalent"), 60, "{result}");
        // Most faults of a multiplexer change something.
        assert!(number("caught") >= 50, "{result}");
    }
}

#[test]
fn faults_in_hash_units_are_caught_or_proved_equivalent() {
    mutate(
        &["--preset", "fermi"],
        &["spad_hash_bitvec_xor", "spad_hash_config_bitvec_perm"],
    );
}

#[test]
fn faults_in_units_of_the_path_are_caught_or_proved_equivalent() {
    mutate(
        &["--config", "testbenches/mutate.toml"],
        &["spad_crossbar", "spad_warp_mask"],
    );
}

/// What became of a unit is kept: the second run needs no tool.
#[test]
fn units_that_are_known_do_not_run_again() {
    if missing(&["verilator", "c++", "yosys"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let run = |more: &[&str], faults: &str, status: i32| {
        let mut command = Command::cargo_bin("spadkit").unwrap();
        let units = ["mutate", "spad_hash_xor", "spad_hash_add"];
        command
            .args(units)
            .args(["--preset", "small", "--faults", faults]);
        command
            .args(["--seeds", "1", "--format", "json"])
            .args(more);
        if more.len() == 6 {
            command.env("SPADKIT_YOSYS", "/nowhere/yosys");
        }
        let output = command.assert().code(status).get_output().clone();
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default()
    };
    let (one, two, all) = (file("1.jsonl"), file("2.jsonl"), file("all.jsonl"));
    let [one, two, all] = [&one, &two, &all].map(|f| f.to_str().unwrap());
    let first = run(&["--shard", "1/2", "--points", one], "4", 0);
    let second = run(&["--shard", "2/2", "--points", two], "4", 0);
    let merged = ["--points", all, "--points", one, "--points", two];
    let both = run(&merged, "4", 0);
    assert_eq!(both["results"][0], first["results"][0]);
    assert_eq!(both["results"][1], second["results"][0]);
    assert_eq!(both, run(&[], "4", 0));
    // Other faults are other points.
    run(&merged, "5", 3);
}
