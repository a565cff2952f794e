//! Access traces: what the threads of a block do to shared memory.

pub mod accelsim;
mod access;
mod check;
mod conflicts;
mod json_place;
pub mod kernels;
pub mod pattern;
mod place;
mod rule;
mod variables;

pub use access::{Access, AccessTrace, Op};
pub(crate) use conflicts::merge_equal;
pub use conflicts::{
    ConflictCount, ConflictProfile, WeightedPass, conflict_degree, removed_pct, removed_text,
};
pub use place::{Place, Places};
pub use rule::{Atomics, ConflictRule, Wide};
pub(crate) use variables::FIELD as VARIABLES_FIELD;
pub use variables::SharedVariable;
