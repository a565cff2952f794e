//! Floating-point numbers taken apart: exact arithmetic, any rounding.
//!
//! A finite number is `mantissa * 2^exponent`. Results that do not fit keep
//! in their lowest bit whether anything was cut off ("sticky"), far below
//! what any format holds, so that the final rounding is correct.

/// A direction of rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// To the nearest, ties to even.
    Nearest,
    /// To the nearest, ties away from zero.
    Away,
    /// Towards zero.
    Zero,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
    /// Away from zero if `random` and the highest `bits` bits of what is cut off have a
    /// carry, else towards zero.
    Stochastic { random: u32, bits: u32 },
}

/// A binary format: bits of the fraction and of the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub fraction: u32,
    pub exponent: u32,
}

pub const F16: Format = Format {
    fraction: 10,
    exponent: 5,
};
pub const BF16: Format = Format {
    fraction: 7,
    exponent: 8,
};
pub const TF32: Format = Format {
    fraction: 10,
    exponent: 8,
};
pub const F32: Format = Format {
    fraction: 23,
    exponent: 8,
};
pub const F64: Format = Format {
    fraction: 52,
    exponent: 11,
};

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soft {
    Nan,
    /// An infinity with its sign.
    Infinite(bool),
    /// Sign, mantissa, exponent; the mantissa is below 2^126.
    Finite(bool, u128, i32),
}

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Exponent of the smallest bit of subnormal numbers.
    fn least(self) -> i32 {
        1 - self.bias() - self.fraction as i32
    }

    /// The number that the bits stand for.
    pub fn unpack(self, bits: u64) -> Soft {
        let fraction = u128::from(bits & ((1 << self.fraction) - 1));
        let exponent = (bits >> self.fraction) as i32 & ((1 << self.exponent) - 1);
        let sign = bits >> (self.fraction + self.exponent) & 1 != 0;
        match exponent {
            0 => Soft::Finite(sign, fraction, self.least()),
            e if e == (1 << self.exponent) - 1 => match fraction {
                0 => Soft::Infinite(sign),
                _ => Soft::Nan,
            },
            e => Soft::Finite(sign, fraction | 1 << self.fraction, e - 1 + self.least()),
        }
    }

    /// The bits of infinity or the largest number.
    fn extreme(self, sign: bool, infinite: bool) -> u64 {
        let infinity = ((1u64 << self.exponent) - 1) << self.fraction;
        let magnitude = if infinite { infinity } else { infinity - 1 };
        magnitude | u64::from(sign) << (self.fraction + self.exponent)
    }

    /// The canonical NaN: all ones but the sign, as NVIDIA's.
    pub fn nan(self) -> u64 {
        (1u64 << (self.exponent + self.fraction)) - 1
    }

    /// The bits with the largest number instead of infinity, if `finite`, and with zero instead
    /// of negative numbers, if `relu`.
    pub fn bounded(self, bits: u64, finite: bool, relu: bool) -> u64 {
        let sign = 1u64 << (self.fraction + self.exponent);
        let infinity = self.extreme(false, true);
        let size = bits & !sign;
        if relu && bits != size && size <= infinity {
            0
        } else if finite && size == infinity {
            bits - 1
        } else {
            bits
        }
    }

    /// The bits of the number, rounded.
    pub fn pack(self, number: Soft, round: Round) -> u64 {
        let (sign, mantissa, exponent) = match number {
            Soft::Nan => return self.nan(),
            Soft::Infinite(sign) => return self.extreme(sign, true),
            Soft::Finite(sign, mantissa, exponent) => (sign, mantissa, exponent),
        };
        let top = u64::from(sign) << (self.fraction + self.exponent);
        if mantissa == 0 {
            return top;
        }
        // Drop bits below the format's; subnormal numbers keep fewer.
        let length = 128 - mantissa.leading_zeros() as i32;
        let lowest = (exponent + length - 1 - self.fraction as i32).max(self.least());
        let kept = shift_rounded(mantissa, exponent, lowest, sign, round);
        // A carry out of the fraction moves into the exponent by itself.
        let biased = (lowest - self.least()) as i128;
        let encoded = ((biased << self.fraction) + kept as i128) as u128;
        let infinity = ((1u128 << self.exponent) - 1) << self.fraction;
        if encoded >= infinity {
            let away = match round {
                Round::Nearest | Round::Away | Round::Stochastic { .. } => true,
                Round::Zero => false,
                Round::Down => sign,
                Round::Up => !sign,
            };
            return self.extreme(sign, away);
        }
        encoded as u64 | top
    }
}

/// `mantissa * 2^(exponent - lowest)` as an integer.
fn shift_rounded(mantissa: u128, exponent: i32, lowest: i32, sign: bool, round: Round) -> u128 {
    let drop = lowest - exponent;
    if drop <= 0 {
        return mantissa << drop.unsigned_abs().min(127);
    }
    if drop > 127 {
        let up = matches!((round, sign), (Round::Up, false) | (Round::Down, true));
        return u128::from(up && mantissa != 0);
    }
    let (kept, rest) = (mantissa >> drop, mantissa & ((1 << drop) - 1));
    let half = 1u128 << (drop - 1);
    let up = match round {
        Round::Nearest => rest > half || rest == half && kept & 1 == 1,
        Round::Away => rest >= half,
        Round::Zero => false,
        Round::Down => sign && rest != 0,
        Round::Up => !sign && rest != 0,
        Round::Stochastic { random, bits } => {
            let drop = drop as u32;
            let highest = rest >> drop.saturating_sub(bits) << bits.saturating_sub(drop);
            (highest + u128::from(random)) >> bits != 0
        }
    };
    kept + u128::from(up)
}

/// The number with the highest bit of the mantissa at bit 125.
fn normal(mantissa: u128, exponent: i32) -> (u128, i32) {
    let shift = mantissa.leading_zeros() as i32 - 2;
    if shift >= 0 {
        (mantissa << shift, exponent - shift)
    } else {
        (jam(mantissa, -shift as u32), exponent - shift)
    }
}

/// Shifts right; the lowest bit keeps whether ones were lost.
fn jam(mantissa: u128, by: u32) -> u128 {
    match by {
        0 => mantissa,
        1..=127 => mantissa >> by | u128::from(mantissa & ((1 << by) - 1) != 0),
        _ => u128::from(mantissa != 0),
    }
}

impl Soft {
    pub fn negated(self) -> Soft {
        match self {
            Soft::Nan => Soft::Nan,
            Soft::Infinite(sign) => Soft::Infinite(!sign),
            Soft::Finite(sign, mantissa, exponent) => Soft::Finite(!sign, mantissa, exponent),
        }
    }

    /// An integer.
    pub fn integer(sign: bool, magnitude: u64) -> Soft {
        Soft::Finite(sign, u128::from(magnitude), 0)
    }

    /// The sum. `round` says which zero the sum of opposite numbers is.
    pub fn plus(self, other: Soft, round: Round) -> Soft {
        let ((s, a, ea), (t, b, eb)) = match (self, other) {
            (Soft::Nan, _) | (_, Soft::Nan) => return Soft::Nan,
            (Soft::Infinite(a), Soft::Infinite(b)) if a != b => return Soft::Nan,
            (Soft::Infinite(_), _) => return self,
            (_, Soft::Infinite(_)) => return other,
            (Soft::Finite(s, a, ea), Soft::Finite(t, b, eb)) => ((s, a, ea), (t, b, eb)),
        };
        match (a, b) {
            (0, 0) => return Soft::Finite(if s == t { s } else { round == Round::Down }, 0, 0),
            (_, 0) => return self,
            (0, _) => return other,
            _ => {}
        }
        let ((a, ea), (b, eb)) = (normal(a, ea), normal(b, eb));
        let ((s, a, ea), (t, b, eb)) = if (ea, a) >= (eb, b) {
            ((s, a, ea), (t, b, eb))
        } else {
            ((t, b, eb), (s, a, ea))
        };
        let b = jam(b, (ea - eb) as u32);
        match s == t {
            true => Soft::Finite(s, jam(a + b, 1), ea + 1),
            false if a == b => Soft::Finite(round == Round::Down, 0, 0),
            false => Soft::Finite(s, a - b, ea),
        }
    }

    /// The product, exact for mantissas of up to 63 bits.
    pub fn times(self, other: Soft) -> Soft {
        match (self, other) {
            (Soft::Nan, _) | (_, Soft::Nan) => Soft::Nan,
            (Soft::Infinite(_), Soft::Finite(_, 0, _)) => Soft::Nan,
            (Soft::Finite(_, 0, _), Soft::Infinite(_)) => Soft::Nan,
            (Soft::Infinite(s), Soft::Infinite(t) | Soft::Finite(t, ..)) => Soft::Infinite(s != t),
            (Soft::Finite(s, ..), Soft::Infinite(t)) => Soft::Infinite(s != t),
            (Soft::Finite(s, a, ea), Soft::Finite(t, b, eb)) => {
                Soft::Finite(s != t, a * b, ea + eb)
            }
        }
    }

    /// The quotient, for mantissas of up to 53 bits.
    pub fn over(self, other: Soft) -> Soft {
        match (self, other) {
            (Soft::Nan, _) | (_, Soft::Nan) => Soft::Nan,
            (Soft::Infinite(_), Soft::Infinite(_)) => Soft::Nan,
            (Soft::Infinite(s), Soft::Finite(t, ..)) => Soft::Infinite(s != t),
            (Soft::Finite(s, ..), Soft::Infinite(t)) => Soft::Finite(s != t, 0, 0),
            (Soft::Finite(_, 0, _), Soft::Finite(_, 0, _)) => Soft::Nan,
            (Soft::Finite(s, ..), Soft::Finite(t, 0, _)) => Soft::Infinite(s != t),
            (Soft::Finite(s, 0, _), Soft::Finite(t, ..)) => Soft::Finite(s != t, 0, 0),
            (Soft::Finite(s, a, ea), Soft::Finite(t, b, eb)) => {
                let (a, ea) = normal(a, ea);
                let quotient = ((a / b) << 1) | u128::from(a % b != 0);
                Soft::Finite(s != t, quotient, ea - eb - 1)
            }
        }
    }

    /// The square root.
    pub fn root(self) -> Soft {
        match self {
            Soft::Finite(_, 0, _) | Soft::Infinite(false) | Soft::Nan => self,
            Soft::Infinite(true) | Soft::Finite(true, ..) => Soft::Nan,
            Soft::Finite(false, a, e) => {
                let (mut a, mut e) = normal(a, e);
                if e % 2 != 0 {
                    (a, e) = (a << 1, e - 1);
                }
                let root = a.isqrt();
                Soft::Finite(false, root << 1 | u128::from(root * root != a), e / 2 - 1)
            }
        }
    }

    /// The integral number next to it in the direction of `round`.
    pub fn integral(self, round: Round) -> Soft {
        match self {
            Soft::Finite(sign, mantissa, exponent) if exponent < 0 => {
                Soft::Finite(sign, shift_rounded(mantissa, exponent, 0, sign, round), 0)
            }
            _ => self,
        }
    }

    /// The number as an integer between `least` and `most`, which it is clamped to.
    pub fn to_integer(self, round: Round, least: i128, most: i128) -> Option<i128> {
        match self.integral(round) {
            Soft::Nan => None,
            Soft::Infinite(sign) => Some(if sign { least } else { most }),
            Soft::Finite(sign, mantissa, exponent) => {
                let large = mantissa != 0 && exponent + 128 - mantissa.leading_zeros() as i32 > 120;
                let magnitude = if large {
                    i128::MAX
                } else {
                    (mantissa << exponent.max(0)) as i128
                };
                Some(if sign { -magnitude } else { magnitude }.clamp(least, most))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Vec<f32> {
        let mut values = vec![
            0.0,
            1.0,
            1.5,
            f32::MIN_POSITIVE,
            f32::MAX,
            f32::INFINITY,
            3.0e-39,
            1e-45,
        ];
        let mut state = 12345u32;
        for _ in 0..60 {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            values.push(f32::from_bits(state));
        }
        values.iter().flat_map(|&v| [v, -v]).collect()
    }

    fn same(soft: u64, hard: f32) -> bool {
        if hard.is_nan() {
            soft == F32.nan()
        } else {
            soft == u64::from(hard.to_bits())
        }
    }

    #[test]
    fn rounding_to_nearest_is_that_of_the_machine() {
        let unpack = |v: f32| F32.unpack(u64::from(v.to_bits()));
        for a in values() {
            assert!(
                same(F32.pack(unpack(a).root(), Round::Nearest), a.sqrt()),
                "{a}"
            );
            for b in values() {
                let (x, y) = (unpack(a), unpack(b));
                let pack = |s| F32.pack(s, Round::Nearest);
                assert!(same(pack(x.plus(y, Round::Nearest)), a + b), "{a} + {b}");
                assert!(same(pack(x.times(y)), a * b), "{a} * {b}");
                assert!(same(pack(x.over(y)), a / b), "{a} / {b}");
                let z = unpack(1.5e-7);
                let fma = pack(x.times(y).plus(z, Round::Nearest));
                assert!(same(fma, a.mul_add(b, 1.5e-7)), "fma {a} {b}");
            }
        }
    }

    #[test]
    fn directed_results_enclose_the_exact_one() {
        let unpack = |v: f64| F64.unpack(v.to_bits());
        let (third, down, up) = (unpack(1.0).over(unpack(3.0)), Round::Down, Round::Up);
        let (low, high) = (F64.pack(third, down), F64.pack(third, up));
        assert_eq!((low, high - low), ((1.0f64 / 3.0).to_bits(), 1));
        assert_eq!(
            F64.pack(third.negated(), Round::Zero),
            (-1.0f64 / 3.0).to_bits()
        );
        let huge = unpack(f64::MAX).plus(unpack(f64::MAX), up);
        assert_eq!(F64.pack(huge, Round::Zero), f64::MAX.to_bits());
        assert_eq!(F64.pack(huge, up), f64::INFINITY.to_bits());
        let tiny = unpack(f64::MIN_POSITIVE).times(unpack(f64::MIN_POSITIVE));
        assert_eq!((F64.pack(tiny, up), F64.pack(tiny, down)), (1, 0));
        let zero = unpack(1.0).plus(unpack(-1.0), down);
        assert_eq!(F64.pack(zero, down), (-0.0f64).to_bits());
    }

    #[test]
    fn integers_are_rounded_and_clamped() {
        let value = |v: f32, r| F32.unpack(u64::from(v.to_bits())).to_integer(r, -128, 127);
        assert_eq!(value(2.5, Round::Nearest), Some(2));
        assert_eq!(value(-2.5, Round::Down), Some(-3));
        assert_eq!(value(-0.1, Round::Up), Some(0));
        assert_eq!(value(1e30, Round::Zero), Some(127));
        assert_eq!(value(f32::NEG_INFINITY, Round::Zero), Some(-128));
        assert_eq!(value(f32::NAN, Round::Zero), None);
    }
}
