//! The numbers in a register: elements of matrices.

use crate::names::Type;

/// Elements of a type in a register of `bits` bits.
pub(crate) fn packed(ty: Type, bits: u32) -> u32 {
    bits / ty.bits()
}

/// The value of an element of a floating-point type, which is exact; of
/// `.tf32` the lower 13 bits of the word count for nothing.
#[inline(always)]
pub(crate) fn float(ty: Type, bits: u32) -> f32 {
    match ty {
        Type::F16 => half(bits),
        Type::Bf16 => f32::from_bits(bits << 16),
        Type::Tf32 => f32::from_bits(bits & !0x1fff),
        // The upper half of an f16.
        Type::E5m2 => half(bits << 8),
        Type::E4m3 => e4m3(bits),
        _ => f32::from_bits(bits),
    }
}

/// An f16 without branches, so that loops over it become vector instructions.
#[inline(always)]
fn half(bits: u32) -> f32 {
    // With the exponent of an f32; 2^112 puts the bias right and makes
    // subnormal numbers normal.
    let moved = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits(0x7780_0000);
    let special = bits & 0x7c00 == 0x7c00;
    let infinite = if special { 0x7f80_0000 } else { 0 };
    f32::from_bits(moved.to_bits() | infinite | (bits & 0x8000) << 16)
}

/// An E4M3, which has no infinities: all ones but the sign is the NaN.
#[inline(always)]
fn e4m3(bits: u32) -> f32 {
    let moved = f32::from_bits((bits & 0x7f) << 20) * f32::from_bits(0x7b80_0000);
    let nan = if bits & 0x7f == 0x7f { 0x7fff_ffff } else { 0 };
    f32::from_bits(moved.to_bits() | nan | (bits & 0x80) << 24)
}

/// The value of an element of an integer type.
#[inline(always)]
pub(crate) fn integer(ty: Type, bits: u32) -> i32 {
    let unused = 32 - ty.bits();
    if ty.is_signed() {
        (bits << unused) as i32 >> unused
    } else {
        ((bits << unused) >> unused) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition of a format: fraction bits and bias.
    fn defined(bits: u32, fraction: u32, exponent: u32) -> f64 {
        let (sign, bias) = (bits >> (fraction + exponent) & 1, (1 << (exponent - 1)) - 1);
        let (f, e) = (
            bits & ((1 << fraction) - 1),
            bits >> fraction & ((1 << exponent) - 1),
        );
        let (f, unit) = (f64::from(f), f64::from(1 << fraction));
        let magnitude = match e {
            0 => f / unit * 2f64.powi(1 - bias),
            e => (1.0 + f / unit) * 2f64.powi(e as i32 - bias),
        };
        if sign == 1 { -magnitude } else { magnitude }
    }

    #[test]
    fn small_floats_have_their_values() {
        for bits in 0..0x1_0000u32 {
            let (value, nan) = (float(Type::F16, bits), bits & 0x7fff > 0x7c00);
            match bits & 0x7c00 {
                0x7c00 => assert!(if nan {
                    value.is_nan()
                } else {
                    value.is_infinite()
                }),
                _ => assert_eq!(f64::from(value), defined(bits, 10, 5), "{bits:#x}"),
            }
            assert_eq!(value.is_sign_negative(), bits & 0x8000 != 0);
        }
        for bits in 0..0x100u32 {
            let (value, special) = (float(Type::E4m3, bits), bits & 0x7f == 0x7f);
            assert!(special && value.is_nan() || f64::from(value) == defined(bits, 3, 4));
            let value = float(Type::E5m2, bits);
            match bits & 0x7f {
                0x7c => assert!(value.is_infinite()),
                0x7d.. => assert!(value.is_nan()),
                _ => assert_eq!(f64::from(value), defined(bits, 2, 5), "{bits:#x}"),
            }
        }
        assert_eq!(float(Type::Tf32, 0x3f80_1fff), 1.0);
        assert_eq!(float(Type::Bf16, 0xbfc0), -1.5);
    }

    #[test]
    fn small_integers_have_their_signs() {
        assert_eq!(integer(Type::S4, 0x8), -8);
        assert_eq!(integer(Type::U4, 0xf), 15);
        assert_eq!(integer(Type::S8, 0xff), -1);
        assert_eq!(integer(Type::U8, 0xff), 255);
        assert_eq!(integer(Type::B1, 1), 1);
    }
}
