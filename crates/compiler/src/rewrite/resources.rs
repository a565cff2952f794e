//! The resources of a block under a mapping: registers, instructions, shared
//! memory, and the number of resident blocks.

use super::{Hashes, Request, Rewritten, attempt};
use crate::assembler::{Assembled, Assembler, allocated};
use serde::Serialize;
use spadkit_base::error::Result;
use spadkit_mapping::hash::HashSpec;
use spadkit_mapping::software::LayoutSpec;
use spadkit_ptx::Module;
use spadkit_sm::config::Config;
use spadkit_sm::sm::{BlockNeeds, Limit, Residency};

/// Blocks that are resident on an SM at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Occupancy {
    /// Blocks.
    pub blocks: u32,
    /// Warps of the resident blocks.
    pub warps: u32,
    /// The resource that limits the number of blocks.
    pub limited_by: Limit,
}

/// The resources of a block of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// The counts of `ptxas`; `None` if it is not installed.
    pub assembled: Option<Assembled>,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// `None` where the threads of a block are not known.
    pub occupancy: Option<Occupancy>,
}

impl Resources {
    /// The differences from `before`, as text: `registers 47 → 80, blocks per SM 20 → 12`.
    pub fn change_from(&self, before: &Resources) -> Option<String> {
        let both = |what: &str, before: Option<u32>, after: Option<u32>| {
            let (before, after) = before.zip(after)?;
            Some(if before == after {
                format!("{what} {after} as before")
            } else {
                format!("{what} {before} → {after}")
            })
        };
        let registers = |r: &Resources| r.assembled.as_ref().map(|a| a.registers);
        let blocks = |r: &Resources| r.occupancy.map(|o| o.blocks);
        let parts = [
            both("registers", registers(before), registers(self)),
            both("blocks per SM", blocks(before), blocks(self)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The blocks of a kernel's launches.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    /// The SM.
    pub machine: &'a Config,
    /// `ptxas`, where it is installed.
    pub assembler: Option<&'a Assembler>,
    /// Threads of a block in x, y, z, where they are known.
    pub block_dim: Option<[u32; 3]>,
    /// Registers of a thread where nothing assembles; 0 if unknown: they then
    /// limit nothing.
    pub registers: u32,
}

impl Block<'_> {
    /// The resources of a block of `entry` in the PTX `text`.
    pub fn resources(&self, text: &str, entry: &str, shared_bytes: u32) -> Result<Resources> {
        let assembled = match self.assembler {
            Some(assembler) => Some(assembler.assemble(text, entry)?),
            None => None,
        };
        let occupancy = |block_dim: [u32; 3]| {
            let threads = block_dim.iter().map(|&n| u64::from(n)).product::<u64>();
            let needs = BlockNeeds {
                name: entry,
                scratchpad_bytes: shared_bytes,
                threads,
                registers: allocated(assembled.as_ref(), Some(self.registers)).unwrap_or(0),
            };
            let resident = Residency::new(self.machine, &needs, None)?;
            let warps = threads.div_ceil(self.machine.warp_size.into()) as u32;
            Ok(Occupancy {
                blocks: resident.blocks(),
                warps: resident.blocks() * warps,
                limited_by: resident.limit,
            })
        };
        Ok(Resources {
            assembled,
            shared_bytes,
            occupancy: self.block_dim.map(occupancy).transpose()?,
        })
    }

    /// The resources of a block with all shared variables mapped by `spec`, as
    /// in `rewritten`; `None` if that was refused.
    pub fn under(
        &self,
        module: &Module,
        spec: &LayoutSpec,
        rewritten: &Rewritten,
    ) -> Result<Option<Resources>> {
        let bytes = rewritten.shared_bytes;
        // The unmapped kernel needs no array, and is not refused.
        let (text, bytes) = match (spec, rewritten.text()) {
            (LayoutSpec::Hash(HashSpec::Mod), _) => (module.text.as_str(), bytes.before),
            (_, Some(text)) => (text, bytes.after),
            (_, None) => return Ok(None),
        };
        self.resources(text, &rewritten.entry, bytes).map(Some)
    }
}

/// The resources of a block with all shared variables under each of `specs`,
/// put into the PTX by `request`; `None` if that is refused or impossible.
pub fn under_each(
    module: &Module,
    request: &Request,
    specs: &[LayoutSpec],
    block: &Block,
) -> Result<Vec<Option<Resources>>> {
    let under = |spec: &LayoutSpec| {
        let request = Request {
            hashes: Hashes::All(spec.clone()),
            ..request.clone()
        };
        match attempt(module, &request)? {
            Ok(rewritten) => block.under(module, spec, &rewritten),
            Err(_impossible) => Ok(None),
        }
    };
    specs.iter().map(under).collect()
}
