//! Random programs whose races are known: threads that access a few bytes, with barriers,
//! flags, fences and copies between. What is ordered is computed a second time
//! (`order`), from PTX's memory model and not from the detector.

mod order;
mod program;

use crate::common::tools::printed;
use crate::common::{json_of, spadkit};
use order::{Fences, races};
use program::Program;
use serde_json::Value;
use std::collections::BTreeSet;

/// The findings of a run, under the usual order of warps or that of a seed.
fn findings(launch: &str, order: Option<u64>) -> Vec<Value> {
    let seed = order.map(|seed| seed.to_string());
    let mut args = vec!["run", launch, "--races=global", "--threads", "1"];
    args.extend(["-q", "--format", "json"]);
    if let Some(seed) = &seed {
        args.extend(["--warp-order", seed]);
    }
    let output = spadkit(&args).output().unwrap();
    assert!(!output.stdout.is_empty(), "{}", printed(&output));
    let found = json_of(&output.stdout)["findings"].clone();
    found.as_array().unwrap().clone()
}

/// A race is found exactly where there is one, on lines that have one.
fn check(seed: u64, blocks: u32) -> bool {
    let program = Program::random(seed, blocks);
    let folder = tempfile::tempdir().unwrap();
    let (text, lines) = program.ptx();
    std::fs::write(folder.path().join("k.ptx"), &text).unwrap();
    let launch = folder.path().join("k.toml");
    std::fs::write(&launch, program.launch()).unwrap();
    let pairs = races(&program, Fences::Own);
    let racy: BTreeSet<u64> = (pairs.iter().flat_map(|&(a, b)| [a, b]))
        .map(|step| lines[step])
        .collect();
    let must = !races(&program, Fences::OfOthers).is_empty();
    for order in [None, Some(seed + 1)] {
        let found = findings(launch.to_str().unwrap(), order);
        let shown = || format!("seed {seed}, {blocks} blocks, {order:?}: {found:#?}\n{text}");
        let is_race = |finding: &Value| finding["kind"] == "race";
        assert!(found.iter().all(is_race), "{}", shown());
        let known = |finding: &Value| racy.contains(&finding["ptx_line"].as_u64().unwrap());
        assert!(found.iter().all(known), "racy: {racy:?}; {}", shown());
        assert!(!must || !found.is_empty(), "racy: {racy:?}; {}", shown());
    }
    must
}

/// Checks programs of one block, and of two that run together.
fn check_all(seeds: std::ops::Range<u64>) {
    for blocks in [1, 2] {
        let racy = seeds.clone().filter(|&seed| check(seed, blocks)).count();
        let all = seeds.clone().count();
        assert!(racy > all / 10 && racy < all, "{racy} of {all} have races");
    }
}

#[test]
fn random_programs_race_where_an_order_computed_apart_says() {
    check_all(0..30);
}

#[test]
#[ignore = "takes minutes; part of make campaign"]
fn many_random_programs_race_where_an_order_computed_apart_says() {
    check_all(1000..3000);
}
