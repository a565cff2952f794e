//! What observers want to know of an instruction.

use crate::ptx::ast::{Instruction, Register};
use crate::ptx::exec::api::Kind;
use crate::ptx::names::{Opcode, Word};
use crate::ptx::operands;

/// Registers that an instruction reads and writes.
pub(super) fn accessed(i: &Instruction) -> (Vec<Register>, Vec<Register>) {
    (operands::reads(i), operands::writes(i))
}

/// What it is, for traces.
pub(super) fn kind(i: &Instruction) -> Kind {
    use Opcode::*;
    match i.opcode {
        Ld | Ldu | Ldmatrix => Kind::Load,
        // An asynchronous copy is seen where it writes shared memory.
        St | Stmatrix | Cp => Kind::Store,
        Atom | Red => Kind::Atomic,
        Bar | Barrier if !i.has(Word::Warp) => Kind::Barrier,
        Bar | Shfl | Vote | Match | Redux | Activemask | Elect | Movmatrix => Kind::Warp,
        Bra | Brx | Call | Ret | Exit | Trap => Kind::Branch,
        Rcp | Sqrt | Rsqrt | Sin | Cos | Lg2 | Ex2 | Tanh => Kind::Sfu,
        Div if i.ty(0).is_some_and(|t| t.is_float()) => Kind::Sfu,
        Membar | Fence | Prefetch | Prefetchu | Nanosleep | Pmevent | Brkpt | Discard => {
            Kind::Other
        }
        _ => Kind::Alu,
    }
}
