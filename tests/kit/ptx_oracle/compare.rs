//! Comparison and selection.

use crate::ptx_oracle::cases::{case, check};
use crate::ptx_oracle::operands::{FLOATS, INTEGERS, kind};

fn bits_of(ty: &'static str) -> &'static str {
    kind(ty).register
}

#[test]
fn comparison_and_selection() {
    let mut cases = Vec::new();
    let ordered = ["eq", "ne", "lt", "le", "gt", "ge"];
    for ty in INTEGERS.into_iter().chain(FLOATS) {
        let unordered = ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];
        let more: &[&str] = if FLOATS.contains(&ty) {
            &unordered
        } else {
            &[]
        };
        for word in ordered.iter().chain(more) {
            cases.push(case(
                format!("setp.{word}.{ty} $d, $a, $b;"),
                "pred",
                &[ty, ty],
            ));
        }
        let with = [ty, ty, "pred"];
        cases.push(case(
            format!("setp.lt.and.{ty} $d, $a, $b, $c;"),
            "pred",
            &with,
        ));
        cases.push(case(
            format!("setp.lt.or.{ty} $d|%q4, $a, $b, !$c;"),
            "pred",
            &with,
        ));
        cases.push(case(
            format!("setp.ge.xor.{ty} %q4|$d, $a, $b, $c;"),
            "pred",
            &with,
        ));
        cases.push(case(
            format!("selp.{} $d, $a, $b, $c;", bits_of(ty)),
            ty,
            &with,
        ));
    }
    for word in ["lo", "ls", "hi", "hs"] {
        cases.push(case(
            format!("setp.{word}.u32 $d, $a, $b;"),
            "pred",
            &["u32", "u32"],
        ));
    }
    for ty in ["u32", "s32", "f32"] {
        cases.push(case(
            format!("set.lt.u32.{ty} $d, $a, $b;"),
            "u32",
            &[ty, ty],
        ));
        cases.push(case(
            format!("set.ge.f32.{ty} $d, $a, $b;"),
            "f32",
            &[ty, ty],
        ));
    }
    for class in [
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ] {
        for ty in ["f32", "f64"] {
            cases.push(case(format!("testp.{class}.{ty} $d, $a;"), "pred", &[ty]));
        }
    }
    for ty in ["b32", "b64"] {
        cases.push(case(
            format!("slct.{ty}.s32 $d, $a, $b, $c;"),
            ty,
            &[ty, ty, "s32"],
        ));
        cases.push(case(
            format!("slct.{ty}.f32 $d, $a, $b, $c;"),
            ty,
            &[ty, ty, "f32"],
        ));
    }
    check(&cases);
}
