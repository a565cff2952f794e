//! `tensormap.replace` and `tensormap.cp_fenceproxy`.

use super::Decoder;
use super::operand::Reason;
use crate::ast::{Immediate, Instruction, Operand};
use crate::exec::image::{MapMove, MapOp, MapReplace};
use crate::exec::tensor_map::{BYTES, Field};
use crate::names::{Space, Type, Word};

/// Words that name a field.
const FIELDS: &[Word] = &[
    Word::GlobalAddress,
    Word::Rank,
    Word::BoxDim,
    Word::GlobalDim,
    Word::GlobalStride,
    Word::ElementStride,
    Word::Elemtype,
    Word::InterleaveLayout,
    Word::SwizzleMode,
    Word::SwizzleAtomicity,
    Word::FillMode,
];

impl Decoder<'_> {
    pub(super) fn tensor_map(&mut self, i: &Instruction) -> Result<(), Reason> {
        let op = match i.one_of(&[Word::Replace, Word::CpFenceproxy]) {
            Some(Word::Replace) => self.map_replace(i)?,
            Some(_) => self.map_move(i)?,
            None => return Err("expected .replace or .cp_fenceproxy".to_owned()),
        };
        self.map_op(op);
        Ok(())
    }

    /// The operands of `fence.proxy.tensormap::generic.acquire`.
    pub(super) fn fenced_map(&mut self, i: &Instruction) -> Result<(), Reason> {
        let [map, size] = &i.operands[..] else {
            return Err("the address of a map and its size expected".to_owned());
        };
        self.address(i, map)?;
        if number(size)? == BYTES as u64 {
            Ok(())
        } else {
            Err("a map has 128 bytes".to_owned())
        }
    }

    fn map_replace(&mut self, i: &Instruction) -> Result<MapOp, Reason> {
        if !i.has(Word::Tile) || !i.has(Word::B1024) {
            return Err("expected .tile and .b1024".to_owned());
        }
        let word = i.one_of(FIELDS).ok_or("a field that is not supported")?;
        let field = Field::named(word, 0).ok_or("a field that is not supported")?;
        let (place, at, value) = match (&i.operands[..], field.values()) {
            ([place, value], 1) => (place, 0, value),
            ([place, at, value], 2..) => (place, number(at)?, value),
            _ => return Err("wrong number of operands".to_owned()),
        };
        if at >= field.values() as u64 {
            let most = field.values() - 1;
            return Err(format!(
                "value {at} of .{}: expected 0 to {most}",
                word.text()
            ));
        }
        let field = Field::named(word, at as usize).unwrap_or(field);
        let wide = matches!(field, Field::Address | Field::Stride(_));
        let ty = if wide { Type::B64 } else { Type::B32 };
        if i.ty(0) != Some(ty) {
            return Err(format!("expected .{} with .{}", ty.text(), word.text()));
        }
        let (space, from, offset) = self.address(i, place)?;
        if !matches!(space, None | Some(Space::Global | Space::Shared)) {
            return Err("a map in neither .global nor .shared::cta memory".to_owned());
        }
        Ok(MapOp::Replace(MapReplace {
            space,
            from,
            offset,
            field,
            value: self.source(value, ty)?,
        }))
    }

    fn map_move(&mut self, i: &Instruction) -> Result<MapOp, Reason> {
        use Word::{Aligned, Release, Sync, TensormapGeneric};
        if [TensormapGeneric, Release, Sync, Aligned]
            .iter()
            .any(|w| !i.has(*w))
        {
            return Err("expected .tensormap::generic.release.SCOPE.sync.aligned".to_owned());
        }
        let [to, from, size] = &i.operands[..] else {
            return Err("two addresses and a size expected".to_owned());
        };
        if number(size)? != BYTES as u64 {
            return Err("a map has 128 bytes".to_owned());
        }
        Ok(MapOp::Move(MapMove {
            to: self.bulk_end(i, to, false)?,
            from: self.bulk_end(i, from, true)?,
        }))
    }
}

fn number(operand: &Operand) -> Result<u64, Reason> {
    match operand {
        Operand::Immediate(Immediate::Integer(n)) => {
            u64::try_from(*n).map_err(|_| "a number below zero".to_owned())
        }
        _ => Err("a constant expected".to_owned()),
    }
}
