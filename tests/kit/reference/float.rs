//! Floating point: PTX ISA, sections "Floating Point Instructions", "Half
//! Precision" and "Comparison and Selection", on soft floats.

use super::thread::Fault;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use spadkit::ptx::{Instruction, Opcode, Type, Word};
use std::cmp::Ordering;

/// The rounding that an instruction asks for, to nearest even if none.
pub(super) fn rounding(instr: &Instruction) -> Round {
    match instr.one_of(&[
        Word::Rn,
        Word::Rz,
        Word::Rm,
        Word::Rp,
        Word::Rna,
        Word::Rni,
        Word::Rzi,
        Word::Rmi,
        Word::Rpi,
    ]) {
        Some(Word::Rz | Word::Rzi) => Round::TowardZero,
        Some(Word::Rm | Word::Rmi) => Round::TowardNegative,
        Some(Word::Rp | Word::Rpi) => Round::TowardPositive,
        Some(Word::Rna) => Round::NearestTiesToAway,
        _ => Round::NearestTiesToEven,
    }
}

/// The one NaN that arithmetic gives.
pub(super) fn canonical_nan(ty: Type) -> u64 {
    match ty {
        Type::F16 | Type::Bf16 => 0x7fff,
        Type::F32 => 0x7fff_ffff,
        _ => 0x7fff_ffff_ffff_ffff,
    }
}

/// A subnormal becomes a zero of its sign.
pub(super) fn flushed<F: Float>(value: F) -> F {
    if value.is_denormal() {
        F::ZERO.copy_sign(value)
    } else {
        value
    }
}

/// What an instruction on operands `a` (bit patterns) of type `ty` gives.
pub(super) fn float(instr: &Instruction, ty: Type, a: &[u64]) -> Result<u64, Fault> {
    match ty {
        Type::F16 => arithmetic::<Half>(instr, ty, a),
        Type::Bf16 => arithmetic::<BFloat>(instr, ty, a),
        Type::F32 => arithmetic::<Single>(instr, ty, a),
        Type::F64 => arithmetic::<Double>(instr, ty, a),
        Type::F16x2 | Type::Bf16x2 => {
            let half = if ty == Type::F16x2 {
                Type::F16
            } else {
                Type::Bf16
            };
            let part = |shift: u32| {
                let operands: Vec<u64> = a.iter().map(|x| x >> shift & 0xffff).collect();
                float(instr, half, &operands)
            };
            Ok(part(0)? | part(16)? << 16)
        }
        other => Err(Fault(format!("{} as floating point", other.text()))),
    }
}

fn arithmetic<F: Float>(instr: &Instruction, ty: Type, a: &[u64]) -> Result<u64, Fault> {
    let flush = instr.has(Word::Ftz);
    let value = |i: usize| {
        let value = F::from_bits(a[i].into());
        if flush { flushed(value) } else { value }
    };
    let round = rounding(instr);
    use Opcode::*;
    let result = match instr.opcode {
        Add => value(0).add_r(value(1), round).value,
        Sub => value(0).sub_r(value(1), round).value,
        Mul => value(0).mul_r(value(1), round).value,
        Div => value(0).div_r(value(1), round).value,
        Rcp => F::from_u128(1).value.div_r(value(0), round).value,
        Fma | Mad => value(0).mul_add_r(value(1), value(2), round).value,
        // Bits, not arithmetic: a NaN keeps its sign and payload open.
        Abs => value(0).abs(),
        Neg => -value(0),
        Copysign => {
            return Ok((F::from_bits(a[1].into()))
                .copy_sign(F::from_bits(a[0].into()))
                .to_bits() as u64);
        }
        Min | Max => extreme(instr, ty, value(0), value(1)),
        other => return Err(Fault(format!("{} on floating point", other.text()))),
    };
    let result = if flush { flushed(result) } else { result };
    let result = match () {
        () if instr.has(Word::Sat) => saturated(result),
        () if instr.has(Word::Relu) && !result.is_nan() && result.is_negative() => F::ZERO,
        () => result,
    };
    Ok(if result.is_nan() && !matches!(instr.opcode, Abs | Neg) {
        canonical_nan(ty)
    } else {
        result.to_bits() as u64
    })
}

/// To [0, 1]; NaN to 0.
pub(super) fn saturated<F: Float>(value: F) -> F {
    let one = F::from_u128(1).value;
    match value.partial_cmp(&one) {
        None => F::ZERO,
        Some(Ordering::Greater) => one,
        _ if value.is_negative() => F::ZERO,
        _ => value,
    }
}

fn extreme<F: Float>(instr: &Instruction, ty: Type, a: F, b: F) -> F {
    let nan = || F::from_bits(canonical_nan(ty).into());
    if (a.is_nan() && b.is_nan()) || (instr.has(Word::BigNan) && (a.is_nan() || b.is_nan())) {
        return nan();
    }
    let (x, y) = if instr.has(Word::Xorsign) {
        (a.abs(), b.abs())
    } else {
        (a, b)
    };
    let is_max = instr.opcode == Opcode::Max;
    let picked = match x.partial_cmp(&y) {
        None if x.is_nan() => y,
        None => x,
        // -0 is below +0.
        Some(Ordering::Equal) if x.is_negative() == is_max => y,
        Some(Ordering::Equal) => x,
        Some(order) if (order == Ordering::Greater) == is_max => x,
        Some(_) => y,
    };
    if instr.has(Word::Xorsign) && a.is_negative() != b.is_negative() {
        -picked
    } else {
        picked
    }
}

/// Whether a comparison holds between bit patterns of type `ty`.
pub(super) fn compare(word: Word, ty: Type, a: u64, b: u64, flush: bool) -> bool {
    let order = match ty {
        Type::F16 => ordering::<Half>(a, b, flush),
        Type::Bf16 => ordering::<BFloat>(a, b, flush),
        Type::F32 => ordering::<Single>(a, b, flush),
        Type::F64 => ordering::<Double>(a, b, flush),
        _ if ty.is_signed() => Some(super::signed(a, ty.bits()).cmp(&super::signed(b, ty.bits()))),
        _ => Some(super::truncate(a, ty.bits()).cmp(&super::truncate(b, ty.bits()))),
    };
    use Ordering::{Equal, Greater, Less};
    match word {
        Word::Eq => order == Some(Equal),
        Word::Ne => order.is_some_and(|o| o != Equal),
        Word::Lt | Word::Lo => order == Some(Less),
        Word::Le | Word::Ls => order.is_some_and(|o| o != Greater),
        Word::Gt | Word::Hi => order == Some(Greater),
        Word::Ge | Word::Hs => order.is_some_and(|o| o != Less),
        Word::Equ => order.is_none_or(|o| o == Equal),
        Word::Neu => order != Some(Equal),
        Word::Ltu => order.is_none_or(|o| o == Less),
        Word::Leu => order != Some(Greater),
        Word::Gtu => order.is_none_or(|o| o == Greater),
        Word::Geu => order != Some(Less),
        Word::Num => order.is_some(),
        _ => order.is_none(),
    }
}

fn ordering<F: Float>(a: u64, b: u64, flush: bool) -> Option<Ordering> {
    let value = |bits: u64| {
        let value = F::from_bits(bits.into());
        if flush { flushed(value) } else { value }
    };
    value(a).partial_cmp(&value(b))
}

/// `testp`
pub(super) fn test(instr: &Instruction, ty: Type, a: u64) -> bool {
    fn classes<F: Float>(a: u64) -> [bool; 3] {
        let v = F::from_bits(a.into());
        [v.is_nan(), v.is_infinite(), v.is_denormal()]
    }
    let [nan, infinite, subnormal] = match ty {
        Type::F64 => classes::<Double>(a),
        _ => classes::<Single>(a),
    };
    match instr.one_of(&[
        Word::Finite,
        Word::Infinite,
        Word::Number,
        Word::Notanumber,
        Word::Normal,
        Word::Subnormal,
    ]) {
        Some(Word::Finite) => !nan && !infinite,
        Some(Word::Infinite) => infinite,
        Some(Word::Number) => !nan,
        Some(Word::Notanumber) => nan,
        // Zeros are normal numbers here, as the ISA says.
        Some(Word::Normal) => !nan && !infinite && !subnormal,
        _ => subnormal,
    }
}

/// `bits` of type `from` as type `to`.
pub(super) fn convert(bits: u64, from: Type, to: Type, round: Round) -> u64 {
    fn to_double<F: FloatConvert<Double>>(bits: u64) -> Double {
        // Exact: no type has more digits.
        F::from_bits(bits.into()).convert(&mut false).value
    }
    fn from_double<F: Float>(value: Double, round: Round) -> u64
    where
        Double: FloatConvert<F>,
    {
        let converted: F = value.convert_r(round, &mut false).value;
        converted.to_bits() as u64
    }
    let value = match from {
        Type::F16 => to_double::<Half>(bits),
        Type::Bf16 => to_double::<BFloat>(bits),
        Type::F32 => to_double::<Single>(bits),
        _ => Double::from_bits(bits.into()),
    };
    if value.is_nan() {
        return canonical_nan(to);
    }
    match to {
        Type::F16 => from_double::<Half>(value, round),
        Type::Bf16 => from_double::<BFloat>(value, round),
        Type::F32 => from_double::<Single>(value, round),
        _ => value.to_bits() as u64,
    }
}
