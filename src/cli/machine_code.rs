//! `--machine-code`: what the accesses of the PTX became in the machine code.

use super::conflicts_lines::Counted;
use crate::assembler::ledger::{Fates, Ledger, LedgerSite};
use crate::assembler::{Assembler, AssemblerId};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::page::{Details, Table};
use crate::software::{Layout, LayoutSpec};
use crate::suggest::Suggestion;
use crate::tool::Toolbox;
use crate::trace::{AccessTrace, ConflictProfile, without_folder};
use crate::workload::Input;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A trace beside the machine code of its kernel.
pub(super) struct MachineCode {
    assembler: AssemblerId,
    ledger: Ledger,
}

impl MachineCode {
    /// Assembles the kernel of `input`, a launch file, for the machine.
    pub fn of(input: &Input, trace: &AccessTrace, machine: &Config) -> Result<Self> {
        let Some(launch) = input.launch() else {
            return Err(Error::usage(
                format!("--machine-code for {input}, which has no PTX"),
                "expected a launch file (.toml)",
            ));
        };
        if !launch.file()?.linked.is_empty() {
            return Err(Error::usage(
                format!("--machine-code for {input}, which links several PTX files"),
                "expected a launch file with one PTX file",
            ));
        }
        let module = launch.module()?;
        let tools = Toolbox::new();
        let assembler = Assembler::required(&tools, module, machine.compute_capability())?;
        let code = assembler.accesses(&tools, &module.text, &trace.name)?;
        Ok(MachineCode {
            assembler: assembler.id(),
            ledger: Ledger::new(trace, &code),
        })
    }

    /// The same where it can be read; nothing where a tool is missing, or it has no PTX.
    pub fn if_known(input: &Input, trace: &AccessTrace, machine: &Config) -> Option<Self> {
        input.launch()?;
        Self::of(input, trace, machine).ok()
    }

    /// The assembler, in texts.
    pub fn assembler(&self) -> String {
        self.assembler.to_string()
    }

    /// What to say of changes that were found in the PTX, where the assembler merges accesses
    /// of their lines: around each index a function, it does not.
    pub fn doubt(&self, changes: &[Suggestion]) -> Option<String> {
        let calling = changes.iter().filter(|s| !s.function.is_empty());
        let changed: BTreeSet<&str> = calling
            .flat_map(|s| &s.lines)
            .filter_map(|line| line.source.as_deref())
            .collect();
        let merged = self.ledger.sites.iter().filter(|s| s.fates.merged > 0);
        let places: BTreeSet<String> = merged
            .filter_map(|site| site.place.clone().of_user().0.source)
            .filter(|source| changed.contains(source.as_str()))
            .map(|source| without_folder(&source).to_owned())
            .collect();
        let first = places.first()?;
        let others = match places.len() - 1 {
            0 => String::new(),
            1 => " and one more line".to_owned(),
            n => format!(" and {n} more lines"),
        };
        Some(format!(
            "The assembler merges accesses at {first}{others}, and may not merge them in the \
             changed source: --machine-code judges by the machine code."
        ))
    }

    /// The accesses that the machine code makes.
    pub fn into_trace(self) -> AccessTrace {
        self.ledger.trace
    }

    /// What it makes of `trace` under each mapping, and under the first of each
    /// access site.
    pub fn shown(
        &self,
        trace: &AccessTrace,
        specs: &[&LayoutSpec],
        machine: &Config,
    ) -> Result<Shown> {
        let rule = machine.conflict_rule();
        let count = |profile: &ConflictProfile, layout: &Layout| {
            let ideal = profile.ideal_wavefronts(machine.geometry.banks());
            Counted::new(profile.count(|a| layout.bank(a)), ideal)
        };
        let whole = ConflictProfile::new(&self.ledger.trace, rule);
        let result = |spec: &&LayoutSpec| {
            let layout = Layout::new(spec, machine.geometry)?;
            Ok(Under {
                hash: spec.to_string(),
                counted: count(&whole, &layout),
            })
        };
        let layout = match specs.first() {
            Some(spec) => Layout::new(spec, machine.geometry)?,
            None => Layout::new(
                &LayoutSpec::Hash(crate::hash::HashSpec::Mod),
                machine.geometry,
            )?,
        };
        let per_pc = |trace: &AccessTrace| -> BTreeMap<u32, Counted> {
            let profiles = ConflictProfile::per_pc(trace, rule);
            let counted = profiles.iter().map(|(pc, p)| (*pc, count(p, &layout)));
            counted.collect()
        };
        let (ptx, made) = (per_pc(trace), per_pc(&self.ledger.trace));
        let none = Counted::new(Default::default(), 0);
        let site = |site: &LedgerSite| Both {
            ptx: ptx.get(&site.pc).copied().unwrap_or(none),
            machine: made.get(&site.pc).copied().unwrap_or(none),
            difference: site.sentence(),
            site: site.clone(),
        };
        Ok(Shown {
            assembler: self.assembler.clone(),
            accesses: self.ledger.fates(),
            results: specs.iter().map(result).collect::<Result<_>>()?,
            sites: self.ledger.sites.iter().map(site).collect(),
        })
    }
}

/// The machine code's counts, as they are shown.
#[derive(Serialize)]
pub(super) struct Shown {
    assembler: AssemblerId,
    accesses: Fates,
    results: Vec<Under>,
    sites: Vec<Both>,
}

/// The counts under a mapping.
#[derive(Serialize)]
struct Under {
    hash: String,
    #[serde(flatten)]
    counted: Counted,
}

/// An access site in the PTX and in the machine code.
#[derive(Serialize)]
struct Both {
    #[serde(flatten)]
    site: LedgerSite,
    ptx: Counted,
    machine: Counted,
    /// A sentence; empty where nothing differs.
    difference: String,
}

impl Shown {
    pub fn details(&self) -> Details {
        let fates = &self.accesses;
        let header = ["hash", "conflicts", "max degree", "wavefronts", "ideal"];
        let results = self.results.iter().map(|under| {
            let mut row = vec![under.hash.clone()];
            row.extend(under.counted.cells());
            row
        });
        let mut details = Details::new();
        details.say(format!(
            "machine code, by {}: of {} warp accesses {} are kept, {} merged, {} split, {} done by \
             one lane, {} in a loop, {} removed, {} not accounted for",
            self.assembler,
            fates.total(),
            fates.kept,
            fates.merged,
            fates.split,
            fates.aggregated,
            fates.looped,
            fates.removed,
            fates.not_accounted,
        ));
        details.table(Table::new(&header, results).right(&header[1..]));
        let differs = |both: &&Both| !both.difference.is_empty();
        let header = [
            "pc",
            "access",
            "line",
            "wavefronts",
            "machine code's",
            "conflicts",
            "the machine's",
            "what it became",
        ];
        let row = |both: &Both| {
            vec![
                both.site.pc.to_string(),
                both.site.op.name().to_owned(),
                both.site.place.text(),
                both.ptx.wavefronts.to_string(),
                both.machine.wavefronts.to_string(),
                both.ptx.conflicts.to_string(),
                both.machine.conflicts.to_string(),
                both.difference.clone(),
            ]
        };
        let rows = self.sites.iter().filter(differs).map(row);
        let minor = ["machine code's", "wavefronts", "access"];
        details.table(Table::new(&header, rows).right(&header[3..7]).minor(&minor));
        details
    }
}
