//! The ledger: for every executed access of a trace of PTX, the instruction of the
//! machine code that it became (docs/guides/machine-code.md).
//!
//! The machine code does not run here. An instruction of it has the line of a PTX
//! access; what the PTX did there, in which order and at which addresses, the trace
//! says. So each occurrence of an access in a warp is matched with an instruction
//! of its line, and if there is none, with a wider one that another line has.

mod copies;
mod moved;
mod site;
mod sites;
mod spare;
mod sunk;
mod turns;
mod versions;
mod warp;

use super::sass::MachineAccess;
use moved::Moved;
use serde::Serialize;
use sites::Sites;
use spadkit_mapping::trace::{Access, AccessTrace, Op, Place, Places};
use spadkit_ptx::Module;
use std::collections::BTreeMap;
use warp::Warp;

/// The outcomes of the occurrences of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fates {
    /// One instruction makes the same access.
    pub kept: u64,
    /// Part of a wider access, with others of the PTX.
    pub merged: u64,
    /// Narrower accesses.
    pub split: u64,
    /// One lane performs the access for all.
    pub aggregated: u64,
    /// A loop of a load and an atomic: a round of it counts.
    pub looped: u64,
    /// No instruction: a register has the value, or nobody reads it.
    pub removed: u64,
    /// Moved behind a branch or a guard that no lane passes.
    pub skipped: u64,
    /// Unknown: it counts as in the PTX.
    pub not_accounted: u64,
}

impl Fates {
    /// Number of all occurrences.
    pub fn total(&self) -> u64 {
        self.accounted() + self.not_accounted
    }

    /// Occurrences whose machine instruction is known, or that need none.
    pub fn accounted(&self) -> u64 {
        self.kept
            + self.merged
            + self.split
            + self.aggregated
            + self.looped
            + self.removed
            + self.skipped
    }
}

/// An access site of the PTX, and the machine instructions that do its work.
#[derive(Clone, Debug, Serialize)]
pub struct LedgerSite {
    /// Number of the site in the trace.
    pub pc: u32,
    /// Operation of the access.
    pub op: Op,
    /// Place of the access.
    #[serde(flatten)]
    pub place: Place,
    /// The outcomes of its occurrences.
    pub fates: Fates,
    /// The instructions that its line has: names with their number.
    pub instructions: Vec<String>,
    /// Lines of the PTX whose instruction does its work, too.
    pub merged_into: Vec<u32>,
    /// Whether the machine code has a load behind a branch or guard that the PTX does not
    /// have there, so that it may execute the load for fewer warps than are counted.
    pub may_be_skipped: bool,
    /// Whether the machine code has a load behind a branch or guard that the PTX does not have
    /// there, and it counts for the lanes that execute it.
    pub moved: bool,
}

/// The access sites of a trace, matched with the machine code.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// Access sites of the trace.
    pub sites: Vec<LedgerSite>,
    /// The accesses that the machine code makes. Merged accesses belong to the site
    /// whose line the instruction has.
    pub trace: AccessTrace,
}

/// An access of the machine code, and where it stands among those of the PTX.
struct Made {
    at: usize,
    access: Access,
}

impl Ledger {
    /// Matches `trace` with the `code` of its entry, which is in `module`.
    pub fn of(trace: &AccessTrace, module: &Module, code: &[MachineAccess]) -> Self {
        let places = trace.places();
        let moved = Moved::new(trace, &places, module, code);
        let mut ledger = Self::matched(trace, &places, code, &moved);
        sunk::mark(&mut ledger.sites, module, code);
        ledger
    }

    /// Matches `trace` with `code` of which the PTX is not known.
    pub fn new(trace: &AccessTrace, code: &[MachineAccess]) -> Self {
        Self::matched(trace, &trace.places(), code, &Moved::default())
    }

    fn matched(
        trace: &AccessTrace,
        places: &Places,
        code: &[MachineAccess],
        moved: &Moved,
    ) -> Self {
        let sites = Sites::new(trace, places, code);
        let mut fates: BTreeMap<u32, Fates> = BTreeMap::new();
        let mut made: Vec<Made> = Vec::new();
        let warps: std::collections::BTreeSet<u32> =
            trace.accesses.iter().map(|a| a.warp).collect();
        for warp in warps {
            let of_warp = trace.accesses.iter().enumerate();
            let own = of_warp.filter(|(_, a)| a.warp == warp).collect();
            Warp::new(own, &sites).match_all(&mut fates, &mut made);
        }
        leave_out(trace, moved, &made, &mut fates);
        let mut made = moved.applied(made);
        made.sort_by_key(|m| m.at);
        let barriers = trace.barriers.iter().map(|&before| {
            let at = made.partition_point(|m| m.at < before as usize);
            at as u32
        });
        let barriers = barriers.collect();
        let accesses = made.into_iter().map(|m| m.access).collect();
        let site = |(pc, fates): (u32, Fates)| LedgerSite {
            pc,
            op: sites.of(pc).op,
            place: places.of(pc),
            fates,
            instructions: sites.names(pc),
            merged_into: sites.partner_lines(pc),
            may_be_skipped: false,
            moved: moved.sites.contains(&pc),
        };
        Ledger {
            sites: fates.into_iter().map(site).collect(),
            trace: AccessTrace {
                barriers,
                accesses,
                ..trace.clone()
            },
        }
    }

    /// The outcomes of all accesses together.
    pub fn fates(&self) -> Fates {
        self.sites.iter().fold(Fates::default(), |all, site| Fates {
            kept: all.kept + site.fates.kept,
            merged: all.merged + site.fates.merged,
            split: all.split + site.fates.split,
            aggregated: all.aggregated + site.fates.aggregated,
            looped: all.looped + site.fates.looped,
            removed: all.removed + site.fates.removed,
            skipped: all.skipped + site.fates.skipped,
            not_accounted: all.not_accounted + site.fates.not_accounted,
        })
    }
}

/// Counts the moved accesses that no lane executes as skipped.
fn leave_out(trace: &AccessTrace, moved: &Moved, made: &[Made], fates: &mut BTreeMap<u32, Fates>) {
    let places: std::collections::BTreeSet<(usize, u32)> =
        made.iter().map(|m| (m.at, m.access.pc)).collect();
    for (at, pc) in places {
        let is_own = trace.accesses[at].pc == pc;
        if let Some(fate) = fates
            .get_mut(&pc)
            .filter(|_| is_own && moved.leaves_out(at, pc))
        {
            let counts = [&mut fate.kept, &mut fate.split, &mut fate.merged];
            if let Some(count) = counts.into_iter().find(|count| **count > 0) {
                *count -= 1;
                fate.skipped += 1;
            }
        }
    }
}

impl LedgerSite {
    /// The differences from the PTX, as text; empty without any.
    pub fn sentence(&self) -> String {
        let fates = &self.fates;
        let names = self.instructions.join(", ");
        let lines: Vec<String> = self.merged_into.iter().map(u32::to_string).collect();
        let lines = lines.join(", ");
        let mut said = Vec::new();
        if fates.merged > 0 && lines.is_empty() {
            said.push(format!("{} merged: {names}", fates.merged));
        } else if fates.merged > 0 {
            said.push(format!("{} merged with PTX {lines}", fates.merged));
        }
        if fates.split > 0 {
            said.push(format!("{} split: {names}", fates.split));
        }
        if fates.aggregated > 0 {
            said.push(format!("{}: one lane does it for all", fates.aggregated));
        }
        if fates.looped > 0 {
            said.push(format!(
                "{} in a loop: a load and {names}; one round counts",
                fates.looped
            ));
        }
        if fates.removed > 0 {
            let why = match self.op {
                Op::Load => "a register has the value",
                _ => "no instruction is left of it",
            };
            said.push(format!("{} removed: {why}", fates.removed));
        }
        if self.moved {
            said.push("moved behind a branch or guard: its warps and lanes count".to_owned());
        }
        if fates.skipped > 0 {
            said.push(format!(
                "{} skipped: no lane executes it there",
                fates.skipped
            ));
        }
        if fates.not_accounted > 0 {
            let count = fates.not_accounted;
            said.push(format!("{count} not accounted for: counted as in the PTX"));
        }
        if self.may_be_skipped {
            said.push("behind a branch or guard, so that fewer warps may execute it".to_owned());
        }
        said.join("; ")
    }
}

#[cfg(test)]
mod tests;
