//! Other resets and timescales than the usual ones.

use super::{emit, prove_in_icarus, prove_units_in_icarus, run_bench, units};
use crate::common::tools::{missing, printed};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// With asynchronous resets nothing but the cycles with a reset may differ.
#[test]
fn asynchronous_resets_do_what_synchronous_ones_do() {
    prove_in_icarus(&["--reset", "async-low", "--timescale", "1ns/1ps"], 112);
}

#[test]
fn resets_of_every_style_work() {
    let some = ["spad_tcdm", "spad_hash_config", "spad_premem_queue"];
    for style in [&["--reset", "async"][..], &["--active-low"]] {
        let style = [style, &some].concat();
        prove_units_in_icarus(&style, 112, 3);
    }
    // Both ways to say it are the same.
    let scratch = tempfile::tempdir().unwrap();
    let units = |dir: &str, style: &[&str]| {
        let dir = scratch.path().join(dir);
        let manifest = emit(&dir, &[&["spad_bank_ram"], style].concat());
        assert_eq!(manifest["reset"], "async-low");
        fs::read(dir.join("spad_bank_ram.v")).unwrap()
    };
    let short = units("short", &["--reset", "async-low"]);
    assert!(short == units("long", &["--reset", "async", "--active-low"]));
}

/// Verilator complains of a timescale that only some of the modules have.
#[test]
fn a_timescale_lets_files_with_one_in() {
    if missing(&["verilator"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let neighbour = "`timescale 1ns/1ps\nmodule neighbour (input wire [9:0] addr, \
                     output wire [2:0] bank);\n    \
                     spad_hash_xor hash (.addr(addr), .bank(bank));\nendmodule\n";
    fs::write(dir.join("neighbour.v"), neighbour).unwrap();
    let lint = |style: &[&str]| {
        let options = ["spad_hash_xor", "--preset", "small", "--wrapper", "stream"];
        let manifest = emit(&dir.join("rtl"), &[&options, style].concat());
        let mut verilator = Command::new("verilator");
        verilator.args(["--lint-only", "-Wall", "--top-module", "neighbour"]);
        verilator.args(["rtl/spad_hash_xor.v", "neighbour.v"]);
        (manifest, verilator.current_dir(dir).output().unwrap())
    };
    let (_, without) = lint(&[]);
    assert!(printed(&without).contains("TIMESCALEMOD"), "{without:?}");
    let (manifest, stated) = lint(&["--timescale", "10 ns / 1ps"]);
    assert_eq!(printed(&stated), "");
    assert_eq!(manifest["timescale"], "10ns/1ps");
    // Every file has it, the benches and the package included.
    for folder in ["rtl", "rtl/tb"] {
        for entry in fs::read_dir(dir.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name.ends_with(".v") || name.ends_with(".sv") {
                let file = fs::read_to_string(&path).unwrap();
                assert_eq!(file.matches("`timescale 10ns/1ps\n").count(), 1, "{name}");
            }
        }
    }
}

/// Runs the Verilog of a unit in a style in lockstep with its model for `cycles` cycles.
fn assert_style_agrees(unit: &str, machine: &[&str], style: &[&str], cycles: u64) {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let options = [&[unit, "--bench-cycles", "0"], machine, style].concat();
    emit(&dir, &options);
    let mut cosim = assert_cmd::Command::cargo_bin("spadkit").unwrap();
    cosim.args(["cosim", unit, "--format", "json", "--cycles"]);
    cosim.arg(cycles.to_string()).arg("--rtl").arg(&dir);
    let output = cosim.args(machine).output().unwrap();
    let printed = printed(&output);
    assert!(output.status.success(), "{printed}");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["results"][0]["mismatches"], 0, "{printed}");
    assert_eq!(result["results"][0]["cycles"], cycles, "{printed}");
}

/// Lockstep takes the Verilog in the style that it was emitted in.
#[test]
fn other_resets_agree_with_the_model_cycle_by_cycle() {
    if missing(&["verilator", "c++", "make"]) {
        return;
    }
    let small = ["--preset", "small"];
    let low = ["--reset", "async-low", "--timescale", "1ns/1ps"];
    assert_style_agrees("spad_stream", &small, &low, 5000);
    let low = ["--reset", "sync", "--active-low"];
    assert_style_agrees("spad_premem_queue", &small, &low, 5000);
}

/// A machine whose banks perform atomic operations, as a file.
fn atomic_machine(folder: &Path) -> String {
    let file = folder.join("m.toml");
    let text = "base = 'small'\n[stream]\nwindow = 2\natomics = true\n[tcdm]\natomics = true\n";
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// An asynchronous reset keeps more of what is in flight from being written, and the
/// models know it.
#[test]
fn asynchronous_resets_of_atomic_banks_agree_with_the_model() {
    if missing(&["verilator", "c++", "make"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let machine = ["--config", &atomic_machine(scratch.path())];
    for (unit, style) in [
        ("spad_tcdm", "async"),
        ("spad_atomic_bank", "async-low"),
        ("spad_stream", "async"),
    ] {
        assert_style_agrees(unit, &machine, &["--reset", style], 20_000);
    }
}

/// The same of the emitted test benches, in runs with resets in them.
#[test]
fn benches_of_atomic_banks_pass_with_asynchronous_resets() {
    if missing(&["iverilog", "vvp"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let machine = atomic_machine(scratch.path());
    let options = [
        "--reset",
        "async",
        "--bench-cycles",
        "1500",
        "--config",
        &machine,
    ];
    let manifest = emit(
        &dir,
        &[&["spad_stream", "spad_atomic_bank"], &options[..]].concat(),
    );
    for unit in units(&manifest) {
        let output = run_bench(&dir, unit);
        assert!(output.status.success(), "{}", printed(&output));
    }
}

#[test]
fn a_timescale_that_verilog_does_not_have_is_refused() {
    let mut command = assert_cmd::Command::cargo_bin("spadkit").unwrap();
    let output = command.args(["emit", "-o", "nowhere", "--timescale", "1ps/1ns"]);
    let output = output.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        printed(&output).contains("such as 1ns/1ps"),
        "{}",
        printed(&output)
    );
    assert!(!Path::new("nowhere").exists());
}
