//! The system of `examples/soc`: what its command does, and what is said of it.

use super::missing;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/soc");
const ABOUT: &str = include_str!("../../../examples/README.md");
const BENCH: &str = include_str!("../../../examples/soc/soc_tb.sv");

/// What the command prints, with everything built in `build`.
fn run(build: &Path) -> String {
    let output = Command::new("make")
        .args(["-C", FOLDER, "OPT=-O0"])
        .arg(format!("SPADKIT={}", env!("CARGO_BIN_EXE_spadkit")))
        .arg(format!("BUILD={}", build.display()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    text
}

/// The number before `cycles` or `,` that follows `step` in a line of the bench.
fn cycles(line: &str, step: &str) -> u32 {
    let text = line.split_once(step).expect(step).1.trim_start();
    let digits = text.split(|c: char| !c.is_ascii_digit()).next();
    digits.unwrap().parse().unwrap()
}

#[test]
fn the_example_system_moves_transposes_and_counts() {
    if missing(&["verilator", "c++", "make"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = run(folder.path());
    let lines = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    let (plain, hashed) = (lines("interleaved:"), lines("hashed:"));
    // A column of the matrix is in one bank, which takes a word a cycle: the hash
    // spreads it.
    assert!(cycles(plain, "transpose") > 200);
    assert!(cycles(hashed, "transpose") < 140);
    // Lanes on one bin are counted together, under either mapping.
    let counted = [plain, hashed].map(|line| cycles(line, "histogram"));
    assert!(counted[0].abs_diff(counted[1]) < 10, "{counted:?}");
    for line in [plain, hashed, lines("PASS soc: ")] {
        assert!(ABOUT.contains(line), "examples/README.md lacks: {line}");
    }
}

/// The registers in the bench are those that `encode` prints for the mapping that
/// it names.
#[test]
fn the_bench_has_the_registers_of_its_hash() {
    let spec = "bitwise-xor:0^4,1^5,2^6";
    for text in [BENCH, ABOUT] {
        assert!(text.contains(&format!("spadkit encode {spec} --config machine.toml")));
    }
    let output = Command::new(env!("CARGO_BIN_EXE_spadkit"))
        .args(["encode", spec, "--format", "json", "--config"])
        .arg(Path::new(FOLDER).join("machine.toml"))
        .output()
        .unwrap();
    let encoding: Value = serde_json::from_slice(&output.stdout).unwrap();
    let values = |registers: &Value| -> Vec<u64> {
        let values = registers.as_array().unwrap().iter();
        values.map(|value| value.as_u64().unwrap()).collect()
    };
    let hash = values(&encoding["path"]["registers"]);
    let written: Vec<String> = hash.iter().map(|value| format!("'h{value:x}")).collect();
    let text = format!("HASH[BANK_BITS] = '{{{}}};", written.join(", "));
    assert!(BENCH.contains(&text), "{text}");
    // The row map after a reset.
    let rows = values(&encoding["row_map"]["registers"]);
    assert!(rows.iter().all(|value| *value == 0), "{rows:?}");
}
