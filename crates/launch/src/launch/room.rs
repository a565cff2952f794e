//! Reports buffers for which the system has no memory, with their line in the file.

use super::contents::Buffer;
use spadkit_base::error::{Error, Result};
use spadkit_base::input::section::Source;

/// The content of a buffer of the file before the run, if the system has memory for it.
pub(super) fn contents(
    source: &Source,
    name: &str,
    buffer: &Buffer,
    offset: usize,
) -> Result<Vec<u8>> {
    let bytes = buffer.bytes();
    // This reservation is released at once: it checks that there is memory for the contents.
    let room = Vec::<u8>::new().try_reserve_exact(buffer.room());
    if room.is_err() {
        return Err(no_memory(source, name, bytes, offset));
    }
    buffer.contents()
}

/// An error at the table of a buffer that is too large for this system.
pub(super) fn no_memory(source: &Source, name: &str, bytes: u64, offset: usize) -> Error {
    source.error(
        format!("no memory for '{name}', {bytes} bytes"),
        "expected a smaller buffer, or a higher limit of memory (ulimit -v)",
        offset,
    )
}
