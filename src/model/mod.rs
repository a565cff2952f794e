//! The golden models: one file per hardware unit, named like its RTL.
//!
//! Plain Rust, written from the papers' definitions and independent of the
//! RTL. Each unit is a struct with its state and a `step`, one call per clock
//! cycle (combinational units: one call per evaluation).

mod lanes;
mod spad_conflict_arbiter;
mod spad_hash_add;
mod spad_hash_bitvec_perm;
mod spad_hash_bitvec_xor;
mod spad_hash_bitwise_perm;
mod spad_hash_bitwise_xor;
mod spad_hash_config;
mod spad_hash_matrix;
mod spad_hash_xor;
mod spad_rap;
mod spad_row_map;

pub use lanes::{LaneMask, MAX_BANKS, MAX_LANES, WarpMask};
pub use spad_conflict_arbiter::{ArbiterInputs, ArbiterOutputs, ConflictArbiter, Group};
pub use spad_hash_add::HashAdd;
pub use spad_hash_bitvec_perm::HashBitvecPerm;
pub use spad_hash_bitvec_xor::HashBitvecXor;
pub use spad_hash_bitwise_perm::HashBitwisePerm;
pub use spad_hash_bitwise_xor::HashBitwiseXor;
pub use spad_hash_config::{ConfigInputs, ConfiguredUnit, HashConfig};
pub use spad_hash_matrix::HashMatrix;
pub use spad_hash_xor::HashXor;
pub use spad_rap::Rap;
pub use spad_row_map::RowMapUnit;
