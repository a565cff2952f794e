//! What holds for all kernels.

use crate::kernels::files::files;
use spadkit::launch::{LaunchFile, Options};
use std::collections::HashSet;
use std::path::Path;

#[test]
#[ignore = "part of make campaign"]
fn no_launch_file_has_a_race_on_global_memory() {
    for file in files("toml") {
        assert_no_race(&file);
    }
}

/// Launch files of one kernel differ by sizes and data: one of them is run here.
#[test]
fn no_kernel_has_a_race_on_global_memory() {
    let mut seen = HashSet::new();
    for file in files("toml") {
        let launch = LaunchFile::load(&file).unwrap();
        let entry = launch.first.entry.as_ref().map(|entry| entry.value.clone());
        if seen.insert((launch.ptx.value.clone(), entry)) {
            assert_no_race(&file);
        }
    }
    assert!(seen.len() > 30, "{}", seen.len());
}

fn assert_no_race(path: &Path) {
    let file = LaunchFile::load(path).unwrap();
    let mut prepared = file
        .prepare(&file.module().unwrap())
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let options = Options {
        threads: 2,
        races: true,
        global_races: true,
        ..Options::default()
    };
    let outcome = prepared.run(&options).unwrap();
    assert!(
        outcome.findings.is_empty(),
        "{}: {:?}",
        path.display(),
        outcome.findings
    );
    assert!(outcome.thread_instructions > 0);
}

#[test]
fn committed_ptx_names_no_place_of_a_machine() {
    for path in files("toml") {
        let ptx = LaunchFile::load(&path).unwrap().ptx.value;
        let text = std::fs::read_to_string(ptx).unwrap();
        for line in text.lines().filter(|l| l.contains(".file")) {
            assert!(!line.contains('/'), "{line}");
        }
    }
}
