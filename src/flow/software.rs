//! The replacement for hardware on a machine without a hash unit: the best
//! mappings in software. Each is put into the PTX, and the kernel runs before
//! and after on the model of the SM.

use super::options::{Options, Watch};
use super::worth::{self, Run};
use crate::assembler::{Assembler, allocated};
use crate::capture::statics::launch_indices;
use crate::capture::{LaunchInput, LaunchRun, RunOptions};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::geometry::WORD_BYTES;
use crate::hash::HashSpec;
use crate::interrupt;
use crate::launch::LaunchFile;
use crate::ptx::Module;
use crate::report::{
    ChoiceLine, CycleParts, Part, RewrittenLine, Skipped, Software, SoftwareLine, Timed, Worth,
};
use crate::rewrite::{
    Block, Hashes, MachineCounts, Request, Resources, Rewritten, Verdict, attempt, measure,
    with_shared,
};
use crate::search::{Control, Update};
use crate::sm::Workload;
use crate::software::LayoutSpec;
use crate::software::choice::{Choice, Choices, Effort, MappingKind, NoneFewer, on_front};
use crate::suggest::{FunctionNames, Search, SourceFiles, SplitWide, Suggestion, Suggestions};
use crate::tool::Toolbox;
use crate::trace::AccessTrace;
use crate::workload::LaunchWorkload;
use std::time::Duration;

/// The results, and the PTX of the best mapping.
pub(super) struct Found {
    pub report: Software,
    /// The proof about the fewest conflicts.
    pub none_fewer: Option<NoneFewer>,
    /// The conflicts that it is about.
    proved: Option<u64>,
    pub worth: Option<Worth>,
    pub ptx: Option<String>,
    /// The mapping under which the kernel takes the fewest cycles, even if these are more.
    pub fastest: Option<String>,
    /// The cycles of the unchanged kernel and under that mapping, by parts.
    pub parts: Option<[CycleParts; 2]>,
    /// Longer rows in the declarations alone.
    pub padding: Option<ChoiceLine>,
    /// Parts that are left out, and why.
    pub skipped: Vec<Skipped>,
}

impl Found {
    /// The mappings alone.
    fn new(whole: &Choices, suggestions: Suggestions) -> Self {
        Found {
            none_fewer: whole.none_fewer,
            proved: Some(whole.best().conflicts),
            report: Software {
                front: front(whole).map(line).collect(),
                fewest_proved: whole.fewest_proved(),
                vector_bytes: None,
                in_order: None,
                declared: None,
                cycles: None,
                best: None,
                ptx: None,
                dynamic_shared: None,
                assembler: None,
                suggestions: suggestions.changes,
                left_alone: suggestions.left,
            },
            worth: None,
            ptx: None,
            fastest: None,
            parts: None,
            padding: None,
            skipped: Vec::new(),
        }
    }

    /// Keeps the front of the mappings by the counts of the rewritten kernels. A proof for the
    /// accesses as they are says nothing about others.
    fn keep_counted(&mut self, are_counted: bool) {
        let fewest = |found: &Found| found.report.front.iter().map(|l| l.conflicts).min();
        let before = self.proved;
        keep_front(&mut self.report.front, are_counted);
        if fewest(self) != before && fewest(self) != Some(0) {
            self.none_fewer = None;
            self.report.fewest_proved = false;
        }
    }

    /// Takes the changes of the source for the fastest mapping in the place of those for the
    /// fewest conflicts, where a source can have it.
    fn take_changes(&mut self, changes: Suggestions) {
        let fastest = self.fastest.as_deref();
        let is_it = |s: &Suggestion| Some(s.hash.to_string().as_str()) == fastest;
        let had_one = self.report.suggestions.len() == 1;
        if had_one && changes.changes.len() == 1 && changes.changes.iter().all(is_it) {
            self.report.suggestions = changes.changes;
        }
    }

    /// The resources of a block of the unchanged kernel, if known.
    pub fn as_it_is(&self) -> Option<&Resources> {
        let mut front = self.report.front.iter();
        front.find(|line| line.is_plain())?.resources.as_ref()
    }
}

/// The name of the PTX in the folder of the report.
pub(super) const PTX: &str = "rewritten.ptx";

/// Searches the mappings of `trace`; where the input is a launch file, those
/// of the front are put into its kernel and run.
pub(super) fn find(
    trace: &AccessTrace,
    machine: &Config,
    options: &Options,
    source: &mut SourceFiles,
    watch: &dyn Watch,
) -> Result<Found> {
    let report = |update: Update| {
        watch.progress(
            update.done.min(update.total),
            update.total,
            "mappings in software",
        );
    };
    let effort = Effort {
        control: Control::none()
            .stop_when(&interrupt::requested)
            .progress(&report),
        budget: options.budget,
    };
    let launch = options.input.launch();
    let indices = launch.map(launch_indices).transpose()?.unwrap_or_default();
    let search = Search {
        trace,
        geometry: machine.geometry,
        rule: machine.conflict_rule(),
        room: options.input.shared_room(machine)?,
        kinds: &MappingKind::all(),
        effort: &effort,
    };
    let searched = search.run(SplitWide::IfNoneGains)?;
    let (array, whole) = (&searched.array, &searched.whole);
    let tuned = searched.tuned(&indices, options.judged_by.as_ref());
    let names = &mut FunctionNames::default();
    let suggestions = source.suggestions_of(&tuned, &searched.narrower, names);
    let mut found = Found::new(whole, suggestions);
    found.report.in_order = tuned.in_order();
    let vector_bytes = WORD_BYTES * array.vector_words();
    found.report.vector_bytes = Some(vector_bytes).filter(|bytes| *bytes > WORD_BYTES);
    if let (Some(ptx), Some(_)) = (&options.of_ptx, launch) {
        let of_ptx = Search {
            trace: ptx,
            ..search
        }
        .run(SplitWide::IfNoneGains)?;
        add_other_mappings(&mut found.report.front, &of_ptx.whole);
    }
    if !searched.gains() && found.report.front.len() < 2 {
        return Ok(found);
    }
    let Some(launch) = launch else {
        found.report.best = Some(whole.best().layout.spec().to_string());
        return Ok(found);
    };
    let run = LaunchedKernel::of(launch, machine, options, watch)
        .and_then(|kernel| kernel.run(&mut found));
    if let Err(error) = run {
        found.skipped.push(Skipped::new(Part::Rewriting, error));
    }
    if let Some(fastest) = &found.fastest
        && let Some(only) = searched.only(&fastest.parse()?)
    {
        let tuned = only.tuned(&indices, options.judged_by.as_ref());
        let names = &mut FunctionNames::default();
        found.take_changes(source.suggestions_of(&tuned, &[], names));
    }
    Ok(found)
}

fn front(whole: &Choices) -> impl Iterator<Item = &Choice> {
    whole.ranked.iter().filter(|choice| choice.front)
}

/// Adds the mappings for the accesses of the PTX. A rewritten kernel computes each address, so
/// that the assembler may no longer merge what it did before.
fn add_other_mappings(lines: &mut Vec<SoftwareLine>, of_ptx: &Choices) {
    let is_new = |l: &SoftwareLine, all: &[SoftwareLine]| all.iter().all(|k| k.hash != l.hash);
    for line in front(of_ptx).map(line) {
        if !line.is_plain() && is_new(&line, lines) {
            lines.insert(lines.len().saturating_sub(1), line);
        }
    }
}

/// Keeps the lines that no other is better than, by what was counted in the rewritten kernels.
/// `are_counted`: whether a line without a rewritten kernel has counts of other accesses.
fn keep_front(lines: &mut Vec<SoftwareLine>, are_counted: bool) {
    let is_known = |l: &SoftwareLine| {
        let code = l.rewritten.as_ref().and_then(|r| r.machine_code.as_ref());
        l.is_plain() || code.is_some() || !are_counted
    };
    lines.retain(is_known);
    let gains = |l: &SoftwareLine| !l.is_plain() && l.gains_nothing().is_none();
    if !lines.iter().any(gains) {
        return;
    }
    lines.sort_by_key(|line| (line.is_plain(), line.conflicts));
    let cost = |l: &SoftwareLine| {
        let added = l.rewritten.as_ref().and_then(|r| r.added_per_access);
        let added = added.map_or(l.added_per_access as f64, |added| added);
        (
            l.conflicts,
            if l.is_plain() { 0.0 } else { added },
            l.wasted_bytes,
        )
    };
    let costs: Vec<_> = lines.iter().map(cost).collect();
    let mut kept = on_front(&costs).into_iter();
    lines.retain(|_| kept.next().unwrap_or(true));
}

fn line(choice: &Choice) -> SoftwareLine {
    SoftwareLine {
        hash: choice.layout.spec().to_string(),
        kind: choice.kind.to_string(),
        conflicts: choice.conflicts,
        max_degree: choice.max_degree,
        wavefronts: choice.wavefronts,
        added_per_access: choice.added,
        wasted_bytes: WORD_BYTES * choice.wasted_words,
        resources: None,
        rewritten: None,
    }
}

/// A launch file's kernel.
struct LaunchedKernel<'a> {
    launch: &'a LaunchInput,
    file: &'a LaunchFile,
    /// The linked PTX as one text.
    module: Module,
    request: Request,
    entries: Vec<String>,
    assembler: Option<Assembler>,
    /// Whether a rewritten kernel has to gain in its machine code, where that is known.
    by_machine_code: bool,
    /// Whether the report counts the accesses of the machine code.
    counts_machine_code: bool,
    machine: &'a Config,
    budget: Duration,
    watch: &'a dyn Watch,
}

/// A kernel under a mapping that computes the same.
struct Candidate {
    spec: LayoutSpec,
    rewritten: Rewritten,
    run: Option<Run>,
}

impl Candidate {
    fn cycles(&self) -> Option<u64> {
        self.run.as_ref().map(|run| run.timed.cycles)
    }
}

/// Why a mapping gives no candidate.
enum NoCandidate {
    /// The unchanged kernel.
    Original,
    Refused(String),
    /// The machine code has no fewer conflicts under it.
    GainsNothing,
    Failed(Error),
}

impl From<Error> for NoCandidate {
    fn from(e: Error) -> Self {
        NoCandidate::Failed(e)
    }
}

impl<'a> LaunchedKernel<'a> {
    fn of(
        launch: &'a LaunchInput,
        machine: &'a Config,
        options: &Options,
        watch: &'a dyn Watch,
    ) -> Result<Self> {
        let file = launch.file()?;
        let module = launch.module()?.clone().one_text()?;
        let prepared = file.prepare(&module)?;
        let launches = prepared.launches();
        let entry = &launches[launch.selected().index(launches)?].entry;
        let none = Hashes::Named(Vec::new());
        let request = Request::of_launches(machine, launches, entry, none);
        let entries = launches.iter().map(|l| l.entry.clone()).collect();
        let sm = machine.compute_capability;
        Ok(LaunchedKernel {
            assembler: Assembler::find(&Toolbox::new(), &module, sm)?,
            by_machine_code: options.machine_code.is_some() || options.judged_by.is_some(),
            counts_machine_code: options.machine_code.is_some(),
            budget: options.budget,
            launch,
            file,
            module,
            request,
            entries,
            machine,
            watch,
        })
    }

    /// Runs the unchanged kernel, and the kernel under each mapping of the front.
    fn run(&self, found: &mut Found) -> Result<()> {
        let run = self.launch.run(RunOptions::default())?;
        let file = &worth::with_registers(self.launch, self.machine)?;
        let before = LaunchWorkload::open(&LaunchRun { file, ..run })?;
        let Some(as_it_is) = self.timed(&before, &mut found.skipped)? else {
            return Ok(());
        };
        found.report.cycles = Some(as_it_is.timed.cycles);
        found.report.assembler = self.assembler.as_ref().map(Assembler::id);
        let counts = self.counts();
        let total = found.report.front.len() as u64;
        let mut best: Option<Candidate> = None;
        let mut refused = None;
        let Found {
            report, skipped, ..
        } = &mut *found;
        for (done, line) in report.front.iter_mut().enumerate() {
            self.watch.progress(done as u64, total, &line.hash);
            let candidate = match self.candidate(line, counts.as_ref(), skipped) {
                Ok(candidate) => candidate,
                Err(NoCandidate::Refused(reason)) => {
                    refused.get_or_insert(format!("{}: {reason}", line.hash));
                    continue;
                }
                Err(NoCandidate::Original | NoCandidate::GainsNothing) => continue,
                Err(NoCandidate::Failed(error)) => return Err(error),
            };
            let order = |c: &Candidate| c.cycles().unwrap_or(u64::MAX);
            if best.as_ref().is_none_or(|b| order(&candidate) < order(b)) {
                best = Some(candidate);
            }
        }
        if self.counts_machine_code {
            found.keep_counted(counts.is_some());
        }
        if let (None, Some(reason)) = (&best, refused) {
            found.skipped.push(Skipped::new(Part::Rewriting, reason));
        }
        if let Some(best) = best {
            self.take(found, &as_it_is, best, before.info().blocks);
        }
        Ok(())
    }

    /// Keeps the best, if it gains.
    fn take(&self, found: &mut Found, as_it_is: &Run, best: Candidate, blocks: u32) {
        let (before, Some(run)) = (as_it_is.timed.cycles, &best.run) else {
            let reason = "the budget is too short for them";
            found.skipped.push(Skipped::new(Part::Cycles, reason));
            return;
        };
        let after = run.timed.cycles;
        let timed = |hash: String, cycles| Timed {
            hash,
            hash_stage: 0,
            cycles,
        };
        let hash = best.spec.to_string();
        found.worth = Some(Worth {
            blocks,
            before: timed(HashSpec::Mod.to_string(), before),
            after: timed(hash.clone(), after),
            speed_up: before as f64 / after.max(1) as f64,
            rewritten: true,
        });
        found.fastest = Some(hash.clone());
        found.parts = Some([as_it_is.parts, run.parts.over(&as_it_is.parts)]);
        if after < before {
            found.report.best = Some(hash);
            found.report.ptx = Some(PTX.to_owned());
            found.report.dynamic_shared = best.rewritten.dynamic_shared;
            found.ptx = best.rewritten.text().map(str::to_owned);
        }
    }

    /// The kernel under the mapping of a line, which then has what was
    /// measured; or why there is none.
    fn candidate(
        &self,
        line: &mut SoftwareLine,
        counts: Option<&MachineCounts>,
        skipped: &mut Vec<Skipped>,
    ) -> std::result::Result<Candidate, NoCandidate> {
        let spec: LayoutSpec = line.hash.parse()?;
        let original = spec == LayoutSpec::Hash(HashSpec::Mod);
        let request = Request {
            hashes: Hashes::All(spec.clone()),
            ..self.request.clone()
        };
        let rewritten = match attempt(&self.module, &request)? {
            Ok(rewritten) => rewritten,
            Err(_) if original => return Err(NoCandidate::Original),
            Err(impossible) => return Err(NoCandidate::Refused(impossible.to_string())),
        };
        // The cycles are worth printing without the registers.
        match self.block().under(&self.module, &spec, &rewritten) {
            Ok(resources) => line.resources = resources,
            Err(error) => skipped.push(Skipped::new(Part::Resources(line.hash.clone()), error)),
        }
        if original {
            return Err(NoCandidate::Original);
        }
        let text = match &rewritten.verdict {
            Verdict::Text(text) => text,
            Verdict::Refused(reason) => return Err(NoCandidate::Refused(reason.clone())),
        };
        let rule = self.machine.conflict_rule();
        let measured = measure(self.file, &self.module, &request, &rewritten, rule)?;
        if !measured.outputs_equal {
            let reason = "the rewritten kernel computes something else";
            return Err(NoCandidate::Refused(reason.to_owned()));
        }
        let code = counts.and_then(|counts| counts.beside(&rewritten).ok().flatten());
        // The compiler may merge other accesses of the rewritten kernel than it did before.
        if let Some(code) = code.as_ref().filter(|_| self.counts_machine_code) {
            (line.conflicts, line.wavefronts) = (code.conflicts_after, code.wavefronts_after);
            line.max_degree = code.max_degree_after;
        }
        line.rewritten = Some(RewrittenLine::of(&measured, code, None));
        if line.gains_nothing().is_some() {
            return Err(NoCandidate::GainsNothing);
        }
        let mut file = with_shared(self.file, &self.entries, &rewritten);
        let assembled = line.resources.and_then(|found| found.assembled);
        file.registers = allocated(assembled.as_ref(), file.registers);
        let after = LaunchWorkload::open(&LaunchRun {
            file: &file,
            module: &Module::parse(text, &self.module.name)?,
            selected: self.launch.selected(),
            options: RunOptions::default(),
        })?;
        let run = self.timed(&after, skipped)?;
        let cycles = run.as_ref().map(|run| run.timed.cycles);
        if let Some(rewritten) = &mut line.rewritten {
            rewritten.cycles = cycles;
        }
        Ok(Candidate {
            spec,
            rewritten,
            run,
        })
    }

    /// The machine code of the unchanged kernel, if that decides. A kernel that
    /// cannot be assembled is judged by its PTX.
    fn counts(&self) -> Option<MachineCounts<'_>> {
        let of = || MachineCounts::of(self.file, &self.module, &self.request, self.machine).ok();
        self.by_machine_code.then(of).flatten()
    }

    fn block(&self) -> Block<'_> {
        Block {
            machine: self.machine,
            assembler: self.assembler.as_ref(),
            block_dim: self.request.block,
            registers: self.file.registers.unwrap_or(0),
        }
    }

    /// A kernel with unmapped indices; `None` if its cycles are not known, with
    /// the reason in `skipped`.
    fn timed(&self, workload: &dyn Workload, skipped: &mut Vec<Skipped>) -> Result<Option<Run>> {
        match worth::timed(HashSpec::Mod, Some(0), self.machine, workload, self.budget) {
            Ok(run) => Ok(Some(run)),
            Err(error @ Error::Usage { .. }) => {
                skipped.push(Skipped::new(Part::Cycles, error));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
