//! Division, roots and the approximate functions.
//!
//! The approximations are computed in double precision and rounded, which is
//! well within the errors that the PTX ISA allows. They follow its rules for
//! zeros, infinities and subnormal numbers. They also follow the machine code
//! that `ptxas` generates for each form (docs/reference/ptx.md).

use super::float::{format, rounding};
use super::soft::{Round, Soft};
use super::{Definition, definition, f32_of, flushed, of_f32, of_f64};
use crate::ast::Instruction;
use crate::names::{Type, Word};
use crate::opcodes::Opcode;

/// 2^126: the reciprocals of larger numbers are subnormal, and the unit that
/// computes them gives zero. `div.approx` alone does not scale them first.
const LARGEST_WITH_RECIPROCAL: f32 = 1.0 / f32::MIN_POSITIVE;

pub(super) fn define(i: &Instruction) -> Option<Definition> {
    let ty = i.ty(0)?;
    match i.opcode {
        Opcode::Div => division(i, ty),
        Opcode::Rcp | Opcode::Sqrt if i.has(Word::Approx) => function(i, ty),
        Opcode::Rcp | Opcode::Sqrt => exact(i, ty),
        _ => function(i, ty),
    }
}

/// The flush of `.ftz` on single-precision operands and results.
fn flushing(i: &Instruction, ty: Type) -> impl Fn(u64) -> u64 + Copy + use<> {
    let ftz = i.has(Word::Ftz) && ty == Type::F32;
    move |bits| if ftz { flushed(bits) } else { bits }
}

fn division(i: &Instruction, ty: Type) -> Option<Definition> {
    let round = rounding(i);
    let flush = flushing(i, ty);
    let by_reciprocal = i.has(Word::Approx);
    match (ty, round) {
        (Type::F32, Round::Nearest) => definition(i, move |x| {
            let (a, b) = (f32_of(flush(x[0])), f32_of(flush(x[1])));
            if by_reciprocal && b.abs() > LARGEST_WITH_RECIPROCAL {
                of_f32(a * 0f32.copysign(b))
            } else {
                flush(of_f32(a / b))
            }
        }),
        (Type::F64, Round::Nearest) => {
            definition(i, |x| of_f64(f64::from_bits(x[0]) / f64::from_bits(x[1])))
        }
        (Type::F32 | Type::F64, _) => {
            let (format, _) = format(ty)?;
            definition(i, move |x| {
                let (a, b) = (format.unpack(flush(x[0])), format.unpack(flush(x[1])));
                flush(format.pack(a.over(b), round))
            })
        }
        _ => None,
    }
}

/// `rcp` and `sqrt` with a rounding.
fn exact(i: &Instruction, ty: Type) -> Option<Definition> {
    if !matches!(ty, Type::F32 | Type::F64) {
        return None;
    }
    let (format, _) = format(ty)?;
    let (round, flush, root) = (rounding(i), flushing(i, ty), i.opcode == Opcode::Sqrt);
    if round == Round::Nearest {
        return definition(i, move |x| match ty {
            Type::F32 => {
                let a = f32_of(flush(x[0]));
                flush(of_f32(if root { a.sqrt() } else { 1.0 / a }))
            }
            _ => {
                let a = f64::from_bits(x[0]);
                of_f64(if root { a.sqrt() } else { 1.0 / a })
            }
        });
    }
    definition(i, move |x| {
        let a = format.unpack(flush(x[0]));
        let result = if root {
            a.root()
        } else {
            Soft::integer(false, 1).over(a)
        };
        flush(format.pack(result, round))
    })
}

/// The number that the bare approximations of doubles read and write: the upper 32
/// bits, subnormal numbers as zero.
fn upper(bits: u64) -> f64 {
    const NAN: u64 = 0x7fff_ffff_ffff_ffff;
    let value = f64::from_bits(if bits == NAN {
        bits
    } else {
        bits & !0xffff_ffff
    });
    if value.is_subnormal() {
        0f64.copysign(value)
    } else {
        value
    }
}

/// A function of one number, in double precision.
fn function(i: &Instruction, ty: Type) -> Option<Definition> {
    let real: fn(f64) -> f64 = match i.opcode {
        Opcode::Rcp => |x| 1.0 / x,
        Opcode::Sqrt => f64::sqrt,
        Opcode::Rsqrt => |x| match x {
            0.0 => f64::INFINITY.copysign(x),
            x => 1.0 / x.sqrt(),
        },
        Opcode::Sin => f64::sin,
        Opcode::Cos => f64::cos,
        Opcode::Lg2 => |x| {
            if x == 0.0 {
                f64::NEG_INFINITY
            } else {
                x.log2()
            }
        },
        Opcode::Ex2 => f64::exp2,
        Opcode::Tanh => f64::tanh,
        _ => return None,
    };
    let flush = flushing(i, ty);
    match ty {
        Type::F32 => definition(i, move |x| {
            flush(of_f32(real(f64::from(f32_of(flush(x[0])))) as f32))
        }),
        // The bare approximation; the machine code of the form without
        // `.ftz` refines it to all 53 bits, and takes subnormal numbers.
        Type::F64 if i.has(Word::Ftz) => {
            definition(i, move |x| upper(of_f64(real(upper(x[0])))).to_bits())
        }
        Type::F64 => definition(i, move |x| of_f64(real(f64::from_bits(x[0])))),
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => {
            let (format, packed) = format(ty)?;
            let wide = super::soft::F64;
            let one = move |bits: u64| {
                let value = f64::from_bits(wide.pack(format.unpack(bits & 0xffff), Round::Nearest));
                format.pack(wide.unpack(real(value).to_bits()), Round::Nearest)
            };
            definition(i, move |x| {
                if packed {
                    one(x[0]) | one(x[0] >> 16) << 16
                } else {
                    one(x[0])
                }
            })
        }
        _ => None,
    }
}
