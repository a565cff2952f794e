//! Lines that `conflicts`, `tune --software` and `gate` name, and how they change: of
//! CUDA sources with the PTX that NVRTC makes of them (`tests/fixtures/cuda`).

use crate::common::changed::{fixed, is_fixed, keeps_its_promise, launch, source};
use crate::common::suggested::own;
use crate::common::{self, json, spadkit};
use serde_json::{Value, json};

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

/// wmma computes the addresses of rows from their length: only gaps between rows can be
/// chosen.
#[test]
fn a_matrix_load_takes_gaps_between_rows_alone() {
    let found = tuned("wm");
    let kinds = found["results"].as_array().unwrap().iter();
    for kind in kinds.map(|one| one["kind"].as_str().unwrap()) {
        assert!(["mod", "pad"].contains(&kind), "{kind}");
    }
    let left_out = found["left_out"].as_array().unwrap();
    assert!(!left_out.is_empty(), "{found}");
    let text = tuned_text("wm");
    let changed = "  - wmma::load_matrix_sync(fa, a + k, 64);\n  \
                   + wmma::load_matrix_sync(fa, &a[spad_place_a(k)], 72);";
    assert!(text.contains(changed), "{text}");
    assert!(!text.contains("tma:"), "{text}");
    assert!(!text.contains("spadkit rewrite"), "{text}");
}

/// Longer rows, and their length in the calls: no index changes.
#[test]
fn rows_of_matrices_become_longer() {
    let found = tuned("wm_rows");
    for (at, [old_call, new_call], array) in [
        (
            0,
            [
                "wmma::load_matrix_sync(fa, &as[warp * 16][kk], 64);",
                "wmma::load_matrix_sync(fa, &as[warp * 16][kk], 72);",
            ],
            "as",
        ),
        (
            1,
            [
                "wmma::load_matrix_sync(fb, &bs[kk][n * 16], 64);",
                "wmma::load_matrix_sync(fb, &bs[kk][n * 16], 72);",
            ],
            "bs",
        ),
    ] {
        let one = &found["suggestions"][at];
        assert_eq!(one["hash"], "pad:every=32,by=4");
        assert_eq!(one["conflicts"], 0);
        assert_eq!(one["function"], "");
        let [line] = &lines(&found, at)[..] else {
            panic!("{one}")
        };
        assert_eq!(line["call"]["text"], old_call);
        assert_eq!(line["call"]["changed_text"], new_call);
        let declared = &one["declarations"][0];
        assert_eq!(
            declared["text"],
            format!("__shared__ half {array}[64][64];")
        );
        assert_eq!(
            declared["changed_text"],
            format!("__shared__ half {array}[64][72];")
        );
    }
    let text = tuned_text("wm_rows");
    let answer = "pad:every=32,by=4 removes all 2240 conflicts for 2032 bytes.";
    assert!(text.starts_with(answer), "{text}");
    keeps_its_promise("wm_rows");
    // A review can apply the changes of both arrays without edits.
    let dir = tempfile::tempdir().unwrap();
    let sarif = dir.path().join("o.sarif");
    let args = [
        "gate",
        &launch("wm_rows"),
        "--sarif",
        sarif.to_str().unwrap(),
    ];
    spadkit(&args).assert().code(1);
    let log: Value = serde_json::from_slice(&std::fs::read(sarif).unwrap()).unwrap();
    let fixes = &log["runs"][0]["results"][0]["fixes"];
    let replacements = fixes[0]["artifactChanges"][0]["replacements"]
        .as_array()
        .unwrap();
    assert_eq!(replacements.len(), 4, "{fixes}");
}

/// Where the array has no rows, indices are mapped, and the calls get the new length.
#[test]
fn flat_matrices_have_their_index_mapped_and_a_longer_length() {
    let text = tuned_text("wm_flat");
    for line in [
        "+ wmma::load_matrix_sync(fb, &tile[spad_place_tile(16 * LD + k)], LD + 8);",
        "+ tile[spad_place_tile(i)] = a[i];",
        "+ __shared__ half tile[32 * LD + 248];",
        "+ wmma::store_matrix_sync(&out[spad_place_out(0)], acc, 40,",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    // wmma reads 16 bytes at once: no compiler merges them.
    assert!(!text.contains("no longer merges"), "{text}");
    keeps_its_promise("wm_flat");
}

/// So is the line of an annotation.
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

/// The statements of a suggestion, before and after.
fn statements(found: &Value, at: usize) -> Vec<(String, String)> {
    let one = |line: &Value| {
        let text = |key: &str| own(line)[key].as_str().unwrap_or_default().to_owned();
        (text("text"), text("changed_text"))
    };
    lines(found, at).iter().map(one).collect()
}

/// A structure that is copied through a pointer is torn by a mapping of words: its
/// members are what is wrapped.
#[test]
fn a_structure_copied_through_a_pointer_is_not_wrapped() {
    let found = tuned("copied");
    let all = lines(&found, 0);
    assert_eq!(all.len(), 2);
    for line in all {
        assert_eq!(line["takes_apart"], true, "{line}");
        assert!(line["call"].is_null(), "{line}");
    }
    let text = tuned_text("copied");
    let advice = "  - *p = q;\n    the mapping takes apart the elements: copy them by their \
                  members, the address of each wrapped: *spad_place_at(s, &ELEMENT.MEMBER)\n";
    assert!(text.contains(advice), "{text}");
    assert!(
        text.contains("T *spad_place_at(const volatile void *array"),
        "{text}"
    );

    let members = statements(&tuned("members"), 0);
    let changed = "(*spad_place_at(s, &p->v[0])) = in[t];";
    let first = ("p->v[0] = in[t];".to_owned(), changed.to_owned());
    assert!(members.contains(&first), "{members:?}");
    let copy = ("Q r = *from;".to_owned(), String::new());
    assert!(members.contains(&copy), "{members:?}");
}

/// Members of elements are wrapped by their addresses, whatever the elements are.
#[test]
fn members_of_elements_are_wrapped() {
    let (structs, bodies) = (tuned("structs"), tuned("bodies"));
    let changed = "(*spad_place_at(s, &s[8 * t + k].x)) = in[t + k];";
    let all = statements(&structs, 0);
    assert!(all.iter().any(|(_, new)| new == changed), "{all:?}");
    let changed = "a += (*spad_place_at(s, &s[t % 8][8 * k + t / 8].x));";
    assert_eq!(statements(&bodies, 0)[0].1, changed);
}

/// Padding keeps the form of the declaration, and its type.
#[test]
fn padding_counts_the_elements_of_the_source() {
    let padding = |name: &str| tuned(name)["suggestions"][0]["padding"].clone();
    let bodies = padding("bodies");
    assert_eq!(bodies["declaration"], "__shared__ float4 s[8][33];");
    assert_eq!(
        bodies["index"],
        "s[row][column]: rows of 32 elements stay what they are"
    );
    let structs = padding("structs");
    assert_eq!(structs["declaration"], "__shared__ Body s[263];");
    assert_eq!(structs["index"], "s[i + i / 32] for element i");
    assert_eq!(
        (&bodies["in_declaration"], &structs["in_declaration"]),
        (&true.into(), &false.into())
    );
    // 256 bodies and 7 gaps of one.
    assert_eq!(structs["hash"], "pad:every=128,by=4");
    assert_eq!(structs["wasted_bytes"], 7 * 16);
}

/// Longer rows are no instruction; gaps in an array without rows are.
#[test]
fn padding_in_the_declaration_adds_no_instruction() {
    let results = |name: &str| tuned(name)["results"].as_array().unwrap().clone();
    let of = |r: &Value| {
        (
            r["added_per_access"].as_u64(),
            r["in_declaration"].as_bool(),
        )
    };
    let bodies = results("bodies");
    // The search keeps other gaps, which are as good.
    let rows = bodies.iter().find(|r| r["hash"] == "pad:every=128,by=4");
    let rows = rows.expect("what is suggested has a row");
    assert_eq!(of(rows), (Some(0), Some(true)));
    assert_eq!(
        (&rows["front"], &rows["conflicts"]),
        (&true.into(), &12.into())
    );
    for other in bodies.iter().chain(&results("structs")) {
        if other["kind"] == "pad" && other["hash"] != rows["hash"] {
            assert_eq!(of(other), (Some(2), Some(false)), "{other}");
        }
    }
    let text = tuned_text("bodies");
    let line = text.lines().find(|l| l.contains("pad:every=128,by=4"));
    assert!(
        line.unwrap().starts_with(" *") && !line.unwrap().contains("+2"),
        "{text}"
    );
}

/// A macro that casts to a vector type keeps the access whole.
#[test]
fn a_macro_with_a_cast_is_not_said_to_be_torn() {
    let found = tuned("rows");
    assert!(found["suggestions"][0]["torn"].is_null(), "{found}");
    assert_eq!(found["suggestions"][0]["conflicts"], 96);
    let text = tuned_text("rows");
    assert!(!text.contains("no longer merges"), "{text}");
    // Without a cast it is.
    let plain = tuned_text("plain");
    assert!(plain.contains("source changes for tile"), "{plain}");
}

/// A load that both branches have is done before the `if`: the line of the source is
/// what changes.
#[test]
fn a_moved_load_is_at_its_own_line() {
    let found = tuned("hoisted");
    let sources: Vec<&str> = lines(&found, 0)
        .iter()
        .map(|l| l["source"].as_str().unwrap())
        .collect();
    assert_eq!(sources, ["hoist.cu:10", "hoist.cu:6", "hoist.cu:13"]);
    let first = &lines(&found, 0)[0];
    assert_eq!(first["moved_to"], "hoist.cu:9");
    assert_eq!(first["conflicts"], 31);
    assert_eq!(
        first["changed_text"],
        "const float a = tile[spad_place(32 * t)];"
    );
    let text = tuned_text("hoisted");
    let shown = "hoist.cu:10 (the compiler has moved its access to hoist.cu:9), 31 conflicts";
    assert!(text.contains(shown), "{text}");
}

/// Two arrays that are handed to one function change together.
#[test]
fn arrays_that_are_handed_to_one_function_change_together() {
    let found = tuned("two");
    let body = "s += (*spad_place_As_at(spad_As, &a[32 * t + k])) * \
                (*spad_place_Bs_at(spad_Bs, &b[32 * t + k]));";
    let head = "__device__ float dot(const float *a, const float *b, int t, \
                const void *spad_As, const void *spad_Bs)";
    let call = "out[t] = dot(As, Bs, t, As, Bs);";
    for at in [0, 1] {
        let all = lines(&found, at);
        let together: Vec<&str> = all
            .iter()
            .filter_map(|l| l["with_others"].as_str())
            .collect();
        assert_eq!(together, [body, head, call], "{found}");
    }
}

/// Arrays are in the order of their offsets, whatever their names and sizes; lines with
/// as many conflicts in that of their numbers.
#[test]
fn arrays_and_lines_are_in_the_order_of_the_source() {
    let launch = launch("globals");
    let args = ["gate", &launch, "--format", "json"];
    let output = spadkit(&args).assert().code(1);
    let found = common::json_of(&output.get_output().stdout);
    let fixes = found["kernels"][0]["fixes"].as_array().unwrap();
    let arrays = fixes.iter().map(|f| f["text"].as_str().unwrap());
    let arrays: Vec<&str> = arrays
        .map(|t| t.split(" on ").nth(1).unwrap().split(' ').next().unwrap())
        .collect();
    assert_eq!(arrays, ["Zs", "Ys", "Xs"]);
    let text = common::text(&["conflicts", &self::launch("ord"), "-q"]);
    assert!(
        text.contains("33 % of them at each of 3 lines, such as ord.cu:7,"),
        "{text}"
    );
}

/// Both arrays are called `tile`, strings and comments name it, and an element takes two
/// lines. The joined fix of the review is `names_changed.cu`, which was compiled.
#[test]
fn a_fix_changes_elements_and_nothing_else() {
    let (description, text) = fixed("names");
    assert!(description.starts_with("Together: "), "{description}");
    let expected = std::fs::read_to_string(source("names_changed")).unwrap();
    assert_eq!(text, expected);
    keeps_its_promise("names");
}

/// The compiler merges the elements of a row to vectors, and no longer does with the change:
/// mappings that keep vectors whole leave 384 conflicts then, others none.
#[test]
fn a_change_has_the_mapping_of_the_accesses_that_it_makes() {
    let found = tuned("torn");
    assert_eq!(found["results"][0]["hash"], "swizzle:3,2,3");
    let suggestion = &found["suggestions"][0];
    assert_eq!(suggestion["hash"], "swizzle:5,0,5");
    assert_eq!(suggestion["conflicts"], 0);
    assert_eq!(suggestion["padding"]["hash"], "pad:every=32,by=1");
    let answer = "As a change of the source, swizzle:5,0,5 leaves 0 of 896: the compiler no \
                  longer merges accesses there.";
    let text = tuned_text("torn").replace('\n', " ");
    assert!(text.contains(answer), "{text}");
    let expected = std::fs::read_to_string(source("torn_changed")).unwrap();
    assert_eq!(fixed("torn").1, expected);
    keeps_its_promise("torn");
}

/// Where vectors keep their conflicts whole, the change takes them apart.
#[test]
fn vectors_that_keep_their_conflicts_are_taken_apart() {
    let found = tuned("vectors");
    let suggestion = &found["suggestions"][0];
    assert_eq!(suggestion["conflicts_before"], 96);
    assert_eq!(suggestion["conflicts"], 0);
    let parted = serde_json::json!({"bytes": 4, "wavefronts_before": 160, "wavefronts": 64});
    assert_eq!(suggestion["parted"], parted);
    let lines = suggestion["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 5);
    let changed = |line: &Value| line["changed_text"].as_str().unwrap().to_owned();
    let store = lines
        .iter()
        .find(|l| l["text"] == "FLOAT4(tile[y][x * 4]) = v;");
    assert_eq!(
        changed(store.unwrap()),
        "{ const auto all = v; for (unsigned part = 0; part < sizeof(all) / sizeof(float); \
         part++) (&tile[0][0])[spad_place(y * 64 + (x * 4) + part)] = \
         reinterpret_cast<const float *>(&all)[part]; }"
    );
    let text = tuned_text("vectors").replace('\n', " ");
    for expected in [
        "No mapping that keeps vectors of 16 bytes whole leaves fewer than the 96 conflicts",
        "with accesses of at most 4 bytes leaves 0.",
        "wide accesses become several of 4 bytes: 64 wavefronts in place of 160",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let flow = [
        "flow",
        &launch("vectors"),
        "--fast",
        "-q",
        "-o",
        out.to_str().unwrap(),
    ];
    let text = common::text(&flow).replace('\n', " ");
    let answer = "No mapping in software that keeps vectors of 16 bytes whole leaves fewer than \
                  the 96 conflicts of columns.";
    assert!(text.contains(answer), "{text}");
    let expected = std::fs::read_to_string(source("vectors_changed")).unwrap();
    assert_eq!(fixed("vectors").1, expected);
    keeps_its_promise("vectors");
}

/// The same where the array is declared as bytes, and a pointer of another type accesses it.
#[test]
fn elements_have_the_type_of_the_pointer_that_accesses_them() {
    let found = tuned("raw");
    assert_eq!(found["results"][0]["hash"], "swizzle:3,2,3");
    let suggestion = &found["suggestions"][0];
    assert_eq!(suggestion["hash"], "swizzle:4,1,4");
    assert_eq!(suggestion["conflicts"], 0);
    let torn = suggestion["torn"].as_array().unwrap();
    assert!(torn.len() == 2 && torn.iter().all(|line| line["bytes"] == 16));
    let expected = std::fs::read_to_string(source("raw_changed")).unwrap();
    assert_eq!(fixed("raw").1, expected);
    keeps_its_promise("raw");
}

/// Casts to words, an object that a function gets by reference, and a line that stores what a
/// function loads: what the review says was
/// compiled.
#[test]
fn fixes_of_words_and_of_references_keep_their_promise() {
    for name in ["dots", "separable", "summed"] {
        is_fixed(name, 0);
    }
}
