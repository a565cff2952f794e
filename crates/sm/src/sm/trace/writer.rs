//! Writing full traces.

use super::chunk::{Encoder, put_incoming, put_varint};
use super::{CHUNK, CHUNK_BYTES, CHUNK_INSTRS, END, INCOMING, MAGIC, VERSION, checksum};
use crate::sm::incoming::Incoming;
use crate::sm::instr::{Instr, KernelInfo, full_mask};
use spadkit_base::error::{Error, Result};
use spadkit_base::output::NewFile;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A summary of a written trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceSummary {
    /// Instructions of all warps.
    pub instructions: u64,
    /// Instructions that access shared memory.
    pub shared_accesses: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Writes a full trace; warps may come in any order and interleaved.
///
/// Nothing is at the path before [`finish`](TraceWriter::finish).
pub struct TraceWriter {
    path: PathBuf,
    file: BufWriter<NewFile>,
    info: KernelInfo,
    open: BTreeMap<(u32, u32), Encoder>,
    chunks: u64,
    summary: TraceSummary,
}

impl TraceWriter {
    /// Begins the trace of a kernel.
    pub fn create(path: &Path, info: &KernelInfo) -> Result<Self> {
        if let Some((what, help)) = info.problem() {
            return Err(Error::usage(what, help));
        }
        let mut writer = TraceWriter {
            path: path.to_owned(),
            file: BufWriter::new(NewFile::create(path)?),
            info: info.clone(),
            open: BTreeMap::new(),
            chunks: 0,
            summary: TraceSummary {
                instructions: 0,
                shared_accesses: 0,
                bytes: 0,
            },
        };
        writer.header()?;
        Ok(writer)
    }

    /// Appends an instruction to the program of warp `warp` of block `block`.
    pub fn push(&mut self, block: u32, warp: u32, instr: &Instr) -> Result<()> {
        if block >= self.info.blocks || warp >= self.info.warps() {
            return Err(Error::usage(
                format!("the kernel has no warp {warp} in block {block}"),
                format!(
                    "expected a block below {} and a warp below {}",
                    self.info.blocks,
                    self.info.warps()
                ),
            ));
        }
        let full = full_mask(self.info.warp_size);
        let encoder = self
            .open
            .entry((block, warp))
            .or_insert_with(|| Encoder::new(full));
        encoder.push(instr);
        self.summary.shared_accesses += u64::from(instr.kind.is_shared());
        // One instruction takes at most some 700 bytes, a copy of many rows less
        // than half of a chunk.
        if encoder.count == CHUNK_INSTRS || encoder.bytes.len() as u32 > CHUNK_BYTES / 2 {
            self.flush(block, warp)?;
        }
        Ok(())
    }

    /// The warp's program is complete: frees its memory.
    pub fn end_warp(&mut self, block: u32, warp: u32) -> Result<()> {
        self.flush(block, warp)?;
        self.open.remove(&(block, warp));
        Ok(())
    }

    /// What other blocks of its cluster do to block `block`, behind what was written before.
    pub fn incoming(&mut self, block: u32, all: &[Incoming]) -> Result<()> {
        for some in all.chunks(CHUNK_INSTRS as usize) {
            let mut bytes = Vec::new();
            some.iter().for_each(|one| put_incoming(&mut bytes, one));
            self.chunks += 1;
            self.write(&chunk(INCOMING, (block, 0), (some.len() as u32, &bytes)))?;
        }
        Ok(())
    }

    /// Completes the file and moves it to its final path.
    pub fn finish(mut self) -> Result<TraceSummary> {
        let warps: Vec<(u32, u32)> = self.open.keys().copied().collect();
        for (block, warp) in warps {
            self.end_warp(block, warp)?;
        }
        let mut end = vec![END];
        put_varint(&mut end, self.chunks);
        put_varint(&mut end, self.summary.instructions);
        self.write(&end)?;
        let fail = |e| Error::io("write", &self.path, e);
        let file = self.file.into_inner().map_err(|e| fail(e.into_error()))?;
        file.finish()?;
        Ok(self.summary)
    }

    fn header(&mut self) -> Result<()> {
        let info = serde_json::to_vec(&self.info).expect("a struct of numbers and texts");
        let mut header = MAGIC.to_vec();
        header.extend(VERSION.to_le_bytes());
        header.extend((info.len() as u32).to_le_bytes());
        header.extend(info);
        self.write(&header)
    }

    fn flush(&mut self, block: u32, warp: u32) -> Result<()> {
        let Some(encoder) = self.open.get_mut(&(block, warp)) else {
            return Ok(());
        };
        if encoder.count == 0 {
            return Ok(());
        }
        let chunk = chunk(CHUNK, (block, warp), (encoder.count, &encoder.bytes));
        self.summary.instructions += u64::from(encoder.count);
        self.chunks += 1;
        encoder.clear();
        self.write(&chunk)
    }

    /// Writes `bytes` and their checksum.
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let sum = checksum(bytes).to_le_bytes();
        self.summary.bytes += (bytes.len() + sum.len()) as u64;
        self.file
            .write_all(bytes)
            .and_then(|()| self.file.write_all(&sum))
            .map_err(|e| Error::io("write", &self.path, e))
    }
}

/// The head of a chunk of a warp or a block, and its bytes, which are `count` entries.
fn chunk(tag: u8, (block, warp): (u32, u32), (count, bytes): (u32, &[u8])) -> Vec<u8> {
    let mut chunk = vec![tag];
    for number in [block, warp, count, bytes.len() as u32] {
        chunk.extend(number.to_le_bytes());
    }
    chunk.extend(bytes);
    chunk
}
