//! `emit --wrapper`, `--assertions`, `--prefix`, `--period`: what is written,
//! and that Verilator has nothing to say about it.

use super::missing;
use super::rtl::text;
use std::fs;
use std::path::Path;
use std::process::Command;

fn emit(dir: &Path, options: &[&str]) -> (bool, String) {
    let mut spadkit = assert_cmd::Command::cargo_bin("spadkit").unwrap();
    let output = spadkit
        .args([
            "emit",
            "-q",
            "--bench-cycles",
            "0",
            "-o",
            dir.to_str().unwrap(),
        ])
        .args(options)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), text)
}

/// Verilator on everything in `dir`, from `top` downward.
fn lint(dir: &Path, top: &str) {
    let mut verilator = Command::new("verilator");
    verilator.args(["--lint-only", "--assert", "-Wall", "--top-module", top]);
    let output = verilator.args(["-F", "filelist_sv.f"]).current_dir(dir);
    let output = output.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.trim().is_empty(), "{text}");
}

#[test]
fn wrappers_with_structs_and_rules_are_lint_clean() {
    if missing(&["verilator"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let config = scratch.path().join("machine.toml");
    for (name, stages) in [("plain", (2, 0)), ("ahead", (4, 3))] {
        fs::write(&config, text(stages.0, stages.1)).unwrap();
        let dir = scratch.path().join(name);
        let options = ["--wrapper", "stream", "--wrapper", "tcdm", "--assertions"];
        let machine = ["spad_sm_path", "--config", config.to_str().unwrap()];
        let (done, errors) = emit(&dir, &[&options[..], &machine].concat());
        assert!(done, "{name}: {errors}");
        for top in [
            "spad_stream_sv",
            "spad_obi_sv",
            "spad_tilelink_sv",
            "spad_tcdm_sv",
            "spad_sm_path",
        ] {
            lint(&dir, top);
        }
    }
}

/// Accesses of 16 bytes: structs of four words a lane.
#[test]
fn wrappers_of_wide_accesses_are_lint_clean() {
    if missing(&["verilator"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let config = scratch.path().join("machine.toml");
    let wide = text(2, 0).replace("warp_size = 8\n", "warp_size = 4\nwide = 'phases'\n");
    for (name, stream) in [
        ("plain", ""),
        ("atomic", "[stream]\nwindow = 2\natomics = true\n"),
    ] {
        fs::write(&config, format!("{wide}{stream}")).unwrap();
        let dir = scratch.path().join(name);
        let options = ["--wrapper", "wide-stream", "--assertions", "--config"];
        let (done, errors) = emit(&dir, &[&options[..], &[config.to_str().unwrap()]].concat());
        assert!(done, "{name}: {errors}");
        lint(&dir, "spad_wide_stream_sv");
        let sdc = fs::read_to_string(dir.join("sdc/spad_wide_stream.sdc")).unwrap();
        assert!(sdc.contains("set_false_path -from [get_ports {cfg_lock_hash"));
        let sv = fs::read_to_string(dir.join("spad_wide_stream_sv.sv")).unwrap();
        assert!(sv.contains("wide_req_t req") && sv.contains(".req_size(req.size)"));
        assert_eq!(sv.contains("req.aop"), name == "atomic");
    }
    // A machine of one word a lane has none.
    fs::write(&config, text(2, 0)).unwrap();
    let options = ["--wrapper", "wide-stream", "--config"];
    let dir = scratch.path().join("none");
    let (done, errors) = emit(&dir, &[&options[..], &[config.to_str().unwrap()]].concat());
    assert!(!done && errors.contains("has no spad_phases"), "{errors}");
    assert!(!dir.exists());
}

/// A tag of another type, and two machines in one design.
#[test]
fn wrappers_take_any_tag_under_any_prefix() {
    if missing(&["verilator"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let options = ["--preset", "small", "--wrapper", "stream", "--prefix", "a_"];
    let (done, text) = emit(&dir, &options);
    assert!(done, "{text}");
    let around = "typedef struct packed { logic [4:0] warp; logic [2:0] slot; } mine_t;
module around import a_spad_pkg::*; (input logic clk, rst, req_valid, rsp_ready,
        input stream_req_t req, input mine_t req_tag, output logic req_ready, rsp_valid, idle,
        output stream_rsp_t rsp, output mine_t rsp_tag);
    a_spad_stream_sv #(.tag_t(mine_t)) it (.cfg_lock_hash(LOCK_HASH_XOR),
        .hash_wr_en(1'b0), .hash_wr_index('0), .hash_wr_data('0),
        .row_wr_en(1'b0), .row_wr_index('0), .row_wr_data('0), .*);
endmodule\n";
    let list = fs::read_to_string(dir.join("filelist_sv.f")).unwrap();
    assert!(
        list.ends_with("a_spad_pkg.sv\na_spad_stream_sv.sv\n"),
        "{list}"
    );
    fs::write(dir.join("around.sv"), around).unwrap();
    fs::write(dir.join("filelist_sv.f"), list + "around.sv\n").unwrap();
    let text = fs::read_to_string(dir.join("a_spad_stream_sv.sv")).unwrap();
    let registers = text.contains("hash_wr_en");
    let without = |line: &&str| registers || !line.contains("_wr_");
    let kept: Vec<&str> = around.lines().filter(without).collect();
    fs::write(dir.join("around.sv"), kept.join("\n") + "\n").unwrap();
    // One file holds a type and a module.
    let mut verilator = Command::new("verilator");
    verilator.args([
        "--lint-only",
        "-Wall",
        "-Wno-DECLFILENAME",
        "--top-module",
        "around",
    ]);
    let output = verilator.args(["-F", "filelist_sv.f"]).current_dir(&dir);
    let output = output.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.trim().is_empty(), "{text}");
}

#[test]
fn constraints_have_the_budget_that_was_asked_for() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let options = [
        "--preset",
        "small",
        "--wrapper",
        "stream",
        "--period",
        "1.5",
    ];
    let (done, text) = emit(&dir, &[&options[..], &["--io-budget", "0.6,0.25"]].concat());
    assert!(done, "{text}");
    let sdc = fs::read_to_string(dir.join("sdc/spad_stream.sdc")).unwrap();
    for line in [
        "{ set spadkit_period 1.5 }",
        "{ set spadkit_input_delay 0.6 }",
        "{ set spadkit_output_delay 0.25 }",
        "\nset_false_path -from [get_ports {cfg_lock_hash[*]}]",
    ] {
        assert!(sdc.contains(line), "{line}: {sdc}");
    }
    for bad in [
        ["--period", "0"],
        ["--period", "nan"],
        ["--io-budget", "0.5"],
        ["--io-budget", "0.5,1"],
        ["--io-budget", "-0.1,0.5"],
    ] {
        let (done, text) = emit(&dir, &[&options[..4], &bad].concat());
        assert!(!done && text.contains("expected"), "{bad:?}: {text}");
    }
}
