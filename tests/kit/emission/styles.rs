//! Other resets and timescales than the usual ones.

use super::{emit, prove_in_icarus, prove_units_in_icarus};
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

/// Lockstep takes the Verilog in the style that it was emitted in.
#[test]
fn other_resets_agree_with_the_model_cycle_by_cycle() {
    if missing(&["verilator", "c++", "make"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    for (unit, style) in [
        (
            "spad_stream",
            ["--reset", "async-low", "--timescale", "1ns/1ps"],
        ),
        (
            "spad_premem_queue",
            ["--reset", "sync", "--active-low", "--force"],
        ),
    ] {
        let machine = ["--preset", "small"];
        emit(
            &dir,
            &[&[unit, "--bench-cycles", "0"], &machine[..], &style].concat(),
        );
        let mut cosim = assert_cmd::Command::cargo_bin("spadkit").unwrap();
        cosim.args([
            "cosim", unit, "--cycles", "5000", "--format", "json", "--rtl",
        ]);
        let output = cosim.arg(&dir).args(machine).output().unwrap();
        let printed = printed(&output);
        assert!(output.status.success(), "{printed}");
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(result["results"][0]["mismatches"], 0, "{printed}");
        assert_eq!(result["results"][0]["cycles"], 5000, "{printed}");
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
