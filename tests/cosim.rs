//! Lockstep co-simulation of every unit, and proof that it can fail.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

/// Whether the tools of co-simulation are there; says so if not.
fn has_tools() -> bool {
    let there = ["verilator", "c++"]
        .iter()
        .all(|tool| which::which(tool).is_ok());
    if !there {
        println!("skipped: verilator or a C++ compiler is missing");
    }
    there
}

fn spadkit(args: &[&str]) -> (i32, Value, String) {
    let output = Command::cargo_bin("spadkit")
        .unwrap()
        .args(args)
        .args(["--format", "json"])
        .output()
        .unwrap();
    let json = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), json, stderr)
}

fn assert_clean(json: &Value, cycles: u64) {
    let results = json["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for result in results {
        assert_eq!(result["mismatches"], 0, "{result}");
        assert_eq!(result["cycles"], cycles, "{result}");
        assert!(result["checks"].as_u64().unwrap() >= cycles, "{result}");
    }
}

/// The whole kit on the small machine: 34 units, the SM path among them.
#[test]
fn every_unit_agrees_with_its_model() {
    if !has_tools() {
        return;
    }
    let (status, json, stderr) = spadkit(&["cosim", "--preset", "small", "--cycles", "10000"]);
    assert_eq!(status, 0, "{stderr}");
    assert_clean(&json, 10_000);
    let units = json["results"].as_array().unwrap();
    assert!(units.iter().any(|u| u["unit"] == "spad_sm_path"));
}

/// 32 lanes and 32 banks.
#[test]
fn units_agree_on_fermi() {
    if !has_tools() {
        return;
    }
    let units = [
        "spad_conflict_arbiter",
        "spad_hash_matrix",
        "spad_hash_config",
    ];
    let mut args = vec!["cosim", "--cycles", "20000"];
    args.extend(units);
    let (status, json, stderr) = spadkit(&args);
    assert_eq!(status, 0, "{stderr}");
    assert_clean(&json, 20_000);
}

/// Odd n, and an address too short for two whole windows of m bits.
#[test]
fn the_hash_units_agree_in_an_awkward_geometry() {
    if !has_tools() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let config = scratch.path().join("odd.toml");
    std::fs::write(&config, "[geometry]\naddr_bits = 9\nbank_bits = 6\n").unwrap();
    let units = [
        "spad_hash_bitvec_perm",
        "spad_hash_bitvec_xor",
        "spad_hash_bitwise_xor",
        "spad_hash_xor",
        "spad_hash_add",
        "spad_rap",
        "spad_row_map",
    ];
    let mut args = vec!["cosim", "--cycles", "10000", "--config"];
    args.push(config.to_str().unwrap());
    args.extend(units);
    let (status, json, stderr) = spadkit(&args);
    assert_eq!(status, 0, "{stderr}");
    assert_clean(&json, 10_000);
}

#[test]
fn kernel_traces_drive_the_units() {
    if !has_tools() {
        return;
    }
    let mut traces = vec!["kernel:fwt".to_owned(), "kernel:transpose".to_owned()];
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces");
    if recorded.is_dir() {
        let names = ["NW-1", "lavaMD", "MRI-grid-splitSort"];
        traces.extend(names.map(|n| recorded.join(format!("{n}.json")).display().to_string()));
    } else {
        println!(
            "skipped the recorded traces: {} is absent",
            recorded.display()
        );
    }
    for trace in traces {
        let unit = "spad_hash_bitvec_xor";
        let (status, json, stderr) = spadkit(&["cosim", unit, "--trace", &trace]);
        assert_eq!(status, 0, "{trace}: {stderr}");
        assert_clean(&json, 20_000);
    }
}

/// A hand-edited block with one wrong wire: found, named, and shown.
#[test]
fn a_wrong_wire_is_found() {
    if !has_tools() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let dir_arg = dir.to_str().unwrap();
    let unit = "spad_hash_matrix";
    assert_eq!(spadkit(&["emit", unit, "-o", dir_arg]).0, 0);
    let file = dir.join("spad_hash_matrix.v");
    let text = std::fs::read_to_string(&file).unwrap();
    let edited = text.replacen("cfg_rows[3] & addr[3]", "cfg_rows[3] & addr[4]", 1);
    assert_ne!(edited, text);
    std::fs::write(&file, edited).unwrap();
    let wave = scratch.path().join("wave.vcd");
    let wave_arg = wave.to_str().unwrap();
    let (status, json, stderr) = spadkit(&["cosim", unit, "--rtl", dir_arg, "--wave", wave_arg]);
    assert_eq!(status, 1);
    let first = &json["results"][0]["first_mismatch"];
    assert_eq!(first["signal"], "bank");
    let cycle = first["cycle"].as_u64().unwrap();
    assert!(
        stderr.contains(&format!("bank in cycle {cycle}")),
        "{stderr}"
    );
    // The waveform ends with the mismatch and holds both sides.
    let vcd = std::fs::read_to_string(&wave).unwrap();
    for scope in ["inputs", "rtl", "model", "mismatch"] {
        assert!(vcd.contains(&format!("$scope module {scope} ")), "{scope}");
    }
    assert!(vcd.contains(&format!("\n#{}\n", cycle * 10)));
    assert!(!vcd.contains(&format!("\n#{}\n", (cycle + 1) * 10)));
}

#[test]
fn missing_verilog_and_unknown_units_are_bad_input() {
    let scratch = tempfile::tempdir().unwrap();
    let empty = scratch.path().to_str().unwrap();
    let (status, _, stderr) = spadkit(&["cosim", "spad_hash_xor", "--rtl", empty]);
    assert_eq!(status, 2, "{stderr}");
    assert!(stderr.contains("spad_hash_xor.v"), "{stderr}");
    let (status, _, stderr) = spadkit(&["cosim", "spad_hash_nothing"]);
    assert_eq!(status, 2);
    assert!(stderr.contains("units are"), "{stderr}");
}
