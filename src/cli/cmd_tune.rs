//! `spadkit tune`: the best configuration of each hash unit for a trace.

mod modes_text;
mod pairs;
mod ranking;
pub(super) mod resources;
pub(super) mod software;

use super::printer::{Columns, CommandResult, Printer, table};
use super::{Execute, Global};
use crate::capture::statics::launch_indices;
use crate::capture::{Selected, is_launch, opened};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hash::{Configuration, HashKind, HashSpec, Mapping};
use crate::interrupt;
use crate::launch::LaunchFile;
use crate::ptx::Module;
use crate::rewrite::{Hashes, Request};
use crate::search::bitvec::{Pair, all_pairs, pruned_pairs};
use crate::search::reference::{Selection, of_trace};
use crate::search::tune::{Method, Tuner};
use crate::search::{Control, Outcome, Problem, Update, space};
use crate::software::choice::MappingKind;
use crate::trace::{AccessTrace, ConflictProfile, pattern};
use clap::Args;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// The best configuration of each hash unit for a trace.
///
/// Without --method, each unit is searched with the method that proves most:
/// exhaustive for bit vectors, optimal for the others. A search that runs out
/// of budget returns its best result and a lower bound. Ctrl-C ends the running
/// search and prints the best found so far.
///
/// With --software: the mappings for GPUs without a hash unit, ranked by
/// remaining conflicts, then operations added per access, then bytes wasted,
/// for all of shared memory and for each variable of the kernel.
#[derive(Args)]
pub struct TuneArgs {
    /// Access trace (.json), launch file (.toml; .toml:N for launch N in execution order, from 0), or
    /// kernel:NAME for a generated one.
    pub(super) input: String,
    #[arg(long = "hash", value_name = "KIND", num_args = 1..,
          value_parser = super::parsed::<MappingKind>, help = kinds_help())]
    pub(super) kinds: Vec<MappingKind>,
    #[command(flatten)]
    allow: super::Allow,
    /// Mappings in software: padding, swizzles, XORs, random shifts.
    #[arg(long, conflicts_with_all = ["method", "pruned", "as_published", "fits", "row"])]
    software: bool,
    /// Search method.
    #[arg(long, value_enum)]
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
    #[arg(long, conflicts_with_all = ["fits", "row"])]
    as_published: bool,
    /// Only mappings whose rows stay within the capacity.
    #[arg(long)]
    fits: bool,
    /// Only mappings whose row index is the upper address bits (no hardware).
    #[arg(long, value_name = "HOW")]
    row: Option<Row>,
    /// Conflicts in all blocks that an SM holds when pairs of blocks share all of
    /// their scratchpad except the fraction T, 0 to 1: their bases are not
    /// multiples of a row of banks.
    #[arg(long, value_name = "T", conflicts_with = "software")]
    sharing: Option<f64>,
}

/// How the row index is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Row {
    /// The upper address bits: pivots are the m low bits.
    Fixed,
}

fn kinds_help() -> String {
    format!(
        "Kind of hash unit: {}; with --software also swizzle, pad, xor, add, two-shifts or rap; \
         repeat for several [default: all that the method can configure]",
        super::hash_kinds("or")
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

    fn trace(&self, machine: &Config, printer: &Printer) -> Result<AccessTrace> {
        let zeros_beyond = self.allow.zeros_beyond(printer);
        super::load_for_with(&self.input, machine, printer, zeros_beyond)
    }
}

impl Execute for TuneArgs {
    fn kernel(&self) -> Option<&str> {
        Some(&self.input)
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        let machine = global.machine()?;
        if self.software {
            in_software(self, &machine, printer)
        } else {
            of_units(self, &machine, printer)
        }
    }
}

/// The mappings without hardware.
fn in_software(args: &TuneArgs, machine: &Config, printer: &Printer) -> Result<()> {
    let trace = args.trace(machine, printer)?;
    interrupt::listen();
    let path = Path::new(&args.input);
    let (indices, kernel) = if is_launch(path) {
        (launch_indices(path)?, Some(Kernel::of(path)?))
    } else {
        Default::default()
    };
    let subject = software::Subject {
        trace: &trace,
        indices: &indices,
        input: &args.input,
        launched: match &kernel {
            Some(kernel) => Some(kernel.launched(machine)?),
            None => None,
        },
    };
    software::run(&args.kinds, args.budget(), &subject, machine, printer)
}

/// The configurations of the hash units.
fn of_units(args: &TuneArgs, machine: &Config, printer: &Printer) -> Result<()> {
    // What is refused takes no run of a kernel.
    let jobs = jobs(args)?;
    let trace = args.trace(machine, printer)?;
    let has_room = machine.has_room_for(&trace);
    let trace = match args.sharing {
        Some(part) => pairs::placed(args, part, machine, printer)?,
        None => trace,
    };
    let rule = machine.conflict_rule();
    let profile = ConflictProfile::new(&trace, rule);
    if args.fits && !has_room {
        return Err(Error::usage(
            format!(
                "no mapping fits: a block of {} needs more than {} words",
                trace.name, machine.block_words
            ),
            "use a machine with a larger scratchpad (--preset, --config), or omit --fits",
        ));
    }
    let problem = problem(args, &profile, machine)?;
    let sets = of_trace(&trace, rule, machine.geometry);
    let pairs = candidates(args, &trace, machine, printer);
    let tuner = Tuner {
        problem: &problem,
        sets: &sets,
        pairs: &pairs,
        selection: if args.as_published {
            Selection::AsPublished
        } else {
            Selection::Allowed
        },
    };
    let bank_mask = machine.geometry.bank_mask();
    let against = Against {
        baseline: profile.count(|addr| addr & bank_mask).conflicts,
        profile: &profile,
        has_room,
        machine,
    };

    interrupt::listen();
    let mut results = Vec::new();
    for (kind, method) in jobs {
        let start = Instant::now();
        let outcome = search(&tuner, kind, method, args.budget(), printer)?;
        let found = against.found((kind, method), outcome, start.elapsed())?;
        found.warn(machine, printer);
        results.push(found);
        if interrupt::requested() {
            break;
        }
    }
    printer.show(&OfUnits {
        rule: rule.name(),
        rule_text: rule.describe(),
        hash_stage: machine.hash_stage_text(),
        results,
        trace: &trace,
        baseline: against.baseline,
        machine,
    })
}

/// A launch file's kernel.
struct Kernel {
    file: LaunchFile,
    selected: Selected,
    module: Module,
}

impl Kernel {
    fn of(path: &Path) -> Result<Self> {
        let (file, selected) = opened(path)?;
        Ok(Kernel {
            module: file.module()?,
            file,
            selected,
        })
    }

    fn launched(&self, machine: &Config) -> Result<resources::Launched<'_>> {
        let prepared = self.file.prepare()?;
        let launches = prepared.launches();
        let entry = &launches[self.selected.index(launches)?].entry;
        Ok(resources::Launched {
            module: &self.module,
            request: Request::of_launches(machine, launches, entry, Hashes::Named(Vec::new())),
            registers: self.file.registers.unwrap_or(0),
        })
    }
}

/// The searches to run.
fn jobs(args: &TuneArgs) -> Result<Vec<(HashKind, Method)>> {
    let published = matches!(
        args.method,
        Some(Method::Givargis | Method::Mih | Method::Exhaustive)
    );
    if args.as_published && !published {
        return Err(Error::usage(
            "--as-published applies only to the hash paper's searches",
            "add --method givargis, --method mih or --method exhaustive",
        ));
    }
    let with_method = |kind| (kind, args.method.unwrap_or(Method::default_for(kind)));
    if !args.kinds.is_empty() {
        let kinds = args.kinds.iter().map(|kind| match kind {
            MappingKind::Hash(kind) => Ok(with_method(*kind)),
            other => Err(Error::usage(
                format!("no hash unit computes {other}"),
                format!(
                    "kinds are {}; add --software for the others",
                    super::hash_kinds("and")
                ),
            )),
        });
        return kinds.collect();
    }
    let all = HashKind::ALL.into_iter().map(with_method);
    Ok(all
        .filter(|(kind, method)| method.supports(*kind))
        .collect())
}

fn problem(args: &TuneArgs, profile: &ConflictProfile, machine: &Config) -> Result<Problem> {
    let problem = Problem::new(profile, machine.geometry);
    let problem = if args.fits {
        problem.with_pivot_limit(machine.pivot_limit())?
    } else {
        problem
    };
    match args.row {
        Some(Row::Fixed) => problem.with_pivot_limit(machine.geometry.bank_bits()),
        None => Ok(problem),
    }
}

/// The bit-vector XOR configurations to try.
fn candidates(
    args: &TuneArgs,
    trace: &AccessTrace,
    machine: &Config,
    printer: &Printer,
) -> Vec<Pair> {
    let geometry = machine.geometry;
    if !args.pruned {
        return all_pairs(geometry);
    }
    let mut strides = pattern::strides(trace);
    strides.extend(machine.conflict_rule().strides_within_lanes(trace));
    let pruned = pruned_pairs(geometry, &strides, trace.warp_size);
    if pruned.is_empty() {
        printer.warn("the trace has no strides to prune by: all configurations are tried");
        return all_pairs(geometry);
    }
    pruned
}

/// Runs one search with its progress bar.
fn search(
    tuner: &Tuner,
    kind: HashKind,
    method: Method,
    budget: Duration,
    printer: &Printer,
) -> Result<Outcome> {
    let progress = printer.progress(1, &format!("{kind} {method}"));
    let report = |update: Update| {
        let best = match update.best {
            Some(conflicts) => format!("{conflicts} conflicts so far"),
            None => String::new(),
        };
        progress.set_total(update.total);
        progress.set(update.done, best);
    };
    let control = Control::none()
        .stop_when(&interrupt::requested)
        .progress(&report);
    let control = match method {
        Method::Optimal => control.budget(budget),
        _ => control,
    };
    tuner.run(kind, method, &control)
}

/// What the result of a search is measured by.
struct Against<'a> {
    profile: &'a ConflictProfile,
    machine: &'a Config,
    /// Conflicts with bank = address mod 2^m.
    baseline: u64,
    /// A block fits into the scratchpad as it is.
    has_room: bool,
}

impl Against<'_> {
    fn found(
        &self,
        (kind, method): (HashKind, Method),
        outcome: Outcome,
        took: Duration,
    ) -> Result<Found> {
        let Against {
            profile, machine, ..
        } = self;
        let space = space::of_unit(kind, machine.geometry);
        Ok(Found {
            kind,
            method: method.name(),
            conflicts: outcome.conflicts,
            baseline_conflicts: self.baseline,
            wavefronts: outcome.conflicts + profile.active_passes(),
            ideal_wavefronts: profile.ideal_wavefronts(machine.geometry.banks()),
            lower_bound: outcome.lower_bound,
            evaluated: outcome.evaluated,
            search_space: space.try_into().ok(),
            space,
            optimal: outcome.optimal(),
            rank: outcome.rank,
            fits: self.has_room && self.fits(&outcome),
            configuration: if outcome.is_mapping {
                Some(machine.configuration(&outcome.spec, None)?)
            } else {
                None
            },
            hash: outcome.spec,
            seconds: took.as_secs_f64(),
        })
    }

    /// Whether all rows are within the capacity.
    fn fits(&self, outcome: &Outcome) -> bool {
        Mapping::new(&outcome.spec, self.machine.geometry)
            .is_ok_and(|mapping| mapping.fits(self.machine.pivot_limit()))
    }
}

/// The best configuration of each unit.
#[derive(Serialize)]
struct OfUnits<'a> {
    rule: &'static str,
    rule_text: String,
    hash_stage: String,
    results: Vec<Found>,
    #[serde(skip)]
    trace: &'a AccessTrace,
    /// Conflicts with bank = address mod 2^m.
    #[serde(skip)]
    baseline: u64,
    #[serde(skip)]
    machine: &'a Config,
}

/// One line of the result.
#[derive(Serialize)]
struct Found {
    hash: HashSpec,
    kind: HashKind,
    method: &'static str,
    conflicts: u64,
    baseline_conflicts: u64,
    /// Sum of the degrees, and what it is without conflicts.
    wavefronts: u64,
    ideal_wavefronts: u64,
    lower_bound: u64,
    evaluated: u64,
    /// Configurations of the unit (hash paper, Table 1); null beyond 64 bits.
    search_space: Option<u64>,
    #[serde(skip)]
    space: u128,
    optimal: bool,
    rank: u32,
    fits: bool,
    seconds: f64,
    /// What the hardware is set to; none where the rank is too low.
    configuration: Option<Configuration>,
}

impl Found {
    fn warn(&self, machine: &Config, printer: &Printer) {
        let Found { hash, rank, .. } = self;
        if self.configuration.is_none() {
            printer.warn(format!(
                "{hash} has rank {rank} for {} banks: no mapping",
                machine.geometry.banks()
            ));
        } else if !self.fits {
            printer.warn(format!(
                "{hash}: rows beyond the capacity of {} words would be addressed \
                 (--fits searches only mappings without)",
                machine.capacity_words
            ));
        }
    }
}

/// Exact while short, as in Table 1 beyond.
fn show_space(space: u128) -> String {
    match space {
        0..100_000 => space.to_string(),
        _ => format!("{:.1e}", space as f64),
    }
}

impl CommandResult for OfUnits<'_> {
    fn text(&self) -> String {
        let baseline = self.baseline;
        let yes = |is| if is { "yes" } else { "no" };
        let searches = Columns::of(&self.results)
            .left("hash", |f| &f.hash)
            .left("method", |f| f.method)
            .right("conflicts", |f| f.conflicts)
            .right("at least", |f| f.lower_bound)
            .right("wavefronts", |f| f.wavefronts)
            .right("ideal", |f| f.ideal_wavefronts)
            .left("optimal", |f| yes(f.optimal))
            .left("fits", |f| yes(f.fits))
            .right("evaluated", |f| f.evaluated)
            .right("space", |f| show_space(f.space))
            .right("time", |f| format!("{:.3} s", f.seconds));
        let writes = self.results.iter().flat_map(|found| {
            let of_mapping = found.configuration.iter();
            let units = of_mapping.flat_map(|c| c.units().into_iter().chain(&c.path));
            units.enumerate().map(|(i, unit)| {
                let hash = match i {
                    0 => found.hash.to_string(),
                    _ => String::new(),
                };
                let register_file = unit.config_unit().unwrap_or_default();
                vec![hash, register_file, unit.writes_text()]
            })
        });
        format!(
            "{}: {baseline} conflicts with banks = address mod 2^m\n{}{}hash stage: {}\n\
         configuration: bank, row map, and the bank unit of the machine's path where that is \
         another one (spadkit encode SPEC shows the ports, too):\n{}",
            crate::quote::shown(&self.trace.name),
            searches.text(),
            super::rule_line(self.machine),
            self.hash_stage,
            table(
                &["hash", "registers", "wr_data for wr_index 0, 1, ..."],
                &[],
                writes
            )
        )
    }
}
