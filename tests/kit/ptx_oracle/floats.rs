//! Floating-point arithmetic.

use crate::ptx_oracle::cases::{case, check};
use crate::ptx_oracle::operands::FLOATS;

#[test]
fn floating_point() {
    let mut cases = Vec::new();
    for ty in ["f32", "f64"] {
        for mode in ["rn", "rz", "rm", "rp"] {
            for op in ["add", "sub", "mul"] {
                cases.push(case(format!("{op}.{mode}.{ty} $d, $a, $b;"), ty, &[ty, ty]));
            }
            cases.push(case(
                format!("fma.{mode}.{ty} $d, $a, $b, $c;"),
                ty,
                &[ty, ty, ty],
            ));
            cases.push(case(format!("div.{mode}.{ty} $d, $a, $b;"), ty, &[ty, ty]));
            cases.push(case(format!("rcp.{mode}.{ty} $d, $a;"), ty, &[ty]));
        }
        cases.push(case(format!("copysign.{ty} $d, $a, $b;"), ty, &[ty, ty]));
    }
    for ty in FLOATS.into_iter().chain(["f16x2", "bf16x2"]) {
        let three = [ty, ty, ty];
        cases.push(case(format!("fma.rn.{ty} $d, $a, $b, $c;"), ty, &three));
        for op in ["min", "max"] {
            cases.push(case(format!("{op}.{ty} $d, $a, $b;"), ty, &[ty, ty]));
            if ty != "f64" {
                cases.push(case(format!("{op}.NaN.{ty} $d, $a, $b;"), ty, &[ty, ty]));
            }
        }
        for op in ["add", "sub", "mul"] {
            cases.push(case(format!("{op}.rn.{ty} $d, $a, $b;"), ty, &[ty, ty]));
        }
        for op in ["abs", "neg"] {
            cases.push(case(format!("{op}.{ty} $d, $a;"), ty, &[ty]));
        }
    }
    for op in ["add", "sub", "mul"] {
        for mode in ["ftz", "sat", "ftz.sat"] {
            cases.push(case(
                format!("{op}.rn.{mode}.f32 $d, $a, $b;"),
                "f32",
                &["f32"; 2],
            ));
        }
        cases.push(case(
            format!("{op}.rn.sat.f16 $d, $a, $b;"),
            "f16",
            &["f16"; 2],
        ));
    }
    cases.push(case(
        "fma.rn.ftz.sat.f32 $d, $a, $b, $c;",
        "f32",
        &["f32"; 3],
    ));
    cases.push(case("fma.rn.relu.f16 $d, $a, $b, $c;", "f16", &["f16"; 3]));
    check(&cases);
}
