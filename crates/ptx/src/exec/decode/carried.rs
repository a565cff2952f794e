//! Carried bytes: instructions take them from register to register as they are. These are
//! moves, choices between two registers, and conversions to other widths. A register that
//! nobody has written, and a copy of unwritten local memory, may be carried along; only
//! what uses the bytes for something else reads them.

use super::Decoder;
use crate::ast::{Function, Immediate, Instruction, Operand, Register};
use crate::exec::image::followed::{Carried, CarriedPart};
use crate::exec::registers::Mask;
use crate::names::{Type, Word};
use crate::opcodes::Opcode;
use std::collections::HashSet;

/// Bytes that go from one register to another.
#[derive(Clone, Copy, Debug)]
pub struct Carry {
    pub to: Register,
    pub from: Register,
    /// Bytes of the source, as bits.
    keep: u8,
    /// By how many bytes they go up; less than zero: down.
    up: i8,
    /// The highest of them decides about all above it: a sign.
    spreads: bool,
    /// In a choice, whether it is the first of the two operands.
    first: Option<bool>,
}

impl Carry {
    /// A copy of all bytes.
    fn whole(to: Register, from: Register) -> Self {
        Carry {
            to,
            from,
            keep: u8::MAX,
            up: 0,
            spreads: false,
            first: None,
        }
    }
}

/// Every move of bytes by an instruction.
pub fn carries(i: &Instruction) -> Vec<Carry> {
    match (i.opcode, &i.operands[..]) {
        (Opcode::Mov, [Operand::Register(to), Operand::Register(from)]) => {
            vec![Carry::whole(*to, *from)]
        }
        (Opcode::Mov, [Operand::Register(to), Operand::Vector(items)]) => {
            let parts = parts(i, items).into_iter().flatten();
            let carry = |(up, keep, from)| Carry {
                keep,
                up,
                ..Carry::whole(*to, from)
            };
            parts.map(carry).collect()
        }
        (Opcode::Mov, [Operand::Vector(items), Operand::Register(from)]) => {
            let parts = parts(i, items).into_iter().flatten();
            let carry = |(up, keep, to): (i8, u8, Register)| Carry {
                keep: keep << up,
                up: -up,
                ..Carry::whole(to, *from)
            };
            parts.map(carry).collect()
        }
        (Opcode::Selp, [Operand::Register(to), one, other, _]) => {
            let sides = [(one, true), (other, false)].into_iter();
            let carry = |(from, first)| match from {
                &Operand::Register(from) => Some(Carry {
                    first: Some(first),
                    ..Carry::whole(*to, from)
                }),
                _ => None,
            };
            sides.filter_map(carry).collect()
        }
        (Opcode::Cvt, [Operand::Register(to), Operand::Register(from)]) => {
            let carry = conversion(i).map(|(keep, spreads)| Carry {
                keep,
                spreads,
                ..Carry::whole(*to, *from)
            });
            carry.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The registers of a vector of at most 64 bits that a move joins or parts: where each one's
/// bytes begin, and which they are.
fn parts(i: &Instruction, items: &[Operand]) -> Option<Vec<(i8, u8, Register)>> {
    let bytes = i.ty(0).filter(|ty| ty.bits() <= 64)?.bits() / 8;
    let size = bytes as usize / items.len();
    let keep = u8::MAX.checked_shr(8 - size as u32)?;
    let place = |(n, item): (usize, &Operand)| match item {
        Operand::Register(register) => Some(((n * size) as i8, keep, *register)),
        _ => None,
    };
    Some(items.iter().enumerate().filter_map(place).collect())
}

/// The bytes that a conversion between integers keeps, and whether a sign goes on above them.
fn conversion(i: &Instruction) -> Option<(u8, bool)> {
    let integer = |ty: &Type| !ty.is_float() && matches!(ty.bits(), 8..=64);
    let (to, from) = (i.ty(0).filter(integer)?, i.ty(1).filter(integer)?);
    let bytes = to.bits().min(from.bits()) / 8;
    let spreads = from.is_signed() && from.bits() < to.bits();
    (!i.has(Word::Sat)).then_some((u8::MAX >> (8 - bytes), spreads))
}

/// The bytes of a register that an instruction looks at, as far as a mask, a shift or a
/// selector says.
pub fn needed(i: &Instruction, register: Register) -> u8 {
    if i.opcode == Opcode::Prmt {
        return permuted(i, register);
    }
    let bits = i.ty(0).map_or(64, Type::bits).min(64);
    let data = |o: &Operand| *o == Operand::Register(register);
    let (value, all) = match &i.operands[..] {
        [_, from, Operand::Immediate(Immediate::Integer(value))]
            if data(from) && i.guard.is_none_or(|g| g.register != register) =>
        {
            (*value as u64, u64::MAX >> (64 - bits))
        }
        _ => return u8::MAX,
    };
    let shift = u32::try_from(value).unwrap_or(u32::MAX);
    let looked_at = match i.opcode {
        Opcode::And => value & all,
        Opcode::Shl => all.checked_shr(shift).unwrap_or(0),
        Opcode::Shr if i.ty(0).is_some_and(Type::is_signed) => all & !(all >> 1 >> shift.min(63)),
        Opcode::Shr => (all.checked_shl(shift).unwrap_or(0)) & all,
        _ => return u8::MAX,
    };
    let byte = |at: u32| looked_at >> (8 * at) & 0xFF != 0;
    (0..8).fold(0, |need, at| need | u8::from(byte(at)) << at)
}

/// The bytes of a register that `prmt` takes, if its selector is a constant.
fn permuted(i: &Instruction, register: Register) -> u8 {
    let [
        _,
        low,
        high,
        Operand::Immediate(Immediate::Integer(selector)),
    ] = &i.operands[..]
    else {
        return u8::MAX;
    };
    let by_mode = i.modifiers.len() > 1;
    if by_mode || i.guard.is_some_and(|g| g.register == register) {
        return u8::MAX;
    }
    let data = |o: &Operand| *o == Operand::Register(register);
    // A nibble for each byte: its number among the eight of both, and whether its sign counts.
    let taken = (0..4).map(|nibble| *selector as u64 >> (4 * nibble) & 7);
    let of_this = taken.filter(|byte| data(if *byte < 4 { low } else { high }));
    of_this.fold(0, |need, byte| need | 1 << (byte & 3))
}

/// Registers that instructions carry what is in these to, and these themselves.
pub fn reached(body: &Function, from: impl IntoIterator<Item = u32>) -> HashSet<u32> {
    let mut targets: Vec<Vec<u32>> = vec![Vec::new(); body.registers.len()];
    for carry in body.instructions.iter().flat_map(carries) {
        targets[carry.from.0 as usize].push(carry.to.0);
    }
    let mut left: Vec<u32> = from.into_iter().collect();
    let mut all: HashSet<u32> = left.iter().copied().collect();
    while let Some(register) = left.pop() {
        let new = targets[register as usize].iter();
        left.extend(new.filter(|to| all.insert(**to)));
    }
    all
}

impl Decoder<'_> {
    /// The bytes that an instruction carries into registers which are followed.
    pub(super) fn carried(&mut self, i: &Instruction) -> Vec<Carried> {
        let mut all: Vec<Carried> = Vec::new();
        for carry in carries(i) {
            let (Some(&to), from) = (
                self.followed.get(&carry.to.0),
                self.followed.get(&carry.from.0),
            ) else {
                continue;
            };
            if all.last().is_none_or(|last| last.to != to) {
                let parts = Vec::new();
                all.push(Carried { to, parts });
            }
            let Some(&from) = from else { continue };
            let when = match (carry.first, i.operands.last()) {
                (Some(first), Some(Operand::Register(choice))) => {
                    Mask::new(self.register(*choice).at, !first)
                }
                _ => Mask::ALL,
            };
            let part = CarriedPart {
                from,
                keep: carry.keep,
                up: carry.up,
                spreads: carry.spreads,
                when,
            };
            all.last_mut().expect("of this register").parts.push(part);
        }
        all
    }
}
