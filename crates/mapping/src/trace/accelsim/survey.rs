//! The first pass over a trace: what must be known before it is used.

use super::header::Header;
use super::line::SassInstr;
use super::opcode::{OpClass, Space};
use super::reader::{Event, Reader};
use spadkit_base::error::{Error, Result};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Bytes at the begin of a block's shared memory that the system keeps from sm_80 on.
const RESERVED: u64 = 1024;
const FIRST_WITH_RESERVED: u32 = 80;
/// The generic window of shared memory is never larger.
const WINDOW: u64 = 1 << 24;

/// A summary of a kernel's trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The file.
    pub path: PathBuf,
    /// The trace's header.
    pub header: Header,
    /// Thread blocks of the grid that were traced, as indices
    /// x + grid x * (y + grid y * z), in the order of the file.
    pub blocks: Vec<u64>,
    /// Instructions of all warps.
    pub instructions: u64,
    /// Instructions that access shared memory with an active lane.
    pub shared_accesses: u64,
    /// Bytes before the block's own shared memory, which the system keeps.
    pub reserved: u64,
}

impl Survey {
    /// Reads the whole trace once and checks it.
    pub fn read(path: &Path) -> Result<Survey> {
        let mut reader = Reader::open(path)?;
        let mut survey = Survey {
            path: path.to_owned(),
            header: reader.header().clone(),
            blocks: Vec::new(),
            instructions: 0,
            shared_accesses: 0,
            reserved: 0,
        };
        let (mut lowest, mut highest) = (u64::MAX, 0);
        let mut seen = HashSet::new();
        while let Some(event) = reader.next_event()? {
            match event {
                Event::Block(block) => {
                    let index = survey.block_index(block);
                    if !seen.insert(index) {
                        let what = format!("thread block {block:?} stands there twice");
                        return Err(reader.error(what, "expected each block once"));
                    }
                    survey.blocks.push(index);
                }
                Event::Instr(instr) => {
                    survey.instructions += 1;
                    let lanes = survey.shared_offsets(&instr);
                    survey.shared_accesses += u64::from(lanes.is_some() && instr.mask != 0);
                    for (_, offset) in lanes.into_iter().flatten() {
                        lowest = lowest.min(offset);
                        highest = highest.max(offset.saturating_add(instr.bytes.into()));
                    }
                }
                Event::Warp(_) | Event::EndBlock => {}
            }
        }
        survey.place(lowest, highest)?;
        Ok(survey)
    }

    fn block_index(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [width, height, _] = self.header.grid.map(u64::from);
        u64::from(x) + width * (u64::from(y) + height * u64::from(z))
    }

    /// Finds out whether the addresses count from the block's own shared
    /// memory or from the system's part before it.
    fn place(&mut self, lowest: u64, highest: u64) -> Result<()> {
        let size = u64::from(self.header.shared_bytes);
        if highest <= size {
            return Ok(());
        }
        let keeps = self.header.binary_version >= FIRST_WITH_RESERVED;
        if keeps && lowest >= RESERVED && highest <= size + RESERVED {
            self.reserved = RESERVED;
            return Ok(());
        }
        Err(Error::usage(
            format!(
                "{}: shared memory is accessed up to byte {highest}, but a block has {size}",
                self.path.display()
            ),
            "expected '-shmem = ' of the header to cover all accesses",
        ))
    }

    /// Byte offsets in shared memory of the active lanes, where `instr` is an
    /// access to it: (lane, offset from the start of the block's own part).
    pub fn shared_offsets<'a>(
        &self,
        instr: &'a SassInstr,
    ) -> Option<impl Iterator<Item = (usize, u64)> + use<'a>> {
        let addresses = instr.addresses.as_deref()?;
        let first = addresses[instr.mask.trailing_zeros() as usize % addresses.len()];
        let base = self.header.shared_base;
        let in_window = base != 0 && (base..base.saturating_add(WINDOW)).contains(&first);
        let below_local = self.header.local_base <= base || first < self.header.local_base;
        let space = match instr.class {
            OpClass::Load(space) | OpClass::Store(space) | OpClass::Atomic(space) => space,
            _ => return None,
        };
        if space == Space::Global || (space == Space::Generic && !(in_window && below_local)) {
            return None;
        }
        let base = if in_window { base } else { 0 } + self.reserved;
        let active = (0..addresses.len()).filter(|&l| instr.mask >> l & 1 == 1);
        Some(active.map(move |l| (l, addresses[l].wrapping_sub(base))))
    }
}
