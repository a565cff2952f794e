//! `spadkit` as a command, and what it prints; external tools.
#![allow(dead_code, reason = "each file of tests uses a part")]

pub mod changed;
pub mod edited;
pub mod judge;
pub mod recorded;
pub mod suggested;
pub mod tools;

use assert_cmd::Command;
use serde_json::Value;

/// `spadkit` with `args`, in the folder of the repository.
pub fn spadkit(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args);
    command
}

/// The one JSON object of `stdout`, which has nothing else.
pub fn json_of(stdout: &[u8]) -> Value {
    let value: Value = serde_json::from_slice(stdout).expect("one JSON value on standard output");
    assert!(value.is_object());
    assert_eq!(value["format_version"], 1);
    value
}

/// The JSON of a command that must succeed.
pub fn json(args: &[&str]) -> Value {
    let output = spadkit(args).args(["--format", "json"]).assert().success();
    json_of(&output.get_output().stdout)
}

/// The text output of a command that must succeed, with unwrapped lines.
pub fn text(args: &[&str]) -> String {
    let output = spadkit(args).env("COLUMNS", "1000").assert().success();
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

/// The error, in one line, of a command that must end with status 2 and print
/// nothing else.
pub fn refused(args: &[&str]) -> String {
    let output = spadkit(args).env("COLUMNS", "500").assert().code(2);
    let output = output.get_output();
    assert!(output.stdout.is_empty(), "{args:?}");
    in_one_line(&String::from_utf8(output.stderr.clone()).unwrap())
}

/// An error, which is folded, without its line ends.
pub fn in_one_line(text: &str) -> String {
    let words = text.split_whitespace().filter(|w| !["│", "\\"].contains(w));
    words.collect::<Vec<_>>().join(" ")
}

/// `12,345`, as the documents write numbers.
pub fn with_commas(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", with_commas(number / 1000), number % 1000),
    }
}

/// Lines of points without the checks at their ends, so that they can be edited.
pub fn without_checks(text: &str) -> String {
    let unchecked = |line: &str| match line.split_once(",\"check\":") {
        Some((content, _)) => format!("{content}}}\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(unchecked).collect()
}
