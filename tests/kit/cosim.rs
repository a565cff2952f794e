//! Lockstep co-simulation of every unit, and a check that it can fail.

mod faults;
mod workloads;

use crate::common::tools::missing;
use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

/// What co-simulation runs.
const TOOLS: [&str; 2] = ["verilator", "c++"];

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

/// `units` of a machine agree with their models.
fn assert_machine_agrees(units: &[&str], machine: &str) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("machine.toml");
    std::fs::write(&file, machine).unwrap();
    let options = ["--cycles", "20000", "--config", file.to_str().unwrap()];
    let (status, json, stderr) = spadkit(&[&["cosim"], units, &options].concat());
    assert_eq!(status, 0, "{machine}: {stderr}");
    assert_clean(&json, 20_000);
}

/// With and without accesses that overlap, with addresses beyond the capacity, a
/// mapping that changes, words of 64 bits, and tags of any width.
#[test]
fn streams_of_other_widths_agree_with_their_model() {
    if missing(&TOOLS) {
        return;
    }
    for (window, word_bits, tag_bits) in [(2, 64, 45), (0, 32, 1)] {
        let text = format!(
            "base = 'small'\n[geometry]\ncapacity_words = 768\nword_bits = {word_bits}\n\
             [hash]\npath = 'configurable'\n[stream]\nwindow = {window}\ntag_bits = {tag_bits}\n"
        );
        assert_machine_agrees(&["spad_stream"], &text);
    }
}

/// Atomic operations of accesses that overlap.
#[test]
fn streams_with_atomic_operations_agree_with_their_model() {
    if missing(&TOOLS) {
        return;
    }
    assert_atomic_stream_agrees(2, 64);
}

#[test]
#[ignore = "part of make campaign"]
fn a_longer_window_with_atomic_operations_agrees_with_its_model() {
    if !missing(&TOOLS) {
        assert_atomic_stream_agrees(4, 32);
    }
}

fn assert_atomic_stream_agrees(window: u32, word_bits: u32) {
    let text = format!(
        "base = 'small'\n[geometry]\ncapacity_words = 768\nword_bits = {word_bits}\n\
         [hash]\npath = 'configurable'\n[stream]\nwindow = {window}\natomics = true\n"
    );
    assert_machine_agrees(&["spad_stream"], &text);
}

/// Stores without an answer: around the scratchpad, its locks included, and around a
/// window with and without atomic operations.
#[test]
fn streams_with_posted_stores_agree_with_their_model() {
    if missing(&TOOLS) {
        return;
    }
    for options in ["", "window = 2\natomics = true"] {
        assert_posted_stream_agrees(options);
    }
}

#[test]
#[ignore = "part of make campaign"]
fn a_window_with_posted_stores_agrees_with_its_model() {
    if !missing(&TOOLS) {
        assert_posted_stream_agrees("window = 4");
    }
}

fn assert_posted_stream_agrees(options: &str) {
    let text = format!(
        "base = 'small'\n[geometry]\ncapacity_words = 768\n[hash]\npath = 'configurable'\n\
         [stream]\nposted = true\n{options}\n"
    );
    assert_machine_agrees(&["spad_stream"], &text);
}

/// Atomic operations on the bus, with and without registers, broadcast and merging.
#[test]
fn banks_with_atomic_operations_agree_with_their_model() {
    if missing(&TOOLS) {
        return;
    }
    let registers = "request_register = true\nresponse_register = true\nid_bits = 3\n";
    for (word_bits, path, options) in [
        (32, "broadcast = false\n", ""),
        (64, "merge_bytes = false\n", registers),
    ] {
        let text = format!(
            "base = 'small'\n[geometry]\ncapacity_words = 768\nword_bits = {word_bits}\n\
             [hash]\npath = 'configurable'\n[path]\n{path}[tcdm]\natomics = true\n{options}"
        );
        assert_machine_agrees(&["spad_tcdm", "spad_atomic_bank"], &text);
    }
}

/// Writes without an answer, with and without registers, merging and atomic operations.
#[test]
fn lanes_with_posted_writes_agree_with_their_model() {
    if missing(&TOOLS) {
        return;
    }
    let registers = "request_register = true\nresponse_register = true\nid_bits = 3";
    for (path, options) in [("merge_bytes = false\n", registers), ("", "atomics = true")] {
        assert_posted_lanes_agree(path, options);
    }
}

#[test]
#[ignore = "part of make campaign"]
fn other_lanes_with_posted_writes_agree_with_their_model() {
    if !missing(&TOOLS) {
        assert_posted_lanes_agree("", "");
        assert_posted_lanes_agree("", "response_register = true\natomics = true");
    }
}

fn assert_posted_lanes_agree(path: &str, options: &str) {
    let text = format!(
        "base = 'small'\n[geometry]\ncapacity_words = 768\n[hash]\npath = 'configurable'\n\
         [path]\n{path}[tcdm]\nposted = true\n{options}\n"
    );
    assert_machine_agrees(&["spad_tcdm"], &text);
}

/// The whole kit on the small machine, the SM path included.
#[test]
fn every_unit_agrees_with_its_model() {
    if missing(&TOOLS) {
        return;
    }
    let (status, json, stderr) = spadkit(&["cosim", "--preset", "small", "--cycles", "10000"]);
    assert_eq!(status, 0, "{stderr}");
    assert_clean(&json, 10_000);
    let units = json["results"].as_array().unwrap();
    assert!(units.iter().any(|u| u["unit"] == "spad_sm_path"));
}

/// With the waiting times of the atomics paper; without them above.
#[test]
fn retry_loops_that_wait_agree() {
    if missing(&TOOLS) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.toml");
    let retry = "[retry]\nread = 5\nupdate = 3\nwrite = 4\nbranch = 2\n";
    std::fs::write(&file, format!("base = 'small'\n{retry}")).unwrap();
    let units = ["spad_retry_sequencer", "spad_memory_entry", "spad_sm_path"];
    let options = ["--cycles", "10000", "--config", file.to_str().unwrap()];
    let (status, json, stderr) = spadkit(&[&["cosim"], &units[..], &options].concat());
    assert_eq!(status, 0, "{stderr}");
    assert_clean(&json, 10_000);
}

/// 32 lanes and 32 banks.
#[test]
fn units_agree_on_fermi() {
    if missing(&TOOLS) {
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
    if missing(&TOOLS) {
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

/// The SM path with everything that can be left out or chosen when it is
/// emitted, in machines so small that each builds in seconds. Pipeline, barrel,
/// scheduler, lock hash and mapping change within a run.
#[test]
fn kinds_of_path_agree() {
    paths_agree(|file| USUAL_PATHS.iter().any(|usual| file.ends_with(usual)));
}

#[test]
#[ignore = "takes a minute; part of make campaign"]
fn the_other_kinds_of_path_agree() {
    paths_agree(|file| !USUAL_PATHS.iter().any(|usual| file.ends_with(usual)));
}

const USUAL_PATHS: [&str; 2] = ["bitwise-perm.toml", "rap.toml"];

fn paths_agree(chosen: impl Fn(&Path) -> bool) {
    if missing(&TOOLS) {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cosim/paths");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().path());
    let files: Vec<_> = files.collect();
    assert_eq!(files.len(), 9);
    for file in files.iter().filter(|file| chosen(file)) {
        let config = file.to_str().unwrap();
        let args = ["cosim", "spad_sm_path", "--cycles", "20000", "--config"];
        let (status, json, stderr) = spadkit(&[&args[..], &[config]].concat());
        assert_eq!(status, 0, "{config}: {stderr}");
        assert_clean(&json, 20_000);
    }
}

#[test]
fn missing_verilog_and_unknown_units_are_bad_input() {
    let scratch = tempfile::tempdir().unwrap();
    let empty = scratch.path().to_str().unwrap();
    let (status, _, stderr) = spadkit(&["cosim", "spad_hash_xor", "--rtl", empty]);
    assert_eq!(status, 2, "{stderr}");
    assert!(stderr.contains("spad_hash_xor.v"), "{stderr}");
    let (status, _, stderr) = spadkit(&["cosim", "spad_nothing"]);
    assert_eq!(status, 2);
    assert!(stderr.contains("units are"), "{stderr}");
}
