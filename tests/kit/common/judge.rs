//! The judges of `reproduce/judge/`: models in Python, written from the papers alone.

use super::json;
use super::tools::missing;
use serde_json::Value;
use std::process::Command;

/// What a judge prints; none without Python, where the test is to be skipped.
pub fn judge(script: &str) -> Option<Value> {
    if missing(&["python3"]) {
        return None;
    }
    let file = format!("reproduce/judge/{script}.py");
    let mut python = Command::new("python3");
    python.current_dir(env!("CARGO_MANIFEST_DIR"));
    let out = python.args(["-B", &file]).output().expect("python3 runs");
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{file}: {error}");
    Some(serde_json::from_slice(&out.stdout).expect("JSON"))
}

/// The rows of figures, as `spadkit reproduce` computes them.
pub fn reproduced(ids: &[&str]) -> Vec<Value> {
    let results = json(&[&["reproduce"], ids].concat());
    results["results"].as_array().expect("results").clone()
}
