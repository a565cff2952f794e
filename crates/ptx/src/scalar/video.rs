//! Video instructions: sums, differences and comparisons of the bytes and
//! halves of words, with a second operation on the third operand.

use super::{Definition, definition, extend};
use crate::ast::{Instruction, Operand};
use crate::names::{Selector, Type, Word};
use crate::opcodes::Opcode;

/// One lane of a video instruction: the values that the selectors give.
type Operation = fn(i64, i64) -> i64;

/// The place of a value in a word: lowest bit and length.
type Field = (u32, u32);

/// Two or four lanes; 1 for the instructions of whole words.
pub(crate) fn lanes(opcode: Opcode) -> u32 {
    use Opcode::*;
    match opcode {
        Vabsdiff2 | Vadd2 | Vavrg2 | Vmax2 | Vmin2 | Vset2 | Vsub2 => 2,
        Vabsdiff4 | Vadd4 | Vavrg4 | Vmax4 | Vmin4 | Vset4 | Vsub4 => 4,
        _ => 1,
    }
}

/// Whether the instruction compares.
pub(crate) fn compares(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Vset | Opcode::Vset2 | Opcode::Vset4)
}

pub(super) fn define(i: &Instruction) -> Option<Definition> {
    let first = usize::from(!compares(i.opcode));
    let (a, b) = (i.ty(first)?, i.ty(first + 1)?);
    // A comparison gives a word without a sign.
    let result = if first == 1 { i.ty(0)? } else { Type::U32 };
    match (i.opcode, lanes(i.opcode)) {
        (Opcode::Vmad, _) => product(i, [result, a, b]),
        (_, 1) => word(i, [result, a, b]),
        (_, lanes) => parts(i, [result, a, b], lanes),
    }
}

/// The operation of one lane.
fn operation(i: &Instruction) -> Option<Operation> {
    use Opcode::*;
    Some(match i.opcode {
        Vadd | Vadd2 | Vadd4 => |a, b| a + b,
        Vsub | Vsub2 | Vsub4 => |a, b| a - b,
        Vabsdiff | Vabsdiff2 | Vabsdiff4 => |a, b| (a - b).abs(),
        Vmin | Vmin2 | Vmin4 => |a, b| a.min(b),
        Vmax | Vmax2 | Vmax4 => |a, b| a.max(b),
        // Halves are rounded away from zero.
        Vavrg2 | Vavrg4 => |a, b| (a + b + i64::from(a + b >= 0)) >> 1,
        Vshl if i.has(Word::Wrap) => |a, b| a << (b & 31),
        Vshl => |a, b| a << b.min(32),
        Vshr if i.has(Word::Wrap) => |a, b| a >> (b & 31),
        Vshr => |a, b| a >> b.min(32),
        Vset | Vset2 | Vset4 => compared(i)?,
        _ => return None,
    })
}

fn compared(i: &Instruction) -> Option<Operation> {
    use Word::{Eq, Ge, Gt, Le, Lt, Ne};
    Some(match i.one_of(&[Eq, Ne, Lt, Le, Gt, Ge])? {
        Eq => |a, b| i64::from(a == b),
        Ne => |a, b| i64::from(a != b),
        Lt => |a, b| i64::from(a < b),
        Le => |a, b| i64::from(a <= b),
        Gt => |a, b| i64::from(a > b),
        _ => |a, b| i64::from(a >= b),
    })
}

/// The selector of an operand.
fn selector(i: &Instruction, operand: usize) -> Option<Selector> {
    match i.operands.get(operand) {
        Some(Operand::Selected(_, selector)) => Some(*selector),
        _ => None,
    }
}

/// The one part of a word that an operand names, or the word.
fn field(i: &Instruction, operand: usize) -> Field {
    selector(i, operand).map_or((0, 32), |s| {
        let bits = if s.halves { 16 } else { 8 };
        (u32::from(s.parts()[0]) * bits, bits)
    })
}

/// A field as a number with the sign of a type.
fn number(word: u64, (at, bits): Field, ty: Type) -> i64 {
    let unused = 64 - bits;
    let high = word >> at << unused;
    if ty.is_signed() {
        (high as i64) >> unused
    } else {
        (high >> unused) as i64
    }
}

fn clamped(value: i64, bits: u32, ty: Type) -> i64 {
    if ty.is_signed() {
        value.clamp(-1 << (bits - 1), (1 << (bits - 1)) - 1)
    } else {
        value.clamp(0, (1 << bits) - 1)
    }
}

/// The field of a word, replaced.
fn replaced(word: u64, (at, bits): Field, value: i64) -> u64 {
    let mask = ((1u64 << bits) - 1) << at;
    word & !mask | (value as u64) << at & mask
}

/// The definition for words, or for one part of each.
fn word(i: &Instruction, [ty, of_a, of_b]: [Type; 3]) -> Option<Definition> {
    let one = operation(i)?;
    let (target, a, b) = (field(i, 0), field(i, 1), field(i, 2));
    let saturates = i.has(Word::Sat);
    let second = i.one_of(&[Word::Add, Word::Min, Word::Max]);
    let mut definition = definition(i, move |x| {
        let mut value = one(number(x[0], a, of_a), number(x[1], b, of_b));
        if saturates {
            value = clamped(value, target.1, ty);
        }
        // The second operation takes what is left of the result.
        let (narrow, other) = (extend(value as u64 & 0xffff_ffff, ty), extend(x[2], ty));
        let value = match second {
            Some(Word::Add) => narrow + other,
            Some(Word::Min) => narrow.min(other),
            Some(_) => narrow.max(other),
            None => value,
        };
        let value = replaced(x[2], target, value);
        value & 0xffff_ffff
    })?;
    // The third source may not be there.
    definition
        .sources
        .truncate(i.operands.len().checked_sub(1)?);
    Some(definition)
}

/// The definition for two halves or four bytes; the selectors pick from both words.
fn parts(i: &Instruction, [ty, of_a, of_b]: [Type; 3], lanes: u32) -> Option<Definition> {
    let one = operation(i)?;
    let bits = 32 / lanes;
    let picks = |operand: usize, first: u32| -> [u32; 4] {
        let parts = selector(i, operand);
        let part = |lane: u32| match &parts {
            Some(s) => s.parts().get(lane as usize).map_or(0, |&p| u32::from(p)),
            None => first + lane,
        };
        std::array::from_fn(|lane| part(lane as u32))
    };
    let (a, b) = (picks(1, 0), picks(2, lanes));
    let mask = selector(i, 0);
    let on = move |lane: u32| mask.is_none_or(|m| m.parts().contains(&(lane as u8)));
    let (saturates, sums) = (i.has(Word::Sat), i.has(Word::Add));
    definition(i, move |x| {
        let both = x[1] << 32 | x[0] & 0xffff_ffff;
        let pick = |part: u32, ty| number(both, (part * bits, bits), ty);
        let mut result = x[2];
        for lane in (0..lanes).filter(|&l| on(l)) {
            let at = lane as usize;
            let mut value = one(pick(a[at], of_a), pick(b[at], of_b));
            if saturates {
                value = clamped(value, bits, ty);
            }
            result = if sums {
                result.wrapping_add(value as u64)
            } else {
                replaced(result, (lane * bits, bits), value)
            };
        }
        result & 0xffff_ffff
    })
}

/// `vmad`: a product, a sum and a shift, without loss between them.
fn product(i: &Instruction, [_, of_a, of_b]: [Type; 3]) -> Option<Definition> {
    let (a, b) = (field(i, 1), field(i, 2));
    let (saturates, more) = (i.has(Word::Sat), i128::from(i.has(Word::Po)));
    let signed = of_a.is_signed() || of_b.is_signed();
    let ty = if signed { Type::S32 } else { Type::U32 };
    let shift = match i.one_of(&[Word::Shr7, Word::Shr15]) {
        Some(Word::Shr7) => 7,
        Some(_) => 15,
        None => 0,
    };
    definition(i, move |x| {
        let product = i128::from(number(x[0], a, of_a)) * i128::from(number(x[1], b, of_b));
        let sum = product + i128::from(extend(x[2], ty)) + more;
        let value = sum >> shift;
        let value = match (saturates, signed) {
            (true, true) => value.clamp(i32::MIN.into(), i32::MAX.into()),
            (true, false) => value.clamp(0, u32::MAX.into()),
            _ => value,
        };
        value as u64 & 0xffff_ffff
    })
}
