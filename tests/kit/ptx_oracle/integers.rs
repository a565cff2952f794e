//! Integer arithmetic, logic, bits.

use crate::ptx_oracle::cases::{case, check};
use crate::ptx_oracle::operands::INTEGERS;

#[test]
fn integer_arithmetic() {
    let mut cases = Vec::new();
    for ty in INTEGERS {
        for op in ["add", "sub", "min", "max", "mul.lo", "mul.hi", "div", "rem"] {
            cases.push(case(format!("{op}.{ty} $d, $a, $b;"), ty, &[ty, ty]));
        }
        cases.push(case(
            format!("mad.lo.{ty} $d, $a, $b, $c;"),
            ty,
            &[ty, ty, ty],
        ));
        cases.push(case(
            format!("mad.hi.{ty} $d, $a, $b, $c;"),
            ty,
            &[ty, ty, ty],
        ));
        cases.push(case(format!("sad.{ty} $d, $a, $b, $c;"), ty, &[ty, ty, ty]));
        if ty.starts_with('s') {
            cases.push(case(format!("abs.{ty} $d, $a;"), ty, &[ty]));
            cases.push(case(format!("neg.{ty} $d, $a;"), ty, &[ty]));
        }
    }
    for (ty, wide) in [
        ("u16", "u32"),
        ("s16", "s32"),
        ("u32", "u64"),
        ("s32", "s64"),
    ] {
        cases.push(case(format!("mul.wide.{ty} $d, $a, $b;"), wide, &[ty, ty]));
        cases.push(case(
            format!("mad.wide.{ty} $d, $a, $b, $c;"),
            wide,
            &[ty, ty, wide],
        ));
    }
    for ty in ["u32", "s32"] {
        for part in ["lo", "hi"] {
            cases.push(case(
                format!("mul24.{part}.{ty} $d, $a, $b;"),
                ty,
                &[ty, ty],
            ));
            cases.push(case(
                format!("mad24.{part}.{ty} $d, $a, $b, $c;"),
                ty,
                &[ty, ty, ty],
            ));
        }
    }
    for op in ["add.sat", "sub.sat"] {
        cases.push(case(
            format!("{op}.s32 $d, $a, $b;"),
            "s32",
            &["s32", "s32"],
        ));
    }
    for (a, b) in [
        ("u32", "u32"),
        ("s32", "s32"),
        ("u32", "s32"),
        ("s32", "u32"),
    ] {
        let types = ["b32", "b32", "b32"];
        cases.push(case(format!("dp4a.{a}.{b} $d, $a, $b, $c;"), "b32", &types));
        cases.push(case(
            format!("dp2a.lo.{a}.{b} $d, $a, $b, $c;"),
            "b32",
            &types,
        ));
        cases.push(case(
            format!("dp2a.hi.{a}.{b} $d, $a, $b, $c;"),
            "b32",
            &types,
        ));
    }
    for (first, second) in [
        ("add.cc", "addc"),
        ("sub.cc", "subc"),
        ("mad.lo.cc", "madc.hi"),
    ] {
        let three = first.starts_with("mad");
        let rest = if three { ", $c" } else { "" };
        let text = format!(
            "{first}.u32 %t, $a, $b{rest}; {second}.u32 $d, $b, $c{};",
            if three { ", $a" } else { "" }
        );
        cases.push(case(text, "u32", &["u32", "u32", "u32"]));
    }
    check(&cases);
}

#[test]
fn logic_shifts_and_bits() {
    let mut cases = Vec::new();
    for ty in ["b16", "b32", "b64"] {
        for op in ["and", "or", "xor"] {
            cases.push(case(format!("{op}.{ty} $d, $a, $b;"), ty, &[ty, ty]));
        }
        cases.push(case(format!("not.{ty} $d, $a;"), ty, &[ty]));
        cases.push(case(format!("cnot.{ty} $d, $a;"), ty, &[ty]));
        cases.push(case(format!("shl.{ty} $d, $a, $b;"), ty, &[ty, "u32"]));
    }
    for ty in INTEGERS {
        cases.push(case(format!("shr.{ty} $d, $a, $b;"), ty, &[ty, "u32"]));
    }
    for ty in ["u32", "s32", "u64", "s64"] {
        cases.push(case(
            format!("bfe.{ty} $d, $a, $b, $c;"),
            ty,
            &[ty, "u32", "u32"],
        ));
        cases.push(case(format!("bfind.{ty} $d, $a;"), "u32", &[ty]));
        cases.push(case(format!("bfind.shiftamt.{ty} $d, $a;"), "u32", &[ty]));
    }
    for ty in ["b32", "b64"] {
        cases.push(case(format!("popc.{ty} $d, $a;"), "u32", &[ty]));
        cases.push(case(format!("clz.{ty} $d, $a;"), "u32", &[ty]));
        cases.push(case(format!("brev.{ty} $d, $a;"), ty, &[ty]));
        cases.push(case(
            format!("bfi.{ty} $d, $a, $b, $c, $e;"),
            ty,
            &[ty, ty, "u32", "u32"],
        ));
    }
    for table in [0x00, 0x1e, 0x78, 0x80, 0x96, 0xca, 0xe4, 0xe8, 0xfe, 0xff] {
        let three = ["b32", "b32", "b32"];
        cases.push(case(
            format!("lop3.b32 $d, $a, $b, $c, {table:#x};"),
            "b32",
            &three,
        ));
    }
    for (way, mode) in [("l", "clamp"), ("l", "wrap"), ("r", "clamp"), ("r", "wrap")] {
        let text = format!("shf.{way}.{mode}.b32 $d, $a, $b, $c;");
        cases.push(case(text, "b32", &["b32", "b32", "u32"]));
    }
    for mode in ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"] {
        let text = format!("prmt.b32{mode} $d, $a, $b, $c;");
        cases.push(case(text, "b32", &["b32", "b32", "u32"]));
    }
    check(&cases);
}
