//! Comparisons and selections.

use super::float::flush;
use super::soft::F16;
use super::{Definition, definition, extend, f32_of, flushed};
use crate::ast::Instruction;
use crate::names::{Modifier, Type, Word};
use crate::opcodes::Opcode;
use std::cmp::Ordering;

const COMPARISONS: &[Word] = &[
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

/// The orders of two values that a comparison accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepts {
    pub less: bool,
    pub equal: bool,
    pub greater: bool,
    pub unordered: bool,
}

impl Accepts {
    /// The orders that the comparison of an instruction accepts.
    pub fn of(i: &Instruction) -> Option<Accepts> {
        use Word::*;
        let comparison = i.one_of(COMPARISONS)?;
        let less = matches!(comparison, Lt | Le | Lo | Ls | Ltu | Leu | Ne | Neu | Num);
        let equal = matches!(comparison, Eq | Le | Ge | Ls | Hs | Equ | Leu | Geu | Num);
        let greater = matches!(comparison, Gt | Ge | Hi | Hs | Gtu | Geu | Ne | Neu | Num);
        let unordered = matches!(comparison, Equ | Neu | Ltu | Leu | Gtu | Geu | Nan);
        Some(Accepts {
            less,
            equal,
            greater,
            unordered,
        })
    }

    fn has(self, order: Option<Ordering>) -> bool {
        match order {
            Some(Ordering::Less) => self.less,
            Some(Ordering::Equal) => self.equal,
            Some(Ordering::Greater) => self.greater,
            None => self.unordered,
        }
    }
}

/// The order of two values of the instruction's type.
fn ordering(i: &Instruction, ty: Type) -> impl Fn(u64, u64) -> Option<Ordering> + Copy + use<> {
    let ftz = i.has(Word::Ftz);
    // lo, ls, hi, hs compare as unsigned.
    let key = super::integer::order_key(ty);
    move |a, b| match ty {
        Type::F32 if ftz => f32_of(flushed(a)).partial_cmp(&f32_of(flushed(b))),
        Type::F32 => f32_of(a).partial_cmp(&f32_of(b)),
        Type::F64 => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        Type::F16 => {
            let [a, b] = [a, b].map(|x| if ftz { flush(F16, x & 0xffff) } else { x });
            half::f16::from_bits(a as u16).partial_cmp(&half::f16::from_bits(b as u16))
        }
        Type::Bf16 => half::bf16::from_bits(a as u16).partial_cmp(&half::bf16::from_bits(b as u16)),
        _ => Some(key(extend(a, ty)).cmp(&key(extend(b, ty)))),
    }
}

pub(super) fn define(i: &Instruction) -> Option<Definition> {
    match i.opcode {
        Opcode::Setp => setp(i),
        Opcode::Set => set(i),
        Opcode::Selp => definition(i, |x| if x[2] & 1 != 0 { x[0] } else { x[1] }),
        Opcode::Slct => slct(i),
        _ => testp(i),
    }
}

/// The word by which a comparison is combined with a predicate.
fn combination(i: &Instruction) -> Option<Word> {
    // The comparison comes first, the combination after it.
    let words = i.modifiers.iter().filter_map(|m| match m {
        Modifier::Word(w) => Some(*w),
        _ => None,
    });
    words
        .into_iter()
        .find(|w| matches!(w, Word::And | Word::Or | Word::Xor))
}

fn combine(how: Option<Word>, a: bool, b: bool) -> bool {
    match how {
        None => a,
        Some(Word::And) => a && b,
        Some(Word::Or) => a || b,
        _ => a ^ b,
    }
}

fn setp(i: &Instruction) -> Option<Definition> {
    let ty = i.ty(0)?;
    let accepts = Accepts::of(i)?;
    let how = combination(i);
    if matches!(ty, Type::F16x2 | Type::Bf16x2) {
        let half = if ty == Type::F16x2 {
            Type::F16
        } else {
            Type::Bf16
        };
        let order = ordering(i, half);
        return Some(Definition {
            compute: Box::new(move |x| {
                let low = accepts.has(order(x[0] & 0xffff, x[1] & 0xffff));
                let high = accepts.has(order(x[0] >> 16, x[1] >> 16));
                let c = x[2] & 1 != 0;
                [combine(how, low, c), combine(how, high, c)].map(u64::from)
            }),
            result: Type::Pred,
            sources: vec![ty, ty, Type::Pred],
            carry_in: false,
            carry_out: false,
        });
    }
    let order = ordering(i, ty);
    Some(Definition {
        compute: Box::new(move |x| {
            let result = accepts.has(order(x[0], x[1]));
            let c = x[2] & 1 != 0;
            [combine(how, result, c), combine(how, !result, c)].map(u64::from)
        }),
        result: Type::Pred,
        sources: vec![ty, ty, Type::Pred],
        carry_in: false,
        carry_out: false,
    })
}

fn set(i: &Instruction) -> Option<Definition> {
    let (result, ty) = (i.ty(0)?, i.ty(1)?);
    let accepts = Accepts::of(i)?;
    let how = combination(i);
    let (half, packed) = match ty {
        Type::F16x2 => (Type::F16, true),
        Type::Bf16x2 => (Type::Bf16, true),
        ty => (ty, false),
    };
    let order = ordering(i, half);
    let one = match result {
        Type::F32 => u64::from(1.0f32.to_bits()),
        Type::F16 | Type::F16x2 => 0x3c00,
        Type::Bf16 | Type::Bf16x2 => 0x3f80,
        _ if packed => 0xffff,
        _ => u64::from(u32::MAX),
    };
    definition(i, move |x| {
        let c = x[2] & 1 != 0;
        let value = |a, b| {
            if combine(how, accepts.has(order(a, b)), c) {
                one
            } else {
                0
            }
        };
        if packed {
            value(x[0] & 0xffff, x[1] & 0xffff)
                | value(x[0] >> 16 & 0xffff, x[1] >> 16 & 0xffff) << 16
        } else {
            value(x[0], x[1])
        }
    })
}

fn slct(i: &Instruction) -> Option<Definition> {
    let by = i.ty(1)?;
    let ftz = i.has(Word::Ftz);
    definition(i, move |x| {
        let first = match by {
            Type::F32 if ftz => f32_of(flushed(x[2])) >= 0.0,
            Type::F32 => f32_of(x[2]) >= 0.0,
            _ => x[2] as i32 >= 0,
        };
        if first { x[0] } else { x[1] }
    })
}

fn testp(i: &Instruction) -> Option<Definition> {
    use Word::*;
    let ty = i.ty(0)?;
    let class = i.one_of(&[Finite, Infinite, Number, Notanumber, Normal, Subnormal])?;
    if !matches!(ty, Type::F32 | Type::F64) {
        return None;
    }
    definition(i, move |x| {
        use std::num::FpCategory;
        let category = match ty {
            Type::F32 => f32_of(x[0]).classify(),
            _ => f64::from_bits(x[0]).classify(),
        };
        u64::from(match class {
            Finite => !matches!(category, FpCategory::Nan | FpCategory::Infinite),
            Infinite => category == FpCategory::Infinite,
            Number => category != FpCategory::Nan,
            Notanumber => category == FpCategory::Nan,
            // Zero counts as normal in the PTX ISA.
            Normal => matches!(category, FpCategory::Normal | FpCategory::Zero),
            _ => category == FpCategory::Subnormal,
        })
    })
}
