//! `cvt` of small floating-point numbers and stochastic rounding: PTX ISA, sections
//! "Alternate Floating-Point Data Formats" and "cvt", by searching the numbers of a format.

use super::float::{canonical_nan, convert};
use super::thread::Fault;
use super::truncate;
use rustc_apfloat::Round;
use spadkit::ptx::{Instruction, Type, Word};

/// A format: the numbers that its codes without sign stand for, in order, all finite.
struct Format {
    numbers: Vec<f64>,
    /// The bits of a number.
    bits: u32,
    /// The code of NaN and of infinity, if any.
    nan: Option<u64>,
    infinity: Option<u64>,
}

fn format(text: &str) -> Option<Format> {
    let (exponent, fraction, count) = match text {
        "e2m1x2" | "e2m1x4" => (2, 1, 0x8),
        "e2m3x2" | "e2m3x4" => (2, 3, 0x20),
        "e3m2x2" | "e3m2x4" => (3, 2, 0x20),
        "e4m3x2" | "e4m3x4" => (4, 3, 0x7f),
        "e5m2x2" | "e5m2x4" => (5, 2, 0x7c),
        _ => return None,
    };
    let bias = (1 << (exponent - 1)) - 1;
    let number = |code: i32| {
        let (power, part) = (code >> fraction, f64::from(code & ((1 << fraction) - 1)));
        let part = part / f64::from(1 << fraction);
        match power {
            0 => part * f64::powi(2.0, 1 - bias),
            _ => (1.0 + part) * f64::powi(2.0, power - bias),
        }
    };
    Some(Format {
        numbers: (0..count).map(number).collect(),
        bits: exponent + fraction as u32 + 1,
        nan: (exponent > 3).then_some(0x7f),
        infinity: (exponent == 5).then_some(0x7c),
    })
}

impl Format {
    /// `random` of `2^bits` says that it is rounded stochastically, else to the nearest.
    fn code(&self, x: f64, random: Option<(u64, u32)>, relu: bool) -> u64 {
        let most = self.numbers.len() - 1;
        if x.is_nan() {
            return self.nan.unwrap_or(most as u64);
        }
        if relu && x.is_sign_negative() {
            return 0;
        }
        let size = x.abs();
        let below = self.numbers.iter().rposition(|n| *n <= size).unwrap();
        let up = below < most && {
            let (low, high) = (self.numbers[below], self.numbers[below + 1]);
            let part = (size - low) / (high - low);
            rounds_up(part, random, below % 2 == 1)
        };
        let sign = u64::from(x.is_sign_negative()) << (self.bits - 1);
        (below + usize::from(up)) as u64 | sign
    }

    fn number(&self, code: u64) -> f64 {
        let size = truncate(code, self.bits - 1);
        let number = match self.numbers.get(size as usize) {
            Some(number) => *number,
            None if self.infinity == Some(size) => f64::INFINITY,
            None => return f64::NAN,
        };
        let sign = code >> (self.bits - 1) & 1 != 0;
        if sign { -number } else { number }
    }
}

/// Whether a number goes up that is this part of the way between two codes.
fn rounds_up(part: f64, random: Option<(u64, u32)>, odd: bool) -> bool {
    match random {
        Some((random, bits)) => {
            let all = f64::from(1 << bits);
            (part * all).floor() + random as f64 >= all
        }
        None => part > 0.5 || part == 0.5 && odd,
    }
}

fn double(bits: u64, from: Type) -> f64 {
    f64::from_bits(convert(bits, from, Type::F64, Round::NearestTiesToEven))
}

/// A power of two, `ue8m0`.
fn power(x: f64, up: bool, finite: bool) -> u64 {
    let size = x.abs();
    if size.is_nan() {
        return 255;
    }
    let powers = (0..255).map(|n| f64::powi(2.0, n - 127));
    let code = if up {
        powers.filter(|p| *p < size).count()
    } else {
        powers.filter(|p| *p <= size).count().max(1) - 1
    };
    let code = if size.is_infinite() { 255 } else { code };
    code.min(if finite { 254 } else { 255 }) as u64
}

fn of_power(code: u64) -> f64 {
    match code & 255 {
        255 => f64::NAN,
        code => f64::powi(2.0, code as i32 - 127),
    }
}

/// The half type of a pair.
fn half(ty: Type) -> Option<Type> {
    match ty {
        Type::F16x2 => Some(Type::F16),
        Type::Bf16x2 => Some(Type::Bf16),
        _ => None,
    }
}

/// With `.satfinite` and `.relu`.
fn bounded(instr: &Instruction, bits: u64, ty: Type) -> u64 {
    let infinity = if ty == Type::F16 { 0x7c00 } else { 0x7f80 };
    match bits & 0x7fff {
        size if size > infinity => canonical_nan(ty),
        _ if instr.has(Word::Relu) && bits >> 15 != 0 => 0,
        size if instr.has(Word::Satfinite) && size == infinity => bits - 1,
        _ => bits,
    }
}

/// Whether it is one of these: with a small type, or with stochastic rounding.
pub(super) fn is_small(instr: &Instruction) -> bool {
    let mut types = instr.types();
    types.any(|t| format(t.text()).is_some() || t == Type::Ue8m0x2) || instr.has(Word::Rs)
}

/// The result of a conversion of `a`, the sources one by one.
pub(super) fn cvt(instr: &Instruction, to: Type, from: Type, a: &[u64]) -> Result<u64, Fault> {
    let (relu, finite) = (instr.has(Word::Relu), instr.has(Word::Satfinite));
    if let Some(half) = half(to) {
        return Ok(match from {
            Type::F32 => {
                let part = |n: usize| stochastic_half(a[n], half, a[2] >> (16 * (1 - n)));
                let [high, low] = [0, 1].map(|n| bounded(instr, part(n), half));
                high << 16 | low
            }
            _ => widened(instr, half, from, a),
        });
    }
    // The numbers from the lowest.
    let mut numbers: Vec<f64> = match half(from) {
        Some(half) => [16, 0].map(|at| double(a[0] >> at & 0xffff, half)).to_vec(),
        None => a.iter().map(|bits| double(*bits, Type::F32)).collect(),
    };
    if instr.has(Word::Rs) {
        numbers.truncate(4);
    }
    numbers.reverse();
    let small = format(to.text());
    let width = if small.as_ref().is_some_and(|f| f.bits == 4) {
        4
    } else {
        8
    };
    let codes = numbers.iter().enumerate().map(|(n, x)| match &small {
        None => power(*x, instr.has(Word::Rp), finite),
        Some(format) => {
            let random = instr.has(Word::Rs).then(|| match width {
                4 => (a[4] >> [0, 16, 8, 24][n] & 0xff, 8),
                _ => (a[4] >> [0, 0, 16, 16][n] & 0xffff, 16),
            });
            format.code(*x, random, relu)
        }
    });
    let places = codes.enumerate().map(|(n, code)| code << (n * width));
    Ok(places.fold(0, |all, place| all | place))
}

/// An f32 as a half, rounded up or down by the low bits of `random`.
fn stochastic_half(bits: u64, half: Type, random: u64) -> u64 {
    let x = double(bits, Type::F32);
    let (count, least, top) = match half {
        Type::F16 => (13, -24, 65536.0),
        _ => (16, -133, f64::INFINITY),
    };
    if x.is_nan() || x.abs() >= top {
        return convert(bits, Type::F32, half, Round::NearestTiesToEven);
    }
    let below = convert(bits, Type::F32, half, Round::TowardZero);
    let low = double(below & 0x7fff, half);
    let fraction = if half == Type::F16 { 10 } else { 7 };
    // The bits of an f64 have its exponent.
    let exponent = (low.to_bits() >> 52) as i32 - 1023 - fraction;
    let ulp = f64::powi(2.0, exponent.max(least));
    let part = (x.abs() - low) / ulp;
    below
        + u64::from(rounds_up(
            part,
            Some((truncate(random, count), count)),
            false,
        ))
}

fn widened(instr: &Instruction, half: Type, from: Type, a: &[u64]) -> u64 {
    let small = format(from.text());
    let width = if small.as_ref().is_some_and(|f| f.bits == 4) {
        4
    } else {
        8
    };
    let part = |n: u32| {
        let bits = a[0] >> (n * width);
        let number = match &small {
            Some(format) => format.number(bits),
            None => of_power(bits),
        };
        let scale = if instr.has(Word::Scaled) {
            of_power(a[1] >> (8 * n))
        } else {
            1.0
        };
        let bits = (number * scale).to_bits();
        bounded(
            instr,
            convert(bits, Type::F64, half, Round::NearestTiesToEven),
            half,
        )
    };
    part(1) << 16 | part(0)
}
