//! Conversions.

use crate::ptx_oracle::cases::{case, check};
use crate::ptx_oracle::operands::INTEGERS;

/// Whether an integer type has all values of another: then there is no `.sat`.
fn holds(to: &str, from: &str) -> bool {
    let parts = |ty: &str| (ty.starts_with('s'), ty[1..].parse::<u32>().unwrap());
    match (parts(to), parts(from)) {
        ((true, to), (false, from)) => from < to,
        ((to_signed, to), (from_signed, from)) => to_signed == from_signed && from <= to,
    }
}

#[test]
fn conversions() {
    let mut cases = Vec::new();
    let narrow = ["u8", "s8"];
    let integers = || narrow.into_iter().chain(INTEGERS);
    for to in INTEGERS {
        for from in integers() {
            cases.push(case(format!("cvt.{to}.{from} $d, $a;"), to, &[from]));
            if !holds(to, from) {
                cases.push(case(format!("cvt.sat.{to}.{from} $d, $a;"), to, &[from]));
            }
        }
        for from in ["f16", "f32", "f64"] {
            for mode in ["rni", "rzi", "rmi", "rpi"] {
                cases.push(case(format!("cvt.{mode}.{to}.{from} $d, $a;"), to, &[from]));
            }
        }
    }
    for to in ["f16", "f32", "f64"] {
        for from in integers() {
            for mode in ["rn", "rz", "rm", "rp"] {
                cases.push(case(format!("cvt.{mode}.{to}.{from} $d, $a;"), to, &[from]));
            }
        }
    }
    for (to, from) in [
        ("f16", "f32"),
        ("f16", "f64"),
        ("f32", "f64"),
        ("bf16", "f32"),
    ] {
        for mode in ["rn", "rz", "rm", "rp"] {
            if to == "bf16" && matches!(mode, "rm" | "rp") {
                continue;
            }
            cases.push(case(format!("cvt.{mode}.{to}.{from} $d, $a;"), to, &[from]));
        }
    }
    for (to, from) in [
        ("f32", "f16"),
        ("f64", "f16"),
        ("f64", "f32"),
        ("f32", "bf16"),
    ] {
        cases.push(case(format!("cvt.{to}.{from} $d, $a;"), to, &[from]));
    }
    for ty in ["f16", "f32", "f64"] {
        for mode in ["rni", "rzi", "rmi", "rpi"] {
            cases.push(case(format!("cvt.{mode}.{ty}.{ty} $d, $a;"), ty, &[ty]));
        }
    }
    cases.push(case("cvt.rn.sat.f32.f64 $d, $a;", "f32", &["f64"]));
    cases.push(case("cvt.rn.ftz.f32.f64 $d, $a;", "f32", &["f64"]));
    cases.push(case(
        "cvt.rn.f16x2.f32 $d, $a, $b;",
        "f16x2",
        &["f32", "f32"],
    ));
    cases.push(case(
        "cvt.rn.bf16x2.f32 $d, $a, $b;",
        "bf16x2",
        &["f32", "f32"],
    ));
    cases.push(case(
        "cvt.rn.relu.f16x2.f32 $d, $a, $b;",
        "f16x2",
        &["f32", "f32"],
    ));
    check(&cases);
}

/// Between small numbers and others, in all forms of them.
#[test]
fn conversions_of_small_numbers() {
    const SMALL: [&str; 5] = ["e2m1x2", "e2m3x2", "e3m2x2", "e4m3x2", "e5m2x2"];
    let mut cases = Vec::new();
    // A pair of 4 bits is in a register of 8.
    let narrow = |words: &str, from: &str, sources: &str| {
        if words.contains("e2m1x2") {
            format!("{{ .reg .b8 %x; cvt.{words}.{from} %x, {sources}; cvt.u16.u8 $d, %x; }}")
        } else {
            format!("cvt.{words}.{from} $d, {sources};")
        }
    };
    let mut pairs = |words: &str| {
        cases.push(case(narrow(words, "f32", "$a, $b"), "b16", &["f32", "f32"]));
        if !words.contains("ue8m0") {
            cases.push(case(narrow(words, "f16x2", "$a"), "b16", &["f16x2"]));
        }
        cases.push(case(narrow(words, "bf16x2", "$a"), "b16", &["bf16x2"]));
    };
    for small in SMALL {
        pairs(&format!("rn.satfinite.{small}"));
        pairs(&format!("rn.satfinite.relu.{small}"));
    }
    for words in ["rz", "rz.satfinite", "rp", "rp.satfinite"] {
        pairs(&format!("{words}.ue8m0x2"));
    }
    for small in SMALL {
        let wide = |words: &str, ty: &str| match small {
            "e2m1x2" => {
                format!("{{ .reg .b8 %x; cvt.u8.u16 %x, $a; cvt.{words}.{ty}.{small} $d, %x; }}")
            }
            _ => format!("cvt.{words}.{ty}.{small} $d, $a;"),
        };
        for words in ["rn", "rn.relu"] {
            cases.push(case(wide(words, "f16x2"), "f16x2", &["b16"]));
        }
        for words in ["rn", "rn.relu", "rn.satfinite", "rn.satfinite.relu"] {
            cases.push(case(wide(words, "bf16x2"), "bf16x2", &["b16"]));
            let scaled = wide(&format!("{words}.scaled::n2::ue8m0"), "bf16x2");
            let last = if small == "e2m1x2" {
                "$d, %x"
            } else {
                "$d, $a"
            };
            let scaled = scaled.replace(last, &format!("{last}, $b"));
            cases.push(case(scaled, "bf16x2", &["b16", "b16"]));
        }
    }
    cases.push(case("cvt.rn.bf16x2.ue8m0x2 $d, $a;", "bf16x2", &["b16"]));
    for words in ["rs", "rs.relu", "rs.satfinite", "rs.satfinite.relu"] {
        for (to, ty) in [("f16x2", "f16x2"), ("bf16x2", "bf16x2")] {
            let text = format!("cvt.{words}.{to}.f32 $d, $a, $b, $c;");
            cases.push(case(text, ty, &["f32", "f32", "b32"]));
        }
        for small in SMALL.iter().filter(|_| words.contains("satfinite")) {
            let four = small.replace("x2", "x4");
            let text = format!("cvt.{words}.{four}.f32 $d, {{$a, $b, $c, $e}}, $f;");
            let result = if *small == "e2m1x2" { "b16" } else { "b32" };
            cases.push(case(text, result, &["f32", "f32", "f32", "f32", "b32"]));
        }
    }
    check(&cases);
}
