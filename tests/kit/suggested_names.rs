//! Types and macros under other names, and arrays that a library gets by reference
//! (`tests/fixtures/cuda/alias.cu`, `library.cu`, `united.cu`, `second.cu`).

use crate::common::suggested::Case;
use crate::common::text;
use serde_json::Value;

/// A kernel of a fixture whose arrays have 512 elements of type `ty`.
fn case<'a>([source, entry]: [&'a str; 2], [block, ty, more]: [&'a str; 3]) -> Case<'a> {
    Case {
        types: [ty; 2],
        count: 512,
        input: (source != "library").then_some("iota"),
        more,
        ..Case::of(source, entry, block)
    }
}

/// The launch gives the bytes of an array, whatever its elements are called.
#[test]
fn an_extern_array_of_a_typedef_keeps_its_declaration() {
    let launch = ["256", "s64", "dynamic_shared = 2048\n"];
    let found = case(["alias", "named"], launch).tuned(&[]);
    let change = &found["suggestions"][0];
    let changed = |line: &Value| line["changed_text"].as_str().unwrap().to_owned();
    let lines: Vec<String> = change["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(changed)
        .collect();
    let expected = [
        "out[threadIdx.x] = every[spad_place((threadIdx.x * 16) & 255)];",
        "every[spad_place(threadIdx.x)] = in[threadIdx.x];",
    ];
    assert_eq!(lines, expected);
    let padding = &change["padding"];
    assert_eq!(padding["declaration"], "extern __shared__ word_t every[];");
    assert_eq!(padding["index"], "every[i + i / 16] for element i");
    assert_eq!(padding["launch_bytes"][0], 2048);
    assert!(
        padding["launch_bytes"][1].as_u64() > Some(2048),
        "{padding}"
    );
}

/// Nobody knows how many of its elements a gap is.
#[test]
fn an_extern_array_of_an_unknown_type_gets_no_padding() {
    let launch = ["256", "u32", "dynamic_shared = 1024\n"];
    let found = case(["alias", "hidden"], launch).tuned(&[]);
    let change = &found["suggestions"][0];
    assert_eq!(change["array"], "pairs");
    assert_eq!(change["padding"], Value::Null, "{change}");
}

#[test]
fn a_macro_of_a_header_changes_in_the_header() {
    let found = case(["alias", "macros"], ["32, 8", "f32", ""]).tuned(&[]);
    let change = &found["suggestions"][0];
    let lines = change["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 1, "{change}");
    let call = &lines[0]["call"];
    assert!(
        call["source"].as_str().unwrap().ends_with("alias.h:4"),
        "{call}"
    );
    assert_eq!(
        call["changed_text"],
        "#define AT(k, i, j) (&tile[0][0][0])[spad_place(((k) * 8 + (i)) * 32 + (j))]"
    );
}

/// Its source is not the user's.
#[test]
fn no_source_changes_where_a_library_accesses_the_array() {
    for entry in ["one", "several"] {
        let launch = ["256", "s32", ""];
        let case = case(["library", entry], launch);
        let found = case.tuned(&[]);
        assert_eq!(found["suggestions"], serde_json::json!([]), "{found}");
        assert_eq!(found["left_alone"][0]["library"], "CUB");
        let launch = case.launch();
        let said = text(&["tune", &launch.file, "--software", "-q"]).replace('\n', " ");
        for expected in [
            "No change of the source pays: CUB accesses the array, and its source cannot take \
             the mapping.",
            "CUB gets the array by reference, and accesses it",
            "spadkit rewrite",
        ] {
            assert!(said.contains(expected), "{expected}: {said}");
        }
    }
}

/// The own tile and the storage live one after the other: the tile alone is mapped.
#[test]
fn a_tile_beside_the_storage_of_a_library_changes_alone() {
    let case = case(["united", "united"], ["128", "s32", ""]);
    let found = case.tuned(&[]);
    let change = &found["suggestions"][0];
    assert_eq!(change["beside"], "CUB", "{found}");
    let conflicts = ["conflicts_before", "conflicts"].map(|key| change[key].as_u64());
    assert_eq!(conflicts, [Some(288), Some(0)]);
    let lines = change["lines"].as_array().unwrap().iter();
    let mut sources: Vec<&str> = lines.map(|l| l["source"].as_str().unwrap()).collect();
    sources.sort_unstable();
    assert_eq!(sources, ["united.cu:12", "united.cu:9"]);
    assert!(
        found["left_alone"].as_array().is_none_or(Vec::is_empty),
        "{found}"
    );
    let launch = case.launch();
    let said = text(&["tune", &launch.file, "--software", "-q"]).replace('\n', " ");
    for expected in [
        "your lines change alone: CUB loads nothing that they store",
        "&s.u.tile[",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(!said.contains("No change of the source pays"), "{said}");
}

#[test]
fn a_tile_that_a_library_loads_does_not_change() {
    let found = case(["united", "handed"], ["128", "s32", ""]).tuned(&[]);
    assert_eq!(found["suggestions"], serde_json::json!([]), "{found}");
    assert_eq!(found["left_alone"][0]["library"], "CUB");
}

/// A pointer that is set later, and an object that has the address: a line that also accesses
/// the array through them is not changed by half.
#[test]
fn a_second_name_of_the_array_leaves_the_line_to_a_person() {
    for (entry, second, line) in [("later", "other", 16), ("object", "view", 26)] {
        let case = Case {
            more: "dynamic_shared = 4096\n",
            ..Case::of("second", entry, "32, 8")
        };
        let change = case.suggestion();
        let at = format!("second.cu:{line}");
        let lines = change["lines"].as_array().unwrap();
        let both = lines.iter().find(|l| l["source"] == at.as_str()).unwrap();
        assert_eq!(both["also_through"], serde_json::json!([second]), "{both}");
        assert_eq!(both["changed_text"], Value::Null, "{both}");
        assert_eq!(both["call"], Value::Null, "{both}");
        // The line that stores by one name is given whole.
        let whole = lines.iter().filter(|l| l["source"] != at.as_str());
        assert!(whole.count() > 0, "{change}");
    }
}
