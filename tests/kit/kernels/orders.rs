//! What is found does not depend on the order in which the warps run.

use crate::kernels::files::{files, kernels_folder};
use spadkit::launch::{LaunchFile, Options};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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

/// The block that takes the lock first needs no fence behind it, the second does. Two
/// blocks that run together, of which one has none.
fn lock_with_a_fence_missing(of_block: u32, folder: &Path) -> PathBuf {
    let ptx = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n\
         .visible .entry k(.param .u64 out) {{\n\
         .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<2>;\n\
         ld.param.u64 %rd1, [out];\n\
         mov.u32 %r1, %ctaid.x;\n\
         setp.eq.u32 %p1, %r1, {of_block};\n\
         L: atom.global.cas.b32 %r2, [%rd1], 0, 1;\n\
         setp.ne.u32 %p2, %r2, 0;\n\
         @%p2 bra L;\n\
         @%p1 bra M;\n\
         membar.gl;\n\
         M: st.global.u32 [%rd1+4], %r1;\n\
         membar.gl;\n\
         atom.global.exch.b32 %r3, [%rd1], 0;\n\
         ret;\n}}\n"
    );
    let launch = "ptx = \"lock.ptx\"\ngrid = [2]\nblock = [1]\ncooperative = true\n\
                  [[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = 2\ninit = \"zeros\"\n";
    std::fs::write(folder.join("lock.ptx"), ptx).unwrap();
    let path = folder.join("lock.toml");
    std::fs::write(&path, launch).unwrap();
    path
}

#[test]
fn a_seed_draws_which_block_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let found_by = |path: &Path, seeds: std::ops::Range<u64>| {
        seeds
            .filter(|&seed| !verdict(path, true, Some(seed)).is_empty())
            .count()
    };
    let second = lock_with_a_fence_missing(1, folder.path());
    assert!(!verdict(&second, true, None).is_empty());
    assert!((1..16).contains(&found_by(&second, 0..16)));
    let first = lock_with_a_fence_missing(0, folder.path());
    assert!(verdict(&first, true, None).is_empty());
    assert!((1..16).contains(&found_by(&first, 0..16)));
    let none = lock_with_a_fence_missing(2, folder.path());
    assert_eq!(found_by(&none, 0..16), 0);
}

#[test]
#[ignore = "minutes: a part of the campaign"]
fn all_kernels_have_no_finding_in_any_order() {
    for path in files("toml") {
        assert_same(&path, false, 1..4);
        assert_same(&path, true, 1..2);
    }
}
