//! Facts about an instruction for observers.

use crate::ast::{Instruction, Register};
use crate::exec::api::InstructionKind;
use crate::names::Word;
use crate::opcodes::{Class, Opcode};
use crate::operands;

/// Registers that an instruction reads and writes.
pub(super) fn accessed(i: &Instruction) -> (Vec<Register>, Vec<Register>) {
    (operands::reads(i), operands::writes(i))
}

/// Whether all lanes of a warp have to execute it together, apart from
/// barriers.
pub(super) fn is_aligned(i: &Instruction) -> bool {
    // Products have a check of their own.
    let is_checked = match i.opcode {
        Opcode::Movmatrix | Opcode::Setmaxnreg => true,
        Opcode::Wgmma => !i.has(Word::MmaAsync),
        _ => matches!(i.opcode.class(), Class::LoadMatrix | Class::StoreMatrix),
    };
    is_checked && i.has(Word::Aligned)
}

/// Kind of an instruction, for traces.
pub(super) fn kind(i: &Instruction) -> InstructionKind {
    match i.opcode.class() {
        // Textures have a path of their own, with the latency of global memory
        // at least; traces have them as what takes long.
        Class::Texture => InstructionKind::Other,
        Class::Load | Class::LoadMatrix => InstructionKind::Load,
        // An asynchronous copy is seen where it writes shared memory.
        Class::Store | Class::StoreMatrix | Class::Copy => InstructionKind::Store,
        Class::Atomic => InstructionKind::Atomic,
        Class::Barrier if !i.has(Word::Warp) => InstructionKind::Barrier,
        Class::Barrier | Class::Warp => InstructionKind::Warp,
        Class::Branch
        | Class::IndexedBranch
        | Class::Call
        | Class::Return
        | Class::Exit
        | Class::Trap => InstructionKind::Branch,
        Class::Function => InstructionKind::Sfu,
        Class::Quotient if i.ty(0).is_some_and(|t| t.is_float()) => InstructionKind::Sfu,
        Class::Tensor if i.has(Word::Load) => InstructionKind::Load,
        Class::Tensor
            if i.one_of(&[Word::Fence, Word::CommitGroup, Word::WaitGroup])
                .is_some() =>
        {
            InstructionKind::Other
        }
        Class::Tensor if i.has(Word::Store) => InstructionKind::Store,
        Class::Tensor => InstructionKind::Tensor,
        Class::Fence | Class::Mbarrier | Class::TensorMap | Class::Hint => InstructionKind::Other,
        Class::Arithmetic
        | Class::Quotient
        | Class::Bits
        | Class::Compare
        | Class::Convert
        | Class::Video
        | Class::Move
        | Class::ConvertAddress
        | Class::TestSpace
        | Class::ClusterAddress
        | Class::Refused(_) => InstructionKind::Alu,
    }
}
