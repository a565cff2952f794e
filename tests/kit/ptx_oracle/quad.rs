//! Functions of 128-bit floats (113 digits), from their series.

use rustc_apfloat::ieee::{Double, Quad as Binary128};
use rustc_apfloat::{Float, FloatConvert};

pub type Quad = Binary128;

/// A double, exactly.
pub fn quad(x: f64) -> Quad {
    Double::from_bits(x.to_bits().into())
        .convert(&mut false)
        .value
}

pub fn add(a: Quad, b: Quad) -> Quad {
    (a + b).value
}

pub fn sub(a: Quad, b: Quad) -> Quad {
    (a - b).value
}

pub fn mul(a: Quad, b: Quad) -> Quad {
    (a * b).value
}

pub fn div(a: Quad, b: Quad) -> Quad {
    (a / b).value
}

pub fn neg(a: Quad) -> Quad {
    -a
}

pub fn abs(a: Quad) -> Quad {
    if a.is_negative() { -a } else { a }
}

pub fn less(a: Quad, b: Quad) -> bool {
    a < b
}

pub fn is_negative(a: Quad) -> bool {
    a.is_negative()
}

/// The exponent e of 2^e <= |a| < 2^(e + 1).
pub fn exponent(a: Quad) -> i32 {
    a.ilogb()
}

/// 2^e, for any exponent that this format has.
pub fn power_of_two(e: i32) -> Quad {
    quad(1.0).scalbn(e)
}

/// The double that is nearest.
fn double(a: Quad) -> f64 {
    let nearest: Double = a.convert(&mut false).value;
    f64::from_bits(nearest.to_bits() as u64)
}

fn constant(digits: &str) -> Quad {
    digits.parse().expect("a number")
}

fn pi() -> Quad {
    constant("3.14159265358979323846264338327950288419716939937510582")
}

fn ln2() -> Quad {
    constant("0.693147180559945309417232121458176568075500134360255254")
}

/// The root of a positive number: Newton's iteration from that of the double,
/// whose 53 digits it doubles, and doubles again.
pub fn root(a: Quad) -> Quad {
    // An even power of two that brings it near 1.
    let shift = exponent(a) & !1;
    let a = a.scalbn(-shift);
    let mut x = quad(double(a).sqrt());
    for _ in 0..2 {
        x = mul(quad(0.5), add(x, div(a, x)));
    }
    x.scalbn(shift / 2)
}

/// The sum of a series, from the first term on; `next` gives the term number
/// n from the one before.
fn series(first: Quad, next: impl Fn(Quad, i32) -> Quad) -> Quad {
    let (mut sum, mut term) = (first, first);
    for n in 1..200 {
        term = next(term, n);
        if term.is_zero() || exponent(term) < exponent(sum) - 118 {
            break;
        }
        sum = add(sum, term);
    }
    sum
}

/// e^x for small |x|.
fn exp(x: Quad) -> Quad {
    series(quad(1.0), |term, n| div(mul(term, x), quad(n.into())))
}

pub fn exp2(x: Quad) -> Quad {
    let whole = double(x).round();
    let rest = sub(x, quad(whole));
    exp(mul(rest, ln2())).scalbn(whole as i32)
}

/// log2 of a positive number: ln((1 + z) / (1 - z)) = 2 (z + z^3 / 3 + ...).
pub fn log2(a: Quad) -> Quad {
    let mut e = exponent(a);
    let mut m = a.scalbn(-e);
    if less(quad(1.4), m) {
        (m, e) = (m.scalbn(-1), e + 1);
    }
    let z = div(sub(m, quad(1.0)), add(m, quad(1.0)));
    if z.is_zero() {
        return quad(e.into());
    }
    let square = mul(z, z);
    let (mut sum, mut power) = (z, z);
    for n in 1..100 {
        power = mul(power, square);
        sum = add(sum, div(power, quad((2 * n + 1).into())));
    }
    add(quad(e.into()), div(mul(quad(2.0), sum), ln2()))
}

/// sin x or cos x, for |x| up to some hundreds.
pub fn sine(x: Quad, cosine: bool) -> Quad {
    let half_pi = mul(pi(), quad(0.5));
    let quarter = double(div(x, half_pi)).round();
    let rest = sub(x, mul(half_pi, quad(quarter)));
    let square = mul(rest, rest);
    let next = |start: i32| {
        move |term: Quad, n: i32| {
            let k = 2 * n + start;
            neg(div(mul(term, square), quad((k * (k - 1)).into())))
        }
    };
    let turn = (quarter as i64 + i64::from(cosine)).rem_euclid(4);
    let value = match turn % 2 {
        0 if rest.is_zero() => rest,
        0 => series(rest, next(1)),
        _ => series(quad(1.0), next(0)),
    };
    if turn >= 2 { neg(value) } else { value }
}

/// (e^2x - 1) / (e^2x + 1); of small numbers, where that cancels, its series.
pub fn tanh(x: Quad) -> Quad {
    if less(abs(x), quad(1e-6)) {
        let square = mul(x, x);
        // x - x^3 / 3 + 2 x^5 / 15
        let terms = sub(
            div(quad(1.0), quad(3.0)),
            mul(square, div(quad(2.0), quad(15.0))),
        );
        return sub(x, mul(mul(x, square), terms));
    }
    let power = exp2(div(mul(quad(2.0), x), ln2()));
    div(sub(power, quad(1.0)), add(power, quad(1.0)))
}

#[test]
fn known_values() {
    let near = |a: Quad, digits: &str| {
        let error = abs(sub(a, constant(digits)));
        assert!(less(error, power_of_two(-105)), "{a} {digits}");
    };
    near(
        root(quad(2.0)),
        "1.41421356237309504880168872420969807856967",
    );
    near(
        exp2(quad(0.5)),
        "1.41421356237309504880168872420969807856967",
    );
    near(
        log2(quad(10.0)),
        "3.32192809488736234787031942948939017586483",
    );
    near(
        sine(quad(1.0), false),
        "0.84147098480789650665250232163029899962256",
    );
    near(
        sine(quad(1.0), true),
        "0.54030230586813971740093660744297660373231",
    );
    near(
        sine(quad(100.0), false),
        "-0.50636564110975879365655761045978543206503",
    );
    near(
        tanh(quad(1.0)),
        "0.76159415595576488811945828260479359041277",
    );
}
