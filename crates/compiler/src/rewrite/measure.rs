//! Cost and gain of a mapping in a launch: runs the original and the rewritten
//! kernel.

use super::{Request, Rewritten, text};
use serde::Serialize;
use spadkit_base::error::{Error, Result};
use spadkit_launch::capture::{RunOptions, launch_trace, refuse_faults};
use spadkit_launch::launch::{LaunchFile, Options, Prepared};
use spadkit_mapping::trace::{ConflictProfile, ConflictRule};
use spadkit_ptx::Module;
use spadkit_ptx::exec::{Launch, Outcome, SharedPart};

/// A kernel before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Warp instructions that the rewritten kernel executes more, over all
    /// launches of the entry.
    pub added_executed: i64,
    /// Warp instructions that the rewritten kernel executes more per executed access
    /// to shared memory; `None` without accesses.
    pub added_per_access: Option<f64>,
    /// Warp instructions that access shared memory.
    #[serde(skip)]
    pub shared_accesses: u64,
    /// Bank conflicts of one block of the entry's first launch, as given.
    pub conflicts_before: u64,
    /// Bank conflicts of that block in the rewritten kernel.
    pub conflicts_after: u64,
    /// Whether all buffers hold the same after the run.
    pub outputs_equal: bool,
}

/// The launches of a file with the shared memory that the rewritten kernel
/// needs.
pub fn with_shared(file: &LaunchFile, entries: &[String], rewritten: &Rewritten) -> LaunchFile {
    let mut file = file.clone();
    if !rewritten.parts.is_empty() {
        let part = |p: &super::MovedPart| SharedPart {
            name: p.name.clone(),
            offset: p.offset,
            bytes: p.bytes,
        };
        file.shared = rewritten.parts.iter().map(part).collect();
    }
    if let Some(bytes) = rewritten.dynamic_shared {
        let launches = std::iter::once(&mut file.first).chain(&mut file.then);
        for (launch, entry) in launches.zip(entries) {
            if *entry == rewritten.entry {
                launch.dynamic_shared = bytes;
            }
        }
    }
    file
}

/// Runs the launches of `file` with `module` and with the text rewritten from
/// it; conflicts are counted by `rule` for the banks of the request.
pub fn measure(
    file: &LaunchFile,
    module: &Module,
    request: &Request,
    rewritten: &Rewritten,
    rule: ConflictRule,
) -> Result<Measured> {
    let Some(new) = rewritten.text() else {
        return Err(Error::usage(
            format!("{} was not rewritten", request.entry),
            "there is nothing to measure",
        ));
    };
    let mut before = file.prepare(module)?;
    let entries: Vec<String> = before.launches().iter().map(|l| l.entry.clone()).collect();
    let changed_file = with_shared(file, &entries, rewritten);
    let changed = text::written(new, module)?;
    let mut after = changed_file.prepare(&changed)?;
    let counted = Counted {
        entry: &request.entry,
        rule,
        bank_mask: request.geometry.bank_mask(),
    };
    let first = counted.run(&mut before, file, module)?;
    let second = counted.run(&mut after, &changed_file, &changed)?;
    let equal = before.outputs().eq(after.outputs());
    let added = second.instructions as i64 - first.instructions as i64;
    Ok(Measured {
        added_executed: added,
        added_per_access: match first.accesses {
            0 => None,
            n => Some(added as f64 / n as f64),
        },
        shared_accesses: first.accesses,
        conflicts_before: first.conflicts,
        conflicts_after: second.conflicts,
        outputs_equal: equal,
    })
}

/// The counters of a run.
struct Counted<'a> {
    /// Entry whose launches are counted.
    entry: &'a str,
    rule: ConflictRule,
    /// The address bits that are the bank.
    bank_mask: u32,
}

#[derive(Default)]
struct Counts {
    instructions: u64,
    accesses: u64,
    conflicts: u64,
}

impl Counted<'_> {
    /// Runs all launches in order; conflicts are those of the entry's first.
    fn run(&self, prepared: &mut Prepared, file: &LaunchFile, module: &Module) -> Result<Counts> {
        let mut counts = Counts::default();
        let count = |launch: &Launch, outcome: &Outcome| {
            if launch.entry == self.entry {
                counts.instructions += outcome.warp_instructions;
                counts.accesses += outcome.shared_accesses;
            }
        };
        let outcome = prepared.run_each(&Options::default(), count)?;
        refuse_faults(&outcome, &file.source.path)?;
        // Only one block runs, so it gets its own buffers.
        let mut copy = file.prepare(module)?;
        let first = copy.launches().iter().position(|l| l.entry == self.entry);
        if let Some(index) = first {
            let trace = launch_trace(&mut copy, file, index, RunOptions::default())?;
            let profile = ConflictProfile::new(&trace, self.rule);
            counts.conflicts = profile.count(|word| word & self.bank_mask).conflicts;
        }
        Ok(counts)
    }
}
