//! Source changes for the parts of dynamic shared memory that a launch file names
//! (`tests/fixtures/cuda/parts.cu`): each part is an array under the name of its pointer.

use crate::common::{json, text};
use serde_json::Value;
use std::fs;

/// The suggestions for a kernel of the fixture, with parts at these offsets of these bytes.
fn suggestions(entry: &str, parts: [(&str, u32, u32); 2], more: &str) -> Value {
    tuned(entry, parts, more, json)["suggestions"].clone()
}

/// What `run` makes of the command.
fn tuned<T>(
    entry: &str,
    parts: [(&str, u32, u32); 2],
    more: &str,
    run: impl Fn(&[&str]) -> T,
) -> T {
    let dir = tempfile::tempdir().unwrap();
    for file in ["parts.cu", "parts.ptx"] {
        fs::copy(format!("tests/fixtures/cuda/{file}"), dir.path().join(file)).unwrap();
    }
    let argument = |name: &str, init: &str| {
        format!("[[arg]]\nname = \"{name}\"\ntype = \"f32\"\ncount = 128\ninit = \"{init}\"\n")
    };
    let part = |(name, offset, bytes): (&str, u32, u32)| {
        format!("[[shared]]\nname = \"{name}\"\noffset = {offset}\nbytes = {bytes}\n")
    };
    let launch = format!(
        "ptx = \"parts.ptx\"\nentry = \"{entry}\"\ngrid = [1]\nblock = [32]\n\
         dynamic_shared = 8192\n{}{}{more}{}",
        argument("out", "zeros"),
        argument("in", "iota"),
        parts.map(part).concat(),
    );
    let path = dir.path().join("k.toml");
    fs::write(&path, launch).unwrap();
    run(&["tune", path.to_str().unwrap(), "--software"])
}

/// The changed text of the line or statement of each line of a suggestion, by its source.
fn changed(suggestion: &Value) -> Vec<String> {
    let lines = suggestion["lines"].as_array().unwrap().iter();
    let text = |line: &Value| {
        let texts = [
            &line["with_others"],
            &line["changed_text"],
            &line["call"]["changed_text"],
        ];
        let text = texts.into_iter().find_map(Value::as_str);
        text.unwrap_or_else(|| panic!("by hand: {line}")).to_owned()
    };
    let mut all: Vec<String> = lines.map(text).collect();
    all.sort();
    all
}

#[test]
fn a_part_is_the_array_of_its_pointer() {
    let parts = [("a", 0, 4096), ("b", 4096, 4096)];
    let found = suggestions("carved", parts, "");
    assert_eq!(found[0]["array"], "a");
    let of_a = changed(&found[0]);
    assert_eq!(of_a.len(), 2, "{found}");
    let has = |lines: &[String], text: &str| lines.iter().any(|line| line.contains(text));
    let filled = "a[spad_place_a(t * 32 + i)] = in[t + i];";
    assert!(has(&of_a, filled), "{of_a:?}");
    let sum = "s += a[spad_place_a(i * 32 + t)] * b[spad_place_b(t * 32 + i)];";
    assert!(has(&of_a, sum), "{of_a:?}");
    let of_b = changed(&found[1]);
    assert!(has(&of_b, sum), "{of_b:?}");
    assert!(has(&of_b, "b[spad_place_b(i * 32 + t)]"), "{of_b:?}");
    // An array of its own would have rows that become longer.
    assert_eq!(found[0]["padding"], Value::Null, "{found}");
}

/// `right` begins behind the rows of `left`; a pointer into it stays one.
#[test]
fn pointers_that_follow_each_other_are_parts_under_their_own_names() {
    let parts = [("first", 0, 4096), ("second", 4096, 4096)];
    let found = suggestions("chained", parts, "");
    let arrays: Vec<&str> = (0..2)
        .map(|i| found[i]["array"].as_str().unwrap())
        .collect();
    assert_eq!(arrays, ["left", "right"], "{found}");
    let of_left = changed(&found[0]);
    assert!(of_left.contains(&"left[spad_place_first(t * N + i)] = in[t + i];".to_owned()));
    let of_right = changed(&found[1]);
    assert!(of_right.contains(&"right[spad_place_second(t * N + i)] = in[t * 2 + i];".to_owned()));
    let sum = "s += left[spad_place_first(i * N + t)] * \
               (*spad_place_second_at(right, &row[t]));";
    assert!(
        of_right.iter().any(|line| line.contains(sum)),
        "{of_right:?}"
    );
}

#[test]
fn the_launch_file_says_where_a_pointer_of_its_name_begins() {
    let n = "[[arg]]\nname = \"n\"\ntype = \"s32\"\nvalue = 32\n";
    let found = suggestions("counted", [("a", 0, 4096), ("b", 4096, 4096)], n);
    assert_eq!(found[0]["array"], "b", "{found}");
    assert!(
        changed(&found[0])
            .iter()
            .any(|l| l.contains("b[spad_place(t * 32 + i)]"))
    );
}

/// A change of `a` alone would miss what goes through `mem`, or through `b` in the next round.
#[test]
fn memory_with_other_names_changes_by_hand() {
    for entry in ["mixed", "swapped"] {
        let found = suggestions(entry, [("a", 0, 4096), ("b", 4096, 4096)], "");
        let lines = found.as_array().unwrap().iter();
        let lines = lines.flat_map(|s| s["lines"].as_array().unwrap());
        let texts: Vec<&Value> = lines
            .filter(|l| !l["changed_text"].is_null() || !l["call"].is_null())
            .collect();
        assert!(
            texts.is_empty() && !found[0].is_null(),
            "{entry}: {texts:?}"
        );
    }
}

/// The source says where a part begins; an array of its own would be aligned.
#[test]
fn nothing_is_said_of_the_alignment_of_a_part() {
    let said = tuned("carved", [("a", 0, 4096), ("b", 4096, 4096)], "", text);
    assert!(said.contains("from the start of a\n"), "{said}");
}
