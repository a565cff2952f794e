//! Source changes of arrays that need more elements: their declaration, or the dynamic
//! shared memory of the launch.

use crate::common::{self, json, spadkit};
use serde_json::Value;
use std::path::Path;

fn tuned(launch: &str) -> [&str; 7] {
    let pad = ["--software", "--hash", "pad", "--preset", "fermi"];
    ["tune", launch, pad[0], pad[1], pad[2], pad[3], pad[4]]
}

/// A field of every suggestion's only declaration.
fn declarations<'a>(found: &'a Value, field: &str) -> Vec<&'a str> {
    let suggestions = found["suggestions"].as_array().unwrap().iter();
    let one = |s: &'a Value| {
        let all = s["declarations"].as_array().unwrap();
        assert_eq!(all.len(), 1, "{s}");
        all[0][field].as_str().unwrap()
    };
    suggestions.map(one).collect()
}

#[test]
fn a_declaration_gets_the_elements_that_the_padding_needs() {
    let args = tuned("kernels/histcopies/copies8.toml");
    let found = json(&args);
    assert_eq!(found["suggestions"][0]["elements_before"], 512);
    let elements = found["suggestions"][0]["elements"].as_u64().unwrap();
    assert_eq!(declarations(&found, "source"), ["histcopies.cu:10"]);
    let old = "__shared__ unsigned s[COPIES * BINS];";
    let new = format!("__shared__ unsigned s[COPIES * BINS + {}];", elements - 512);
    assert_eq!(declarations(&found, "text"), [old]);
    assert_eq!(declarations(&found, "changed_text"), [new.as_str()]);
    assert_eq!(found["suggestions"][0]["dynamic_shared"], Value::Null);
    let text = common::text(&args);
    let shown = format!(
        "histcopies.cu:10, the declaration with more elements: {} bytes in place of 2048\n  \
         - {old}\n  + {new}\nthe function:",
        4 * elements
    );
    assert!(text.contains(&shown), "{text}");
}

/// Each array of one declaration has its own change, and all of them together.
#[test]
fn arrays_of_one_declaration_change_together() {
    let args = tuned("kernels/fft/fft1024.toml");
    let found = json(&args);
    let before = "__shared__ float area_re[ROWS], area_im[ROWS];";
    assert_eq!(declarations(&found, "text"), [before, before]);
    let changed = declarations(&found, "changed_text");
    let more = |n: usize| {
        let s = &found["suggestions"][n];
        s["elements"].as_u64().unwrap() - s["elements_before"].as_u64().unwrap()
    };
    let (re, im) = (more(0), more(1));
    let expected = [
        format!("__shared__ float area_re[ROWS + {re}], area_im[ROWS];"),
        format!("__shared__ float area_re[ROWS], area_im[ROWS + {im}];"),
    ];
    assert_eq!(changed, expected);
    let both = format!("__shared__ float area_re[ROWS + {re}], area_im[ROWS + {im}];");
    assert_eq!(declarations(&found, "with_others"), [both.as_str(); 2]);
    let lines = found["suggestions"][0]["lines"].as_array().unwrap();
    let line = lines.iter().find(|l| l["source"] == "fft.cu:218").unwrap();
    let elements = "v[k] = {area_re[spad_place_area_re(at)], area_im[spad_place_area_im(at)]};";
    assert_eq!(line["with_others"], elements);
    let text = common::text(&args);
    let shown = format!("    together with the changes of the other arrays:\n  + {both}");
    assert!(text.contains(&shown), "{text}");
}

/// An `extern` array has what the launch gives.
#[test]
fn dynamic_shared_memory_is_what_the_launch_has_to_give() {
    let args = tuned("kernels/fwt/fwt.toml");
    let found = json(&args);
    let suggestion = &found["suggestions"][0];
    let bytes = 4 * suggestion["elements"].as_u64().unwrap();
    assert!(bytes > 8192);
    assert_eq!(suggestion["dynamic_shared"], bytes);
    assert_eq!(suggestion["declarations"], serde_json::json!([]));
    let text = common::text(&args).replace('\n', " ");
    let shown = format!(
        "the launch: data needs {bytes} bytes of dynamic shared memory, it has 8192; \
         dynamic_shared = {bytes} in the launch file, and {bytes} as the third argument of <<<>>>"
    );
    assert!(text.contains(&shown), "{text}");
}

/// A fix of the review has the declaration among its lines.
#[test]
fn a_fix_for_review_has_the_declaration() {
    let dir = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/histcopies");
    for file in ["histcopies.cu", "histcopies.ptx", "copies8.toml"] {
        std::fs::copy(from.join(file), dir.path().join(file)).unwrap();
    }
    let args = [
        "gate",
        "copies8.toml",
        "--preset",
        "fermi",
        "--sarif",
        "gate.sarif",
    ];
    let output = spadkit(&args).current_dir(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let log = std::fs::read(dir.path().join("gate.sarif")).unwrap();
    let log: Value = serde_json::from_slice(&log).unwrap();
    let change = &log["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0];
    let replacements = change["replacements"].as_array().unwrap();
    let grown = replacements
        .iter()
        .find(|r| r["deletedRegion"]["startLine"] == 10);
    let text = grown.expect("the declaration")["insertedContent"]["text"].as_str();
    let text = text.unwrap();
    assert!(
        text.starts_with("__shared__ unsigned s[COPIES * BINS + "),
        "{text}"
    );
}
