//! What is refused is what `ptxas` refuses (`wgmma.txt`).

use crate::ptx::exec::tests::tensor::forms::refused_for;
use std::collections::BTreeSet;

const ELEMENTS: [&str; 11] = [
    "f16", "bf16", "tf32", "f64", "s8", "u8", "s4", "u4", "b1", "e4m3", "e5m2",
];
const SUMS: [&str; 4] = ["f16", "f32", "f64", "s32"];

fn list(count: u32) -> String {
    let names = (0..count).map(|n| format!("%r{n}"));
    format!("{{{}}}", names.collect::<Vec<_>>().join(", "))
}

/// Registers of a result, and the constants after scale-d.
fn instruction(sp: &str, n: u32, k: u32, [d, a, b]: [&str; 3]) -> String {
    let tail = match a {
        "f16" | "bf16" => ", 1, 1, 0, 0",
        "tf32" | "e4m3" | "e5m2" => ", 1, 1",
        _ => "",
    };
    let popc = if a == "b1" || b == "b1" {
        ".and.popc"
    } else {
        ""
    };
    let metadata = if sp.is_empty() { "" } else { "%r300, 0, " };
    let sums = list(if d == "f16" { n / 4 } else { n / 2 });
    format!(
        "wgmma.mma_async{sp}.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}{popc} {sums}, %rd0, %rd1, \
         {metadata}%p0{tail};"
    )
}

/// The products that `ptxas` takes, by `.sp`, k and types, with the columns.
fn taken() -> BTreeSet<String> {
    let lines = include_str!("wgmma.txt")
        .lines()
        .filter(|l| !l.starts_with('#'));
    let of_line = |line: &str| {
        let [sp, k, columns, types] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let k = k.parse().unwrap();
        let step = |n: &u32| match columns {
            "8" => n.is_multiple_of(8),
            _ => *n == 8 || *n == 24 || n.is_multiple_of(16),
        };
        let sp = sp.strip_prefix("dense").unwrap_or(sp);
        let types: Vec<Vec<&str>> = types.split(' ').map(|t| t.split('.').collect()).collect();
        let all = (8..=256).step_by(8).filter(step).flat_map(move |n| {
            let one = |t: &Vec<&str>| instruction(sp, n, k, [t[0], t[1], t[2]]);
            types.iter().map(one).collect::<Vec<_>>()
        });
        all.collect::<Vec<_>>()
    };
    lines.flat_map(of_line).collect()
}

#[test]
fn products_are_refused_where_ptxas_refuses_them() {
    let taken = taken();
    let mut all: BTreeSet<String> = taken.clone();
    for (sp, k) in ["", ".sp"]
        .into_iter()
        .flat_map(|s| [8, 16, 32, 64, 128, 256].map(|k| (s, k)))
    {
        for (a, b) in ELEMENTS.into_iter().flat_map(|a| ELEMENTS.map(|b| (a, b))) {
            all.extend(SUMS.map(|d| instruction(sp, 8, k, [d, a, b])));
        }
    }
    for n in (8..=256).step_by(8) {
        for (k, types) in [(32, ["s32", "s8", "u8"]), (256, ["s32", "b1", "b1"])] {
            all.insert(instruction("", n, k, types));
        }
        all.insert(instruction(".sp", n, 64, ["s32", "u8", "u8"]));
    }
    let all: Vec<String> = all.into_iter().collect();
    let refused = refused_for("sm_90a", &all);
    assert!(taken.len() > 600 && refused.len() > 4000);
    for (at, text) in all.iter().enumerate() {
        let found = refused.get(&at);
        assert_eq!(found.is_none(), taken.contains(text), "{text}: {found:?}");
    }
    let elsewhere = refused_for("sm_90", &all[..1]);
    let text = "`wgmma` requires sm_90a, and the module targets sm_90";
    assert_eq!(elsewhere[&0], text);
}

/// Operands that `ptxas` takes, and what it refuses, with the reason here.
#[test]
fn operands_are_checked() {
    let f16 = |sums: &str, a: &str, tail: &str| {
        format!("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {sums}, {a}, %rd1, {tail};")
    };
    let plain = |tail: &str| f16(&list(4), "%rd0", tail);
    let of = |types: &str, sums: &str, a: &str, tail: &str| {
        format!("wgmma.mma_async.sync.aligned.{types} {sums}, {a}, %rd1, %p0{tail};")
    };
    let sparse = |selector: &str| {
        format!(
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {}, %rd0, %rd1, %r9, {selector}, \
             %p0, 1, 1, 0, 0;",
            list(4)
        )
    };
    let registers = |letter: &str, count: u32| list(count).replace("%r", &format!("%{letter}"));
    let held = |letter: &str| f16(&list(4), &registers(letter, 4), "%p0, 1, 1, 0");
    let s8 = |a: &str| of("m64n8k32.s32.s8.s8", &list(4), a, "");
    let bits = |words: &str| of(&format!("m64n8k256.s32.b1.b1{words}"), &list(4), "%rd0", "");
    let cases: Vec<(String, &str)> = vec![
        (plain("%p0, 1, 1, 0, 0"), ""),
        (plain("!%p0, -1, -1, 1, 1"), ""),
        (plain("0, 1, 1, 0, 0"), ""),
        (plain("1, 1, 1, 0, 0"), ""),
        (plain("2, 1, 1, 0, 0"), "scale-d is a predicate, 0 or 1"),
        (
            plain("%r1, 1, 1, 0, 0"),
            "a register of .b32 where .pred is expected",
        ),
        (plain("%p0, 0, 1, 0, 0"), "imm-scale of 0: expected -1 or 1"),
        (plain("%p0, 1, 1, 2, 0"), "imm-trans of 2: expected 0 or 1"),
        (
            plain("%p0, %r1, 1, 0, 0"),
            "4 constants expected after scale-d: imm-scale-a",
        ),
        (plain("%p0, 1, 1, 0"), "4 constants expected"),
        (plain("%p0"), "4 constants expected"),
        (held("r"), ""),
        (held("hh"), ""),
        (held("f"), "a register of .f32 where .f16x2 is expected"),
        (held("s"), "a register of .s32 where .f16x2 is expected"),
        (
            f16(&list(4), &list(4), "%p0, 1, 1, 0, 0"),
            "3 constants expected",
        ),
        (
            f16(&list(4), &list(2), "%p0, 1, 1, 0"),
            "in 2 registers: expected 4 of .b32",
        ),
        (
            f16(&list(2), "%rd0", "%p0, 1, 1, 0, 0"),
            "in 2 registers: expected 4 of .f32",
        ),
        (
            f16("{%r0, _, %r2, %r3}", "%rd0", "%p0, 1, 1, 0, 0"),
            "`_` in the result",
        ),
        (f16(&registers("f", 4), "%rd0", "%p0, 1, 1, 0, 0"), ""),
        (
            f16(&registers("s", 4), "%rd0", "%p0, 1, 1, 0, 0"),
            "where .f32 is expected",
        ),
        (
            f16(&list(4), "%r0", "%p0, 1, 1, 0, 0"),
            "the descriptor of a: a register of .b32",
        ),
        (
            f16(&list(4), "%d0", "%p0, 1, 1, 0, 0"),
            "the descriptor of a: a register of .f64",
        ),
        (f16(&list(4), "5", "%p0, 1, 1, 0, 0"), ""),
        (of("m64n8k8.f32.tf32.tf32", &list(4), "%rd0", ", 1, 1"), ""),
        (
            of("m64n8k8.f32.tf32.tf32", &list(4), "%rd0", ", 1, 1, 0, 0"),
            "2 constants expected",
        ),
        (
            of(
                "m64n8k16.f16.f16.f16",
                &registers("hh", 2),
                "%rd0",
                ", 1, 1, 0, 0",
            ),
            "",
        ),
        (
            of(
                "m64n8k16.f16.f16.f16",
                &registers("f", 2),
                "%rd0",
                ", 1, 1, 0, 0",
            ),
            ".f16x2",
        ),
        (s8("%rd0"), ""),
        (s8(&registers("f", 4)), ""),
        (s8(&registers("s", 4)), ""),
        (of("m64n8k32.s32.s8.u8.satfinite", &list(4), "%rd0", ""), ""),
        (of("m64n8k32.satfinite.s32.s8.s8", &list(4), "%rd0", ""), ""),
        (
            of("m64n8k32.s32.s8.s8", &list(4), "%rd0", ", 1, 1"),
            "0 constants expected",
        ),
        (
            of(
                "m64n8k16.satfinite.f32.f16.f16",
                &list(4),
                "%rd0",
                ", 1, 1, 0, 0",
            ),
            "only `wgmma` of",
        ),
        (bits(".and.popc"), ""),
        (bits(""), "needs .xor.popc or .and.popc"),
        (bits(".xor.popc"), "supports only .and.popc"),
        (sparse("0"), ""),
        (sparse("1"), ""),
        (
            sparse("2"),
            "the selector of the metadata is a constant from 0 to 1",
        ),
        (
            plain("%p0, 1, 1, 0, 0").replace(".sync", ""),
            "needs .sync.aligned",
        ),
        (
            plain("%p0, 1, 1, 0, 0").replace("n8", "n12"),
            "has an unknown shape",
        ),
        (
            plain("%p0, 1, 1, 0, 0").replace("k16", "k32"),
            "has no .m64n8k32: expected .m64n8k16 to",
        ),
        ("wgmma.fence.sync.aligned;".to_owned(), ""),
        (
            "wgmma.fence.sync.aligned 0;".to_owned(),
            "no operands expected",
        ),
        ("wgmma.commit_group.sync.aligned;".to_owned(), ""),
        ("wgmma.wait_group.sync.aligned 7;".to_owned(), ""),
        (
            "wgmma.wait_group.sync.aligned;".to_owned(),
            "a constant number of groups",
        ),
        (
            "wgmma.wait_group.sync.aligned -1;".to_owned(),
            "a constant number of groups",
        ),
        (
            "wgmma.wait_group.sync.aligned %r1;".to_owned(),
            "a constant number of groups",
        ),
        (
            "wgmma.arrive.sync.aligned;".to_owned(),
            "expected `wgmma.mma_async`",
        ),
    ];
    let all: Vec<String> = cases.iter().map(|c| c.0.clone()).collect();
    let refused = refused_for("sm_90a", &all);
    for (at, (instruction, reason)) in cases.iter().enumerate() {
        let found = refused.get(&at).map_or("", String::as_str);
        let agrees = found.is_empty() == reason.is_empty() && found.contains(reason);
        assert!(agrees, "{instruction}: {found}");
    }
}
