//! What is refused is what `ptxas` refuses (`wgmma.txt`).

use crate::exec::tests::tensor::forms::{ELEMENTS, SUMS, refused_for};
use std::collections::BTreeSet;

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
fn wgmma_is_refused_where_ptxas_refuses_them() {
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
}
