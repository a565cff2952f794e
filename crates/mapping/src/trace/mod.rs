//! Access traces: what the threads of a block do to shared memory.

pub mod accelsim;
mod access;
mod check;
mod conflicts;
mod descriptors;
mod json_place;
pub mod kernels;
mod matrix_rows;
pub mod pattern;
mod place;
mod rule;
mod served;
mod target;
mod tensor_copies;
mod traced_block;
mod variables;
mod weighted;

pub use access::{Access, AccessTrace, Op};
pub use conflicts::{ConflictCount, ConflictProfile, conflict_degree, removed_pct, removed_text};
pub use descriptors::FIELD as BY_DESCRIPTOR_FIELD;
pub use matrix_rows::FIELD as ROW_BYTES_FIELD;
pub use matrix_rows::MatrixRows;
pub use place::{Line, Place, Places};
pub use place::{calls_text, line_of_file, ptx_text};
pub use rule::{Atomics, ConflictRule, Wide};
pub use served::{Served, ServedWord};
pub use spadkit_base::quote::without_folder;
pub use target::FIELD as TARGET_FIELD;
pub use tensor_copies::FIELD as TENSOR_COPIES_FIELD;
pub use tensor_copies::TensorCopy;
pub use traced_block::{BLOCK_FIELD, GRID_FIELD, TracedBlock};
pub use variables::FIELD as VARIABLES_FIELD;
pub use variables::SharedVariable;
pub use weighted::WeightedPass;
pub(crate) use weighted::least_degree;
pub use weighted::merged;
