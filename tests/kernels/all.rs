//! What holds for all kernels.

use crate::harness::folder;
use spadkit::launch::{LaunchFile, Options};
use std::path::PathBuf;

fn launch_files() -> Vec<PathBuf> {
    let families = std::fs::read_dir(folder())
        .unwrap()
        .map(|f| f.unwrap().path());
    let mut files: Vec<PathBuf> = families
        .filter(|f| f.is_dir() && !f.ends_with("faults"))
        .flat_map(|f| std::fs::read_dir(f).unwrap().map(|f| f.unwrap().path()))
        .filter(|f| f.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_launch_file_runs_without_a_finding() {
    let files = launch_files();
    assert!(files.len() > 70);
    for path in files {
        let file = LaunchFile::load(&path).unwrap();
        let mut prepared = file
            .prepare()
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let options = Options {
            threads: 2,
            races: true,
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
    for path in launch_files() {
        let ptx = LaunchFile::load(&path).unwrap().ptx.value;
        let text = std::fs::read_to_string(ptx).unwrap();
        for line in text.lines().filter(|l| l.contains(".file")) {
            assert!(!line.contains('/'), "{line}");
        }
    }
}
