//! Full traces: whole warp programs in a compact binary file
//! (docs/reference/formats.md).
//!
//! The file is a sequence of chunks, each with up to some hundred instructions
//! of one warp. So writing and reading need memory only for the warps at work,
//! whatever the length of the trace.

mod chunk;
mod reader;
mod recording;
mod writer;

pub use reader::TraceFile;
pub use recording::record;
pub use writer::{TraceSummary, TraceWriter};

/// First bytes of every file.
const MAGIC: [u8; 8] = *b"SPADFULL";
/// Version of the format, and those that are read: 1 has the first 14 kinds
/// alone, 2 the first 15, 3 and 4 the first 20; the kernel of the first three has no
/// target; before 5 barriers are of the whole block; before 6 there is nothing of what other
/// blocks do, and arithmetic and loads name no unit and no cache.
const VERSION: u16 = 6;
const VERSIONS: std::ops::RangeInclusive<u16> = 1..=VERSION;
/// Opens a chunk.
const CHUNK: u8 = b'C';
/// Opens a chunk of what other blocks of the cluster do to a block.
const INCOMING: u8 = b'I';
/// Opens the end of the file.
const END: u8 = b'E';
/// Most instructions of a chunk.
const CHUNK_INSTRS: u32 = 512;
/// Most bytes of a chunk's instructions.
const CHUNK_BYTES: u32 = 1 << 20;
/// Most bytes of the header.
const HEADER_BYTES: u32 = 1 << 16;

/// CRC-32 (IEEE) of `bytes`.
fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[cfg(test)]
mod tests;
