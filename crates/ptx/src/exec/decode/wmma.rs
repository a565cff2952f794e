//! `wmma`.

use super::Decoder;
use super::operand::Reason;
use super::tensor::{places, register_of};
use crate::ast::{Instruction, Operand};
use crate::exec::image::form::Step;
use crate::exec::image::matrices::{Matrices, TensorOp};
use crate::exec::image::{From, MemoryOp, MemoryOrder, Moved, Transfer};
use crate::exec::registers::{Slot, Width};
use crate::names::{Space, Type, Word};
use crate::tensor::{Held, Pieces, Place, Side, Target, moved, packed, pieces, product};

impl Decoder<'_> {
    pub(super) fn wmma(&mut self, i: &Instruction) -> Result<(), Reason> {
        match i.one_of(&[Word::Load, Word::Store, Word::Mma]) {
            Some(Word::Mma) => self.wmma_product(i),
            Some(_) => self.wmma_moved(i),
            None => Err("expected `wmma.load`, `wmma.store` or `wmma.mma`".to_owned()),
        }
    }

    fn wmma_product(&mut self, i: &Instruction) -> Result<(), Reason> {
        let form = product(i, Target::of(self.module))?;
        let [operand_d, operand_a, operand_b, operand_c] = &i.operands[..] else {
            return Err("four operands expected".to_owned());
        };
        let [held_d, held_a, held_b, held_c] = &form.matrices;
        let (d, _) = self.held(operand_d, held_d, true)?;
        let (a, _) = self.held(operand_a, held_a, false)?;
        let (b, _) = self.held(operand_b, held_b, false)?;
        let (c, _) = self.held(operand_c, held_c, false)?;
        let [m, n] = held_d.size;
        let sums = held_a.size[1] * held_a.ty.bits() / Matrices::value_bits(held_a.ty);
        self.image.tensors.push(TensorOp {
            matrices: 1,
            size: [m, n, sums].map(|x| x as usize),
            arithmetic: form.arithmetic,
            a,
            b,
            c,
            d,
            rows: (0..m).flat_map(|_| 0..sums as u16).collect(),
            sparse: None,
        });
        let tensor = self.image.tensors.len() as u32 - 1;
        self.step(Step::Tensor { tensor });
        Ok(())
    }

    /// Registers of a matrix, and those that hold nothing of it.
    fn held(
        &mut self,
        operand: &Operand,
        held: &Held,
        target: bool,
    ) -> Result<(Matrices, Vec<Slot>), Reason> {
        let register = register_of(held.ty);
        let mut slots = self.elements(operand, register, target)?;
        let width = Width::of(register);
        if slots.len() != held.registers as usize || slots.iter().any(|s| Some(s.width) != width) {
            return Err(format!(
                "{} registers of a matrix of .{}: expected {} of .{}",
                slots.len(),
                held.ty.text(),
                held.registers,
                register.text()
            ));
        }
        let per = if register.bits() == 64 {
            1
        } else {
            packed(held.ty, 32)
        };
        let used = (held.fragment.elements() / per).max(1);
        let unused = slots.split_off(used as usize);
        let (ty, is_a) = (held.ty, held.side != Side::B);
        let elements = (held.fragment.elements(), is_a);
        let places = places(ty, held.size, elements, |lane, at| {
            let (row, column) = held.place(lane, at);
            let matrix = 0;
            Place {
                matrix,
                row,
                column,
            }
        });
        Ok((Matrices { ty, slots, places }, unused))
    }

    fn wmma_moved(&mut self, i: &Instruction) -> Result<(), Reason> {
        let (held, by_columns) = moved(i, Target::of(self.module))?;
        let store = i.has(Word::Store);
        let (address, data) = if store { (0, 1) } else { (1, 0) };
        if !matches!(i.operands.len(), 2 | 3) {
            return Err("registers, an address, and a stride expected".to_owned());
        }
        let (space, from, offset) = self.address(i, &i.operands[address])?;
        if !matches!(space, None | Some(Space::Shared | Space::Global)) {
            return Err("a matrix of wmma outside of .shared and .global".to_owned());
        }
        let base = match from {
            From::Word(at) => slot(at, Width::Word),
            From::Double(at) => slot(at, Width::Double),
            From::Constant => self.constant(0, Width::Double),
        };
        let stride = match i.operands.get(2) {
            Some(operand) => Some(self.source(operand, Type::U32)?),
            None => None,
        };
        let region = self.region(&i.operands[address]);
        let addresses = self.allocate(Width::Double);
        let (registers, unused) = self.held(&i.operands[data], &held, !store)?;
        let target = Target::of(self.module);
        let all = pieces(&held, by_columns, target, space == Some(Space::Shared));
        let matrix = |pieces: Pieces| Moved {
            store,
            registers: registers.clone(),
            unused: unused.clone(),
            size: held.size,
            by_columns,
            pieces,
            accesses: all.len() as u32,
            base,
            offset,
            stride,
            addresses,
        };
        let mut first_access = None;
        for pieces in &all {
            let access = self.add_memory(MemoryOp {
                index: 0,
                space,
                from: From::Double(addresses.at),
                offset: 0,
                region,
                bytes: pieces.bytes,
                transfer: Transfer::Fragment(Box::new(matrix(pieces.clone()))),
                order: MemoryOrder::default(),
            });
            first_access.get_or_insert(access);
        }
        let access = first_access.ok_or("an empty matrix")?;
        self.step(Step::Fragment { access });
        Ok(())
    }
}

fn slot(at: u32, width: Width) -> Slot {
    Slot {
        at,
        width,
        flip: false,
    }
}
