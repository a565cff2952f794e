//! Changes of arrays that another block of the cluster accesses (`fixtures/cuda/peers.cu`).

use crate::common::suggested::{Launch, QUICKLY};
use crate::common::{json, text};
use serde_json::Value;

/// A launch of one kernel of `peers.cu`.
fn launch(entry: &str) -> Launch {
    let read = |end: &str| std::fs::read_to_string(format!("tests/fixtures/cuda/peers.{end}"));
    let (source, ptx) = (read("cu").unwrap(), read("ptx").unwrap());
    let block = match entry {
        "by_parts" => "16, 16",
        _ => "128",
    };
    let keys = format!(
        "ptx = \"peers.ptx\"\nentry = \"{entry}\"\ngrid = [2]\nblock = [{block}]\n[[arg]]\n\
         name = \"in\"\ntype = \"f32\"\ncount = 2048\ninit = \"iota\"\n[[arg]]\nname = \"out\"\n\
         type = \"f32\"\ncount = 2048\n"
    );
    Launch::of(&[
        ("peers.cu", &source),
        ("peers.ptx", &ptx),
        ("k.toml", &keys),
    ])
}

/// The line of the other block would read what is elsewhere now.
#[test]
fn a_line_of_another_block_withholds_the_change() {
    let lines = [
        ("by_pointer", 14),
        ("of_both", 29),
        ("by_element", 44),
        ("by_parts", 62),
    ];
    for (entry, line) in lines.map(|(entry, line)| (entry, format!("peers.cu:{line}"))) {
        let launch = launch(entry);
        let found = launch.tuned(QUICKLY);
        assert_eq!(
            found["suggestions"].as_array().map(Vec::len),
            Some(0),
            "{entry}"
        );
        let left = &found["left_alone"][0];
        assert_eq!(
            left["by_other_blocks"],
            Value::from(vec![line.clone()]),
            "{left}"
        );
        assert_eq!(left["conflicts"], 0, "{left}");
        let shown = text(&["tune", &launch.file, "--software", "--budget", "1"]);
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let why = format!("other blocks of the cluster access tile in {line}");
        assert!(
            shown.contains(&format!("No change of the source is offered: {why}")),
            "{shown}"
        );
        let traced = launch.folder.path().join("trace.json");
        let traced = traced.to_str().unwrap();
        json(&["trace", &launch.file, "-o", traced]);
        let trace: Value = serde_json::from_str(&std::fs::read_to_string(traced).unwrap()).unwrap();
        let sites = trace["remote_sites"].as_array().unwrap();
        assert!(!sites.is_empty() && sites.iter().all(|s| s["bytes"].as_u64().unwrap() <= 4096));
    }
}

/// What `rewrite` refuses is no command of the report.
#[test]
fn flow_offers_no_rewriting_that_is_refused() {
    let launch = launch("by_pointer");
    let out = launch.folder.path().join("out");
    let out = out.to_str().unwrap();
    let shown = text(&["flow", &launch.file, "--fast", "-q", "-o", out]);
    assert!(shown.contains("left out: rewriting"), "{shown}");
    let page = std::fs::read_to_string(format!("{out}/report.html")).unwrap();
    assert!(page.contains("spadkit tune") && !page.contains("spadkit rewrite"));
}
