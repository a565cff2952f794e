//! Instructions on values of 128 bits: two registers of 64 bits hold one.

use super::operand::Reason;
use super::order::ordered;
use super::{Decoder, SCRATCH};
use crate::ast::{Instruction, Operand};
use crate::exec::image::form::Step;
use crate::exec::image::{MemoryOp, PairUpdate, Transfer};
use crate::exec::ordering::Strength;
use crate::exec::registers::{Pair, Slot, Width};
use crate::names::{Space, Type, Word};

impl Decoder<'_> {
    /// The halves of a register of 128 bits; `_` goes nowhere.
    pub(super) fn pair(&mut self, operand: &Operand) -> Result<Pair, Reason> {
        let scratch = Slot {
            at: SCRATCH,
            width: Width::Double,
            flip: false,
        };
        let Operand::Register(register) = operand else {
            return match operand {
                Operand::Discard => Ok([scratch; 2]),
                _ => Err("a register of .b128 expected".to_owned()),
            };
        };
        let ty = self.body().registers[register.0 as usize].ty;
        if ty != Type::B128 {
            return Err(format!(
                "a register of .{} where .b128 is expected",
                ty.text()
            ));
        }
        let key = (self.function, register.0);
        if let Some(pair) = self.pairs.get(&key) {
            return Ok(*pair);
        }
        let pair = [self.allocate(Width::Double), self.allocate(Width::Double)];
        self.pairs.insert(key, pair);
        Ok(pair)
    }

    /// `mov.b128`: a register, or its halves in registers of 64 bits.
    pub(super) fn move_pair(&mut self, i: &Instruction) -> Result<(), Reason> {
        let [to, from] = &i.operands[..] else {
            return Err("two operands expected".to_owned());
        };
        let to = match to {
            Operand::Vector(parts) => self.halves(parts, true)?,
            whole => self.pair(whole)?,
        };
        let from = match from {
            Operand::Vector(parts) => self.halves(parts, false)?,
            whole => self.pair(whole)?,
        };
        let pair = self.image.pairs.len() as u32;
        self.image.pairs.push([to, from]);
        self.step(Step::Pair { pair });
        Ok(())
    }

    fn halves(&mut self, parts: &[Operand], target: bool) -> Result<Pair, Reason> {
        let [lower, upper] = parts else {
            return Err("parts that do not make up the whole".to_owned());
        };
        let half = |d: &mut Self, part: &Operand| {
            if target {
                d.target(part, Type::B64)
            } else {
                d.source(part, Type::B64)
            }
        };
        Ok([half(self, lower)?, half(self, upper)?])
    }

    /// `atom.exch.b128`, `atom.cas.b128`.
    pub(super) fn atomic_pair(&mut self, i: &Instruction) -> Result<(), Reason> {
        let compares = match i.one_of(&[Word::Exch, Word::Cas]) {
            Some(word) => word == Word::Cas,
            None => return Err("values of 128 bits have .exch and .cas only".to_owned()),
        };
        let [result, operand, values @ ..] = &i.operands[..] else {
            return Err("too few operands".to_owned());
        };
        let (space, from, offset) = self.address(i, operand)?;
        let result = self.pair(result)?;
        let values = values.iter().take(1 + usize::from(compares));
        let values: Vec<Pair> = values.map(|v| self.pair(v)).collect::<Result<_, _>>()?;
        let (expected, new) = match (&values[..], compares) {
            ([expected, new], true) => (Some(*expected), *new),
            ([new], false) => (None, *new),
            _ => return Err("too few operands".to_owned()),
        };
        self.image.ordered |= space != Some(Space::Shared);
        let access = self.add_memory(MemoryOp {
            index: 0,
            space,
            from,
            offset,
            region: self.region(operand),
            bytes: 16,
            transfer: Transfer::AtomicPair(PairUpdate {
                expected,
                new,
                result: Some(result),
            }),
            order: ordered(i, Strength::Strong),
        });
        self.step(Step::AtomicPair { access });
        Ok(())
    }
}
