//! `spadkit share`: the compiler half of scratchpad sharing.

mod input;
mod text;

use super::cmd_init::init_command;
use super::overrides::{self, named};
use super::printer::{CommandResult, Printer};
use super::{Example, Execute, Global};
use crate::config::Scheduler;
use crate::error::Result;
use crate::interrupt;
use crate::output::{check_writable, write_file, write_result};
use crate::report::pages::ShareReport;
use crate::sharing::annotate::Annotated;
use crate::sharing::{
    Drawing, Gain, Launched, LayoutKind, Placement, Plan, Planned, Variant, gains, variants,
};
use crate::terminal::Hint;
use crate::workload::Input;
use clap::Args;
use input::Subject;
use serde::Serialize;
use std::path::PathBuf;
use strum::VariantNames;

/// Plan and annotate scratchpad sharing for a kernel.
///
/// Two thread blocks share their scratchpad except for a private part T.
/// `share` computes how many blocks are resident, lays out the variables so that
/// the shared ones are in use for the fewest instructions, and places relssp, the
/// instruction that releases the shared part. The option -o writes the PTX with
/// markers. The commands run, trace and sim understand these
/// markers; assemblers ignore them. For a launch file, the golden model of the
/// SM runs the kernel without sharing and with each step of the sharing paper.
#[derive(Args)]
pub struct ShareArgs {
    /// Kernel in PTX, or a launch file.
    #[arg(value_name = "KERNEL.ptx|LAUNCH.toml", value_parser = super::values::file_input())]
    pub(super) input: Input,
    /// Entry of the PTX; needed only if there are several.
    #[arg(long, alias = "kernel", value_name = "NAME")]
    entry: Option<String>,
    /// Threads of a block, for PTX without a launch file.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = super::values::parse_block)]
    block: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    #[arg(long, value_name = "BYTES")]
    dynamic_shared: Option<u32>,
    /// Registers of a thread after allocation; without it, registers limit
    /// nothing.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    registers: Option<u32>,
    /// Private part of a block's scratchpad, 0 to 1 [default: the machine's,
    /// 0.1].
    #[arg(long, value_name = "T")]
    sharing: Option<f64>,
    /// Scheduler of the baseline, and of sharing without owner-warp-first
    /// [default: the machine's].
    #[arg(long, value_parser = named::<Scheduler>(&["lrr", "gto", "two-level"]))]
    scheduler: Option<Scheduler>,
    /// A key of the machine's configuration (docs/reference/formats.md). Repeat for several keys.
    #[arg(long, value_name = "SECTION.KEY=VALUE")]
    set: Vec<String>,
    /// Where to put relssp.
    #[arg(long, default_value = "optimal", value_parser = named::<Placement>(Placement::VARIANTS))]
    placement: Placement,
    /// How to lay out the variables.
    #[arg(long, default_value = "optimal", value_parser = named::<LayoutKind>(LayoutKind::VARIANTS))]
    layout: LayoutKind,
    /// Write the annotated PTX.
    #[arg(short, long, alias = "out", value_name = "FILE.ptx")]
    output: Option<PathBuf>,
    /// Draw the control flow with ranges and placements for Graphviz.
    #[arg(long, value_name = "FILE.dot")]
    dot: Option<PathBuf>,
    /// Write a report: ranges on the lines of the PTX, the control flow, gain.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Do not run a launch file's kernel on the SM.
    #[arg(long)]
    no_sim: bool,
}

impl Execute for ShareArgs {
    fn examples() -> &'static [Example] {
        &[
            (
                "what it gains",
                "share kernels/srad/srad.toml --preset sharing-48k",
            ),
            ("annotated PTX", "share k.ptx --block 256 -o shared.ptx"),
        ]
    }

    fn kernel(&self) -> Option<&Input> {
        Some(&self.input)
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        let machine = overrides::machine(global, &self.set, self.scheduler.as_ref())?;
        for file in self.output.iter().chain(&self.dot).chain(&self.report) {
            check_writable(file)?;
        }
        let mut input = Subject::load(self)?;
        input.refuse_together()?;
        input.find_registers(self.registers, &machine, printer);
        let kernel = input.analysed()?;
        let sharing = self.sharing.unwrap_or(machine.sm.sharing.threshold);
        let choice = (self.layout, self.placement);
        let plan = Plan::new(&kernel, &machine, input.needs, sharing, choice)?;
        let annotated = plan.annotate()?;
        printer.listen();
        let runs: Vec<Variant> = match &input.launch {
            Some((file, selected)) if !self.no_sim => {
                printer
                    .log("running the kernel on the SM, without sharing and with each step of it");
                let launched = Launched {
                    kernel: &kernel,
                    needs: input.needs,
                    file,
                    selected,
                };
                variants(launched, &machine, sharing, &|| !interrupt::requested())?
            }
            _ => Vec::new(),
        };
        let shared = Shared {
            numbers: plan.numbers(&annotated),
            variants: gains(&runs),
            preset: &machine.name,
            plan: &plan,
            annotated: &annotated,
            next: self.next(&plan),
        };
        if let Some(file) = &self.report {
            let report = ShareReport {
                verdict: shared.verdict(),
                good: shared.good(),
                commands: vec![super::this_command()],
                plan: &plan,
                annotated: &annotated,
                machine: machine.name.clone(),
                variants: &runs,
            };
            let whole = !interrupt::requested();
            printer.wrote(&write_result(file, report.render()?.as_bytes(), whole)?);
        }
        if let Some(file) = &self.dot {
            write_file(file, Drawing::of(&plan).dot().as_bytes())?;
            printer.wrote(file);
        }
        if let Some(file) = &self.output {
            write_file(file, annotated.text.as_bytes())?;
            printer.wrote(file);
        }
        printer.show(&shared)
    }
}

impl ShareArgs {
    /// The PTX with markers, if sharing makes more blocks resident; or a launch
    /// file for what was written.
    fn next(&self, plan: &Plan) -> Option<Hint> {
        let blocks = &plan.residency;
        match &self.output {
            None if blocks.blocks() > blocks.unshared => {
                let command = super::this_command() + " -o shared.ptx";
                Some(Hint::new("the kernel with relssp", command))
            }
            Some(output) if self.input.launch().is_none() => {
                let kernel = plan.kernel;
                let command = init_command(output, kernel.module, &kernel.function().name);
                Some(Hint::new("a launch file, to run it", command))
            }
            _ => None,
        }
    }
}

/// A plan, and its gain if the kernel was run.
#[derive(Serialize)]
struct Shared<'a> {
    #[serde(flatten)]
    numbers: Planned<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variants: Vec<Gain>,
    preset: &'a str,
    #[serde(skip)]
    plan: &'a Plan<'a>,
    #[serde(skip)]
    annotated: &'a Annotated,
    /// Commands to run next.
    #[serde(skip)]
    next: Option<Hint>,
}
