//! Decodes one instruction to one operation.

use super::Decoder;
use super::operand::Reason;
use crate::ast::{Instruction, LabelKind, Operand};
use crate::cfg::Cfg;
use crate::exec::image::form::{Combine, Compare, Form, Map, Masks, Meeting, Select, Step};
use crate::exec::image::{ElementMoves, Generic, Repack};
use crate::exec::lanes;
use crate::exec::ordering::{Fence, Sides};
use crate::exec::registers::{Mask, Slot, Width};
use crate::names::{Space, Special, Type, Word};
use crate::opcodes::{Class, Opcode};
use crate::scalar::small::listed;
use crate::scalar::{SOURCES, Scalar, accepts, define};

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
            | Class::Convert
            | Class::Video => self.arithmetic(i),
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
            Class::Return => self.leave(Form::Return),
            Class::Exit => self.leave(Form::Exit),
            Class::Trap => self.leave(Form::Trap),
            Class::Barrier => self.barrier(i),
            Class::Fence => self.fence(i),
            Class::Mbarrier => self.mbarrier(i),
            Class::TensorMap => self.tensor_map(i),
            Class::Warp => self.exchange(i),
            Class::Texture => self.texture(i),
            Class::Tensor => self.tensor(i),
            Class::Hint => self.hint(i),
            Class::ClusterAddress => self.cluster_address(i),
            Class::Refused(reason) => Err(reason.to_owned()),
        }
    }

    fn leave(&mut self, form: Form) -> Result<(), Reason> {
        self.push(form);
        Ok(())
    }

    fn fence(&mut self, i: &Instruction) -> Result<(), Reason> {
        if i.has(Word::TensormapGeneric) && i.has(Word::Acquire) {
            self.fenced_map(i)?;
        }
        let wide = i.one_of(&[Word::Gl, Word::Gpu, Word::Sys]).is_some();
        // A fence of one direction is taken as one of both: it has its effect on what the
        // thread has seen, too.
        let one_way = i.has(Word::AsyncGeneric);
        self.step(match () {
            () if i.has(Word::MbarrierInit) => Step::FenceInit,
            () if i.has(Word::Proxy) && !one_way && !i.has(Word::Async) => Step::Nothing,
            () if i.has(Word::Proxy) => Step::Fence {
                fence: Fence::Proxy {
                    shared: i.space() != Some(Space::Global),
                    global: !one_way && i.space().is_none_or(|space| space == Space::Global),
                },
                sides: Sides::Both,
            },
            () => Step::Fence {
                fence: match () {
                    () if wide => Fence::Wide,
                    () if i.has(Word::Cluster) => Fence::Cluster,
                    () => Fence::Block,
                },
                sides: match i.one_of(&[Word::Acquire, Word::Release]) {
                    Some(Word::Acquire) => Sides::Acquire,
                    Some(_) => Sides::Release,
                    None => Sides::Both,
                },
            },
        });
        Ok(())
    }

    fn branch(&mut self, i: &Instruction, at: u32, start: u32, cfg: &Cfg) -> Result<(), Reason> {
        let Some(LabelKind::Code(target)) = self.label(i.operands.first()) else {
            return Err("a branch to something that is not a label".to_owned());
        };
        let target = start + target;
        let meet = self.meeting(cfg, at, start);
        self.push(Form::Branch { target, meet });
        Ok(())
    }

    fn indexed_branch(
        &mut self,
        i: &Instruction,
        at: u32,
        start: u32,
        cfg: &Cfg,
    ) -> Result<(), Reason> {
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
        let table = table.ok_or("a target that is not a label")?;
        let slot = self.source(index, Type::U32)?;
        if slot.width != Width::Word {
            return Err("an index that is not 32 bits wide".to_owned());
        }
        let number = self.image.tables.len() as u32;
        self.image.tables.push(table);
        let meet = self.meeting(cfg, at, start);
        let inside = self.meets.inside(cfg.block_of[at as usize]);
        let inside = inside.map(|m| Meeting {
            pc: start + cfg.blocks[m.block as usize].start,
            depth: m.depth,
            order: m.order,
        });
        self.push(Form::IndexedBranch {
            index: slot.at,
            table: number,
            meet,
            inside,
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
        let generic = self.image.generics.len() as u32;
        self.image.generics.push(Generic {
            compute,
            sources,
            result,
            second,
        });
        self.step(Step::Scalar { generic });
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
        let rest = listed(i, rest);
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
        let convert = i.opcode == Opcode::Cvt && !i.has(Word::Pack);
        let mut sources = Vec::with_capacity(SOURCES);
        let mut exact = result.width == Width::of(definition.result).unwrap_or(Width::Mask);
        let wider = convert && result.width > Width::of(definition.result).unwrap_or(Width::Mask);
        if !(exact || wider) {
            return Err("the result and the instruction have different sizes".to_owned());
        }
        for (operand, &ty) in rest.into_iter().zip(&definition.sources) {
            let slot = self.source(operand, ty)?;
            let wanted = Width::of(ty).ok_or("a value of 128 bits")?;
            let wider = convert && slot.width > wanted && wanted != Width::Mask;
            if slot.width != wanted && !wider {
                return Err("an operand and the instruction have different sizes".to_owned());
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

    /// Makes the operation for all lanes at once, if any.
    fn fast(&mut self, i: &Instruction, result: Slot, sources: &[Slot], exact: bool) -> bool {
        let at = |n: usize| sources.get(n).map_or(0, |s| s.at);
        let (to, two) = (result.at, [at(0), at(1)]);
        let step = match i.opcode {
            _ if i.ty(0) == Some(Type::Pred) => logic(i, result, sources, exact),
            _ if !self.image.vector => None,
            Opcode::Setp => compare(i, to, two, sources.get(2)),
            Opcode::Selp => lanes::select_of(result.width).map(|run| {
                Step::Select(Select {
                    run,
                    to,
                    sources: two,
                    chosen: Mask::of(sources[2]),
                })
            }),
            _ if exact => lanes::fast(i).map(|run| {
                let sources = [at(0), at(1), at(2)];
                Step::Map(Map { run, to, sources })
            }),
            _ => None,
        };
        step.map(|step| self.step(step)).is_some()
    }

    fn mov(&mut self, i: &Instruction) -> Result<(), Reason> {
        let ty = i.ty(0).ok_or("no type")?;
        let [target, source] = &i.operands[..] else {
            return Err("two operands expected".to_owned());
        };
        if let Operand::Special(special) = source
            && let Some(upper) = upper_clock(*special)
        {
            let result = self.target(target, ty)?;
            self.step(Step::Clock { to: result, upper });
            return Ok(());
        }
        if let (Operand::Vector(to), Operand::Vector(from)) = (target, source) {
            return self.move_vector(i, ty, to, from);
        }
        if let Some(word) = i.one_of(&[Word::V2, Word::V4]) {
            return Err(format!("`mov.{}` moves a vector", word.text()));
        }
        if ty == Type::B128 {
            return self.move_pair(i);
        }
        if let (Operand::Vector(parts), whole) | (whole, Operand::Vector(parts)) = (target, source)
        {
            if parts.iter().any(|o| matches!(o, Operand::Special(_))) {
                return Err("a special register of four in place of one".to_owned());
            }
            return self.repack(ty, parts, whole, matches!(target, Operand::Vector(_)));
        }
        let from = self.source(source, ty)?;
        let to = self.target(target, ty)?;
        match (from.width, to.width) {
            (Width::Mask, Width::Mask) => self.step(Step::Masks(Masks {
                to: to.at,
                sources: [Mask::of(from), Mask::ALL],
                table: FIRST,
            })),
            (a, b) if a == b && self.image.vector => match lanes::move_of(a) {
                Some(run) => self.step(Step::Map(Map {
                    run,
                    to: to.at,
                    sources: [from.at, 0, 0],
                })),
                None => return Err("a move of an unsupported operand".to_owned()),
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
            (16, 2) | (32, 4) => Type::B8,
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
                return Err("a part of a different size".to_owned());
            }
            slots.push(slot);
        }
        let whole = if split {
            self.source(whole, ty)?
        } else {
            self.target(whole, ty)?
        };
        if !Self::fits(whole, ty) {
            return Err("a register of a different size".to_owned());
        }
        let (sources, results) = if split {
            (vec![whole], slots)
        } else {
            (slots, vec![whole])
        };
        let repack = self.image.repacks.len() as u32;
        self.image.repacks.push(Repack {
            part: part.bits(),
            sources,
            results,
        });
        self.step(Step::Repack { repack });
        Ok(())
    }

    /// `mov.v4.u32 {a, b, c, d}, %tid`, or from other registers: each element by itself.
    fn move_vector(
        &mut self,
        i: &Instruction,
        ty: Type,
        to: &[Operand],
        from: &[Operand],
    ) -> Result<(), Reason> {
        let count = match i.one_of(&[Word::V2, Word::V4]) {
            Some(Word::V2) => 2,
            Some(_) => 4,
            None => return Err("a vector without .v2 or .v4".to_owned()),
        };
        if [to.len(), from.len()] != [count; 2] {
            return Err("a vector of another size".to_owned());
        }
        let special = from.iter().any(|o| matches!(o, Operand::Special(_)));
        if special && !matches!(ty.bits(), 16 | 32) {
            return Err(format!("special registers of {}", ty.text()));
        }
        let mut move_of = ElementMoves::default();
        for (to, from) in to.iter().zip(from) {
            move_of.sources.push(self.source(from, ty)?);
            let result = self.target(to, ty)?;
            if !Self::fits(result, ty) {
                return Err("an element of a different size".to_owned());
            }
            move_of.results.push(result);
        }
        let moves = self.image.element_moves.len() as u32;
        self.image.element_moves.push(move_of);
        self.step(Step::MoveElements { moves });
        Ok(())
    }
}

/// The table of a function that is its first predicate.
const FIRST: u8 = 0b1100;

/// Logic of predicates.
fn logic(i: &Instruction, result: Slot, sources: &[Slot], exact: bool) -> Option<Step> {
    let table = match i.opcode {
        Opcode::And => 0b1000,
        Opcode::Or => 0b1110,
        Opcode::Xor => 0b0110,
        Opcode::Not => !FIRST & 0b1111,
        _ => return None,
    };
    let mask = |n: usize| sources.get(n).map_or(Mask::ALL, |s| Mask::of(*s));
    exact.then_some(Step::Masks(Masks {
        to: result.at,
        sources: [mask(0), mask(1)],
        table,
    }))
}

/// `setp`, combined with a predicate if there is one.
fn compare(i: &Instruction, to: u32, sources: [u32; 2], other: Option<&Slot>) -> Option<Step> {
    let combined = match other {
        None => None,
        Some(slot) => {
            let how = match i.one_of(&[Word::And, Word::Or, Word::Xor])? {
                Word::And => Combine::And,
                Word::Or => Combine::Or,
                _ => Combine::Xor,
            };
            Some((how, Mask::of(*slot)))
        }
    };
    Some(Step::Compare(Compare {
        run: lanes::compare_of(i.ty(0)?, i.has(Word::Ftz))?,
        to,
        sources,
        accepts: accepts(i)?,
        combined,
    }))
}

/// Whether a special register is the upper half of a clock; none where it is
/// no clock.
fn upper_clock(special: Special) -> Option<bool> {
    match special {
        Special::Clock | Special::Clock64 | Special::Globaltimer | Special::GlobaltimerLo => {
            Some(false)
        }
        Special::ClockHi | Special::GlobaltimerHi => Some(true),
        _ => None,
    }
}
