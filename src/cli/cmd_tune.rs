//! `spadkit tune`: the best configuration of each hash unit for a trace.

mod found;
pub(super) mod in_software;
mod many;
mod modes_text;
mod pairs;
mod put_into_ptx;
mod ranking;
mod report;
pub(super) mod resources;
pub(super) mod software;
mod units;

use super::campaign::PointArgs;
use super::machine_code::{Judge, MachineCode};
use super::printer::Printer;
use super::values::input_help;
use super::{Example, Execute, Global};
use crate::capture::LaunchInput;
use crate::capture::statics::launch_indices;
use crate::config::Config;
use crate::error::Result;
use crate::interrupt;
use crate::output::check_writable;
use crate::rewrite::{Hashes, Request};
use crate::search::tune::Method;
use crate::software::choice::MappingKind;
use crate::trace::AccessTrace;
use crate::workload::Input;
use clap::Args;
use clap::builder::{EnumValueParser, TypedValueParser};
use std::path::PathBuf;
use std::time::Duration;

/// Find the best configuration of each hash unit for a kernel.
///
/// Without --method, each unit is searched with the method that gives the strongest proof:
/// exhaustive for bit vectors, optimal for the others. A search that runs out
/// of budget returns its best result and a lower bound. Ctrl-C ends the running
/// search and prints the best found so far.
///
/// With --software, tune ranks the mappings for GPUs without a hash unit, for
/// all of shared memory and for each variable of the kernel. They are ranked by
/// remaining conflicts, then operations added per access, then bytes wasted.
///
/// For several kernels, tune lists the best mapping of each, on the machine of
/// its own target; the JSON has all mappings.
#[derive(Args, Clone)]
#[command(mut_arg("points", |arg| arg.conflicts_with_all(["report", "machine_code"])))]
pub struct TuneArgs {
    #[arg(help = input_help(&[]))]
    pub(super) input: Input,
    /// More inputs.
    #[arg(value_name = "INPUT")]
    more: Vec<Input>,
    #[arg(long = "hash", value_name = "KIND", num_args = 1..,
          value_parser = parse_kind, help = kinds_help())]
    pub(super) kinds: Vec<MappingKind>,
    #[command(flatten)]
    allow: super::Allow,
    /// Mappings in software: padding, swizzles, XORs, random shifts.
    #[arg(long, conflicts_with_all =
        ["method", "pruned", "as_published", "fits", "fixed_rows", "row"])]
    software: bool,
    /// With --software: show every mapping, also those that another one beats, and
    /// every changed line.
    #[arg(long, requires = "software")]
    all: bool,
    /// With --software: write a page with the worst accesses before and after, the
    /// source with its conflicts, every mapping, and the change as code.
    #[arg(
        long,
        value_name = "FILE.html",
        requires = "software",
        conflicts_with = "more"
    )]
    report: Option<PathBuf>,
    /// Search method.
    #[arg(long, value_parser = EnumValueParser::<MethodName>::new().map(Method::from))]
    method: Option<Method>,
    /// Seconds for each optimal search [default: 60 with --method optimal, 3
    /// with --software, else 10].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    budget: Option<f64>,
    /// Bit-vector XOR: try only the ranges that the strides of the trace
    /// suggest (hash paper, section 5.1).
    #[arg(long)]
    pruned: bool,
    /// Heuristics: take dependent candidates, as in the paper; the result may
    /// have a rank below m, which is reported.
    #[arg(long, conflicts_with_all = ["fits", "fixed_rows", "row"])]
    as_published: bool,
    /// Only mappings whose rows stay within the capacity.
    #[arg(long)]
    fits: bool,
    /// Only mappings whose row index is the upper address bits (no hardware).
    #[arg(long)]
    fixed_rows: bool,
    /// The earlier name of --fixed-rows.
    #[arg(long, value_name = "HOW", hide = true)]
    row: Option<Row>,
    /// Count the conflicts of all blocks that an SM holds if pairs of blocks share
    /// all of their scratchpad except the fraction T, 0 to 1: such blocks may begin
    /// at addresses that are not multiples of a row of banks.
    #[arg(long, value_name = "T", conflicts_with = "software")]
    sharing: Option<f64>,
    #[command(flatten)]
    judge: Judge,
    #[command(flatten)]
    kept: PointArgs,
}

/// A method on the command line.
#[derive(Clone, Copy, clap::ValueEnum)]
enum MethodName {
    /// All configurations of a bit-vector unit, or the pruned ranges.
    Exhaustive,
    /// The Givargis heuristic.
    Givargis,
    /// The Minimum Imbalance Heuristic.
    Mih,
    /// Branch and bound over a bitwise or the matrix unit, within a budget.
    Optimal,
}

impl From<MethodName> for Method {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Exhaustive => Method::Exhaustive,
            MethodName::Givargis => Method::Givargis,
            MethodName::Mih => Method::Mih,
            MethodName::Optimal => Method::Optimal,
        }
    }
}

/// The value of `--row`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Row {
    /// The row index is the upper address bits.
    Fixed,
}

/// A kind, or what was probably meant.
fn parse_kind(text: &str) -> std::result::Result<MappingKind, String> {
    let near = || {
        let names = MappingKind::all().into_iter().map(MappingKind::name);
        crate::quote::did_you_mean(text, names)
    };
    super::values::parsed::<MappingKind>(text).map_err(|why| format!("{why}{}", near()))
}

fn kinds_help() -> String {
    format!(
        "Kind of hash unit: {}; with --software also swizzle, pad, xor, add, two-shifts or rap; \
         repeat for several [default: all that the method can configure]",
        super::values::hash_kinds("or")
    )
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds from 0 to 1e9".to_owned()),
    }
}

impl TuneArgs {
    pub(super) fn budget(&self) -> Duration {
        let default = match self.method {
            Some(Method::Optimal) => 60.0,
            _ if self.software => 3.0,
            _ => 10.0,
        };
        Duration::from_secs_f64(self.budget.unwrap_or(default))
    }

    /// Whether pivots are the m low bits, so that the row needs no unit.
    fn has_fixed_rows(&self) -> bool {
        self.fixed_rows || self.row.is_some()
    }

    fn trace(&self, machine: &Config, printer: &Printer) -> Result<AccessTrace> {
        let run = self.allow.run(printer);
        let trace = super::load::load_for(&self.input, run, machine, printer)?;
        if !self.judge.is_by_machine_code() {
            return Ok(trace);
        }
        let code = MachineCode::of(&self.input, &trace, machine)?;
        Ok(code.into_trace())
    }
}

impl Execute for TuneArgs {
    fn examples() -> &'static [Example] {
        &[
            ("the best hash of each unit", "tune kernel:transpose"),
            ("without hardware", "tune k.toml --software --preset sm80"),
            (
                "a quarter of all kernels",
                "tune kernels/*/*.toml --shard 1/4 --points 1.jsonl",
            ),
        ]
    }

    fn kernel(&self) -> Option<&Input> {
        Some(&self.input)
    }

    /// Each kernel of a list has the machine of its own target.
    fn has_machine(&self) -> bool {
        !self.is_list()
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        if self.is_list() {
            return many::run(self, global, printer);
        }
        self.one(global, printer)
    }
}

impl TuneArgs {
    /// Kernels are listed, not shown in full.
    fn is_list(&self) -> bool {
        !self.more.is_empty() || self.kept.is_named()
    }

    /// The one kernel `input`.
    fn one(&self, global: &Global, printer: &Printer) -> Result<()> {
        let machine = global.machine()?;
        if self.software {
            for_software(self, &machine, global.machine_option(), printer)
        } else {
            units::run(self, &machine, global.machine_option(), printer)
        }
    }
}

/// The mappings without hardware.
fn for_software(args: &TuneArgs, machine: &Config, again: String, printer: &Printer) -> Result<()> {
    if let Some(file) = &args.report {
        check_writable(file)?;
    }
    let trace = args.trace(machine, printer)?;
    interrupt::listen();
    let launch = args.input.launch();
    let indices = launch.map(launch_indices).transpose()?.unwrap_or_default();
    let judgement = args.judge.of_changes(&args.input, &trace, machine);
    let subject = software::Subject {
        trace: &trace,
        indices: &indices,
        input: &args.input,
        room: args.input.shared_room(machine)?,
        launched: launch.map(|l| launched(l, machine)).transpose()?,
        again: Some(again),
        all: args.all,
        report: args.report.as_deref(),
        judgement,
    };
    in_software::run(&args.kinds, args.budget(), &subject, machine, printer)
}

/// The kernel of a launch file.
fn launched<'a>(input: &'a LaunchInput, machine: &Config) -> Result<resources::Launched<'a>> {
    let prepared = input.prepare()?;
    let launches = prepared.launches();
    let entry = &launches[input.selected().index(launches)?].entry;
    Ok(resources::Launched {
        module: input.module()?,
        file: input.file()?,
        request: Request::of_launches(machine, launches, entry, Hashes::Named(Vec::new())),
        registers: input.file()?.registers.unwrap_or(0),
    })
}
