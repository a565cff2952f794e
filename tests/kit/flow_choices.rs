//! `flow` recommends what is fastest, and text, page, code and captions are of that choice.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;

/// The result, the text and the page of one run of a launch file on sm80. The search has a
/// second: what is tested holds for whatever it finds.
fn flow(kernel: &str) -> (Value, String, String) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.env("COLUMNS", "1000").args(["flow", kernel, "-o"]);
    command.arg(&out).args(["--preset", "sm80", "--fast"]);
    let output = command.args(["--budget", "1"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let file = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let found = serde_json::from_str(&file("summary.json")).unwrap();
    (found, text, file("report.html"))
}

fn choice<'a>(found: &'a Value, kind: &str) -> &'a Value {
    let all = found["choices"].as_array().unwrap();
    let own = all.iter().find(|c| c["kind"] == kind);
    own.unwrap_or_else(|| panic!("{kind}: {all:#?}"))
}

/// Longer rows need no instruction, so they win where index arithmetic costs more than it
/// saves, also if the array has another behind it and its growth is no multiple of 16 bytes.
#[test]
fn padding_in_the_declaration_is_simulated_and_recommended() {
    let (found, text, page) = flow("kernels/nw/nw_upper.toml");
    let (padding, nothing) = (choice(&found, "padding"), choice(&found, "nothing"));
    let total = |choice: &Value| choice["cycles"]["total"].as_u64();
    assert_eq!(
        (&padding["chosen"], total(padding).is_some()),
        (&true.into(), true)
    );
    assert!(total(padding) < total(nothing), "{padding}");
    assert!(
        total(choice(&found, "software")) > total(nothing),
        "{found}"
    );
    let declared = &found["software"]["declared"];
    assert_eq!(declared["cycles"].as_u64(), total(padding));
    let hash = padding["hash"].as_str().unwrap();
    let answer = format!("{hash} in the declaration removes all 420 conflicts of nw_upper");
    for said in [
        answer.as_str(),
        &format!("* {hash} in the declaration"),
        &format!("with {hash} in the declaration (sim"),
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(page.contains("Padding in the declaration alone removes all of them: 1.03"));
    assert!(!page.contains("makes it faster"), "{page}");
    // What the page changes is the declaration, and no index.
    let sources = found["sources"].to_string();
    assert!(
        sources.contains("s[B + 1][B + 1+1]") || sources.contains("[B + 1 + 1]"),
        "{sources}"
    );
    assert!(!sources.contains("spad_place"), "{sources}");
}

/// What was not simulated is at the end, what is slower has no share of the gain, and a new
/// chip that would gain is named where no change of the kernel does.
#[test]
fn the_verdict_agrees_with_every_row_of_its_table() {
    let (found, text, page) = flow("tests/fixtures/cuda/bins.toml");
    let all = found["choices"].as_array().unwrap();
    let cycles: Vec<u64> = (all.iter().map(|c| c["cycles"]["total"].as_u64()))
        .map(|cycles| cycles.unwrap_or(u64::MAX))
        .collect();
    assert!(cycles.is_sorted(), "{cycles:?}");
    assert_eq!(choice(&found, "nothing")["chosen"], true);
    assert!(
        choice(&found, "fixed")["speed_up"].as_f64() > Some(1.0),
        "{found}"
    );
    assert!(page.contains("No change of the kernel makes it faster: leave it as it is."));
    assert!(page.contains("On a new chip, a fixed XOR hash leaves 318 conflicts: 1.001 times"));
    assert!(!page.contains("\"Share of gain\">-"), "{page}");
    // The mapping of the answer, of the code and of its caption is one.
    let software = choice(&found, "software");
    let hash = software["hash"].as_str().unwrap();
    let suggestions = &found["software"]["suggestions"];
    assert_eq!(suggestions[0]["hash"], hash, "{suggestions}");
    let code = &software["code"][0];
    assert!(code["text"].as_str().unwrap().contains(hash), "{code}");
    assert_eq!(code["mapping"], Value::Null);
    let changes = format!("source changes for h: {hash} leaves");
    assert!(text.contains(&changes), "{text}");
}

/// Arrays with mappings of their own were not simulated: the caption says so, and has their
/// names and conflicts, not those of the mapping that was put into the PTX.
#[test]
fn a_caption_is_of_the_code_beside_it() {
    let (found, _, page) = flow("kernels/nw/nw_upper.toml");
    let software = choice(&found, "software");
    let code = software["code"].as_array().unwrap();
    let cuda = code.iter().find(|c| c["form"] == "CUDA").unwrap();
    let own = cuda["mapping"]["hash"].as_str().unwrap();
    assert_ne!(own, software["hash"], "{software}");
    assert!(cuda["text"].as_str().unwrap().contains(own));
    assert_eq!(cuda["cost"], "index arithmetic, not measured");
    let caption = format!("<code>{own}</code>: 0 of 420 conflicts left, not simulated.");
    assert!(page.contains(&caption), "{page}");
    let ptx = format!(
        "<code>{}</code>: 1 conflict left, 0.96",
        software["hash"].as_str().unwrap()
    );
    assert!(page.contains(&ptx), "{page}");
}
