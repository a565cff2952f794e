//! The glue of `examples/neighbours` against emitted blocks, with stubs of the
//! neighbours' ports, and what `docs/guides/neighbours` says of it.

use super::missing;
use crate::common::tools::silent;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder(neighbour: &str) -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/neighbours");
    examples.join(neighbour)
}

/// Runs the command that the page of `neighbour` shows for the blocks, into `dir`.
fn emit(neighbour: &str, command: &str, dir: &Path) {
    let page = format!("docs/guides/neighbours/{neighbour}.md");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains(command), "{}: {command}", page.display());
    let arguments = command.strip_prefix("spadkit ").unwrap().split(' ');
    let output = Command::new(env!("CARGO_BIN_EXE_spadkit"))
        .args(arguments.map(|part| match part {
            "rtl" => dir.join("rtl").into(),
            part => std::ffi::OsString::from(part),
        }))
        .args(["--bench-cycles", "0"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

/// Verilator on the blocks in `dir` and these files of the neighbour's glue.
fn verilator(neighbour: &str, dir: &Path, files: &[&str]) -> Command {
    let glue = folder(neighbour);
    let mut command = Command::new("verilator");
    command
        .args(["-Wall", "--assert", "-F", "rtl/filelist_sv.f"])
        .arg(format!("-I{}", glue.display()))
        .args(files.iter().map(|file| glue.join(file)))
        .current_dir(dir);
    command
}

#[test]
fn glue_of_wires_is_lint_clean() {
    if missing(&["verilator"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let command = "spadkit emit --wrapper tcdm --reset async-low \
                   --config examples/neighbours/pulp/machine.toml -o rtl";
    emit("pulp", command, dir.path());
    let mut lint = verilator("pulp", dir.path(), &["stub.sv", "pulp_tcdm.sv"]);
    silent(lint.args(["--lint-only", "--top-module", "stub"]));
    let dir = tempfile::tempdir().unwrap();
    let command = "spadkit emit --wrapper stream \
                   --config examples/neighbours/ventus/machine.toml -o rtl";
    emit("ventus", command, dir.path());
    let mut lint = verilator("ventus", dir.path(), &["ventus_shared_memory.sv"]);
    silent(lint.args(["--lint-only", "--top-module", "ventus_shared_memory"]));
}

/// The ports of the memory that the glue has. What it says about sizes does not hang on the
/// memory itself, which takes a compiler half a minute.
const NO_MEMORY: &str = "
module spad_tcdm_sv
    import spad_pkg::*;
(
    input logic clk, rst_n, hash_wr_en, row_wr_en,
    input logic hash_wr_index, hash_wr_data, row_wr_index, row_wr_data,
    input tcdm_req_t [LANES-1:0] req,
    output tcdm_rsp_t [LANES-1:0] rsp,
    output logic idle
);
    assign {rsp, idle} = '0;
endmodule
";

/// Identifiers that do not fit would come back cut off.
#[test]
fn the_glue_for_pulp_stops_where_the_interfaces_have_another_size() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let command = "spadkit emit --wrapper tcdm --reset async-low \
                   --config examples/neighbours/pulp/machine.toml -o rtl";
    emit("pulp", command, dir.path());
    std::fs::write(dir.path().join("no_memory.sv"), NO_MEMORY).unwrap();
    let glue = folder("pulp");
    let mut other = Command::new("verilator");
    other
        .args(["-Wno-lint", "-DIW=20", "rtl/spad_pkg.sv", "no_memory.sv"])
        .arg(format!("-I{}", glue.display()))
        .args(["stub.sv", "pulp_tcdm.sv"].map(|file| glue.join(file)))
        .current_dir(dir.path());
    build(&mut other);
    let run = Command::new(dir.path().join("built/stub"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(!run.status.success(), "{text}");
    let expected = "port 0: emit spad_tcdm with IW = 20 and DW = 32";
    assert!(text.contains(expected), "{text}");
}

/// Builds the stub that `verilator` names.
fn build(verilator: &mut Command) {
    let fast = ["OPT_FAST=-O0", "OPT_GLOBAL=-O0"].map(|o| ["-MAKEFLAGS", o]);
    let output = verilator
        .args(["--binary", "--timing", "-j", "0"])
        .args(fast.as_flattened())
        .args(["--top-module", "stub", "--Mdir", "built", "-o", "stub"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

/// The stub's lanes load, store and add at random, and compare.
#[test]
fn the_local_memory_for_vortex_answers_its_lanes() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let command = "spadkit emit --wrapper tcdm --assertions \
                   --config examples/neighbours/vortex/machine.toml -o rtl";
    emit("vortex", command, dir.path());
    let files = ["stub.sv", "vortex_lane.sv", "VX_local_mem.sv"];
    let mut memory = verilator("vortex", dir.path(), &files);
    build(memory.arg("-DSPADKIT_RAM_ZEROS"));
    let run = Command::new(dir.path().join("built/stub"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{text}");
    assert!(text.starts_with("PASS vortex: 4018 additions\n"), "{text}");
    // As Vortex' own memory, it stops at what it does not perform.
    for wrong in ["+exchange", "+half"] {
        let run = Command::new(dir.path().join("built/stub"))
            .arg(wrong)
            .output();
        let run = run.unwrap();
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(!run.status.success(), "{wrong}: {text}");
        assert!(
            text.contains("other than the addition of a whole word"),
            "{text}"
        );
    }
    let mut older = verilator("vortex", dir.path(), &files);
    silent(older.args([
        "--lint-only",
        "--timing",
        "-DVORTEX_MEM_BUS",
        "--top-module",
        "stub",
    ]));
}

/// The black box in Scala has the ports of the Verilog.
#[test]
fn the_black_box_has_the_ports_of_the_block() {
    let dir = tempfile::tempdir().unwrap();
    let command = "spadkit emit spad_tcdm --preset small -o rtl";
    emit("chisel", command, dir.path());
    let manifest = std::fs::read(dir.path().join("rtl/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let ports = manifest["units"][0]["ports"].as_array().unwrap();
    let expected: Vec<String> = ports.iter().map(scala).collect();
    let text = std::fs::read_to_string(folder("chisel").join("SpadTcdm.scala")).unwrap();
    let opening = text.lines().skip_while(|line| !line.contains("new Bundle"));
    let found: Vec<&str> = opening
        .skip(1)
        .map(str::trim)
        .take_while(|line| *line != "})")
        .collect();
    assert_eq!(found, expected);
}

/// A port as Chisel declares it.
fn scala(port: &Value) -> String {
    let name = port["name"].as_str().unwrap();
    let way = if port["dir"] == "in" {
        "Input"
    } else {
        "Output"
    };
    let of = match (name, port["width"].as_u64().unwrap()) {
        ("clk", _) => "Clock()".to_owned(),
        (_, 1) => "Bool()".to_owned(),
        (_, width) => format!("UInt({width}.W)"),
    };
    format!("val {name} = {way}({of})")
}
