//! A missing tool skips a test, or fails it where tools are required.

use crate::common::tools::missing;
use std::path::Path;
use std::process::{Command, Output};

/// Not a test of its own: `run` starts it with a tool to ask for.
#[test]
#[ignore = "a process of the next test"]
fn ask() {
    if let Ok(tool) = std::env::var("ASKED_TOOL") {
        println!("missing: {}", missing(&["sh", &tool]));
    }
}

/// `ask` in a process with this `SPADKIT_REQUIRE_TOOLS`.
fn run(tool: &str, required: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["tools::ask", "--exact", "--ignored", "--nocapture"]);
    command.env("ASKED_TOOL", tool);
    command.env_remove("SPADKIT_REQUIRE_TOOLS");
    command.envs(required.map(|value| ("SPADKIT_REQUIRE_TOOLS", value)));
    command.output().unwrap()
}

#[test]
fn a_missing_tool_skips_or_fails() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let there = file.path().to_str().unwrap();
    for required in [None, Some("0"), Some("1")] {
        let output = run(there, required);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{required:?}: {text}");
        assert!(text.contains("missing: false"), "{required:?}: {text}");
    }
    let absent = "/nowhere/tool";
    for required in [None, Some("0")] {
        let output = run(absent, required);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{required:?}: {text}");
        assert!(text.contains("skipped: /nowhere/tool is missing"), "{text}");
        assert!(text.contains("missing: true"), "{text}");
    }
    let output = run(absent, Some("1"));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(text.contains("/nowhere/tool is missing, and"), "{text}");
}

/// A file of tests that looks for tools by itself would be skipped in CI.
#[test]
fn tests_ask_the_one_helper() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let (mut open, mut own, mut files) = (vec![tests.clone()], Vec::new(), 0);
    while let Some(folder) = open.pop() {
        for item in std::fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let name = path.strip_prefix(&tests).unwrap().to_owned();
                own.extend(text.contains(concat!("which", "::which")).then_some(name));
                files += 1;
            }
        }
    }
    assert!(files > 100);
    assert_eq!(own, [Path::new("kit/common/tools.rs")]);
}
