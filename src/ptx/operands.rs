//! The registers that an instruction reads and writes.

use crate::ptx::ast::{Base, Instruction, Operand, Register};
use crate::ptx::names::{Opcode, Word};

/// Calls `found` with each register that the instruction names and whether it
/// is written: the guard first, then the operands in the order of the text. A
/// register that is read and written comes twice.
pub fn visit(i: &Instruction, mut found: impl FnMut(Register, bool)) {
    if let Some(guard) = i.guard {
        found(guard.register, false);
    }
    let first = writes_first(i);
    for (at, operand) in i.operands.iter().enumerate() {
        let address = matches!(operand, Operand::Address(..));
        let written = at == 0 && first && !address;
        // These accumulate in place.
        if written && i.opcode == Opcode::Wgmma {
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

/// Whether the first operand is the result.
fn writes_first(i: &Instruction) -> bool {
    use Opcode::*;
    match i.opcode {
        St | Red | Bra | Brx | Cp | Stmatrix | Prefetch | Prefetchu | Nanosleep | Ret | Exit
        | Membar | Fence | Discard => false,
        Bar | Barrier => i.has(Word::Red),
        _ => true,
    }
}

fn each(operand: &Operand, found: &mut impl FnMut(Register)) {
    match operand {
        Operand::Register(r) | Operand::Negated(r) => found(*r),
        Operand::Address(Base::Register(r), _) => found(*r),
        // Vectors hold single operands only.
        Operand::Vector(items) | Operand::List(items) => {
            items.iter().for_each(|o| single(o, found));
        }
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
