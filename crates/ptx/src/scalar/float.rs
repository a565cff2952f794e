//! Addition, multiplication, fused multiplication, minimum and maximum of
//! floating-point numbers, with every rounding.

use super::soft::{BF16, F16, F32, F64, Format, Round};
use super::{Definition, Scalar, define_as, f32_of, flushed, of_f32, of_f64};
use crate::ast::Instruction;
use crate::names::{Type, Word};
use crate::opcodes::Opcode;
use std::sync::Arc;

/// A function of numbers, given and returned as the bits of a format.
type Operation = Arc<dyn Fn(u64, u64, u64) -> u64 + Send + Sync>;

/// The rounding of an instruction; to nearest without one.
pub(super) fn rounding(i: &Instruction) -> Round {
    match i.one_of(&[Word::Rn, Word::Rz, Word::Rm, Word::Rp]) {
        Some(Word::Rz) => Round::Zero,
        Some(Word::Rm) => Round::Down,
        Some(Word::Rp) => Round::Up,
        _ => Round::Nearest,
    }
}

/// The format of numbers of a type, and whether there are two.
pub(super) fn format(ty: Type) -> Option<(Format, bool)> {
    Some(match ty {
        Type::F16 => (F16, false),
        Type::F16x2 => (F16, true),
        Type::Bf16 => (BF16, false),
        Type::Bf16x2 => (BF16, true),
        Type::F32 => (F32, false),
        Type::F32x2 => (F32, true),
        Type::F64 => (F64, false),
        _ => return None,
    })
}

pub(super) fn define(i: &Instruction) -> Option<Definition> {
    // add.f32.bf16 and the like are not there before sm_100.
    if i.types().count() > 1 {
        return None;
    }
    let ty = i.ty(0)?;
    let (format, packed) = format(ty)?;
    let count = match i.opcode {
        Opcode::Abs | Opcode::Neg => 1,
        Opcode::Fma | Opcode::Mad => 3,
        _ => i.operands.len().saturating_sub(1).clamp(2, 3),
    };
    let operation = operation(i, format)?;
    let sources = vec![ty; count];
    if packed {
        define_as(ty, &sources, move |x| {
            let half = ty.bits() / 2;
            let mask = (1 << half) - 1;
            let part = |by: u32| operation(x[0] >> by & mask, x[1] >> by & mask, x[2] >> by & mask);
            part(0) | part(half) << half
        })
    } else {
        define_as(ty, &sources, move |x| operation(x[0], x[1], x[2]))
    }
}

fn operation(i: &Instruction, format: Format) -> Option<Operation> {
    let round = rounding(i);
    let opcode = i.opcode;
    let base: Operation = match opcode {
        Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Fma | Opcode::Mad => {
            match (format == F32, format == F64, round) {
                (true, _, Round::Nearest) => Arc::new(move |a, b, c| single(opcode, a, b, c)),
                (_, true, Round::Nearest) => Arc::new(move |a, b, c| double(opcode, a, b, c)),
                _ => Arc::new(move |a, b, c| exact(opcode, format, round, a, b, c)),
            }
        }
        Opcode::Min | Opcode::Max => minimum(i, format),
        Opcode::Abs | Opcode::Neg => {
            let sign = 1u64 << (format.fraction + format.exponent);
            let negate = opcode == Opcode::Neg;
            Arc::new(move |a, _, _| if negate { a ^ sign } else { a & !sign })
        }
        _ => return None,
    };
    Some(clamped(i, format, base))
}

/// Subnormal numbers of a format become zero with their sign.
pub(super) fn flush(format: Format, bits: u64) -> u64 {
    if format == F32 {
        return flushed(bits);
    }
    let exponent = ((1u64 << format.exponent) - 1) << format.fraction;
    match bits & exponent {
        0 => bits & 1 << (format.fraction + format.exponent),
        _ => bits,
    }
}

/// The operation with `.ftz`, `.sat` and `.relu`.
fn clamped(i: &Instruction, format: Format, base: Operation) -> Operation {
    let (ftz, sat, relu) = (i.has(Word::Ftz), i.has(Word::Sat), i.has(Word::Relu));
    if !ftz && !sat && !relu {
        return base;
    }
    // Minimum and maximum have `.relu` inside.
    let relu = relu && !matches!(i.opcode, Opcode::Min | Opcode::Max);
    let one = format.pack(super::soft::Soft::integer(false, 1), Round::Nearest);
    let infinity = ((1u64 << format.exponent) - 1) << format.fraction;
    let sign = 1u64 << (format.fraction + format.exponent);
    Arc::new(move |a, b, c| {
        let flush = |x| if ftz { flush(format, x) } else { x };
        let mut result = flush(base(flush(a), flush(b), flush(c)));
        let nan = result & !sign > infinity;
        if sat {
            result = match result {
                _ if nan || result & sign != 0 => 0,
                r => r.min(one),
            };
        }
        if relu && !nan && result & sign != 0 {
            result = 0;
        }
        result
    })
}

fn single(opcode: Opcode, a: u64, b: u64, c: u64) -> u64 {
    let (a, b, c) = (f32_of(a), f32_of(b), f32_of(c));
    of_f32(match opcode {
        Opcode::Add => a + b,
        Opcode::Sub => a - b,
        Opcode::Mul => a * b,
        _ => a.mul_add(b, c),
    })
}

fn double(opcode: Opcode, a: u64, b: u64, c: u64) -> u64 {
    let [a, b, c] = [a, b, c].map(f64::from_bits);
    of_f64(match opcode {
        Opcode::Add => a + b,
        Opcode::Sub => a - b,
        Opcode::Mul => a * b,
        _ => a.mul_add(b, c),
    })
}

fn exact(opcode: Opcode, format: Format, round: Round, a: u64, b: u64, c: u64) -> u64 {
    let [a, b, c] = [a, b, c].map(|x| format.unpack(x));
    let result = match opcode {
        Opcode::Add => a.plus(b, round),
        Opcode::Sub => a.plus(b.negated(), round),
        Opcode::Mul => a.times(b),
        _ => a.times(b).plus(c, round),
    };
    format.pack(result, round)
}

/// The lesser or greater of two numbers of single precision, for reductions
/// of a warp; with `.abs` of their magnitudes.
pub(crate) fn extreme(i: &Instruction) -> Option<Scalar> {
    let magnitude = if i.has(Word::Abs) {
        0x7fff_ffff
    } else {
        0xffff_ffff
    };
    let best = minimum(i, F32);
    let is_extreme = i.one_of(&[Word::Min, Word::Max]).is_some();
    is_extreme
        .then(|| -> Scalar { Box::new(move |x| [best(x[0] & magnitude, x[1] & magnitude, 0), 0]) })
}

/// Minimum and maximum: a NaN loses against a number, with `.NaN` it wins;
/// -0 is below +0; of three operands with `.relu` negative ones are zero, and with `.abs`
/// their magnitudes are taken.
fn minimum(i: &Instruction, format: Format) -> Operation {
    let (max, nan_wins, xorsign) = (
        i.opcode == Opcode::Max || i.has(Word::Max),
        i.has(Word::BigNan),
        i.has(Word::Xorsign),
    );
    let relu = i.has(Word::Relu);
    let three = i.operands.len() > 3;
    let infinity = ((1u64 << format.exponent) - 1) << format.fraction;
    let sign = 1u64 << (format.fraction + format.exponent);
    let key = move |x: u64| {
        let magnitude = (x & !sign) as i64;
        if x & sign != 0 {
            -magnitude - 1
        } else {
            magnitude
        }
    };
    let two = move |a: u64, b: u64| {
        let (nan_a, nan_b) = (a & !sign > infinity, b & !sign > infinity);
        let signs = (a ^ b) & sign;
        let (a, b) = if xorsign {
            (a & !sign, b & !sign)
        } else {
            (a, b)
        };
        let best = match (nan_a, nan_b) {
            (true, true) => return format.nan(),
            (true, _) | (_, true) if nan_wins => return format.nan(),
            (true, _) => b,
            (_, true) => a,
            _ if (key(a) < key(b)) == max => b,
            _ => a,
        };
        if xorsign { best | signs } else { best }
    };
    let taken = if three && i.has(Word::Abs) && !xorsign {
        !sign
    } else {
        u64::MAX
    };
    Arc::new(move |a, b, c| {
        let (a, b, c) = (a & taken, b & taken, c & taken);
        let best = if three { two(two(a, b), c) } else { two(a, b) };
        let nan = best & !sign > infinity;
        if relu && !nan && best & sign != 0 {
            0
        } else {
            best
        }
    })
}
