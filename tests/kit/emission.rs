//! The files that `emit` writes beside the Verilog, in use: the test benches in
//! Icarus Verilog, two machines in one chip, the constraints in OpenSTA, the
//! core in FuseSoC, the file list from another folder.

use crate::common::tools::{OSU018, missing, missing_optional, printed, silent};
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

/// Every unit's bench passes, and compares at least this many outputs in its 128
/// cycles.
fn prove_in_icarus(style: &[&str], compared: u64) {
    prove_units_in_icarus(style, compared, 31);
}

/// The same of at least so many units.
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
