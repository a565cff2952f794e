//! Reading full traces: an index of the chunks, and each chunk when it is needed.

use super::chunk::{self, decode, read_incoming};
use super::{
    CHUNK, CHUNK_BYTES, CHUNK_INSTRS, END, HEADER_BYTES, INCOMING, MAGIC, VERSIONS, checksum,
};
use crate::sm::incoming::Incoming;
use crate::sm::instr::{Instr, KernelInfo};
use crate::sm::workload::{ProgramStream, Workload};
use spadkit_base::claims;
use spadkit_base::error::{Error, Result};
use spadkit_base::input::{self, Limit};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Bytes before a chunk's instructions: tag, block, warp, count, length.
const CHUNK_HEAD: usize = 1 + 4 * 4;
const CHECKSUM: u64 = 4;

/// The position of a chunk.
#[derive(Clone, Copy, Debug)]
struct ChunkPlace {
    /// Offset of its tag.
    offset: u64,
    count: u32,
    length: u32,
}

/// Limit of standard input, which is kept in memory.
const STDIN: Limit = Limit {
    bytes: 1 << 30,
    expected: "a full trace (docs/reference/formats.md)",
};

/// The source of a trace's bytes: a file, or memory.
trait Source: Read + Seek + Send {}
impl<T: Read + Seek + Send> Source for T {}

/// A full trace on disk. Only the index is in memory.
pub struct TraceFile {
    path: PathBuf,
    info: KernelInfo,
    file: Mutex<Box<dyn Source>>,
    index: Index,
    instructions: u64,
}

/// The chunks of each warp, and those of what other blocks do to each block.
#[derive(Default)]
struct Index {
    warps: BTreeMap<(u32, u32), Arc<[ChunkPlace]>>,
    incoming: BTreeMap<u32, Vec<ChunkPlace>>,
}

impl TraceFile {
    /// Opens a trace and checks its structure: header, chunk heads and end.
    /// The instructions are checked when they are read. `-` is standard input.
    pub fn open(path: &Path) -> Result<Self> {
        if input::is_stdin(path) {
            return Self::from_bytes(STDIN.read(path)?, input::name_of(path));
        }
        Self::of(Scan::opened(path)?)
    }

    /// [`TraceFile::open`] for a trace in memory; `path` is for messages.
    pub fn from_bytes(bytes: Vec<u8>, path: &Path) -> Result<Self> {
        let size = bytes.len() as u64;
        Self::of(Scan::new(Box::new(Cursor::new(bytes)), size, path))
    }

    fn of(mut scan: Scan) -> Result<Self> {
        let info = scan.header()?;
        let (index, instructions) = scan.chunks(&info)?;
        Ok(TraceFile {
            path: scan.path.to_owned(),
            info,
            file: Mutex::new(scan.file.into_inner()),
            index,
            instructions,
        })
    }

    /// Whether the file at `path` begins like a full trace. A pipe is none:
    /// what is read of it is gone.
    pub fn is_one(path: &Path) -> bool {
        if input::is_stdin(path) {
            return STDIN
                .read(path)
                .is_ok_and(|bytes| bytes.starts_with(&MAGIC));
        }
        let mut magic = [0; MAGIC.len()];
        if !path.is_file() {
            return false;
        }
        let read = File::open(path).and_then(|mut f| f.read_exact(&mut magic));
        read.is_ok() && magic == MAGIC
    }

    /// The kernel of the trace at `path`, without a look at its programs; `-` is standard
    /// input.
    pub fn kernel_of(path: &Path) -> Result<KernelInfo> {
        if input::is_stdin(path) {
            return Ok(Self::open(path)?.info);
        }
        Scan::opened(path)?.header()
    }

    /// Instructions of all warps.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    fn read(&self, key: (u32, u32), place: ChunkPlace) -> Result<Vec<Instr>> {
        let chunk = self.read_chunk(key, place)?;
        let decoded = decode(&chunk[CHUNK_HEAD..], place.count, self.info.warp_size);
        decoded.map_err(|e| self.corrupt_chunk(place, &e))
    }

    fn corrupt_chunk(&self, place: ChunkPlace, e: &chunk::Corrupt) -> Error {
        corrupt(
            &self.path,
            place.offset + (CHUNK_HEAD + e.at) as u64,
            &e.what,
        )
    }

    /// A chunk with its head, whose checksum is right.
    fn read_chunk(&self, key: (u32, u32), place: ChunkPlace) -> Result<Vec<u8>> {
        let mut bytes = vec![0; CHUNK_HEAD + place.length as usize + CHECKSUM as usize];
        let read = {
            let mut file = self.file.lock().unwrap_or_else(|e| e.into_inner());
            file.seek(SeekFrom::Start(place.offset))
                .and_then(|_| file.read_exact(&mut bytes))
        };
        read.map_err(|e| Error::io("read", &self.path, e))?;
        let (chunk, sum) = bytes.split_at(bytes.len() - CHECKSUM as usize);
        if sum != checksum(chunk).to_le_bytes() {
            return Err(corrupt(
                &self.path,
                place.offset,
                &format!(
                    "the checksum of a chunk of block {}, warp {} is wrong",
                    key.0, key.1
                ),
            ));
        }
        bytes.truncate(bytes.len() - CHECKSUM as usize);
        Ok(bytes)
    }
}

impl Workload for TraceFile {
    fn info(&self) -> &KernelInfo {
        &self.info
    }

    fn open(&self, block: u32, warp: u32) -> Result<Box<dyn ProgramStream + '_>> {
        let chunks = self.index.warps.get(&(block, warp)).cloned();
        Ok(Box::new(WarpChunks {
            file: self,
            key: (block, warp),
            chunks: chunks.unwrap_or_else(|| Arc::new([])),
            next: 0,
        }))
    }

    fn incoming(&self, block: u32) -> Result<Vec<Incoming>> {
        let mut all = Vec::new();
        for &place in self.index.incoming.get(&block).into_iter().flatten() {
            let chunk = self.read_chunk((block, 0), place)?;
            let some = read_incoming(&chunk[CHUNK_HEAD..], place.count);
            all.extend(some.map_err(|e| self.corrupt_chunk(place, &e))?);
        }
        Ok(all)
    }
}

/// The program of one warp, a chunk at a time.
struct WarpChunks<'a> {
    file: &'a TraceFile,
    key: (u32, u32),
    chunks: Arc<[ChunkPlace]>,
    next: usize,
}

impl ProgramStream for WarpChunks<'_> {
    fn next_part(&mut self) -> Result<Option<Arc<[Instr]>>> {
        let Some(&place) = self.chunks.get(self.next) else {
            return Ok(None);
        };
        self.next += 1;
        Ok(Some(self.file.read(self.key, place)?.into()))
    }
}

fn corrupt(path: &Path, at: u64, what: &str) -> Error {
    Error::usage(
        format!("{}: byte {at}: {what}", path.display()),
        "the file is corrupt: record it again, or copy it again in binary mode",
    )
}

/// Goes through a file once, from chunk head to chunk head.
struct Scan<'a> {
    path: &'a Path,
    file: BufReader<Box<dyn Source>>,
    at: u64,
    size: u64,
}

impl<'a> Scan<'a> {
    fn new(file: Box<dyn Source>, size: u64, path: &'a Path) -> Self {
        Scan {
            path,
            file: BufReader::new(file),
            at: 0,
            size,
        }
    }

    /// The file at `path`, which is not standard input.
    fn opened(path: &'a Path) -> Result<Self> {
        let fail = |e| Error::io("read", path, e);
        input::require_file(path)?;
        claims::reads(path)?;
        let file = File::open(path).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        Ok(Self::new(Box::new(file), size, path))
    }

    fn truncated<T>(&self, expected: &str) -> Result<T> {
        Err(Error::usage(
            format!(
                "{}: the trace is truncated at byte {}",
                self.path.display(),
                self.size
            ),
            format!("expected {expected} at byte {}", self.at),
        ))
    }

    fn take<const N: usize>(&mut self, expected: &str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, expected)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8], expected: &str) -> Result<()> {
        if self.at + bytes.len() as u64 > self.size {
            return self.truncated(expected);
        }
        let fail = |e| Error::io("read", self.path, e);
        self.file.read_exact(bytes).map_err(fail)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn number(&mut self, expected: &str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take(expected)?))
    }

    fn header(&mut self) -> Result<KernelInfo> {
        let magic: [u8; MAGIC.len()] = self.take("the header of a full trace")?;
        if magic != MAGIC {
            return Err(Error::usage(
                format!("{} is not a full trace", self.path.display()),
                "expected a file that begins with SPADFULL (docs/reference/formats.md)",
            ));
        }
        let version = u16::from_le_bytes(self.take("the version")?);
        if !VERSIONS.contains(&version) {
            return Err(Error::usage(
                format!(
                    "{}: full trace version {version} is not supported",
                    self.path.display()
                ),
                format!(
                    "expected version {} to {}; record the trace with this version of spadkit",
                    VERSIONS.start(),
                    VERSIONS.end()
                ),
            ));
        }
        let length = self.number("the length of the header")?;
        if length > HEADER_BYTES {
            let what = format!("a header of {length} bytes, expected at most {HEADER_BYTES}");
            return Err(corrupt(self.path, self.at, &what));
        }
        let mut text = vec![0; length as usize];
        self.fill(&mut text, "the kernel's description")?;
        let mut whole = MAGIC.to_vec();
        whole.extend(version.to_le_bytes());
        whole.extend(length.to_le_bytes());
        whole.extend(&text);
        if self.number("the header's checksum")? != checksum(&whole) {
            return Err(corrupt(self.path, 0, "the checksum of the header is wrong"));
        }
        let info: KernelInfo = serde_json::from_slice(&text)
            .map_err(|e| corrupt(self.path, 0, &format!("the kernel's description: {e}")))?;
        match info.problem() {
            None => Ok(info),
            Some((what, help)) => Err(Error::usage(
                format!("{}: {what}", self.path.display()),
                help,
            )),
        }
    }

    /// The file positions of all chunks, and the number of instructions.
    fn chunks(&mut self, info: &KernelInfo) -> Result<(Index, u64)> {
        let mut warps: BTreeMap<(u32, u32), Vec<ChunkPlace>> = BTreeMap::new();
        let mut incoming: BTreeMap<u32, Vec<ChunkPlace>> = BTreeMap::new();
        let (mut chunks, mut instructions) = (0, 0);
        loop {
            let offset = self.at;
            let tag = self.take::<1>("a chunk, or the end of the trace")?[0];
            match tag {
                CHUNK | INCOMING => {}
                END => {
                    self.end(chunks, instructions)?;
                    let freeze = |(key, places): (_, Vec<_>)| (key, places.into());
                    let warps = warps.into_iter().map(freeze).collect();
                    return Ok((Index { warps, incoming }, instructions));
                }
                other => {
                    let what = format!("expected a chunk or the end, found byte {other:#04x}");
                    return Err(corrupt(self.path, offset, &what));
                }
            }
            let expected = "the head of a chunk";
            let (block, warp) = (self.number(expected)?, self.number(expected)?);
            let (count, length) = (self.number(expected)?, self.number(expected)?);
            if block >= info.blocks
                || warp >= info.warps()
                || !(1..=CHUNK_INSTRS).contains(&count)
                || length > CHUNK_BYTES
            {
                let what = format!(
                    "a chunk of block {block}, warp {warp} with {count} instructions in {length} bytes; \
                     expected blocks below {}, warps below {}, 1 to {CHUNK_INSTRS} instructions, \
                     at most {CHUNK_BYTES} bytes",
                    info.blocks,
                    info.warps()
                );
                return Err(corrupt(self.path, offset, &what));
            }
            self.skip(u64::from(length) + CHECKSUM)?;
            let place = ChunkPlace {
                offset,
                count,
                length,
            };
            chunks += 1;
            if tag == INCOMING {
                incoming.entry(block).or_default().push(place);
            } else {
                warps.entry((block, warp)).or_default().push(place);
                instructions += u64::from(count);
            }
        }
    }

    fn skip(&mut self, bytes: u64) -> Result<()> {
        if self.at + bytes > self.size {
            return self.truncated("the rest of a chunk");
        }
        let fail = |e| Error::io("read", self.path, e);
        self.file.seek_relative(bytes as i64).map_err(fail)?;
        self.at += bytes;
        Ok(())
    }

    /// Checks the totals after the END tag, and that nothing follows.
    fn end(&mut self, chunks: u64, instructions: u64) -> Result<()> {
        let start = self.at - 1;
        let left = self.size - self.at;
        // Two numbers of at most 10 bytes and the checksum.
        if left < 2 + CHECKSUM {
            return self.truncated("the totals of the trace");
        }
        if left > 20 + CHECKSUM {
            let what = format!("{left} bytes follow the end of the trace");
            return Err(corrupt(self.path, start, &what));
        }
        let mut bytes = vec![0; left as usize];
        self.fill(&mut bytes, "the totals of the trace")?;
        let (totals, sum) = bytes.split_at(bytes.len() - CHECKSUM as usize);
        let mut whole = vec![END];
        whole.extend(totals);
        let mut cursor = chunk::Cursor::new(totals);
        let found = cursor.varint().and_then(|c| Ok((c, cursor.varint()?)));
        let complete = cursor.at == totals.len() && sum == checksum(&whole).to_le_bytes();
        match found {
            Ok(found) if complete && found == (chunks, instructions) => Ok(()),
            _ => Err(corrupt(
                self.path,
                start,
                "the totals do not match the number of chunks and instructions",
            )),
        }
    }
}
