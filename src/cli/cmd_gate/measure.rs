//! The numbers of a kernel.

use super::area::HardwareArea;
use super::identity::Identities;
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

/// The numbers to measure.
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
    /// Name of the kernel, as the PTX or the trace has it.
    pub name: String,
    /// Null where the kernel has a fault: there is no trace of it.
    conflicts: Option<u64>,
    excess: Option<u64>,
    findings: u64,
    warnings: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
    /// Area of the hardware that computes the mapping, where a limit is on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware: Option<HardwareArea>,
    /// Lines with conflicts, those with most first.
    pub lines: Vec<LineConflicts>,
    #[serde(rename = "found")]
    pub faults: Vec<Finding>,
    /// Outputs that are not as expected.
    pub wrong_outputs: Vec<String>,
    /// Identities of `faults`, which tell them apart while lines move.
    #[serde(skip)]
    pub fault_identities: Vec<String>,
    #[serde(skip)]
    pub trace: Option<AccessTrace>,
    /// Notes where the machine and the accesses were not made for each other.
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
    /// Identity of the line, which tells it apart while lines move.
    #[serde(skip)]
    pub identity: String,
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
            fault_identities: Vec::new(),
            trace: None,
            notes: Vec::new(),
        };
        let mut trace = None;
        if let Some(launch) = input.launch() {
            trace = measured.run(launch, wanted.run)?;
            measured.fault_identities = identities(&measured.faults, input);
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

    /// Runs the launch: its faults, its outputs, and the accesses where the same run
    /// has them.
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
                    identity: String::new(),
                }
            });
        self.lines = counted.filter(|line| line.conflicts > 0).collect();
        self.lines
            .sort_by_key(|line| std::cmp::Reverse(line.conflicts));
        let mut names = Identities::beside(input.name());
        for line in &mut self.lines {
            line.identity = names.at("conflicts", &[line.line.place()]);
        }
        Ok(())
    }

    /// Faults, or warnings, with what tells each apart; the other side of a race is no
    /// fault of its own.
    pub fn own_faults(&self, warnings: bool) -> impl Iterator<Item = (&Finding, &str)> {
        let all = self.faults.iter().zip(&self.fault_identities);
        let own = all.filter(move |(f, _)| !f.other && f.warning == warnings);
        own.map(|(fault, identity)| (fault, identity.as_str()))
    }

    /// Identities of the results of a metric; none if it is only a number.
    pub fn results_of(&self, metric: Metric) -> Option<Box<dyn Iterator<Item = &str> + '_>> {
        let faults = |warnings| self.own_faults(warnings).map(|(_, identity)| identity);
        match metric {
            Metric::Findings => {
                let outputs = self.wrong_outputs.iter().map(String::as_str);
                Some(Box::new(faults(false).chain(outputs)))
            }
            Metric::Warnings => Some(Box::new(faults(true))),
            Metric::Conflicts | Metric::Excess | Metric::Cycles | Metric::Area => None,
        }
    }

    /// All results for a baseline: conflicts of lines, and 1 for a fault or output.
    pub fn results(&self) -> impl Iterator<Item = (String, u64)> {
        let lines = self.lines.iter().map(|l| (l.identity.clone(), l.conflicts));
        let others = [Metric::Findings, Metric::Warnings];
        let others = others
            .into_iter()
            .filter_map(|m| self.results_of(m))
            .flatten();
        lines.chain(others.map(|identity| (identity.to_owned(), 1)))
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

/// Identities of faults, which tell them apart: of a race, both lines.
fn identities(faults: &[Finding], input: &Input) -> Vec<String> {
    let place = |fault: &Finding| {
        fault
            .users_line()
            .map_or_else(|| format!("PTX line {}", fault.ptx_line), str::to_owned)
    };
    let mut names = Identities::beside(input.name());
    let identity = |(at, fault): (usize, &Finding)| {
        let other = faults.get(at + 1).filter(|next| next.other && !fault.other);
        let places: Vec<String> = [Some(fault), other]
            .into_iter()
            .flatten()
            .map(place)
            .collect();
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        names.at(fault.kind.text(), &places)
    };
    faults.iter().enumerate().map(identity).collect()
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
