//! The command `prove`: what is right is proved, and what is wrong is not.

use assert_cmd::Command;
use serde_json::Value;
use spadkit::tool::{Kind, Toolbox};
use std::path::Path;
use tempfile::TempDir;

/// Whether Yosys is there; where not, says that the test is skipped.
fn yosys() -> bool {
    let found = Toolbox::new().get_optional(Kind::Yosys).unwrap().is_some();
    if !found {
        eprintln!("skipped: Yosys is not installed");
    }
    found
}

fn spadkit(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command
        .args(args)
        .args(["--format", "json", "--preset", "small", "-q"]);
    command
}

/// Exit status and results of `prove`.
fn prove(args: &[&str]) -> (i32, Vec<Value>) {
    let output = spadkit(&[&["prove"], args].concat()).output().unwrap();
    let status = output.status.code().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"));
    (status, json["results"].as_array().unwrap().clone())
}

/// The emitted Verilog with an edit of one file.
fn edited(file: &str, edit: impl Fn(&str) -> String) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    spadkit(&["emit", "-o", dir.path().to_str().unwrap()])
        .assert()
        .success();
    let path = dir.path().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = edit(&text);
    assert_ne!(text, changed, "the edit of {file} changes nothing");
    std::fs::write(path, changed).unwrap();
    dir
}

/// The result of each property of `unit` with the Verilog of `dir`.
fn results(unit: &str, dir: &Path) -> (i32, Vec<(String, Value)>) {
    let (status, results) = prove(&[unit, "--rtl", dir.to_str().unwrap()]);
    let sat = results.into_iter().filter(|r| r["method"] != "exhaustive");
    let named = sat.map(|r| (r["property"].as_str().unwrap().to_owned(), r));
    (status, named.collect())
}

fn number(text: &Value) -> u32 {
    let text = text
        .as_str()
        .unwrap_or_else(|| panic!("{text} is no number"));
    u32::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

#[test]
fn every_unit_is_proved() {
    if !yosys() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    spadkit(&["emit", "-o", dir.path().to_str().unwrap()])
        .assert()
        .success();
    // From a directory: the machine's own geometry only.
    let (status, results) = prove(&["--rtl", dir.path().to_str().unwrap()]);
    assert_eq!(status, 0);
    for result in &results {
        assert_eq!(result["result"], "proved", "{result}");
        assert_eq!(result["geometry"]["addr_bits"], 10);
    }
    let count = |property| results.iter().filter(|r| r["property"] == property).count();
    assert_eq!(count("function"), 9);
    assert_eq!(count("bijection"), 9 + 4, "9 by SAT, 4 by exhaustion, too");
    assert_eq!(count("registers"), 8);
    assert_eq!(count("reset"), 8);
}

#[test]
fn the_usual_geometries_are_proved_of_a_fixed_hash() {
    if !yosys() {
        return;
    }
    let (status, results) = prove(&["spad_hash_add"]);
    assert_eq!(status, 0);
    assert_eq!(results.len(), 2 * 6);
}

#[test]
fn a_wrong_address_bit_gives_a_counterexample_that_is_one() {
    if !yosys() {
        return;
    }
    let dir = edited("spad_hash_bitvec_perm.v", |t| {
        t.replacen("addr[4]", "addr[5]", 1)
    });
    let (status, results) = results("spad_hash_bitvec_perm", dir.path());
    assert_eq!(status, 1);
    let (_, function) = &results[0];
    assert_eq!(function["result"], "disproved");
    let values = &function["counterexample"]["values"];
    let (k, addr) = (number(&values["k"]), number(&values["addr"]));
    assert!(k <= 7, "the configuration is legal");
    assert_eq!(number(&values["expected"]), addr >> k & 7);
    assert_ne!(number(&values["bank"]), addr >> k & 7);
}

/// Each edit and which properties it breaks.
#[test]
fn mutants_are_disproved() {
    if !yosys() {
        return;
    }
    type Mutant = (
        &'static str,
        &'static str,
        fn(&str) -> String,
        &'static [&'static str],
    );
    let mutants: [Mutant; 12] = [
        (
            "spad_hash_bitvec_xor",
            "spad_hash_decode_bitvec_xor.v",
            |t| t.replacen("4'd6", "4'd7", 1),
            &["function", "bijection"],
        ),
        (
            "spad_hash_bitwise_perm",
            "spad_hash_decode_bit.v",
            |t| t.replacen("4'd7", "4'd6", 1),
            &["function", "bijection"],
        ),
        (
            "spad_hash_bitwise_xor",
            "spad_hash_decode_pair.v",
            |t| t.replacen("is_second[4] &", "is_second[4] |", 1),
            &["function", "bijection"],
        ),
        (
            "spad_hash_matrix",
            "spad_hash_matrix.v",
            |t| t.replacen("addr[9]", "addr[8]", 1),
            &["function", "bijection"],
        ),
        (
            "spad_hash_xor",
            "spad_hash_xor.v",
            |t| t.replacen(" ^ ", " | ", 1),
            &["function", "bijection"],
        ),
        // Another hash, but a bijection still.
        (
            "spad_hash_add",
            "spad_hash_add.v",
            |t| t.replacen("low + high", "low ^ high", 1),
            &["function"],
        ),
        (
            "spad_rap",
            "spad_rap.v",
            |t| t.replacen("column + shift", "column | shift", 1),
            &["function", "bijection"],
        ),
        (
            "spad_row_map",
            "spad_row_map.v",
            |t| t.replacen("addr[5]", "addr[4]", 1),
            &["function", "bijection"],
        ),
        (
            "spad_hash_config_matrix",
            "spad_hash_config_matrix.v",
            |t| t.replacen("r1 <= wr_data", "r0 <= wr_data", 1),
            &["registers"],
        ),
        (
            "spad_hash_config_bitwise_perm",
            "spad_hash_config_bitwise_perm.v",
            |t| t.replacen("r2 <= 4'd2", "r2 <= 4'd3", 1),
            &["registers", "reset"],
        ),
        // What a simulator sets at its start does not count as reset.
        (
            "spad_hash_config_bitvec_perm",
            "spad_hash_config_bitvec_perm.v",
            |t| {
                t.replacen("reg [2:0] k;", "reg [2:0] k = 0;", 1).replacen(
                    "k <= 3'd0;",
                    "k <= k;",
                    1,
                )
            },
            &["registers", "reset"],
        ),
        // What nothing defines may be any value.
        (
            "spad_rap",
            "spad_rap.v",
            |t| t.replacen("(column + shift)", "(column + shift) | 3'b00x", 1),
            &["function", "bijection"],
        ),
    ];
    for (unit, file, edit, broken) in mutants {
        let dir = edited(file, edit);
        let (status, results) = results(unit, dir.path());
        assert_eq!(status, 1, "{unit}");
        for (property, result) in results {
            let expected = if broken.contains(&property.as_str()) {
                "disproved"
            } else {
                "proved"
            };
            assert_eq!(result["result"], expected, "{unit}, {file}: {result}");
            assert_eq!(
                result["counterexample"].is_object(),
                expected == "disproved"
            );
        }
    }
}

/// A register that cannot hold every configuration would leave out cases.
#[test]
fn registers_that_are_none_are_refused() {
    if !yosys() {
        return;
    }
    let file = "spad_hash_config_bitvec_perm.v";
    let constant = |t: &str| {
        let t = t.replacen("reg [2:0] k;", "wire [2:0] k = 3'd5; reg [2:0] other;", 1);
        t.replace("k <=", "other <=")
    };
    let renamed = |t: &str| {
        t.replace("reg [2:0] k;", "reg [2:0] kk;")
            .replace("k <=", "kk <=")
            .replace("(k)", "(kk)")
    };
    for dir in [edited(file, constant), edited(file, renamed)] {
        let args = [
            "prove",
            "spad_hash_bitvec_perm",
            "--rtl",
            dir.path().to_str().unwrap(),
        ];
        let output = spadkit(&args).assert().code(2);
        let error = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(error.contains("does not have the registers"), "{error}");
    }
}

#[test]
fn bad_usage_and_missing_tools() {
    let error = |args: &[&str], variables: &[(&str, &str)], status: i32| {
        let mut command = spadkit(args);
        command.envs(variables.iter().copied());
        let output = command.assert().code(status);
        String::from_utf8_lossy(&output.get_output().stderr).into_owned()
    };
    let unknown = error(&["prove", "spad_nothing"], &[], 2);
    assert!(
        unknown.contains("nothing is proved of a unit 'spad_nothing'"),
        "{unknown}"
    );
    let missing = error(&["prove"], &[("SPADKIT_YOSYS", "/nowhere/yosys")], 3);
    assert!(missing.contains("Yosys is needed"), "{missing}");
    if yosys() {
        let empty = tempfile::tempdir().unwrap();
        let args = ["prove", "spad_rap", "--rtl", empty.path().to_str().unwrap()];
        let no_file = error(&args, &[], 2);
        assert!(no_file.contains("spad_rap.v"), "{no_file}");
    }
}

/// A solver that takes too long has proved nothing.
#[test]
fn what_is_not_decided_is_no_success() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let slow = dir.path().join("yosys");
    let script = "#!/bin/sh\n[ \"$1\" = -V ] && { echo 'Yosys 0.23 (fake)'; exit 0; }\nsleep 60\n";
    std::fs::write(&slow, script).unwrap();
    std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o755)).unwrap();
    let rtl = edited("spad_rap.v", |t| format!("{t}\n"));
    let args = [
        "prove",
        "spad_rap",
        "--timeout",
        "1",
        "--rtl",
        rtl.path().to_str().unwrap(),
    ];
    let output = spadkit(&args).env("SPADKIT_YOSYS", &slow).assert().code(1);
    let json: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    for result in json["results"].as_array().unwrap() {
        assert_eq!(result["result"], "unknown");
        assert_eq!(result["reason"], "not decided in 1 s");
    }
}
