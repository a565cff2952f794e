//! INPUT of the commands: what it names as the accesses of a block, and as the
//! programs of a kernel's warps.

mod input;
mod launch;
mod options;

pub use crate::capture::RunOptions;
pub use input::{Input, load_input};
pub use launch::LaunchWorkload;
pub use options::AccessOptions;
