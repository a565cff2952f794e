//! `cvt` from and to pairs of floating-point numbers of 8 bits.

use super::soft::{F16, F32, Format, Round, Soft};
use super::{Definition, define_as};
use crate::ast::Instruction;
use crate::names::{Type, Word};
use crate::tensor::float;

/// A format of 8 bits.
#[derive(Clone, Copy)]
struct Small {
    element: Type,
    /// The format whose rounding it has, and the power of two by which its
    /// exponents differ from that one's.
    format: Format,
    shift: i32,
    /// The largest number.
    most: u64,
}

/// Without infinities: its four bits of exponent are the lower half of five.
const E4M3: Small = Small {
    element: Type::E4m3,
    format: Format {
        fraction: 3,
        exponent: 5,
    },
    shift: -8,
    most: 0x7e,
};
const E5M2: Small = Small {
    element: Type::E5m2,
    format: Format {
        fraction: 2,
        exponent: 5,
    },
    shift: 0,
    most: 0x7b,
};

impl Small {
    fn of(pair: Type) -> Option<Small> {
        match pair {
            Type::E4m3x2 => Some(E4M3),
            Type::E5m2x2 => Some(E5M2),
            _ => None,
        }
    }

    /// The nearest number, the largest for those beyond; with `relu` zero for
    /// negative ones. NaN is all ones but the sign.
    fn pack(self, number: Soft, relu: bool) -> u64 {
        let (sign, bits) = match number {
            Soft::Nan => return 0x7f,
            Soft::Infinite(sign) => (sign, self.most),
            Soft::Finite(sign, mantissa, exponent) => {
                let size = Soft::Finite(false, mantissa, exponent + self.shift);
                (sign, self.format.pack(size, Round::Nearest).min(self.most))
            }
        };
        if sign && relu {
            0
        } else {
            bits | u64::from(sign) << 7
        }
    }
}

/// The exact value of the bits of a number.
fn value(ty: Type, bits: u64) -> Soft {
    F32.unpack(u64::from(float(ty, bits as u32).to_bits()))
}

pub(super) fn define(i: &Instruction, to: Type, from: Type) -> Option<Definition> {
    if !i.has(Word::Rn) || i.one_of(&[Word::Sat, Word::Ftz]).is_some() {
        return None;
    }
    let relu = i.has(Word::Relu);
    if let Some(small) = Small::of(from) {
        if to != Type::F16x2 || i.has(Word::Satfinite) {
            return None;
        }
        let one = move |bits: u64| match value(small.element, bits & 0xff) {
            Soft::Finite(true, ..) | Soft::Infinite(true) if relu => 0,
            number => F16.pack(number, Round::Nearest),
        };
        return define_as(to, &[Type::B16], move |x| one(x[0]) | one(x[0] >> 8) << 16);
    }
    let small = Small::of(to).filter(|_| i.has(Word::Satfinite))?;
    match from {
        // The first source is the upper half.
        Type::F32 => define_as(Type::B16, &[from, from], move |x| {
            let one = |bits| small.pack(value(from, bits), relu);
            one(x[1]) | one(x[0]) << 8
        }),
        Type::F16x2 => define_as(Type::B16, &[from], move |x| {
            let one = |bits: u64| small.pack(value(Type::F16, bits & 0xffff), relu);
            one(x[0]) | one(x[0] >> 16) << 8
        }),
        _ => None,
    }
}
