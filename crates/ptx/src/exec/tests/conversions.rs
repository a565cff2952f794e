//! `cvt` has the words that `ptxas` takes, and no others, for all pairs of
//! types but small ones (`ptxas_cvt.txt`); those are in `small.rs`.

use super::words::reasons;
use std::collections::{HashMap, HashSet};

const TABLE: &str = include_str!("ptxas_cvt.txt");
const TYPES: [&str; 15] = [
    "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "bf16", "f32", "f64", "tf32",
    "f16x2", "bf16x2",
];
const ROUNDINGS: [&str; 11] = [
    "", "rn", "rz", "rm", "rp", "rna", "rs", "rni", "rzi", "rmi", "rpi",
];
const OTHERS: [&str; 7] = [
    "",
    "sat",
    "ftz",
    "satfinite",
    "relu",
    "ftz.sat",
    "satfinite.relu",
];

/// A register of bits that holds a value of the type.
fn register(ty: &str, number: u32) -> String {
    let bits = match ty {
        "u64" | "s64" | "f64" => 64,
        "u32" | "s32" | "f32" | "tf32" | "f16x2" | "bf16x2" => 32,
        "u8" | "s8" => 8,
        _ => 16,
    };
    format!("%b{bits}_{number}")
}

fn conversion(to: &str, from: &str, words: &[&str]) -> String {
    let mut operands = vec![register(to, 0), register(from, 1)];
    if to.ends_with("x2") && from == "f32" {
        operands.push("%b32_2".to_owned());
    }
    if to.ends_with("x2") && words[0] == "rs" {
        operands.push("%b32_4".to_owned());
    }
    let mut name = vec!["cvt"];
    name.extend(words.iter().filter(|w| !w.is_empty()));
    name.extend([to, from]);
    format!("{} {};", name.join("."), operands.join(", "))
}

#[test]
fn each_conversion_is_judged_as_ptxas_does() {
    let lines = TABLE.lines().filter(|l| !l.starts_with('#'));
    let mut taken: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (pairs, words) in lines.map(|l| l.split_once(" | ").unwrap()) {
        for pair in pairs.split(' ') {
            taken.insert(pair, words.split(' ').collect());
        }
    }
    let mut wrong = Vec::new();
    for (to, from) in TYPES.iter().flat_map(|to| TYPES.map(|from| (to, from))) {
        let all = ROUNDINGS.iter().flat_map(|r| OTHERS.map(|o| [*r, o]));
        let all: Vec<[&str; 2]> = all.collect();
        let forms: Vec<String> = all
            .iter()
            .map(|words| conversion(to, from, words))
            .collect();
        for (words, (form, reason)) in all.iter().zip(forms.iter().zip(reasons(&forms))) {
            let words = words.join(".");
            let words = match words.trim_matches('.') {
                "" => "-",
                words => words,
            };
            let judged = taken.get(&*format!("{to}.{from}"));
            let takes = judged.is_some_and(|all| all.contains(words));
            // What `ptxas` refuses is wrong, not unsupported.
            let unsupported = reason.as_ref().is_some_and(|r| r.contains("not supported"));
            if takes != reason.is_none() || unsupported {
                wrong.push(format!("{form} {}", reason.unwrap_or_default()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
