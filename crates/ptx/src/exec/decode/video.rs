//! Forms of video instructions.

use crate::ast::{Instruction, Operand};
use crate::names::{Type, Word};
use crate::opcodes::Opcode;
use crate::scalar::video;

/// The error.
type Reason = String;

/// Checks the form of a video instruction.
pub(super) fn check(i: &Instruction) -> Result<(), Reason> {
    types(i)?;
    selectors(i)?;
    third(i)
}

fn types(i: &Instruction) -> Result<(), Reason> {
    let text = i.opcode.text();
    let wanted = if video::compares(i.opcode) { 2 } else { 3 };
    let all: Vec<Type> = i.types().collect();
    if all.len() != wanted || all.iter().any(|t| !matches!(t, Type::U32 | Type::S32)) {
        return Err(format!(
            "`{text}` has {wanted} types: expected .u32 or .s32 for each"
        ));
    }
    let shift = matches!(i.opcode, Opcode::Vshl | Opcode::Vshr);
    let modes = i.one_of(&[Word::Clamp, Word::Wrap]).is_some();
    if shift && (all[2] != Type::U32 || !modes) {
        return Err(format!(
            "`{text}` shifts by .u32, and needs .clamp or .wrap"
        ));
    }
    use Word::{Eq, Ge, Gt, Le, Lt, Ne};
    if video::compares(i.opcode) && i.one_of(&[Eq, Ne, Lt, Le, Gt, Ge]).is_none() {
        return Err(format!(
            "`{text}` compares: expected one of .eq .ne .lt .le .gt .ge"
        ));
    }
    Ok(())
}

/// One part of an operand, or one for each lane; of the result those that are
/// written.
fn selectors(i: &Instruction) -> Result<(), Reason> {
    let lanes = video::lanes(i.opcode) as usize;
    for (at, operand) in i.operands.iter().enumerate() {
        let Operand::Selected(_, selector) = operand else {
            continue;
        };
        let parts = selector.parts();
        let good = match (lanes, at) {
            (_, 3) => false,
            (1, 0) if i.opcode == Opcode::Vmad => false,
            (1, _) => {
                parts.len() == 1 && usize::from(parts[0]) < if selector.halves { 2 } else { 4 }
            }
            (_, 0) => {
                let ascending = parts.is_sorted_by(|a, b| a < b);
                ascending && parts.iter().all(|&p| usize::from(p) < lanes)
            }
            _ => parts.len() == lanes,
        };
        if !good || lanes > 1 && selector.halves != (lanes == 2) {
            let expected = match lanes {
                1 => "one part of a source or of the result, as .b0 or .h1",
                2 => "halves, as .h10 and .h32, and of the result those written, as .h1",
                _ => "bytes, as .b3210 and .b7654, and of the result those written, as .b20",
            };
            return Err(format!(
                "operand {} of `{}` has an invalid selector: expected {expected}",
                at + 1,
                i.opcode.text()
            ));
        }
    }
    Ok(())
}

/// The third operand: of the second operation, or what a part is put into.
fn third(i: &Instruction) -> Result<(), Reason> {
    let text = i.opcode.text();
    let second = i.one_of(&[Word::Add, Word::Min, Word::Max]);
    let into = matches!(i.operands.first(), Some(Operand::Selected(..)));
    let (lanes, given) = (video::lanes(i.opcode), i.operands.len() == 4);
    match second {
        Some(word) if lanes > 1 && word != Word::Add || i.opcode == Opcode::Vmad => Err(format!(
            "`{text}` has no .{}",
            second.map_or("", |w| w.text())
        )),
        Some(_) if lanes > 1 && i.has(Word::Sat) => {
            Err(format!("`{text}` has either .sat or .add"))
        }
        Some(_) if lanes == 1 && into => Err(format!(
            "`{text}` has either a second operation or a result in a part of the word"
        )),
        _ => {
            let needed = lanes > 1 || second.is_some() || into || i.opcode == Opcode::Vmad;
            match (needed, given) {
                (true, false) => Err(format!("`{text}` needs a third source here")),
                (false, true) => Err(format!("`{text}` has two sources here")),
                _ => Ok(()),
            }
        }
    }
}
