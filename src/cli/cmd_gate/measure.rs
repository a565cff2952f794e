//! The numbers of a kernel.

use super::area::HardwareArea;
use super::limits::Metric;
use crate::capture::{Checked, LaunchInput};
use crate::cli::machine_code::MachineCode;
use crate::cli::source_rows::SourceRow;
use crate::config::Config;
use crate::error::Result;
use crate::hash::HashSpec;
use crate::launch::Prepared;
use crate::ptx::exec::{Finding, Options};
use crate::sm::Setup;
use crate::software::{Layout, LayoutSpec};
use crate::suggest::SourceFiles;
use crate::trace::{AccessTrace, ConflictProfile, Line};
use crate::workload::{AccessOptions, Input, RunOptions};
use serde::Serialize;

/// What is measured.
pub(super) struct Wanted<'a> {
    pub hash: &'a LayoutSpec,
    /// The launch is simulated.
    pub cycles: bool,
    pub run: RunOptions,
    /// The accesses of the machine code are counted.
    pub machine_code: bool,
}

/// A kernel's numbers.
#[derive(Serialize)]
pub(super) struct Measured {
    /// As the PTX or the trace names it.
    pub name: String,
    /// Null where the kernel has a fault: there is no trace of it.
    conflicts: Option<u64>,
    excess: Option<u64>,
    findings: u64,
    warnings: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
    /// Of the hardware that computes the mapping, where a limit is on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware: Option<HardwareArea>,
    /// Lines with conflicts, those with most first.
    pub lines: Vec<LineConflicts>,
    #[serde(rename = "found")]
    pub faults: Vec<Finding>,
    /// Outputs that are not as expected.
    pub wrong_outputs: Vec<String>,
    #[serde(skip)]
    pub trace: Option<AccessTrace>,
    /// Where the machine and the accesses were not made for each other.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// A line with conflicts.
#[derive(Serialize)]
pub(super) struct LineConflicts {
    #[serde(flatten)]
    pub line: SourceRow,
    pub conflicts: u64,
    pub wavefronts: u64,
    pub max_degree: u32,
}

impl Measured {
    /// Runs a launch file's kernel; of other inputs there are only accesses.
    pub fn of(input: &Input, machine: &Config, wanted: &Wanted) -> Result<Self> {
        let mut measured = Measured {
            name: String::new(),
            conflicts: None,
            excess: None,
            findings: 0,
            warnings: 0,
            cycles: None,
            hardware: None,
            lines: Vec::new(),
            faults: Vec::new(),
            wrong_outputs: Vec::new(),
            trace: None,
            notes: Vec::new(),
        };
        let mut trace = None;
        if let Some(launch) = input.launch() {
            trace = measured.run(launch, wanted.run)?;
            if measured.faults.iter().any(|f| !f.warning && !f.other) {
                return Ok(measured);
            }
        }
        let trace = match trace {
            Some(trace) => trace,
            None => input.accesses(wanted.run)?,
        };
        measured.notes = machine.admit(&trace)?;
        let trace = if wanted.machine_code {
            MachineCode::of(input, &trace, machine)?.into_trace()
        } else {
            trace
        };
        measured.count(&trace, input, machine, wanted.hash)?;
        measured.name.clone_from(&trace.name);
        measured.trace = Some(trace);
        if wanted.cycles {
            let options = AccessOptions {
                zeros_beyond: wanted.run.zeros_beyond,
                ..AccessOptions::default()
            };
            let workload = input.programs(&options)?;
            let setup = Setup {
                hash: match wanted.hash {
                    LayoutSpec::Hash(HashSpec::Mod) => None,
                    LayoutSpec::Hash(hash) => Some(hash.clone()),
                    _ => None,
                },
                ..Setup::default()
            };
            measured.cycles = Some(setup.run(machine, workload.as_ref())?.cycles);
        }
        Ok(measured)
    }

    /// Its faults, its outputs, and the accesses where the same run has them.
    fn run(&mut self, launch: &LaunchInput, run: RunOptions) -> Result<Option<AccessTrace>> {
        let options = Options {
            races: true,
            zeros_beyond: run.zeros_beyond,
            ..Options::default()
        };
        let Checked {
            prepared,
            outcome,
            trace,
        } = launch.run(run)?.checked(&options)?;
        self.name.clone_from(&prepared.launches()[0].entry);
        self.faults = outcome.findings;
        let count = |warning| {
            let own = self.faults.iter().filter(|f| !f.other);
            own.filter(|f| f.warning == warning).count() as u64
        };
        (self.findings, self.warnings) = (count(false), count(true));
        // After a fault the outputs say nothing more.
        if self.findings == 0 {
            self.wrong_outputs = wrong_outputs(&prepared)?;
            self.findings = self.wrong_outputs.len() as u64;
        }
        Ok(trace)
    }

    fn count(
        &mut self,
        trace: &AccessTrace,
        input: &Input,
        machine: &Config,
        hash: &LayoutSpec,
    ) -> Result<()> {
        let layout = Layout::new(hash, machine.geometry)?;
        let rule = machine.conflict_rule();
        let profile = ConflictProfile::new(trace, rule);
        let all = profile.count(|a| layout.bank(a));
        let ideal = profile.ideal_wavefronts(machine.geometry.banks());
        self.conflicts = Some(all.conflicts);
        self.excess = Some(all.wavefronts().saturating_sub(ideal));
        let mut text = SourceFiles::beside(input.name());
        let lines = ConflictProfile::per_line(trace, rule);
        let counted = lines
            .iter()
            .map(|(line, profile): &(Line, ConflictProfile)| {
                let count = profile.count(|a| layout.bank(a));
                LineConflicts {
                    line: SourceRow::of(line, "access site", &mut text),
                    conflicts: count.conflicts,
                    wavefronts: count.wavefronts(),
                    max_degree: count.max_degree,
                }
            });
        self.lines = counted.filter(|line| line.conflicts > 0).collect();
        self.lines
            .sort_by_key(|line| std::cmp::Reverse(line.conflicts));
        Ok(())
    }

    /// The number that is limited; none where it is not known.
    pub fn value(&self, metric: Metric) -> Option<u64> {
        match metric {
            Metric::Conflicts => self.conflicts,
            Metric::Excess => self.excess,
            Metric::Findings => Some(self.findings),
            Metric::Warnings => Some(self.warnings),
            Metric::Cycles => self.cycles,
            Metric::Area => self.hardware.as_ref().map(|h| h.nand2_equivalents),
        }
    }
}

fn wrong_outputs(prepared: &Prepared) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (name, buffer, bytes) in prepared.buffers() {
        if buffer.compare(bytes)?.is_some_and(|c| !c.ok) {
            wrong.push(name.to_owned());
        }
    }
    Ok(wrong)
}
