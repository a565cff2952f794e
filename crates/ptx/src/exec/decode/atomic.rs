//! `atom` and `red`.

use super::Decoder;
use super::operand::Reason;
use super::order::ordered;
use crate::ast::{Instruction, Operand};
use crate::exec::image::form::Step;
use crate::exec::image::{MemoryOp, Transfer, Update};
use crate::exec::ordering::Strength;
use crate::exec::registers::Slot;
use crate::names::{Space, Type, Word};
use crate::opcodes::{First, Opcode};
use crate::scalar::Scalar;

const OPERATORS: &[Word] = &[
    Word::Exch,
    Word::Cas,
    Word::Add,
    Word::Inc,
    Word::Dec,
    Word::Min,
    Word::Max,
    Word::And,
    Word::Or,
    Word::Xor,
];

/// Elements that an atomic has at once.
fn vector(i: &Instruction, word: Word, ty: Type) -> Result<u32, Reason> {
    let count = match i.one_of(&[Word::V2, Word::V4, Word::V8]) {
        None => 1,
        Some(Word::V2) => 2,
        Some(Word::V4) => 4,
        Some(_) => 8,
    };
    let sums = matches!(word, Word::Add | Word::Min | Word::Max);
    if count > 1 && !(sums && ty.is_float() && ty.bytes() * count <= 16) {
        return Err(
            "vectors of 16 bytes at most of .f32, .f16 or .bf16 have .add, .min and .max only"
                .to_owned(),
        );
    }
    Ok(count)
}

impl Decoder<'_> {
    pub(super) fn atomic(&mut self, i: &Instruction) -> Result<(), Reason> {
        let red = i.opcode.row().first == First::Read;
        let delivered = i.has(Word::Async) && i.has(Word::MbarrierBytes);
        if i.has(Word::Bulk) || i.has(Word::Async) && !delivered {
            return Err("asynchronous atomics without an mbarrier are not supported".to_owned());
        }
        let ty = i.ty(0).ok_or("no type")?;
        if ty == Type::B128 && !red {
            return self.atomic_pair(i);
        }
        let word = i.one_of(OPERATORS);
        let word = word.ok_or("an operator that is not supported")?;
        let first = usize::from(!red);
        let operand = i.operands.get(first).ok_or("too few operands")?;
        let (space, from, offset) = self.address(i, operand)?;
        let count = vector(i, word, ty)?;
        let unused = red || self.is_unused(&i.operands[0]);
        // What follows the operands is a hint for the cache.
        let sources = if word == Word::Cas { 2 } else { 1 };
        let sources = i.operands.iter().skip(first + 1).take(sources);
        let sources = sources.map(|o| self.atomic_elements(o, ty, (count, false)));
        let sources: Vec<Vec<Slot>> = sources.collect::<Result<_, _>>()?;
        let results = if unused {
            Vec::new()
        } else {
            self.atomic_elements(&i.operands[0], ty, (count, true))?
        };
        if space != Some(Space::Shared) {
            let commutes = matches!(
                word,
                Word::Add | Word::Min | Word::Max | Word::And | Word::Or | Word::Xor
            );
            self.image.ordered |= !unused || !commutes || ty.is_float();
        }
        let update = |at: usize| {
            let compute = atomic_update(word, ty, space);
            Ok(Update {
                compute: compute.ok_or("an operator that the type does not have")?,
                sources: sources.iter().map(|s| s[at]).collect(),
                result: results.get(at).copied(),
                exchanges: word == Word::Exch,
            })
        };
        let updates = (0..count as usize).map(update);
        let updates: Vec<Update> = updates.collect::<Result<_, Reason>>()?;
        let access = self.add_memory(MemoryOp {
            index: 0,
            space,
            from,
            offset,
            region: self.region(operand),
            bytes: ty.bytes() * count,
            transfer: Transfer::Atomic(updates),
            order: ordered(i, Strength::Strong),
        });
        if delivered {
            return self.delivered(i, access, 2);
        }
        self.step(Step::Atomic { access });
        Ok(())
    }

    /// Whether nobody reads the result of an atomic: then it is a reduction.
    fn is_unused(&self, result: &Operand) -> bool {
        match result {
            Operand::Register(r) => !self.is_read(r.0),
            Operand::Vector(_) => false,
            _ => true,
        }
    }

    /// The registers of an operand, one for each element.
    fn atomic_elements(
        &mut self,
        operand: &Operand,
        ty: Type,
        (count, target): (u32, bool),
    ) -> Result<Vec<Slot>, Reason> {
        let slots = match operand {
            // Nobody wants any of them.
            Operand::Discard if target => vec![self.target(operand, ty)?; count as usize],
            operand => self.elements(operand, ty, target)?,
        };
        if slots.len() == count as usize {
            Ok(slots)
        } else {
            let have = slots.len();
            Err(format!("{have} registers where the vector has {count}"))
        }
    }

    /// Whether any instruction of the function reads the register.
    fn is_read(&self, register: u32) -> bool {
        let reads = |i: &Instruction| super::info::accessed(i).0.iter().any(|r| r.0 == register);
        self.body().instructions.iter().any(reads)
    }
}

/// The new value of an atomic, from the old and the operands.
pub(super) fn atomic_update(word: Word, ty: Type, space: Option<Space>) -> Option<Scalar> {
    let one =
        |f: fn(u64, u64) -> u64| -> Option<Scalar> { Some(Box::new(move |x| [f(x[0], x[1]), 0])) };
    let bits = ty.bits();
    match (word, bits) {
        (Word::Exch, _) => return one(|_, b| b),
        (Word::Cas, _) => {
            let mask = u64::MAX >> (64 - bits.min(64));
            return Some(Box::new(move |x| {
                let equal = x[0] & mask == x[1] & mask;
                [if equal { x[2] } else { x[0] }, 0]
            }));
        }
        (Word::Inc, 32) => return one(|a, b| if a as u32 >= b as u32 { 0 } else { a + 1 }),
        (Word::Dec, 32) => {
            return one(|a, b| {
                if a as u32 == 0 || a as u32 > b as u32 {
                    b
                } else {
                    a - 1
                }
            });
        }
        (Word::And, _) => return one(|a, b| a & b),
        (Word::Or, _) => return one(|a, b| a | b),
        (Word::Xor, _) => return one(|a, b| a ^ b),
        _ => {}
    }
    // The rest is as the instruction of that name.
    use crate::ast::Modifiers;
    use crate::names::Modifier;
    let mut modifiers = Modifiers::EMPTY;
    modifiers.push(Modifier::Type(ty));
    // Global memory adds without subnormal numbers, shared memory with.
    if ty == Type::F32 && space != Some(Space::Shared) {
        modifiers.push(Modifier::Word(Word::Ftz));
    }
    let opcode = match word {
        Word::Add => Opcode::Add,
        Word::Min => Opcode::Min,
        Word::Max => Opcode::Max,
        _ => return None,
    };
    let operation = Instruction {
        opcode,
        modifiers,
        guard: None,
        operands: vec![Operand::Discard; 3].into_boxed_slice(),
        span: crate::ast::Span::default(),
        location: None,
    };
    crate::scalar::define(&operation).map(|d| d.compute)
}
