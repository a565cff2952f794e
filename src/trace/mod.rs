//! Access traces: what the threads of a block do to shared memory.

pub mod accelsim;
mod access;
mod conflicts;
mod input;
mod json_place;
pub mod kernels;
pub mod pattern;

pub use access::{Access, AccessTrace, Op};
pub use conflicts::{ConflictCount, ConflictProfile, WeightedPass, conflict_degree};
pub use input::load_input;
