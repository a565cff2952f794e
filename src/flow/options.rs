//! Options and observer of the flow.

use crate::config::Config;
use crate::error::Result;
use crate::report::FlowReport;
use crate::synth::{CellLibrary, DEFAULT_TECHNOLOGY};
use crate::trace::AccessTrace;
use crate::workload::Input;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The job of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// INPUT of the commands that repeat the parts.
    pub input: Input,
    /// The option that names the machine in those commands, quoted for a shell;
    /// without it, the preset of the machine's name.
    pub machine_option: Option<String>,
    /// The part of the input that chose the machine; none if the user did.
    pub machine_from: Option<String>,
    /// Folder of the report and the Verilog.
    pub out: PathBuf,
    /// Cells.
    pub library: CellLibrary,
    /// Time of each optimal search.
    pub budget: Duration,
    /// Clock cycles of co-simulation per unit.
    pub cycles: u64,
    /// Stop when the conflict table is known.
    pub fast: bool,
    /// Replace or remove files of the folder that are in the way.
    pub force: bool,
    /// The summary of an earlier run, to say what changed.
    pub baseline: Option<PathBuf>,
    /// The assembler, where the trace has the accesses of its machine code.
    pub machine_code: Option<String>,
    /// The accesses of the PTX, where the trace has those of its machine code.
    pub of_ptx: Option<AccessTrace>,
    /// The accesses of the machine code, by which changes of the source are judged.
    pub judged_by: Option<AccessTrace>,
}

impl Options {
    /// The defaults of the command line, into folder `out`.
    pub fn new(input: impl Into<Input>, out: &Path) -> Self {
        Options {
            input: input.into(),
            machine_option: None,
            machine_from: None,
            out: out.to_owned(),
            library: CellLibrary::Technology(DEFAULT_TECHNOLOGY.to_owned()),
            budget: Duration::from_secs(10),
            cycles: 20_000,
            fast: false,
            force: false,
            baseline: None,
            machine_code: None,
            of_ptx: None,
            judged_by: None,
        }
    }

    /// The stages of a run.
    pub(super) fn stages(&self, machine: &Config) -> Vec<Stage> {
        // With a hash unit, software is one more choice of a whole report.
        let launch = !self.fast && self.input.launch().is_some();
        let software = !machine.has_hash_unit() || launch;
        let wanted = |stage: &Stage| match stage {
            Stage::Software => software,
            other => !self.fast || !other.is_hardware(),
        };
        Stage::ALL.into_iter().filter(wanted).collect()
    }
}

/// A stage of the main job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Conflicts and patterns of the trace.
    Analyse,
    /// The best configuration of each hash unit.
    Tune,
    /// The best mappings in software, put into the kernel and run.
    Software,
    /// Verilog.
    Emit,
    /// Verilog against the golden model.
    Cosim,
    /// Area, delay, power.
    Synthesize,
    /// The files.
    Report,
}

impl Stage {
    const ALL: [Stage; 7] = [
        Stage::Analyse,
        Stage::Tune,
        Stage::Software,
        Stage::Emit,
        Stage::Cosim,
        Stage::Synthesize,
        Stage::Report,
    ];

    /// The name of the stage, as text.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Analyse => "analysing",
            Stage::Tune => "tuning",
            Stage::Software => "tuning in software, rewriting, simulating",
            Stage::Emit => "emitting Verilog",
            Stage::Cosim => "co-simulating",
            Stage::Synthesize => "synthesizing",
            Stage::Report => "writing the report",
        }
    }

    fn is_hardware(self) -> bool {
        matches!(self, Stage::Emit | Stage::Cosim | Stage::Synthesize)
    }
}

/// Observes a run. Every method may do nothing.
pub trait Watch: Sync {
    /// `stage`, one of `stages`, begins.
    fn stage(&self, _stage: Stage, _stages: &[Stage]) {}
    /// `done` of `total` steps of the stage are done; `what` is at work.
    fn progress(&self, _done: u64, _total: u64, _what: &str) {}
    /// A warning: something that the user should know although the run continues.
    fn warn(&self, _message: &str) {}
    /// The mappings are known; simulation and synthesis are not in `report`
    /// yet. An error ends the run.
    fn tuned(&self, _report: &FlowReport) -> Result<()> {
        Ok(())
    }
}

/// No observer.
pub struct Silent;

impl Watch for Silent {}
