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
//! The way of a kernel through the pass: `access` finds the accesses and what
//! each may touch; `select` what can be mapped; `callees` gives the kernel its
//! own copies of device functions; `region` puts the variables into one array,
//! which `map` knows how to map; `plan` decides where addresses are mapped, and
//! `code` how.

mod access;
mod callees;
mod code;
mod map;
mod measure;
mod plan;
mod propose;
mod region;
mod resources;
mod select;
mod text;

pub use measure::{Measured, measure, with_shared};
pub use propose::{Proposal, one_for_all, propose};
pub use resources::{Block, Occupancy, Resources, under_each};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::geometry::Geometry;
use crate::ptx::ast::Module;
use crate::ptx::edit::Edits;
use crate::ptx::exec::Launch;
use crate::software::LayoutSpec;
use crate::trace::line_of_file;
use region::Region;
use select::{Job, Selected};
use serde::{Serialize, Serializer};

/// What is to be done to a kernel.
#[derive(Clone, Debug)]
pub struct Request {
    /// The entry.
    pub entry: String,
    /// One mapping for all shared variables together, or some for one each.
    pub hashes: Hashes,
    /// Banks of the machine, and addresses.
    pub geometry: Geometry,
    /// Words of shared memory that a block can have.
    pub block_words: u32,
    /// Bytes of dynamic shared memory of the launch, where it is known.
    pub dynamic_shared: Option<u32>,
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
            block: first.filter(|first| own().all(|l| l.block == *first)),
            optimise: true,
        }
    }
}

/// The mappings of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hashes {
    /// All shared variables of the kernel lie in one array under this one.
    All(LayoutSpec),
    /// These variables lie in arrays of their own; others stay.
    Named(Vec<(String, LayoutSpec)>),
}

/// An access that stays as it is, or why nothing is rewritten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// 1-based line of the PTX.
    pub line: u32,
    /// The file of the PTX, where several are linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_file: Option<String>,
    /// Why.
    pub reason: String,
}

impl Left {
    /// Its line, of several files with its file.
    pub fn place(&self) -> String {
        line_of_file(self.ptx_file.as_deref(), self.line)
    }
}

/// Bytes of shared memory of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SharedBytes {
    /// In the kernel as given.
    pub before: u32,
    /// In the one rewritten.
    pub after: u32,
}

/// What a kernel came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The PTX with mapped accesses.
    Text(String),
    /// Why nothing was rewritten.
    Refused(String),
}

/// Serialised as the reason for a refusal, or null.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Verdict::Text(_) => serializer.serialize_none(),
            Verdict::Refused(reason) => serializer.serialize_some(reason),
        }
    }
}

/// What was done to a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rewritten {
    /// The entry.
    pub entry: String,
    /// Instructions that access shared memory.
    pub accesses: usize,
    /// Those of them whose address is mapped.
    pub rewritten: usize,
    /// The PTX, or why there is none.
    #[serde(rename = "refused")]
    pub verdict: Verdict,
    /// Words that a mapping must leave together, where the one wanted does
    /// not.
    #[serde(skip)]
    pub together: Option<u32>,
    /// The first access that may touch variables with mappings of their own: one
    /// mapping for all of shared memory was taken instead if they are equal,
    /// else some stay as they are.
    pub mixed: Option<Left>,
    /// Accesses that stay as they are.
    pub left: Vec<Left>,
    /// Variables that tensor copies or `wgmma` access in a swizzle mode of
    /// their own.
    #[serde(skip)]
    pub with_modes: Vec<String>,
    /// Variables that nothing stands in the way of, mapped by name.
    #[serde(skip)]
    pub free: Vec<String>,
    /// Instructions that the text has more than before.
    pub added_static: i64,
    /// Bytes of shared memory of a block.
    pub shared_bytes: SharedBytes,
    /// Bytes of dynamic shared memory that a launch must give, where it must
    /// give some.
    pub dynamic_shared: Option<u32>,
    /// Threads of a block, where the text is right for these alone; it says so
    /// with `.reqntid`.
    pub block: Option<[u32; 3]>,
}

impl Rewritten {
    /// The PTX; `None` where it was refused.
    pub fn text(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Text(text) => Some(text),
            Verdict::Refused(_) => None,
        }
    }

    /// Why nothing was rewritten.
    pub fn refused(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Text(_) => None,
            Verdict::Refused(reason) => Some(reason),
        }
    }
}

/// Puts mappings into an entry of `module`, which one text stands for
/// ([`Module::one_text`]).
pub fn rewrite(module: &Module, request: &Request) -> Result<Rewritten> {
    let entry = module.entry(&request.entry)?;
    module.require_one_text("rewrite")?;
    refuse_marker(module)?;
    let reached = module.reached(entry);
    let placed = region::placement(module, entry, &reached, request.dynamic_shared)?;
    if placed.is_empty() {
        return Err(Error::usage(
            format!("{} has no shared memory", request.entry),
            "there is nothing to map",
        ));
    }
    let used: Vec<_> = placed.iter().map(|p| p.variable).collect();
    let found = access::accesses(module, &reached, &used);
    let job = Job {
        module,
        request,
        placed: &placed,
        found: &found,
    };
    let selected = job.regions()?;
    if let Some(mixed) = &selected.mixed
        && let Some(whole) = in_one_array(module, request, mixed)
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
        let done = rewrite(&own, request)?;
        return Ok(Rewritten {
            left,
            mixed,
            ..done
        });
    }
    job.apply(&reached, selected)
}

/// All shared variables under the one mapping that those named have; `None`
/// where they have several, or where that cannot be had either: what can be
/// done without it is then done.
fn in_one_array(module: &Module, request: &Request, mixed: &Left) -> Option<Rewritten> {
    let Hashes::Named(list) = &request.hashes else {
        return None;
    };
    let (_, spec) = list.first()?;
    if list.iter().any(|(_, other)| other != spec) {
        return None;
    }
    let request = Request {
        hashes: Hashes::All(spec.clone()),
        ..request.clone()
    };
    let whole = rewrite(module, &request).ok()?;
    let mixed = Some(mixed.clone());
    let done = whole.text().is_some();
    done.then_some(Rewritten { mixed, ..whole })
}

/// The marker places variables that the pass puts elsewhere.
fn refuse_marker(module: &Module) -> Result<()> {
    if module.text.contains("spadkit.layout") {
        Err(Error::usage(
            format!(
                "{} places its variables by .pragma \"spadkit.layout ...\"",
                module.name
            ),
            "rewrite the kernel before it is shared",
        ))
    } else {
        Ok(())
    }
}

impl Job<'_> {
    fn refused(&self, selected: Selected) -> Rewritten {
        let before = region::total(self.placed);
        let reason = match selected.refused {
            Some(first) => format!("{}: {}", first.place(), first.reason),
            None => "nothing can be mapped".to_owned(),
        };
        Rewritten {
            entry: self.request.entry.clone(),
            accesses: self.found.list.len(),
            rewritten: 0,
            verdict: Verdict::Refused(reason),
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
            block: None,
        }
    }

    fn apply(&self, reached: &[u32], selected: Selected) -> Result<Rewritten> {
        let Selected {
            regions,
            left,
            together,
            mixed,
            ..
        } = selected;
        let installed = region::install(self.module, reached, &regions)?;
        let installed = Module::parse(&installed, &self.module.name)?;
        let accesses = self.found.list.iter();
        let targets = accesses.filter_map(|access| {
            Some(plan::Target {
                access,
                region: self.region_of(access, &regions)?,
            })
        });
        let targets: Vec<plan::Target> = targets.collect();
        let (text, block) = self.planned(&installed, &regions, &targets)?;
        let result = Module::parse(&text, &self.module.name)?;
        let after = self.bytes_after(&result, &regions)?;
        self.refuse_larger(&after, &regions)?;
        Ok(Rewritten {
            entry: self.request.entry.clone(),
            accesses: self.found.list.len(),
            rewritten: targets.len(),
            verdict: Verdict::Text(text),
            together,
            mixed,
            left,
            with_modes: self.with_modes(),
            free: self.free(),
            added_static: instructions(&result) - instructions(&installed),
            shared_bytes: SharedBytes {
                before: region::total(self.placed),
                after: after.total,
            },
            dynamic_shared: after.dynamic,
            block,
        })
    }

    /// Refuses what a block has no room for.
    fn refuse_larger(&self, after: &After, regions: &[Region]) -> Result<()> {
        if after.total.div_ceil(map::WORD) <= self.request.block_words {
            return Ok(());
        }
        Err(Error::usage(
            format!(
                "{} needs {} bytes of shared memory with {}, a block has {}",
                self.request.entry,
                after.total,
                describe(regions),
                self.request.block_words * map::WORD
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
        targets: &[plan::Target],
    ) -> Result<(String, Option<[u32; 3]>)> {
        let mut assume = plan::Assume {
            block: None,
            optimise: self.request.optimise,
        };
        let any = plan::apply(installed, regions, targets, assume)?;
        let entry = installed.entry(&self.request.entry)?;
        let tuning = &installed.functions[entry as usize].tuning;
        assume.block = self.request.block;
        // The two directives exclude each other.
        let free = tuning.reqntid.is_none() && tuning.maxntid.is_none();
        if assume.block.is_none() || !free || !assume.optimise {
            return Ok((any, None));
        }
        let known = plan::apply(installed, regions, targets, assume)?;
        match (known == any, assume.block) {
            (false, Some([x, y, z])) => {
                let module = Module::parse(&known, &installed.name)?;
                let entry = module.entry(&self.request.entry)?;
                let at = text::body_start(&module, entry).map_or(0, |at| at - 1);
                let mut edits = Edits::new();
                edits.insert(at, format!(".reqntid {x}, {y}, {z}\n"));
                Ok((edits.apply(&known), assume.block))
            }
            _ => Ok((any, None)),
        }
    }

    /// Shared memory of a block of the kernel `result`.
    fn bytes_after(&self, result: &Module, regions: &[Region]) -> Result<After> {
        let of_region = regions.iter().find(|r| r.dynamic).map(|r| r.map.bytes());
        let dynamic = of_region.or(self.request.dynamic_shared);
        let entry = result.entry(&self.request.entry)?;
        let reached = result.reached(entry);
        let placed = region::placement(result, entry, &reached, dynamic)?;
        Ok(After {
            total: region::total(&placed),
            dynamic: placed
                .iter()
                .any(|v| v.dynamic)
                .then_some(dynamic)
                .flatten(),
        })
    }
}

struct After {
    total: u32,
    dynamic: Option<u32>,
}

/// Instructions of all functions.
fn instructions(module: &Module) -> i64 {
    let functions = module.functions.iter();
    functions.map(|f| f.instructions.len() as i64).sum()
}

fn describe(regions: &[Region]) -> String {
    let specs: Vec<String> = regions.iter().map(|r| r.spec.to_string()).collect();
    specs.join(", ")
}
