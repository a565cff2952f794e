//! One instruction to one operation.

use super::Decoder;
use super::operand::Reason;
use crate::ptx::ast::{Instruction, LabelKind, Operand};
use crate::ptx::cfg::Cfg;
use crate::ptx::exec::image::{Control, Generic, MemoryOp, Op, Slot, WarpOp, Width};
use crate::ptx::exec::lanes::{self, compare_bits};
use crate::ptx::exec::race::Strength;
use crate::ptx::exec::raced;
use crate::ptx::exec::scalar::{Scalar, accepts, define};
use crate::ptx::exec::{exchange, image};
use crate::ptx::names::{Special, Type, Word};
use crate::ptx::opcodes::{Class, Opcode};

impl Decoder<'_> {
    pub(super) fn instruction(
        &mut self,
        i: &Instruction,
        at: u32,
        start: u32,
        cfg: &Cfg,
    ) -> Result<(), Reason> {
        match i.opcode.class() {
            Class::Arithmetic
            | Class::Quotient
            | Class::Bits
            | Class::Compare
            | Class::Function
            | Class::Convert => self.arithmetic(i),
            Class::Move => self.mov(i),
            Class::Load | Class::Store => self.load_or_store(i),
            Class::Atomic => self.atomic(i),
            Class::Copy => self.copy(i),
            Class::LoadMatrix | Class::StoreMatrix => self.matrix(i),
            Class::ConvertAddress => self.convert_address(i),
            Class::TestSpace => self.is_space(i),
            Class::Branch => self.branch(i, at, start, cfg),
            Class::IndexedBranch => self.indexed_branch(i, at, start, cfg),
            Class::Call => self.call(i),
            Class::Return => self.control(Control::Return),
            Class::Exit => self.control(Control::Exit),
            Class::Trap => self.control(Control::Trap),
            Class::Barrier => self.barrier(i),
            Class::Fence => self.fence(i),
            Class::Warp => self.exchange(i),
            Class::Hint => Ok(()),
            Class::Refused(reason) => Err(reason.to_owned()),
        }
    }

    fn control(&mut self, control: Control) -> Result<(), Reason> {
        let op = self.straight(lanes::nothing);
        self.push(Op { control, ..op });
        Ok(())
    }

    fn fence(&mut self, i: &Instruction) -> Result<(), Reason> {
        let op = self.straight(raced::fence);
        let wide = i.one_of(&[Word::Gl, Word::Gpu, Word::Sys]);
        let extra = wide.is_some().into();
        self.push(Op { extra, ..op });
        Ok(())
    }

    fn branch(&mut self, i: &Instruction, at: u32, start: u32, cfg: &Cfg) -> Result<(), Reason> {
        let meeting = self.meeting(cfg, at, start);
        let op = self.straight(lanes::nothing);
        let Some(LabelKind::Code(target)) = self.label(i.operands.first()) else {
            return Err("a branch to what is no label".to_owned());
        };
        let a = start + target;
        self.push(Op {
            a,
            b: meeting,
            control: Control::Branch,
            ..op
        });
        Ok(())
    }

    fn indexed_branch(
        &mut self,
        i: &Instruction,
        at: u32,
        start: u32,
        cfg: &Cfg,
    ) -> Result<(), Reason> {
        let meeting = self.meeting(cfg, at, start);
        let op = self.straight(lanes::nothing);
        let (Some(index), Some(LabelKind::Branches(list))) =
            (i.operands.first(), self.label(i.operands.get(1)))
        else {
            return Err("a list of targets expected".to_owned());
        };
        let labels = &self.body().labels;
        let place = |label: &u32| match labels[*label as usize].kind {
            LabelKind::Code(target) => Some(start + target),
            _ => None,
        };
        let table: Option<Vec<u32>> = list.iter().map(place).collect();
        let table = table.ok_or("a target that is no label")?;
        let slot = self.source(index, Type::U32)?;
        if slot.width != Width::Word {
            return Err("an index of other than 32 bits".to_owned());
        }
        let extra = self.image.tables.len() as u32;
        self.image.tables.push(table);
        self.push(Op {
            a: slot.at,
            b: meeting,
            extra,
            control: Control::Indexed,
            ..op
        });
        Ok(())
    }

    /// An operation that the scalar definition computes.
    pub(super) fn generic(
        &mut self,
        compute: Scalar,
        sources: Vec<Slot>,
        result: Slot,
        second: Option<Slot>,
    ) {
        let extra = self.image.generics.len() as u32;
        self.image.generics.push(Generic {
            compute,
            sources,
            result,
            second,
        });
        let op = self.straight(lanes::generic);
        self.push(Op { extra, ..op });
    }

    fn carry_flag(&mut self) -> Slot {
        if let Some(slot) = self.carry.get(&self.function) {
            return *slot;
        }
        let slot = self.allocate(Width::Mask);
        self.carry.insert(self.function, slot);
        slot
    }

    /// Result and second result of an operand, `d` or `d|p`.
    pub(super) fn targets(
        &mut self,
        operand: &Operand,
        ty: Type,
    ) -> Result<(Slot, Option<Slot>), Reason> {
        match operand {
            Operand::Pair(pair) => {
                let first = self.target(&pair.0, ty)?;
                Ok((first, Some(self.target(&pair.1, Type::Pred)?)))
            }
            one => Ok((self.target(one, ty)?, None)),
        }
    }

    fn arithmetic(&mut self, i: &Instruction) -> Result<(), Reason> {
        let definition = define(i).ok_or("this form is not supported")?;
        let Some((first, rest)) = i.operands.split_first() else {
            return Err("too few operands".to_owned());
        };
        let optional = i.opcode.row().optional;
        if rest.len() > definition.sources.len() || rest.len() + optional < definition.sources.len()
        {
            return Err(format!(
                "{} operands where {} are expected",
                rest.len(),
                definition.sources.len()
            ));
        }
        if matches!(first, Operand::Pair(_)) && !matches!(i.opcode, Opcode::Setp | Opcode::Lop3) {
            return Err(format!("`{}` has one result", i.opcode.text()));
        }
        let (result, mut second) = self.targets(first, definition.result)?;
        let convert = i.opcode == Opcode::Cvt;
        let mut sources = Vec::with_capacity(4);
        let mut exact = result.width == Width::of(definition.result).unwrap_or(Width::Mask);
        let wider = convert && result.width > Width::of(definition.result).unwrap_or(Width::Mask);
        if !(exact || wider) {
            return Err("the result has another size than the instruction".to_owned());
        }
        for (operand, &ty) in rest.iter().zip(&definition.sources) {
            let slot = self.source(operand, ty)?;
            let wanted = Width::of(ty).ok_or("a value of 128 bits")?;
            let wider = convert && slot.width > wanted && wanted != Width::Mask;
            if slot.width != wanted && !wider {
                return Err("an operand has another size than the instruction".to_owned());
            }
            exact &= Self::fits(slot, ty);
            sources.push(slot);
        }
        if definition.carry_in {
            sources.push(self.carry_flag());
        }
        if definition.carry_out {
            second = Some(self.carry_flag());
        }
        let plain = second.is_none() && !definition.carry_in;
        if plain && self.fast(i, result, &sources, exact) {
            return Ok(());
        }
        self.generic(definition.compute, sources, result, second);
        Ok(())
    }

    /// Makes the operation with a fast handler where there is one.
    fn fast(&mut self, i: &Instruction, result: Slot, sources: &[Slot], exact: bool) -> bool {
        let at = |n: usize| sources.get(n).map_or(0, |s| s.at);
        let op = self.straight(lanes::nothing);
        let op = Op {
            d: result.at,
            a: at(0),
            b: at(1),
            c: at(2),
            ..op
        };
        let ty = i.ty(0);
        if ty == Some(Type::Pred) {
            let table = match i.opcode {
                Opcode::And => 0b1000,
                Opcode::Or => 0b1110,
                Opcode::Xor => 0b0110,
                Opcode::Not => 0b0011,
                _ => return false,
            };
            if exact {
                self.push(Op {
                    run: lanes::masks,
                    extra: table,
                    ..op
                });
            }
            return exact;
        }
        if !self.vector {
            return false;
        }
        let made = match i.opcode {
            Opcode::Setp => {
                self.fast_compare(i, sources)
                    .map(|(run, extra)| Op { run, extra, ..op })
            }
            Opcode::Selp => lanes::select_of(result.width).map(|run| {
                let extra = if sources[2].flip { u32::MAX } else { 0 };
                Op { run, extra, ..op }
            }),
            _ if exact => lanes::fast(i).map(|run| Op { run, ..op }),
            _ => None,
        };
        made.map(|op| self.push(op)).is_some()
    }

    fn fast_compare(&self, i: &Instruction, sources: &[Slot]) -> Option<(image::Handler, u32)> {
        use compare_bits::*;
        let run = lanes::compare_of(i.ty(0)?, i.has(Word::Ftz))?;
        let accepts = accepts(i)?;
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        let mut extra = bit(accepts.less, LESS)
            | bit(accepts.equal, EQUAL)
            | bit(accepts.greater, GREATER)
            | bit(accepts.unordered, UNORDERED);
        if let Some(combined) = sources.get(2) {
            extra |= match i.one_of(&[Word::And, Word::Or, Word::Xor])? {
                Word::And => AND,
                Word::Or => OR,
                _ => XOR,
            };
            extra |= bit(combined.flip, FLIP);
        }
        Some((run, extra))
    }

    fn mov(&mut self, i: &Instruction) -> Result<(), Reason> {
        let ty = i.ty(0).ok_or("no type")?;
        let [target, source] = &i.operands[..] else {
            return Err("two operands expected".to_owned());
        };
        if let Operand::Special(special) = source
            && let Some(word) = clock(*special)
        {
            let result = self.target(target, ty)?;
            self.exchange_op(
                WarpOp {
                    opcode: Opcode::Mov,
                    word,
                    ty,
                    sources: Vec::new(),
                    result: Some(result),
                    second: None,
                },
                None,
            );
            return Ok(());
        }
        if let (Operand::Vector(parts), whole) | (whole, Operand::Vector(parts)) = (target, source)
        {
            return self.repack(ty, parts, whole, matches!(target, Operand::Vector(_)));
        }
        let from = self.source(source, ty)?;
        let to = self.target(target, ty)?;
        let op = self.straight(lanes::nothing);
        let op = Op {
            d: to.at,
            a: from.at,
            ..op
        };
        match (from.width, to.width) {
            (Width::Mask, Width::Mask) => {
                let extra = if from.flip { 0b0011 } else { 0b1100 };
                self.push(Op {
                    run: lanes::masks,
                    extra,
                    ..op
                });
            }
            (a, b) if a == b && self.vector => match lanes::move_of(a) {
                Some(run) => self.push(Op { run, ..op }),
                None => return Err("a move of what cannot be moved".to_owned()),
            },
            // Old PTX reads special registers in other sizes.
            (a, b) if a == b || matches!(source, Operand::Special(_)) => {
                self.generic(Box::new(|x| [x[0], 0]), vec![from], to, None);
            }
            _ => return Err("the two registers have different sizes".to_owned()),
        }
        Ok(())
    }

    /// `mov.b64 {a, b}, c` and `mov.b64 c, {a, b}`
    fn repack(
        &mut self,
        ty: Type,
        parts: &[Operand],
        whole: &Operand,
        split: bool,
    ) -> Result<(), Reason> {
        let part = match (ty.bits(), parts.len()) {
            (32, 2) | (64, 4) => Type::B16,
            (64, 2) => Type::B32,
            _ => return Err("parts that do not make up the whole".to_owned()),
        };
        let mut slots = Vec::with_capacity(5);
        for operand in parts {
            let slot = if split {
                self.target(operand, part)?
            } else {
                self.source(operand, part)?
            };
            if !Self::fits(slot, part) {
                return Err("a part of another size".to_owned());
            }
            slots.push(slot);
        }
        let whole = if split {
            self.source(whole, ty)?
        } else {
            self.target(whole, ty)?
        };
        if !Self::fits(whole, ty) {
            return Err("a register of another size".to_owned());
        }
        let d = if split { slots.len() as u32 } else { 1 };
        slots.insert(if split { slots.len() } else { 0 }, whole);
        let extra = self.image.memory.len() as u32;
        self.add_memory(MemoryOp {
            index: 0,
            space: None,
            from: image::From::Constant,
            offset: 0,
            region: image::Region::ANYWHERE,
            element: 0,
            bytes: 0,
            store: false,
            atomic: false,
            strength: Strength::Weak,
            acquire: false,
            release: false,
            copies: false,
            data: slots,
            update: None,
        });
        let op = self.straight(exchange::repack);
        self.push(Op { d, extra, ..op });
        Ok(())
    }
}

/// Which part of the clock a special register is; none for the others.
fn clock(special: Special) -> Option<Option<Word>> {
    match special {
        Special::Clock | Special::Clock64 | Special::Globaltimer | Special::GlobaltimerLo => {
            Some(None)
        }
        Special::ClockHi | Special::GlobaltimerHi => Some(Some(Word::Hi)),
        _ => None,
    }
}
