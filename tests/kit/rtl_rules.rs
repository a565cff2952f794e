//! The Verilog rules (docs/guides/integration.md), checked with three tools that
//! know nothing of the kit, and an outside test bench written from
//! `manifest.json` and `encode` alone.

mod optional;
mod outside;
mod parameters;
mod power_up;
mod text;

use crate::common::tools::missing;
use optional::{ATOMIC, FEW_ROWS, OPTIONAL, is_usual};
use serde_json::Value;
use spadkit::config::Config;
use spadkit::geometry::Geometry;
use spadkit::output::OwnedFolder;
use spadkit::rtl::{Design, EmittedUnit, Reset, SystemVerilog, write_design};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Geometries of the usual run: what is usual, and the fewest rows; the campaign
/// takes all 48.
const USUAL: [(u32, u32); 2] = [(14, 5), (9, 6)];

fn config(n: u32, m: u32) -> Config {
    let text = format!("[geometry]\naddr_bits = {n}\nbank_bits = {m}\n");
    Config::from_toml(&text, Path::new("test.toml")).unwrap()
}

/// Runs a tool that must succeed and print nothing.
fn silent(what: &str, command: &mut Command) {
    let output = command.output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&printed);
    assert!(
        output.status.success() && text.trim().is_empty(),
        "{what}: {text}"
    );
}

/// Lints the hash family in geometry (n, m); all units on the small machine.
fn check_rules(n: u32, m: u32) {
    check_units(&hash_units(), &config(n, m));
}

fn hash_units() -> Vec<String> {
    let family = ["spad_hash", "spad_row_map", "spad_rap"];
    let is_hash = |name: &String| family.iter().any(|p| name.starts_with(p));
    Design::all_units().into_iter().filter(is_hash).collect()
}

fn check_units(units: &[String], config: &Config) {
    check_design(&Design::emit(units, config).unwrap());
}

/// A folder that goes with the first, and in it the folder with the design.
fn written(design: &Design) -> (TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    write_design(design, &OwnedFolder::new(&dir, false)).unwrap();
    (scratch, dir)
}

fn check_design(design: &Design) {
    let (_scratch, dir) = written(design);
    for file in &design.files {
        let broken = text::broken_rules(&file.name, &file.text);
        assert!(broken.is_empty(), "{}: {broken:?}", file.name);
        let long = file.text.lines().find(|line| line.len() > 100);
        assert_eq!(long, None, "{} has a line over 100 columns", file.name);
    }
    let outermost: Vec<&EmittedUnit> = design
        .units
        .iter()
        .filter(|unit| is_outermost(unit, design))
        .collect();
    lint_units(&dir, &outermost);
}

/// Whether no other unit of the design has it. Tools read a unit again in each that does.
fn is_outermost(unit: &EmittedUnit, design: &Design) -> bool {
    let file = format!("{}.v", unit.name);
    let mut others = design.units.iter().filter(|other| other.name != unit.name);
    !others.any(|other| other.files.contains(&file))
}

/// Lints these units, all in one run of each tool.
fn lint_units(dir: &Path, units: &[&EmittedUnit]) {
    let files: BTreeSet<&String> = units.iter().flat_map(|unit| &unit.files).collect();
    let names: Vec<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
    let what = names.join(" ");
    let mut verilator = Command::new("verilator");
    // Each unit is a top of its own.
    verilator.args(["--lint-only", "-Wall", "-Wno-MULTITOP"]);
    silent(&what, verilator.args(&files).current_dir(dir));
    let mut iverilog = Command::new("iverilog");
    iverilog.args(["-g2005", "-Wall", "-t", "null"]);
    iverilog.args(names.iter().flat_map(|name| ["-s", name]));
    silent(&what, iverilog.args(&files).current_dir(dir));
    let files: Vec<&str> = files.into_iter().map(String::as_str).collect();
    let script = format!(
        "read_verilog {}; hierarchy -check; proc; select -assert-none t:$dlatch; check -assert",
        files.join(" "),
    );
    let mut yosys = Command::new("yosys");
    silent(&what, yosys.args(["-q", "-p", &script]).current_dir(dir));
}

#[test]
fn every_unit_is_lint_clean() {
    if missing(&["verilator", "iverilog", "yosys"]) {
        return;
    }
    for (n, m) in USUAL {
        check_rules(n, m);
    }
    let small = Design::emit(&[], &Config::preset("small").unwrap()).unwrap();
    check_design(&small);
    check_optional(is_usual);
}

#[test]
#[ignore = "part of make campaign"]
fn optional_units_of_other_machines_are_lint_clean() {
    check_optional(|machine| !is_usual(machine));
}

fn check_optional(chosen: impl Fn(&str) -> bool) {
    let few_rows: (&str, &[&str]) = (FEW_ROWS, &["spad_stream"]);
    let machines = OPTIONAL.into_iter().chain([few_rows]);
    for (machine, units) in machines.filter(|(machine, _)| chosen(machine)) {
        let config = Config::from_toml(machine, Path::new("test.toml")).unwrap();
        let units: Vec<String> = units.iter().map(|unit| unit.to_string()).collect();
        check_design(&Design::emit(&units, &config).unwrap());
    }
}

/// The path has every other unit but those of the bus.
#[test]
fn other_resets_are_lint_clean() {
    if missing(&["verilator", "iverilog", "yosys"]) {
        return;
    }
    let small = Config::preset("small").unwrap();
    let units = ["spad_sm_path", "spad_stream", "spad_tcdm"].map(str::to_owned);
    check_design(&Design::emit_with(&units, &small, Reset::Async).unwrap());
    let low = Design::emit_with(&units, &small, Reset::AsyncLow).unwrap();
    check_design(&low.with_timescale("1ns/1ps".parse().unwrap()));
}

/// What a machine can do without or have otherwise, as sections and keys.
const FEATURES: [(&str, &str); 9] = [
    ("path", "locks = 0"),
    ("path", "broadcast = false"),
    ("path", "merge_bytes = false"),
    ("path", "mem_stages = 3"),
    ("path", "ahead = 2"),
    ("geometry", "warp_size = 4"),
    ("geometry", "capacity_words = 96"),
    ("hash", "path = \"mod\""),
    ("hash", "stage = 1"),
];

/// Lints the path of a machine with these of the features.
fn lint_features(chosen: &[usize]) {
    let keys = |section: &str| -> String {
        let of_section = |&&i: &&usize| FEATURES[i].0 == section;
        let lines = chosen.iter().filter(of_section);
        lines.map(|&i| format!("{}\n", FEATURES[i].1)).collect()
    };
    let text = format!(
        "base = \"small\"\n[geometry]\naddr_bits = 9\nlanes = 4\n{}[path]\nwarps = 4\n\
         history_sets = 4\n{}[hash]\n{}",
        keys("geometry"),
        keys("path"),
        keys("hash"),
    );
    lint_path(&text);
}

/// Lints the whole path of a machine, and the scratchpad behind its buses:
/// Verilog, wrappers with structs, rules.
fn lint_path(text: &str) {
    lint_system_verilog(text, &with_system_verilog(text, Reset::Sync));
}

fn with_system_verilog(text: &str, reset: Reset) -> Design {
    let config = Config::from_toml(text, Path::new("test.toml")).unwrap();
    let units = ["spad_stream", "spad_tcdm", "spad_sm_path"].map(str::to_owned);
    let all = SystemVerilog {
        wrappers: true,
        assertions: true,
    };
    let design = Design::emit_with(&units, &config, reset).unwrap();
    design.with_system_verilog(all, &config).unwrap()
}

/// Lints a design with wrappers and assertions.
fn lint_system_verilog(machine: &str, design: &Design) {
    let (_scratch, dir) = written(design);
    for top in [
        "spad_stream_sv",
        "spad_obi_sv",
        "spad_tilelink_sv",
        "spad_sm_path",
    ] {
        let mut verilator = Command::new("verilator");
        verilator.args(["--lint-only", "-Wall", "--assert", "--top-module", top]);
        if design.style.reset.is_async() {
            // Assertions look at it with the clock.
            verilator.arg("-Wno-SYNCASYNCNET");
        }
        // A module with assertions replaces the one without.
        let mut files = design.in_system_verilog(&design.files);
        files.extend(design.system.iter().cloned());
        files.sort_by(|a, b| a.name.cmp(&b.name));
        files.dedup_by(|a, b| a.name == b.name);
        files.sort_by_key(|f| f.name != "spad_pkg.sv");
        for file in &files {
            assert_eq!(text::alike(&file.text), [""; 0], "{}", file.name);
        }
        silent(
            machine,
            verilator
                .args(files.iter().map(|f| &f.name))
                .current_dir(&dir),
        );
    }
}

#[test]
fn machines_without_a_feature_are_lint_clean() {
    if missing(&["verilator"]) {
        return;
    }
    lint_path("base = \"small\"\n[path]\nahead = 1\n");
    lint_path(&format!(
        "{ATOMIC}request_register = true\n[path]\nmerge_bytes = false\n"
    ));
    let all: Vec<usize> = (0..FEATURES.len()).collect();
    lint_features(&[]);
    lint_features(&all);
    // Wrappers and assertions follow the reset and have the timescale.
    let stream = "base = \"small\"\n[stream]\ntag_bits = 45\nmem_stages = 4\n";
    let low = with_system_verilog(stream, Reset::AsyncLow);
    let low = low.with_timescale("1ns/1ps".parse().unwrap());
    lint_system_verilog("active low", &low);
}

#[test]
#[ignore = "campaign: every set of features"]
fn every_set_of_features_is_lint_clean() {
    for set in 0..1usize << FEATURES.len() {
        let chosen: Vec<usize> = (0..FEATURES.len()).filter(|i| set >> i & 1 == 1).collect();
        lint_features(&chosen);
    }
}

/// A neighbour's instance, a macro's wrapper and a script for one machine are
/// right for the next.
#[test]
fn names_of_modules_do_not_depend_on_sizes() {
    for (preset, n, m) in [("small", 10, 3), ("fermi", 14, 5), ("gt200", 12, 3)] {
        for window in [0, 4] {
            let text = format!("base = \"{preset}\"\n[stream]\nwindow = {window}\n");
            let machine = Config::from_toml(&text, Path::new("test.toml")).unwrap();
            let design = Design::emit(&[], &machine).unwrap();
            assert_eq!(design.geometry, Geometry::new(n, m).unwrap());
            for file in &design.files {
                let digit = file.name.find(|c: char| c.is_ascii_digit());
                assert_eq!(digit, None, "{preset}: {}", file.name);
            }
        }
    }
}

/// The golden model may have several contexts of the retry loop, the RTL has one.
#[test]
fn contexts_that_the_rtl_does_not_have_are_refused() {
    let text = "base = \"small\"\n[retry]\ncontexts = 2\n";
    let config = |text: &str| Config::from_toml(text, Path::new("test.toml")).unwrap();
    let emit = |unit: &str, text: &str| Design::emit(&[unit.to_owned()], &config(text));
    let error = emit("spad_sm_path", text).unwrap_err().to_string();
    assert!(error.contains("one context of the retry loop"), "{error}");
    assert!(emit("spad_retry_sequencer", text).is_err());
    assert!(Design::emit(&[], &config(text)).is_err());
    assert!(emit("spad_scratchpad", text).is_ok());
    assert!(emit("spad_sm_path", &format!("{text}[path]\nlocks = 0\n")).is_ok());
}

#[test]
#[ignore = "part of make campaign"]
fn every_unit_alone_is_lint_clean() {
    let small = Design::emit(&[], &Config::preset("small").unwrap()).unwrap();
    let (_scratch, dir) = written(&small);
    for unit in &small.units {
        lint_units(&dir, &[unit]);
    }
}

#[test]
#[ignore = "campaign: every geometry"]
fn every_unit_is_lint_clean_in_every_geometry() {
    for g in Geometry::all() {
        check_rules(g.addr_bits(), g.bank_bits());
    }
}

fn spadkit_json(args: &[&str]) -> Value {
    let output = assert_cmd::Command::cargo_bin("spadkit")
        .unwrap()
        .args(args)
        .args(["--format", "json"])
        .output()
        .unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Simulates `bench` with the unit's files and returns what it printed.
fn simulate(dir: &Path, files: &[Value], bench: &str) -> String {
    simulate_with(&[], dir, files, bench)
}

/// The same with further options of the compiler.
fn simulate_with(options: &[&str], dir: &Path, files: &[Value], bench: &str) -> String {
    std::fs::write(dir.join("bench.v"), bench).unwrap();
    let mut iverilog = Command::new("iverilog");
    iverilog.args(["-g2005", "-o", "bench.vvp", "bench.v"]);
    iverilog.args(options);
    iverilog.args(files.iter().map(|f| f.as_str().unwrap()));
    silent("bench.v", iverilog.current_dir(dir));
    let output = Command::new("vvp")
        .arg("bench.vvp")
        .current_dir(dir)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
