//! Exchanges inside the warp, and barriers.

use super::Decoder;
use super::operand::Reason;
use crate::ast::{Instruction, Operand};
use crate::exec::execute::barrier::CLUSTER;
use crate::exec::image::form::{Form, Step};
use crate::exec::image::{BarrierOp, WarpOp};
use crate::exec::registers::{Slot, Width};
use crate::names::{Type, Word};
use crate::opcodes::Opcode;
use crate::scalar::{Scalar, float};

/// The modifier that says what an exchange does, if there are several.
fn variant(i: &Instruction) -> Option<Word> {
    use Word::*;
    match i.opcode {
        Opcode::Shfl => i.one_of(&[Up, Down, Bfly, Idx]),
        Opcode::Vote => i.one_of(&[All, Any, Uni, Ballot]),
        Opcode::Match => i.one_of(&[All, Any]),
        Opcode::Redux => i.one_of(&[Add, Min, Max, And, Or, Xor]),
        _ => None,
    }
}

/// Types of the operands that an exchange reads.
fn source_types(opcode: Opcode, ty: Type) -> Vec<Type> {
    match opcode {
        Opcode::Shfl => vec![Type::B32; 4],
        Opcode::Vote => vec![Type::Pred, Type::U32],
        Opcode::Match => vec![ty, Type::U32],
        Opcode::Redux | Opcode::Movmatrix => vec![Type::B32, Type::U32],
        _ => vec![Type::U32],
    }
}

/// The operation by which `redux` makes one of two numbers of .f32; none for integers.
fn combined(i: &Instruction, ty: Type) -> Result<Option<Scalar>, Reason> {
    if ty == Type::F32 {
        let wrong = "a reduction of .f32 must be .min or .max";
        return Ok(Some(float::extreme(i).ok_or(wrong)?));
    }
    if !matches!(ty, Type::B32 | Type::U32 | Type::S32) {
        return Err(format!(
            "`redux` has no type .{}: expected .b32, .u32, .s32 or .f32",
            ty.text()
        ));
    }
    match i.one_of(&[Word::BigNan, Word::Abs]) {
        Some(word) => Err(format!("`redux.{}` has no .{}", ty.text(), word.text())),
        None => Ok(None),
    }
}

impl Decoder<'_> {
    pub(super) fn exchange(&mut self, i: &Instruction) -> Result<(), Reason> {
        use Word::*;
        let sync = i.has(Sync);
        let Some((first, rest)) = i.operands.split_first() else {
            return Err("too few operands".to_owned());
        };
        let ty = i.ty(0).unwrap_or(Type::B32);
        let word = variant(i);
        let types = source_types(i.opcode, ty);
        let combine = match i.opcode {
            Opcode::Redux => combined(i, ty)?,
            _ => None,
        };
        let needed = usize::from(matches!(i.opcode, Opcode::Shfl)) * 3;
        if word.is_none()
            && !matches!(
                i.opcode,
                Opcode::Activemask | Opcode::Elect | Opcode::Movmatrix
            )
            || rest.len() > types.len()
            || rest.len() < needed + usize::from(sync)
        {
            return Err("this form is not supported".to_owned());
        }
        let sources = rest.iter().zip(types).map(|(o, t)| self.source(o, t));
        let sources: Vec<Slot> = sources.collect::<Result<_, _>>()?;
        let members = sources
            .last()
            .copied()
            .filter(|_| sync && i.opcode != Opcode::Movmatrix);
        if members.is_some_and(|m| m.width != Width::Word) {
            return Err("a member mask that is not 32 bits wide".to_owned());
        }
        let predicate = i.opcode == Opcode::Vote && word != Some(Ballot);
        let (result, second) =
            self.targets(first, if predicate { Type::Pred } else { Type::B32 })?;
        if i.opcode == Opcode::Vote && predicate != (result.width == Width::Mask) {
            return Err("a result of another type".to_owned());
        }
        let exchange = self.image.exchanges.len() as u32;
        self.image.exchanges.push(WarpOp {
            opcode: i.opcode,
            qualifiers: i.modifiers,
            word,
            ty,
            sources,
            result,
            second,
            combine,
        });
        self.push(match members {
            Some(slot) => Form::Together {
                members: slot.at,
                exchange: Some(exchange),
            },
            None => Form::Step(Step::Exchange { exchange }),
        });
        Ok(())
    }

    pub(super) fn barrier(&mut self, i: &Instruction) -> Result<(), Reason> {
        use Word::*;
        if i.has(Cluster) {
            return self.cluster_barrier(i);
        }
        if i.has(Warp) {
            let [members] = &i.operands[..] else {
                return Err("a mask expected".to_owned());
            };
            let members = self.source(members, Type::B32)?;
            self.push(Form::Together {
                members: members.at,
                exchange: None,
            });
            return Ok(());
        }
        let reduction = i.has(Red);
        let mut operands = i.operands.iter();
        let result = if reduction { operands.next() } else { None };
        let predicate = if reduction { i.operands.last() } else { None };
        let middle = i.operands.len().saturating_sub(usize::from(reduction) * 2);
        let middle: Vec<&Operand> = operands.take(middle).collect();
        let number = self.source(middle.first().ok_or("no number")?, Type::U32)?;
        let count = match middle.get(1) {
            Some(operand) => Some(self.source(operand, Type::U32)?),
            None => None,
        };
        let reduction = match (result, predicate, i.one_of(&[Popc, And, Or])) {
            (Some(result), Some(predicate), Some(word)) => {
                let ty = if word == Popc { Type::U32 } else { Type::Pred };
                Some((
                    word,
                    self.source(predicate, Type::Pred)?,
                    self.target(result, ty)?,
                ))
            }
            (Some(_), ..) => return Err("this form is not supported".to_owned()),
            _ => None,
        };
        let barrier = self.image.barriers.len() as u32;
        self.image.barriers.push(BarrierOp {
            number,
            count,
            arrive_only: i.has(Arrive),
            aligned: i.opcode == Opcode::Bar || i.has(Aligned),
            cluster: None,
            reduction,
        });
        self.push(Form::Barrier { barrier });
        Ok(())
    }

    /// `barrier.cluster`
    fn cluster_barrier(&mut self, i: &Instruction) -> Result<(), Reason> {
        if !i.operands.is_empty() {
            return Err("`barrier.cluster` has no operands".to_owned());
        }
        let arrive_only = match i.one_of(&[Word::Arrive, Word::Wait]) {
            Some(Word::Arrive) => true,
            Some(_) => false,
            None => return Err("expected .arrive or .wait".to_owned()),
        };
        let number = self.constant(CLUSTER.into(), Width::Word);
        let barrier = self.image.barriers.len() as u32;
        self.image.barriers.push(BarrierOp {
            number,
            count: None,
            arrive_only,
            aligned: i.has(Word::Aligned),
            cluster: Some(!i.has(Word::Relaxed)),
            reduction: None,
        });
        self.push(Form::Barrier { barrier });
        Ok(())
    }
}
