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

/// The message of a refused proof, in one line.
fn refusal(args: &[&str]) -> String {
    let refused = spadkit(args).assert().code(2);
    let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A unit that exists by an option has a small machine with this option: the message
/// says which, and what it says can be done.
#[test]
fn an_edit_of_an_optional_unit_can_be_proved_as_the_message_says() {
    if missing(&["yosys"]) {
        return;
    }
    let (unit, file) = ("spad_atomic_bank", "spad_atomic_bank.v");
    let edit = [("endmodule", "// mine\nendmodule")];
    let large = "base = 'small'\n[stream]\nwindow = 2\n[tcdm]\natomics = true\n";
    let rtl = Rtl::emit(Some(large), &[unit]).edit(file, &edit);
    let message = refusal(&rtl.args(&["prove", unit, "--rtl", rtl.path()]));
    assert!(message.contains("banks of four rows"), "{message}");
    let (_, rest) = message.split_once("write the lines ").unwrap();
    let (lines, rest) = rest.split_once(" to M.toml, then ").unwrap();
    let command = format!("prove {unit} --config M.toml --rtl DIR");
    assert!(rest.contains(&command), "{message}");
    let machine = lines.replacen(" and ", "\n", 1);
    let rtl = Rtl::emit(Some(&machine), &[unit]).edit(file, &edit);
    let args = [&["prove", unit, "--rtl", rtl.path()], &TIMEOUT[..]].concat();
    spadkit(&rtl.args(&args)).assert().success();
}

/// Circuits and solver know one style of reset.
#[test]
fn verilog_with_another_reset_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let rtl = scratch.path().join("rtl");
    let rtl = rtl.to_str().unwrap();
    let unit = "spad_premem_queue";
    let pair = ["--preset", "pair"];
    for (style, named) in [
        (&["--reset", "async"][..], "is asynchronous;"),
        (&["--active-low"], "is active low;"),
        (&["--reset", "async-low"], "is asynchronous and active low;"),
    ] {
        let args = [
            &["emit", unit, "--bench-cycles", "0", "-o", rtl],
            &pair[..],
            style,
        ]
        .concat();
        spadkit(&args).assert().success();
        let message = refusal(&[&["prove", unit, "--rtl", rtl], &pair[..]].concat());
        assert!(message.contains(named), "{message}");
    }
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
