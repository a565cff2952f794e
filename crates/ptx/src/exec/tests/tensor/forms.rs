//! What is refused is what `ptxas` refuses.

use super::*;
use crate::exec::decode::decode;
use std::collections::{BTreeMap, HashMap};

const SHAPES: [&str; 12] = [
    "m8n8k4",
    "m8n8k16",
    "m8n8k32",
    "m8n8k64",
    "m8n8k128",
    "m16n8k4",
    "m16n8k8",
    "m16n8k16",
    "m16n8k32",
    "m16n8k64",
    "m16n8k128",
    "m16n8k256",
];
pub(super) const ELEMENTS: [&str; 11] = [
    "f16", "bf16", "tf32", "f64", "s8", "u8", "s4", "u4", "b1", "e4m3", "e5m2",
];
pub(super) const SUMS: [&str; 4] = ["f16", "f32", "f64", "s32"];

/// Why instructions are refused, by their number.
pub(super) fn refused(all: &[String], target: u32) -> BTreeMap<usize, String> {
    refused_for(&format!("sm_{target}"), all)
}

/// The same of a target by its name.
pub(super) fn refused_for(target: &str, all: &[String]) -> BTreeMap<usize, String> {
    let head = format!(
        ".version 8.8\n.target {target}\n.address_size 64\n.entry k() {{ .reg .b32 %r<400>; \
         .reg .f32 %f<9>; .reg .f64 %d<400>; .reg .b64 %rd<9>; .reg .b16 %h<9>; .reg .pred %p<2>; \
         .reg .s32 %s<9>; .reg .f16x2 %hh<9>; \
         .shared .align 128 .b8 s[8192];"
    );
    let text = format!("{head}\n{}\nret; }}", all.join("\n"));
    let module = Module::parse(&text, "t.ptx").unwrap_or_else(|e| panic!("{e:?}"));
    let problems = decode(&module, 0, &HashMap::new(), true).err();
    let first = head.lines().count() as u32 + 1;
    let numbered = problems.into_iter().flatten();
    numbered
        .map(|p| ((p.place.line - first) as usize, p.reason))
        .collect()
}

/// The forms that `ptxas` takes, with the first target of each.
pub(super) fn taken() -> Vec<(Case, u32)> {
    let lines = include_str!("tensor.txt")
        .lines()
        .filter(|l| !l.starts_with('#'));
    let of_line = |line: &str| {
        let (head, forms) = line.split_once(" | ").unwrap();
        let shape = head
            .split('.')
            .find(|w| w.starts_with('m') && w.contains('k'))
            .unwrap();
        let sparse = head.starts_with("mma.sp");
        let forms = forms.split(' ').map(|form| {
            let (types, target) = form.split_once('@').unwrap();
            (Case::new(shape, types, sparse), target.parse().unwrap())
        });
        forms.collect::<Vec<_>>()
    };
    // `ptxas` has a shape of .tf32 that the PTX ISA does not list.
    let listed = |(case, _): &(Case, u32)| {
        case.sparse || (case.shape.as_str(), case.types[1].as_str()) != ("m16n8k16", "tf32")
    };
    lines.flat_map(of_line).filter(listed).collect()
}

#[test]
fn products_are_refused_where_ptxas_refuses_them() {
    let taken: BTreeMap<String, u32> = taken()
        .into_iter()
        .map(|(case, target)| (case.instruction(), target))
        .collect();
    assert!(taken.len() > 80);
    let mut all = Vec::new();
    for (sparse, shape) in [false, true]
        .into_iter()
        .flat_map(|s| SHAPES.map(|shape| (s, shape)))
    {
        for a in ELEMENTS {
            for b in ELEMENTS {
                for d in SUMS {
                    for c in SUMS {
                        let case = Case::new(shape, &format!("{d}.{a}.{b}.{c}"), sparse);
                        all.push(case.instruction());
                    }
                }
            }
        }
    }
    for target in [52, 70, 75, 80, 86, 89, 90] {
        let refused = refused(&all, target);
        for (at, text) in all.iter().enumerate() {
            let expected = taken.get(text).is_some_and(|&first| target >= first);
            let found = refused.get(&at);
            assert_eq!(found.is_none(), expected, "sm_{target} {text}: {found:?}");
        }
    }
}
