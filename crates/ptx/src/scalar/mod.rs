//! Scalar definitions: the arithmetic of each instruction, for one lane.
//!
//! Operands come as the bits of their registers, zero-extended; results are cut to the
//! width of theirs. These definitions cover every form; `exec::lanes` has the common
//! ones again for 32 lanes at a time.

mod approximate;
mod bits;
mod compare;
mod convert;
pub(super) mod float;
mod integer;
pub(super) mod small;
pub(super) mod soft;
pub(super) mod video;

use crate::ast::Instruction;
use crate::names::{Type, Word};
use crate::opcodes::Class;
use crate::operands::{result_type, source_type};

pub(super) use compare::Accepts;

/// The most source operands that an instruction has.
pub(super) const SOURCES: usize = 5;

/// Source operands; those that an instruction does not have are 0.
pub(super) type Sources = [u64; SOURCES];

/// Source operands, the others 0.
pub(super) fn sources<const N: usize>(given: [u64; N]) -> Sources {
    let mut all = [0; SOURCES];
    all[..N].copy_from_slice(&given);
    all
}

/// Operands to results, of which there are up to two.
pub(super) type Scalar = Box<dyn Fn(&Sources) -> [u64; 2] + Send + Sync>;

/// The definition of an instruction, with the types of its operands.
pub(super) struct Definition {
    pub compute: Scalar,
    /// Types of the results: the second is a predicate.
    pub result: Type,
    /// Type of each source operand.
    pub sources: Vec<Type>,
    /// Whether the carry flag is read (as the last source) and written (as
    /// the second result).
    pub carry_in: bool,
    pub carry_out: bool,
}

/// The result of an instruction as bits, where `operand` gives all of its source
/// operands (by number and type, zero-extended). None where it is no plain arithmetic.
pub(super) fn fold(
    instruction: &Instruction,
    operand: impl Fn(usize, Type) -> Option<u64>,
) -> Option<u64> {
    let definition = define(instruction)?;
    if definition.carry_in || definition.sources.len() > SOURCES {
        return None;
    }
    let mut inputs = [0; SOURCES];
    for (n, &ty) in definition.sources.iter().enumerate() {
        inputs[n] = operand(n, ty)?;
    }
    Some((definition.compute)(&inputs)[0])
}

/// The definition of an instruction whose operands have the types of its
/// opcode's row, without carry.
fn definition(
    instruction: &Instruction,
    compute: impl Fn(&Sources) -> u64 + Send + Sync + 'static,
) -> Option<Definition> {
    let sources = 0..instruction.opcode.row().sources.len();
    let sources: Option<Vec<Type>> = sources.map(|n| source_type(instruction, n)).collect();
    define_as(result_type(instruction)?, &sources?, compute)
}

/// The definition of an instruction with these types, without carry.
fn define_as(
    result: Type,
    sources: &[Type],
    compute: impl Fn(&Sources) -> u64 + Send + Sync + 'static,
) -> Option<Definition> {
    Some(Definition {
        compute: Box::new(move |x| [compute(x), 0]),
        result,
        sources: sources.to_vec(),
        carry_in: false,
        carry_out: false,
    })
}

/// The definition of `instruction`; none where it is not arithmetic or has a
/// form that the kit does not know.
pub(super) fn define(instruction: &Instruction) -> Option<Definition> {
    if instruction.has(Word::Other) {
        return None;
    }
    let is_float = || Some(instruction.ty(0)?.is_float());
    match instruction.opcode.class() {
        Class::Compare => compare::define(instruction),
        Class::Convert => convert::define(instruction),
        Class::Bits => bits::define(instruction),
        Class::Video => video::define(instruction),
        Class::Function => approximate::define(instruction),
        Class::Quotient if is_float()? => approximate::define(instruction),
        Class::Arithmetic if is_float()? => float::define(instruction),
        Class::Arithmetic | Class::Quotient => integer::define(instruction),
        _ => None,
    }
}

/// The orders of values that a comparison accepts.
pub(super) fn accepts(instruction: &Instruction) -> Option<Accepts> {
    Accepts::of(instruction)
}

/// The value of the lowest bits of `bits` that `ty` has, sign-extended for
/// signed types.
fn extend(bits: u64, ty: Type) -> i64 {
    let unused = 64 - ty.bits().min(64);
    if ty.is_signed() {
        ((bits << unused) as i64) >> unused
    } else {
        ((bits << unused) >> unused) as i64
    }
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn of_f32(value: f32) -> u64 {
    if value.is_nan() {
        0x7fff_ffff
    } else {
        u64::from(value.to_bits())
    }
}

fn of_f64(value: f64) -> u64 {
    if value.is_nan() {
        0x7fff_ffff_ffff_ffff
    } else {
        value.to_bits()
    }
}

/// Subnormal single-precision numbers become zero with their sign.
fn flushed(bits: u64) -> u64 {
    match bits & 0x7f80_0000 {
        0 => bits & 0x8000_0000,
        _ => bits & 0xffff_ffff,
    }
}
