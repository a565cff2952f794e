//! Products of matrices.

use super::Decoder;
use super::operand::Reason;
use super::words;
use crate::ast::{Immediate, Instruction, Operand};
use crate::exec::image::form::Step;
use crate::exec::image::matrices::{Matrices, TensorOp};
use crate::exec::registers::{Slot, Width};
use crate::names::Type;
use crate::opcodes::Opcode;
use crate::tensor::{Bit, Fragment, MmaForm, Place, Sparsity, Target, mma};

impl Decoder<'_> {
    /// `mma`, `mma.sp`, `wmma`
    pub(super) fn tensor(&mut self, i: &Instruction) -> Result<(), Reason> {
        match i.opcode {
            Opcode::Wmma => return self.wmma(i),
            Opcode::Wgmma => return self.wgmma(i),
            _ => {}
        }
        words::check_kind(i, self.module)?;
        let form = mma(i, Target::of(self.module))?;
        let op = self.product(i, &form)?;
        self.image.tensors.push(op);
        let tensor = self.image.tensors.len() as u32 - 1;
        self.step(Step::Tensor { tensor });
        Ok(())
    }

    fn product(&mut self, i: &Instruction, form: &MmaForm) -> Result<TensorOp, Reason> {
        let expected = if form.sparse { 6 } else { 4 };
        if i.operands.len() != expected {
            return Err(format!(
                "{} operands where {expected} are expected",
                i.operands.len()
            ));
        }
        let [ty_d, ty_a, ty_b, ty_c] = form.types;
        let [m, n, k] = form.size;
        let of_a = if form.sparse { k / 2 } else { k };
        let d = self.matrices(&i.operands[0], &form.d, ty_d, ("the result", true), [m, n])?;
        let a = &form.fragments.a;
        let a = self.matrices(
            &i.operands[1],
            a,
            ty_a,
            ("the first factor", false),
            [m, of_a],
        )?;
        let b = &form.fragments.b;
        let b = self.matrices(
            &i.operands[2],
            b,
            ty_b,
            ("the second factor", false),
            [k, n],
        )?;
        let c = self.matrices(
            &i.operands[3],
            &form.c,
            ty_c,
            ("the accumulator", false),
            [m, n],
        )?;
        let sparse = if form.sparse {
            Some(self.metadata(&i.operands[4], &i.operands[5], (ty_a, k))?)
        } else {
            None
        };
        let sums = of_a * ty_a.bits() / Matrices::value_bits(ty_a);
        Ok(TensorOp {
            matrices: form.d.size()[0] as usize,
            size: [m, n, sums].map(|x| x as usize),
            arithmetic: form.arithmetic,
            a,
            b,
            c,
            d,
            rows: (0..m).flat_map(|_| 0..sums as u16).collect(),
            sparse,
        })
    }

    /// The registers of an operand, and what of it they hold.
    fn matrices(
        &mut self,
        operand: &Operand,
        fragment: &Fragment,
        ty: Type,
        (what, target): (&str, bool),
        size: [u32; 2],
    ) -> Result<Matrices, Reason> {
        let register = register_of(ty);
        let slots = self.elements(operand, register, target)?;
        let per_register = (register.bits() / ty.bits()).max(1);
        let wanted = (fragment.elements() / per_register) as usize;
        let width = Width::of(register);
        if slots.len() != wanted || slots.iter().any(|s| Some(s.width) != width) {
            return Err(format!(
                "{what} is in {} registers: expected {wanted} of .{}",
                slots.len(),
                register.text()
            ));
        }
        let is_a = matches!(fragment.element.first(), Some(Bit::Column(_)));
        let elements = (fragment.elements(), is_a);
        let places = places(ty, size, elements, |lane, at| fragment.place(lane, at));
        Ok(Matrices { ty, slots, places })
    }

    /// Metadata and selector of a sparse factor.
    pub(super) fn metadata(
        &mut self,
        metadata: &Operand,
        selector: &Operand,
        (ty, columns): (Type, u32),
    ) -> Result<(Sparsity, Slot), Reason> {
        let slot = self.source(metadata, Type::B32)?;
        if slot.width != Width::Word {
            return Err("metadata in a register that is not 32 bits wide".to_owned());
        }
        let most = Sparsity::new(ty, columns, 0).selectors();
        match selector {
            Operand::Immediate(Immediate::Integer(n)) if (0..i64::from(most)).contains(n) => {
                Ok((Sparsity::new(ty, columns, *n as u32), slot))
            }
            _ => Err(format!(
                "the selector of the metadata is a constant from 0 to {}",
                most - 1
            )),
        }
    }
}

/// The type of the registers that hold elements of a type.
pub(super) fn register_of(ty: Type) -> Type {
    match ty {
        Type::F64 | Type::F32 | Type::S32 => ty,
        _ => Type::U32,
    }
}

/// By element of each register, its index in the matrices, lane after lane. Elements of
/// single bits count by words, which lie along the rows of `a` and the columns of the other
/// factor.
pub(super) fn places(
    ty: Type,
    [rows, columns]: [u32; 2],
    (elements, is_a): (u32, bool),
    place: impl Fn(u32, u32) -> Place,
) -> Vec<[u16; 32]> {
    let step = Matrices::value_bits(ty) / ty.bits();
    let [of_row, of_column] = if is_a { [1, step] } else { [step, 1] };
    let (rows, columns) = (rows / of_row, columns / of_column);
    let index = |lane: u32, element: u32| {
        let place = place(lane, element);
        let row = place.matrix * rows + place.row / of_row;
        (row * columns + place.column / of_column) as u16
    };
    let lanes = |element| std::array::from_fn(|lane| index(lane as u32, element));
    (0..elements).step_by(step as usize).map(lanes).collect()
}
