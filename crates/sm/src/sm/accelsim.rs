//! Accel-Sim traces as programs: SASS instructions of recorded kernels.

use super::instr::{
    Addresses, Detail, INCREMENT, Instr, InstrKind, KernelInfo, MAX_SOURCES, Sources,
};
use super::trace::{TraceFile, TraceWriter};
use super::workload::{ProgramStream, Workload};
use spadkit_base::error::Result;
use spadkit_base::output::Scratch;
use spadkit_mapping::trace::accelsim::{
    Event, OpClass, Reader, SassInstr, Survey, WARP_SIZE, find_kernel, is_increment,
};
use std::path::Path;

/// A recorded kernel. Its blocks are those that were traced, numbered in the
/// order of the file.
///
/// The text is read once, in order; the programs of the warps then lie in a
/// temporary [full trace](TraceFile), from which each is read as it runs.
pub struct AccelSimWorkload {
    file: TraceFile,
    /// Goes when the workload does.
    _scratch: Scratch,
}

impl AccelSimWorkload {
    /// Reads a `.traceg` file, or the one kernel of a list that uses shared
    /// memory.
    pub fn open(path: &Path) -> Result<Self> {
        let survey = find_kernel(path)?;
        let scratch = Scratch::new()?;
        let path = scratch.path("k.spt");
        convert(&survey, &path)?;
        Ok(AccelSimWorkload {
            file: TraceFile::open(&path)?,
            _scratch: scratch,
        })
    }
}

impl Workload for AccelSimWorkload {
    fn info(&self) -> &KernelInfo {
        self.file.info()
    }

    fn open(&self, block: u32, warp: u32) -> Result<Box<dyn ProgramStream + '_>> {
        self.file.open(block, warp)
    }
}

/// Writes the programs of a trace as a full trace.
fn convert(survey: &Survey, to: &Path) -> Result<()> {
    let header = &survey.header;
    let info = KernelInfo {
        name: header.name.clone(),
        source: format!("{} (Accel-Sim trace)", survey.path.display()),
        block_dim: header.block,
        blocks: u32::try_from(survey.blocks.len()).unwrap_or(u32::MAX),
        shared_bytes: header.shared_bytes,
        warp_size: WARP_SIZE,
        registers: header.registers,
        target: None,
        together: None,
    };
    let mut writer = TraceWriter::create(to, &info)?;
    let mut reader = Reader::open(&survey.path)?;
    let (mut blocks, mut warp) = (0, None);
    while let Some(event) = reader.next_event()? {
        match event {
            Event::Block(_) => blocks += 1,
            Event::Warp(w) => {
                end_warp(&mut writer, blocks, &mut warp)?;
                warp = Some(w);
            }
            Event::Instr(sass) => {
                let instr = instr(&sass, survey);
                writer.push(blocks - 1, warp.unwrap_or(0), &instr)?;
            }
            Event::EndBlock => end_warp(&mut writer, blocks, &mut warp)?,
        }
    }
    writer.finish().map(drop)
}

fn end_warp(writer: &mut TraceWriter, blocks: u32, warp: &mut Option<u32>) -> Result<()> {
    match warp.take() {
        Some(warp) => writer.end_warp(blocks - 1, warp),
        None => Ok(()),
    }
}

/// The warp instruction that does what `sass` does on the SM path.
fn instr(sass: &SassInstr, survey: &Survey) -> Instr {
    let shared = survey.shared_offsets(sass).is_some();
    let kind = match sass.class {
        OpClass::Alu => InstrKind::Alu,
        OpClass::Mov => InstrKind::Mov,
        OpClass::Sfu => InstrKind::Sfu,
        OpClass::Branch => InstrKind::Branch,
        OpClass::Bar => InstrKind::Bar,
        OpClass::Exit => InstrKind::Exit,
        // A memory instruction whose lanes are all off goes nowhere.
        _ if sass.addresses.is_none() => InstrKind::Alu,
        OpClass::Load(_) if shared => InstrKind::LdShared,
        OpClass::Store(_) if shared => InstrKind::StShared,
        OpClass::Atomic(_) if shared => InstrKind::AtomShared,
        OpClass::Store(_) => InstrKind::StGlobal,
        // A reduction is sent off, an atomic brings a value back.
        OpClass::Atomic(_) if sass.dests.is_empty() => InstrKind::StGlobal,
        OpClass::Load(_) | OpClass::Atomic(_) => InstrKind::LdGlobal,
    };
    let mut instr = Instr::new(kind, sass.pc, sass.mask.into());
    instr.dst = sass.dests.first().copied();
    let sources = &sass.sources[..sass.sources.len().min(MAX_SOURCES)];
    instr.srcs = Sources::new(sources).unwrap_or_default();
    if kind.is_memory() {
        if !kind.is_word_only() {
            instr.bytes = sass.bytes as u8;
        }
        if kind == InstrKind::AtomShared && is_increment(&sass.opcode) {
            instr.detail = Detail::Atomic(INCREMENT);
        }
        if kind == InstrKind::LdGlobal && matches!(sass.class, OpClass::Atomic(_)) {
            instr.detail = Detail::PastL1 { writes: true };
        }
        instr.addrs = addresses(sass, survey);
    }
    instr
}

fn addresses(sass: &SassInstr, survey: &Survey) -> Addresses {
    let mut lanes = [0; WARP_SIZE as usize];
    match survey.shared_offsets(sass) {
        Some(offsets) => offsets.for_each(|(lane, offset)| lanes[lane] = offset),
        None => lanes = sass.addresses.as_deref().copied().unwrap_or(lanes),
    }
    Addresses::from_lanes(sass.mask.into(), |l| lanes[l], lanes.len())
}
