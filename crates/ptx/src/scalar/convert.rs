//! `cvt`: between integers and floating-point numbers of all sizes.

use super::float::{format, rounding};
use super::soft::{F32, F64, Format, Round, Soft, TF32};
use super::{Definition, define_as, definition, extend, flushed, small};
use crate::ast::Instruction;
use crate::names::{Type, Word};

pub(super) fn define(i: &Instruction) -> Option<Definition> {
    let (to, from) = (i.ty(0)?, i.ty(1)?);
    if i.has(Word::Pack) {
        return Some(pack(i, to));
    }
    if i.types().count() > 2 || to == Type::Pred || from == Type::Pred {
        return None;
    }
    if to.is_small() || from.is_small() {
        return small::define(i, to, from);
    }
    if to.is_element() || from.is_element() {
        return None;
    }
    let (sat, ftz) = (i.has(Word::Sat), i.has(Word::Ftz));
    match (to.is_float(), from.is_float()) {
        (false, false) => definition(i, move |x| {
            let value = match from {
                Type::U64 | Type::B64 => i128::from(x[0]),
                _ => i128::from(extend(x[0], from)),
            };
            let value = if sat { clamp(value, to) } else { value };
            extend(value as u64, to) as u64
        }),
        (false, true) => {
            let (source, packed) = format(from)?;
            if packed {
                return None;
            }
            let round = integral(i)?;
            definition(i, move |x| {
                let bits = if ftz && source == F32 {
                    flushed(x[0])
                } else {
                    x[0]
                };
                to_integer(source.unpack(bits & mask(source)), round, source, to)
            })
        }
        (true, false) => {
            let (target, packed) = format(to)?;
            if packed {
                return None;
            }
            let round = rounding(i);
            definition(i, move |x| {
                let value = extend(x[0], from);
                let number = if from.is_signed() {
                    Soft::integer(value < 0, value.unsigned_abs())
                } else {
                    Soft::integer(false, value as u64)
                };
                saturated(target.pack(number, round), target, sat)
            })
        }
        (true, true) => floats(i, to, from),
    }
}

/// `cvt.pack`: two numbers, clamped to `to`, the second in the low bits; above
/// them, where a third operand is given, its low bits.
fn pack(i: &Instruction, to: Type) -> Definition {
    let bits = to.bits();
    let three = i.ty(2).is_some();
    let part = move |x: u64| clamp(i128::from(x as i32), to) as u64 & ((1 << bits) - 1);
    let mut sources = vec![Type::S32; 2];
    sources.extend(three.then_some(Type::B32));
    Definition {
        compute: Box::new(move |x| {
            let above = if three { x[2] << (2 * bits) } else { 0 };
            [(above | part(x[0]) << bits | part(x[1])) & 0xffff_ffff, 0]
        }),
        result: Type::B32,
        sources,
        carry_in: false,
        carry_out: false,
    }
}

fn mask(format: Format) -> u64 {
    u64::MAX >> (63 - format.fraction - format.exponent)
}

fn range(ty: Type) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    }
}

fn clamp(value: i128, ty: Type) -> i128 {
    let (least, most) = range(ty);
    value.clamp(least, most)
}

/// NaN becomes 0, but from f64 or to 64 bits only the highest bit is set.
fn to_integer(number: Soft, round: Round, from: Format, ty: Type) -> u64 {
    let (least, most) = range(ty);
    match number.to_integer(round, least, most) {
        Some(value) => extend(value as u64, ty) as u64,
        None if ty.bits() == 64 || from == F64 => 1 << (ty.bits() - 1),
        None => 0,
    }
}

/// The rounding to integers: `.rni`, `.rzi`, `.rmi`, `.rpi`.
fn integral(i: &Instruction) -> Option<Round> {
    Some(
        match i.one_of(&[Word::Rni, Word::Rzi, Word::Rmi, Word::Rpi])? {
            Word::Rni => Round::Nearest,
            Word::Rzi => Round::Zero,
            Word::Rmi => Round::Down,
            _ => Round::Up,
        },
    )
}

/// The value with `.sat`: between 0 and 1, NaN becomes 0.
fn saturated(bits: u64, format: Format, sat: bool) -> u64 {
    let sign = 1u64 << (format.fraction + format.exponent);
    let infinity = ((1u64 << format.exponent) - 1) << format.fraction;
    if !sat {
        return bits;
    }
    if bits & !sign > infinity || bits & sign != 0 {
        0
    } else {
        bits.min(format.pack(Soft::integer(false, 1), Round::Nearest))
    }
}

fn floats(i: &Instruction, to: Type, from: Type) -> Option<Definition> {
    let (sat, ftz, relu) = (i.has(Word::Sat), i.has(Word::Ftz), i.has(Word::Relu));
    let finite = i.has(Word::Satfinite);
    let stochastic = i.has(Word::Rs);
    let round = if i.has(Word::Rna) {
        Round::Away
    } else {
        rounding(i)
    };
    let whole = integral(i);
    let tf32 = to == Type::Tf32;
    let (target, packed) = if tf32 { (TF32, false) } else { format(to)? };
    let (source, twice) = format(from)?;
    if twice || packed && source != F32 {
        return None;
    }
    let one = move |bits: u64, round: Round| {
        let bits = bits & mask(source);
        let bits = if ftz && source == F32 {
            flushed(bits)
        } else {
            bits
        };
        let mut number = source.unpack(bits);
        if let Some(round) = whole {
            number = number.integral(round);
        }
        let result = saturated(target.pack(number, round), target, sat);
        let mut result = target.bounded(result, finite, relu);
        if ftz && target == F32 {
            result = flushed(result);
        }
        // tf32 is stored as the f32 that it is a part of.
        if tf32 {
            result << (F32.fraction - TF32.fraction)
        } else {
            result
        }
    };
    let result = if tf32 { Type::B32 } else { to };
    // The first source is the upper half.
    match (packed, stochastic) {
        (false, false) => define_as(result, &[from], move |x| one(x[0], round)),
        (false, true) => None,
        (true, false) => define_as(to, &[from, from], move |x| {
            one(x[1], round) | one(x[0], round) << 16
        }),
        (true, true) => {
            small::check(i, to, from).ok()?;
            let bits = F32.fraction - target.fraction;
            define_as(to, &[from, from, Type::B32], move |x| {
                let half = |n: u32| {
                    let random = (x[2] >> (16 * n)) as u32 & ((1 << bits) - 1);
                    one(x[1 - n as usize], Round::Stochastic { random, bits })
                };
                half(0) | half(1) << 16
            })
        }
    }
}
