//! `conflicts --source`: access sites summed by line of the source.

use crate::common::{json, refused};
use serde_json::Value;

fn conflicts(args: &[&str]) -> Value {
    json(&[&["conflicts"], args].concat())
}

fn sum(list: &Value, key: &str) -> u64 {
    let list = list.as_array().expect("a list");
    list.iter()
        .map(|l| l[key].as_u64().expect("a number"))
        .sum()
}

/// What the lines cost adds up to what the sites cost, and a line that the
/// compiler unrolled is one row.
#[test]
fn lines_add_up_to_the_sites() {
    let input = "kernels/transpose/transpose.toml";
    let sites = &conflicts(&[input, "--per-pc"])["results"][0];
    let result = &conflicts(&[input, "--source"])["results"][0];
    for key in ["conflicts", "wavefronts", "ideal_wavefronts"] {
        assert_eq!(
            sum(&result["lines"], key),
            sum(&sites["per_pc"], key),
            "{key}"
        );
    }
    let lines = result["lines"].as_array().unwrap();
    assert!(lines.len() <= sites["per_pc"].as_array().unwrap().len());
    let share: f64 = lines.iter().map(|l| l["share_pct"].as_f64().unwrap()).sum();
    assert!((share - 100.0).abs() < 1e-9, "{share}");
}

/// The dearest line comes first, with its text and the call that brought it
/// into the kernel.
#[test]
fn the_dearest_line_comes_first_with_its_text_and_its_call() {
    let result = &conflicts(&["kernels/transpose/transpose.toml", "--source"])["results"][0];
    let lines = result["lines"].as_array().unwrap();
    let excess: Vec<u64> = lines
        .iter()
        .map(|l| l["excess_wavefronts"].as_u64().unwrap())
        .collect();
    assert!(
        excess[0] > 0 && excess.is_sorted_by(|a, b| a >= b),
        "{excess:?}"
    );
    let first = &lines[0];
    assert!(first["text"].as_str().unwrap().contains("tile["), "{first}");
    let call = first["inlined_at"][0].as_str().unwrap();
    assert!(call.contains("transpose.cu:"), "{call}");
}

/// A trace without places has a row per site.
#[test]
fn a_trace_without_lines_goes_by_site() {
    let result = &conflicts(&["kernel:transpose", "--source"])["results"][0];
    let lines = result["lines"].as_array().unwrap();
    assert!(!lines.is_empty() && lines.iter().all(|l| l["source"].is_null()));
}

/// With a simulation of the launch each line has its share of the cycles, as
/// `sim --source` has it under the same mapping.
#[test]
fn lines_have_their_share_of_the_cycles() {
    let input = "kernels/transpose/transpose.toml";
    let args = [
        input,
        "--source",
        "--cycles",
        "--hash",
        "mod",
        "xor",
        "pad:every=32,by=1",
    ];
    let results = conflicts(&args);
    let shares = |at: usize| -> Vec<(String, Value)> {
        let lines = results["results"][at]["lines"].as_array().unwrap();
        let of = |l: &Value| {
            (
                l["source"].as_str().unwrap().to_owned(),
                l["cycles_pct"].clone(),
            )
        };
        lines.iter().map(of).collect()
    };
    for (at, hash) in ["mod", "xor"].into_iter().enumerate() {
        let simulated = json(&["sim", input, "--source", "--hash", hash]);
        let simulated = simulated["lines"].as_array().unwrap();
        for (source, share) in shares(at) {
            let own = simulated.iter().find(|l| l["source"] == source.as_str());
            assert_eq!(share, own.unwrap()["share_pct"], "{hash}: {source}");
        }
    }
    assert_ne!(shares(0), shares(1), "the mapping counts");
    // No machine has a padding.
    assert!(shares(2).iter().all(|(_, share)| share.is_null()));
}

#[test]
fn cycles_are_of_a_launch() {
    let message = refused(&["conflicts", "kernel:fwt", "--source", "--cycles"]);
    assert!(message.contains("expected a launch file"), "{message}");
    refused(&["conflicts", "kernel:fwt", "--cycles"]);
}
