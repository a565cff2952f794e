//! Parameters that are tensor maps, or addresses of them.

use super::usage::{Part, loaded, origins};
use spadkit_ptx::analysis::writes;
use spadkit_ptx::{Function, Instruction, Opcode, Operand, Register, Symbol, Word};
use std::collections::BTreeMap;

/// A tensor map, as far as the copies that use it show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MapUse {
    /// Dimensions of the tensor.
    pub rank: usize,
    /// Whether they move pixels of an image.
    pub image: bool,
    pub reads: bool,
    pub writes: bool,
}

/// The tensor maps with which an entry copies parts of tensors, by index of the
/// parameter's variable. Addresses have `width` bits.
pub(super) fn maps(function: &Function, width: u32) -> BTreeMap<u32, MapUse> {
    let begin = |i: &Instruction| match addressed(i) {
        Some(begin) => vec![begin],
        None => loaded(i),
    };
    let origins = origins(function, width, begin);
    let mut found: BTreeMap<u32, MapUse> = BTreeMap::new();
    for i in function.instructions.iter().filter(|i| i.has(Word::Tensor)) {
        let (Opcode::Cp, Some(rank)) = (i.opcode, rank(i)) else {
            continue;
        };
        let (at, map) = match i.operands.iter().enumerate().find_map(map_operand) {
            Some(found) => found,
            None => continue,
        };
        let params = match map {
            Operand::Variable(Symbol::Local(param), _) => vec![*param],
            Operand::Register(r) => {
                let parts = origins.get(r).into_iter().flatten();
                parts.filter(|p| p.byte == 0).map(|p| p.param).collect()
            }
            _ => continue,
        };
        for param in params {
            let used = found.entry(param).or_default();
            used.rank = rank;
            used.image |= i.has(Word::Im2col) || i.has(Word::Im2colNoOffs);
            // The target stands first; that of a prefetch is a cache.
            let writes = at == 0 && !i.has(Word::Prefetch);
            used.reads |= !writes || i.has(Word::Reduce);
            used.writes |= writes;
        }
    }
    found
}

/// The map of `[map, {coordinates}]`, with the index of the operand.
fn map_operand((at, operand): (usize, &Operand)) -> Option<(usize, &Operand)> {
    match operand {
        Operand::Indexed(items) => Some((at, items.first()?)),
        _ => None,
    }
}

fn rank(i: &Instruction) -> Option<usize> {
    const WORDS: [Word; 5] = [Word::D1, Word::D2, Word::D3, Word::D4, Word::D5];
    Some(WORDS.iter().position(|word| i.has(*word))? + 1)
}

/// The parameter whose address `mov` takes, and the register that has it.
fn addressed(i: &Instruction) -> Option<(Register, Part)> {
    match i.operands.get(1) {
        Some(Operand::Variable(Symbol::Local(param), 0)) if i.opcode == Opcode::Mov => {
            let register = *writes(i).first()?;
            Some((
                register,
                Part {
                    param: *param,
                    byte: 0,
                },
            ))
        }
        _ => None,
    }
}
