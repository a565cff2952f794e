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
mod commands;
mod hardware;
mod options;
mod software;
mod worth;

pub use options::{Library, Options, Silent, Stage, Watch};

use crate::config::Config;
use crate::cosim::CosimResult;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::output::{OwnedFile, OwnedFolder};
use crate::report::{self, FlowReport};
use crate::rtl::Design;
use crate::synth::Synthesis;
use crate::tool::Toolbox;
use crate::trace::AccessTrace;
use analysis::Analysis;
use hardware::Hardware;
use std::path::PathBuf;

/// What a run leaves in its folder beside `rtl`.
const REPORT_FILES: [&str; 3] = ["summary.json", "report.html", software::PTX];

/// What a run found out.
pub struct Done {
    /// Everything in the report; `summary.json` is this, too.
    pub report: FlowReport,
    /// The HTML file.
    pub html: PathBuf,
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
/// `watch` hears what is going on; it gets the conflict table as soon as it is
/// known, before anything is simulated or synthesized. With
/// [`Options::fast`], and after an interrupt, the run ends there.
pub fn run(
    trace: &AccessTrace,
    machine: &Config,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Done> {
    let out = OwnedFolder::new(&options.out, options.force);
    // Before the long search, not after it.
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

    let (report, ptx) = in_numbers(&hardware, &begin)?;
    let mut done = Done {
        report,
        html: out.dir().join("report.html"),
        ptx,
        cosim: Vec::new(),
        synthesis: None,
        problems: Vec::new(),
    };
    watch.tuned(&done.report)?;
    match (reason_to_stop(machine, options), design) {
        (Some(reason), _) => done.report.skipped.push(reason),
        (None, None) => {}
        (None, Some(design)) => done.verify(&hardware, design, &begin)?,
    }
    begin(Stage::Report);
    done.write(&out)?;
    Ok(done)
}

/// What needs no Verilog: conflicts, mappings, and what they are worth; with
/// the kernel under the best mapping in software, where it gains.
fn in_numbers(hardware: &Hardware, begin: &dyn Fn(Stage)) -> Result<(FlowReport, Option<String>)> {
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
    let mut ptx = None;
    if !machine.has_hash_unit() {
        begin(Stage::Software);
        let found = software::find(trace, machine, options, watch)?;
        report.software = Some(found.report);
        report.worth = found.worth;
        report.skipped.extend(found.skipped);
        ptx = found.ptx;
    }
    report.advice = commands::advice(&report, options, machine);
    report.commands = commands::repeat(&report, options, machine);
    if report.worth.is_none() {
        match worth::worth(trace, machine, &report, options) {
            Ok(worth) => report.worth = worth,
            // Conflicts can be counted where the SM cannot run.
            Err(error) => report.skipped.push(format!("cycles: {error}")),
        }
    }
    Ok((report, ptx))
}

/// Why there is nothing after the conflict table.
fn reason_to_stop(machine: &Config, options: &Options) -> Option<String> {
    let parts = "Verilog, co-simulation and synthesis";
    if let Some(reason) = machine.lacks_rtl() {
        return Some(format!(
            "{parts}: {reason}; the hash units alone: spadkit emit"
        ));
    }
    if interrupt::requested() {
        return Some(format!("{parts}: interrupted"));
    }
    options
        .fast
        .then(|| format!("{parts}: only the conflict table was asked for (--fast)"))
}

impl Done {
    /// What can be done without a missing tool is still done: the error is
    /// kept for the end.
    fn part<T>(&mut self, what: &'static str, result: Result<T>, watch: &dyn Watch) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                watch.warn(&format!("skipped {what}: {error}"));
                self.report.skipped.push(format!("{what}: {error}"));
                self.problems.push((what, error));
                None
            }
        }
    }

    /// Writes the Verilog, and checks and measures it.
    fn verify(&mut self, hardware: &Hardware, design: Design, begin: &dyn Fn(Stage)) -> Result<()> {
        begin(Stage::Emit);
        hardware.write(&design)?;
        begin(Stage::Cosim);
        let cosim = self.part("co-simulation", hardware.cosim(design), hardware.watch);
        self.cosim = cosim.unwrap_or_default();
        begin(Stage::Synthesize);
        let synthesis = hardware.synthesis(&self.report);
        self.synthesis = self.part("synthesis", synthesis, hardware.watch);
        self.report.tools = hardware.versions()?;
        Ok(())
    }

    /// Completes the report and writes it.
    fn write(&mut self, out: &OwnedFolder) -> Result<()> {
        let report = &mut self.report;
        report.cosim = self.cosim.iter().map(hardware::cosim_line).collect();
        let synthesis = self.synthesis.as_ref();
        report.synthesis = serde_json::json!(synthesis);
        report.synthesis_chart = synthesis.map(Synthesis::chart);
        let html = report::render(report)?;
        let summary = serde_json::to_string_pretty(report).expect("a report has string keys only");
        let mut files = vec![
            OwnedFile::new("summary.json", summary),
            OwnedFile::new("report.html", html),
        ];
        let ptx = self.ptx.clone();
        files.extend(ptx.map(|text| OwnedFile::new(software::PTX, text)));
        out.write(&files)
    }
}
