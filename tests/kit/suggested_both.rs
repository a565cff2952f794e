//! Statements that name an array and a pointer or a reference into it, and what the compiler has
//! moved to another line (`tests/fixtures/cuda/both.cu`). The changed statements were pasted and
//! compiled by nvcc: the kernels have the results that they had.

use crate::common::{in_one_line, json, spadkit, text};
use serde_json::Value;
use std::fs;

/// The launch file of a kernel, in the folder of its PTX.
fn launch(entry: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in ["both.cu", "both.ptx"] {
        fs::copy(format!("tests/fixtures/cuda/{file}"), dir.path().join(file)).unwrap();
    }
    let argument = |name: &str, init: &str| {
        format!("[[arg]]\nname = \"{name}\"\ntype = \"s32\"\ncount = 1024\ninit = \"{init}\"\n")
    };
    let launch = format!(
        "ptx = \"both.ptx\"\nentry = \"{entry}\"\ngrid = [1]\nblock = [64]\n{}{}",
        argument("input", "iota"),
        argument("output", "zeros")
    );
    fs::write(dir.path().join("k.toml"), launch).unwrap();
    dir
}

fn suggestion(entry: &str) -> Value {
    let dir = launch(entry);
    let path = dir.path().join("k.toml");
    // Whether a form is understood does not depend on what is installed.
    let own = ["tune", path.to_str().unwrap(), "--software"];
    json(&[&own[..], &["--no-machine-code"]].concat())["suggestions"][0].take()
}

/// The changed statement of a line; none where it is left to a person.
fn changed(line: &Value) -> Option<&str> {
    let call = &line["call"];
    let own = if call.is_null() { line } else { call };
    own["changed_text"].as_str()
}

/// The changed statements, in the order of their lines.
fn changes(entry: &str) -> Vec<String> {
    let found = suggestion(entry);
    let line = |line: &Value| {
        let (_, number) = line["source"].as_str().unwrap().rsplit_once(':').unwrap();
        let new = changed(line).unwrap_or("by hand").to_owned();
        (number.parse::<u32>().unwrap(), new)
    };
    let lines = found["lines"].as_array().unwrap();
    let mut all: Vec<_> = lines.iter().map(line).collect();
    all.sort();
    all.into_iter().map(|(_, new)| new).collect()
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
    let found = suggestion("elsewhere");
    let lines = found["lines"].as_array().unwrap();
    let open: Vec<&Value> = lines.iter().filter(|l| changed(l).is_none()).collect();
    assert_eq!(open.len(), 1, "{found}");
    assert_eq!(open[0]["also_through"], serde_json::json!(["p"]));
    let dir = launch("elsewhere");
    let path = dir.path().join("k.toml");
    let sarif = dir.path().join("k.sarif");
    let gate = [
        "gate",
        path.to_str().unwrap(),
        "--sarif",
        sarif.to_str().unwrap(),
    ];
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
    let found = suggestion("kept");
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
    let found = suggestion("moved");
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
    let found = suggestion("data");
    assert_eq!(found["given_by_data"], found["conflicts_before"], "{found}");
    assert!(suggestion("pointer")["given_by_data"].is_null());
    let dir = launch("data");
    let path = dir.path().join("k.toml");
    let said = text(&[
        "tune",
        path.to_str().unwrap(),
        "--software",
        "--no-machine-code",
    ]);
    let said = in_one_line(&said);
    assert!(
        said.contains("depend on loaded values: the gain is that of this input"),
        "{said}"
    );
}
