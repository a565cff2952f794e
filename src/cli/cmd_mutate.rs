//! `spadkit mutate`: how many injected faults the co-simulation catches.

use super::campaign::{self, PointArgs};
use super::printer::{CommandResult, Printer};
use super::{Example, Execute, Global};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::mutate::{MutationOptions, MutationResult, mutate_unit};
use crate::rtl::Design;
use crate::terminal::{Columns, Details, Hint, Tone};
use crate::tool::{Cache, Toolbox};
use clap::Args;
use serde::Serialize;

/// The least share of relevant faults that must be caught, in percent.
const REQUIRED_PCT: f64 = 99.0;

/// Inject faults into the RTL and count those that the co-simulation catches.
///
/// A fault that is not caught may be harmless: mutate tries to prove that it
/// changes no output, and lists the others as missed, with their location. The
/// exit status is 1 if less than 99 % of the faults not proved harmless are caught.
#[derive(Args)]
pub struct MutateArgs {
    /// Units; all if none is named.
    units: Vec<String>,
    /// Faults per unit.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    faults: u32,
    /// Clock cycles per fault and seed.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    cycles: u64,
    /// Seeds that are tried per fault.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Clock cycles of one more run for faults that are still not caught.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    long_cycles: u64,
    /// Only the fault with this number from the list of missed faults, with the
    /// same --faults. Repeat for several.
    #[arg(long = "only", alias = "fault", value_name = "N")]
    fault: Vec<u32>,
    #[command(flatten)]
    kept: PointArgs,
}

impl Execute for MutateArgs {
    fn examples() -> &'static [Example] {
        &[
            (
                "a unit on a small machine",
                "mutate spad_row_map --preset small --faults 50",
            ),
            (
                "all units; what an interrupted run has done is kept",
                "mutate --preset small --points mutate.jsonl",
            ),
        ]
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        interrupt::listen();
        let config = global.machine()?.for_hardware();
        let design = Design::emit(&self.units, &config)?;
        let options = MutationOptions {
            faults: self.faults,
            cycles: self.cycles,
            seeds: self.seeds,
            long_cycles: self.long_cycles,
            only: self.fault.clone(),
        };
        let (tools, cache) = (Toolbox::new(), Cache::user()?);
        let points = self.kept.points()?;
        let machine = ("mutate campaign", &config);
        let units = self
            .kept
            .units(&design, &points, machine, format!("{options:?}"))?;
        let bar = printer.progress(units.len() as u64, "mutate");
        let mut results = Vec::new();
        for unit in units {
            bar.set(results.len() as u64, &unit.name);
            let named = format!("{options:?}");
            let digest = campaign::of_unit("mutate", &design, unit, &config, named);
            if let Some(known) = points.get(&digest) {
                results.push(known);
                continue;
            }
            let result = mutate_unit(&design, unit, &config, &options, &tools, &cache);
            let result = interrupt::or_none(result)?;
            if let Some(result) = result.as_ref().filter(|r| r.undecided == 0) {
                points.add(&digest, &unit.name, result)?;
            }
            results.extend(result);
            if interrupt::requested() {
                break;
            }
        }
        drop(bar);
        points.finish()?;
        printer.show(&Mutations {
            results: results.iter().map(Mutation::of).collect(),
            next: self.next(&results, global),
        })?;
        match results.iter().find(|r| r.caught_pct() < REQUIRED_PCT) {
            None => Ok(()),
            Some(r) => Err(Error::CheckFailed {
                what: format!(
                    "{}: {:.2} % of the relevant faults are caught, at least {REQUIRED_PCT} % are required",
                    r.unit,
                    r.caught_pct()
                ),
                help: Some("the missed faults are listed with their places".into()),
            }),
        }
    }
}

impl MutateArgs {
    /// The first missed fault for longer.
    fn next(&self, results: &[MutationResult], global: &Global) -> Option<Hint> {
        let (unit, missed) = results
            .iter()
            .find_map(|r| Some((&r.unit, r.missed.first()?)))?;
        let command = global.about_units("mutate", std::slice::from_ref(unit), None);
        let cycles = self.long_cycles.saturating_mul(10);
        let (faults, number) = (self.faults, missed.number);
        let command = format!("{command} --faults {faults} --only {number} --long-cycles {cycles}");
        Some(Hint::new("a missed fault for longer", command))
    }
}

/// The outcomes for the faults of all units.
#[derive(Serialize)]
struct Mutations<'a> {
    results: Vec<Mutation<'a>>,
    /// Commands to run next.
    #[serde(skip)]
    next: Option<Hint>,
}

#[derive(Serialize)]
struct Mutation<'a> {
    #[serde(flatten)]
    found: &'a MutationResult,
    caught_pct: f64,
}

impl<'a> Mutation<'a> {
    fn of(found: &'a MutationResult) -> Self {
        Mutation {
            found,
            caught_pct: found.caught_pct(),
        }
    }
}

impl CommandResult for Mutations<'_> {
    fn verdict(&self) -> String {
        let sum = |of: fn(&MutationResult) -> u64| -> u64 {
            self.results.iter().map(|m| of(m.found)).sum()
        };
        let (injected, caught) = (sum(|m| m.injected as u64), sum(|m| m.caught as u64));
        let (same, missed) = (sum(|m| m.equivalent as u64), sum(|m| m.missed.len() as u64));
        format!(
            "Of {injected} injected faults {caught} are caught, {same} change nothing, {missed} are missed."
        )
    }

    fn tone(&self) -> Tone {
        if self.results.iter().all(|m| m.caught_pct >= REQUIRED_PCT) {
            Tone::Good
        } else {
            Tone::Bad
        }
    }

    fn details(&self) -> Details {
        let mut details = Details::of(
            Columns::of(&self.results)
                .left("unit", |m| &m.found.unit)
                .right("injected", |m| m.found.injected)
                .right("caught", |m| m.found.caught)
                .right("equivalent", |m| m.found.equivalent)
                .right("missed", |m| m.found.missed.len())
                .right("caught %", |m| format!("{:.2}", m.caught_pct))
                .table(),
        );
        for Mutation { found: result, .. } in &self.results {
            if result.undecided > 0 {
                let text = format!("not decided: {} of {}", result.undecided, result.unit);
                details.toned(Tone::Doubt, text);
            }
            for m in &result.missed {
                details.toned(
                    Tone::Bad,
                    format!(
                        "missed: {} #{} {} at {} ({})",
                        result.unit, m.number, m.mode, m.place, m.cell
                    ),
                );
            }
        }
        details
    }

    fn hints(&self) -> Vec<Hint> {
        self.next.iter().cloned().collect()
    }
}
