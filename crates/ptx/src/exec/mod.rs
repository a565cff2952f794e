//! Executes PTX, a warp at a time, in lockstep.
//!
//! [`Program`] is a decoded module, [`Memory`] the global memory with the
//! buffers of a launch, [`Program::run`] runs an entry. Every instruction is
//! executed for all lanes of a warp; those that the mask excludes keep their
//! values. Thread blocks run on all cores; where what a kernel computes may
//! depend on the order of its atomics, they run one after the other.
//!
//! A module uses only those below it:
//!
//! | module | holds |
//! |---|---|
//! | `run` | a run of a launch, from its check to its outcome |
//! | `program` | decoded modules, launches of their entries |
//! | `plan` | which blocks run together, and on which threads |
//! | `sum` | outcomes of blocks, put together |
//! | `cluster`, `block` | blocks that run together; a thread block: its warps in turn |
//! | `warp` | a warp: its paths, and the loop that executes one |
//! | `race_report`, `advice` | races as findings, by pair of lines; what would order them |
//! | `decode` | PTX to the form that is executed |
//! | `execute` | an instruction of that form; exchanges, barriers, textures |
//! | `tensor`, `asynchronous`, `system` | products of matrices; copies and `mbarrier`; `malloc`, `printf` |
//! | `access` | loads, stores and atomics; addresses to pointers |
//! | `check` | races, reads of what nobody has written |
//! | `machine` | the state that instructions work on |
//! | `memory`, `lanes` | global memory; common instructions with vector instructions |
//! | `image` | the form that is executed |
//! | `race`, `texture`, `tensor_map` | earlier accesses and what orders them; texels; maps of tensors |
//! | `ordering` | strength and scope of accesses, fences |
//! | `registers`, `api` | the register file; inputs and results of a run |

mod access;
mod advice;
mod api;
mod asynchronous;
mod block;
mod check;
mod cluster;
mod decode;
mod execute;
mod image;
mod lanes;
mod machine;
mod memory;
mod ordering;
mod plan;
mod program;
mod race;
mod race_report;
mod registers;
mod run;
mod sum;
mod system;
mod tensor;
mod tensor_map;
#[cfg(test)]
mod tests;
mod texture;
mod warp;

pub use api::reported::{
    BarrierEvent, BarrierLane, BarrierOp, CopyEvent, Meeting, PeerCopy, PeerEvent, Piece,
    TensorRows,
};
pub use api::{
    Access, BlockSink, BufferId, DEFAULT_LIMIT, Event, Finding, FindingKind, HEAP_BYTES,
    InstructionInfo, InstructionKind, Launch, Options, Outcome, SharedPart, Sink,
};
pub use machine::phase::{Arrival, BarrierObject};
pub use memory::Memory;
pub use program::{Parameter, Program, SymbolInfo};
pub use tensor_map::{Boxed, TensorMap, Wrong};
pub use texture::{AddressMode, Channel, Format, Geometry, Sampler, Shape, Texture};
