//! `spadkit gate`: limits on kernels, for continuous integration.

mod area;
mod baseline;
mod fix;
mod gated;
mod identity;
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
use crate::capture::LaunchInput;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hash::HashSpec;
use crate::interrupt;
use crate::output::{check_writable, write_result};
use crate::software::LayoutSpec;
use crate::suggest::FunctionNames;
use crate::workload::{Input, RunOptions};
use area::{HardwareArea, Library};
use baseline::Baseline;
use clap::Args;
use gated::{Check, Gated, GatedKernel, Skipped, Unread};
use limits::{Limit, Limits, Metric, Ruling};
use measure::{Measured, Wanted};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Check kernels against limits, and fail if one is exceeded.
///
/// Each kernel is run, its faults and outputs are checked, and the bank
/// conflicts of its traced block are counted. A limit is METRIC > N or METRIC >= N,
/// with the metric conflicts, excess (wavefronts beyond the ideal number),
/// findings (faults, and outputs that are not as expected), warnings, cycles
/// (simulated) or area (NAND2 equivalents of the units that compute the bank
/// mapping in one SM, synthesized). Limits are taken from --fail-on, else from spadkit-gate.toml
/// beside the kernel (docs/guides/gate.md), else they are conflicts > 0 and
/// findings > 0.
///
/// With --baseline, a limit that was exceeded before fails only if the number
/// has grown, or if one of the faults is not in the baseline. It also fails if a
/// fault of the kernel prevents a number of the baseline from being measured.
/// The exit status is 1 if a limit is exceeded, and 2 if a kernel cannot be
/// read; the others are judged all the same.
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
    /// Write the numbers of this run as a baseline; only bad input fails.
    #[arg(long, value_name = "FILE.json", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,
    /// Write what fails, with lines and fixes, as SARIF 2.1.0.
    #[arg(long, value_name = "FILE.sarif")]
    sarif: Option<PathBuf>,
    /// Write the limits as test cases.
    #[arg(long, value_name = "FILE.xml")]
    junit: Option<PathBuf>,
    /// Count conflicts, and measure area, under this mapping
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
        let baseline = self.baseline.as_deref();
        let baseline = baseline
            .map(|file| Baseline::load(file, &self.mapping().to_string()))
            .transpose()?;
        let limits = Limits::of(&self.fail_on);
        let inputs = self.inputs.iter();
        let inputs = inputs.filter(|i| !limits::is_limits_file(i.name()));
        let inputs: Vec<Input> = inputs.flat_map(|i| each_launch(i, printer)).collect();
        if inputs.is_empty() {
            return Err(Error::usage(
                "there is no kernel to check: the limits are all that was named",
                "name launch files, access traces or kernel:NAME",
            ));
        }
        let of_run = OfRun {
            global,
            machine: printer.machine(),
            limits,
            baseline: baseline.as_ref(),
            run,
        };
        let bar = printer.progress(inputs.len() as u64, "gate");
        let (mut gated, mut library) = (Gated::default(), None);
        let mut names = FunctionNames::default();
        let mut first_error = None;
        for (done, input) in inputs.iter().enumerate() {
            if interrupt::requested() {
                return gated.interrupted(printer);
            }
            bar.set(done as u64, input.to_string());
            let judged = self.judged(input, &of_run, (&mut library, &mut names), &bar);
            match judged {
                Ok(Judged::Kernel(kernel)) => {
                    for note in &kernel.measured.notes {
                        printer.warn(format!("{input}: {note}"));
                    }
                    gated.add(*kernel);
                }
                Ok(Judged::Skipped(skipped)) => gated.skipped.push(skipped),
                Err(error @ (Error::Usage { .. } | Error::Input(_) | Error::Io { .. })) => {
                    gated.unread.push(Unread::new(input, &error));
                    first_error.get_or_insert(error);
                }
                // The others would meet the same.
                Err(error) => return Err(error),
            }
        }
        drop(bar);
        for note in baseline.iter().flat_map(|b| b.notes(gated.new_kernels())) {
            printer.warn(note);
        }
        self.report(gated, first_error, baseline.is_some(), printer)
    }
}

/// The launches of a launch file that has several, each as an input.
fn each_launch(input: &Input, printer: &Printer) -> Vec<Input> {
    let count = input.launch().map_or(1, LaunchInput::open_launches);
    if count == 1 {
        return vec![input.clone()];
    }
    if count > MOST_LAUNCHES {
        printer.warn(format!(
            "{input} has {count} launches: the first {MOST_LAUNCHES} are judged, {input}:N names \
             another one"
        ));
    }
    let launches = (0..count.min(MOST_LAUNCHES)).map(|n| format!("{input}:{n}"));
    launches
        .map(|name| Input::from(PathBuf::from(name)))
        .collect()
}

/// Launches of a file that are judged without being named.
const MOST_LAUNCHES: usize = 64;

/// The parts that are the same for all kernels.
struct OfRun<'a> {
    global: &'a Global,
    /// The note on the machine in answers, where it is not the command line that
    /// names it.
    machine: Option<&'a MachineNote>,
    limits: Limits<'a>,
    baseline: Option<&'a Baseline>,
    run: RunOptions,
}

/// The judgement of a kernel.
enum Judged {
    Kernel(Box<GatedKernel>),
    Skipped(Skipped),
}

/// A kernel with its limits.
struct Job<'a> {
    input: &'a Input,
    machine: Config,
    again: String,
    limits: Vec<Limit>,
    /// Area of the hardware, where a limit is on it.
    hardware: Option<HardwareArea>,
    run: RunOptions,
}

impl GateArgs {
    /// Measures a kernel, and compares it with its limits.
    fn judged(
        &self,
        input: &Input,
        of_run: &OfRun,
        (library, names): (&mut Option<Library>, &mut FunctionNames),
        bar: &Progress,
    ) -> Result<Judged> {
        let limits = match of_run.limits.of_input(input.name())? {
            Ruling::Limits(limits) => limits,
            Ruling::Skip(reason) => return Ok(Judged::Skipped(Skipped::new(input, reason))),
        };
        let (own, machine) = of_run.global.resolved(Some(input));
        let machine = of_run.machine.cloned().unwrap_or(machine);
        let config = own.machine()?;
        let limited = limits.iter().any(|l| l.metric == Metric::Area);
        let hardware = limited.then(|| self.area(library, &config, bar));
        let job = Job {
            input,
            machine: config,
            again: own.machine_option(),
            limits,
            hardware: hardware.transpose()?,
            run: of_run.run,
        };
        let kernel = self.kernel(job, machine, of_run.baseline, names)?;
        Ok(Judged::Kernel(Box::new(kernel)))
    }

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
    ) -> Result<GatedKernel> {
        let mapping = self.mapping();
        let wanted = Wanted {
            hash: &mapping,
            cycles: job.limits.iter().any(|l| l.metric == Metric::Cycles),
            run: job.run,
            machine_code: self.judge.is_by_machine_code(),
        };
        let mut measured = Measured::of(job.input, &job.machine, &wanted)?;
        measured.hardware = job.hardware;
        let before = match baseline {
            Some(baseline) => baseline.of(job.input, &machine.preset)?,
            None => None,
        };
        let checks: Vec<Check> = job
            .limits
            .into_iter()
            .map(|limit| {
                let check = Check::new(limit, &measured, before);
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
        Ok(GatedKernel {
            input: job.input.to_string(),
            again: job.again,
            machine,
            before: before.map(|b| b.results().clone()),
            measured,
            checks,
            fixes: found.fixes,
            fix_note: fix::sentences(
                found
                    .note
                    .iter()
                    .chain(&found.doubt)
                    .map(|s| format!("{s}.")),
            ),
            note: found.note,
            doubt: found.doubt,
            machine_code: self.judge.is_by_machine_code(),
        })
    }

    /// Writes the files, prints the table, and fails where a kernel could not be judged or
    /// a limit fails.
    fn report(
        &self,
        gated: Gated,
        first_error: Option<Error>,
        has_baseline: bool,
        printer: &Printer,
    ) -> Result<()> {
        let write = |file: &Path, text: &str| {
            let whole = !interrupt::requested();
            printer.wrote(&write_result(file, text.as_bytes(), whole)?);
            Ok::<(), Error>(())
        };
        match &self.write_baseline {
            // It would lose the numbers of what could not be judged.
            Some(file) if first_error.is_none() => {
                let mut baseline = Baseline::new(file, self.mapping().to_string());
                for kernel in &gated.kernels {
                    baseline.add(&kernel.input, &kernel.machine.preset, &kernel.measured);
                }
                write(file, &baseline.text())?;
            }
            _ => {}
        }
        if let Some(file) = &self.sarif {
            write(file, &sarif::text(&gated, has_baseline))?;
        }
        if let Some(file) = &self.junit {
            write(file, &junit::text(&gated))?;
        }
        if !gated.kernels.is_empty() || !gated.skipped.is_empty() {
            gated.show(printer)?;
        }
        match first_error {
            Some(error) => Err(gated.not_judged(error)),
            None => gated.failure(printer.shows_text()).map_or(Ok(()), Err),
        }
    }

    /// The mapping that conflicts are counted under.
    fn mapping(&self) -> LayoutSpec {
        let plain = LayoutSpec::Hash(HashSpec::Mod);
        self.hash.clone().unwrap_or(plain)
    }
}
