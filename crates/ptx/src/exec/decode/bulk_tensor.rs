//! `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor` and
//! `cp.async.bulk.prefetch.tensor`.

use super::Decoder;
use super::atomic::atomic_update;
use super::bulk::shared_ends;
use super::operand::Reason;
use crate::ast::{Instruction, Operand};
use crate::exec::image::form::Step;
use crate::exec::image::{MapOp, TensorCopy, TensorMove};
use crate::exec::registers::{Slot, Width};
use crate::names::{Space, Type, Word};
use crate::scalar::Scalar;

/// Types of elements that reductions combine.
const REDUCED: [Type; 7] = [
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
    Type::F16,
    Type::Bf16,
    Type::F32,
];

impl Decoder<'_> {
    pub(super) fn bulk_tensor(&mut self, i: &Instruction) -> Result<(), Reason> {
        if i.has(Word::Other) {
            return Err(
                "this form of tensor copies is not supported: expected .tile, .im2col or \
                 .im2col_no_offs, without .cta_group"
                    .to_owned(),
            );
        }
        let dimensions = dimensions(i)?;
        let (map, coordinates, rest) = self.map_and_place(i, dimensions)?;
        // Where data is cached changes nothing here.
        let rest = match (i.has(Word::L2CacheHint), rest) {
            (false, rest) => rest,
            (true, [rest @ .., policy]) => {
                self.source(policy, Type::B64)?;
                rest
            }
            (true, []) => return Err("the cache policy is missing".to_owned()),
        };
        let im2col = i.has(Word::Im2col) || i.has(Word::Im2colNoOffs);
        if im2col && dimensions < 3 {
            return Err("images have 3 to 5 dimensions".to_owned());
        }
        let (moves, rest) = self.tensor_move(i, rest)?;
        let (offsets, rest) = match (im2col, i.has(Word::Im2col), rest) {
            (true, true, [offsets, rest @ ..]) => {
                let offsets = self.elements(offsets, Type::B16, false)?;
                if offsets.len() != dimensions - 2 {
                    let wanted = dimensions - 2;
                    return Err(format!(
                        "{} offsets where there are {wanted}",
                        offsets.len()
                    ));
                }
                (Some(offsets), rest)
            }
            (true, true, []) => return Err("the offsets are missing".to_owned()),
            (im2col, _, rest) => (im2col.then(Vec::new), rest),
        };
        let moves = match (moves, i.has(Word::MulticastCluster), rest) {
            (TensorMove::Load { to, arrives, .. }, true, [blocks]) => TensorMove::Load {
                to,
                arrives,
                blocks: Some(self.source(blocks, Type::B16)?),
            },
            (moves, false, []) => moves,
            _ => return Err("wrong number of operands".to_owned()),
        };
        self.map_op(MapOp::Copy(TensorCopy {
            map,
            coordinates,
            offsets,
            moves,
        }));
        Ok(())
    }

    pub(super) fn map_op(&mut self, op: MapOp) {
        let map = self.image.maps.len() as u32;
        self.image.maps.push(op);
        self.step(Step::TensorMap { map });
    }

    /// The map with the coordinates, and the operands beside it.
    fn map_and_place<'i>(
        &mut self,
        i: &'i Instruction,
        dimensions: usize,
    ) -> Result<(Slot, Vec<Slot>, &'i [Operand]), Reason> {
        // The target of a load comes before it, the source of a store after.
        let (first, rest) = match &i.operands[..] {
            [first @ Operand::Indexed(_), rest @ ..] => (first, rest),
            [_, second @ Operand::Indexed(_), ..] => (second, &i.operands[..]),
            _ => return Err("[map, {coordinates}] expected".to_owned()),
        };
        let Operand::Indexed(items) = first else {
            return Err("[map, {coordinates}] expected".to_owned());
        };
        let [map, coordinates] = &items[..] else {
            return Err("[map, {coordinates}] expected".to_owned());
        };
        let map = self.source(map, Type::B64)?;
        if map.width != Width::Double {
            return Err("an address of a map that is not 64 bits wide".to_owned());
        }
        let coordinates = self.elements(coordinates, Type::B32, false)?;
        if coordinates.len() != dimensions {
            let given = coordinates.len();
            return Err(format!(
                "{given} coordinates where .{dimensions}d has {dimensions}"
            ));
        }
        Ok((map, coordinates, rest))
    }

    /// The move, and the operands that are left: offsets and blocks.
    fn tensor_move<'i>(
        &mut self,
        i: &'i Instruction,
        operands: &'i [Operand],
    ) -> Result<(TensorMove, &'i [Operand]), Reason> {
        if i.has(Word::Prefetch) {
            return Ok((TensorMove::Prefetch, operands));
        }
        match (shared_ends(i)?, operands) {
            ([true, false], [to, _map, barrier, rest @ ..]) if i.has(Word::MbarrierBytes) => {
                let to = self.bulk_end(i, to, true)?;
                let arrives = self.bytes_arrive(i, Some(barrier))?;
                let load = TensorMove::Load {
                    to,
                    arrives,
                    blocks: None,
                };
                Ok((load, rest))
            }
            ([false, true], [from, rest @ ..]) if i.has(Word::BulkGroup) => {
                let from = self.bulk_end(i, from, true)?;
                if i.has(Word::Im2col) {
                    return Err("stores of pixels have .im2col_no_offs".to_owned());
                }
                let store = if i.has(Word::Reduce) {
                    TensorMove::Reduce {
                        from,
                        updates: self.tensor_updates(i)?,
                    }
                } else {
                    TensorMove::Store { from }
                };
                Ok((store, rest))
            }
            _ => Err(
                "expected a copy from .global to .shared with .mbarrier::complete_tx::bytes, or \
                 from .shared::cta to .global with .bulk_group"
                    .to_owned(),
            ),
        }
    }

    /// The new values of elements, for the types that the operator has (PTX
    /// ISA, `cp.reduce.async.bulk.tensor`).
    fn tensor_updates(&mut self, i: &Instruction) -> Result<Vec<(Type, Scalar)>, Reason> {
        use Word::*;
        let word = i.one_of(&[Add, Min, Max, Inc, Dec, And, Or, Xor]);
        let word = word.ok_or("an operator that is not supported")?;
        let has = |ty: Type| match word {
            Add => ty != Type::S64,
            Min | Max => ty != Type::F32,
            Inc | Dec => ty == Type::U32,
            _ => !ty.is_float(),
        };
        // Sums of numbers depend on their order.
        self.image.ordered |= word == Add;
        // In shared memory's way: sums keep subnormal numbers.
        let update = |ty: Type| Some((ty, atomic_update(word, ty, Some(Space::Shared))?));
        Ok(REDUCED
            .into_iter()
            .filter(|ty| has(*ty))
            .filter_map(update)
            .collect())
    }
}

fn dimensions(i: &Instruction) -> Result<usize, Reason> {
    const WORDS: [Word; 5] = [Word::D1, Word::D2, Word::D3, Word::D4, Word::D5];
    let given = WORDS.iter().position(|word| i.has(*word));
    let given = given.ok_or("expected .1d, .2d, .3d, .4d or .5d")?;
    Ok(given + 1)
}
