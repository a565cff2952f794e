//! `spadkit cosim`: Verilated RTL against the golden model.

use super::campaign::{self, PointArgs};
use super::printer::{CommandResult, Printer};
use super::{Example, Execute, Global};
use crate::config::Config;
use crate::cosim::{CosimOptions, CosimResult, Outcome, PATH, Replay, cosim_unit, each_unit};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::output::check_writable;
use crate::points::Points;
use crate::quote::shell;
use crate::rtl::{Design, EmittedUnit, named};
use crate::sm::{Sm, Workload};
use crate::terminal::{Columns, Details, Hint, Tone};
use crate::tool::{Cache, Toolbox};
use crate::trace::AccessTrace;
use crate::workload::{AccessOptions, Input, LaunchWorkload, RunOptions};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Run the RTL in lockstep with the golden model, in Verilator.
///
/// Stimulus is random, with back-pressure and resets. With --trace it comes
/// from a kernel: spad_sm_path executes it, driven cycle by cycle as `spadkit
/// sim` drives its model, until the kernel ends; the other units get the
/// addresses of an access trace.
#[derive(Args)]
#[command(mut_arg("points", |arg| arg.conflicts_with_all(["trace", "rtl", "wave"])))]
pub struct CosimArgs {
    /// Units; all if none is named.
    units: Vec<String>,
    /// Stimulus from an access trace (.json or kernel:NAME); for spad_sm_path
    /// also from a full trace (.spt) or a program text (.warp).
    #[arg(long, value_name = "INPUT")]
    trace: Option<Input>,
    /// Clock cycles per unit [default: 20000; spad_sm_path: 200000]. A kernel on
    /// spad_sm_path runs to its end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cycles: Option<u64>,
    /// Seed of the stimulus.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Write both sides as a waveform, for a single unit: after a mismatch the
    /// shortened stimulus (or the 1000 cycles up to it), otherwise the last 1000
    /// cycles.
    #[arg(long, value_name = "FILE.vcd")]
    wave: Option<PathBuf>,
    /// Take the Verilog from DIR (hand-edited, for example) instead of emitting
    /// it. It is executed on this computer, so system tasks that reach out of
    /// the simulation ($system, $fopen, ...), $c, imports of C and `include are
    /// refused.
    #[arg(long, value_name = "DIR")]
    rtl: Option<PathBuf>,
    /// Run the Verilog of --rtl without checking it.
    #[arg(long, requires = "rtl")]
    trust: bool,
    #[command(flatten)]
    kept: PointArgs,
}

impl CosimArgs {
    /// The options that make the same run again.
    fn again(&self, global: &Global) -> String {
        let mut options = format!("{} --seed {}", global.machine_option(), self.seed);
        if let Some(input) = &self.trace {
            options.push_str(&format!(" --trace {}", shell(input.name())));
        }
        if let Some(dir) = &self.rtl {
            options.push_str(&format!(" --rtl {}", shell(dir)));
            if self.trust {
                options.push_str(" --trust");
            }
        }
        if let Some(cycles) = self.cycles {
            options.push_str(&format!(" --cycles {cycles}"));
        }
        options
    }
}

impl Execute for CosimArgs {
    fn examples() -> &'static [Example] {
        &[
            ("all units", "cosim --preset small"),
            (
                "edited Verilog, with a waveform",
                "cosim spad_row_map --rtl rtl --wave w.vcd",
            ),
        ]
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        interrupt::listen();
        let config = global.machine()?.for_hardware();
        let design = match &self.rtl {
            None => Design::emit(&self.units, &config)?,
            Some(dir) => Design::of_folder(&self.units, &config, dir)?,
        };
        if self.wave.is_some() && design.units.len() != 1 {
            return Err(Error::usage(
                format!("--wave with {} units", design.units.len()),
                "name the one unit that the waveform is for",
            ));
        }
        let stimulus = match &self.trace {
            None => Stimulus::default(),
            Some(input) => Stimulus::load(input, self, &design, &config, printer)?,
        };
        if let Some(wave) = &self.wave {
            check_writable(wave)?;
        }
        let options = CosimOptions {
            config: &config,
            cycles: self.cycles,
            seed: self.seed,
            trace: stimulus.trace.as_ref(),
            replay: stimulus.workload.as_deref().map(|workload| Replay {
                workload,
                cycles: self.cycles.unwrap_or(u64::MAX),
            }),
            rtl_dir: self.rtl.clone(),
            trust: self.trust,
            wave: self.wave.clone(),
        };
        let (tools, cache) = (Toolbox::new(), Cache::user()?);
        let points = self.kept.points()?;
        let machine = ("cosim campaign", &config);
        let units = self.kept.units(
            &design,
            &points,
            machine,
            format!("{:?}", (self.cycles, self.seed, &self.trace)),
        )?;
        let bar = printer.progress(units.len() as u64, "cosim");
        let run = |unit: &EmittedUnit| {
            let run = || cosim_unit(&design, unit, &options, &tools, &cache, &|_| {});
            known_or(&points, &design, unit, &options, &run)
        };
        let results = each_unit(&units, &run, &|done, unit| bar.set(done, unit))?;
        drop(bar);
        points.finish()?;
        warn_of_unended(&results, printer);
        let verified = Verified {
            results,
            next: global.about_units("synth", &self.units, self.rtl.as_deref()),
        };
        printer.show(&verified)?;
        fail_on_mismatch(&verified.results, &self.again(global))
    }
}

fn warn_of_unended(results: &[CosimResult], printer: &Printer) {
    for result in results.iter().filter(|r| r.ended == Some(false)) {
        if result.mismatch().is_none() {
            let cycles = result.outcome.cycles;
            printer.warn(format!("the kernel had not ended after {cycles} cycles"));
        }
    }
}

/// The stored result of a unit; else the result of `run`, which is stored if the unit agrees.
fn known_or(
    points: &Points,
    design: &Design,
    unit: &EmittedUnit,
    options: &CosimOptions,
    run: &dyn Fn() -> Result<CosimResult>,
) -> Result<CosimResult> {
    if points.file().is_none() {
        return run();
    }
    let stimulus = format!("{:?} cycles, seed {}", options.cycles, options.seed);
    let digest = campaign::of_unit("cosim", design, unit, options.config, stimulus);
    if let Some(agreed) = points.get::<Agreed>(&digest) {
        return Ok(agreed.result(&unit.name));
    }
    let result = run()?;
    if let Some(agreed) = Agreed::of(&result) {
        points.add(&digest, &unit.name, &agreed)?;
    }
    Ok(result)
}

/// A unit that agreed with its model in all cycles, as a point keeps it.
#[derive(Serialize, Deserialize)]
struct Agreed {
    cycles: u64,
    checks: u64,
    seconds: f64,
}

impl Agreed {
    /// Nothing of a run that differed, or that an interrupt ended.
    fn of(result: &CosimResult) -> Option<Self> {
        let outcome = &result.outcome;
        (outcome.mismatches == 0 && !interrupt::requested()).then_some(Agreed {
            cycles: outcome.cycles,
            checks: outcome.checks,
            seconds: result.seconds,
        })
    }

    fn result(self, unit: &str) -> CosimResult {
        CosimResult {
            unit: unit.to_owned(),
            outcome: Outcome {
                cycles: self.cycles,
                checks: self.checks,
                ..Outcome::default()
            },
            seconds: self.seconds,
            ended: None,
            shrunk: None,
        }
    }
}

/// The stimulus of --trace.
#[derive(Default)]
struct Stimulus {
    /// Addresses, for units of the path.
    trace: Option<AccessTrace>,
    /// A kernel, for the whole path.
    workload: Option<Box<dyn Workload>>,
}

impl Stimulus {
    fn load(
        input: &Input,
        args: &CosimArgs,
        design: &Design,
        config: &Config,
        printer: &Printer,
    ) -> Result<Self> {
        let path = design.units.iter().any(|unit| unit.name == PATH);
        let others = design.units.iter().find(|unit| unit.name != PATH);
        if let Some(launch) = input.launch() {
            // Addresses of one block for the units, the kernel for the path.
            let run = launch.run(RunOptions::default())?;
            let (trace, workload) = match (others, path) {
                (Some(_), true) => {
                    let (trace, workload) = super::load::load_both(input, &run, config, printer)?;
                    (Some(trace), Some(workload))
                }
                (Some(_), false) => {
                    let trace = super::load::load_for(input, run.options, config, printer)?;
                    (Some(trace), None)
                }
                (None, _) => {
                    super::load::note_launches(input, printer);
                    (None, Some(LaunchWorkload::open(&run)?))
                }
            };
            let workload = match workload {
                Some(workload) => executable(Box::new(workload), config, args, printer)?,
                None => None,
            };
            return Ok(Stimulus { trace, workload });
        }
        if input.is_access_trace() {
            let trace = super::load::load_for(input, RunOptions::default(), config, printer)?;
            let workload = if path {
                let workload = AccessOptions::default().workload(&trace)?;
                executable(Box::new(workload), config, args, printer)?
            } else {
                None
            };
            return Ok(Stimulus {
                trace: Some(trace),
                workload,
            });
        }
        if let Some(unit) = others {
            return Err(Error::usage(
                format!("{} cannot execute {input}", unit.name),
                format!("name {PATH} alone: full traces and program texts are for the whole path"),
            ));
        }
        Ok(Stimulus {
            trace: None,
            workload: Some(input.programs(&AccessOptions::default())?),
        })
    }
}

/// A kernel that the machine can run. Where all units run, the path may do
/// without it: a trace can be too large for the machine and still serve the
/// other units.
fn executable(
    workload: Box<dyn Workload>,
    config: &Config,
    args: &CosimArgs,
    printer: &Printer,
) -> Result<Option<Box<dyn Workload>>> {
    match Sm::new(config, workload.as_ref()).map(drop) {
        Err(error) if args.units.is_empty() => {
            printer.warn(format!("{PATH} has random stimulus: {error}"));
            Ok(None)
        }
        Err(error) => Err(error),
        Ok(()) => Ok(Some(workload)),
    }
}

/// An error that names the first mismatch; `options` repeat the run.
pub(super) fn fail_on_mismatch(results: &[CosimResult], options: &str) -> Result<()> {
    let Some((result, first)) = results.iter().find_map(|r| Some((r, r.mismatch()?))) else {
        return Ok(());
    };
    let shrunk = match result.shrunk.as_ref().map(|s| s.cycles) {
        Some(1) => "; one cycle is enough to show it".to_owned(),
        Some(cycles) => format!("; {cycles} cycles are enough to show it"),
        None => String::new(),
    };
    Err(Error::CheckFailed {
        what: format!(
            "{}: {} in cycle {} is {}, expected {}{shrunk}",
            result.unit, first.signal, first.cycle, first.got, first.expected
        ),
        help: Some(format!(
            "see both sides with: spadkit cosim {} {options} --wave mismatch.vcd",
            result.unit
        )),
    })
}

/// The results of the units in lockstep with their models.
#[derive(Serialize)]
struct Verified {
    results: Vec<CosimResult>,
    /// The command that measures the units.
    #[serde(skip)]
    next: String,
}

impl CommandResult for Verified {
    fn verdict(&self) -> String {
        let cycles: u64 = self.results.iter().map(|r| r.outcome.cycles).sum();
        let wrong = self.results.iter().filter(|r| r.outcome.mismatches > 0);
        let wrong: Vec<&str> = wrong.map(|r| r.unit.as_str()).collect();
        match (&self.results[..], &wrong[..]) {
            ([one], []) => format!("{} agrees with its model, {cycles} cycles.", one.unit),
            (all, []) => format!(
                "All {} units agree with their models, {cycles} cycles.",
                all.len()
            ),
            (_, [one]) => format!("{one} differs from its model."),
            (_, several) => format!("{} differ from their models.", several.join(", ")),
        }
    }

    fn tone(&self) -> Tone {
        if self.results.iter().any(|r| r.outcome.mismatches > 0) {
            Tone::Bad
        } else {
            Tone::Good
        }
    }

    fn details(&self) -> Details {
        let table = Columns::of(&self.results)
            .left("unit", |r| &r.unit)
            .right("cycles", |r| r.outcome.cycles)
            .right("checks", |r| r.outcome.checks)
            .right("mismatches", |r| r.outcome.mismatches)
            .toned(|r| match r.outcome.mismatches {
                0 => Tone::Good,
                _ => Tone::Bad,
            })
            .right("cycles/s", |r| {
                format!("{:.2e}", r.outcome.cycles as f64 / r.seconds.max(1e-9))
            });
        let mut details = Details::of(table.table());
        let differing = self
            .results
            .iter()
            .filter_map(|r| Some((&r.unit, r.mismatch()?)));
        for (unit, first) in differing.filter(|(_, first)| !first.driven_by.is_empty()) {
            let (signal, lines) = (&first.signal, named(&first.driven_by));
            details.say(format!("{signal} of {unit} is driven in {lines}."));
        }
        details
    }

    fn hints(&self) -> Vec<Hint> {
        match self.tone() {
            Tone::Bad => Vec::new(),
            _ => vec![Hint::new("their area and delay", &*self.next)],
        }
    }
}
