//! The unit that an instruction goes to, and the cache that its loads go past.

use spadkit_ptx::ast::Instruction;
use spadkit_ptx::exec::{InstructionInfo, InstructionKind};
use spadkit_ptx::names::{Type, Word};
use spadkit_ptx::opcodes::Opcode;
use spadkit_sm::sm::Unit;

/// The unit of an instruction that is not that of its kind in a trace.
pub(super) fn of(info: &InstructionInfo, instruction: Option<&Instruction>) -> Option<Unit> {
    let i = instruction?;
    match (info.kind, i.opcode) {
        (InstructionKind::Sfu, _) => None,
        (InstructionKind::Warp, Opcode::Shfl | Opcode::Redux | Opcode::Match) => {
            Some(Unit::Exchange)
        }
        (InstructionKind::Alu, _) => arithmetic(i),
        _ => Some(Unit::Free),
    }
}

fn arithmetic(i: &Instruction) -> Option<Unit> {
    use Opcode::{Abs, Add, Cvt, Cvta, Fma, Mad, Mad24, Mul, Mul24, Neg, Sub};
    let types = || (0..2).filter_map(|n| i.ty(n));
    let is_float = types().next().is_some_and(|ty| ty.is_float());
    match i.opcode {
        _ if types().any(|ty| ty == Type::F64) => Some(Unit::Double),
        // ptxas leaves most of these out, or makes them a part of their neighbours.
        Cvt | Cvta | Abs | Neg => Some(Unit::Free),
        _ if i.ty(0) == Some(Type::Pred) => Some(Unit::Free),
        Add | Sub if is_float => None,
        // Products of integers go to the multipliers of floating-point numbers.
        Mul | Mad | Fma | Mul24 | Mad24 => None,
        _ => Some(Unit::Integer),
    }
}

/// Whether what it loads from global memory is not taken from the L1: another cache is named,
/// or the stores of other SMs have to be seen.
pub(super) fn goes_past_l1(i: &Instruction) -> bool {
    let names = [
        Word::Cg,
        Word::Cv,
        Word::Volatile,
        Word::Mmio,
        Word::L1NoAllocate,
    ];
    let strong = i.has(Word::Relaxed) || i.has(Word::Acquire);
    i.one_of(&names).is_some() || strong && !i.has(Word::Cta)
}
