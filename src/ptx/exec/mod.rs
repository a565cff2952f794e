//! Executes PTX, a warp at a time, in lockstep.
//!
//! [`Program`] is a decoded module, [`Memory`] the global memory with the
//! buffers of a launch, [`Program::run`] runs an entry. Every instruction is
//! executed for all lanes of a warp; those that the mask excludes keep their
//! values. Thread blocks run on all cores; where what a kernel computes may
//! depend on the order of its atomics, they run one after the other.

mod access;
mod api;
mod block;
mod decode;
mod exchange;
mod image;
mod lanes;
mod machine;
mod memory;
mod print;
mod program;
mod race;
mod resolve;
mod scalar;
mod shared;
mod soft;
mod step;
#[cfg(test)]
mod tests;
mod warp;

pub use api::{
    Access, BlockSink, Event, Finding, FindingKind, InstructionInfo, Kind, Launch, Options,
    Outcome, Sink,
};
pub use memory::{BufferId, Memory};
pub use program::{Parameter, Program, SymbolInfo};
