//! The file list, the constraints in OpenSTA, the core in FuseSoC.

use super::{emit, units, with_a_fault};
use crate::common::tools::{OSU018, missing, missing_optional, printed, silent};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_file_list_works_from_any_folder() {
    if missing(&["verilator", "iverilog"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let unit = "spad_hash_config_matrix";
    emit(&dir, &[unit, "--preset", "small", "--bench-cycles", "0"]);
    let list = dir.join("filelist.f");
    let mut verilator = Command::new("verilator");
    verilator.args(["--lint-only", "-Wall", "--top-module", unit, "-F"]);
    silent(verilator.arg(&list).current_dir("/"));
    let mut iverilog = Command::new("iverilog");
    iverilog.args([
        "-g2005",
        "-Wall",
        "-t",
        "null",
        "-s",
        unit,
        "-f",
        "filelist.f",
    ]);
    silent(iverilog.current_dir(&dir));
    let text = fs::read_to_string(list).unwrap();
    for way in [
        "verilator -F",
        "iverilog -y FOLDER",
        "cd FOLDER; iverilog -f",
    ] {
        assert!(text.contains(way), "{text}");
    }
}

/// A module with the unit's ports and nothing inside.
fn empty_netlist(unit: &Value) -> String {
    let ports = unit["ports"].as_array().unwrap();
    let name = |port: &Value| port["name"].as_str().unwrap().to_owned();
    let names: Vec<String> = ports.iter().map(name).collect();
    let declaration = |port: &Value| {
        let high = port["width"].as_u64().unwrap() - 1;
        let dir = port["dir"].as_str().unwrap();
        match high {
            0 => format!("{dir}put {};\n", name(port)),
            _ => format!("{dir}put [{high}:0] {};\n", name(port)),
        }
    };
    let declarations: String = ports.iter().map(declaration).collect();
    let top = unit["top"].as_str().unwrap();
    format!(
        "module {top} ({});\n{declarations}endmodule\n",
        names.join(", ")
    )
}

/// Runs OpenSTA on a script; what it printed.
fn sta(dir: &Path, script: &str) -> String {
    fs::write(dir.join("run.tcl"), script).unwrap();
    let mut sta = Command::new("sta");
    let output = sta
        .args(["-no_splash", "-exit", "run.tcl"])
        .current_dir(dir);
    printed(&output.output().unwrap())
}

#[test]
fn opensta_takes_the_constraints_of_every_unit() {
    if missing(&["sta", "yosys", OSU018]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let manifest = emit(
        &dir.join("rtl"),
        &["--preset", "small", "--bench-cycles", "0"],
    );
    // Every port of every unit is found; a clock each, and delays on all data.
    let mut script = format!("read_liberty {OSU018}\n");
    for unit in units(&manifest) {
        let top = unit["top"].as_str().unwrap();
        fs::write(dir.join(format!("{top}.v")), empty_netlist(unit)).unwrap();
        script += &format!(
            "puts \"unit {top}\"\nread_verilog {top}.v\nlink_design {top}\n\
             read_sdc rtl/sdc/{top}.sdc\n\
             check_setup -verbose -no_clock -no_input_delay -no_output_delay\n\
             puts \"clocks [llength [all_clocks]]\"\n"
        );
    }
    let printed = sta(dir, &script);
    let parts: Vec<&str> = printed.split("unit ").skip(1).collect();
    assert_eq!(parts.len(), units(&manifest).len(), "{printed}");
    for part in parts {
        assert!(
            part.ends_with("clocks 1\n") || part.ends_with("clocks 1"),
            "{part}"
        );
        for bad in ["Warning", "Error", "no clocks", "missing set_"] {
            assert!(!part.contains(bad), "{part}");
        }
    }
    // A mapped block is timed with the period that the user sets.
    let unit = "spad_hash_xor";
    let map = format!(
        "read_verilog rtl/{unit}.v; synth -top {unit}; abc -liberty {OSU018}; clean; \
         write_verilog -noattr mapped.v"
    );
    silent(
        Command::new("yosys")
            .args(["-q", "-p", &map])
            .current_dir(dir),
    );
    let printed = sta(
        dir,
        &format!(
            "read_liberty {OSU018}\nread_verilog mapped.v\nlink_design {unit}\n\
             set spadkit_period 4.0\nread_sdc rtl/sdc/{unit}.sdc\nreport_checks\n"
        ),
    );
    assert!(printed.contains("slack"), "{printed}");
    for delay in ["1.20", "4.00", "-1.20"] {
        assert!(printed.contains(delay), "{delay}: {printed}");
    }
}

#[test]
fn fusesoc_lints_and_simulates_the_core() {
    if missing_optional("fusesoc") || missing(&["verilator", "iverilog", "make"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let options = [
        "--preset",
        "small",
        "--prefix",
        "a_",
        "--bench-cycles",
        "64",
    ];
    let some = ["spad_hash_xor", "spad_lock_unit", "spad_scratchpad"];
    emit(&dir, &[&some[..], &options].concat());
    let run = |target: &str| {
        let mut fusesoc = Command::new("fusesoc");
        fusesoc.args(["--cores-root", "rtl", "run", "--target", target]);
        let core = "spadkit:scratchpad:a_small";
        let fusesoc = fusesoc.arg(core).current_dir(&scratch);
        fusesoc.env("HOME", scratch.path()).output().unwrap()
    };
    for target in ["lint", "lint_a_spad_hash_xor", "sim", "sim_a_spad_hash_xor"] {
        let output = run(target);
        assert!(output.status.success(), "{target}: {}", printed(&output));
        let passed = printed(&output).matches("PASS a_spad_").count();
        let expected = match target {
            "sim" => 3,
            "sim_a_spad_hash_xor" => 1,
            _ => 0,
        };
        assert_eq!(passed, expected, "{target}: {}", printed(&output));
    }
    let place = dir.join("a_spad_hash_xor.v");
    let good = fs::read_to_string(&place).unwrap();
    fs::write(&place, with_a_fault(&good)).unwrap();
    let output = run("sim");
    assert!(!output.status.success(), "{}", printed(&output));
    assert!(printed(&output).contains("FAIL a_spad_hash_xor"));
}
