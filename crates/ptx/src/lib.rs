//! PTX, the assembly language that nvcc, NVRTC and clang write: front end,
//! control-flow graph, static analysis, and an executor.
//!
//! ```text
//!  text ── Module::parse ──▶ ast::Module ──┬──▶ Cfg          blocks and edges
//!                               │          ├──▶ analysis     addresses, liveness, known bits
//!                             edit         └──▶ exec::Program ── run ──▶ exec::Outcome
//!                               │                    ▲    │
//!                               ▼                 Memory  └─▶ exec::Sink
//!                             text              and Launch     each access, each warp
//! ```
//!
//! The executor runs a warp at a time, as a GPU does. It reports what is wrong
//! with a kernel: races by the happens-before order of PTX's memory model,
//! accesses outside of buffers, reads of data that was never written, barriers
//! that not all threads reach.
//!
//! Half of this block's threads read what the other half wrote, without a
//! barrier between:
//!
//! ```
//! use spadkit_ptx::Module;
//! use spadkit_ptx::exec::{FindingKind, Launch, Memory, Options, Program};
//!
//! let text = ".version 8.0
//! .target sm_80
//! .address_size 64
//! .visible .entry swap(.param .u64 out)
//! {
//!     .shared .align 4 .b8 tile[256];
//!     .reg .b32 %r<6>;
//!     mov.u32 %r1, %tid.x;
//!     shl.b32 %r2, %r1, 2;
//!     mov.u32 %r3, tile;
//!     add.s32 %r4, %r3, %r2;
//!     st.shared.u32 [%r4], %r1;
//!     xor.b32 %r4, %r4, 128;
//!     ld.shared.u32 %r5, [%r4];
//!     ret;
//! }";
//! let program = Program::new(&Module::parse(text, "swap.ptx")?)?;
//! let launch = Launch {
//!     entry: "swap".into(),
//!     grid: [1, 1, 1],
//!     block: [64, 1, 1],
//!     dynamic_shared: 0,
//!     params: vec![0; 8],
//! };
//! let options = Options { races: true, ..Options::default() };
//! let outcome = program.run(&mut Memory::new(), &launch, &options)?;
//! let race = outcome.fault().expect("there is one");
//! assert_eq!(race.kind, FindingKind::Race);
//! # Ok::<(), spadkit_base::error::Error>(())
//! ```

#![cfg_attr(test, allow(clippy::too_many_lines))]

pub mod analysis;
pub mod ast;
pub mod cfg;
pub mod edit;
mod entry;
pub mod exec;
mod link;
pub mod marker;
pub mod names;
pub mod opcodes;
mod operands;
mod parse;
mod renumber;
mod scalar;
pub mod shared;
pub mod tensor;
#[cfg(test)]
mod tests;
mod token;

pub use ast::*;
pub use cfg::{Block, Cfg};
pub use entry::{find_name, listed_names, near_name, plain_name, signature, source_name};
pub use names::*;
pub use opcodes::Opcode;
