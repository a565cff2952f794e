//! Tools that a unit test needs: without one it is skipped, or fails where all
//! are required. `tests/kit/common/tools.rs` does the same for the tests in `tests/`.

use super::{ToolKind, Toolbox};
use crate::error::{Error, Result};
use std::fs::OpenOptions;
use std::io::Write;

/// The tool; `None`, with a printed note, if it is missing. The caller then skips its test.
///
/// # Panics
/// If it is missing and `SPADKIT_REQUIRE_TOOLS=1`, which CI sets: there, a test
/// must not pass without having tested.
pub(crate) fn found<T>(what: Result<T>) -> Option<T> {
    let all = std::env::var_os("SPADKIT_REQUIRE_TOOLS").is_some_and(|value| value == "1");
    found_or_required(what, all)
}

/// The tools of this computer, if `kinds` are among them; else as [`found`].
pub(crate) fn toolbox(kinds: &[ToolKind]) -> Option<Toolbox> {
    let tools = Toolbox::new();
    for kind in kinds {
        found(tools.get(*kind))?;
    }
    Some(tools)
}

fn found_or_required<T>(what: Result<T>, required: bool) -> Option<T> {
    match what {
        Ok(found) => Some(found),
        Err(error) => {
            assert!(!required, "{error}, and SPADKIT_REQUIRE_TOOLS=1");
            eprintln!("skipped: {error}");
            count_skipped(&error);
            None
        }
    }
}

/// Adds a line to the file `SPADKIT_SKIPPED`, from which `make test` counts the tests
/// that are skipped.
fn count_skipped(error: &Error) {
    let Some(path) = std::env::var_os("SPADKIT_SKIPPED") else {
        return;
    };
    let tool = match error {
        Error::ToolMissing { tool, .. } | Error::ToolFailed { tool, .. } => tool.as_str(),
        _ => "a tool",
    };
    // The runner names the thread after the test.
    let thread = std::thread::current();
    let line = format!("{tool}\t{}\n", thread.name().unwrap_or("a test"));
    let file = OpenOptions::new().append(true).create(true).open(path);
    // One write: other tests write at the same time.
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.expect("SPADKIT_SKIPPED names a file that can be written");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nowhere() -> Result<super::super::Tool> {
        let tools = Toolbox::new().with(ToolKind::Yosys, "/nowhere/yosys");
        tools.get(ToolKind::Yosys)
    }

    #[test]
    fn a_missing_tool_skips_the_test() {
        assert!(found_or_required(nowhere(), false).is_none());
        assert_eq!(found_or_required(Ok(1), true), Some(1));
    }

    #[test]
    #[should_panic(expected = "SPADKIT_REQUIRE_TOOLS=1")]
    fn a_missing_tool_fails_the_test_where_all_are_required() {
        found_or_required(nowhere(), true);
    }
}
