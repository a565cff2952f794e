//! Applies mapped accesses to the text, and computes the shared memory that it needs.

use super::failure::{Impossible, Result};
use super::map::WORD;
use super::plan::{self, Assume, Target};
use super::region::{self, Region};
use super::rewritten::{MovedPart, Rewritten, SharedBytes, Verdict};
use super::select::{Job, Selected};
use super::text;
use spadkit_ptx::ast::Module;
use spadkit_ptx::edit::Edits;
use spadkit_ptx::exec::SharedPart;

impl Job<'_> {
    /// No text, with the first reason.
    pub fn refused(&self, selected: Selected) -> Rewritten {
        let reason = match &selected.refused {
            Some(first) => format!("{}: {}", first.place(), first.reason),
            None => "nothing can be mapped".to_owned(),
        };
        self.unchanged(selected, Verdict::Refused(reason))
    }

    /// The findings about the kernel, without any change.
    fn unchanged(&self, selected: Selected, verdict: Verdict) -> Rewritten {
        let before = region::total(self.placed);
        Rewritten {
            entry: self.request.entry.clone(),
            accesses: self.found.list.len(),
            rewritten: 0,
            verdict,
            together: selected.together,
            mixed: selected.mixed,
            left: selected.left,
            with_modes: self.with_modes(),
            free: self.free(),
            added_static: 0,
            shared_bytes: SharedBytes {
                before,
                after: before,
            },
            dynamic_shared: None,
            parts: Vec::new(),
            block: None,
        }
    }

    /// Puts the regions that were selected into the text.
    pub fn apply(&self, reached: &[u32], selected: Selected) -> Result<Rewritten> {
        let regions = &selected.regions;
        let installed = region::install(self.module, reached, regions)?;
        let installed = text::written(&installed, self.module)?;
        // After the regions come their views, one for each part.
        let views = regions.iter().flat_map(Region::views);
        let seen: Vec<Region> = regions.iter().cloned().chain(views).collect();
        let target = |access| {
            let at = self.region_of(access, regions)?;
            let before: usize = regions[..at].iter().map(|r| r.parts.len()).sum();
            let part = regions[at].part_of(access.begins, access.bytes);
            let region = part.map_or(at, |part| regions.len() + before + part);
            Some(Target { access, region })
        };
        let targets: Vec<Target> = self.found.list.iter().filter_map(target).collect();
        let (text, block) = self.planned(&installed, &seen, &targets)?;
        let result = text::written(&text, self.module)?;
        let after = self.memory_of(&result, regions)?;
        self.require_room(&after, regions)?;
        let parts = self.moved_parts(regions);
        let unchanged = self.unchanged(selected, Verdict::Text(text));
        Ok(Rewritten {
            rewritten: targets.len(),
            added_static: instructions(&result) - instructions(&installed),
            shared_bytes: SharedBytes {
                after: after.total,
                ..unchanged.shared_bytes
            },
            dynamic_shared: after.dynamic,
            parts,
            block,
            ..unchanged
        })
    }

    /// The new offsets of the parts of dynamic shared memory, if some have their own mappings.
    fn moved_parts(&self, regions: &[Region]) -> Vec<MovedPart> {
        let Some(region) = regions.iter().find(|r| !r.parts.is_empty()) else {
            return Vec::new();
        };
        let moved = |part: &SharedPart| {
            let places = (part.offset..part.end()).filter_map(|b| region.map.place(b.into()));
            let (low, high) =
                places.fold((i64::MAX, 0), |(low, high), p| (low.min(p), high.max(p)));
            MovedPart {
                name: part.name.clone(),
                offset: low as u32,
                bytes: (high + 1 - low) as u32,
            }
        };
        self.request.parts.iter().map(moved).collect()
    }

    /// A block has room for the regions.
    fn require_room(
        &self,
        after: &BlockMemory,
        regions: &[Region],
    ) -> std::result::Result<(), Impossible> {
        if after.total.div_ceil(WORD) <= self.request.block_words {
            return Ok(());
        }
        let specs: Vec<String> = regions.iter().map(|r| r.spec.clone()).collect();
        Err(Impossible::new(
            format!(
                "{} needs {} bytes of shared memory with {}, a block has {}",
                self.request.entry,
                after.total,
                specs.join(", "),
                self.request.block_words * WORD
            ),
            "choose a mapping that wastes less, or a machine with more shared memory (--preset)",
        ))
    }

    /// The text with mapped accesses, and the block size where it is right for
    /// that alone.
    fn planned(
        &self,
        installed: &Module,
        regions: &[Region],
        targets: &[Target],
    ) -> Result<(String, Option<[u32; 3]>)> {
        let optimise = self.request.optimise;
        let planned = |block| plan::apply(installed, regions, targets, Assume { block, optimise });
        let for_any = planned(None);
        let entry = installed.entry(&self.request.entry)?;
        let Some(block) = self.request.assumed_block(installed, entry) else {
            return Ok((for_any, None));
        };
        let for_block = planned(Some(block));
        let relied = self.request.relied_block(installed, entry).is_some();
        if for_block == for_any && !relied {
            return Ok((for_any, None));
        }
        let module = text::written(&for_block, installed)?;
        let entry = module.entry(&self.request.entry)?;
        let at = text::body_start(&module, entry).map_or(0, |at| at - 1);
        let [x, y, z] = block;
        let mut edits = Edits::new();
        edits.insert(at, format!(".reqntid {x}, {y}, {z}\n"));
        Ok((edits.apply(&for_block), Some(block)))
    }

    /// Shared memory of a block of the kernel `result`.
    fn memory_of(&self, result: &Module, regions: &[Region]) -> Result<BlockMemory> {
        let of_region = regions.iter().find(|r| r.dynamic).map(|r| r.map.bytes());
        let dynamic = of_region.or(self.request.dynamic_shared);
        let entry = result.entry(&self.request.entry)?;
        let reached = result.reached(entry);
        let placed = region::placement(result, entry, &reached, dynamic)?;
        let has_dynamic = placed.iter().any(|v| v.dynamic);
        Ok(BlockMemory {
            total: region::total(&placed),
            dynamic: dynamic.filter(|_| has_dynamic),
        })
    }
}

/// Bytes of shared memory of a block.
struct BlockMemory {
    total: u32,
    /// Bytes that the launch must give, if it must give any.
    dynamic: Option<u32>,
}

/// Instructions of all functions.
fn instructions(module: &Module) -> i64 {
    let functions = module.functions.iter();
    functions.map(|f| f.instructions.len() as i64).sum()
}
