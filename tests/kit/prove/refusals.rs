//! What `prove` refuses, and what it does not decide.

use super::*;

/// A register that cannot hold every configuration would leave out cases.
#[test]
fn registers_that_are_none_are_refused() {
    if missing(&["yosys"]) {
        return;
    }
    let constant = [
        ("reg [2:0] k_q;", "wire [2:0] k_q = 3'd5; reg [2:0] other;"),
        ("k_q <=", "other <="),
        ("k_q <=", "other <="),
    ];
    let renamed = [
        ("reg [2:0] k_q;", "reg [2:0] k;"),
        (") k_q <=", ") k <="),
        (") k_q <=", ") k <="),
        ("(k_q)", "(k)"),
    ];
    let config = "spad_hash_config_bitvec_perm.v";
    let queue = [
        (
            "data_q[k*NMW +: NMW] <= in_data",
            "other[k*NMW +: NMW] <= in_data",
        ),
        (
            "data_q[k*NMW +: NMW] <= data_q[(k-1)*NMW +: NMW]",
            "other[k*NMW +: NMW] <= other[(k-1)*NMW +: NMW]",
        ),
        ("reg [NQ*NMW-1:0] data_q;", "reg [NQ*NMW-1:0] other;"),
        // The entry of each of the four stages, where it is offered.
        ("(data_q[", "(other["),
        ("(data_q[", "(other["),
        ("(data_q[", "(other["),
        ("(data_q[", "(other["),
    ];
    let cases = [
        ("spad_hash_bitvec_perm", config, &constant[..]),
        ("spad_hash_bitvec_perm", config, &renamed[..]),
        ("spad_nonmem_queue", "spad_nonmem_queue.v", &queue[..]),
    ];
    for (unit, file, edits) in cases {
        let rtl = Rtl::emit(None, &[]).edit(file, edits);
        let output = spadkit(&["prove", unit, "--rtl", rtl.path()])
            .assert()
            .code(2);
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
        unknown.contains("there are no proofs for unit 'spad_nothing'"),
        "{unknown}"
    );
    let absent = error(&["prove"], &[("SPADKIT_YOSYS", "/nowhere/yosys")], 3);
    assert!(
        absent.contains("this needs Yosys, which was not found"),
        "{absent}"
    );
    let none = error(&["prove", "spad_rap", "--timeout", "0"], &[], 2);
    assert!(none.contains("0 is not in 1..=1000000"), "{none}");
    if missing(&["yosys"]) {
        return;
    }
    for unit in ["spad_rap", "spad_relssp"] {
        let prove_in = |dir: &str| ["prove", unit, "--rtl", dir].map(str::to_owned);
        let error = |dir: &str, status: i32| {
            error(&prove_in(dir).each_ref().map(|a| a.as_str()), &[], status)
        };
        let nowhere = error("/nowhere", 2);
        assert!(nowhere.contains("/nowhere"), "{nowhere}");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap();
        let file = format!("{unit}.v");
        let no_file = error(path, 2);
        assert!(no_file.contains(&file), "{no_file}");
        let is_file = error("Cargo.toml", 2);
        assert!(is_file.contains("Cargo.toml"), "{is_file}");
        let rtl = Rtl::emit(None, &[]);
        // No Verilog at all, another module, other ports.
        let others = [
            "\u{0}garbage",
            "module other; endmodule",
            "module unit (input a); endmodule",
        ];
        for text in others {
            let text = text.replace(" unit ", &format!(" {unit} "));
            std::fs::write(rtl.out.join(&file), text).unwrap();
            let refused = error(rtl.path(), 3);
            assert!(refused.contains("Yosys"), "{refused}");
        }
        std::fs::write(rtl.out.join(&file), b"\xff\xfe").unwrap();
        let binary = error(rtl.path(), 2);
        assert!(binary.contains(&file), "{binary}");
    }
    // With one pass per warp instruction there is no queue.
    let wires = error(
        &[
            "prove",
            "spad_premem_queue",
            "--preset",
            "fermi",
            "--rtl",
            ".",
        ],
        &[],
        2,
    );
    assert!(wires.contains("depth 0"), "{wires}");
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
    let rtl = Rtl::emit(None, &[]);
    let units = ["spad_rap", "spad_writeback_mux"];
    let args = [
        &["prove"],
        &units[..],
        &["--timeout", "1", "--rtl", rtl.path()],
    ]
    .concat();
    let output = spadkit(&args).env("SPADKIT_YOSYS", &slow).assert().code(1);
    let json: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    for result in json["results"].as_array().unwrap() {
        assert_eq!(result["result"], "unknown");
        assert_eq!(result["reason"], "not decided in 1 s");
    }
}
