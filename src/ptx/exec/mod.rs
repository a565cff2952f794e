//! Executes PTX, a warp at a time, in lockstep.
//!
//! [`Program`] is a decoded module, [`Memory`] the global memory with the
//! buffers of a launch, [`Program::run`] runs an entry. Every instruction is
//! executed for all lanes of a warp; those that the mask excludes keep their
//! values. Thread blocks run on all cores; where what a kernel computes may
//! depend on the order of its atomics, they run one after the other.

mod access;
mod accumulators;
mod allocation;
mod api;
mod asynchronous;
mod barrier;
mod block;
mod buffer;
mod bulk;
mod bulk_tensor;
mod clock;
mod copies;
mod decode;
mod element;
mod exchange;
mod execute;
mod flights;
mod form;
mod global;
mod groups;
mod heap;
mod image;
mod lanes;
mod machine;
mod map_memory;
mod matrices;
mod mbarrier;
mod members;
mod memory;
mod object;
mod observe;
mod pair;
mod phase;
mod print;
mod program;
mod race;
mod raced;
mod reading;
mod registers;
mod reported;
mod resolve;
mod sampling;
mod scalar;
mod shared;
mod soft;
mod stalled;
mod step;
mod system;
mod tensor;
mod tensor_map;
#[cfg(test)]
mod tests;
mod texture;
mod unwritten;
mod warp;
mod warpgroup;
mod written;

pub use api::{
    Access, BlockSink, Event, Finding, FindingKind, HEAP_BYTES, InstructionInfo, Kind, Launch,
    Options, Outcome, Sink,
};
pub use memory::{BufferId, Memory};
pub(crate) use phase::{Arrival, Object as BarrierObject};
pub use program::{Parameter, Program, SymbolInfo};
pub use reported::{BarrierEvent, BarrierLane, BarrierOp, CopyEvent, Piece};
pub use tensor_map::{Boxed, TensorMap, Wrong};
pub use texture::{AddressMode, Channel, Format, Geometry, Sampler, Shape, Texture};

use super::ast::Instruction;
use super::names::Type;

/// What an instruction computes, where `operand` gives all of its source
/// operands (by number and type, zero-extended): the bits of its result. None
/// where it is no plain arithmetic.
pub(super) fn fold(
    instruction: &Instruction,
    operand: impl Fn(usize, Type) -> Option<u64>,
) -> Option<u64> {
    let definition = scalar::define(instruction)?;
    if definition.carry_in || definition.sources.len() > 4 {
        return None;
    }
    let mut inputs = [0; 4];
    for (n, &ty) in definition.sources.iter().enumerate() {
        inputs[n] = operand(n, ty)?;
    }
    Some((definition.compute)(&inputs)[0])
}
