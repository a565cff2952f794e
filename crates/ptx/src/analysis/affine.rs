//! Values as affine expressions of thread index, block index, loop counters,
//! parameters and variable addresses (hash paper, Eq. 4).
//!
//! An expression is exact: it equals the value modulo 2^[bits](Affine::bits),
//! for every thread, without assuming that arithmetic does not overflow. A
//! 32-bit index that is widened to a 64-bit address therefore stays exact
//! modulo 2^32 only, unless the ranges of its terms prove that it cannot
//! wrap. Addresses of shared memory are below 2^24, so this is enough for
//! them.

mod expression;
mod instruction;
mod offset;
mod solve;
mod term;

pub use expression::Affine;
pub use solve::{Affines, NotAffine};
pub use term::Term;
