//! Scripts that stand in for tools, for tests.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Writes a shell script into `directory` and makes it executable.
pub(crate) fn script(directory: &Path, name: &str, body: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A Yosys that tells a good version, and otherwise does `body`.
pub(crate) fn yosys(directory: &Path, body: &str) -> PathBuf {
    let version = "[ \"$1\" = -V ] && { echo 'Yosys 0.23 (fake)'; exit 0; }\n";
    script(directory, "yosys", &format!("{version}{body}"))
}
