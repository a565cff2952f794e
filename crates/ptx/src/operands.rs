//! The registers that an instruction reads and writes, and the types of its
//! operands.

use crate::ast::{Base, Instruction, Operand, Register};
use crate::names::{Type, Word};
use crate::opcodes::{First, Of};

/// Calls `found` with each register that the instruction names and whether it
/// is written: the guard first, then the operands in the order of the text. A
/// register that is read and written comes twice.
pub fn visit(i: &Instruction, mut found: impl FnMut(Register, bool)) {
    if let Some(guard) = i.guard {
        found(guard.register, false);
    }
    let first = first(i);
    for (at, operand) in i.operands.iter().enumerate() {
        let address = matches!(operand, Operand::Address(..) | Operand::Indexed(_));
        let written = at == 0 && first != First::Read && !address;
        if written && first == First::Accumulated {
            each(operand, &mut |r| found(r, false));
        }
        each(operand, &mut |r| found(r, written));
    }
}

/// Registers that the instruction reads, guard and addresses included.
pub fn reads(i: &Instruction) -> Vec<Register> {
    let mut list = Vec::new();
    visit(i, |r, written| list.extend((!written).then_some(r)));
    list
}

/// Registers that the instruction writes (where its guard is on).
pub fn writes(i: &Instruction) -> Vec<Register> {
    let mut list = Vec::new();
    visit(i, |r, written| list.extend(written.then_some(r)));
    list
}

/// The source of the `index`-th register that a move of a vector writes, element by
/// element.
pub fn element_source<'a>(
    to: &[Operand],
    from: &'a [Operand],
    index: usize,
) -> Option<&'a Operand> {
    let pairs = to.iter().zip(from);
    let mut named = pairs.filter(|(to, _)| matches!(to, Operand::Register(_)));
    named.nth(index).map(|(_, from)| from)
}

/// The kind of the first operand.
fn first(i: &Instruction) -> First {
    match i.opcode.row().first {
        First::WrittenByReduction if i.has(Word::Red) => First::Written,
        First::WrittenByReduction => First::Read,
        always => always,
    }
}

/// The type of the result; none where it is not a plain value.
pub fn result_type(i: &Instruction) -> Option<Type> {
    type_of(i, i.opcode.row().result)
}

/// The type of source operand `n`, counted from 0; none if there is none,
/// or it is not a plain value.
pub fn source_type(i: &Instruction, n: usize) -> Option<Type> {
    type_of(i, *i.opcode.row().sources.get(n)?)
}

fn type_of(i: &Instruction, of: Of) -> Option<Type> {
    match of {
        Of::First => i.ty(0),
        Of::Second => i.ty(1),
        Of::Product if i.has(Word::Wide) => i.ty(0)?.doubled(),
        Of::Product => i.ty(0),
        Of::Dot => {
            let signed = i.ty(0)?.is_signed() || i.ty(1)?.is_signed();
            Some(if signed { Type::S32 } else { Type::U32 })
        }
        Of::Is(ty) => Some(ty),
    }
}

fn each(operand: &Operand, found: &mut impl FnMut(Register)) {
    match operand {
        Operand::Register(r) | Operand::Negated(r) | Operand::Selected(r, _) => found(*r),
        Operand::Address(Base::Register(r), _) => found(*r),
        // Vectors and lists hold single operands only.
        Operand::Vector(items) | Operand::List(items) => {
            items.iter().for_each(|o| single(o, found));
        }
        Operand::Indexed(items) => items.iter().for_each(|o| each(o, found)),
        Operand::Pair(pair) => {
            single(&pair.0, found);
            single(&pair.1, found);
        }
        _ => {}
    }
}

fn single(operand: &Operand, found: &mut impl FnMut(Register)) {
    match operand {
        Operand::Register(r) | Operand::Negated(r) => found(*r),
        Operand::Address(Base::Register(r), _) => found(*r),
        _ => {}
    }
}
