//! Masters that somebody else wrote, under cocotb.

use crate::common::tools::skip;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The Python of the environment that `make campaign-BUS` installs, if it can do
/// the `imports`.
fn python(bus: &str, imports: &str) -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_BIN_EXE_spadkit"));
    let built = program.parent()?.parent()?;
    let python = built.join(format!("venv-{bus}/bin/python"));
    let found = Command::new(&python).args(["-c", imports]).output();
    let works = found.is_ok_and(|output| output.status.success());
    works.then_some(python)
}

/// Runs `rounds` rounds of `testbenches/BUS`, where its environment is installed:
/// all `tests` pass.
pub fn public_master(bus: &str, imports: &str, rounds: &str, tests: usize) {
    let Some(python) = python(bus, imports) else {
        let tool = format!("cocotb of 'make campaign-{bus}'");
        skip(&tool);
        return;
    };
    let work = tempfile::tempdir().unwrap();
    let run = format!("{}/testbenches/{bus}/run.py", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(python)
        .args(["-B", &run, "--rounds", rounds])
        .args(["--spadkit", env!("CARGO_BIN_EXE_spadkit"), "--work"])
        .arg(work.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{error}");
    assert!(
        said.ends_with(&format!("{tests} passed, 0 failed\n")),
        "{said}"
    );
}
