//! `--machine-code`: what the accesses of the PTX became in the machine code.

use super::conflicts_lines::Counted;
use crate::assembler::ledger::{Fates, Ledger, LedgerSite};
use crate::assembler::{Assembler, AssemblerId};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::launch::LaunchFile;
use crate::ptx::Module;
use crate::rewrite::{MachineCounts, Request};
use crate::software::choice::Array;
use crate::software::{Layout, LayoutSpec};
use crate::suggest::Suggestion;
use crate::terminal::{Details, Table, Tone};
use crate::tool::Toolbox;
use crate::trace::{AccessTrace, ConflictProfile};
use crate::workload::Input;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;

/// The code whose accesses conflicts and changes are judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum JudgeBy {
    /// Changes by the machine code, where ptxas and nvdisasm are installed; all else by the
    /// PTX.
    #[default]
    InstalledTools,
    /// Everything by the machine code.
    MachineCode,
    /// Everything by the PTX.
    Ptx,
}

impl JudgeBy {
    /// The choice for `machine_code`; `None` is no choice.
    pub fn of(machine_code: Option<bool>) -> Self {
        match machine_code {
            None => JudgeBy::InstalledTools,
            Some(true) => JudgeBy::MachineCode,
            Some(false) => JudgeBy::Ptx,
        }
    }

    /// The choice of the options `--machine-code` and `--no-machine-code`, at most one of
    /// which is given.
    fn of_options(machine_code: bool, no_machine_code: bool) -> Self {
        Self::of((machine_code || no_machine_code).then_some(machine_code))
    }

    /// The counts of the unchanged kernel; `None` if they are not asked for, or not known.
    pub fn counts<'a>(
        self,
        file: Option<&'a LaunchFile>,
        module: &'a Module,
        request: &'a Request,
        machine: &'a Config,
    ) -> Result<Option<MachineCounts<'a>>> {
        let Some(file) = file.filter(|_| self != JudgeBy::Ptx) else {
            return Ok(None);
        };
        self.known(MachineCounts::of(file, module, request, machine).map(Some))
    }

    /// The result from the machine code; if it was not asked for, a failure is no error.
    pub fn known<T>(self, found: Result<Option<T>>) -> Result<Option<T>> {
        match found {
            Err(_) if self != JudgeBy::MachineCode => Ok(None),
            found => found,
        }
    }
}

/// What commands that offer changes of the source judge by.
#[derive(Args, Clone, Copy, Default)]
pub(super) struct Judge {
    /// Count and judge the accesses of the machine code, which ptxas may merge or remove.
    /// Needs ptxas and nvdisasm. Without this option, only changes of the source are judged
    /// by the machine code, and only if both tools are installed.
    #[arg(long)]
    machine_code: bool,
    /// Judge changes of the source by the PTX, too.
    #[arg(long, conflicts_with = "machine_code")]
    no_machine_code: bool,
}

impl Judge {
    pub fn by(self) -> JudgeBy {
        JudgeBy::of_options(self.machine_code, self.no_machine_code)
    }

    /// Whether the accesses of the machine code are counted.
    pub fn is_by_machine_code(self) -> bool {
        self.by() == JudgeBy::MachineCode
    }

    /// The machine code that changes of the source are judged by: one assembly.
    pub fn of_changes(self, input: &Input, trace: &AccessTrace, machine: &Config) -> Judgement {
        match self.by() {
            JudgeBy::InstalledTools if input.launch().is_some() => {
                Judgement::by(MachineCode::of(input, trace, machine))
            }
            // A trace of the machine code, or of no kernel, is all that is known.
            by => Judgement::of_trace(by == JudgeBy::MachineCode),
        }
    }
}

/// Whether a rewritten kernel is judged by its machine code.
#[derive(Args, Clone, Copy, Default)]
pub(super) struct JudgeRewritten {
    /// With a launch file: count the conflicts of the machine code before and after, or
    /// fail. Needs ptxas and nvdisasm; where these are installed, they are counted without
    /// it.
    #[arg(long)]
    machine_code: bool,
    /// Count the conflicts of the PTX alone.
    #[arg(long, conflicts_with = "machine_code")]
    no_machine_code: bool,
}

impl JudgeRewritten {
    pub fn by(self) -> JudgeBy {
        JudgeBy::of_options(self.machine_code, self.no_machine_code)
    }
}

/// The machine code that changes of the source are judged by, where it is known.
#[derive(Default)]
pub(super) struct Judgement {
    made: Option<AccessTrace>,
    /// The trace that is judged has the accesses of the machine code itself.
    pub of_itself: bool,
    tools_are_missing: bool,
}

impl Judgement {
    /// The judgement of a trace without a kernel; `of_code`: the trace has the
    /// accesses of the machine code.
    pub fn of_trace(of_code: bool) -> Self {
        Judgement {
            of_itself: of_code,
            ..Judgement::default()
        }
    }

    /// Whether the machine code of a rewritten kernel has to gain.
    pub fn is_by_machine_code(&self) -> bool {
        self.of_itself || self.made.is_some()
    }

    /// A kernel that cannot be assembled is judged by its PTX.
    pub fn by(code: Result<MachineCode>) -> Self {
        Judgement {
            tools_are_missing: matches!(&code, Err(Error::ToolMissing { .. })),
            made: code.ok().map(MachineCode::into_trace),
            of_itself: false,
        }
    }

    /// The accesses of the machine code.
    pub fn trace(&self) -> Option<&AccessTrace> {
        self.made.as_ref()
    }

    /// A warning about changes that are not judged by the machine code.
    pub fn doubt(&self, changes: &[Suggestion]) -> Option<String> {
        let doubtful = self.tools_are_missing && !changes.is_empty();
        doubtful.then(|| {
            "The changes of the source are judged by the PTX alone: ptxas and nvdisasm are not \
             installed (spadkit doctor)."
                .to_owned()
        })
    }
}

/// A trace and the machine code of its kernel.
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
        Self::of_module(launch.module()?, trace, machine)
    }

    /// The machine code for the entry of `trace`, in `module`.
    pub fn of_module(module: &Module, trace: &AccessTrace, machine: &Config) -> Result<Self> {
        let tools = Toolbox::new();
        let assembler = Assembler::required(&tools, module, machine.compute_capability)?;
        let code = assembler.accesses(&tools, &module.text, &trace.name)?;
        Ok(MachineCode {
            assembler: assembler.id(),
            ledger: Ledger::of(trace, module, &code),
        })
    }

    /// The assembler, in texts.
    pub fn assembler(&self) -> String {
        self.assembler.to_string()
    }

    /// The accesses that the machine code makes.
    pub fn into_trace(self) -> AccessTrace {
        self.ledger.trace
    }

    /// The machine code's counts of `trace` under each mapping, and by access site under the first.
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
        let made = &self.ledger.trace;
        let array = Array::new(made, machine.geometry, rule, machine.block_words);
        let result = |spec: &&LayoutSpec| {
            let layout = Layout::new(spec, machine.geometry)?;
            let vector = array.vector_words();
            let splits = !layout.keeps_vectors(vector, array.words());
            Ok(Under {
                hash: spec.to_string(),
                splits: splits.then_some(4 * vector),
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
        let (ptx, made) = (per_pc(trace), per_pc(made));
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

/// The machine code's counts, in the form of the output.
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
    /// Bytes of the accesses that the mapping splits, so that the counted accesses cannot be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    splits: Option<u32>,
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
    /// The mappings with their counts.
    pub fn results(&self) -> impl Iterator<Item = (&str, Counted)> {
        self.results.iter().map(|u| (u.hash.as_str(), u.counted))
    }

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
             one lane, {} in a loop, {} removed, {} skipped, {} not accounted for",
            self.assembler,
            fates.total(),
            fates.kept,
            fates.merged,
            fates.split,
            fates.aggregated,
            fates.looped,
            fates.removed,
            fates.skipped,
            fates.not_accounted,
        ));
        details.table(Table::new(&header, results).right(&header[1..]));
        let split = |under: &Under| Some((under.splits?, under.hash.clone()));
        for (bytes, hash) in self.results.iter().filter_map(split) {
            let text = format!(
                "{hash} takes accesses of {bytes} bytes apart: they cannot be made as they are \
                 counted"
            );
            details.toned(Tone::Doubt, text);
        }
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
