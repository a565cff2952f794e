//! What fails as SARIF: the rules of the format, and fixes that apply.

use super::{gate, read, transpose};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// The rules of SARIF 2.1.0 that a log of this kind can break; the number of results.
pub(super) fn check_sarif(log: &Value, root: &Path) -> usize {
    assert_eq!(log["version"], "2.1.0");
    assert!(
        log["$schema"]
            .as_str()
            .unwrap()
            .ends_with("sarif-schema-2.1.0.json")
    );
    let [run] = &log["runs"].as_array().unwrap()[..] else {
        panic!("one run");
    };
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "spadkit");
    let rules = driver["rules"].as_array().unwrap();
    let ids: BTreeSet<&str> = rules.iter().map(|r| r["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len(), "ids are unique");
    for rule in rules {
        for part in ["shortDescription", "fullDescription", "help"] {
            let text = rule[part]["text"].as_str();
            assert!(text.is_some_and(|text| !text.is_empty()), "{part}: {rule}");
        }
    }
    let mut fingerprints = BTreeSet::new();
    let results = run["results"].as_array().unwrap();
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let levels = ["none", "note", "warning", "error"];
        assert!(levels.contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let print = result["partialFingerprints"]["spadkit/v3"]
            .as_str()
            .unwrap();
        assert!(fingerprints.insert(print.to_owned()), "fingerprints differ");
        let locations = result["locations"].as_array().unwrap();
        assert_eq!(locations.len(), 1);
        let physical = &locations[0]["physicalLocation"];
        let lines = lines_of(&physical["artifactLocation"], run, root);
        let line = physical["region"]["startLine"].as_u64().unwrap() as usize;
        assert!((1..=lines.len()).contains(&line), "{result}");
        for fix in result["fixes"].as_array().into_iter().flatten() {
            check_fix(fix, run, root);
        }
    }
    results.len()
}

/// The lines of an artifact, whose URI is relative to a known base.
fn lines_of(artifact: &Value, run: &Value, root: &Path) -> Vec<String> {
    let uri = artifact["uri"].as_str().unwrap();
    assert!(
        !uri.starts_with('/') && !uri.contains('\\') && !uri.contains(' ') && !uri.contains(".."),
        "{uri}"
    );
    let base = artifact["uriBaseId"].as_str().unwrap();
    assert!(run["originalUriBaseIds"][base].is_object(), "{base}");
    let text = std::fs::read_to_string(root.join(uri)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// A fix has changes, each with regions inside its file that do not overlap.
fn check_fix(fix: &Value, run: &Value, root: &Path) {
    assert!(!fix["description"]["text"].as_str().unwrap().is_empty());
    let changes = fix["artifactChanges"].as_array().unwrap();
    assert!(!changes.is_empty());
    for change in changes {
        let lines = lines_of(&change["artifactLocation"], run, root);
        let mut seen = BTreeSet::new();
        for replacement in change["replacements"].as_array().unwrap() {
            let region = &replacement["deletedRegion"];
            let at = |name: &str| region[name].as_u64().unwrap() as usize;
            let (start, end) = (at("startLine"), at("endLine"));
            assert!((start, at("startColumn")) <= (end, at("endColumn")));
            assert!(seen.insert((start, at("endColumn"))));
            assert!(at("startColumn") <= lines[start - 1].chars().count());
            assert!(at("endColumn") <= lines[end - 1].chars().count() + 1);
            assert!(
                !replacement["insertedContent"]["text"]
                    .as_str()
                    .unwrap()
                    .is_empty()
            );
        }
    }
}

/// The source with a fix of one file.
fn applied(source: &str, fix: &Value) -> String {
    let [change] = &fix["artifactChanges"].as_array().unwrap()[..] else {
        panic!("one file");
    };
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    let byte = |line: &Value, column: &Value| {
        let line = line.as_u64().unwrap() as usize - 1;
        let column = column.as_u64().unwrap() as usize - 1;
        let before: usize = lines[..line].iter().map(|l| l.len()).sum();
        let inside: usize = lines[line].chars().take(column).map(char::len_utf8).sum();
        before + inside
    };
    let replacements = change["replacements"].as_array().unwrap();
    let mut edits: Vec<(usize, usize, &str)> = (replacements.iter())
        .map(|r| {
            let at = &r["deletedRegion"];
            let start = byte(&at["startLine"], &at["startColumn"]);
            let end = byte(&at["endLine"], &at["endColumn"]);
            (start, end, r["insertedContent"]["text"].as_str().unwrap())
        })
        .collect();
    edits.sort();
    let mut text = source.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}

/// Two kernels of one file are changed one after the other, or together: their functions
/// have names of their own, which the file does not have yet.
#[test]
fn fixes_of_two_kernels_of_one_file_apply_together() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["bodies.toml", "structs.toml", "pads.ptx", "pads.cu"] {
        let from = Path::new("tests/fixtures/cuda").join(file);
        std::fs::copy(from, dir.path().join(file)).unwrap();
    }
    let path = dir.path().join("pads.cu");
    let source = std::fs::read_to_string(&path).unwrap();
    let fixed = |launches: &[&str], source: &str| {
        std::fs::write(&path, source).unwrap();
        let more = ["--preset", "sm80", "--sarif", "gate.sarif"];
        gate(dir.path(), &[launches, &more].concat());
        let log = read(dir.path().join("gate.sarif"));
        check_sarif(&log, dir.path());
        let results = log["runs"][0]["results"].as_array().unwrap().iter();
        let mut fixes: Vec<Value> = results.map(|r| r["fixes"][0].clone()).collect();
        fixes.dedup();
        fixes
    };
    let fixes = fixed(&["bodies.toml", "structs.toml"], &source);
    assert_eq!(fixes.len(), 2, "one of each kernel");
    let replacements = |fix: &Value| {
        let all = &fix["artifactChanges"][0]["replacements"];
        all.as_array().unwrap().clone()
    };
    let mut both = fixes[0].clone();
    let all = [replacements(&fixes[0]), replacements(&fixes[1])].concat();
    both["artifactChanges"][0]["replacements"] = all.into();
    let text = applied(&source, &both);
    for name in [
        "spad_place(",
        "spad_place_at(",
        "spad_place_s(",
        "spad_place_s_at(",
    ] {
        let defined = text
            .lines()
            .filter(|l| l.starts_with("__device__") && l.contains(&format!("unsigned {name}")));
        assert_eq!(defined.count(), 1, "{name}: {text}");
    }
    let body = |kernel: &str| {
        let from = text.find(&format!(" {kernel}(")).unwrap();
        let body = &text[from..];
        &body[..body.find("\n}").unwrap()]
    };
    for (kernel, own, other) in [
        ("bodies", "spad_place_at(", "spad_place_s_at("),
        ("structs", "spad_place_s_at(", "spad_place_at("),
    ] {
        assert!(
            body(kernel).contains(own) && !body(kernel).contains(other),
            "{text}"
        );
    }
    // Where the file has the name already, another one is taken.
    let with_name = source.clone() + "unsigned spad_place(unsigned i);\n";
    let fixes = fixed(&["structs.toml"], &with_name);
    let text = applied(&with_name, &fixes[0]);
    assert!(
        text.contains("unsigned spad_place_s(unsigned index)"),
        "{text}"
    );
    assert!(
        !text.contains("unsigned spad_place(unsigned index)"),
        "{text}"
    );
}

/// Each array has a fix, and all of them together have one, which comes first. A
/// statement may be on several lines.
#[test]
fn fixes_of_several_arrays_apply_together() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["two.toml", "two.ptx", "two.cu"] {
        let from = Path::new("tests/fixtures/cuda").join(file);
        std::fs::copy(from, dir.path().join(file)).unwrap();
    }
    let path = dir.path().join("two.cu");
    let source = std::fs::read_to_string(&path).unwrap();
    let source = source.replace(
        "out[t] = dot(As, Bs, t);",
        "out[t] = dot(As, Bs,\n        t);",
    );
    std::fs::write(&path, &source).unwrap();
    gate(
        dir.path(),
        &["two.toml", "--preset", "sm80", "--sarif", "gate.sarif"],
    );
    let log = read(dir.path().join("gate.sarif"));
    assert_eq!(check_sarif(&log, dir.path()), 1);
    let fixes = log["runs"][0]["results"][0]["fixes"].as_array().unwrap();
    assert_eq!(fixes.len(), 3);
    let texts: Vec<String> = fixes.iter().map(|fix| applied(&source, fix)).collect();
    let body = "s += (*spad_place_As_at(spad_As, &a[32 * t + k])) * \
                (*spad_place_Bs_at(spad_Bs, &b[32 * t + k]));";
    for line in [
        body,
        "out[t] = dot(As, Bs,\n        t, As, Bs);",
        "\n        As[spad_place_As(32 * k + t)] =",
    ] {
        assert!(texts[0].contains(line), "{line}: {}", texts[0]);
    }
    for (text, arrays) in texts.iter().zip([["As", "Bs"], ["As", "As"], ["Bs", "Bs"]]) {
        for array in ["As", "Bs"] {
            let function = format!("unsigned spad_place_{array}(");
            assert_eq!(text.contains(&function), arrays.contains(&array), "{text}");
        }
    }
}

#[test]
fn the_sarif_log_follows_its_rules_and_its_fix_applies() {
    let dir = transpose();
    let args = [
        "transpose.toml",
        "--preset",
        "sm80",
        "--sarif",
        "gate.sarif",
        "--junit",
        "gate.xml",
    ];
    let (status, ..) = gate(dir.path(), &args);
    assert_eq!(status, Some(1));
    let log = read(dir.path().join("gate.sarif"));
    assert_eq!(check_sarif(&log, dir.path()), 1);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "spadkit/bank-conflict");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "transpose.cu");
    assert_eq!(place["region"]["startLine"], 25);
    let message = result["message"]["text"].as_str().unwrap();
    assert!(message.contains("swizzle:3,1,4"), "{message}");
    assert!(message.contains("This line becomes:"), "{message}");
    // Both lines that access the tile change, and the function is inserted.
    let source = std::fs::read_to_string(dir.path().join("transpose.cu")).unwrap();
    let fixed = applied(&source, &result["fixes"][0]);
    assert_eq!(fixed.matches("spad_place(").count(), 3, "{fixed}");
    assert!(
        fixed.contains("unsigned spad_place(unsigned index)"),
        "{fixed}"
    );
    let uses = fixed.lines().filter(|l| l.contains("[spad_place("));
    assert!(
        uses.clone()
            .all(|l| l.starts_with("    ") && l.ends_with(';'))
    );
    assert_eq!(uses.count(), 2);
    let junit = std::fs::read_to_string(dir.path().join("gate.xml")).unwrap();
    assert!(
        junit.contains("<testsuites tests=\"2\" failures=\"1\" errors=\"0\">"),
        "{junit}"
    );
    assert_eq!(junit.matches("<testcase ").count(), 2);
    assert_eq!(junit.matches("</failure>").count(), 1);
    assert!(junit.contains("name=\"conflicts &gt; 0\""), "{junit}");
}

/// The conflicts are in a function whose address the kernel computes: the fixes change the
/// calls, and a reviewer is led there.
#[test]
fn a_fix_of_a_call_belongs_to_the_line_in_the_function() {
    let dir = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/gemm");
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
    }
    gate(dir.path(), &["hgemm.toml", "--sarif", "gate.sarif"]);
    let log = read(dir.path().join("gate.sarif"));
    check_sarif(&log, dir.path());
    let results = log["runs"][0]["results"].as_array().unwrap();
    let line = |at: &Value| at["physicalLocation"]["region"]["startLine"].as_u64();
    let of_function = results
        .iter()
        .filter(|result| result["relatedLocations"].is_array());
    let mut found = 0;
    for result in of_function {
        let called = line(&result["relatedLocations"][0]).unwrap();
        let changes = result["fixes"][0]["artifactChanges"][0]["replacements"].as_array();
        let changed = changes.unwrap().iter().map(|r| &r["deletedRegion"]);
        let covers = |region: &Value| {
            let row = |key: &str| region[key].as_u64().unwrap();
            (row("startLine")..=row("endLine")).contains(&called)
        };
        assert!(changed.into_iter().any(covers), "{result:#}");
        let text = result["message"]["text"].as_str().unwrap();
        assert!(
            text.contains(&format!("The call in gemm.cu:{called} becomes: ")),
            "{text}"
        );
        found += 1;
    }
    assert!(found > 0, "{log:#}");
}
