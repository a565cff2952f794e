//! `sim` of a path whose bank conflicts overlap.

use crate::common::{json, with_commas};
use serde_json::Value;

/// docs/guides/simulation.md: cycles of a path whose bank conflicts overlap.
#[test]
fn the_guide_has_the_cycles_of_conflicts_that_overlap() {
    let guide = include_str!("../../docs/guides/simulation.md");
    for kernel in ["transpose", "reduction"] {
        let input = format!("kernel:{kernel}");
        let command = "--blocks 16 --sweep --preset fermi --pipeline unified --hash mod --hash xor \
                       --set path.mem_stages=2 --set path.locks=0 --set sm.window=0,2,4,8,16";
        let options: Vec<&str> = command.split_whitespace().collect();
        let swept = json(&[&["sim", &input], &options[..]].concat());
        let cycles = |hash: &str, window: &str| {
            let point = |p: &&Value| p["hash"] == hash && p["set"]["sm.window"] == window;
            let found = swept["results"]
                .as_array()
                .unwrap()
                .iter()
                .find(point)
                .unwrap();
            found["cycles"].as_u64().unwrap()
        };
        let plain = ["0", "2", "4", "8", "16"].map(|window| cycles("mod", window));
        let hashed = ["0", "2", "4", "16"].map(|window| cycles("xor", window));
        let cells = plain.into_iter().chain(hashed).map(with_commas);
        let cells: Vec<String> = cells.collect();
        let row = format!("| {kernel} | {} |", cells.join(" | "));
        assert!(guide.contains(&row), "{row}");
    }
}
