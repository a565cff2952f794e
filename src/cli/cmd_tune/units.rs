//! The searches of the hash units' configurations.

use super::found::{Against, OfUnits, TunedUnit};
use super::{TuneArgs, pairs};
use crate::cli::printer::Printer;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hash::HashKind;
use crate::interrupt;
use crate::search::bitvec::{Pair, all_pairs, pruned_pairs};
use crate::search::reference::{Selection, of_trace};
use crate::search::tune::{Method, Tuner};
use crate::search::{Control, Outcome, Problem, Update};
use crate::software::choice::MappingKind;
use crate::trace::{AccessTrace, ConflictProfile, pattern};
use std::time::{Duration, Instant};

/// Searches the configurations of the hash units, and prints them.
pub(super) fn run(
    args: &TuneArgs,
    machine: &Config,
    again: String,
    printer: &Printer,
) -> Result<()> {
    // Refused options are reported before any kernel runs.
    let jobs = jobs(args)?;
    let trace = args.trace(machine, printer)?;
    let has_room = machine.has_room_for(&trace);
    let trace = match args.sharing {
        Some(part) => pairs::placed(args, part, machine, printer)?,
        None => trace,
    };
    if args.fits && !has_room {
        return Err(Error::usage(
            format!(
                "no mapping fits: a block of {} needs more than {} words",
                trace.name, machine.block_words
            ),
            "use a machine with a larger scratchpad (--preset, --config), or omit --fits",
        ));
    }
    let rule = machine.conflict_rule();
    let profile = ConflictProfile::new(&trace, rule);
    let bank_mask = machine.geometry.bank_mask();
    let against = Against {
        baseline: profile.count(|addr| addr & bank_mask).conflicts,
        profile: &profile,
        has_room,
        machine,
    };
    let results = results(args, jobs, &trace, &against, printer)?;
    printer.show(&OfUnits {
        rule: rule.name(),
        rule_text: rule.describe(),
        hash_stage: machine.hash_stage_text(),
        results,
        trace: &trace,
        baseline: against.baseline,
        machine,
        again,
        input: args.input.name(),
    })
}

/// The result of each search, as far as an interrupt lets them run.
fn results(
    args: &TuneArgs,
    jobs: Vec<(HashKind, Method)>,
    trace: &AccessTrace,
    against: &Against,
    printer: &Printer,
) -> Result<Vec<TunedUnit>> {
    let machine = against.machine;
    let problem = problem(args, against.profile, machine)?;
    let sets = of_trace(trace, machine.conflict_rule(), machine.geometry);
    let pairs = candidates(args, trace, machine, printer);
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
    interrupt::listen();
    let mut results = Vec::new();
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (kind, method) in jobs {
        let start = Instant::now();
        let outcome = search(&tuner, kind, method, args.budget(), printer)?;
        let outcome = match method {
            Method::Optimal => outcome.or_of(kind, &problem, &outcomes),
            _ => outcome,
        };
        outcomes.push(outcome.clone());
        let found = against.found((kind, method), outcome, start.elapsed())?;
        found.warn(machine, printer);
        results.push(found);
        if interrupt::requested() {
            break;
        }
    }
    Ok(results)
}

/// The searches to run.
pub(super) fn jobs(args: &TuneArgs) -> Result<Vec<(HashKind, Method)>> {
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
                    crate::cli::values::hash_kinds("and")
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
    if args.has_fixed_rows() {
        problem.with_pivot_limit(machine.geometry.bank_bits())
    } else {
        Ok(problem)
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
