//! The end-to-end flow, from a kernel to verified, measured hardware: analyse, tune,
//! emit, co-simulate, synthesize, report. On a machine without a hash unit:
//! analyse, tune in software, rewrite the kernel, run it before and after.
//!
//! [`run`] is what the command `flow` calls; a program can call it as well:
//!
//! ```no_run
//! use spadkit::config::Config;
//! use spadkit::flow::{Options, Silent};
//!
//! let machine = Config::preset("fermi")?;
//! let trace = spadkit::workload::load_input("kernel:fwt")?;
//! let mut options = Options::new("kernel:fwt", "out".as_ref());
//! options.fast = true;
//! let done = spadkit::flow::run(&trace, &machine, &options, &Silent)?;
//! println!("{}", done.report.recommended().unwrap().hash);
//! # Ok::<(), spadkit::error::Error>(())
//! ```

mod analysis;
mod changed;
mod choices;
mod code;
mod commands;
mod declared;
mod evidence;
mod hardware;
mod heat;
mod inputs;
mod measured;
mod options;
mod padded;
mod software;
mod turns;
mod worth;

pub use code::{OF_SOURCE, in_software};
pub(crate) use commands::rewrite;
use evidence::After;
pub use evidence::Evidence;
pub use options::{Options, Silent, Stage, Watch};
pub use padded::DeclaredPadding;

use crate::config::Config;
use crate::cosim::CosimResult;
use crate::error::{Error, Result};
use crate::hash::HashSpec;
use crate::interrupt;
use crate::output::{OwnedFile, OwnedFolder, PARTIAL};
use crate::report::{ChoiceKind, FlowReport, Part, Since, Skipped, grouped, pages};
use crate::rtl::Design;
use crate::suggest::{SourceFiles, torn_verdict};
use crate::synth::Synthesis;
use crate::tool::Toolbox;
use crate::trace::AccessTrace;
use analysis::Analysis;
use choices::ChoiceInputs;
use hardware::Hardware;
use heat::Heat;
use serde_json::Value;
use software::Found;
use std::path::{Path, PathBuf};
use worth::{Realized, Runs};

/// The report for programs, and for people, in the folder of a run.
const SUMMARY: &str = "summary.json";
const HTML: &str = "report.html";

/// The files in the folder of a run, apart from `rtl`.
const REPORT_FILES: [&str; 3] = [SUMMARY, HTML, software::PTX];

/// The results of a run.
pub struct Done {
    /// Everything in the report; `summary.json` is this, too.
    pub report: FlowReport,
    /// The HTML file.
    pub html: PathBuf,
    /// The run was interrupted: the names of its files end in [`PARTIAL`].
    pub is_partial: bool,
    /// The kernel under the best mapping in software, where it gains.
    pub ptx: Option<String>,
    /// Co-simulation, with the first mismatch of each unit.
    pub cosim: Vec<CosimResult>,
    /// Synthesis, unless it was left out.
    pub synthesis: Option<Synthesis>,
    /// Parts that failed or lack a tool: which, and why. The others were done.
    pub problems: Vec<(&'static str, Error)>,
}

/// Runs the main job on `trace` for `machine` and writes report and Verilog.
///
/// `watch` is told the progress; it gets the conflict table as soon as it is
/// known, before anything is simulated or synthesized. With [`Options::fast`],
/// and after an interrupt, the run ends there.
pub fn run(
    trace: &AccessTrace,
    machine: &Config,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Done> {
    let out = OwnedFolder::new(&options.out, options.force);
    // Before the long search, not after it.
    let baseline = baseline(options, &out)?;
    out.check(&REPORT_FILES)?;
    let stages = options.stages(machine);
    let begin = |stage: Stage| watch.stage(stage, &stages);
    let tools = Toolbox::new();
    let hardware = Hardware {
        trace,
        machine,
        options,
        watch,
        tools: &tools,
    };
    let emits = stages.contains(&Stage::Emit);
    let design = emits.then(|| hardware.design()).transpose()?;
    if let Some(design) = &design {
        hardware.check_folder(design)?;
        hardware.check_library()?;
    }

    let Numbers {
        report,
        found,
        runs,
        mut sources,
    } = in_numbers(&hardware, &begin)?;
    let ptx = found.as_ref().filter(|_| !machine.has_hash_unit());
    let mut done = Done {
        report,
        html: out.dir().join(HTML),
        is_partial: false,
        ptx: ptx.and_then(|found| found.ptx.clone()),
        cosim: Vec::new(),
        synthesis: None,
        problems: Vec::new(),
    };
    watch.tuned(&done.report)?;
    match (reason_to_stop(options, machine), design) {
        (Some(reason), _) => done.report.skipped.push(reason),
        (None, None) => {}
        (None, Some(design)) => done.verify(&hardware, design, &begin)?,
    }
    begin(Stage::Report);
    done.decide(&hardware, found.as_ref(), runs.as_ref())?;
    done.locate(&hardware, found.as_ref(), runs.as_ref(), &mut sources)?;
    if let Some((file, then)) = baseline {
        let now = serde_json::to_value(&done.report).expect("a report has string keys only");
        done.report.since = Some(Since::of(file, &then, &now));
    }
    done.write(&out)?;
    Ok(done)
}

/// The summary of an earlier run, where one is given, and its file.
fn baseline<'a>(options: &'a Options, out: &OwnedFolder) -> Result<Option<(&'a Path, Value)>> {
    let Some(file) = options.baseline.as_deref() else {
        return Ok(None);
    };
    refuse_overwriting(file, &out.dir().join(SUMMARY))?;
    Ok(Some((file, Since::read(file)?)))
}

/// A baseline must outlive the run.
fn refuse_overwriting(baseline: &Path, summary: &Path) -> Result<()> {
    let same = baseline
        .canonicalize()
        .is_ok_and(|b| summary.canonicalize().is_ok_and(|s| s == b));
    if same {
        return Err(Error::usage(
            format!(
                "{} is the baseline, and would be overwritten",
                baseline.display()
            ),
            "expected another directory (-o), or a copy of the baseline",
        ));
    }
    Ok(())
}

/// The results that need no Verilog.
struct Numbers<'a> {
    report: FlowReport,
    found: Option<Found>,
    /// None if the SM cannot run the kernel.
    runs: Option<Runs<'a>>,
    sources: SourceFiles,
}

/// Computes the results that need no Verilog: conflicts, mappings, and their
/// gains; and the kernel under the best mapping in software, if it gains.
fn in_numbers<'a>(hardware: &Hardware<'a>, begin: &dyn Fn(Stage)) -> Result<Numbers<'a>> {
    let Hardware {
        trace,
        machine,
        options,
        watch,
        ..
    } = *hardware;
    begin(Stage::Analyse);
    let analysis = Analysis::new(trace, machine)?;
    begin(Stage::Tune);
    let mappings = analysis.mappings(options.budget, watch)?;
    let mut report = analysis.report(mappings)?;
    if let Some(assembler) = &options.machine_code {
        report.rule_text += &format!("; in the machine code of {assembler}");
    }
    let mut sources = SourceFiles::beside(options.input.name());
    let mut found = None;
    if options.stages(machine).contains(&Stage::Software) {
        begin(Stage::Software);
        let mut all = software::find(trace, machine, options, &mut sources, watch)?;
        if !machine.has_hash_unit() {
            report.software = Some(all.report.clone());
            report.worth = all.worth.take();
        }
        report.skipped.append(&mut all.skipped);
        found = Some(all);
    }
    report.machine_from.clone_from(&options.machine_from);
    report.advice = commands::advice(&report, options, machine);
    // Conflicts can be counted where the SM cannot run.
    let mut runs = None;
    match Runs::open(trace, machine, options) {
        Ok(opened) => runs = Some(opened),
        Err(error) => report.skipped.push(Skipped::new(Part::Cycles, error)),
    }
    if let Some(found) = &mut found {
        let (of, before) = ((trace, machine), report.conflicts());
        found.padding = padded::choice(found, of, runs.as_ref(), before, &mut sources);
        report.skipped.append(&mut found.skipped);
        if let Some(software) = &mut report.software {
            software.declared = found.padding.as_ref().map(padded::line);
        }
    }
    // A hash unit in the model gains nothing if the machine code does not.
    let is_vain = (report.software.as_ref()).is_some_and(|s| s.nothing_to_rewrite().is_some());
    if let (None, Some(runs), false) = (&report.worth, &runs, is_vain) {
        match worth::worth(runs, &report) {
            Ok(worth) => report.worth = worth,
            Err(error) => report.skipped.push(Skipped::new(Part::Cycles, error)),
        }
    }
    Ok(Numbers {
        report,
        found,
        runs,
        sources,
    })
}

/// Sentences on the model that the cycles are from, and on what it leaves out.
/// `measured`: numbers of a GPU are shown with them.
fn model(machine: &Config, runs: &Runs, measured: bool) -> Vec<String> {
    let blocks = runs.blocks();
    let grid = match blocks {
        1 => "the one block of the grid".to_owned(),
        2 => "both blocks of the grid".to_owned(),
        n => format!("all {} blocks of the grid", grouped(n.into())),
    };
    let mut all = vec![format!(
        "Cycles are those of the model of one SM of {}, which runs {grid}.",
        machine.name
    )];
    if measured || machine.compute_capability.is_some() {
        all.push(
            "The model has one SM and its share of global memory. A GPU spreads the blocks over its \
             SMs, keeps more of them resident on a large grid, and has other latencies: a grid that \
             fills the GPU can gain far more, or less. Measure on the grid that matters."
                .to_owned(),
        );
    }
    all
}

/// Why there is nothing after the conflict table.
fn reason_to_stop(options: &Options, machine: &Config) -> Option<Skipped> {
    // A machine without a hash unit has its software mappings before the table.
    let has_software = options.fast && options.input.launch().is_some() && machine.has_hash_unit();
    let parts = if has_software {
        "mappings in software, Verilog, co-simulation and synthesis"
    } else {
        "Verilog, co-simulation and synthesis"
    };
    if interrupt::requested() {
        return Some(Skipped::new(Part::Other(parts), "interrupted"));
    }
    let reason = "only the conflict table was asked for (--fast)";
    (options.fast).then(|| Skipped::new(Part::Other(parts), reason))
}

/// The features of the machine that its Verilog lacks.
fn without_rtl(machine: &Config) -> Option<Skipped> {
    let reason = machine.lacks_rtl()?;
    let reason = format!("{reason}; its scratchpad is spad_wide_stream");
    Some(Skipped::new(Part::Pipeline, reason))
}

impl Done {
    /// Continues without a missing tool: the error is kept for the end.
    fn part<T>(&mut self, what: &'static str, result: Result<T>, watch: &dyn Watch) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                watch.warn(&format!("skipped {what}: {error}"));
                self.report
                    .skipped
                    .push(Skipped::new(Part::Other(what), &error));
                self.problems.push((what, error));
                None
            }
        }
    }

    /// Writes the Verilog, and checks and measures it.
    fn verify(&mut self, hardware: &Hardware, design: Design, begin: &dyn Fn(Stage)) -> Result<()> {
        begin(Stage::Emit);
        hardware.write(&design)?;
        self.report.skipped.extend(without_rtl(hardware.machine));
        begin(Stage::Cosim);
        let cosim = self.part("co-simulation", hardware.cosim(design), hardware.watch);
        self.cosim = cosim.unwrap_or_default();
        begin(Stage::Synthesize);
        let synthesis = hardware.synthesis(&self.report);
        self.synthesis = self.part("synthesis", synthesis, hardware.watch);
        self.report.tools = hardware.versions()?;
        Ok(())
    }

    /// The mappings to decide between, and what their cycles are of.
    fn decide(
        &mut self,
        hardware: &Hardware,
        found: Option<&Found>,
        runs: Option<&Runs>,
    ) -> Result<()> {
        let options = hardware.options;
        self.report.cosim = self.cosim.iter().map(hardware::cosim_line).collect();
        self.report.synthesis = serde_json::json!(self.synthesis.as_ref());
        let machine_option = commands::machine_option(options, hardware.machine);
        let made = ChoiceInputs {
            report: &self.report,
            machine: hardware.machine,
            runs,
            found,
            synthesis: self.synthesis.as_ref(),
            input: &options.input,
            machine_option: &machine_option,
        };
        self.report.choices = made.choices()?;
        let changed = found.map(|found| &found.report);
        self.report.source_change =
            changed.and_then(|s| torn_verdict(&s.suggestions, &s.left_alone));
        self.report.commands = commands::repeat(&self.report, options, hardware.machine);
        let software = self.report.choice(ChoiceKind::Software);
        let ptx = inputs::ptx_of(&options.input);
        let measured = software.zip(ptx).and_then(|(choice, ptx)| {
            let text = measured::measured(ptx, &self.report.kernel.name, &choice.hash)?;
            let beside = measured::beside(choice, hardware.machine, runs.map(Runs::blocks));
            Some(format!("{text}{beside}"))
        });
        let is_measured = measured.is_some();
        self.report.measured = measured;
        self.report.model = runs.map_or(Vec::new(), |runs| {
            model(hardware.machine, runs, is_measured)
        });
        Ok(())
    }

    /// Conflicts and cycles on the lines of the source.
    fn locate(
        &mut self,
        hardware: &Hardware,
        found: Option<&Found>,
        runs: Option<&Runs>,
        sources: &mut SourceFiles,
    ) -> Result<()> {
        let report = &mut self.report;
        let machine = hardware.machine;
        let chosen = report.chosen().filter(|c| c.kind != ChoiceKind::Nothing);
        let suggestions = found.map_or(&[][..], |found| &found.report.suggestions);
        let after = chosen.map(|c| After::of(c, suggestions, (hardware.trace, machine), sources));
        let after = after.transpose()?;
        let run = runs
            .and_then(|runs| Some((runs, runs.under(&HashSpec::Mod, Realized::InSoftware).ok()?)));
        let run = run.as_ref().map(|(runs, run)| (*runs, run));
        let ptx = inputs::ptx_of(&hardware.options.input);
        let ptx = ptx.map(|p| p.display().to_string());
        let evidence = Evidence::gathered(
            &Heat::new(hardware.trace, machine),
            after.as_ref(),
            run,
            sources,
            ptx.as_deref(),
            suggestions,
        );
        report.sources = evidence.sources;
        report.phases = evidence.phases;
        report.situations = evidence.situations;
        report.inputs = inputs::inputs(&hardware.options.input, sources);
        Ok(())
    }

    /// Writes the report. That of an interrupted run goes beside the one of a whole run,
    /// which stays.
    fn write(&mut self, out: &OwnedFolder) -> Result<()> {
        let report = &mut self.report;
        let html = pages::render(report)?;
        let mut summary = serde_json::to_value(&*report).expect("a report has string keys only");
        self.is_partial = interrupt::requested();
        let end = if self.is_partial { PARTIAL } else { "" };
        if self.is_partial {
            summary["interrupted"] = true.into();
        }
        let file = |name: &str, text| OwnedFile::new(format!("{name}{end}"), text);
        let mut files = vec![file(SUMMARY, format!("{summary:#}")), file(HTML, html)];
        let ptx = self.ptx.clone();
        files.extend(ptx.map(|text| file(software::PTX, text)));
        if self.is_partial {
            self.html = out.dir().join(format!("{HTML}{PARTIAL}"));
            out.add(&files)
        } else {
            out.write(&files)
        }
    }
}
