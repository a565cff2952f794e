//! Machines that are too large for a proof, and counterexamples as waveforms.

use super::{Rtl, TIMEOUT, missing, spadkit};
use serde_json::Value;

/// Of a machine that is too large, what the kit emits is proved in a small one;
/// an edit is not, and the message says how it is.
#[test]
fn a_large_machine_is_proved_in_a_small_one() {
    if missing(&["yosys"]) {
        return;
    }
    let unit = "spad_conflict_history";
    let rtl = Rtl::emit(None, &[unit]);
    let args = [&["prove", unit, "--rtl", rtl.path()], &TIMEOUT[..]].concat();
    let output = spadkit(&args).assert().success();
    let json: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    let results = json["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for result in results {
        assert_eq!(result["result"], "proved", "{result}");
        let covered = result["covered"].as_str().unwrap();
        assert!(covered.starts_with("quad: "), "{covered}");
    }
    let edited = rtl.edit(
        "spad_conflict_history.v",
        &[("endmodule", "// mine\nendmodule")],
    );
    let refused = spadkit(&["prove", unit, "--rtl", edited.path()])
        .assert()
        .code(2);
    let refused = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(refused.contains("--preset quad"), "{refused}");
}

/// A lock that is not given back: the run is a waveform.
#[test]
fn a_counterexample_is_a_waveform() {
    if missing(&["yosys"]) {
        return;
    }
    let unit = "spad_lock_unit";
    let rtl = Rtl::emit(Some("base = 'quad'\n"), &[unit]);
    let rtl = rtl.edit("spad_lock_unit.v", &[("(lock_q & ~asked)", "lock_q")]);
    let waves = rtl.dir.path().join("waves");
    let args = [
        "prove",
        unit,
        "--rtl",
        rtl.path(),
        "--wave",
        waves.to_str().unwrap(),
    ];
    spadkit(&rtl.args(&[&args[..], &TIMEOUT].concat()))
        .assert()
        .code(1);
    let files: Vec<_> = std::fs::read_dir(&waves).unwrap().collect();
    assert!(!files.is_empty());
    for file in files {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(
            name.starts_with("spad_lock_unit.") && name.ends_with(".vcd"),
            "{name}"
        );
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("$scope module spad_lock_unit $end"), "{text}");
        assert!(text.contains("#0\n") && text.contains("#10\n"), "{text}");
    }
}
