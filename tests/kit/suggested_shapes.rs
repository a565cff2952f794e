//! `tune --software`: padding stands in the declaration only where that keeps the shape of
//! the array, so that its indices stay what they are (`tests/fixtures/cuda/shapes.cu`).

use crate::common::suggested::{Case, Launch};
use crate::common::{self, json};
use serde_json::Value;
use std::fs;

/// A short search.
const SHORTLY: &[&str] = &["--budget", "1"];

/// A kernel of `shapes.cu`.
fn case<'a>(entry: &'a str, block: &'a str) -> Case<'a> {
    let more = match entry {
        "dynamic" => "dynamic_shared = 2048\n",
        "dynamic_rows" => "dynamic_shared = 4096\n",
        _ => "",
    };
    Case {
        more,
        ..Case::of("shapes", entry, block)
    }
}

/// The declaration of the padding of `entry`, its index, and whether nothing else changes.
fn padding(entry: &str, block: &str) -> (String, String, bool) {
    let found = case(entry, block).tuned(SHORTLY);
    let padding = &found["suggestions"][0]["padding"];
    let text = |key: &str| padding[key].as_str().unwrap_or_default().to_owned();
    let alone = padding["in_declaration"].as_bool().unwrap_or_default();
    // What is in the declaration takes no instruction, and nothing else does.
    for ranked in found["results"].as_array().unwrap() {
        if ranked["kind"] == "pad" && ranked["hash"] == padding["hash"] {
            assert_eq!(ranked["added_per_access"] == 0, alone, "{ranked}");
        }
    }
    (text("declaration"), text("index"), alone)
}

/// Threads have four rows each, but the array has rows of 17: none of 68 can be longer.
#[test]
fn a_stride_of_several_rows_is_no_row() {
    let launch = case("four_rows", "16, 16").launch();
    let found = launch.tuned(SHORTLY);
    let suggestion = &found["suggestions"][0];
    let declaration = suggestion["padding"]["declaration"].as_str();
    assert!(
        declaration.is_none_or(|d| d.starts_with("__shared__ float tile[SIDE * 4][SIDE + PAD + ")),
        "{suggestion}"
    );
    for ranked in found["results"].as_array().unwrap() {
        let spread = ranked["kind"] == "pad" && ranked["hash"] != "pad:every=17,by=1";
        assert!(!spread || ranked["added_per_access"] != 0, "{ranked}");
    }
    let cute = suggestion["cute"]["code"].as_str().unwrap();
    assert!(
        cute.contains("Shape<cute::Int<64>, cute::Int<17>>"),
        "{cute}"
    );
    // Without the source, the rows are those of the indices, on a condition.
    fs::write(launch.folder.path().join("shapes.cu"), "").unwrap();
    let unseen = launch.tuned(SHORTLY);
    let padding = &unseen["suggestions"][0]["padding"];
    let index = padding["index"].as_str().unwrap();
    assert!(
        index.starts_with("where the source declares tile[16][68]: "),
        "{index}"
    );
    assert_eq!(padding["in_declaration"], false);
}

/// An array of one dimension stays one.
#[test]
fn an_array_without_rows_gets_none() {
    let (declaration, index, alone) = padding("flat", "32, 32");
    assert_eq!(declaration, "__shared__ float tile[1055];");
    assert_eq!(index, "tile[i + i / 32] for element i");
    assert!(!alone);
}

/// `tile[0][i]` counts all elements: with longer rows it would go to others.
#[test]
fn rows_that_an_index_leaves_do_not_become_longer() {
    assert_eq!(padding("behind", "32, 32"), Default::default());
}

#[test]
fn the_innermost_extent_alone_grows() {
    let (declaration, index, alone) = padding("rows", "32, 32");
    assert_eq!(declaration, "__shared__ float tile[2][WIDE][WIDE + 1];");
    assert_eq!(
        index,
        "tile[row][column]: rows of 32 elements stay what they are"
    );
    assert!(alone);
}

/// The launch gives the bytes of an `extern` array; its declaration stays.
#[test]
fn dynamic_memory_is_padded_by_the_launch() {
    let launch = case("dynamic", "256").launch();
    let text = common::text(&["tune", &launch.file, "--software", "-q"]);
    let text = text.replace("\n    ", " ");
    for expected in [
        " extern __shared__ float data[];",
        "the launch: data needs 2108 bytes of dynamic shared memory, it has 2048; dynamic_shared \
         = 2108 in the launch file",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let (declaration, ..) = padding("dynamic", "256");
    assert_eq!(declaration, "extern __shared__ float data[];");
    let (declaration, index, alone) = padding("dynamic_rows", "32, 32");
    assert_eq!(declaration, "extern __shared__ float tile2[][WIDE + 1];");
    assert_eq!(
        index,
        "tile2[row][column]: rows of 32 elements stay what they are"
    );
    assert!(alone);
}

/// A swizzle costs instructions, longer rows only memory: they are a choice of their own, with
/// the declaration to paste.
#[test]
fn the_report_has_padding_that_costs_no_instruction() {
    let Launch { folder: dir, file } = case("rows", "32, 32").launch();
    let out = dir.path().join("out");
    let out = out.to_str().unwrap();
    let command = ["flow", &file, "--fast", "--preset", "sm80", "--out", out];
    let found = json(&command);
    let choice = |kind: &str| {
        let all = found["choices"].as_array().unwrap();
        let own = all.iter().find(|c| c["kind"] == kind);
        own.unwrap_or_else(|| panic!("{kind}: {all:#?}")).clone()
    };
    let (padding, nothing) = (choice("padding"), choice("nothing"));
    assert_eq!(padding["hash"], "pad:every=32,by=1");
    for (key, value) in [
        ("conflicts", 0),
        ("added_per_access", 0),
        ("wasted_bytes", 256),
    ] {
        assert_eq!(padding[key].as_f64(), Some(value.into()), "{padding}");
    }
    assert_eq!(padding["chosen"], true);
    let code = &padding["code"][0];
    let pasted = "// shapes.cu:39, was: __shared__ float tile[2][WIDE][WIDE];\n\
                  __shared__ float tile[2][WIDE][WIDE + 1];\n";
    assert!(code["text"].as_str().unwrap().ends_with(pasted), "{code}");
    // The compiled declaration takes nearly the cycles that are simulated without it.
    let total = |choice: &Value| choice["cycles"]["total"].as_f64().unwrap();
    let compiled = json(&["sim", "tests/fixtures/cuda/longer.toml", "--hash", "mod"]);
    let counted = json(&["conflicts", "tests/fixtures/cuda/longer.toml"]);
    assert_eq!(counted["results"][0]["conflicts"], padding["conflicts"]);
    assert_eq!(counted["results"][0]["wavefronts"], padding["wavefronts"]);
    let ratio = total(&padding) / compiled["cycles"].as_f64().unwrap();
    // Its address arithmetic goes to other units.
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
    assert!(total(&padding) < total(&choice("software")), "{padding}");
    assert!(total(&padding) < total(&nothing) / 2.0, "{padding}");

    let page = fs::read_to_string(dir.path().join("out/report.html")).unwrap();
    for said in [
        "Padding in the declaration alone removes all of them: ",
        "Longer rows add no instruction and take 256 bytes. They were simulated with the accesses",
        "the changed source was not compiled or run.</li><li>Conflicts arise in 1 of 2",
        "<b>padding</b>: longer rows: the declaration alone changes",
        "0, 256 bytes",
        "Each form is complete",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let report = dir.path().join("tune.html");
    let report = report.to_str().unwrap();
    let text = common::spadkit(&["tune", &file, "--software", "--report", report])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains(" bytes more, no instruction:"), "{text}");
    let page = fs::read_to_string(report).unwrap();
    let declared = page.find("tile[2][WIDE][WIDE + 1];").unwrap();
    let of = page.find("Padding in the declaration, <code>pad:every=32,by=1</code>");
    assert!(declared < of.unwrap(), "{page}");
}
