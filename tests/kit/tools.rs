//! A missing tool skips a test, or fails it where tools are required.

use crate::common::tools::{missing, missing_ptxas};
use spadkit::tool::ToolKind;
use std::path::Path;
use std::process::{Command, Output};

/// Not a test of its own: `run` starts it with a tool to ask for.
#[test]
#[ignore = "a process of the next tests"]
fn ask() {
    if let Ok(tool) = std::env::var("ASKED_TOOL") {
        let missing = match tool.as_str() {
            "ptxas" => missing_ptxas(&[ToolKind::Ptxas]),
            tool => missing(&["sh", tool]),
        };
        println!("missing: {missing}");
    }
}

/// `ask` in a process in which `variable` is `required` and a `ptxas` is nowhere;
/// and what it adds to the tests that are skipped.
fn run(tool: &str, variable: &str, required: Option<&str>) -> (Output, String) {
    let folder = tempfile::tempdir().unwrap();
    let skipped = folder.path().join("skipped");
    let mut command = Command::new(std::env::current_exe().unwrap());
    // Without --nocapture: what it says of a skipped test is seen all the same.
    command.args(["tools::ask", "--exact", "--ignored", "--show-output"]);
    command.env("ASKED_TOOL", tool);
    command.env("SPADKIT_PTXAS", "/nowhere/ptxas");
    command.env("SPADKIT_SKIPPED", &skipped);
    command.env_remove("SPADKIT_REQUIRE_TOOLS");
    command.env_remove("SPADKIT_REQUIRE_PTXAS");
    command.envs(required.map(|value| (variable, value)));
    let output = command.output().unwrap();
    (
        output,
        std::fs::read_to_string(&skipped).unwrap_or_default(),
    )
}

/// A tool that is missing skips its test, which is counted, or fails it.
fn skips_or_fails(tool: &str, variable: &str) {
    for required in [None, Some("0")] {
        let (output, skipped) = run(tool, variable, required);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{required:?}: {text}");
        assert!(text.contains("missing: true"), "{text}");
        let note = format!("skipped: tools::ask: {tool} is missing\n");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), note);
        assert_eq!(skipped, format!("{tool}\ttools::ask\n"));
    }
    let (output, skipped) = run(tool, variable, Some("1"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success());
    let why = format!("{tool} is missing, and {variable}=1");
    assert!(text.contains(&why), "{text}");
    assert_eq!(skipped, "");
}

#[test]
fn a_missing_tool_skips_or_fails() {
    let variable = "SPADKIT_REQUIRE_TOOLS";
    let file = tempfile::NamedTempFile::new().unwrap();
    let there = file.path().to_str().unwrap();
    for required in [None, Some("0"), Some("1")] {
        let (output, skipped) = run(there, variable, required);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{required:?}: {text}");
        assert!(text.contains("missing: false"), "{required:?}: {text}");
        assert_eq!(skipped, "");
    }
    skips_or_fails("/nowhere/tool", variable);
}

/// `SPADKIT_REQUIRE_TOOLS` is of the tools that `make deps` installs.
#[test]
fn a_missing_ptxas_skips_or_fails() {
    skips_or_fails("ptxas", "SPADKIT_REQUIRE_PTXAS");
    let (output, skipped) = run("ptxas", "SPADKIT_REQUIRE_TOOLS", Some("1"));
    assert!(output.status.success());
    assert_eq!(skipped, "ptxas\ttools::ask\n");
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
