//! Tools that are missing, old, mad, crash, hang or leave children running.

use super::*;
use crate::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

fn tool(directory: &Path, body: &str) -> Tool {
    let program = fake::yosys(directory, body);
    Toolbox::new()
        .with(ToolKind::Yosys, program)
        .get(ToolKind::Yosys)
        .unwrap()
}

/// The message and the help of a failed tool.
fn failure(error: Error) -> (String, String) {
    assert_eq!(error.exit_status(), 3);
    let text = error.to_string();
    match error {
        Error::ToolFailed { help, .. } => (text, help.unwrap_or_default()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn input_arguments_directory_and_both_streams_pass_through() {
    let dir = tempfile::tempdir().unwrap();
    let tool = tool(dir.path(), "cat; pwd; echo \"$X $1\" >&2");
    assert_eq!(tool.version.to_string(), "0.23");
    let command = tool.command().arg("a b").env("X", "y").stdin("in\n");
    let output = command.cwd(dir.path()).run().unwrap();
    let here = dir.path().canonicalize().unwrap();
    assert_eq!(output.stdout, format!("in\n{}\n", here.display()));
    assert_eq!(output.stderr, "y a b\n");
    assert!(output.log().ends_with("y a b\n"));
}

#[test]
fn a_missing_tool_is_named_with_how_to_get_it() {
    let tools = Toolbox::new().with(ToolKind::Yosys, "/nowhere/yosys");
    let error = tools.get(ToolKind::Yosys).unwrap_err();
    assert_eq!(error.exit_status(), 3);
    match error {
        Error::ToolMissing { tool, help } => {
            assert_eq!(tool, "Yosys");
            assert!(help.contains("/nowhere/yosys"), "{help}");
            assert!(help.contains("apt install yosys"), "{help}");
            assert!(help.contains("SPADKIT_YOSYS"), "{help}");
        }
        other => panic!("{other:?}"),
    }
    assert!(tools.get_optional(ToolKind::Yosys).unwrap().is_none());
}

/// Two builds of one version are told apart in what results depend on.
#[test]
fn all_that_a_tool_reports_about_itself_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let build_of = |text: &str| {
        let program = fake::script(dir.path(), "tool", &format!("echo '{text}'"));
        let tools = Toolbox::new().with(ToolKind::Yosys, program);
        tools.get(ToolKind::Yosys).unwrap()
    };
    let (one, other) = (
        build_of("Yosys 0.23 (git 1)"),
        build_of("Yosys 0.23+99 (git 2)"),
    );
    assert_eq!(one.version, other.version);
    assert_ne!(one.build, other.build);
}

/// A tool's output is kept in memory: a full folder for temporary files cuts nothing.
#[test]
fn the_log_of_a_tool_is_not_cut_by_a_limit_of_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let body = "ls -l /proc/self/fd/1; ls -l /proc/self/fd/0";
    let output = tool(dir.path(), body).command().run().unwrap();
    let in_memory = output.stdout.matches("memfd:").count();
    assert_eq!(in_memory, 2, "{}", output.stdout);
}

#[test]
fn old_and_mad_tools_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let version_of = |body| {
        let program = fake::script(dir.path(), "tool", body);
        let tools = Toolbox::new().with(ToolKind::Yosys, program);
        let tools = tools.version_timeout(Duration::from_millis(300));
        failure(tools.get(ToolKind::Yosys).unwrap_err()).0
    };
    let old = version_of("echo 'Yosys 0.9'");
    assert!(
        old.contains("0.9") && old.contains("too old: 0.23"),
        "{old}"
    );
    let other = version_of("echo 'Sally 1.2'");
    assert!(other.contains("does not report its version"), "{other}");
    assert!(version_of("true").contains("does not report its version"));
    assert!(version_of("exit 7").contains("exit status 7"));
    assert!(version_of("sleep 60").contains("did not finish in 0.3 s"));
}

#[test]
fn failures_carry_the_end_of_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let body =
        "i=0; while [ $i -lt 50 ]; do echo line $i; i=$((i+1)); done; echo ERROR: no >&2; exit 4";
    let (what, help) = failure(tool(dir.path(), body).command().run().unwrap_err());
    assert_eq!(what, "Yosys failed with exit status 4");
    assert!(help.contains("line 49\nERROR: no"), "{help}");
    assert!(!help.contains("line 30"), "{help}");
    let (status, _) = tool(dir.path(), body).command().run_with_status().unwrap();
    assert_eq!(status, 4);
}

#[test]
fn a_crash_is_told_from_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let crash = tool(dir.path(), "echo before; kill -SEGV $$");
    let (what, help) = failure(crash.command().run().unwrap_err());
    assert_eq!(
        what,
        "Yosys crashed: killed by signal 11 (segmentation fault)"
    );
    assert!(help.contains("before"), "{help}");
    assert!(crash.command().run_with_status().is_err());
}

/// Whether the process whose number is in `file` still runs.
fn runs(file: &Path) -> bool {
    let id = std::fs::read_to_string(file).unwrap();
    let state = std::fs::read_to_string(format!("/proc/{}/stat", id.trim()));
    state.is_ok_and(|s| !s.contains(") Z "))
}

fn wait_until_gone(file: &Path) {
    let start = Instant::now();
    while runs(file) {
        assert!(start.elapsed() < Duration::from_secs(5), "still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_tool_that_hangs_is_stopped_with_its_children() {
    let dir = tempfile::tempdir().unwrap();
    let hang = tool(dir.path(), "sleep 60 & echo $! > child; echo waiting; wait");
    let start = Instant::now();
    let command = hang.command().cwd(dir.path());
    let command = command.timeout(Duration::from_millis(300));
    let (what, help) = failure(command.run().unwrap_err());
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(
        what,
        "Yosys did not finish in 0.3 s and was stopped (SPADKIT_TIMEOUT sets the limit)"
    );
    assert!(help.contains("waiting"), "{help}");
    wait_until_gone(&dir.path().join("child"));
}

#[test]
fn children_that_outlive_a_tool_do_not_block_and_are_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let stray = tool(dir.path(), "sleep 60 & echo $! > child; echo done");
    let start = Instant::now();
    let output = stray.command().cwd(dir.path()).run().unwrap();
    assert_eq!(output.stdout, "done\n");
    assert!(start.elapsed() < Duration::from_secs(10));
    wait_until_gone(&dir.path().join("child"));
}

#[test]
fn output_that_is_no_text_is_survived() {
    let dir = tempfile::tempdir().unwrap();
    let output = tool(dir.path(), "printf 'a\\377b'")
        .command()
        .run()
        .unwrap();
    assert_eq!(output.stdout, "a\u{fffd}b");
}
