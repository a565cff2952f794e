//! Known bits of the results of integer instructions.

use super::KnownBits;
use crate::ast::Instruction;
use crate::names::{Type, Word};
use crate::opcodes::Opcode;

/// `cvt` between integers without saturation.
pub(super) fn converted(i: &Instruction, source: &KnownBits, width: u32) -> Option<KnownBits> {
    let (to, from) = (i.ty(0)?, i.ty(1)?);
    if from.is_float() || i.has(Word::Sat) {
        return None;
    }
    let value = if from.is_signed() {
        source.sign_extend(from.bits(), 64)
    } else {
        source.truncate(from.bits())
    };
    Some(if to.is_signed() {
        value.sign_extend(to.bits(), width)
    } else {
        value.truncate(to.bits())
    })
}

/// Integer arithmetic and logic of type `ty`; operands are zero-extended.
pub(super) fn integer(
    i: &Instruction,
    ty: Type,
    known: &[KnownBits],
    width: u32,
) -> Option<KnownBits> {
    let bits = ty.bits();
    let signed = ty.is_signed();
    let constant = |n: usize| known.get(n).and_then(|k| k.value());
    let modified = i.has(Word::Cc) || i.has(Word::Sat);
    let get = |n: usize| known.get(n).copied();
    let (a, b) = (get(0)?, get(1));
    Some(match i.opcode {
        Opcode::And => a.and(b?),
        Opcode::Or => a.or(b?),
        Opcode::Xor => a.xor(b?),
        Opcode::Not => a.not(bits),
        Opcode::Lop3 => KnownBits::lop3([a, b?, get(2)?], constant(3)?, bits),
        Opcode::Add if !i.has(Word::Sat) => a.add(b?, bits),
        Opcode::Sub if !i.has(Word::Sat) => a.sub(b?, bits),
        Opcode::Neg => KnownBits::constant(0).sub(a, bits),
        Opcode::Mul if !i.has(Word::Hi) => product(i, a, b?, ty),
        Opcode::Mad if !modified && !i.has(Word::Hi) => {
            let wide = if i.has(Word::Wide) { 2 * bits } else { bits };
            product(i, a, b?, ty).add(get(2)?, wide)
        }
        Opcode::Shl => match constant(1) {
            Some(by) => a.shl(by.min(64) as u32, bits),
            None => KnownBits::aligned(1u64.checked_shl(a.trailing_zeros())?, bits),
        },
        Opcode::Shr => match constant(1) {
            Some(by) => a.shr(by.min(64) as u32, bits, signed),
            None if !signed || a.is_positive(bits) => KnownBits::range(0, a.max()),
            None => return None,
        },
        Opcode::Bfe => return extracted(a, constant(1), b.and(constant(2))?, ty),
        Opcode::Bfi => {
            let (at, length) = (constant(2)? & 0xff, constant(3)? & 0xff);
            a.insert(b?, at as u32, length as u32, bits)
        }
        Opcode::Brev => a.reverse(bits),
        Opcode::Popc => KnownBits::range(a.ones.count_ones().into(), a.max().count_ones().into()),
        Opcode::Clz => KnownBits::range(0, bits.into()),
        Opcode::Selp => match constant(2) {
            Some(0) => b?,
            Some(_) => a,
            None => a.meet(b?),
        },
        Opcode::Setp => return compared(i, a, b?, bits),
        Opcode::Min | Opcode::Max if !i.has(Word::Relu) => extreme(i, a, b?, ty),
        Opcode::Rem | Opcode::Div if !signed || a.is_positive(bits) => {
            return divided(i.opcode, a, constant(1)?, ty);
        }
        Opcode::Prmt if i.modifiers.len() == 1 => KnownBits::permute(a, b?, constant(2)?),
        Opcode::Shf => funnel(i, a, b?, constant(2)? as u32),
        _ => KnownBits::unknown(width),
    })
}

/// `min` and `max`
fn extreme(i: &Instruction, a: KnownBits, b: KnownBits, ty: Type) -> KnownBits {
    let bits = ty.bits();
    if !ty.is_signed() || a.is_positive(bits) && b.is_positive(bits) {
        a.extreme(b, i.opcode == Opcode::Max)
    } else {
        a.meet(b)
    }
}

/// `bfe` of `length` bits at `at`, where that is known.
fn extracted(a: KnownBits, at: Option<u64>, length: u64, ty: Type) -> Option<KnownBits> {
    let (bits, length) = (ty.bits(), (length & 0xff) as u32);
    match at {
        Some(at) => Some(a.extract((at & 0xff) as u32, length, bits, ty.is_signed())),
        None if !ty.is_signed() => Some(KnownBits::unknown(length.min(bits))),
        None => None,
    }
}

/// Quotient or remainder of a positive number; none by zero or a negative one.
fn divided(opcode: Opcode, a: KnownBits, by: u64, ty: Type) -> Option<KnownBits> {
    let negative = ty.is_signed() && by >> (ty.bits() - 1) != 0;
    if by == 0 || negative {
        return None;
    }
    Some(match opcode {
        Opcode::Div => KnownBits::range(a.min() / by, a.max() / by),
        _ if by.is_power_of_two() => a.and(KnownBits::constant(by - 1)),
        _ => KnownBits::range(0, a.max().min(by - 1)),
    })
}

/// `shf`: 32 bits of two registers side by side.
fn funnel(i: &Instruction, low: KnownBits, high: KnownBits, by: u32) -> KnownBits {
    let by = if i.has(Word::Clamp) {
        by.min(32)
    } else {
        by & 31
    };
    let by = if i.has(Word::L) { 32 - by } else { by };
    let both = high.insert(low, 32, 32, 64);
    both.shr(by, 64, false).truncate(32)
}

fn product(i: &Instruction, a: KnownBits, b: KnownBits, ty: Type) -> KnownBits {
    let bits = ty.bits();
    match (i.has(Word::Wide), ty.is_signed()) {
        (true, true) => {
            let wide = |k: KnownBits| k.sign_extend(bits, 2 * bits);
            wide(a).mul(wide(b), 2 * bits)
        }
        (true, false) => a.mul(b, 2 * bits),
        (false, _) => a.mul(b, bits),
    }
}

/// `setp` of integers whose ranges do not overlap.
fn compared(i: &Instruction, a: KnownBits, b: KnownBits, bits: u32) -> Option<KnownBits> {
    use Word::*;
    // Another comparison is combined with it, or the numbers may be negative.
    let combined = i.operands.len() > 3 || i.one_of(&[And, Or, Xor]).is_some();
    let signed = i.ty(0).is_some_and(Type::is_signed);
    if combined || signed && !(a.is_positive(bits) && b.is_positive(bits)) {
        return None;
    }
    let less = a.max() < b.min();
    let at_most = a.max() <= b.min();
    let greater = a.min() > b.max();
    let at_least = a.min() >= b.max();
    let differs = a.ones & b.zeros != 0 || a.zeros & b.ones != 0;
    let (yes, no) = match i.one_of(&[Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs])? {
        Eq => (false, differs),
        Ne => (differs, false),
        Lt | Lo => (less, at_least),
        Le | Ls => (at_most, greater),
        Gt | Hi => (greater, at_most),
        _ => (at_least, less),
    };
    match (yes, no) {
        (true, _) => Some(KnownBits::constant(1)),
        (_, true) => Some(KnownBits::constant(0)),
        _ => None,
    }
}
