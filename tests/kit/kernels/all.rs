//! What holds for all kernels.

use crate::kernels::files::files;
use spadkit::launch::{LaunchFile, Options};

/// What the search for races on all memory looks for as well, by less code.
#[test]
#[ignore = "part of make campaign"]
fn every_launch_file_runs_without_a_finding() {
    assert_no_finding(false);
}

#[test]
fn no_launch_file_has_a_race_on_global_memory() {
    assert_no_finding(true);
}

fn assert_no_finding(global_races: bool) {
    let files = files("toml");
    assert!(files.len() > 70);
    for path in files {
        let file = LaunchFile::load(&path).unwrap();
        let mut prepared = file
            .prepare(&file.module().unwrap())
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let options = Options {
            threads: 2,
            races: true,
            global_races,
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
