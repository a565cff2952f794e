//! Conversions.

use crate::ptx_oracle::cases::{case, check};
use crate::ptx_oracle::operands::INTEGERS;

#[test]
fn conversions() {
    let mut cases = Vec::new();
    let narrow = ["u8", "s8"];
    let integers = || narrow.into_iter().chain(INTEGERS);
    for to in INTEGERS {
        for from in integers() {
            cases.push(case(format!("cvt.{to}.{from} $d, $a;"), to, &[from]));
            cases.push(case(format!("cvt.sat.{to}.{from} $d, $a;"), to, &[from]));
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
