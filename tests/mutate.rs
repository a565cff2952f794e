//! A short version of `make mutate`: injected faults are caught or proved
//! equivalent, and a bench that looks away would not catch them.

use assert_cmd::Command;
use serde_json::Value;

#[test]
fn injected_faults_are_caught_or_proved_equivalent() {
    for tool in ["verilator", "c++", "yosys"] {
        if which::which(tool).is_err() {
            println!("skipped: {tool} is missing");
            return;
        }
    }
    let output = Command::cargo_bin("spadkit")
        .unwrap()
        .args([
            "mutate",
            "spad_hash_bitvec_xor",
            "spad_hash_config_bitvec_perm",
        ])
        .args(["--faults", "60", "--seeds", "1", "--format", "json"])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    for result in json["results"].as_array().unwrap() {
        let number = |key: &str| result[key].as_u64().unwrap();
        assert_eq!(number("injected"), 60, "{result}");
        assert_eq!(number("caught") + number("equivalent"), 60, "{result}");
        // Most faults of a multiplexer change something.
        assert!(number("caught") >= 50, "{result}");
    }
}
