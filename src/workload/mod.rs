//! INPUT of the commands: what it names as the accesses of a block, and as the
//! programs of a kernel's warps.

mod accesses;
mod launch;
mod programs;

pub use accesses::{is_input, load_input, load_input_with};
pub use launch::LaunchWorkload;
pub use programs::{AccessOptions, is_access_trace, load_workload};
