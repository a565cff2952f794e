//! The workload of an SM: a kernel's description and a program per warp.

use super::incoming::Incoming;
use super::instr::{Detail, Instr, InstrKind, KernelInfo};
use spadkit_base::error::Result;
use spadkit_mapping::trace::Places;
use std::sync::Arc;

/// The program of one warp, in parts that fit into memory.
pub trait ProgramStream {
    /// The next instructions; `None` at the end. No part is empty.
    fn next_part(&mut self) -> Result<Option<Arc<[Instr]>>>;
}

/// A kernel whose warps have programs.
pub trait Workload: Sync {
    /// The kernel.
    fn info(&self) -> &KernelInfo;

    /// The program of warp `warp` of block `block` of the grid.
    fn open(&self, block: u32, warp: u32) -> Result<Box<dyn ProgramStream + '_>>;

    /// What other blocks of its cluster do to block `block`: of each `mbarrier` in order.
    fn incoming(&self, _block: u32) -> Result<Vec<Incoming>> {
        Ok(Vec::new())
    }

    /// The places of the instructions in the source, as far as known.
    fn places(&self) -> Places {
        Places::default()
    }
}

/// A program that is in memory as a whole.
pub(super) struct OnePart(pub Option<Arc<[Instr]>>);

impl ProgramStream for OnePart {
    fn next_part(&mut self) -> Result<Option<Arc<[Instr]>>> {
        Ok(self.0.take().filter(|part| !part.is_empty()))
    }
}

/// A program whose atomics on shared memory are loads.
pub(super) struct AtomicsAsLoads<'a>(Box<dyn ProgramStream + 'a>);

impl<'a> AtomicsAsLoads<'a> {
    pub fn of(program: Box<dyn ProgramStream + 'a>) -> Box<dyn ProgramStream + 'a> {
        Box::new(AtomicsAsLoads(program))
    }
}

impl ProgramStream for AtomicsAsLoads<'_> {
    fn next_part(&mut self) -> Result<Option<Arc<[Instr]>>> {
        let load = |instr: &Instr| {
            let mut instr = instr.clone();
            if instr.kind == InstrKind::AtomShared {
                (instr.kind, instr.detail) = (InstrKind::LdShared, Detail::None);
            }
            instr
        };
        let part = self.0.next_part()?;
        Ok(part.map(|part| part.iter().map(load).collect()))
    }
}
