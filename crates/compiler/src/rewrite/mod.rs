//! The software hash as a compiler pass: a bank mapping put into
//! a PTX kernel, for the GPUs of today, which have no hash unit.
//!
//! Word i of a region of shared memory is kept at row(i) * 2^m + bank(i).
//! Addresses stay what they are everywhere in the kernel; only where shared
//! memory is accessed the address is mapped. So it does not matter how an
//! address was computed, compared or passed on, as long as every access of a
//! region maps it. What cannot be rewritten is an obstacle for all that it may
//! touch.
//!
//! A kernel goes through these steps:
//!
//! - `access` finds the accesses and what each may touch.
//! - `select` finds what can be mapped.
//! - `callees` gives the kernel its own copies of device functions.
//! - `region` puts the variables into one array; `map` maps that array.
//! - `plan` decides where addresses are mapped, and `code` how.
//! - `apply` puts all of it into the text.

mod access;
mod apply;
mod callees;
mod code;
mod failure;
mod in_machine_code;
mod map;
mod measure;
mod plan;
mod propose;
mod region;
mod resources;
mod rewritten;
mod select;
mod text;

pub use failure::Impossible;
pub use in_machine_code::{MachineConflicts, MachineCounts};
pub use measure::{Measured, measure, with_shared};
pub use propose::{Proposal, one_for_all, propose};
pub use resources::{Block, Occupancy, Resources, under_each};
pub use rewritten::{Left, MovedPart, Rewritten, SharedBytes, Verdict};

use failure::Failure;
use select::Job;
use spadkit_base::error::Result;
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::software::LayoutSpec;
use spadkit_ptx::ast::Module;
use spadkit_ptx::exec::{Launch, SharedPart};
use spadkit_ptx::marker::LAYOUT;
use spadkit_sm::config::Config;
use std::ops::Range;

/// A request to rewrite a kernel.
#[derive(Clone, Debug)]
pub struct Request {
    /// The entry.
    pub entry: String,
    /// One mapping for all shared variables together, or mappings for some of them.
    pub hashes: Hashes,
    /// Banks of the machine, and addresses.
    pub geometry: Geometry,
    /// Words of shared memory that a block can have.
    pub block_words: u32,
    /// Bytes of dynamic shared memory of the launch, where it is known.
    pub dynamic_shared: Option<u32>,
    /// Names for parts of dynamic shared memory, by offset.
    pub parts: Vec<SharedPart>,
    /// Threads of a block, where every launch has the same.
    pub block: Option<[u32; 3]>,
    /// Whether addresses are mapped once for several accesses, outside loops
    /// and by what is known of their bits; else before each access.
    pub optimise: bool,
}

impl Request {
    /// `hashes` for `entry` as `launches` launch it.
    pub fn of_launches(machine: &Config, launches: &[Launch], entry: &str, hashes: Hashes) -> Self {
        let own = || launches.iter().filter(|l| l.entry == entry);
        let first = own().next().map(|l| l.block);
        Request {
            entry: entry.to_owned(),
            hashes,
            geometry: machine.geometry,
            block_words: machine.block_words,
            dynamic_shared: own().map(|l| l.dynamic_shared).max(),
            parts: Vec::new(),
            block: first.filter(|first| own().all(|l| l.block == *first)),
            optimise: true,
        }
    }
}

impl Request {
    /// The bytes of the parts of dynamic shared memory that have mappings of their own.
    fn mapped_parts(&self) -> Vec<Range<u32>> {
        let Hashes::Named(list) = &self.hashes else {
            return Vec::new();
        };
        let is_mapped = |part: &&SharedPart| list.iter().any(|(name, _)| part.name == *name);
        let parts = self.parts.iter().filter(is_mapped);
        parts.map(|part| part.offset..part.end()).collect()
    }

    /// The block size that may be assumed of an entry, which then says so.
    fn assumed_block(&self, module: &Module, entry: u32) -> Option<[u32; 3]> {
        // `.maxntid` excludes `.reqntid`.
        let tuning = &module.functions[entry as usize].tuning;
        let free = tuning.reqntid.is_none() && tuning.maxntid.is_none();
        self.block.filter(|_| free && self.optimise)
    }

    /// The block size on which it depends in which part an access is.
    fn relied_block(&self, module: &Module, entry: u32) -> Option<[u32; 3]> {
        let assumed = self.assumed_block(module, entry);
        assumed.filter(|_| !self.mapped_parts().is_empty())
    }
}

/// The mappings of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hashes {
    /// One mapping for the kernel's shared variables, which together form one array.
    All(LayoutSpec),
    /// Mappings of their own for these variables, in arrays of their own, and for
    /// these parts of dynamic shared memory; others stay.
    Named(Vec<(String, LayoutSpec)>),
}

/// Puts mappings into an entry of `module`, which one text stands for
/// ([`Module::one_text`]). What is impossible is a usage error.
pub fn rewrite(module: &Module, request: &Request) -> Result<Rewritten> {
    attempt(module, request)?.map_err(Impossible::into_error)
}

/// Rewrites as [`rewrite`] does, for one of several mappings to try: an impossible
/// mapping is distinguished from an error.
pub fn attempt(
    module: &Module,
    request: &Request,
) -> Result<std::result::Result<Rewritten, Impossible>> {
    match rewritten(module, request) {
        Ok(done) => Ok(Ok(done)),
        Err(Failure::Impossible(why)) => Ok(Err(why)),
        Err(Failure::Error(error)) => Err(error),
    }
}

fn rewritten(module: &Module, request: &Request) -> failure::Result<Rewritten> {
    let entry = module.entry(&request.entry)?;
    module.require_one_text("rewrite")?;
    refuse_marker(module, entry)?;
    let reached = module.reached(entry);
    let placed = region::placement(module, entry, &reached, request.dynamic_shared)?;
    if placed.is_empty() {
        return Err(Impossible::new(
            format!("{} has no shared memory", request.entry),
            "there is nothing to map",
        )
        .into());
    }
    let used: Vec<_> = placed.iter().map(|p| p.variable).collect();
    let block = request.relied_block(module, entry);
    let found = access::accesses(module, &reached, &used, &request.mapped_parts(), block);
    let job = Job {
        module,
        request,
        placed: &placed,
        found: &found,
    };
    let selected = job.regions()?;
    if let Some(mixed) = &selected.mixed
        && let Some(whole) = in_one_array(module, request, mixed)?
    {
        return Ok(whole);
    }
    if selected.regions.is_empty() {
        return Ok(job.refused(selected));
    }
    let changed: Vec<u32> = found.list.iter().map(|a| a.function).collect();
    if let Some(own) = callees::isolated(module, &reached, &changed)? {
        // Lines are those of the text that was given.
        let (left, mixed) = (selected.left, selected.mixed);
        let done = rewritten(&own, request)?;
        return Ok(Rewritten {
            left,
            mixed,
            ..done
        });
    }
    job.apply(&reached, selected)
}

/// Puts all shared variables under the common mapping of the named ones. `None` if
/// they have several mappings, or if that is impossible, too: then whatever is
/// possible without it is done.
fn in_one_array(module: &Module, request: &Request, mixed: &Left) -> Result<Option<Rewritten>> {
    let Hashes::Named(list) = &request.hashes else {
        return Ok(None);
    };
    let Some((_, spec)) = list.first() else {
        return Ok(None);
    };
    if list.iter().any(|(_, other)| other != spec) {
        return Ok(None);
    }
    let request = Request {
        hashes: Hashes::All(spec.clone()),
        ..request.clone()
    };
    let mixed = Some(mixed.clone());
    let whole = attempt(module, &request)?.ok();
    Ok(whole
        .filter(|whole| whole.text().is_some())
        .map(|whole| Rewritten { mixed, ..whole }))
}

/// Refuses the marker that fixes the offsets of variables, because the pass moves them.
fn refuse_marker(module: &Module, entry: u32) -> std::result::Result<(), Impossible> {
    if module.layout_marker(entry).is_none() {
        return Ok(());
    }
    Err(Impossible::new(
        format!(
            "{} places its variables by .pragma \"{LAYOUT} ...\"",
            module.functions[entry as usize].name
        ),
        "rewrite the kernel before it is shared",
    ))
}
