//! Uses the files that `emit` writes in addition to the Verilog: the test
//! benches in Icarus Verilog, two machines in one chip, the constraints in
//! OpenSTA, the core in FuseSoC, the file list from another folder.

mod styles;
mod tools;

use crate::common::tools::{missing, printed, silent};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// What `spadkit emit` into `dir` prints.
fn emitted(dir: &Path, args: &[&str]) -> Output {
    let mut command = assert_cmd::Command::cargo_bin("spadkit").unwrap();
    command.args(["emit", "--format", "json", "-o"]).arg(dir);
    let output = command.args(args).output().unwrap();
    assert!(output.status.success(), "{}", printed(&output));
    output
}

/// `spadkit emit` into `dir`; its manifest.
fn emit(dir: &Path, args: &[&str]) -> Value {
    serde_json::from_slice(&emitted(dir, args).stdout).unwrap()
}

fn units(manifest: &Value) -> &Vec<Value> {
    manifest["units"].as_array().unwrap()
}

/// A tool with a limit of memory and time: it may be given Verilog with a fault.
fn limited(tool: &str) -> Command {
    let mut command = Command::new("sh");
    let script = "ulimit -v 2000000; ulimit -t 60; exec \"$@\"";
    command.args(["-c", script, "sh", tool]);
    command
}

/// Compiles a unit's test bench, from another folder than its own, and runs it.
fn run_bench(dir: &Path, unit: &Value) -> Output {
    let scratch = tempfile::tempdir().unwrap();
    let program = scratch.path().join("bench");
    let mut iverilog = limited("iverilog");
    iverilog.args(["-g2005", "-DSPADKIT_RAM_ZEROS", "-Wall", "-y"]);
    iverilog.arg(dir);
    iverilog.arg("-o").arg(&program);
    let bench = dir.join(unit["test_bench"].as_str().unwrap());
    silent(iverilog.arg(bench).current_dir(&scratch));
    limited("vvp").arg("-n").arg(program).output().unwrap()
}

#[test]
fn every_emission_proves_itself_in_icarus() {
    prove_in_icarus(&["--prefix", "a_"], 127);
}

/// Every unit's bench passes, and compares at least this many outputs in its 128
/// cycles.
fn prove_in_icarus(style: &[&str], compared: u64) {
    prove_units_in_icarus(style, compared, 31);
}

/// The same for at least `count` units.
fn prove_units_in_icarus(style: &[&str], compared: u64, count: usize) {
    if missing(&["iverilog", "vvp"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let machine = ["--preset", "small", "--bench-cycles", "128"];
    let manifest = emit(&dir, &[&machine, style].concat());
    assert!(units(&manifest).len() >= count);
    for unit in units(&manifest) {
        let output = run_bench(&dir, unit);
        let (printed, top) = (printed(&output), unit["top"].as_str().unwrap());
        assert!(output.status.success(), "{printed}");
        let counts = printed.strip_prefix(&format!("PASS {top}: ")).unwrap();
        let numbers = counts.split(|c: char| !c.is_ascii_digit());
        let numbers: Vec<u64> = numbers.filter_map(|n| n.parse().ok()).collect();
        assert!(numbers[0] >= 128 && numbers[1] >= compared, "{printed}");
    }
}

/// The text with the last logical operator of the module's body made another
/// one; not a sum that a generate loop may count with.
fn with_a_fault(text: &str) -> String {
    let start = text.find("\nmodule ").unwrap();
    let (head, body) = text.split_at(start + text[start..].find(';').unwrap());
    let swaps = [(" ^ ", " & "), ("low + high", "low ^ high"), (" & ", " | ")];
    let (old, new) = swaps.iter().find(|(old, _)| body.contains(old)).unwrap();
    let (before, after) = body.rsplit_once(old).unwrap();
    [head, before, new, after].concat()
}

#[test]
fn a_fault_in_the_verilog_fails_its_test_bench() {
    if missing(&["iverilog", "vvp"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let manifest = emit(&dir, &["--preset", "small"]);
    for name in [
        "spad_hash_bitvec_perm",
        "spad_hash_bitvec_xor",
        "spad_hash_bitwise_perm",
        "spad_hash_bitwise_xor",
        "spad_hash_matrix",
        "spad_hash_xor",
        "spad_hash_add",
        "spad_row_map",
        "spad_rap",
        "spad_scratchpad",
        "spad_sm_path",
    ] {
        let unit = units(&manifest).iter().find(|u| u["name"] == name).unwrap();
        let place = dir.join(format!("{name}.v"));
        let good = fs::read_to_string(&place).unwrap();
        fs::write(&place, with_a_fault(&good)).unwrap();
        let output = run_bench(&dir, unit);
        let printed = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {printed}");
        let last = printed.lines().last().unwrap();
        assert!(
            last.starts_with(&format!("FAIL {name} in cycle ")),
            "{last}"
        );
        assert!(printed.contains("expected"), "{printed}");
        fs::write(&place, good).unwrap();
    }
}

/// A module with both paths, every port of theirs a port of its own.
fn chip(tops: &[&Value]) -> String {
    let (mut ports, mut instances) = (Vec::new(), String::new());
    for (i, unit) in tops.iter().enumerate() {
        let mut connections = Vec::new();
        for port in unit["ports"].as_array().unwrap() {
            let name = port["name"].as_str().unwrap();
            let high = port["width"].as_u64().unwrap() - 1;
            let dir = format!("{}put wire", port["dir"].as_str().unwrap());
            let range = match high {
                0 => String::new(),
                _ => format!(" [{high}:0]"),
            };
            ports.push(format!("{dir}{range} p{i}_{name}"));
            connections.push(format!(".{name}(p{i}_{name})"));
        }
        let top = unit["top"].as_str().unwrap();
        instances += &format!("    {top} u{i} ({});\n", connections.join(", "));
    }
    format!(
        "module chip (\n    {}\n);\n{instances}endmodule\n",
        ports.join(",\n    ")
    )
}

#[test]
fn two_machines_live_in_one_chip() {
    if missing(&["verilator", "iverilog"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name);
    let options = ["spad_sm_path", "--bench-cycles", "0"];
    let machine = |dir: &str, more: &[&str]| emit(&at(dir), &[&options, more].concat());
    let big = machine("big", &["--preset", "gt200", "--prefix", "big_"]);
    let little = machine("little", &["--preset", "small", "--prefix", "little_"]);
    fs::write(at("chip.v"), chip(&[&units(&big)[0], &units(&little)[0]])).unwrap();
    let verilator = |folders: [&str; 2]| {
        let mut tool = Command::new("verilator");
        tool.args(["--lint-only", "-Wall", "--top-module", "chip", "chip.v"]);
        for folder in folders {
            tool.arg("-F").arg(at(folder).join("filelist.f"));
        }
        tool
    };
    let iverilog = |folders: [&str; 2]| {
        let mut tool = limited("iverilog");
        tool.args(["-g2005", "-Wall", "-t", "null", "-s", "chip", "chip.v"]);
        for folder in folders {
            for entry in fs::read_dir(at(folder)).unwrap() {
                let path = entry.unwrap().path();
                tool.args(path.extension().filter(|e| *e == "v").map(|_| &path));
            }
        }
        tool
    };
    silent(verilator(["big", "little"]).current_dir(&scratch));
    silent(iverilog(["big", "little"]).current_dir(&scratch));
    // What the prefix is for: without it, modules of two machines collide.
    machine("plain", &["--preset", "gt200"]);
    machine("plain too", &["--preset", "small"]);
    let output = iverilog(["plain", "plain too"])
        .current_dir(&scratch)
        .output();
    let output = output.unwrap();
    assert!(!output.status.success());
    assert!(
        printed(&output).contains("already declared"),
        "{}",
        printed(&output)
    );
    // Cores and constraints are told apart, too.
    let core = fs::read_to_string(at("big/spadkit.core")).unwrap();
    assert!(
        core.contains("name: spadkit:scratchpad:big_gt200:"),
        "{core}"
    );
    assert!(!core.contains(" spad_") && core.contains("- big_spad_sm_path.v"));
    assert!(at("big/sdc/big_spad_sm_path.sdc").exists());
}

/// What `sim` follows and the Verilog does not have is said, where the Verilog
/// has a scheduler at all.
#[test]
fn settings_of_the_simulator_alone_are_named() {
    let scratch = tempfile::tempdir().unwrap();
    let machine = scratch.path().join("machine.toml");
    let warnings = |policy: &str, unit: &str| {
        let text = format!("base = 'small'\n[scheduler]\ncount = 2\npolicy = '{policy}'\n");
        fs::write(&machine, text).unwrap();
        let config = machine.to_str().unwrap();
        let args = ["--force", "--bench-cycles", "0", unit, "--config", config];
        let output = emitted(&scratch.path().join("rtl"), &args);
        let lines = String::from_utf8(output.stderr).unwrap();
        let warnings = lines.lines().filter(|l| l.starts_with("warning: small: "));
        warnings.map(str::to_owned).collect::<Vec<_>>()
    };
    let both = warnings("gto", "spad_sm_path");
    assert!(
        both[0].contains("policy = \"gto\" is simulated only"),
        "{both:?}"
    );
    assert!(both[1].contains("count = 2 is simulated only"), "{both:?}");
    assert_eq!(warnings("conflict-aware", "spad_warp_scheduler").len(), 1);
    assert_eq!(warnings("two-level", "spad_crossbar"), [""; 0]);
}
