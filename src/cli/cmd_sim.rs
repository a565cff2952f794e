//! `spadkit sim`: the golden model of a whole SM runs a kernel.

mod chart;
mod kept;
mod plan;
mod point;
mod report;
mod sweep;
mod text;

use super::campaign::PointArgs;
use super::kernel_registers::of_kernel;
use super::line_slots::{self, LineSlot, LineSlots};
use super::overrides::named;
use super::printer::{CommandResult, Printer};
use super::values::input_help;
use super::{Example, Execute, Global};
use crate::capture::{LaunchInput, LaunchRun};
use crate::config::{LockHash, Overlay, Pipeline, Scheduler};
use crate::error::{Error, Result};
use crate::hash::HashSpec;
use crate::interrupt;
use crate::output::{check_writable, write_result};
use crate::quote::shell;
use crate::sm::{AccessWorkload, RunProgress, Share, Workload};
use crate::suggest::SourceFiles;
use crate::terminal::{Details, Hint};
use crate::workload::{AccessOptions, Input, LaunchWorkload, RunOptions};
use clap::Args;
use kept::Kept;
use plan::Plan;
use point::{Compared, Numbers, Point};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::time::Instant;
use strum::VariantNames;
use sweep::{Sweep, run_part};

/// Run a kernel on the golden model of a whole SM.
///
/// An access trace has no registers, so each access waits for the second one
/// before it in its warp (--dependent); its atomics go through the lock unit, and
/// its barriers are executed. Full traces, program texts
/// (docs/reference/formats.md) and launch files, whose PTX kernel is executed
/// first (docs/reference/ptx-traces.md), have all their instructions and
/// dependences.
///
/// With --sweep, every combination of the options' values runs: --pipeline
/// unified,elastic --sharing 0.1,0.5 --hash mod --hash xor --preset fermi,gt200
/// --set path.mem_stages=2,4. Speed-ups are relative to mod without a hash
/// stage.
#[derive(Args)]
#[command(mut_arg("points", |arg| arg.requires("sweep")))]
#[command(mut_arg("shard", |arg| arg.conflicts_with_all(["csv", "chart", "report"])))]
pub struct SimArgs {
    #[arg(help = input_help(&["program text (.warp)", "full trace (.spt)"]))]
    pub(super) input: Input,
    /// Pipeline [default: the machine's].
    #[arg(long, value_delimiter = ',', value_parser = named::<Pipeline>(Pipeline::VARIANTS))]
    pipeline: Vec<Pipeline>,
    /// Warp scheduler.
    #[arg(long, value_delimiter = ',', value_parser = named::<Scheduler>(Scheduler::VARIANTS))]
    scheduler: Vec<Scheduler>,
    /// Bank mapping; it must keep all rows within the capacity. Repeat for several.
    #[arg(long, value_name = "SPEC")]
    hash: Vec<HashSpec>,
    /// Hash of the lock addresses.
    #[arg(long, value_delimiter = ',', value_parser = named::<LockHash>(LockHash::VARIANTS))]
    lock_hash: Vec<LockHash>,
    /// Two blocks share their scratchpad except for a private part T, 0 to 1; off: they do
    /// not.
    #[arg(long, value_name = "T|off", value_delimiter = ',')]
    sharing: Vec<Share>,
    /// Run an access trace as a grid of N equal blocks.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    blocks: Vec<u32>,
    /// In an access trace, an access waits for the N-th one before it in its
    /// warp; 0: back to back [default: 2].
    #[arg(long, value_name = "N")]
    dependent: Option<u32>,
    /// A key of the machine's configuration (docs/reference/formats.md). Repeat for several keys.
    #[arg(long, value_name = "SECTION.KEY=A,B,...")]
    set: Vec<String>,
    /// Run every combination of the values [default: mod and xor, all
    /// pipelines, lrr and conflict-aware].
    #[arg(long)]
    sweep: bool,
    /// Write all numbers of all points as a table.
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    kept: PointArgs,
    /// Attribute issue slots to source lines, largest first: slots in which an
    /// instruction of the line issued, and slots in which a warp waited there.
    /// Without line information, to lines of the PTX or to instructions.
    #[arg(long, conflicts_with = "sweep")]
    source: bool,
    #[command(flatten)]
    allow: super::Allow,
    /// Write a page about the sweep: the fastest point, what it gains, what the
    /// cycles of each point go to.
    #[arg(long, value_name = "FILE.html", requires = "sweep")]
    report: Option<PathBuf>,
    /// Draw cycles and speed-ups.
    #[arg(long, value_name = "FILE.svg")]
    chart: Option<PathBuf>,
}

/// The kernel of a launch file, with the registers that it has on the first of the
/// machines.
fn launch(
    input: &LaunchInput,
    run: RunOptions,
    plan: &Plan,
    printer: &Printer,
) -> Result<Box<dyn Workload>> {
    let mut file = input.file()?.clone();
    let machine = plan.machines.first().map(Overlay::config).transpose()?;
    if let Some(machine) = machine.filter(|m| m.compute_capability.is_some()) {
        let module = input.module()?.clone().one_text()?;
        let entry = input.selected().entry(&file, &module)?;
        file.registers = of_kernel(&module, &entry, &machine, file.registers, printer);
    }
    Ok(Box::new(LaunchWorkload::open(&LaunchRun {
        file: &file,
        ..input.run(run)?
    })?))
}

/// The workloads of all points, by the size of the grid.
struct Works {
    of_blocks: Vec<(Option<u32>, Box<dyn Workload>)>,
    /// N of an access trace's dependences.
    dependent: Option<u32>,
}

impl Works {
    fn load(args: &SimArgs, plan: &Plan, printer: &Printer) -> Result<Self> {
        let input = &args.input;
        let run = args.allow.run(printer);
        let options = |blocks| AccessOptions {
            blocks,
            dependent: args.dependent,
            intensity: None,
            zeros_beyond: run.zeros_beyond,
        };
        // Reads the input once: standard input can be read only once.
        let trace = if input.is_access_trace() {
            Some(input.accesses(run)?)
        } else {
            None
        };
        let load = |blocks| -> Result<(Option<u32>, Box<dyn Workload>)> {
            Ok(match (&trace, input.launch()) {
                (Some(trace), _) => (blocks, Box::new(options(blocks).workload(trace)?)),
                (None, Some(found)) => {
                    options(blocks).refuse(input)?;
                    (blocks, launch(found, run, plan, printer)?)
                }
                (None, None) => (blocks, input.programs(&options(blocks))?),
            })
        };
        let dependent = args.dependent.unwrap_or(AccessWorkload::DEPENDENT);
        Ok(Works {
            of_blocks: match &args.blocks[..] {
                [] => vec![load(None)?],
                blocks => blocks
                    .iter()
                    .map(|&b| load(Some(b)))
                    .collect::<Result<_>>()?,
            },
            dependent: trace.is_some().then_some(dependent),
        })
    }

    /// The workload for a grid of `blocks`, which is one of the option's values.
    fn of(&self, blocks: Option<u32>) -> &dyn Workload {
        let found = self.of_blocks.iter().find(|w| w.0 == blocks);
        found.unwrap_or(&self.of_blocks[0]).1.as_ref()
    }

    fn kernel(&self) -> &str {
        &self.of(None).info().name
    }
}

impl Execute for SimArgs {
    fn examples() -> &'static [Example] {
        &[
            ("cycles by source line", "sim k.toml --source"),
            (
                "all choices",
                "sim kernel:transpose --sweep --report sweep.html",
            ),
            (
                "a quarter of them, on one of four machines",
                "sim kernel:transpose --sweep --shard 1/4 --points shard-1.jsonl",
            ),
        ]
    }

    fn kernel(&self) -> Option<&Input> {
        Some(&self.input)
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        let plan = Plan::new(self, global)?;
        for file in self.csv.iter().chain(&self.chart).chain(&self.report) {
            check_writable(file)?;
        }
        let works = Works::load(self, &plan, printer)?;
        super::load::note_launches(&self.input, printer);
        printer.listen();
        let sweep = if self.sweep {
            let kept = Kept::open(self)?;
            if self.kept.is_part() {
                let (runs, ended) = run_part(&plan, &works, (&self.kept, &kept), printer)?;
                kept.finish()?;
                if !ended {
                    return Err(Error::Interrupted {
                        what: "sim".to_owned(),
                    });
                }
                return printer.show(&kept.part(runs, &self.input));
            }
            let sweep = Sweep::run(&plan, &works, &kept, printer)?;
            kept.finish()?;
            sweep
        } else {
            Sweep::of_one(one_run(&plan, &works, self.source, printer)?)
        };
        self.write_files(&sweep, &works, printer)?;
        match &sweep.points[..] {
            [point] if !self.sweep => {
                let workload = works.of(point.draft.blocks);
                let lines = point.profile.as_ref().map(|p| LineSlots::new(p, workload));
                let mut source = SourceFiles::beside(self.input.name());
                printer.show(&OneRun {
                    kernel: works.kernel(),
                    numbers: point.numbers(),
                    interrupted: !point.ended,
                    lines: lines.map(|lines| lines.lines(&mut source)),
                    point,
                    input: &self.input,
                    again: global.machine_option(),
                })
            }
            _ => printer.show(&Swept::of(&sweep, &works)),
        }
    }
}

/// A kernel's run.
#[derive(Serialize)]
struct OneRun<'a> {
    kernel: &'a str,
    #[serde(flatten)]
    numbers: Numbers<'a>,
    #[serde(skip_serializing_if = "is_false")]
    interrupted: bool,
    /// Issue slots by line, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<LineSlot>>,
    #[serde(skip)]
    point: &'a Point,
    #[serde(skip)]
    input: &'a Input,
    /// The option that names the machine.
    #[serde(skip)]
    again: String,
}

impl CommandResult for OneRun<'_> {
    fn verdict(&self) -> String {
        text::verdict(self.kernel, self.point)
    }

    fn details(&self) -> Details {
        let mut details = text::single(self.point);
        if let Some(lines) = &self.lines {
            details.gap();
            details.table(line_slots::table(lines));
        }
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let input = shell(self.input.name());
        let mut hints = Vec::new();
        if self.lines.is_none() && self.input.launch().is_some() {
            let command = format!("spadkit sim {input} --source {}", self.again);
            hints.push(Hint::new("which lines the cycles go to", command));
        }
        let command = format!("spadkit sim {input} --sweep {}", self.again);
        hints.push(Hint::new(
            "to find the fastest hash, pipeline and scheduler",
            command,
        ));
        hints
    }
}

/// All points of a sweep.
#[derive(Serialize)]
struct Swept<'a> {
    kernel: &'a str,
    /// The machine that all points have, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<&'a str>,
    results: Vec<Compared<'a>>,
    baselines: Vec<Numbers<'a>>,
    skipped: Vec<Skipped<'a>>,
    #[serde(skip_serializing_if = "is_false")]
    interrupted: bool,
    #[serde(skip)]
    sweep: &'a Sweep,
    #[serde(skip)]
    works: &'a Works,
}

/// A point that cannot be.
#[derive(Serialize)]
struct Skipped<'a> {
    /// The options that have several values, and this point's.
    point: Map<String, Value>,
    reason: &'a str,
}

impl<'a> Swept<'a> {
    fn of(sweep: &'a Sweep, works: &'a Works) -> Self {
        let skipped = sweep.skipped.iter().map(|(draft, reason)| {
            let labels = draft.labels.iter();
            let point = labels.map(|(k, v)| (k.replace(' ', "_"), v.clone().into()));
            Skipped {
                point: point.collect(),
                reason,
            }
        });
        Swept {
            kernel: works.kernel(),
            preset: sweep.preset(),
            results: sweep.points.iter().map(Point::compared).collect(),
            baselines: sweep.baselines.iter().map(Point::numbers).collect(),
            skipped: skipped.collect(),
            interrupted: sweep.interrupted,
            sweep,
            works,
        }
    }
}

impl CommandResult for Swept<'_> {
    fn verdict(&self) -> String {
        text::best(self.sweep)
    }

    fn details(&self) -> Details {
        text::sweep(self.sweep, self.works)
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The only point of the plan, with its blocks, cycles and speed on a terminal.
fn one_run(plan: &Plan, works: &Works, profiled: bool, printer: &Printer) -> Result<Point> {
    let draft = &plan.points[0];
    let grid = works.of(draft.blocks).info().blocks;
    let bar = printer.progress(grid.into(), "sim: blocks");
    let start = Instant::now();
    let mut watch = |progress: RunProgress| {
        bar.set(progress.blocks.into(), speed(progress.cycle, start));
        !interrupt::requested()
    };
    Point::run(draft, plan, works, profiled, &mut watch)
}

/// Cycles since `start`, in all and per second.
fn speed(cycles: u64, start: Instant) -> String {
    let per_second = cycles as f64 / start.elapsed().as_secs_f64().max(1e-3);
    let thousands = (cycles as f64 / 1e3, per_second / 1e3);
    format!("{:.0} k cycles, {:.0} k cycles/s", thousands.0, thousands.1)
}

impl SimArgs {
    fn write_files(&self, sweep: &Sweep, works: &Works, printer: &Printer) -> Result<()> {
        let whole = !sweep.interrupted && sweep.points.iter().all(|point| point.ended);
        let write = |file: &PathBuf, text: &str| {
            let written = write_result(file, text.as_bytes(), whole)?;
            printer.wrote(&written);
            if written != *file {
                printer.warn(format!(
                    "interrupted: partial results are in {}",
                    written.display()
                ));
            }
            Ok(())
        };
        if let Some(file) = &self.csv {
            write(file, &sweep.csv())?;
        }
        if let Some(file) = &self.report {
            write(file, &report::of(sweep, works).render()?)?;
        }
        match &self.chart {
            Some(file) => write(file, &chart::svg(sweep, works.kernel())),
            None => Ok(()),
        }
    }

    /// Refuses several values where one point is to run.
    fn refuse_lists(&self, machines: usize) -> Result<()> {
        let sets = plan::set_lists(&self.set)?;
        let sets = sets.iter().map(|s| ("--set", s.values.len()));
        let lists = [
            ("--preset", machines),
            ("--pipeline", self.pipeline.len()),
            ("--scheduler", self.scheduler.len()),
            ("--hash", self.hash.len()),
            ("--lock-hash", self.lock_hash.len()),
            ("--sharing", self.sharing.len()),
            ("--blocks", self.blocks.len()),
        ];
        match lists.into_iter().chain(sets).find(|list| list.1 > 1) {
            Some((option, count)) if !self.sweep => Err(Error::usage(
                format!("{option} has {count} values"),
                "expected one; --sweep runs every combination",
            )),
            _ => Ok(()),
        }
    }
}
