//! Instructions that compute a value, by their opcode.

use super::convert::cvt;
use super::float::{compare, float, test};
use super::integer::{integer, multiply_add_carry};
use super::operand::{elements, plain};
use super::signed;
use super::thread::{Context, Fault, LOCAL_WINDOW, SHARED_WINDOW, Thread};
use spadkit::ptx::{Instruction, Opcode, Operand, Space, Type, Word};

impl Thread {
    /// Type and value of an instruction that computes one.
    pub(super) fn value_of(
        &mut self,
        context: &Context,
        instr: &Instruction,
    ) -> Result<(Type, u64), Fault> {
        use Opcode::*;
        let ty = instr.ty(0).unwrap_or(Type::B32);
        let operand = |i: usize, ty: Type| self.operand(context, &instr.operands[i], ty);
        let all = |ty: Type| -> Result<Vec<u64>, Fault> {
            (1..instr.operands.len()).map(|i| operand(i, ty)).collect()
        };
        Ok(match instr.opcode {
            Set => {
                let from = instr.ty(1).unwrap_or(Type::U32);
                let holds = self.comparison(context, instr, from)?;
                let one = match ty {
                    Type::F32 => 0x3f80_0000,
                    Type::F16 => 0x3c00,
                    Type::Bf16 => 0x3f80,
                    _ => u64::MAX,
                };
                (ty, if holds { one } else { 0 })
            }
            Selp => {
                let picked = if operand(3, Type::Pred)? != 0 { 1 } else { 2 };
                (ty, operand(picked, ty)?)
            }
            Slct => {
                let from = instr.ty(1).unwrap_or(Type::S32);
                let c = operand(3, from)?;
                let first = match from {
                    Type::F32 => compare(Word::Ge, from, c, 0, instr.has(Word::Ftz)),
                    _ => signed(c, 32) >= 0,
                };
                (ty, operand(if first { 1 } else { 2 }, ty)?)
            }
            Testp => (Type::Pred, test(instr, ty, operand(1, ty)?).into()),
            Isspacep => {
                let address = operand(1, Type::B64)?;
                let window = match instr.space() {
                    Some(Space::Shared | Space::SharedCta) => Some(SHARED_WINDOW),
                    Some(Space::Local) => Some(LOCAL_WINDOW),
                    _ => None,
                };
                let base = [SHARED_WINDOW, LOCAL_WINDOW];
                let of = base.into_iter().find(|b| address >> 56 == b >> 56);
                (Type::Pred, (of == window).into())
            }
            Cvt => {
                let from = instr.ty(1).unwrap_or(Type::U32);
                let list = instr.operands[1..].iter().flat_map(elements);
                let one = |(n, operand): (usize, &Operand)| {
                    let ty = match n {
                        1 if instr.has(Word::Scaled) => Type::B16,
                        _ => from,
                    };
                    self.operand(context, operand, ty)
                };
                let values: Result<Vec<u64>, Fault> = list.enumerate().map(one).collect();
                (ty, cvt(instr, &values?)?)
            }
            And | Or | Xor | Not if ty == Type::Pred => {
                let a = all(ty)?;
                let value = match instr.opcode {
                    And => a[0] & a[1],
                    Or => a[0] | a[1],
                    Xor => a[0] ^ a[1],
                    _ => a[0] ^ 1,
                };
                (ty, value)
            }
            Dp4a | Dp2a => {
                let result = if instr.types().any(Type::is_signed) {
                    Type::S32
                } else {
                    Type::U32
                };
                let mut carry = self.carry;
                (result, integer(instr, ty, &all(Type::B32)?, &mut carry)?)
            }
            Mad if instr.has(Word::Cc) => {
                let mut carry = self.carry;
                let value = multiply_add_carry(instr, ty, &all(ty)?, &mut carry);
                self.carry = carry;
                (ty, value)
            }
            Madc => {
                let mut carry = self.carry;
                let value = multiply_add_carry(instr, ty, &all(ty)?, &mut carry);
                self.carry = carry;
                (ty, value)
            }
            _ if ty.is_float() => (ty, float(instr, ty, &all(ty)?)?),
            _ => {
                let operands = self.integer_operands(context, instr, ty)?;
                let mut carry = self.carry;
                let value = integer(instr, ty, &operands, &mut carry)?;
                self.carry = carry;
                (result_type(instr, ty), value)
            }
        })
    }

    /// Amounts of shifts and the like are 32-bit numbers, whatever the type.
    fn integer_operands(
        &self,
        context: &Context,
        instr: &Instruction,
        ty: Type,
    ) -> Result<Vec<u64>, Fault> {
        use Opcode::*;
        let small_from = match instr.opcode {
            Shl | Shr | Bfe | Bmsk | Szext => 2,
            Bfi | Shf => 3,
            _ => usize::MAX,
        };
        let ty_of = |i: usize| match () {
            () if i >= small_from => Type::U32,
            () if i == 3 && instr.has(Word::Wide) => wider(ty),
            () => ty,
        };
        (1..instr.operands.len())
            .map(|i| self.operand(context, &instr.operands[i], ty_of(i)))
            .collect()
    }

    pub(super) fn move_value(
        &mut self,
        context: &Context,
        instr: &Instruction,
    ) -> Result<(), Fault> {
        let ty = instr.ty(0).unwrap_or(Type::B32);
        let (to, from) = (&instr.operands[0], &instr.operands[1]);
        match (to, from) {
            // A pack, or its reverse; the first is the lowest.
            (_, Operand::Vector(parts)) => {
                let bits = ty.bits() / parts.len() as u32;
                let part_type = plain(bits);
                let mut value = 0;
                for (i, part) in parts.iter().enumerate() {
                    value |= self.operand(context, part, part_type)? << (bits * i as u32);
                }
                self.write_operand(context, to, ty, value)
            }
            (Operand::Vector(parts), _) => {
                let value = self.operand(context, from, ty)?;
                let bits = ty.bits() / parts.len() as u32;
                for (i, part) in parts.iter().enumerate() {
                    let piece = value >> (bits * i as u32);
                    self.write_operand(context, part, plain(bits), piece)?;
                }
                Ok(())
            }
            _ => {
                let value = self.operand(context, from, ty)?;
                self.write_operand(context, to, ty, value)
            }
        }
    }

    pub(super) fn convert_address(
        &self,
        context: &Context,
        instr: &Instruction,
    ) -> Result<u64, Fault> {
        let value = self.operand(context, &instr.operands[1], Type::B64)?;
        let window = match instr.space() {
            Some(Space::Shared | Space::SharedCta) => SHARED_WINDOW,
            Some(Space::Local) => LOCAL_WINDOW,
            _ => 0,
        };
        Ok(if instr.has(Word::To) {
            value & !window
        } else {
            value | window
        })
    }

    fn comparison(&self, context: &Context, instr: &Instruction, ty: Type) -> Result<bool, Fault> {
        const COMPARISONS: [Word; 18] = [
            Word::Eq,
            Word::Ne,
            Word::Lt,
            Word::Le,
            Word::Gt,
            Word::Ge,
            Word::Lo,
            Word::Ls,
            Word::Hi,
            Word::Hs,
            Word::Equ,
            Word::Neu,
            Word::Ltu,
            Word::Leu,
            Word::Gtu,
            Word::Geu,
            Word::Num,
            Word::Nan,
        ];
        let word = instr.one_of(&COMPARISONS).unwrap_or(Word::Eq);
        let a = self.operand(context, &instr.operands[1], ty)?;
        let b = self.operand(context, &instr.operands[2], ty)?;
        let holds = compare(word, ty, a, b, instr.has(Word::Ftz));
        self.combined(context, instr, holds)
    }

    /// The comparison and the predicate behind it, if any.
    fn combined(&self, context: &Context, instr: &Instruction, holds: bool) -> Result<bool, Fault> {
        let Some(with) = instr.operands.get(3) else {
            return Ok(holds);
        };
        let c = self.operand(context, with, Type::Pred)? != 0;
        Ok(match instr.one_of(&[Word::And, Word::Or, Word::Xor]) {
            Some(Word::And) => holds && c,
            Some(Word::Or) => holds || c,
            _ => holds != c,
        })
    }

    pub(super) fn set_predicates(
        &mut self,
        context: &Context,
        instr: &Instruction,
    ) -> Result<(), Fault> {
        let ty = instr.ty(0).unwrap_or(Type::U32);
        // setp a|b: the second gets the complement of the comparison, combined.
        let Operand::Pair(pair) = &instr.operands[0] else {
            let p = self.comparison(context, instr, ty)?;
            return self.write_result(context, instr, Type::Pred, p.into());
        };
        let mut plain_instr = instr.clone();
        plain_instr.operands = instr.operands[..3].into();
        let holds = self.comparison(context, &plain_instr, ty)?;
        let p = self.combined(context, instr, holds)?;
        let q = self.combined(context, instr, !holds)?;
        self.write_operand(context, &pair.0, Type::Pred, p.into())?;
        self.write_operand(context, &pair.1, Type::Pred, q.into())
    }
}

fn wider(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        other => other,
    }
}

/// The type of an integer instruction's result.
fn result_type(instr: &Instruction, ty: Type) -> Type {
    match instr.opcode {
        Opcode::Popc | Opcode::Clz | Opcode::Bfind => Type::U32,
        Opcode::Mul | Opcode::Mad if instr.has(Word::Wide) => wider(ty),
        _ => ty,
    }
}
