//! Accel-Sim traces: SASS instructions of whole kernels, recorded on a GPU
//! (`kernelslist.g` and `.traceg` files of the tracer's versions 3 to 5, plain
//! or compressed with xz or gzip).
//!
//! A trace is read line by line: what is in memory is one line, whatever the
//! length of the file. [`Reader`] gives its instructions, [`Survey`] what a
//! first pass finds out about it, [`access_trace`] the shared-memory accesses
//! of one thread block.

mod access;
mod header;
mod line;
mod list;
mod opcode;
mod reader;
mod source;
mod survey;

pub use access::access_trace;
pub use header::Header;
pub use line::SassInstr;
pub use list::find_kernel;
pub use opcode::{OpClass, Space, is_increment};
pub use reader::{Event, Reader};
pub use survey::Survey;

use std::path::Path;

/// Lanes of a warp in these traces.
pub const WARP_SIZE: u32 = 32;

/// Whether `path` is named like an Accel-Sim trace or a list of them.
pub fn is_accelsim(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|n| n.to_str()) else {
        return false;
    };
    let plain = source::without_compression(name);
    plain.ends_with(".traceg") || plain.ends_with(".trace") || name.starts_with("kernelslist")
}

#[cfg(test)]
mod tests;
