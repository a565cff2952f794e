//! What a compiler can do about bank conflicts and shared memory: a mapping put into
//! PTX, the same as a change of the source, and scratchpad sharing between blocks.
//!
//! ```text
//!  spadkit_ptx::Module ──┬─▶ rewrite    a mapping in the PTX, measured before and after
//!                        ├─▶ sharing    variables that two blocks share, with relssp
//!                        └─▶ assembler  ptxas: registers, instructions, accesses
//!  trace::AccessTrace ─────▶ suggest    a mapping as CUDA, CuTe or Triton, line by line
//! ```
//!
//! Only [`assembler`] runs other programs: ptxas and nvdisasm, if they are installed.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::too_many_lines))]

pub mod assembler;
pub mod rewrite;
pub mod sharing;
pub mod suggest;
