//! Approximate functions within the error bounds of the PTX ISA, against
//! 128-bit floats: of quotients and roots the exact value, of the others
//! series. What the ISA's tables say of zeros, infinities and NaN is compared
//! exactly.

use crate::ptx_oracle::cases::{Case, SLOTS, kernel};
use crate::ptx_oracle::operands::{kind, operand};
use crate::ptx_oracle::quad::{self, Quad, quad};
use crate::ptx_oracle::run::{THREADS, ours};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::f64::consts::TAU;

/// Runs of 128 threads of each instruction.
const ROUNDS: usize = 12;

/// How far a result may be from the exact one.
#[derive(Clone, Copy)]
enum Bound {
    /// Units in the last place of the exact value.
    Ulps(f64),
    Relative(f64),
    Absolute(f64),
}

/// What an instruction must give.
enum Exact {
    /// About this number, within the bound.
    Near(Quad, Bound),
    /// Exactly this: an infinity, a zero with its sign, or NaN.
    Just(f64),
    /// The ISA does not say.
    Open,
}
use Bound::{Absolute, Relative, Ulps};
use Exact::{Just, Near, Open};

/// A function on numbers of a type.
struct Function {
    text: &'static str,
    ty: &'static str,
    operands: usize,
    /// Where random operands are drawn from, besides all bit patterns.
    range: [f64; 2],
    exact: fn(&[f64]) -> Exact,
}

/// The number that bits of a type stand for, and bits of the type that are
/// nearest to a number that it has (for drawing operands).
fn number(bits: u64, ty: &str) -> f64 {
    match ty {
        "f32" => f32::from_bits(bits as u32).into(),
        "f64" => f64::from_bits(bits),
        "bf16" => f32::from_bits((bits as u32 & 0xffff) << 16).into(),
        _ => half(bits as u16),
    }
}

/// A number of half precision.
fn half(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        0 => mantissa * 2f64.powi(-24),
        e => (1024.0 + mantissa) * 2f64.powi(e - 25),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

fn drawn(f: &Function, rng: &mut ChaCha12Rng) -> u64 {
    if rng.next_u32().is_multiple_of(2) {
        return operand(kind(f.ty), rng);
    }
    let share = rng.next_u32() as f64 / 2f64.powi(32);
    let value = f.range[0] + share * (f.range[1] - f.range[0]);
    match f.ty {
        "f32" => (value as f32).to_bits().into(),
        "f64" => value.to_bits(),
        "bf16" => u64::from((value as f32).to_bits() >> 16),
        // Any half between is as good: exponents of the range.
        _ => u64::from(rng.next_u32() as u16 & 0xbfff | 0x2000),
    }
}

/// The distance between two neighbours of the type at a number.
fn ulp(exact: Quad, ty: &str) -> Quad {
    let (digits, least) = match ty {
        "f32" => (24, -149),
        "f64" => (53, -1074),
        "bf16" => (8, -133),
        _ => (11, -24),
    };
    quad::power_of_two((quad::exponent(exact) - digits + 1).max(least))
}

/// The largest finite number of the type.
fn most(ty: &str) -> f64 {
    match ty {
        "f32" => f32::MAX.into(),
        "f64" => f64::MAX,
        "bf16" => number(0x7f7f, "bf16"),
        _ => 65504.0,
    }
}

/// An exact number of results that the type has; above its range infinity,
/// too, and below it what `.ftz` or rounding make of it.
fn is_near(got: f64, exact: Quad, bound: Bound, ty: &str) -> bool {
    let beyond = quad::less(quad(most(ty)), quad::abs(exact));
    if got.is_infinite() {
        let sign = got.is_sign_negative() == quad::is_negative(exact);
        // One unit below the end of the range may round up to infinity.
        let unit = quad::sub(quad::abs(exact), quad(most(ty)));
        return sign && (beyond || quad::less(quad::neg(ulp(exact, ty)), unit));
    }
    if got.is_nan() {
        return false;
    }
    let error = quad::abs(quad::sub(quad(got), exact));
    let allowed = match bound {
        Ulps(ulps) => quad::mul(ulp(exact, ty), quad(ulps)),
        Relative(part) => quad::mul(quad::abs(exact), quad(part)),
        Absolute(most) => quad(most),
    };
    // Below the normal numbers a relative error cannot be smaller than half a
    // unit, whatever computes it; absolute ones of coarse types neither.
    let half = quad::mul(ulp(exact, ty), quad(0.5));
    !quad::less(allowed, error) || !quad::less(half, error)
}

fn check(functions: &[Function]) {
    let mut rng = ChaCha12Rng::seed_from_u64(functions.len() as u64);
    for f in functions {
        let ptx = kernel(&Case {
            text: f.text.to_owned(),
            result: f.ty,
            operands: vec![f.ty; f.operands],
        });
        for round in 0..ROUNDS {
            let mut words = vec![0u64; SLOTS * THREADS as usize];
            for thread in words.chunks_exact_mut(SLOTS) {
                (0..f.operands).for_each(|i| thread[i + 1] = drawn(f, &mut rng));
            }
            let (after, _) = ours(&ptx, &words, round % 2 == 0);
            for (thread, results) in words.chunks_exact(SLOTS).zip(after.chunks_exact(SLOTS)) {
                compare(f, &thread[1..=f.operands], results[0]);
            }
        }
    }
}

fn compare(f: &Function, bits: &[u64], result: u64) {
    let flush = f.text.contains(".ftz") && f.ty == "f32";
    let small = |x: f64| flush && x.abs() < f64::from(f32::MIN_POSITIVE);
    let operands: Vec<f64> = bits
        .iter()
        .map(|&b| number(b, f.ty))
        .map(|x| if small(x) { 0f64.copysign(x) } else { x })
        .collect();
    let got = number(result, f.ty);
    let right = match (f.exact)(&operands) {
        Open => true,
        Just(x) if x.is_nan() => got.is_nan(),
        Just(x) => got == x && got.is_sign_negative() == x.is_sign_negative(),
        Near(exact, bound) => {
            let below = flush && quad::less(quad::abs(exact), quad(f64::from(f32::MIN_POSITIVE)));
            is_near(got, exact, bound, f.ty) || below && got == 0.0
        }
    };
    let bare = f.text.contains(".ftz.f64") && !got.is_nan();
    let right = right && (!bare || result as u32 == 0);
    assert!(right, "{} of {operands:?}: {got:e} ({result:#x})", f.text);
}

fn quotient(x: &[f64], bound: Bound) -> Exact {
    let (a, b) = (x[0], x[1]);
    if a.is_finite() && b.is_finite() && a != 0.0 && b != 0.0 {
        Near(quad::div(quad(a), quad(b)), bound)
    } else {
        // Zeros, infinities and NaN as IEEE 754 has them.

        Just(a / b)
    }
}

fn reciprocal(x: &[f64], bound: Bound) -> Exact {
    quotient(&[1.0, x[0]], bound)
}

fn root(x: &[f64], bound: Bound) -> Exact {
    match x[0] {
        a if a > 0.0 && a.is_finite() => Near(quad::root(quad(a)), bound),
        a => Just(a.sqrt()),
    }
}

fn reciprocal_root(x: &[f64], bound: Bound) -> Exact {
    match x[0] {
        a if a > 0.0 && a.is_finite() => Near(quad::div(quad(1.0), quad::root(quad(a))), bound),
        a if a == 0.0 => Just(f64::INFINITY.copysign(a)),
        a if a == f64::INFINITY => Just(0.0),
        _ => Just(f64::NAN),
    }
}

const fn function(
    text: &'static str,
    ty: &'static str,
    range: [f64; 2],
    exact: fn(&[f64]) -> Exact,
) -> Function {
    Function {
        text,
        ty,
        operands: 1,
        range,
        exact,
    }
}

#[test]
fn quotients_and_roots() {
    let wide = [1e-3, 1e3];
    let of_two = |text, exact| Function {
        operands: 2,
        ..function(text, "f32", wide, exact)
    };
    fn divided(x: &[f64]) -> Exact {
        // Beyond 2^126, a divisor's reciprocal has no normal number and becomes
        // zero. Subnormal divisors are scaled before.
        match x[1].abs() {
            b if b.is_finite() && b > 2f64.powi(126) => Just(x[0] * 0f64.copysign(x[1])),
            _ => quotient(x, Ulps(2.0)),
        }
    }
    check(&[
        of_two("div.approx.f32 $d, $a, $b;", divided),
        of_two("div.approx.ftz.f32 $d, $a, $b;", divided),
        of_two("div.full.f32 $d, $a, $b;", |x| quotient(x, Ulps(2.0))),
        of_two("div.full.ftz.f32 $d, $a, $b;", |x| quotient(x, Ulps(2.0))),
        function("rcp.approx.f32 $d, $a;", "f32", wide, |x| {
            reciprocal(x, Ulps(1.0))
        }),
        function("rcp.approx.ftz.f32 $d, $a;", "f32", wide, |x| {
            reciprocal(x, Ulps(1.0))
        }),
        function("sqrt.approx.f32 $d, $a;", "f32", wide, |x| {
            root(x, Relative(2f64.powi(-23)))
        }),
        function("sqrt.approx.ftz.f32 $d, $a;", "f32", wide, |x| {
            root(x, Relative(2f64.powi(-23)))
        }),
        function("rsqrt.approx.f32 $d, $a;", "f32", wide, |x| {
            reciprocal_root(x, Relative(2f64.powf(-22.9)))
        }),
        function("rsqrt.approx.ftz.f32 $d, $a;", "f32", wide, |x| {
            reciprocal_root(x, Relative(2f64.powf(-22.9)))
        }),
    ]);
}

/// The bare approximation of doubles (`MUFU.RCP64H`, `MUFU.RSQ64H`) reads and
/// writes the upper half: a mantissa of 20 bits, and nothing below, subnormal
/// numbers as zero.
#[test]
fn coarse_reciprocals_of_doubles() {
    fn upper(x: f64) -> f64 {
        let upper = f64::from_bits(x.to_bits() >> 32 << 32);
        if upper.is_subnormal() {
            0f64.copysign(upper)
        } else {
            upper
        }
    }
    let functions = [
        function("rcp.approx.ftz.f64 $d, $a;", "f64", [1e-3, 1e3], |x| {
            match upper(x[0]) {
                // The reciprocal would be subnormal.
                a if a.is_finite() && a.abs() > 2f64.powi(1022) => Just(0f64.copysign(a)),
                a => reciprocal(&[a], Relative(2f64.powi(-20))),
            }
        }),
        function("rsqrt.approx.ftz.f64 $d, $a;", "f64", [1e-3, 1e3], |x| {
            reciprocal_root(&[upper(x[0])], Relative(2f64.powi(-20)))
        }),
    ];
    check(&functions);
}

/// Without `.ftz` the machine code refines the bare approximation by a step
/// of third order, and scales subnormal numbers: all bits but the last hold.
#[test]
fn refined_reciprocal_roots_of_doubles() {
    check(&[function(
        "rsqrt.approx.f64 $d, $a;",
        "f64",
        [1e-3, 1e3],
        |x| reciprocal_root(x, Relative(2f64.powi(-52))),
    )]);
}

fn sine(x: &[f64], cosine: bool) -> Exact {
    use std::f64::consts::PI;
    match x[0] {
        a if !a.is_finite() => Just(f64::NAN),
        a if a == 0.0 => Just(if cosine { 1.0 } else { a }),
        a if a.abs() <= 2.0 * PI => Near(quad::sine(quad(a), cosine), Absolute(2f64.powf(-20.5))),
        a if a.abs() <= 100.0 * PI => Near(quad::sine(quad(a), cosine), Absolute(2f64.powf(-14.7))),
        _ => Open,
    }
}

fn logarithm(x: &[f64]) -> Exact {
    match x[0] {
        0.0 => Just(f64::NEG_INFINITY),
        a if a == f64::INFINITY => Just(a),
        1.0 => Just(0.0),
        a if a > 0.0 => {
            let small = 2f64.powi(-22);
            let inside = (0.5..2.0).contains(&a);
            let bound = if inside {
                Absolute(small)
            } else {
                Relative(small)
            };
            Near(quad::log2(quad(a)), bound)
        }
        _ => Just(f64::NAN),
    }
}

fn power(x: &[f64], bound: Bound, ty: &str) -> Exact {
    let least = match ty {
        "f32" | "bf16" => -160.0,
        _ => -40.0,
    };
    match x[0] {
        a if a.is_nan() => Just(f64::NAN),
        a if a < least => Just(0.0),
        a if a > 140.0 => Just(f64::INFINITY),
        a => Near(quad::exp2(quad(a)), bound),
    }
}

fn hyperbolic(x: &[f64], bound: Bound) -> Exact {
    match x[0] {
        a if a.is_nan() || a == 0.0 => Just(a),
        a if a.abs() > 100.0 => Just(1f64.copysign(a)),
        a => Near(quad::tanh(quad(a)), bound),
    }
}

#[test]
fn sines_logarithms_and_powers() {
    let turns = [-314.0, 314.0];
    check(&[
        function("sin.approx.f32 $d, $a;", "f32", [-TAU, TAU], |x| {
            sine(x, false)
        }),
        function("sin.approx.ftz.f32 $d, $a;", "f32", turns, |x| {
            sine(x, false)
        }),
        function("cos.approx.f32 $d, $a;", "f32", [-TAU, TAU], |x| {
            sine(x, true)
        }),
        function("cos.approx.ftz.f32 $d, $a;", "f32", turns, |x| {
            sine(x, true)
        }),
        function("lg2.approx.f32 $d, $a;", "f32", [0.4, 3.0], logarithm),
        function("lg2.approx.ftz.f32 $d, $a;", "f32", [0.0, 1e6], logarithm),
        function("ex2.approx.f32 $d, $a;", "f32", [-150.0, 129.0], |x| {
            power(x, Relative(2f64.powi(-22)), "f32")
        }),
        function("ex2.approx.ftz.f32 $d, $a;", "f32", [-4.0, 4.0], |x| {
            power(x, Relative(2f64.powi(-22)), "f32")
        }),
        function("tanh.approx.f32 $d, $a;", "f32", [-5.0, 5.0], |x| {
            hyperbolic(x, Relative(2f64.powi(-11)))
        }),
    ]);
}

#[test]
fn functions_of_half_precision() {
    check(&[
        function("ex2.approx.f16 $d, $a;", "f16", [-20.0, 16.0], |x| {
            power(x, Relative(2f64.powf(-9.9)), "f16")
        }),
        function(
            "ex2.approx.ftz.bf16 $d, $a;",
            "bf16",
            [-130.0, 128.0],
            |x| power(x, Relative(2f64.powi(-7)), "bf16"),
        ),
        function("tanh.approx.f16 $d, $a;", "f16", [-4.0, 4.0], |x| {
            hyperbolic(x, Absolute(2f64.powf(-10.987)))
        }),
        function("tanh.approx.bf16 $d, $a;", "bf16", [-4.0, 4.0], |x| {
            hyperbolic(x, Absolute(2f64.powi(-8)))
        }),
    ]);
}
