//! What is refused is what `ptxas` refuses.

use super::*;
use crate::ptx::exec::decode::decode;
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
const ELEMENTS: [&str; 11] = [
    "f16", "bf16", "tf32", "f64", "s8", "u8", "s4", "u4", "b1", "e4m3", "e5m2",
];
const SUMS: [&str; 4] = ["f16", "f32", "f64", "s32"];

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

const FACTORS: &str = "{%r0, %r1, %r2, %r3}, {%r4, %r5}";

/// Instruction and the reason why it is refused; none where it is taken.
#[test]
fn errors_of_products_say_what_is_expected() {
    let sums = "{%f0, %f1, %f2, %f3}";
    let f16 = |words: &str| format!("mma.sync.aligned.m16n8k16.{words} {sums}, {FACTORS}, {sums};");
    let sparse = |n: &str| {
        format!(
            "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 \
             {{%r0, %r1, %r2, %r3}}, {{%r4, %r5}}, {{%r6, %r7}}, {{%r0, %r1, %r2, %r3}}, %r8, {n};"
        )
    };
    let bits = |words: &str| {
        format!(
            "mma.sync.aligned.m8n8k128.row.col{words} {{%r0, %r1}}, {{%r2}}, {{%r3}}, {{%r4, %r5}};"
        )
    };
    let cases: Vec<(String, &str)> = vec![
        (f16("row.col.f32.f16.f16.f32"), ""),
        (f16("row.col.f32.bf16.bf16.f32"), ""),
        (f16("col.row.f32.f16.f16.f32"), "needs .row.col"),
        (f16("row.col.satfinite.f32.f16.f16.f32"), "only `mma` of .s8 .u8 .s4 .u4 has .satfinite"),
        (f16("row.col.rn.f32.f16.f16.f32"), "only `mma` of .f64 has .rn"),
        (f16("row.col.f32.f16.bf16.f32"), "does not multiply .f16 by .bf16"),
        (f16("row.col.f32.f16.f16.f16"), "sums in .f16 or .f32, accumulator and result alike"),
        (f16("row.col.f32.e3m2.e3m2.f32"), "needs four types it knows"),
        (f16("row.col.kind::f8f6f4.f32.f16.f16.f32"), "a modifier that is not supported"),
        (
            format!("mma.sync.aligned.m16n8k64.row.col.f32.f16.f16.f32 {sums}, {FACTORS}, {sums};"),
            "`mma` has no .m16n8k64 of .f16: expected .m8n8k4 .m16n8k8 .m16n8k16",
        ),
        (
            format!("mma.sync.m16n8k16.row.col.f32.f16.f16.f32 {sums}, {FACTORS}, {sums};"),
            "needs .sync.aligned",
        ),
        (
            format!("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {sums}, {FACTORS}, {sums};"),
            "the first factor is in 4 registers: expected 2 of .u32",
        ),
        (
            format!(
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {sums}, {sums}, {{%r4, %r5}}, \
                 {sums};"
            ),
            "a register of .f32 where .u32 is expected",
        ),
        (
            format!(
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {sums}, {FACTORS}, \
                 {{0f00000000, 0f00000000, 0f00000000, 0f00000000}};"
            ),
            "",
        ),
        (sparse("1"), ""),
        (sparse("2"), "the selector of the metadata is a constant from 0 to 1"),
        (sparse("%r9"), "the selector of the metadata is a constant from 0 to 1"),
        (bits(".s32.b1.b1.s32.xor.popc"), ""),
        (bits(".s32.b1.b1.s32.and.popc"), ""),
        (bits(".s32.b1.b1.s32"), "needs .xor.popc or .and.popc"),
        (bits(".satfinite.s32.b1.b1.s32.xor.popc"), "has .satfinite"),
        (
            "mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {%d0, %d1}, {%d2}, {%d3}, {%d4, %d5};"
                .to_owned(),
            "",
        ),
    ];
    let all: Vec<String> = cases.iter().map(|c| c.0.clone()).collect();
    let refused = refused(&all, 90);
    for (at, (instruction, reason)) in cases.iter().enumerate() {
        let found = refused.get(&at).map_or("", String::as_str);
        let agrees = if reason.is_empty() {
            found.is_empty()
        } else {
            found.contains(reason)
        };
        assert!(agrees, "{instruction}: {found}");
    }
    let old = super::forms::refused(&[f16("row.col.f32.f16.f16.f32")], 75);
    assert!(
        old[&0].contains("requires sm_80 or later, and the module targets sm_75"),
        "{old:?}"
    );
}
