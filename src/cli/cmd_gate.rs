//! `spadkit gate`: limits on kernels, for continuous integration.

mod area;
mod baseline;
mod fix;
mod junit;
mod limits;
mod measure;
mod sarif;
mod text;

use super::cells::Cells;
use super::machine::MachineNote;
use super::machine_code::Judge;
use super::printer::{Printer, Progress};
use super::values::input_help;
use super::{Example, Execute, Global};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hash::HashSpec;
use crate::interrupt;
use crate::output::{check_writable, write_file};
use crate::readable::readable;
use crate::software::LayoutSpec;
use crate::suggest::FunctionNames;
use crate::workload::{Input, RunOptions};
use area::{HardwareArea, Library};
use baseline::{Baseline, Numbers};
use clap::Args;
use limits::{Limit, Limits, Metric};
use measure::{Measured, Wanted};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Check kernels against limits, and fail if one is exceeded.
///
/// Each kernel is run, its faults and outputs are checked, and the bank
/// conflicts of its traced block are counted. A limit is METRIC > N or METRIC >= N,
/// with the metric conflicts, excess (wavefronts more than the words need),
/// findings (faults, and outputs that are not as expected), warnings, cycles
/// (simulated) or area (NAND2 equivalents of the units that compute the bank
/// mapping in one SM, synthesized). Limits are taken from --fail-on, else from spadkit-gate.toml
/// beside the kernel (docs/guides/gate.md), else they are conflicts > 0 and
/// findings > 0.
///
/// With --baseline, a limit that was exceeded before fails only if the number
/// has grown. It also fails if a fault of the kernel prevents a number of the
/// baseline from being measured.
/// The exit status is 1 if a limit is exceeded.
#[derive(Args)]
pub struct GateArgs {
    #[arg(required = true, value_name = "FILE", help = input_help(&[]))]
    pub(super) inputs: Vec<Input>,
    /// Fail where this holds, such as 'conflicts > 0'; repeat for several.
    #[arg(long, value_name = "METRIC > N", value_parser = super::values::parsed::<Limit>)]
    fail_on: Vec<Limit>,
    /// Numbers of an earlier run: only what is worse fails.
    #[arg(long, value_name = "FILE.json")]
    baseline: Option<PathBuf>,
    /// Write the numbers of this run as a baseline; nothing fails but bad input.
    #[arg(long, value_name = "FILE.json", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,
    /// Write what fails, with lines and fixes, as SARIF 2.1.0.
    #[arg(long, value_name = "FILE.sarif")]
    sarif: Option<PathBuf>,
    /// Write the limits as test cases.
    #[arg(long, value_name = "FILE.xml")]
    junit: Option<PathBuf>,
    /// Mapping that conflicts are counted under, and whose unit has the area
    /// [default: mod, and the area of the machine's hash].
    #[arg(long, value_name = "SPEC", value_parser = super::values::parsed::<LayoutSpec>)]
    hash: Option<LayoutSpec>,
    #[command(flatten)]
    cells: Cells,
    /// Seconds of each search for what removes the conflicts; 0: no search.
    #[arg(long, value_name = "SECONDS", default_value_t = 1,
          value_parser = clap::value_parser!(u64).range(..=3600))]
    budget: u64,
    #[command(flatten)]
    allow: super::Allow,
    #[command(flatten)]
    judge: Judge,
}

impl Execute for GateArgs {
    fn examples() -> &'static [Example] {
        &[
            (
                "no conflicts, no faults",
                "gate k.toml --fail-on 'conflicts > 0'",
            ),
            (
                "what the hash may cost",
                "gate k.toml --hash xor --fail-on 'area > 400'",
            ),
            (
                "nothing worse than before",
                "gate kernels/*/*.toml --baseline gate.json",
            ),
            (
                "for code review",
                "gate k.toml --sarif gate.sarif --junit gate.xml",
            ),
        ]
    }

    /// Each kernel has the machine of its own target.
    fn has_machine(&self) -> bool {
        false
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        printer.listen();
        let run = self.allow.run(printer);
        for file in [&self.write_baseline, &self.sarif, &self.junit] {
            file.iter().try_for_each(|file| check_writable(file))?;
        }
        let baseline = self.baseline.as_deref().map(Baseline::load).transpose()?;
        let limits = Limits::of(&self.fail_on);
        let inputs = self.inputs.iter();
        let inputs: Vec<&Input> = inputs
            .filter(|i| !limits::is_limits_file(i.name()))
            .collect();
        if inputs.is_empty() {
            return Err(Error::usage(
                "there is no kernel to check: the limits are all that was named",
                "name launch files, access traces or kernel:NAME",
            ));
        }
        let bar = printer.progress(inputs.len() as u64, "gate");
        let (mut kernels, mut library) = (Vec::new(), None);
        let mut names = FunctionNames::default();
        for (done, input) in inputs.iter().enumerate() {
            if interrupt::requested() {
                return Gated::of(kernels).interrupted(printer);
            }
            bar.set(done as u64, input.to_string());
            let (own, machine) = global.resolved(Some(input));
            let (limits, config) = (limits.of_input(input.name())?, own.machine()?);
            let limited = limits.iter().any(|l| l.metric == Metric::Area);
            let hardware = limited.then(|| self.area(&mut library, &config, &bar));
            let job = Job {
                input,
                machine: config,
                again: own.machine_option(),
                limits,
                hardware: hardware.transpose()?,
                run,
            };
            let kernel = self.kernel(job, machine, baseline.as_ref(), &mut names)?;
            for note in &kernel.measured.notes {
                printer.warn(format!("{input}: {note}"));
            }
            kernels.push(kernel);
        }
        drop(bar);
        self.report(kernels, baseline.as_ref(), printer)
    }
}

/// A kernel with its limits.
struct Job<'a> {
    input: &'a Input,
    machine: Config,
    again: String,
    limits: Vec<Limit>,
    /// Where a limit is on its area.
    hardware: Option<HardwareArea>,
    run: RunOptions,
}

impl GateArgs {
    /// The area of the hash; `library` is loaded once.
    fn area(
        &self,
        library: &mut Option<Library>,
        machine: &Config,
        bar: &Progress,
    ) -> Result<HardwareArea> {
        let library = match library {
            Some(known) => known,
            None => library.insert(Library::new(self.cells.library().load()?)),
        };
        let progress = |_, _, what: &str| bar.say(what);
        library.area(self.hash.as_ref(), machine, &progress)
    }

    fn kernel(
        &self,
        job: Job,
        machine: MachineNote,
        baseline: Option<&Baseline>,
        names: &mut FunctionNames,
    ) -> Result<Kernel> {
        let plain = LayoutSpec::Hash(HashSpec::Mod);
        let wanted = Wanted {
            hash: self.hash.as_ref().unwrap_or(&plain),
            cycles: job.limits.iter().any(|l| l.metric == Metric::Cycles),
            run: job.run,
            machine_code: self.judge.is_by_machine_code(),
        };
        let mut measured = Measured::of(job.input, &job.machine, &wanted)?;
        measured.hardware = job.hardware;
        let name = job.input.to_string();
        let before = baseline.and_then(|b| b.of(&name));
        let checks: Vec<Check> = job
            .limits
            .into_iter()
            .map(|limit| {
                let check = Check::new(limit, measured.value(limit.metric), before);
                Check {
                    failed: check.failed && self.write_baseline.is_none(),
                    ..check
                }
            })
            .collect();
        let of_conflicts = |c: &Check| c.exceeded && c.limit.metric.is_of_conflicts();
        let fails = measured.trace.is_some() && checks.iter().any(of_conflicts);
        let found = match (fails, self.budget) {
            (true, seconds @ 1..) => fix::of(
                &measured,
                job.input,
                &job.machine,
                (Duration::from_secs(seconds), self.judge),
                names,
            )?,
            (true, 0) => fix::FixSearch::not_searched(),
            (false, _) => fix::FixSearch::default(),
        };
        Ok(Kernel {
            input: name,
            again: job.again,
            machine,
            measured,
            checks,
            fixes: found.fixes,
            fix_note: found.note,
            machine_code: self.judge.is_by_machine_code(),
        })
    }

    /// Writes the files, prints the table, and fails where a limit does.
    fn report(
        &self,
        kernels: Vec<Kernel>,
        baseline: Option<&Baseline>,
        printer: &Printer,
    ) -> Result<()> {
        let write = |file: &Path, text: &str| {
            write_file(file, text.as_bytes())?;
            printer.wrote(file);
            Ok::<(), Error>(())
        };
        if let Some(file) = &self.write_baseline {
            write(file, &Baseline::of_run(&kernels).text())?;
        }
        if let Some(file) = &self.sarif {
            write(file, &sarif::text(&kernels, baseline.is_some()))?;
        }
        if let Some(file) = &self.junit {
            write(file, &junit::text(&kernels))?;
        }
        let gated = Gated::of(kernels);
        gated.show(printer)?;
        let Some((kernel, check)) = gated.first_failure() else {
            return Ok(());
        };
        let (what, command) = kernel.advice(check);
        let others = gated.kernels.iter().filter(|k| k.failed());
        let others: Vec<&str> = others.skip(1).map(|k| k.input.as_str()).collect();
        let others = match others.len() {
            0 => String::new(),
            1 => format!("; {} fails, too", others[0]),
            n => format!("; {n} more kernels fail: {}", others.join(", ")),
        };
        Err(Error::CheckFailed {
            what: format!("{}: {}{others}", kernel.input, check.text()),
            help: Some(format!("see {what} with: {command}")),
        })
    }
}

/// All kernels with what was checked.
#[derive(Serialize)]
struct Gated {
    failed: bool,
    kernels: Vec<Kernel>,
}

impl Gated {
    fn of(kernels: Vec<Kernel>) -> Self {
        let failed = kernels.iter().any(Kernel::failed);
        Gated { failed, kernels }
    }

    fn show(&self, printer: &Printer) -> Result<()> {
        // One machine is named once, above; several beside the kernels.
        match self.one_machine().cloned() {
            Some(machine) => printer.clone().of_machine(machine).show(self),
            None => printer.show(self),
        }
    }

    /// Shows the kernels that were measured; no file is written.
    fn interrupted(&self, printer: &Printer) -> Result<()> {
        if !self.kernels.is_empty() {
            self.show(printer)?;
        }
        Err(Error::Interrupted {
            what: "gate".to_owned(),
        })
    }
}

/// A kernel.
#[derive(Serialize)]
struct Kernel {
    input: String,
    machine: MachineNote,
    #[serde(flatten)]
    measured: Measured,
    checks: Vec<Check>,
    /// What removes the conflicts, where a limit on them is exceeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<fix::Fix>,
    /// What to know of them, or why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix_note: Option<String>,
    /// The accesses of the machine code are counted.
    machine_code: bool,
    /// The option that names the machine.
    #[serde(skip)]
    again: String,
}

impl Kernel {
    fn failed(&self) -> bool {
        self.checks.iter().any(|check| check.failed)
    }

    /// What a command shows about a failure, and the command.
    fn advice(&self, check: &Check) -> (&'static str, String) {
        let input = crate::quote::shell(&self.input);
        match (check.limit.metric, check.value) {
            (Metric::Area, _) => ("what the units take", self.synthesis()),
            (Metric::Conflicts | Metric::Excess, Some(_)) => {
                let by = if self.machine_code {
                    " --machine-code"
                } else {
                    ""
                };
                let command = format!("spadkit tune {input} --software{by} {}", self.again);
                ("what to change", command)
            }
            (Metric::Cycles, Some(_)) => {
                let command = format!("spadkit sim {input} --source {}", self.again);
                ("where they go", command.trim_end().to_owned())
            }
            _ => ("what it finds", format!("spadkit run {input} --races")),
        }
    }

    /// The command that shows the units of its area.
    fn synthesis(&self) -> String {
        let units = self.measured.hardware.iter().flat_map(|h| &h.units);
        let units: Vec<&str> = units.map(String::as_str).collect();
        let command = format!("spadkit synth {} {}", units.join(" "), self.again);
        command.trim_end().to_owned()
    }

    /// The kernel's name in the source.
    fn name(&self) -> String {
        readable(&self.measured.name)
    }
}

/// A limit with the number that it is of.
#[derive(Serialize)]
struct Check {
    limit: Limit,
    /// Null where it could not be measured: the kernel has a fault.
    value: Option<u64>,
    /// Of the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
    /// The number is above the limit, or unknown.
    exceeded: bool,
    /// It is also worse than the baseline.
    failed: bool,
}

impl Check {
    /// `before` has the kernel's numbers of the baseline, if it is there.
    fn new(limit: Limit, value: Option<u64>, before: Option<&Numbers>) -> Self {
        let exceeded = value.is_none_or(|value| limit.exceeded(value));
        let known_before = before.map(|b| b.get(limit.metric));
        let worse = match (known_before, value) {
            (None, _) => true,
            (Some(before), None) => before.is_some(),
            (Some(before), Some(value)) => before.is_none_or(|before| value > before),
        };
        Check {
            limit,
            value,
            before: known_before.flatten(),
            exceeded,
            failed: exceeded && worse,
        }
    }

    /// `conflicts is 56, and conflicts > 0 fails`.
    fn text(&self) -> String {
        let unknown = || "unknown because the kernel has a fault".to_owned();
        let value = self.value.map_or_else(unknown, |v| v.to_string());
        let before = self.before.map_or(String::new(), |b| format!(", was {b}"));
        format!(
            "{} is {value}{before}, and {} fails",
            self.limit.metric, self.limit
        )
    }
}
