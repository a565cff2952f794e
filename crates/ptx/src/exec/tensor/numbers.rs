//! Steps of sums that the machine does not have.

use crate::names::Word;
use crate::scalar::soft::{F64, Round};

/// Sums of f16, in words of f32 that hold them.
pub(super) struct Half;

impl Half {
    /// A sum of products, rounded to f16. Tensor cores add the products of an
    /// instruction to the accumulator with more bits than f16 has, and round once.
    #[inline(always)]
    pub fn of_sum(sum: f64) -> f32 {
        let near = sum as f32;
        // What f32 lacks. Where it is not zero, the last bit says so: then the
        // second rounding is as if it was the only one, for f32 has more than
        // twice the bits of f16.
        let lacks = (sum - f64::from(near)) as f32;
        Half::round(odd(near, lacks))
    }

    /// To the nearest f16, ties to even.
    #[inline(always)]
    pub fn round(value: f32) -> f32 {
        let bits = value.to_bits();
        let exponent = (bits >> 23 & 0xff) as i32;
        // Normal numbers of f16 have exponents from 113 on; the last of ten
        // bits, times 3/2 2^23, moves what is to go out of the word.
        let magic = f32::from_bits(((exponent.max(113) + 13).min(254) as u32) << 23 | 0x40_0000);
        let rounded = (value + magic) - magic;
        let large = rounded.abs() >= 65520.0;
        let infinite = f32::INFINITY.copysign(value);
        let finite = if large {
            infinite
        } else {
            rounded.copysign(value)
        };
        if exponent == 255 { value } else { finite }
    }

    /// The f16 that a value is, NaN as the canonical one.
    #[inline(always)]
    pub fn bits(value: f32) -> u32 {
        // 2^-112 puts the bias right, and makes small numbers subnormal.
        let moved = (value.abs() * f32::from_bits(0x0780_0000)).to_bits() >> 13;
        let sign = value.to_bits() >> 16 & 0x8000;
        match value {
            _ if value.is_nan() => 0x7fff,
            _ if value.is_infinite() => 0x7c00 | sign,
            _ => moved | sign,
        }
    }
}

/// The value, with its last bit set where something is left.
#[inline(always)]
fn odd(sum: f32, lacks: f32) -> f32 {
    let bits = sum.to_bits();
    let inexact = lacks != 0.0 && lacks.is_finite() && bits & 1 == 0;
    // Towards what is left: away from zero where the signs agree.
    let away = lacks.is_sign_negative() == sum.is_sign_negative();
    let moved = if away { bits | 1 } else { bits.wrapping_sub(1) };
    f32::from_bits(if inexact { moved } else { bits })
}

/// Sums of single bits: they add the ones in the AND or XOR of two words.
pub(super) struct Ones;

impl Ones {
    #[inline(always)]
    pub fn of_and(a: i32, b: i32, sum: i32) -> i32 {
        sum + (a & b).count_ones() as i32
    }

    #[inline(always)]
    pub fn of_xor(a: i32, b: i32, sum: i32) -> i32 {
        sum + (a ^ b).count_ones() as i32
    }
}

/// Sums of f64 that are not rounded to the nearest.
#[derive(Clone, Copy)]
pub(super) struct Rounded(Round);

impl Rounded {
    /// None for the nearest, which machines have.
    pub fn new(word: Word) -> Option<Rounded> {
        match word {
            Word::Rz => Some(Rounded(Round::Zero)),
            Word::Rm => Some(Rounded(Round::Down)),
            Word::Rp => Some(Rounded(Round::Up)),
            _ => None,
        }
    }

    pub fn add_product(self, a: f64, b: f64, c: f64) -> f64 {
        let [a, b, c] = [a, b, c].map(|x| F64.unpack(x.to_bits()));
        f64::from_bits(F64.pack(a.times(b).plus(c, self.0), self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Type;
    use crate::scalar::soft::F16;
    use crate::tensor::float;

    /// 2048 and fifteen ones: each alone would be rounded away.
    #[test]
    fn products_of_an_instruction_are_rounded_together() {
        let sum = |ones: u32| Half::of_sum(2048.0 + f64::from(ones));
        assert_eq!([1, 2, 3, 15].map(sum), [2048.0, 2050.0, 2052.0, 2064.0]);
        // Ties that f32 would make: the nearest half is above.
        let above = 2049.0 + f64::powi(2.0, -30);
        assert_eq!(Half::of_sum(above), 2050.0);
        assert_eq!(Half::of_sum(-above), -2050.0);
        assert_eq!(Half::of_sum(65520.0), f32::INFINITY);
        assert_eq!(Half::of_sum(65519.0), 65504.0);
    }

    /// Against exact arithmetic, on all kinds of numbers.
    #[test]
    fn sums_of_halves_are_rounded_once() {
        let edges = [
            0, 1, 2, 0x3ff, 0x400, 0x401, 0x3bff, 0x3c00, 0x3c01, 0x3555, 0x7bff, 0x7bfe, 0x7c00,
            0x7e00, 0x6400, 0x0fff, 0x1400,
        ];
        let mut state = 1u32;
        let mut random = move || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            u64::from(state >> 16)
        };
        let mut numbers: Vec<u64> = edges.iter().flat_map(|&e| [e, e | 0x8000]).collect();
        numbers.extend((0..40).map(|_| random()));
        let value = |bits: u64| float(Type::F16, bits as u32);
        for &a in &numbers {
            for &b in &numbers {
                for &c in &numbers {
                    let [x, y, z] = [a, b, c].map(|bits| F16.unpack(bits));
                    let exact = F16.pack(x.times(y).plus(z, Round::Nearest), Round::Nearest);
                    let product = f64::from(value(a)) * f64::from(value(b));
                    let sum = Half::of_sum(product + f64::from(value(c)));
                    let found = Half::bits(sum);
                    assert_eq!(u64::from(found), exact, "{a:#x} {b:#x} {c:#x}");
                    let again = float(Type::F16, found);
                    assert!(sum == again || sum.is_nan() && again.is_nan());
                }
            }
        }
    }
}
