//! Which change of the source is chosen: by the counts of the changed source, and complete
//! where it can be (`tests/fixtures/cuda`).

use crate::common::changed::{is_fixed, launch};
use crate::common::{self, json};
use serde_json::{Value, json};

fn tuned(name: &str, more: &[&str]) -> Value {
    json(&[&["tune", &launch(name), "--software"], more].concat())
}

/// An index under a function tears what the compiler merges; longer rows do not, and add no
/// instruction.
#[test]
fn longer_rows_keep_merged_accesses_whole() {
    let found = tuned("staged", &[]);
    let change = &found["suggestions"][0];
    assert_eq!(change["hash"], "pad:every=16,by=4");
    assert_eq!(change["conflicts"], 0);
    assert_eq!(change["function"], "");
    assert_eq!(change["lines"], json!([]));
    let text = common::text(&["tune", &launch("staged"), "--software", "-q"]).replace('\n', " ");
    for said in [
        "As a change of the source, pad:every=16,by=4 leaves 0 of 192: longer rows keep the \
         accesses whole that the compiler merges.",
        "longer rows: the declaration alone changes",
        "- __shared__ __align__(16) float rows[64][16];   \
         + __shared__ __align__(16) float rows[64][20];",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    is_fixed("staged", 0);
}

/// A search without the best gaps: those of the declaration are the answer.
#[test]
fn longer_rows_that_leave_the_fewest_conflicts_come_first() {
    let found = tuned("diagonal", &["--hash", "swizzle"]);
    let (first, second) = (&found["results"][0], &found["results"][1]);
    assert_eq!(first["hash"], "pad:every=33,by=1");
    assert_eq!(first["conflicts"], 1);
    assert_eq!(first["added_per_access"], 0);
    assert!(second["conflicts"].as_u64() > Some(1), "{second}");
    assert_eq!(found["suggestions"][0]["hash"], first["hash"]);
    assert_eq!(found["suggestions"][0]["function"], "");
    is_fixed("diagonal", 1);
}

/// The same gaps are longer rows, and no division in every access. The report has their cycles.
#[test]
fn flow_has_longer_rows_in_the_place_of_the_same_gaps() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let out = out.to_str().unwrap();
    let quick = ["--fast", "--budget", "2"];
    let own = ["flow", &launch("diagonal"), "--out", out];
    let found = json(&[&own[..], &quick].concat());
    let change = &found["software"]["suggestions"][0];
    assert_eq!(change["hash"], "pad:every=33,by=1");
    assert_eq!(change["function"], "");
    let choices = found["choices"].as_array().unwrap();
    let of = |kind: &str| choices.iter().find(|c| c["kind"] == kind).unwrap();
    let (padding, software) = (of("padding"), of("software"));
    let total = |choice: &Value| choice["cycles"]["total"].as_u64().unwrap();
    assert!(total(padding) < total(of("nothing")), "{choices:#?}");
    let pasted = "// diagonal.cu:4, was: __shared__ int h[33][33];\n__shared__ int h[33][34];\n";
    let text = padding["code"][0]["text"].as_str().unwrap();
    assert!(text.ends_with(pasted), "{text}");
    let mut codes = software["code"].as_array().unwrap().iter();
    assert!(codes.all(|code| code["form"] != "CUDA"), "{software}");
}

/// The kernel that hands the array over is no other kernel, and no padding is invented.
#[test]
fn a_kernel_without_accesses_of_its_own_changes_with_its_functions() {
    let found = tuned("handed", &[]);
    let change = &found["suggestions"][0];
    assert_eq!(change["padding"], Value::Null);
    let lines = change["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 6);
    for line in lines {
        assert_eq!(line["called_by"], Value::Null, "{line}");
    }
    is_fixed("handed", 0);
}

#[test]
fn members_of_a_union_are_wrapped() {
    let found = tuned("union", &[]);
    assert_eq!(found["suggestions"][0]["padding"], Value::Null);
    is_fixed("union", 0);
}

/// Parts of vectors that the compiler merges are accesses of their own in the source.
#[test]
fn parts_of_vectors_are_counted_as_the_source_has_them() {
    let found = tuned("quads", &["--no-machine-code"]);
    assert_eq!(found["suggestions"], json!([]));
    let left = &found["left_alone"][0];
    assert_eq!(
        (&left["conflicts_before"], &left["conflicts"]),
        (&json!(32), &json!(96))
    );
    assert_eq!(left["torn"][0]["bytes"], 16);
}

/// wmma gets the address of an element and the length of its row; attributes of the array
/// stay.
#[test]
fn matrices_of_bytes_get_their_element_and_length() {
    let found = tuned("bytes", &[]);
    let change = &found["suggestions"][0];
    let calls = change["lines"].as_array().unwrap().iter();
    let call = calls.filter_map(|l| l["call"]["changed_text"].as_str());
    let expected = "wmma::load_matrix_sync(fa, &as[spad_place_as(k)], 80);";
    assert_eq!(call.filter(|text| *text == expected).count(), 1, "{change}");
    let padding = &change["padding"]["declaration"];
    assert_eq!(padding, "__shared__ __align__(16) unsigned char as[1264];");
    is_fixed("bytes", 16);
}

/// Of a pointer that walks, the text says the length.
#[test]
fn the_length_of_a_row_is_a_number_where_a_person_gives_it() {
    let text = common::text(&["tune", &launch("walked"), "--software", "-q"]);
    let advice = "map the pointer to the first element, spad_place_as_at(as, ADDRESS), and give \
                  wmma the length of the longer rows, 144 bytes in place of 128";
    assert!(text.replace("\n    ", " ").contains(advice), "{text}");
}

#[test]
fn vectors_from_the_first_element_on_are_wrapped() {
    let found = tuned("fill", &[]);
    let lines = found["suggestions"][0]["lines"].as_array().unwrap();
    let changed = "(*spad_place_at(rows, &reinterpret_cast<float4 *>(&rows[0][0])[i])) = in[i];";
    let is_it = |l: &Value| l["call"]["changed_text"] == changed;
    assert!(lines.iter().any(is_it), "{lines:#?}");
    is_fixed("fill", 0);
}
