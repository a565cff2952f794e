//! The commands that need external tools, as processes: `doctor` and `synth`,
//! with tools that are installed, missing, broken, hanging or interrupted.

mod broken_tools;

use crate::common::recorded;
use crate::common::tools::{OSU018, missing};
use assert_cmd::Command;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// `spadkit` with a cache of its own.
fn spadkit(cache: &Path) -> Command {
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.env("COLUMNS", "1000");
    command.env("SPADKIT_CACHE", cache);
    command
}

fn script(directory: &Path, body: &str) -> PathBuf {
    let path = directory.join("tool");
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Standard error without the frame and the line breaks of the report.
fn message(output: &std::process::Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let words = text.split(|c: char| c.is_whitespace() || "│×╭╰─┬".contains(c));
    words
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// What synthesis runs, and the library that it takes if no other is given.
const TOOLS: [&str; 3] = ["yosys", "sta", OSU018];

#[test]
fn doctor_tells_what_is_missing_and_fails_only_when_strict() {
    let dir = tempfile::tempdir().unwrap();
    let doctor = |extra: &[&str]| {
        let mut command = spadkit(dir.path());
        command
            .env("SPADKIT_YOSYS", "/nowhere/yosys")
            .arg("doctor")
            .args(extra);
        command.output().unwrap()
    };
    let plain = doctor(&[]);
    assert_eq!(plain.status.code(), Some(0));
    let text = String::from_utf8(plain.stdout).unwrap();
    assert!(
        text.contains("missing") && text.contains("apt install yosys"),
        "{text}"
    );
    assert_eq!(doctor(&["--strict"]).status.code(), Some(3));
    let json: Value = serde_json::from_slice(&doctor(&["--format", "json"]).stdout).unwrap();
    let yosys = json["tools"]
        .as_array()
        .unwrap()
        .iter()
        .find(|t| t["tool"] == "yosys");
    assert_eq!(yosys.unwrap()["found"], false);
    assert_eq!(yosys.unwrap()["minimum"], "0.23");
    assert_eq!(json["format_version"], 1);
}

#[test]
fn synth_gives_the_agreed_json_and_a_chart() {
    let dir = tempfile::tempdir().unwrap();
    if missing(&TOOLS) {
        return;
    }
    let chart = dir.path().join("chart.svg");
    let mut command = spadkit(dir.path());
    command.args(["synth", "spad_hash_xor", "spad_hash_bitvec_perm"]);
    command.args(["--period", "400,2000", "--format", "json", "--chart"]);
    let output = command.arg(&chart).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["tech"], "osu018");
    assert!(json["tools"]["yosys"].is_string() && json["tools"]["sta"].is_string());
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    for field in [
        "cells",
        "area_um2",
        "nand2_equivalents",
        "delay_ps",
        "power_mw",
        "delay_fo4",
    ] {
        assert!(
            results.iter().all(|r| r[field].as_f64().unwrap() > 0.0),
            "{field}"
        );
    }
    // Five XOR gates of two inputs.
    assert_eq!(results[0]["unit"], "spad_hash_xor");
    assert_eq!(results[0]["geometry"]["addr_bits"], 14);
    assert_eq!(results[0]["period_ps"], 400);
    assert_eq!(results[0]["cells_by_type"]["XOR2X1"], 5);
    let totals = json["per_sm"].as_array().unwrap();
    let per_sm = totals.iter().find(|t| t["unit"] == "spad_hash_bitvec_perm");
    let per_sm = per_sm.unwrap();
    let area = |name: &str| per_sm[name].as_f64().unwrap();
    let total = 32.0 * area("unit_area_um2") + area("config_area_um2");
    assert_eq!(area("area_um2"), total);
    assert_eq!(json["published_40nm"][0]["latency_ps"][0], 269);
    let chart = std::fs::read_to_string(chart).unwrap();
    assert!(chart.starts_with("<svg ") && chart.contains("bit-vector permutation"));
}

#[test]
fn files_that_are_no_library_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        let chart = dir.path().join("chart.svg");
        let mut command = spadkit(dir.path());
        command
            .args(["synth", "spad_hash_xor", "--chart"])
            .arg(&chart);
        let output = command.arg("--liberty").arg(&path).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", message(&output));
        assert!(output.stdout.is_empty() && !chart.exists());
        message(&output)
    };
    let text = refused("a.lib", b"module m;\nendmodule\n");
    assert!(
        text.contains("not a Liberty file") && text.contains("a.lib:1:1"),
        "{text}"
    );
    assert!(refused("b.lib", b"").contains("not a Liberty file"));
    assert!(refused("c.lib", &[0, 159, 146, 150, 255, 0]).contains("not a Liberty file"));
    assert!(refused("d.lib.gz", &[0x1f, 0x8b, 8, 0, 1, 2]).contains("cannot be decompressed"));
    let cut = refused("e.lib", b"library (l) {\n  cell (A) {\n    area : 1;\n");
    assert!(
        cut.contains("cut off") && cut.contains("e.lib:4:1"),
        "{cut}"
    );
    assert!(refused("f.lib", b"library (l) { cell (A) { area : 1; } }").contains("no buffer"));
    let missing = |arguments: &[&str]| {
        let output = spadkit(dir.path())
            .arg("synth")
            .args(arguments)
            .output()
            .unwrap();
        (output.status.code(), message(&output))
    };
    let directory = dir.path().to_str().unwrap();
    assert_eq!(missing(&["--liberty", directory]).0, Some(2));
    let (status, text) = missing(&["--tech", "osu999"]);
    assert!(
        status == Some(2) && text.contains("technologies are nangate45, osu018"),
        "{text}"
    );
    let (status, text) = missing(&["spad_nothing"]);
    assert!(status == Some(2) && text.contains("units are"), "{text}");
    assert_eq!(missing(&["--period", "0"]).0, Some(2));
    assert_eq!(missing(&["--period", "fast"]).0, Some(2));
}

/// The results of `spadkit synth ARGS` with a cache in `dir`.
fn synth(dir: &Path, args: &[&str]) -> Value {
    let output = spadkit(dir)
        .args(["synth", "--format", "json"])
        .args(args)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A unit with a clock is rated by OpenSTA's period, which ABC's delay is a
/// part of; with --effort speed a target that ABC's area mapping misses comes
/// nearer, and one that it meets is met with the same netlist.
#[test]
fn speed_shortens_the_period_where_area_misses_it() {
    let dir = tempfile::tempdir().unwrap();
    if missing(&TOOLS) {
        return;
    }
    let unit = "spad_warp_scheduler";
    let run = |effort| {
        let args = [
            unit,
            "--preset",
            "small",
            "--period",
            "500,50000",
            "--effort",
        ];
        let json = synth(dir.path(), &[&args[..], &[effort]].concat());
        assert_eq!(json["effort"], effort);
        json
    };
    let (area, speed) = (run("area"), run("speed"));
    let number = |json: &Value, i: usize, field: &str| {
        let value = &json["results"][i][field];
        value.as_f64().unwrap_or_else(|| panic!("{field}: {value}"))
    };
    for json in [&area, &speed] {
        let gap = [0, 1].map(|i| number(json, i, "sta_delay_ps") - number(json, i, "delay_ps"));
        // None where the longest path goes from an input to an output.
        assert!(
            gap.iter().all(|&ps| ps >= 0.0) && gap.iter().any(|&ps| ps > 0.0),
            "{gap:?}"
        );
        for i in 0..2 {
            assert_eq!(number(json, i, "rated_ps"), number(json, i, "sta_delay_ps"));
        }
        let rated = [0, 1].map(|i| number(json, i, "area_um2") * number(json, i, "rated_ps"));
        let best = &json["best"][0];
        let product = best["area_um2"].as_f64().unwrap() * best["rated_ps"].as_f64().unwrap();
        assert_eq!(product, rated[0].min(rated[1]));
    }
    let (slow, fast) = (number(&area, 0, "rated_ps"), number(&speed, 0, "rated_ps"));
    assert!(fast < 0.95 * slow, "{fast} against {slow} ps");
    assert!(number(&speed, 0, "area_um2") > number(&area, 0, "area_um2"));
    assert_eq!(speed["results"][1], area["results"][1]);

    let text = spadkit(dir.path())
        .args(["synth", unit, "--preset", "small", "--period", "50000"])
        .output()
        .unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    let marked = format!("* {:.1}", number(&area, 1, "sta_delay_ps"));
    assert!(
        text.contains("osu018, effort area:") && text.contains(&marked),
        "{text}"
    );
}

#[test]
fn edited_verilog_is_measured_in_place_of_the_emitted() {
    let dir = tempfile::tempdir().unwrap();
    if missing(&TOOLS) {
        return;
    }
    let rtl = dir.path().join("rtl");
    let rtl_arg = rtl.to_str().unwrap();
    let units = ["spad_hash_xor", "spad_row_map"];
    let emit = spadkit(dir.path())
        .args(["emit", "--preset", "small", "-o", rtl_arg])
        .args(units)
        .output();
    assert!(emit.unwrap().status.success());
    let args = ["--preset", "small", "--period", "1000", "--rtl", rtl_arg];
    let cells = |json: &Value, i: usize| json["results"][i]["cells"].as_u64().unwrap();

    // Without UNIT: what the folder has. It has no registers, hence no totals
    // but of the fixed hash, which needs none.
    let emitted = synth(dir.path(), &args);
    let results = emitted["results"].as_array().unwrap();
    let names: Vec<_> = results
        .iter()
        .map(|r| r["unit"].as_str().unwrap())
        .collect();
    assert_eq!(names, units);
    let totals = emitted["per_sm"].as_array().unwrap();
    assert_eq!(totals.len(), 1);
    assert_eq!(totals[0]["unit"], "spad_hash_xor");
    assert_eq!(cells(&emitted, 0), 3); // three bank bits, one XOR each

    let module = "module spad_hash_xor (input [9:0] addr, output [2:0] bank);\n\
                  assign bank = addr[2:0] ^ addr[5:3] ^ addr[8:6];\nendmodule\n";
    std::fs::write(rtl.join("spad_hash_xor.v"), module).unwrap();
    let edited = synth(dir.path(), &[&["spad_hash_xor"], &args[..]].concat());
    assert_eq!(cells(&edited, 0), 6);

    let refused = |args: &[&str]| {
        let output = spadkit(dir.path())
            .arg("synth")
            .args(args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", message(&output));
        message(&output)
    };
    let other = refused(&["spad_hash_xor", "--period", "1000", "--rtl", rtl_arg]);
    assert!(
        other.contains("port 'addr' is 10 bits wide, expected 14"),
        "{other}"
    );
    let absent = refused(&["spad_hash_add", "--rtl", rtl_arg]);
    assert!(absent.contains("spad_hash_add.v"), "{absent}");
    let nothing = refused(&["--rtl", dir.path().to_str().unwrap()]);
    assert!(nothing.contains("has no unit of fermi"), "{nothing}");
    refused(&["--features", "--rtl", rtl_arg]);
}

/// A folder may have Verilog with any style of reset. Recovery checks of asynchronous
/// ones are not the slowest paths.
#[test]
fn verilog_with_another_reset_is_measured() {
    measured_with("--reset async-low");
}

#[test]
#[ignore = "part of make campaign"]
fn verilog_with_an_asynchronous_reset_is_measured() {
    measured_with("--reset async");
}

fn measured_with(style: &str) {
    let dir = tempfile::tempdir().unwrap();
    if missing(&TOOLS) {
        return;
    }
    let unit = "spad_writeback_mux";
    let delay = |style: &str| {
        let rtl = dir.path().join(style);
        let emit = spadkit(dir.path())
            .args(["emit", unit, "--preset", "small"])
            .args(style.split(' '))
            .arg("-o")
            .arg(&rtl)
            .output()
            .unwrap();
        assert!(emit.status.success(), "{}", message(&emit));
        let rtl = rtl.to_str().unwrap();
        let args = [unit, "--preset", "small", "--period", "1000", "--rtl", rtl];
        let measured = synth(dir.path(), &args);
        measured["results"][0]["sta_delay_ps"].as_f64().unwrap()
    };
    let usual = delay("--reset sync");
    let other = delay(style);
    assert!(
        other > 0.8 * usual && other < 1.25 * usual,
        "{other}, not {usual}"
    );
}

/// A library that makes the technology valid; the tools are fake.
const TINY: &str = include_str!("../fixtures/tiny.lib");

/// What the hash units must reach in 45 nm (n = 14, m = 5): area in µm² and
/// delay in ps of one unit at one of three target periods, area of an SM.
const TARGETS_45NM: [(&str, f64, f64, f64); 5] = [
    ("spad_hash_bitvec_perm", 50.0, 170.0, 2000.0),
    ("spad_hash_bitvec_xor", 125.0, 245.0, 4500.0),
    ("spad_hash_bitwise_perm", 65.0, 160.0, 2800.0),
    ("spad_hash_bitwise_xor", 160.0, 235.0, 6000.0),
    ("spad_hash_matrix", 160.0, 235.0, 6000.0),
];

#[test]
fn hash_units_reach_the_targets_in_45_nm() {
    let dir = tempfile::tempdir().unwrap();
    let Some(library) = recorded::library() else {
        return;
    };
    if missing(&TOOLS) {
        return;
    }
    let mut command = spadkit(dir.path());
    command
        .arg("synth")
        .args(TARGETS_45NM.map(|t| t.0))
        .args(["--period", "80,150,250"]);
    command.args(["--format", "json", "--liberty"]).arg(library);
    let output = command.output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (unit, area, delay, sm_area) in TARGETS_45NM {
        let points: Vec<(f64, f64)> = json["results"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|r| r["unit"] == unit)
            .map(|r| {
                (
                    r["area_um2"].as_f64().unwrap(),
                    r["delay_ps"].as_f64().unwrap(),
                )
            })
            .collect();
        assert_eq!(points.len(), 3);
        let reached = points.iter().any(|(a, d)| *a <= area && *d <= delay);
        assert!(
            reached,
            "{unit}: none of {points:?} is within {area} µm² and {delay} ps"
        );
        let sm = json["per_sm"]
            .as_array()
            .unwrap()
            .iter()
            .find(|t| t["unit"] == unit);
        let total = sm.unwrap()["area_um2"].as_f64().unwrap();
        assert!(total <= sm_area, "{unit}: {total} µm² per SM");
    }
}
