//! `cvt`: PTX ISA, section "Data Movement and Conversion Instructions: cvt".

use super::float::{canonical_nan, convert, flushed, rounding, saturated};
use super::thread::Fault;
use super::{signed, small, truncate};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, Round};
use spadkit::ptx::{Instruction, Type, Word};

/// The result of a conversion of `a` (one value, or two that are packed).
pub(super) fn cvt(instr: &Instruction, a: &[u64]) -> Result<u64, Fault> {
    let types: Vec<Type> = instr.types().collect();
    let &[to, from] = types.as_slice() else {
        return Err(Fault("cvt without two types".into()));
    };
    if small::is_small(instr) {
        return small::cvt(instr, to, from, a);
    }
    if matches!(to, Type::F16x2 | Type::Bf16x2) {
        let half = if to == Type::F16x2 {
            Type::F16
        } else {
            Type::Bf16
        };
        let part = |i: usize| float_to_float(instr, a[i], from, half);
        return Ok(part(0) << 16 | part(1));
    }
    if to == Type::Tf32 || from == Type::Tf32 {
        return Err(Fault("cvt with tf32".into()));
    }
    Ok(match (from.is_float(), to.is_float()) {
        (true, true) => float_to_float(instr, a[0], from, to),
        (true, false) => float_to_integer(instr, a[0], from, to),
        (false, true) => integer_to_float(instr, a[0], from, to),
        (false, false) => integer_to_integer(instr, a[0], from, to),
    })
}

fn integer(value: u64, ty: Type) -> i128 {
    if ty.is_signed() {
        signed(value, ty.bits()).into()
    } else {
        truncate(value, ty.bits()).into()
    }
}

/// The least and greatest number of a type.
fn range(ty: Type) -> (i128, i128) {
    if ty.is_signed() {
        (-(1 << (ty.bits() - 1)), (1 << (ty.bits() - 1)) - 1)
    } else {
        (0, (1i128 << ty.bits()) - 1)
    }
}

fn integer_to_integer(instr: &Instruction, a: u64, from: Type, to: Type) -> u64 {
    let value = integer(a, from);
    let (low, high) = range(to);
    if instr.has(Word::Sat) {
        value.clamp(low, high) as u64
    } else {
        truncate(value as u64, to.bits())
    }
}

fn integer_to_float(instr: &Instruction, a: u64, from: Type, to: Type) -> u64 {
    fn rounded<F: Float>(value: i128, round: Round, sat: bool) -> u64 {
        let value = F::from_i128_r(value, round).value;
        let value = if sat { saturated(value) } else { value };
        value.to_bits() as u64
    }
    let (value, round, sat) = (integer(a, from), rounding(instr), instr.has(Word::Sat));
    match to {
        Type::F16 => rounded::<Half>(value, round, sat),
        Type::Bf16 => rounded::<BFloat>(value, round, sat),
        Type::F32 => rounded::<Single>(value, round, sat),
        _ => rounded::<Double>(value, round, sat),
    }
}

fn float_to_integer(instr: &Instruction, a: u64, from: Type, to: Type) -> u64 {
    let bits = if instr.has(Word::Ftz) && from == Type::F32 {
        flushed(Single::from_bits(a.into())).to_bits() as u64
    } else {
        a
    };
    let value = Double::from_bits(convert(bits, from, Type::F64, Round::NearestTiesToEven).into());
    if value.is_nan() {
        let wide = from == Type::F64 || to.bits() == 64;
        return if wide { 1 << (to.bits() - 1) } else { 0 };
    }
    let whole = value.round_to_integral(rounding(instr)).value;
    let (low, high) = range(to);
    // 100 bits hold every f64 that is not far beyond 64 bits.
    let exact = whole.to_i128_r(100, Round::TowardZero, &mut false).value;
    exact.clamp(low, high) as u64
}

fn float_to_float(instr: &Instruction, a: u64, from: Type, to: Type) -> u64 {
    let ftz = instr.has(Word::Ftz);
    let mut bits = truncate(a, from.bits());
    if ftz && from == Type::F32 {
        bits = flushed(Single::from_bits(bits.into())).to_bits() as u64;
    }
    let integral = instr
        .one_of(&[Word::Rni, Word::Rzi, Word::Rmi, Word::Rpi])
        .is_some();
    if integral {
        bits = rounded_to_integral(bits, from, rounding(instr));
    }
    let mut result = if from == to {
        bits
    } else {
        convert(bits, from, to, rounding(instr))
    };
    if ftz && to == Type::F32 {
        result = flushed(Single::from_bits(result.into())).to_bits() as u64;
    }
    if instr.has(Word::Sat) {
        result = saturate(result, to);
    }
    if instr.has(Word::Relu) && result >> (to.bits() - 1) & 1 == 1 && !is_nan(result, to) {
        result = 0;
    }
    if is_nan(result, to) {
        canonical_nan(to)
    } else {
        result
    }
}

fn is_nan(bits: u64, ty: Type) -> bool {
    match ty {
        Type::F16 => Half::from_bits(bits.into()).is_nan(),
        Type::Bf16 => BFloat::from_bits(bits.into()).is_nan(),
        Type::F32 => Single::from_bits(bits.into()).is_nan(),
        _ => Double::from_bits(bits.into()).is_nan(),
    }
}

fn saturate(bits: u64, ty: Type) -> u64 {
    match ty {
        Type::F16 => saturated(Half::from_bits(bits.into())).to_bits() as u64,
        Type::Bf16 => saturated(BFloat::from_bits(bits.into())).to_bits() as u64,
        Type::F32 => saturated(Single::from_bits(bits.into())).to_bits() as u64,
        _ => saturated(Double::from_bits(bits.into())).to_bits() as u64,
    }
}

fn rounded_to_integral(bits: u64, ty: Type, round: Round) -> u64 {
    fn whole<F: Float>(bits: u64, round: Round) -> u64 {
        F::from_bits(bits.into())
            .round_to_integral(round)
            .value
            .to_bits() as u64
    }
    match ty {
        Type::F16 => whole::<Half>(bits, round),
        Type::Bf16 => whole::<BFloat>(bits, round),
        Type::F32 => whole::<Single>(bits, round),
        _ => whole::<Double>(bits, round),
    }
}
