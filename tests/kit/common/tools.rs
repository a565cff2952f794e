//! External tools: a test that needs one is skipped where it is missing, or
//! fails where all are required.

use spadkit::tool::{ToolKind, Toolbox};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

/// The cell library of Debian's qflow-tech-osu018.
pub const OSU018: &str = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib";

/// What the accesses of the machine code need.
pub const MACHINE_CODE: &[ToolKind] = &[ToolKind::Ptxas, ToolKind::Nvdisasm];

/// Whether one of `tools`, programs or files that `make deps` installs, is
/// missing. The caller then skips its test.
///
/// # Panics
/// If one is missing and `SPADKIT_REQUIRE_TOOLS=1`, which CI sets: there, a test
/// must not pass without having tested.
pub fn missing(tools: &[&str]) -> bool {
    let Some(tool) = tools.iter().find(|tool| is_absent(tool)) else {
        return false;
    };
    let required = is_set("SPADKIT_REQUIRE_TOOLS");
    assert!(!required, "{tool} is missing, and SPADKIT_REQUIRE_TOOLS=1");
    skip(tool);
    true
}

/// As [`missing`], for a tool that `make deps` does not install: never a failure.
pub fn missing_optional(tool: &str) -> bool {
    let absent = is_absent(tool);
    if absent {
        skip(tool);
    }
    absent
}

/// Whether one of NVIDIA's tools for machine code, which `make deps` cannot install, is
/// missing: `ptxas`, `nvdisasm`. The caller then skips its test.
///
/// # Panics
/// If one is missing and `SPADKIT_REQUIRE_PTXAS=1`.
pub fn missing_ptxas(kinds: &[ToolKind]) -> bool {
    let Some(kind) = absent_ptxas(kinds) else {
        return false;
    };
    let (tool, how) = (kind.name(), kind.how_to_get());
    assert!(
        !requires_ptxas(),
        "{tool} is missing, and SPADKIT_REQUIRE_PTXAS=1: {how}"
    );
    skip(tool);
    true
}

/// The first of NVIDIA's `kinds` of tools that is not installed or does not work.
pub fn absent_ptxas(kinds: &[ToolKind]) -> Option<ToolKind> {
    let tools = Toolbox::new();
    let mut absent = kinds.iter().filter(|kind| tools.get(**kind).is_err());
    absent.next().copied()
}

/// Whether a test without `ptxas` or `nvdisasm` fails.
pub fn requires_ptxas() -> bool {
    is_set("SPADKIT_REQUIRE_PTXAS")
}

/// Says that the running test is skipped because `tool` is missing: on standard error,
/// past the capture of the test runner. `make test` counts it.
pub fn skip(tool: &str) {
    // The runner names the thread after the test.
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let note = format!("skipped: {test}: {tool} is missing\n");
    std::io::stderr().write_all(note.as_bytes()).unwrap();
    count_skipped(test, tool);
}

/// Adds a line to the file `SPADKIT_SKIPPED`, from which `make test` counts the tests
/// that are skipped.
pub fn count_skipped(test: &str, tool: &str) {
    if let Some(path) = std::env::var_os("SPADKIT_SKIPPED") {
        let mut file = std::fs::OpenOptions::new();
        let mut file = file.append(true).create(true).open(path).unwrap();
        // One write: other tests write at the same time.
        let line = format!("{tool}\t{test}\n");
        file.write_all(line.as_bytes()).unwrap();
    }
}

/// Whether a program or file is not there.
pub fn is_absent(tool: &str) -> bool {
    which::which(tool).is_err() && !Path::new(tool).is_file()
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == "1")
}

/// All that a program printed, without the white space around it.
pub fn printed(output: &Output) -> String {
    let printed = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&printed).trim().to_owned()
}

/// Runs a tool that must succeed and print nothing.
pub fn silent(command: &mut Command) {
    let output = command.output().unwrap();
    let text = printed(&output);
    assert!(
        output.status.success() && text.is_empty(),
        "{command:?}: {text}"
    );
}
