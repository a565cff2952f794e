//! External tools: a test that needs one is skipped where it is missing, or
//! fails where all are required.

use std::path::Path;
use std::process::{Command, Output};

/// The cell library of Debian's qflow-tech-osu018.
pub const OSU018: &str = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib";

/// Whether one of `tools`, programs or files that `make deps` installs, is
/// missing; prints which. The caller then skips its test.
///
/// # Panics
/// If one is missing and `SPADKIT_REQUIRE_TOOLS=1`, which CI sets: there, a test
/// must not pass without having tested.
pub fn missing(tools: &[&str]) -> bool {
    let Some(tool) = tools.iter().find(|tool| is_absent(tool)) else {
        return false;
    };
    let required = std::env::var_os("SPADKIT_REQUIRE_TOOLS").is_some_and(|value| value == "1");
    assert!(!required, "{tool} is missing, and SPADKIT_REQUIRE_TOOLS=1");
    println!("skipped: {tool} is missing");
    true
}

/// As [`missing`], for a tool that `make deps` does not install: never a failure.
pub fn missing_optional(tool: &str) -> bool {
    let absent = is_absent(tool);
    if absent {
        println!("skipped: {tool}, which is optional, is missing");
    }
    absent
}

/// Whether a program or file is not there.
pub fn is_absent(tool: &str) -> bool {
    which::which(tool).is_err() && !Path::new(tool).is_file()
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
