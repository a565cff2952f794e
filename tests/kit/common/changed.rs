//! Changes of a fixture as a review has them, and as they were compiled.

use super::{json, spadkit};
use serde_json::Value;

/// The launch file of a fixture.
pub fn launch(name: &str) -> String {
    format!("tests/fixtures/cuda/{name}.toml")
}

/// What was compiled from the suggested lines (`NAME_changed.ptx`) has the conflicts
/// that were promised, and the results of the original.
pub fn keeps_its_promise(name: &str) {
    leaves(name, 0);
}

/// The same with conflicts left.
pub fn leaves(name: &str, conflicts: u64) {
    let changed = format!("{name}_changed");
    let left = json(&["conflicts", &launch(&changed)]);
    assert_eq!(left["results"][0]["conflicts"], conflicts);
    let digest = |name: &str| json(&["run", &launch(name)])["outputs"].clone();
    assert_eq!(digest(name), digest(&changed));
}

/// Asserts that the first fix of a review is the source that was compiled, and leaves
/// this many conflicts.
pub fn is_fixed(name: &str, conflicts: u64) {
    let expected = std::fs::read_to_string(source(&format!("{name}_changed"))).unwrap();
    assert_eq!(fixed(name).1, expected);
    leaves(name, conflicts);
}

/// The source of a fixture.
pub fn source(name: &str) -> String {
    format!("tests/fixtures/cuda/{name}.cu")
}

/// What the first fix of `gate --sarif` says, and the source with it.
pub fn fixed(name: &str) -> (String, String) {
    let dir = tempfile::tempdir().unwrap();
    let sarif = dir.path().join("o.sarif");
    let launch = launch(name);
    let args = ["gate", &launch, "--sarif", sarif.to_str().unwrap()];
    spadkit(&args).assert().code(1);
    let log: Value = serde_json::from_slice(&std::fs::read(sarif).unwrap()).unwrap();
    let fix = &log["runs"][0]["results"][0]["fixes"][0];
    let description = fix["description"]["text"].as_str().unwrap();
    let mut text = std::fs::read_to_string(source(name)).unwrap();
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(at, _)| at + 1))
        .collect();
    let replacements = fix["artifactChanges"][0]["replacements"]
        .as_array()
        .unwrap();
    let mut replacements: Vec<(usize, usize, &str)> = replacements
        .iter()
        .map(|one| {
            let number = |key: &str| one["deletedRegion"][key].as_u64().unwrap() as usize;
            let place = |line: &str, column: &str| starts[number(line) - 1] + number(column) - 1;
            let (from, to) = (
                place("startLine", "startColumn"),
                place("endLine", "endColumn"),
            );
            (from, to, one["insertedContent"]["text"].as_str().unwrap())
        })
        .collect();
    replacements.sort_by_key(|(from, ..)| std::cmp::Reverse(*from));
    for (from, to, new) in replacements {
        text.replace_range(from..to, new);
    }
    (description.to_owned(), text)
}
