//! `wgmma`.

use super::Decoder;
use super::operand::Reason;
use super::tensor::{places, register_of};
use crate::ast::{Function, Immediate, Instruction, Operand, Register};
use crate::exec::image::form::Step;
use crate::exec::image::matrices::{Factor, GroupOp, Matrices, ROWS, Stored};
use crate::exec::image::{From, MemoryOp, MemoryOrder, Region, Transfer};
use crate::exec::ordering::Uses;
use crate::exec::registers::{Slot, Width};
use crate::names::{Space, Type, Word};
use crate::opcodes::Opcode;
use crate::operands;
use crate::tensor::{GroupForm, Major, PIECE, Place, wgmma};
use std::ops::Range;

/// The target that has it, and no other.
const TARGET: &str = "sm_90a";
/// Most elements of a part of `b`, and most columns of one.
const ELEMENTS: u32 = 1024;
const COLUMNS: u32 = 32;

/// Whether it is `wgmma.mma_async`.
fn is_product(i: &Instruction) -> bool {
    i.opcode == Opcode::Wgmma && i.has(Word::MmaAsync)
}

/// The registers of a vector.
fn registers(items: &[Operand]) -> Vec<Register> {
    let of = |o: &Operand| match o {
        Operand::Register(r) => Some(*r),
        _ => None,
    };
    items.iter().filter_map(of).collect()
}

/// The constants after the factors.
struct Tail {
    negated: bool,
    majors: [Major; 2],
}

impl Decoder<'_> {
    pub(super) fn wgmma(&mut self, i: &Instruction) -> Result<(), Reason> {
        if !self.module.target.iter().any(|t| t == TARGET) {
            return Err(format!(
                "`wgmma` requires {TARGET}, and the module targets {}",
                self.module.target.join(", ")
            ));
        }
        if !i.has(Word::Sync) || !i.has(Word::Aligned) {
            return Err("`wgmma` needs .sync.aligned".to_owned());
        }
        match i.one_of(&[
            Word::MmaAsync,
            Word::Fence,
            Word::CommitGroup,
            Word::WaitGroup,
        ]) {
            Some(Word::MmaAsync) => self.group_product(i),
            // Products are computed at once, in the order of the program.
            Some(Word::Fence) => self.bare(i, Step::GroupFence),
            Some(Word::CommitGroup) => self.bare(i, Step::GroupCommit),
            Some(_) => self.group_wait(i),
            None => Err(
                "expected `wgmma.mma_async`, `.fence`, `.commit_group` or `.wait_group`".to_owned(),
            ),
        }
    }

    fn bare(&mut self, i: &Instruction, step: Step) -> Result<(), Reason> {
        if i.operands.is_empty() {
            self.step(step);
            Ok(())
        } else {
            Err("no operands expected".to_owned())
        }
    }

    /// Numbers the registers of the function that products of warpgroups write.
    pub(super) fn number_accumulators(&mut self, body: &Function) {
        self.accumulators.clear();
        let products = body.instructions.iter().filter(|i| is_product(i));
        // Accumulators, and factors in registers.
        let factor = |i: &Instruction| match i.operands.get(1) {
            Some(Operand::Vector(items)) => registers(items),
            _ => Vec::new(),
        };
        let used = products.flat_map(|i| [operands::writes(i), factor(i)].concat());
        for register in used {
            let next = self.image.accumulators;
            let number = *self.accumulators.entry(register.0).or_insert(next);
            self.image.accumulators = next.max(number + 1);
        }
    }

    /// Notes the uses of accumulators by the instruction at hand.
    pub(super) fn note_accumulators(
        &mut self,
        i: &Instruction,
        reads: &[Register],
        writes: &[Register],
    ) {
        if self.accumulators.is_empty() {
            return;
        }
        let product = is_product(i);
        let body = self.body();
        let number = |r: &Register| self.accumulators.get(&r.0).copied();
        let name = |r: &Register| body.registers[r.0 as usize].name.clone();
        let own = |r: &&Register| product && writes.contains(*r);
        let reads = reads.iter().filter(|r| !own(r));
        let uses = Uses {
            reads: reads.filter_map(|r| Some((number(r)?, name(r)))).collect(),
            writes: writes
                .iter()
                .filter_map(|r| Some((number(r)?, name(r))))
                .collect(),
            product,
        };
        if uses.reads.is_empty() && uses.writes.is_empty() {
            return;
        }
        let image = &mut self.image;
        image.accumulators_at.resize(image.infos.len(), None);
        image
            .accumulators_at
            .push(Some(image.accumulator_uses.len() as u32));
        image.accumulator_uses.push(uses);
    }

    fn group_wait(&mut self, i: &Instruction) -> Result<(), Reason> {
        match &i.operands[..] {
            [Operand::Immediate(Immediate::Integer(n @ 0..))] => {
                let left = u32::try_from(*n).unwrap_or(u32::MAX);
                self.step(Step::GroupWait { left });
                Ok(())
            }
            _ => Err("expected a constant number of groups, at least 0".to_owned()),
        }
    }

    fn group_product(&mut self, i: &Instruction) -> Result<(), Reason> {
        let form = wgmma(i)?;
        let count = if form.sparse { 6 } else { 4 };
        let Some((operands, tail)) = i.operands.split_at_checked(count) else {
            return Err(format!(
                "{} operands where at least {count} are expected",
                i.operands.len()
            ));
        };
        let held = matches!(operands[1], Operand::Vector(_));
        let tail = constants(&form, held, tail)?;
        let [columns, k] = form.size;
        let [_, ty_a, ty_b] = form.types;
        let of_a = if form.sparse { k / 2 } else { k };
        let a = if held {
            Factor::Held(self.held_factor(&operands[1], &form, of_a)?)
        } else {
            Factor::Stored(self.stored(&operands[1], "a", (ty_a, tail.majors[0], of_a))?)
        };
        let b = self.stored(&operands[2], "b", (ty_b, tail.majors[1], k))?;
        let values = k * ty_b.bits() / Matrices::value_bits(ty_b);
        let width = (ELEMENTS / values).min(COLUMNS);
        let products = of_a * ty_a.bits() / Matrices::value_bits(ty_a);
        let sparse = if form.sparse {
            Some(self.metadata(&operands[3], &operands[4], (ty_a, k))?)
        } else {
            None
        };
        let op = GroupOp {
            columns,
            products: products as usize,
            arithmetic: form.arithmetic,
            negated: tail.negated,
            a,
            b,
            sums: self.sums(&operands[0], &form, width)?,
            width,
            adds: self.scale(&operands[count - 1])?,
            rows: (0..ROWS).flat_map(|_| 0..products as u16).collect(),
            sparse,
        };
        let access = self.add_memory(MemoryOp {
            index: 0,
            space: Some(Space::Shared),
            from: From::Constant,
            offset: 0,
            region: Region::ANYWHERE,
            bytes: PIECE,
            transfer: Transfer::Factors(Box::new(op)),
            order: MemoryOrder::default(),
        });
        self.step(Step::Group { access });
        Ok(())
    }

    /// The registers of `a`.
    fn held_factor(
        &mut self,
        operand: &Operand,
        form: &GroupForm,
        columns: u32,
    ) -> Result<Matrices, Reason> {
        let ty = form.types[1];
        let slots = self.elements(operand, packed_in(ty), false)?;
        if slots.len() != 4 || slots.iter().any(|s| s.width != Width::Word) {
            return Err(format!(
                "the first factor is in {} registers: expected 4 of .b32",
                slots.len()
            ));
        }
        let elements = (form.a.elements(), true);
        let places = places(ty, [ROWS, columns], elements, |lane, at| {
            form.a.place(lane, at)
        });
        Ok(Matrices { ty, slots, places })
    }

    /// A factor in shared memory.
    fn stored(
        &mut self,
        operand: &Operand,
        which: &str,
        (ty, major, k): (Type, Major, u32),
    ) -> Result<Stored, Reason> {
        let descriptor = self.source(operand, Type::U64);
        let descriptor = descriptor.map_err(|why| format!("the descriptor of {which}: {why}"))?;
        if descriptor.width != Width::Double {
            return Err(format!("a descriptor of {which} that is not 64 bits wide"));
        }
        Ok(Stored {
            descriptor,
            ty,
            major,
            k,
        })
    }

    /// In a product, the predicate that decides whether the accumulator counts.
    pub(super) fn product_adds(&mut self, i: &Instruction) -> Option<Slot> {
        let form = is_product(i).then(|| wgmma(i).ok()).flatten()?;
        let operand = i.operands.get(if form.sparse { 5 } else { 3 })?;
        self.scale(operand).ok()
    }

    /// Whether the accumulator counts: a predicate, or 0 or 1.
    fn scale(&mut self, operand: &Operand) -> Result<Slot, Reason> {
        match operand {
            Operand::Immediate(Immediate::Integer(n @ 0..=1)) => {
                Ok(self.constant(*n as u64, Width::Mask))
            }
            Operand::Register(_) | Operand::Negated(_) => self.source(operand, Type::Pred),
            _ => Err("a scale-d that is not a predicate, 0 or 1".to_owned()),
        }
    }

    /// The registers of the accumulator, in parts of `width` columns.
    fn sums(
        &mut self,
        operand: &Operand,
        form: &GroupForm,
        width: u32,
    ) -> Result<Vec<Matrices>, Reason> {
        let (ty, columns) = (form.types[0], form.size[0]);
        let register = if ty == Type::F16 {
            Type::F16x2
        } else {
            register_of(ty)
        };
        if matches!(operand, Operand::Vector(items) if items.contains(&Operand::Discard)) {
            return Err("`_` in the result, which is the accumulator, too".to_owned());
        }
        let slots = self.elements(operand, register, true)?;
        let per_eight = (form.d.elements() * ty.bits() / 32) as usize;
        let wanted = columns as usize / 8 * per_eight;
        if slots.len() != wanted || slots.iter().any(|s| s.width != Width::Word) {
            return Err(format!(
                "the result is in {} registers: expected {wanted} of .{}",
                slots.len(),
                register.text()
            ));
        }
        let part = |columns: Range<u32>| {
            let eights = columns.start as usize / 8..columns.end as usize / 8;
            let slots = slots[eights.start * per_eight..eights.end * per_eight].to_vec();
            let columns = columns.len() as u32;
            let per = form.d.elements();
            let elements = (columns / 8 * per, true);
            let places = places(ty, [ROWS, columns], elements, |lane, at| {
                let place = form.d.place(lane, at % per);
                let column = place.column + at / per * 8;
                Place { column, ..place }
            });
            Matrices { ty, slots, places }
        };
        let starts = (0..columns).step_by(width as usize);
        Ok(starts
            .map(|start| part(start..(start + width).min(columns)))
            .collect())
    }
}

/// The type of registers that elements of a type are packed in.
fn packed_in(ty: Type) -> Type {
    if ty.is_float() {
        Type::F16x2
    } else {
        Type::B32
    }
}

/// Signs and majors: `imm-scale-a`, `imm-scale-b`, `imm-trans-a` (where `a` is
/// in memory), `imm-trans-b`.
fn constants(form: &GroupForm, held: bool, tail: &[Operand]) -> Result<Tail, Reason> {
    let signs = if form.has_signs() { 2 } else { 0 };
    let majors = match (form.has_majors(), held) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 2,
    };
    let constant = |operand: &Operand| match operand {
        Operand::Immediate(Immediate::Integer(n)) => Some(*n),
        _ => None,
    };
    let values: Option<Vec<i64>> = tail.iter().map(constant).collect();
    let values = values
        .filter(|v| v.len() == signs + majors)
        .ok_or_else(|| {
            format!(
                "{} constants expected after scale-d: {}",
                signs + majors,
                match majors {
                    _ if signs == 0 => "none",
                    0 => "imm-scale-a, imm-scale-b",
                    1 => "imm-scale-a, imm-scale-b, imm-trans-b",
                    _ => "imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b",
                }
            )
        })?;
    let (scales, transposes) = values.split_at(signs);
    if let Some(wrong) = scales.iter().find(|n| !matches!(n, -1 | 1)) {
        return Err(format!("imm-scale of {wrong}: expected -1 or 1"));
    }
    if let Some(wrong) = transposes.iter().find(|n| !matches!(n, 0 | 1)) {
        return Err(format!("imm-trans of {wrong}: expected 0 or 1"));
    }
    let major = |n: Option<&i64>| match n {
        Some(1) => Major::Mn,
        _ => Major::K,
    };
    let of_a = transposes.first().filter(|_| majors == 2);
    Ok(Tail {
        negated: scales.iter().product::<i64>() < 0,
        majors: [major(of_a), major(transposes.last())],
    })
}
