//! The commands `trace` and `congestion`, from the outside.

use crate::common::{json, refused, spadkit};
use serde_json::Value;

#[test]
fn a_written_trace_has_the_conflicts_of_its_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fwt.json");
    let file = file.to_str().unwrap();
    let written = json(&["trace", "kernel:fwt:log2n=9", "-o", file]);
    assert_eq!(written["name"], "fwt");
    let from_file = json(&["conflicts", file, "--hash", "mod", "xor"]);
    let direct = json(&["conflicts", "kernel:fwt:log2n=9", "--hash", "mod", "xor"]);
    assert_eq!(from_file, direct);
    assert_eq!(written["accesses"], direct["accesses"]);
}

#[test]
fn every_listed_kernel_is_an_input() {
    let list = json(&["trace", "--list"]);
    for kernel in list["kernels"].as_array().unwrap() {
        let input = format!("kernel:{}", kernel["name"].as_str().unwrap());
        let result = json(&["conflicts", &input, "--hash", "mod"]);
        assert!(result["accesses"].as_u64().unwrap() > 0, "{input}");
    }
}

#[test]
fn bad_trace_inputs_leave_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.json");
    for (input, reason) in [
        ("kernel:fwd", "there is no kernel 'fwd'"),
        ("kernel:fwt:log2n=40", "log2n=40 is out of range"),
        ("launch.toml", "cannot read launch.toml"),
        ("no-such-file.json", "cannot read no-such-file.json"),
    ] {
        let error = refused(&["trace", input, "-o", file.to_str().unwrap()]);
        assert!(error.contains(reason), "{error}");
        assert!(!file.exists());
    }
    refused(&["trace", "kernel:fwt"]);
}

#[test]
fn congestion_is_the_same_with_any_number_of_threads() {
    let args = [
        "congestion",
        "--mapping",
        "3p",
        "--access",
        "malicious",
        "--width",
        "16",
        "--samples",
        "5000",
        "--format",
        "json",
    ];
    let with = |threads| {
        let mut command = spadkit(&args);
        let output = command.env("RAYON_NUM_THREADS", threads).assert().success();
        output.get_output().stdout.clone()
    };
    let one = with("1");
    assert_eq!(one, with("4"));
    let result: Value = serde_json::from_slice(&one).unwrap();
    assert_eq!(result["format_version"], 1);
    assert_eq!(result["dims"], 4);
    assert!((2.5..4.0).contains(&result["mean"].as_f64().unwrap()));
    assert!(result["max"].as_u64().unwrap() > 3);
}

#[test]
fn tables_stand_beside_the_published_values() {
    let table = json(&["congestion", "--table", "2", "--samples", "300"]);
    let rows = table["results"].as_array().unwrap();
    assert_eq!(rows.len(), 60);
    for row in rows {
        let [mean, published] = ["mean", "published"].map(|k| row[k].as_f64().unwrap());
        assert!((mean - published).abs() < 0.3, "{row}");
    }
    let table = json(&[
        "congestion",
        "--table",
        "4",
        "--samples",
        "100",
        "--width",
        "8",
    ]);
    assert_eq!(table["results"].as_array().unwrap().len(), 42);
}

#[test]
fn bad_congestion_options_are_usage_errors() {
    for (args, reason) in [
        ("--mapping rap --access stride1 --dims 2", "stride1 access"),
        ("--mapping 1p --access random --dims 2", "mapping 1p"),
        ("--mapping rap --access random --dims 3", "3 dimensions"),
        ("--mapping rap --access random --samples 0", "0 is not in"),
        ("--mapping rap --access random --width 1", "width 1"),
        ("--mapping rap --access random --width -4", "-4 is not in"),
        ("--mapping rap --access zigzag", "accesses are contiguous"),
        ("--mapping rap", "--access"),
        ("--table 5", "invalid value '5'"),
        ("--table 2 --width 64", "--width has no effect on --table 2"),
        ("--table 2 --latency 9", "--latency is for --table 3"),
        ("--table 4 --latency 9", "--latency is for --table 3"),
    ] {
        let args: Vec<&str> = std::iter::once("congestion")
            .chain(args.split(' '))
            .collect();
        let error = refused(&args);
        assert!(error.contains(reason), "{args:?}: {error}");
    }
}
