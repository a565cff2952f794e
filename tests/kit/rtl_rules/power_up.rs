//! From power-up: what is unknown, and until when.

use super::{simulate, simulate_with, spadkit_json};
use crate::common::tools::missing;
use serde_json::Value;
use std::path::Path;

/// Outputs that are anything until something has happened for the first time:
/// of parts of the path, whose registers a valid bit covers.
const UNKNOWN_AT_FIRST: [(&str, &[&str], &str); 2] = [
    (
        "spad_conflict_arbiter",
        &["grp_bank", "grp_row"],
        "req_valid && req_ready",
    ),
    (
        "spad_atomic_bank",
        &["dout", "written", "at"],
        "unit.busy_q",
    ),
];

/// Outputs that show words of the scratchpad: unknown where a word has not been
/// written, since the banks power up with unknown words.
const WORDS: [(&str, &[&str]); 7] = [
    ("spad_atomic_bank", &["dout", "written"]),
    ("spad_bank_ram", &["dout"]),
    ("spad_scratchpad", &["resp_data"]),
    ("spad_sm_path", &["wb_data"]),
    ("spad_stream", &["rsp_data"]),
    ("spad_tcdm", &["tcdm_r_rdata"]),
    ("spad_wide_stream", &["rsp_data"]),
];

/// What a bench from power-up prints: with unknown words in the banks, where
/// nothing else may be unknown, and with zeros, where nothing may.
pub fn from_power_up(dir: &Path, unit: &Value) -> String {
    let files = unit["files"].as_array().unwrap();
    let words = WORDS.iter().find(|(name, _)| *name == unit["name"]);
    let words = words.map_or(&[][..], |(_, words)| words);
    let printed = simulate(dir, files, &power_up(unit, words));
    if !words.is_empty() {
        let zeros = ["-DSPADKIT_RAM_ZEROS"];
        let with_zeros = simulate_with(&zeros, dir, files, &power_up(unit, &[]));
        assert_eq!(with_zeros, printed, "{}", unit["name"]);
    }
    printed
}

/// Four-state simulation from power-up: no unit with a clock has an unknown
/// output after the reset, whatever its inputs do; nearly all have before.
#[test]
fn outputs_are_known_from_the_reset_on() {
    if missing(&["iverilog", "vvp"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let manifest = spadkit_json(&["emit", "--preset", "small", "-o", dir.to_str().unwrap()]);
    let units = manifest["units"].as_array().unwrap().iter();
    let clocked = |u: &&Value| ports_of(u, "in").any(|(name, _)| name == "clk");
    let (mut units_seen, mut unknown_before) = (0, 0);
    for unit in units.filter(clocked) {
        let printed = from_power_up(&dir, unit);
        let after = printed.strip_prefix("unknown before the reset\n");
        assert_eq!(after.unwrap_or(&printed), "done", "{}", unit["name"]);
        units_seen += 1;
        unknown_before += u32::from(after.is_some());
    }
    assert!(
        units_seen > 20 && unknown_before > 15,
        "{unknown_before} of {units_seen}"
    );
}

/// The same of the blocks to integrate, with registers in front of the hash
/// that have no reset.
#[test]
#[ignore = "part of make campaign"]
fn blocks_with_a_hash_stage_are_known_from_the_reset_on() {
    if missing(&["iverilog", "vvp"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let machine = scratch.path().join("machine.toml");
    std::fs::write(&machine, "base = 'small'\n[hash]\nstage = 1\n").unwrap();
    let dir = scratch.path().join("rtl");
    let blocks = ["spad_sm_path", "spad_stream", "spad_tcdm"];
    let options = ["--config", machine.to_str().unwrap(), "-o"];
    let args = [&["emit"], &blocks[..], &options, &[dir.to_str().unwrap()]].concat();
    let manifest = spadkit_json(&args);
    for unit in manifest["units"].as_array().unwrap() {
        let printed = from_power_up(&dir, unit);
        assert_eq!(
            printed, "unknown before the reset\ndone",
            "{}",
            unit["name"]
        );
    }
}

/// Names and widths of a unit's ports in one direction.
fn ports_of<'a>(unit: &'a Value, dir: &'a str) -> impl Iterator<Item = (&'a str, u64)> {
    let ports = unit["ports"].as_array().unwrap().iter();
    let ports = ports.filter(move |p| p["dir"] == dir);
    ports.map(|p| (p["name"].as_str().unwrap(), p["width"].as_u64().unwrap()))
}

/// A bench with two cycles of reset, then random inputs; the outputs `words` may
/// be unknown.
fn power_up(unit: &Value, words: &[&str]) -> String {
    let (mut declarations, mut connections) = (String::new(), Vec::new());
    let (mut zero, mut random, mut unknown) = (String::new(), String::new(), String::new());
    for (name, width) in ports_of(unit, "in") {
        declarations += &format!("reg [{}:0] {name};\n", width - 1);
        connections.push(format!(".{name}({name})"));
        zero += &format!("{name} = 0; ");
        if !["clk", "rst"].contains(&name) {
            random += &format!("for (k = 0; k < {width}; k = k + 1) {name}[k] = $random;\n");
        }
    }
    let of_unit = |entry: &&(&str, _, _)| entry.0 == unit["name"];
    let (_, late, event) = UNKNOWN_AT_FIRST
        .iter()
        .find(of_unit)
        .unwrap_or(&("", &[], "1"));
    for (name, width) in ports_of(unit, "out") {
        declarations += &format!("wire [{}:0] {name};\n", width - 1);
        connections.push(format!(".{name}({name})"));
        if words.contains(&name) {
            continue;
        }
        let shows = if late.contains(&name) {
            "happened"
        } else {
            "1"
        };
        unknown += &format!(
            "if ({shows} && ^{name} === 1'bx) $display(\"{name} unknown in cycle %0d\", t);\n"
        );
    }
    let outputs: Vec<_> = ports_of(unit, "out").map(|(name, _)| name).collect();
    format!(
        "module bench; integer t, k; reg happened = 0;\n{declarations}\
         {} unit({});\n\
         initial begin\n{zero}\n\
         #1 if (^{{{}}} === 1'bx) $display(\"unknown before the reset\");\n\
         rst = 1; #1 clk = 1; #1 clk = 0; #1 clk = 1; #1 clk = 0; rst = 0;\n\
         for (t = 0; t < 100; t = t + 1) begin\n{random}\
         #1 {unknown}if ({event}) happened = 1;\n\
         clk = 1; #1 clk = 0; end\n\
         $display(\"done\"); end\nendmodule\n",
        unit["name"].as_str().unwrap(),
        connections.join(", "),
        outputs.join(", "),
    )
}
