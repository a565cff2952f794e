//! Bank mappings of a GPU's shared memory: what a warp access costs under one,
//! and which is best for a kernel.
//!
//! ```text
//!  trace::AccessTrace ──────────┐
//!    warp accesses of a kernel  │
//!                               ├─▶ trace::conflicts   passes of each access
//!  hash::HashSpec ── Mapping ───┘          ▲
//!    which bank a word is in               │
//!                               search ────┘           the mapping with the fewest
//! ```
//!
//! A mapping is a permutation of the words of the scratchpad. The units that
//! compute it are those of the paper on configurable XOR hash functions
//! (`hash`), each with its space of configurations. `software` computes one in
//! the kernel instead: as padding, a swizzle, or an XOR of index bits.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::too_many_lines))]

pub mod geometry;
pub mod hash;
pub mod rap;
pub mod search;
pub mod software;
pub mod trace;
