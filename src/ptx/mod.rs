//! PTX, the assembly language that nvcc, NVRTC and clang write: front end,
//! control-flow graph, static analysis, and an executor.

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
pub mod shared;
pub mod tensor;
#[cfg(test)]
mod tests;
mod token;

pub use ast::*;
pub use cfg::{Block, Cfg};
pub use entry::{find_name, plain_name};
pub use names::*;
pub use opcodes::Opcode;
