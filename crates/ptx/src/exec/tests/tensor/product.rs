//! Each product against the sums of its products.

use super::reference::{place, precision, row_of_b, value};
use super::*;
use std::collections::HashMap;

/// Words of a buffer: 64 registers of 8 bytes a lane.
const WORDS: usize = 64 * 64;

/// Operands of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Of similar size, so that nothing overflows.
    Tame,
    /// Any bits.
    Any,
    /// Zeros, subnormal numbers, the largest, infinities, NaN.
    Edges,
}

pub(super) fn element(ty: &str, numbers: Numbers, random: &mut Random) -> u64 {
    let bits = u64::from(random.next()) << 32 | u64::from(random.next());
    let (fraction, exponent) = match ty {
        "f16" => (10, 5),
        "bf16" => (7, 8),
        "e4m3" => (3, 4),
        "e5m2" => (2, 5),
        "tf32" | "f32" => (23, 8),
        "f64" => (52, 11),
        _ => return integer(ty, numbers, bits),
    };
    let (sign, bias) = (
        bits >> 63 << (fraction + exponent),
        (1u64 << (exponent - 1)) - 1,
    );
    let ones = (1u64 << fraction) - 1;
    match numbers {
        Numbers::Any => bits,
        Numbers::Tame => sign | (bias - 3 + bits % 5) << fraction | bits >> 8 & ones,
        Numbers::Edges => {
            let top = (1 << exponent) - 1;
            let special = [
                0,
                1,
                ones,
                1 << fraction,
                bias << fraction,
                (top - 1) << fraction | ones,
                top << fraction,
                top << fraction | ones,
            ];
            // Few are special, or all sums would be NaN.
            match bits % 16 {
                0..4 => sign | special[(bits >> 8) as usize % 6],
                4 if bits >> 8 & 7 == 0 => sign | special[6 + (bits >> 16) as usize % 2],
                _ => sign | bias << fraction,
            }
        }
    }
}

fn integer(ty: &str, numbers: Numbers, random: u64) -> u64 {
    match (numbers, ty) {
        (Numbers::Edges, "s32") => [0x7fff_fff0, 0x8000_0010, 0][random as usize % 3],
        (Numbers::Edges, _) => [0x88, 0x77, 0xff, 0][random as usize % 4],
        (Numbers::Tame, "s32") => random & 0xffff,
        _ => random,
    }
}

struct Filled {
    words: Vec<u32>,
    metadata: Vec<u32>,
}

fn filled(case: &Case, numbers: Numbers, random: &mut Random) -> Filled {
    let mut words = vec![0; WORDS];
    let mut at = 0;
    for n in [1, 2, 3] {
        let ty = case.types[n].as_str();
        for _ in 0..case.registers()[n] {
            for lane in 0..32 {
                let width = bits(ty).max(32);
                let parts = (0..width).step_by(bits(ty) as usize);
                let mask = u64::MAX >> (64 - bits(ty));
                let value = parts.fold(0, |all, by| {
                    all | (element(ty, numbers, random) & mask) << by
                });
                let word = at * 64 + lane * 2;
                words[word] = value as u32;
                words[word + 1] = (value >> 32) as u32;
            }
            at += 1;
        }
    }
    let nibble = |random: &mut Random| match bits(&case.types[1]) {
        32 => [0b0100, 0b1110][random.next() as usize % 2],
        // Two of four places in ascending order.
        _ => [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110][random.next() as usize % 6],
    };
    let word = |_| (0..8).fold(0u32, |all, n| all | nibble(random) << (4 * n));
    let metadata: Vec<u32> = (0..32).map(word).collect();
    for lane in 0..32 {
        words[63 * 64 + lane * 2] = metadata[lane];
    }
    Filled { words, metadata }
}

/// Bits of all elements of a matrix, by their places.
fn matrix(case: &Case, n: usize, words: &[u32], first: u32) -> HashMap<(u32, u32, u32), u64> {
    let ty = bits(&case.types[n]);
    let per = (32 / ty).max(1);
    let mut all = HashMap::new();
    for register in 0..case.registers()[n] {
        for lane in 0..32 {
            let word = ((first + register) * 64 + lane * 2) as usize;
            let whole = u64::from(words[word]) | u64::from(words[word + 1]) << 32;
            for at in 0..per {
                let mask = u64::MAX >> (64 - ty);
                let old = all.insert(
                    place(case, n, lane, register * per + at),
                    whole >> (at * ty) & mask,
                );
                assert_eq!(old, None, "an element twice");
            }
        }
    }
    all
}

fn check(case: &Case, numbers: Numbers, random: &mut Random) {
    let given = filled(case, numbers, random);
    let (after, outcome) = case.run(&given.words);
    assert_eq!(outcome.findings, [], "{}", case.instruction());
    let [_, ra, rb, rc] = case.registers();
    let a = matrix(case, 1, &given.words, 0);
    let b = matrix(case, 2, &given.words, ra);
    let c = matrix(case, 3, &given.words, ra + rb);
    let d = matrix(case, 0, &after, ra + rb + rc);
    let [_, _, k] = case.size;
    let depth = if case.sparse { k / 2 } else { k };
    for (&(matrix, row, column), &result) in &d {
        let pairs = (0..depth).map(|at| {
            let from = if case.sparse {
                row_of_b(case, &given.metadata, row, at)
            } else {
                at
            };
            (a[&(matrix, row, at)], b[&(matrix, from, column)])
        });
        let sum = c[&(matrix, row, column)];
        let verdict = match case.types[0].as_str() {
            "s32" => integers(case, pairs, sum, result),
            _ => floats(case, pairs, sum, result),
        };
        if let Err(text) = verdict {
            panic!(
                "{} {numbers:?} at {row},{column}: {text}",
                case.instruction()
            );
        }
    }
}

pub(super) type Verdict = Result<(), String>;

pub(super) fn integers(
    case: &Case,
    pairs: impl Iterator<Item = (u64, u64)>,
    c: u64,
    d: u64,
) -> Verdict {
    let [_, a, b, _] = &case.types;
    let product = |(x, y): (u64, u64)| match case.more {
        ".xor.popc" => (x ^ y) as i64,
        ".and.popc" => (x & y) as i64,
        _ => (value(a, x) * value(b, y)) as i64,
    };
    let sum = i64::from(c as u32 as i32) + pairs.map(product).sum::<i64>();
    let expected = match case.more {
        ".satfinite" => sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
        _ => sum as i32,
    };
    match d as u32 as i32 {
        found if found == expected => Ok(()),
        found => Err(format!("{found}, not {expected}")),
    }
}

/// A sum of K products and one number has K roundings. It is off by at most
/// K u T (1 + K u) with the unit u and the sum T of all magnitudes, or by K
/// times half the smallest number. The sum that it is compared with has the
/// same error in f64.
pub(super) fn floats(
    case: &Case,
    pairs: impl Iterator<Item = (u64, u64)>,
    c: u64,
    d: u64,
) -> Verdict {
    let [to, a, b, from] = &case.types;
    let c = value(from, c);
    let factors: Vec<_> = pairs.map(|(x, y)| (value(a, x), value(b, y))).collect();
    let products: Vec<f64> = factors.iter().map(|(x, y)| x * y).collect();
    let overflows = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite() && !(x * y).is_finite();
    let sum = products.iter().sum::<f64>() + c;
    let all = || products.iter().chain([&c]);
    let magnitude: f64 = all().filter(|x| x.is_finite()).map(|x| x.abs()).sum();
    let found = value(to, d);
    let largest = match to.as_str() {
        "f16" => 65504.0,
        "f32" => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    if magnitude >= largest / 2.0 || factors.iter().any(overflows) {
        // Sums may overflow on their way.
        return Ok(());
    }
    if !sum.is_finite() {
        let nan = match to.as_str() {
            "f16" => 0x7fff,
            "f32" => 0x7fff_ffff,
            _ => 0x7fff_ffff_ffff_ffff,
        };
        let same = if sum.is_nan() { d == nan } else { found == sum };
        return if same {
            Ok(())
        } else {
            Err(format!("{d:#x}, not {sum}"))
        };
    }
    let (unit, smallest) = precision(to);
    let roundings = products.len() as f64;
    let reference = (roundings + 1.0) * 2f64.powi(-53) * magnitude;
    let most = roundings * (unit * magnitude * (1.0 + roundings * unit) + smallest) + reference;
    if (found - sum).abs() <= most {
        Ok(())
    } else {
        Err(format!("{found}, not {sum}, off by more than {most:e}"))
    }
}

#[test]
fn products_are_sums_of_products() {
    let mut random = Random(1);
    for (case, _) in super::forms::taken() {
        for numbers in [Numbers::Tame, Numbers::Any, Numbers::Edges] {
            check(&case, numbers, &mut random);
        }
    }
}

#[test]
fn products_have_variants() {
    let mut random = Random(2);
    let mut all = Vec::new();
    for types in ["f16.f16.f16.f16", "f32.f16.f16.f16", "f32.f16.f16.f32"] {
        for layouts in [["row", "row"], ["col", "row"], ["col", "col"]] {
            let case = Case::new("m8n8k4", types, false);
            all.push(Case { layouts, ..case });
        }
    }
    for (shape, types, more) in [
        ("m8n8k16", "s32.s8.u8.s32", ".satfinite"),
        ("m16n8k32", "s32.u8.u8.s32", ".satfinite"),
        ("m16n8k64", "s32.s4.s4.s32", ".satfinite"),
        ("m8n8k128", "s32.b1.b1.s32", ".and.popc"),
        ("m16n8k256", "s32.b1.b1.s32", ".and.popc"),
    ] {
        let case = Case::new(shape, types, false);
        all.push(Case { more, ..case });
    }
    for (shape, types, selectors) in [
        ("m16n8k16", "f32.f16.f16.f32", 4),
        ("m16n8k32", "f16.f16.f16.f16", 2),
        ("m16n8k8", "f32.tf32.tf32.f32", 4),
        ("m16n8k32", "s32.s8.s8.s32", 2),
        ("m16n8k64", "s32.u4.s4.s32", 2),
    ] {
        let case = Case::new(shape, types, true);
        all.extend((1..selectors).map(|selector| Case {
            selector,
            ..case.clone()
        }));
    }
    for case in all {
        for numbers in [Numbers::Tame, Numbers::Any, Numbers::Edges] {
            check(&case, numbers, &mut random);
        }
    }
}

/// The roundings of `.f64` order the results.
#[test]
fn roundings_of_doubles_differ() {
    let given = filled(
        &Case::new("m16n8k16", "f64.f64.f64.f64", false),
        Numbers::Tame,
        &mut Random(3),
    );
    let [down, near, up] = [".rm", ".rn", ".rp"].map(|more| {
        let case = Case {
            more,
            ..Case::new("m16n8k16", "f64.f64.f64.f64", false)
        };
        let [_, ra, rb, rc] = case.registers();
        let (after, _) = case.run(&given.words);
        matrix(&case, 0, &after, ra + rb + rc)
    });
    let all = |at| [&down, &near, &up].map(|d| f64::from_bits(d[at]));
    assert!(down.keys().all(|at| all(at).is_sorted()));
    assert!(down.keys().any(|at| all(at)[0] < all(at)[2]));
}

/// Some lanes only, and metadata that is none.
#[test]
fn misuse_is_found() {
    let case = Case::new("m16n8k16", "f32.f16.f16.f32", true);
    let mut given = filled(&case, Numbers::Tame, &mut Random(4));
    given.words[63 * 64 + 2 * 4] = 0x4444_4404;
    let (_, outcome) = case.run(&given.words);
    let [finding] = &outcome.findings[..] else {
        panic!("{:?}", outcome.findings);
    };
    assert_eq!(finding.kind, FindingKind::InvalidMetadata);
    let text = "the metadata of lane 4 has 0b0000 in bits 4 to 7: expected two places in ascending";
    assert!(finding.message.contains(text), "{}", finding.message);
    let text = format!(
        ".version 8.8\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) {{
         .reg .b32 %r<80>; .reg .pred %p; mov.u32 %r70, %tid.x; setp.lt.u32 %p, %r70, 30; @%p {}
         ret; }}",
        Case::new("m8n8k16", "s32.s8.s8.s32", false).instruction()
    );
    let (_, outcome) = run_text(&text, &[0; 2]);
    assert_eq!(outcome.findings[0].kind, FindingKind::InvalidMask);
    assert!(
        outcome.findings[0]
            .message
            .contains("only lanes 0x3fffffff execute it")
    );
}
