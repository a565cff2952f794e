//! What is found does not depend on the order in which the warps run.

use crate::kernels::files::{files, kernels_folder};
use spadkit::launch::{LaunchFile, Options};
use std::collections::BTreeSet;
use std::path::Path;

/// Kinds, severity and lines of what is found, with warps in that order.
fn verdict(path: &Path, global_races: bool, warp_order: Option<u64>) -> BTreeSet<String> {
    let file = LaunchFile::load(path).unwrap();
    let mut prepared = file.prepare(&file.module().unwrap()).unwrap();
    let options = Options {
        threads: 1,
        races: true,
        global_races,
        warp_order,
        limit: 200_000_000,
        ..Options::default()
    };
    let outcome = prepared.run(&options).unwrap();
    let shown = outcome
        .findings
        .iter()
        .map(|f| format!("{} {} {}", f.kind.text(), f.warning, f.ptx_line));
    shown.collect()
}

fn assert_same(path: &Path, global: bool, seeds: std::ops::Range<u64>) {
    let first = verdict(path, global, None);
    for seed in seeds {
        let other = verdict(path, global, Some(seed));
        assert_eq!(first, other, "{}, order {seed}", path.display());
    }
}

/// Those whose fault is about the order of accesses.
const ORDERED: [&str; 14] = [
    "race",
    "lock_without_fence",
    "flag_without_fence",
    "same_value",
    "lanes_collide",
    "shuffle_of_others",
    "shuffle_between",
    "named_barriers",
    "store_after_arrive",
    "copy_not_waited",
    "global_blocks",
    "global_threads",
    "global_ticket",
    "global_ticket_unfenced",
];

#[test]
fn faults_are_found_in_any_order() {
    for name in ORDERED {
        let path = kernels_folder().join(format!("faults/{name}.toml"));
        assert_same(&path, name.starts_with("global"), 1..5);
    }
}

#[test]
fn small_kernels_have_no_finding_in_any_order() {
    let small = ["transpose", "reduction", "scan", "atomics", "tma"];
    let all = files("toml");
    let is_small = |p: &&std::path::PathBuf| small.iter().any(|s| p.parent().unwrap().ends_with(s));
    for path in all.iter().filter(is_small) {
        assert_same(path, false, 1..2);
    }
}

#[test]
#[ignore = "minutes: a part of the campaign"]
fn all_kernels_have_no_finding_in_any_order() {
    for path in files("toml") {
        assert_same(&path, false, 1..4);
        assert_same(&path, true, 1..2);
    }
}
