//! Lines that `conflicts`, `tune --software` and `gate` name, and how they change: of
//! CUDA sources with the PTX that NVRTC makes of them (`tests/fixtures/cuda`).

use crate::common::{self, json, spadkit};
use serde_json::{Value, json};

fn launch(name: &str) -> String {
    format!("tests/fixtures/cuda/{name}.toml")
}

fn tuned(name: &str) -> Value {
    json(&["tune", &launch(name), "--software"])
}

/// The text of `tune --software --all`.
fn tuned_text(name: &str) -> String {
    common::text(&["tune", &launch(name), "--software", "--all", "-q"])
}

/// The lines of the `at`-th suggestion.
fn lines(found: &Value, at: usize) -> &Vec<Value> {
    found["suggestions"][at]["lines"].as_array().unwrap()
}

/// An access in a header of the toolkit is at the user's line, which changes; the
/// header comes after it.
#[test]
fn the_users_line_comes_before_the_header_that_it_calls() {
    let text = common::text(&["conflicts", &launch("half"), "-q"]);
    let first = "all at half.cu:10 (through cuda_fp16.h:5122), up to 32 ways.";
    assert!(text.contains(first), "{text}");
    let found = json(&["conflicts", &launch("wm"), "--source"]);
    let worst = &found["results"][0]["lines"][0];
    assert_eq!(worst["source"], "crt/mma.hpp:91");
    assert_eq!(worst["user_source"], "wm.cu:17");
    assert_eq!(worst["user_text"], "wmma::load_matrix_sync(fa, a + k, 64);");
    let text = common::text(&["conflicts", &launch("wm"), "--source", "-q"]);
    assert!(text.contains("wm.cu:17  through mma.hpp:91\n"), "{text}");

    let found = tuned("half");
    let line = &lines(&found, 0)[0];
    assert_eq!(line["source"], "half.cu:10");
    assert_eq!(line["through"], json!(["cuda_fp16.h:5122"]));
    assert_eq!(line["conflicts"], 992);
    assert_eq!(
        line["changed_text"],
        "half2 a = (&t[0][0])[spad_place(x * 32 + (y + j))];"
    );
    assert_eq!(lines(&found, 0).len(), 2, "{found}");
}

/// So is the place of an annotation.
#[test]
fn a_review_annotates_the_users_line() {
    let dir = tempfile::tempdir().unwrap();
    let sarif = dir.path().join("o.sarif");
    let launch = launch("half");
    let args = ["gate", &launch, "--sarif", sarif.to_str().unwrap()];
    spadkit(&args).assert().code(1);
    let log: Value = serde_json::from_slice(&std::fs::read(sarif).unwrap()).unwrap();
    let result = &log["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], 10);
    let uri = place["artifactLocation"]["uri"].as_str().unwrap();
    assert!(uri.ends_with("half.cu"), "{uri}");
    assert!(result["fixes"].is_array(), "{result}");
}
