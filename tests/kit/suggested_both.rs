//! Statements that name an array and a pointer or a reference into it, and what the compiler has
//! moved to another line (`tests/fixtures/cuda/both.cu`). The changed statements were pasted and
//! compiled by nvcc: the kernels have the results that they had.

use crate::common::suggested::{self, Case, changed};
use crate::common::{in_one_line, spadkit, text};
use serde_json::Value;
use std::fs;

/// A kernel of 64 threads and 1024 integers.
fn case(entry: &str) -> Case<'_> {
    Case {
        types: ["s32"; 2],
        count: 1024,
        ..Case::of("both", entry, "64")
    }
}

/// The changed statements, in the order of their lines.
fn changes(entry: &str) -> Vec<String> {
    let changes = suggested::changes(&case(entry).suggestion());
    changes.into_iter().map(|(_, new)| new).collect()
}

#[test]
fn a_pointer_in_the_statement_is_mapped_too() {
    let expected = [
        "s[spad_place(t * 4 + k)] = in[t * 4 + k];",
        "out[t] = (*spad_place_at(s, &p[t * 2])) + s[spad_place(255 - t * 4)];",
        "out[t + 64] = s[spad_place(t * 4 + 1)] * (*spad_place_at(s, &p[t * 3 - 64 + 1]));",
    ];
    assert_eq!(changes("pointer"), expected);
    let rows = changes("reference");
    let last = "out[y * 32 + x] = (*spad_place_at(tile, &row[y])) + (&tile[0][0])[spad_place(x * 32 \
                + (y ^ 1))];";
    assert_eq!(rows.last().map(String::as_str), Some(last));
}

/// The pointer has another address for some threads: neither of its functions is right.
#[test]
fn a_pointer_that_may_point_elsewhere_is_left_to_a_person() {
    let found = case("elsewhere").suggestion();
    let lines = found["lines"].as_array().unwrap();
    let open: Vec<&Value> = lines.iter().filter(|l| changed(l).is_none()).collect();
    assert_eq!(open.len(), 1, "{found}");
    assert_eq!(open[0]["also_through"], serde_json::json!(["p"]));
    let launch = case("elsewhere").launch();
    let sarif = launch.folder.path().join("k.sarif");
    let gate = ["gate", &launch.file, "--sarif", sarif.to_str().unwrap()];
    spadkit(&gate).output().unwrap();
    let sarif: Value = serde_json::from_str(&fs::read_to_string(&sarif).unwrap()).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert!(
        !results.is_empty() && results.iter().all(|r| r["fixes"].is_null()),
        "{sarif}"
    );
}

/// `volatile` elements keep their type.
#[test]
fn a_volatile_array_is_mapped_by_its_address() {
    let found = case("kept").suggestion();
    let function = found["function"].as_str().unwrap();
    assert!(function.contains("T *spad_place_at(const volatile void *array, T *address)"));
    let last = changes("kept").pop().unwrap();
    let expected = "out[t] = (*spad_place_at(s, &p[2 * t])) + (*spad_place_at(s, &p[2 * t + 1])) + \
                    s[spad_place(127 - 2 * t)];";
    assert_eq!(last, expected);
}

/// `((float4 *)out)[...] = v;` uses the variable that the line before it loads.
#[test]
fn the_use_of_a_variable_is_no_access() {
    let found = case("moved").suggestion();
    let lines = found["lines"].as_array().unwrap();
    let texts: Vec<&str> = lines.iter().filter_map(changed).collect();
    assert_eq!((lines.len(), texts.len()), (2, 2), "{found}");
    assert!(
        texts[0].starts_with("float4 v = (&q[0][0])[spad_place("),
        "{texts:?}"
    );
    assert!(
        lines[0]["moved_to"]
            .as_str()
            .unwrap()
            .ends_with("both.cu:59")
    );
}

#[test]
fn what_depends_on_the_input_is_said() {
    let found = case("data").suggestion();
    assert_eq!(found["given_by_data"], found["conflicts_before"], "{found}");
    assert!(case("pointer").suggestion()["given_by_data"].is_null());
    let launch = case("data").launch();
    let said = text(&["tune", &launch.file, "--software", "--no-machine-code"]);
    let said = in_one_line(&said);
    assert!(
        said.contains("depend on loaded values: the gain is that of this input"),
        "{said}"
    );
}
