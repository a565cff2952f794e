//! What observers want to know of an instruction.

use crate::ptx::ast::{Base, Instruction, Operand, Register};
use crate::ptx::exec::api::Kind;
use crate::ptx::names::{Opcode, Word};

/// Registers that an instruction reads and writes.
pub(super) fn accessed(i: &Instruction) -> (Vec<Register>, Vec<Register>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    reads.extend(i.guard.map(|g| g.register));
    let barrier = matches!(i.opcode, Opcode::Bar | Opcode::Barrier);
    let only_reads = matches!(
        i.opcode,
        Opcode::St
            | Opcode::Red
            | Opcode::Bra
            | Opcode::Brx
            | Opcode::Cp
            | Opcode::Stmatrix
            | Opcode::Prefetch
            | Opcode::Nanosleep
            | Opcode::Ret
            | Opcode::Exit
            | Opcode::Membar
            | Opcode::Fence
            | Opcode::Prefetchu
            | Opcode::Discard
    );
    let writes_first = !only_reads && (!barrier || i.has(Word::Red));
    for (at, operand) in i.operands.iter().enumerate() {
        let address = matches!(operand, Operand::Address(..));
        let list = if at == 0 && writes_first && !address {
            &mut writes
        } else {
            &mut reads
        };
        collect(operand, list);
    }
    (reads, writes)
}

fn collect(operand: &Operand, list: &mut Vec<Register>) {
    match operand {
        Operand::Register(r) | Operand::Negated(r) => list.push(*r),
        Operand::Address(Base::Register(r), _) => list.push(*r),
        Operand::Vector(items) | Operand::List(items) => {
            items.iter().for_each(|o| collect(o, list))
        }
        Operand::Pair(pair) => {
            collect(&pair.0, list);
            collect(&pair.1, list);
        }
        _ => {}
    }
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
