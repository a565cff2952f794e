//! Access traces: what the threads of a block do to shared memory.

mod access;
mod conflicts;
mod json_place;

pub use access::{Access, AccessTrace, Op};
pub use conflicts::{ConflictCount, ConflictProfile, WeightedPass, conflict_degree};
