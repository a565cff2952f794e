//! Forms of instructions: types, rounding, and sizes of registers. What is refused here
//! `ptxas` refuses, too; the test compares with its judgement.

use crate::ast::{Immediate, Instruction, Module, Operand};
use crate::names::{Modifier, Type, Word};
use crate::opcodes::{BITS, CONVERTED, Class, FLOATS, HALVES, INTEGERS, Opcode, WIDE_INTEGERS};
use crate::scalar::small;

use Type::{B8, B16, B32, B64, B128, Bf16, Bf16x2, F16, F16x2, F32, F32x2, F64, Pred, S16x2, S32};

/// The error.
type Reason = String;
const EXACT: &[Word] = &[Word::Rn, Word::Rz, Word::Rm, Word::Rp];
const INTEGRAL: &[Word] = &[Word::Rni, Word::Rzi, Word::Rmi, Word::Rpi];
const PARTS: &[Word] = &[Word::Lo, Word::Hi, Word::Wide];

/// Checks the form of an instruction, operands apart.
pub(super) fn check(i: &Instruction, module: &Module) -> Result<(), Reason> {
    let bare = matches!(
        i.opcode.class(),
        Class::Return | Class::Exit | Class::Trap | Class::Fence
    );
    // It names the map.
    let acquires_map = i.has(Word::TensormapGeneric) && i.has(Word::Acquire);
    if bare && !i.operands.is_empty() && !acquires_map {
        return Err(format!("`{}` has no operands", i.opcode.text()));
    }
    let selects = i
        .operands
        .iter()
        .any(|o| matches!(o, Operand::Selected(..)));
    if selects && i.opcode.class() != Class::Video {
        return Err("a part of a register, which only video instructions name".to_owned());
    }
    let ty = match i.opcode {
        Opcode::Set => i.ty(1),
        _ => i.ty(0),
    };
    // Instructions without a type, and those with forms of their own.
    let allowed = i.opcode.row().types;
    let Some(ty) = ty.filter(|_| !allowed.is_empty()) else {
        return Ok(());
    };
    if i.has(Word::Pack) && i.opcode == Opcode::Cvt {
        return packing(i, ty);
    }
    if !allowed.iter().any(|set| set.contains(&ty)) {
        return Err(format!(
            "`{}` has no type .{}: expected one of {}",
            i.opcode.text(),
            ty.text(),
            listed(allowed.iter().copied().flatten().map(|t| t.text()))
        ));
    }
    match i.opcode {
        _ if i.opcode.class() == Class::Video => super::video::check(i),
        Opcode::Set | Opcode::Setp => comparison(i, ty),
        Opcode::Cvt => match i.ty(1) {
            Some(from) => conversion(i, ty, from, is_old(module)),
            // One of them is not known.
            None if i.has(Word::Other) => Ok(()),
            None => Err("`cvt` has two types".to_owned()),
        },
        _ => {
            carry(i, ty)?;
            integer_part(i, ty)?;
            rounding(i, ty, is_old(module))?;
            small_numbers(i, ty)?;
            extremes(i, ty)
        }
    }
}

/// PTX before 2.0, and for the first GPUs, leaves roundings out.
fn is_old(module: &Module) -> bool {
    module.version < (2, 0)
        || module
            .target
            .iter()
            .any(|t| t.starts_with("sm_1") && t.len() == 5)
}

pub(super) fn listed<'t>(words: impl Iterator<Item = &'t str>) -> String {
    let all: Vec<String> = words.map(|w| format!(".{w}")).collect();
    all.join(" ")
}

/// `.cc` and `.relu`.
fn carry(i: &Instruction, ty: Type) -> Result<(), Reason> {
    use Opcode::{Add, Addc, Fma, Mad, Madc, Max, Min, Sub, Subc};
    let carries = matches!(i.opcode, Add | Addc | Sub | Subc | Mad | Madc);
    let may = |word: Word| match word {
        Word::Cc => carries && WIDE_INTEGERS.contains(&ty) && !i.has(Word::Wide),
        _ if matches!(i.opcode, Max | Min) => ty == S32 || ty == S16x2,
        _ => i.opcode == Fma && HALVES.contains(&ty),
    };
    let given = [Word::Cc, Word::Relu].into_iter().filter(|w| i.has(*w));
    match given.into_iter().find(|w| !may(*w)) {
        None => Ok(()),
        Some(word) => Err(format!(
            "`{}.{}` has no .{}",
            i.opcode.text(),
            ty.text(),
            word.text()
        )),
    }
}

/// `.lo`, `.hi` or `.wide` of products of integers.
fn integer_part(i: &Instruction, ty: Type) -> Result<(), Reason> {
    use Opcode::{Mad, Mad24, Madc, Mul, Mul24};
    let product = matches!(i.opcode, Mul | Mul24 | Mad | Mad24 | Madc);
    let part = i.one_of(PARTS);
    match (product, ty.is_float(), part) {
        (true, false, None) => Err(
            "which part of the product is missing: expected .lo, .hi or \
                                    .wide"
                .to_owned(),
        ),
        (true, true, Some(part)) => {
            Err(format!("a floating-point product has no .{}", part.text()))
        }
        (true, false, Some(Word::Wide)) if ty.bits() == 64 => {
            Err("there is no .wide of 64 bits: expected .lo or .hi".to_owned())
        }
        (false, _, Some(part)) if i.opcode != Opcode::Szext => {
            Err(format!("`{}` has no .{}", i.opcode.text(), part.text()))
        }
        _ => Ok(()),
    }
}

/// Roundings, and which approximation.
fn rounding(i: &Instruction, ty: Type, old: bool) -> Result<(), Reason> {
    use Opcode::*;
    const APPROX: Word = Word::Approx;
    let expected: &[Word] = match (i.opcode, ty) {
        (Add | Sub | Mul, F32 | F32x2 | F64) => EXACT,
        (Add | Sub | Mul, _) if HALVES.contains(&ty) => &[Word::Rn],
        (Fma, F16 | F16x2) => &[Word::Rn],
        (Fma, _) | (Mad, F32 | F64) => EXACT,
        (Div, F32) => &[Word::Rn, Word::Rz, Word::Rm, Word::Rp, APPROX, Word::Full],
        (Rcp | Sqrt, F32) => &[Word::Rn, Word::Rz, Word::Rm, Word::Rp, APPROX],
        (Rcp, F64) if i.has(Word::Ftz) => &[Word::Rn, Word::Rz, Word::Rm, Word::Rp, APPROX],
        (Div | Rcp | Sqrt, F64) => EXACT,
        (Rsqrt | Sin | Cos | Lg2 | Ex2 | Tanh, _) => &[APPROX],
        _ => &[],
    };
    let given = i.one_of(&[Word::Rn, Word::Rz, Word::Rm, Word::Rp, APPROX, Word::Full]);
    let (opcode, ty_text) = (i.opcode.text(), ty.text());
    let all = || listed(expected.iter().map(|w| w.text()));
    match given {
        Some(word) if expected.is_empty() => {
            Err(format!("`{opcode}.{ty_text}` has no .{}", word.text()))
        }
        Some(word) if !expected.contains(&word) => Err(format!(
            "`{opcode}.{ty_text}` has no .{}: expected one of {}",
            word.text(),
            all()
        )),
        None if !(expected.is_empty() || old || matches!(i.opcode, Add | Sub | Mul)) => {
            Err(format!(
                "`{opcode}.{ty_text}` needs a rounding: expected one of {}",
                all()
            ))
        }
        _ => Ok(()),
    }
}

/// `.ftz` and `.sat`.
fn small_numbers(i: &Instruction, ty: Type) -> Result<(), Reason> {
    use Opcode::*;
    let flushes = match i.opcode {
        Rcp | Rsqrt => FLOATS.contains(&ty),
        Tanh => false,
        Ex2 => ty != F16 && ty != F16x2,
        // It says so of what decides.
        Slct => i.ty(1) == Some(F32),
        _ => matches!(ty, F32 | F32x2 | F16 | F16x2),
    };
    let has_no = |word: Word| {
        let (opcode, ty) = (i.opcode.text(), ty.text());
        Err(format!("`{opcode}.{ty}` has no .{}", word.text()))
    };
    if i.has(Word::Ftz) && !flushes {
        return has_no(Word::Ftz);
    }
    if i.opcode == Ex2 && matches!(ty, Bf16 | Bf16x2) && !i.has(Word::Ftz) {
        return Err(format!("`ex2.{}` needs .ftz", ty.text()));
    }
    let saturates = match i.opcode {
        Add | Sub => matches!(ty, S32 | F32 | F16 | F16x2),
        Mul | Fma => matches!(ty, F32 | F16 | F16x2),
        Mad => ty == F32 || ty == S32 && i.has(Word::Hi),
        Mad24 => ty == S32 && i.has(Word::Hi),
        _ => false,
    };
    if i.has(Word::Sat) && !saturates {
        has_no(Word::Sat)
    } else {
        Ok(())
    }
}

/// `.NaN`, `.xorsign` and `.abs` of minima and maxima, of which there are such of three
/// numbers.
fn extremes(i: &Instruction, ty: Type) -> Result<(), Reason> {
    let three = i.operands.len() > 3;
    let orders = ty == F32 || HALVES.contains(&ty);
    let may = |word: Word| match word {
        Word::BigNan => orders,
        Word::Xorsign => orders && !three,
        _ if three => ty == F32,
        _ => i.has(Word::Xorsign),
    };
    let words = [Word::BigNan, Word::Xorsign, Word::Abs];
    let name = format!("`{}.{}`", i.opcode.text(), ty.text());
    match words.into_iter().find(|w| i.has(*w) && !may(*w)) {
        Some(word) => Err(format!("{name} has no .{} here", word.text())),
        None if i.has(Word::Xorsign) && !i.has(Word::Abs) => {
            Err(format!("{name} with .xorsign needs .abs"))
        }
        None => Ok(()),
    }
}

/// Comparisons, what they are combined with, and `.ftz`.
fn comparison(i: &Instruction, ty: Type) -> Result<(), Reason> {
    let name = i.opcode.text();
    let combined = i.one_of(&[Word::And, Word::Or, Word::Xor]).is_some();
    match (combined, i.operands.len() > 3) {
        (true, false) => return Err(format!("`{name}` is combined with nothing")),
        (false, true) => {
            return Err(format!(
                "how `{name}` is combined is missing: expected .and, .or or .xor"
            ));
        }
        _ => {}
    }
    if i.has(Word::Ftz) && !matches!(ty, F32 | F16 | F16x2) {
        return Err(format!("`{name}.{}` has no .ftz", ty.text()));
    }
    use Word::{Eq, Equ, Geu, Gtu, Hi, Hs, Leu, Lo, Ls, Ltu, Nan, Ne, Neu, Num};
    const EQUAL: &[Word] = &[Eq, Ne];
    const ORDERS: &[Word] = &[Word::Lt, Word::Le, Word::Gt, Word::Ge];
    const UNSIGNED: &[Word] = &[Lo, Ls, Hi, Hs];
    const UNORDERED: &[Word] = &[Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan];
    let expected: &[&[Word]] = match ty {
        _ if ty.is_float() => &[EQUAL, ORDERS, UNORDERED],
        _ if BITS.contains(&ty) => &[EQUAL],
        _ if ty.is_signed() => &[EQUAL, ORDERS],
        _ => &[EQUAL, ORDERS, UNSIGNED],
    };
    let given = i.one_of(&[EQUAL, ORDERS, UNSIGNED, UNORDERED].concat());
    match given {
        Some(word) if !expected.iter().any(|set| set.contains(&word)) => Err(format!(
            "values of .{} are not compared by .{}: expected one of {}",
            ty.text(),
            word.text(),
            listed(expected.iter().copied().flatten().map(|w| w.text()))
        )),
        _ => Ok(()),
    }
}

fn conversion(i: &Instruction, to: Type, from: Type, old: bool) -> Result<(), Reason> {
    if !CONVERTED.iter().any(|set| set.contains(&from)) {
        return Err(format!("`cvt` takes no .{}", from.text()));
    }
    if small::concerns(i) {
        return small::check(i, to, from);
    }
    let (required, roundings) = conversion_roundings(to, from)
        .ok_or_else(|| format!("no `cvt` from .{} to .{}", from.text(), to.text()))?;
    let name = format!("`cvt.{}.{}`", to.text(), from.text());
    let all = || listed(roundings.iter().map(|w| w.text()));
    match i.one_of(&[EXACT, INTEGRAL, &[Word::Rna]].concat()) {
        Some(word) if roundings.is_empty() => {
            return Err(format!("{name} does not round: it has no .{}", word.text()));
        }
        Some(word) if !roundings.contains(&word) => {
            return Err(format!(
                "{name} has no .{}: expected one of {}",
                word.text(),
                all()
            ));
        }
        None if required && !old => {
            return Err(format!(
                "{name} needs a rounding: expected one of {}",
                all()
            ));
        }
        _ => {}
    }
    let has_no = |word: &&Word| i.has(**word) && !converts(i, **word, to, from);
    let words = [
        Word::Sat,
        Word::Ftz,
        Word::Satfinite,
        Word::Relu,
        Word::Scaled,
    ];
    match words.iter().find(has_no) {
        Some(word) => Err(format!("{name} has no .{} here", word.text())),
        None => Ok(()),
    }
}

/// Whether a conversion needs a rounding, and which ones it may have; none where there is no
/// such conversion.
fn conversion_roundings(to: Type, from: Type) -> Option<(bool, &'static [Word])> {
    const NEAR: &[Word] = &[Word::Rn, Word::Rz];
    const TENSOR: &[Word] = &[Word::Rn, Word::Rz, Word::Rna];
    let single = |ty: Type| matches!(ty, F16 | Bf16 | F32 | F64);
    Some(match (to, from) {
        (Type::Tf32, F32) => (true, TENSOR),
        (F16x2 | Bf16x2, F32) => (true, NEAR),
        _ if !to.is_float() && !from.is_float() => (false, &[]),
        _ if !to.is_float() && single(from) => (true, INTEGRAL),
        _ if !from.is_float() && single(to) => (true, EXACT),
        _ if !single(to) || !single(from) => return None,
        _ if to == from => (false, INTEGRAL),
        (_, Bf16) | (Bf16, F16) => (false, EXACT),
        _ if to.bits() < from.bits() => (true, EXACT),
        _ => (false, &[]),
    })
}

/// Whether a conversion may have `.sat`, `.ftz`, `.satfinite` or `.relu`.
fn converts(i: &Instruction, word: Word, to: Type, from: Type) -> bool {
    let packed = matches!(to, F16x2 | Bf16x2 | Type::Tf32);
    let near = i.one_of(&[Word::Rn, Word::Rz]).is_some();
    let bounded = i.one_of(&[Word::Satfinite, Word::Relu]).is_some();
    match word {
        Word::Sat if to.is_float() || from.is_float() => {
            !packed && !bounded && to != Bf16 && from != Bf16
        }
        Word::Sat => {
            let (wide, signs) = (to.bits() >= from.bits(), [to, from].map(Type::is_signed));
            // Where the result has all values of the source, nothing is to be done.
            match signs {
                [true, false] => to.bits() <= from.bits(),
                [false, true] => true,
                _ => !wide,
            }
        }
        Word::Ftz => !packed && !bounded && (to == F32 || from == F32),
        Word::Satfinite if to == Type::Tf32 => true,
        Word::Satfinite | Word::Relu => near && from == F32 && (packed || matches!(to, F16 | Bf16)),
        _ => false,
    }
}

/// `cvt.pack.sat`: to halves, or with a third operand to smaller integers.
fn packing(i: &Instruction, to: Type) -> Result<(), Reason> {
    use Type::{S2, S4, S8, S16, U2, U4, U8, U16};
    let types: Vec<Type> = i.types().collect();
    let right = match to {
        U16 | S16 => types[1..] == [S32],
        U8 | S8 | U4 | S4 | U2 | S2 => types[1..] == [S32, B32],
        _ => false,
    };
    let only_these = |w: Word| matches!(w, Word::Pack | Word::Sat);
    let words = i.modifiers.iter().filter_map(|m| match m {
        Modifier::Word(word) => Some(*word),
        _ => None,
    });
    if right && i.has(Word::Sat) && words.into_iter().all(only_these) {
        Ok(())
    } else {
        Err(
            "`cvt.pack` needs .sat, then .u16 or .s16 with .s32, or one of .u8 .s8 .u4 .s4 .u2 \
             .s2 with .s32 and .b32"
                .to_owned(),
        )
    }
}

/// Sizes of the registers of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sizes {
    /// The size of the type.
    Exact,
    /// Loads, stores and conversions take wider ones.
    Wider,
    /// Said elsewhere.
    Any,
}

impl Sizes {
    /// The sizes that an instruction takes.
    pub fn of(i: &Instruction) -> Self {
        match i.opcode.class() {
            Class::Convert if i.has(Word::Pack) || small::concerns(i) => Sizes::Exact,
            Class::Convert if i.types().any(|ty| matches!(ty, Bf16 | Type::Tf32)) => Sizes::Exact,
            Class::Load | Class::Store | Class::Convert => Sizes::Wider,
            // Bytes of surfaces are in registers of 16 bits.
            Class::Texture if i.ty(0) == Some(B8) => Sizes::Wider,
            Class::Call => Sizes::Any,
            _ => Sizes::Exact,
        }
    }

    fn allow(self, register: Type, ty: Type) -> bool {
        match self {
            Sizes::Exact => register.bits() == ty.bits(),
            Sizes::Wider => register.bits() >= ty.bits(),
            Sizes::Any => true,
        }
    }
}

/// Whether a register of type `register` may hold what an instruction takes
/// as `ty`. Bits are anything of their size, integers are signed or not as
/// the instruction says.
pub(super) fn takes(register: Type, ty: Type, sizes: Sizes) -> Result<(), Reason> {
    let bits = |t: Type| matches!(t, B8 | B16 | B32 | B64 | B128);
    let fits = match (register == Pred, ty == Pred) {
        (true, true) => true,
        (false, false) => {
            bits(register)
                || bits(ty)
                || register == ty
                // As `ptxas`: registers of .f16x2 hold integers, too.
                || !ty.is_float() && (!register.is_float() || register == F16x2)
                // Registers of these are declared as bits or integers.
                || matches!(ty, Bf16 | Bf16x2 | Type::Tf32) && !register.is_float()
        }
        _ => false,
    };
    if fits && sizes.allow(register, ty) {
        Ok(())
    } else {
        Err(format!(
            "a register of .{} where .{} is expected",
            register.text(),
            ty.text()
        ))
    }
}

/// Whether a constant may stand where an instruction takes `ty`.
pub(super) fn takes_constant(value: Immediate, ty: Type) -> Result<(), Reason> {
    let wrong = match value {
        _ if ty == F32x2 => Some("a constant"),
        Immediate::Integer(_) => matches!(ty, F32 | F64).then_some("an integer"),
        _ => INTEGERS
            .contains(&ty)
            .then_some("a floating-point constant"),
    };
    match wrong {
        None => Ok(()),
        Some(what) => Err(format!("{what} where .{} is expected", ty.text())),
    }
}
