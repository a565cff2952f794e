//! What observers want to know of an instruction.

use crate::ptx::ast::{Instruction, Register};
use crate::ptx::exec::api::Kind;
use crate::ptx::names::Word;
use crate::ptx::opcodes::Class;
use crate::ptx::operands;

/// Registers that an instruction reads and writes.
pub(super) fn accessed(i: &Instruction) -> (Vec<Register>, Vec<Register>) {
    (operands::reads(i), operands::writes(i))
}

/// What it is, for traces.
pub(super) fn kind(i: &Instruction) -> Kind {
    match i.opcode.class() {
        // Textures have a path of their own, with the latency of global memory
        // at least; traces have them as what takes long.
        Class::Texture => Kind::Other,
        Class::Load | Class::LoadMatrix => Kind::Load,
        // An asynchronous copy is seen where it writes shared memory.
        Class::Store | Class::StoreMatrix | Class::Copy => Kind::Store,
        Class::Atomic => Kind::Atomic,
        Class::Barrier if !i.has(Word::Warp) => Kind::Barrier,
        Class::Barrier | Class::Warp => Kind::Warp,
        Class::Branch
        | Class::IndexedBranch
        | Class::Call
        | Class::Return
        | Class::Exit
        | Class::Trap => Kind::Branch,
        Class::Function => Kind::Sfu,
        Class::Quotient if i.ty(0).is_some_and(|t| t.is_float()) => Kind::Sfu,
        Class::Tensor if i.has(Word::Load) => Kind::Load,
        Class::Tensor
            if i.one_of(&[Word::Fence, Word::CommitGroup, Word::WaitGroup])
                .is_some() =>
        {
            Kind::Other
        }
        Class::Tensor if i.has(Word::Store) => Kind::Store,
        Class::Tensor => Kind::Tensor,
        Class::Fence | Class::Mbarrier | Class::Hint => Kind::Other,
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
        | Class::Refused(_) => Kind::Alu,
    }
}
