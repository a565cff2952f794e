//! Running all points of a sweep, and what comes out of it.

use super::kept::Kept;
use super::plan::{Draft, Plan};
use super::point::Point;
use super::{Works, speed};
use crate::cli::campaign::PointArgs;
use crate::cli::printer::{Printer, Progress};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::sm::RunProgress;
use crate::terminal::csv_cell;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Points that ran, and those that did not.
pub(super) struct Sweep {
    /// Points in the order of the options' values.
    pub points: Vec<Point>,
    /// Points that cannot be, with the reason.
    pub skipped: Vec<(Draft, String)>,
    /// The baselines of speed-ups: for each machine, with its keys, and grid,
    /// the first point, with `mod` and no hash stage.
    pub baselines: Vec<Point>,
    /// All points of the plan.
    pub planned: usize,
    /// Whether it was ended before all points had run.
    pub interrupted: bool,
}

/// The purpose of a run.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Point,
    Baseline,
}

/// The outcome of a point.
enum Outcome {
    Done(Box<Point>),
    Skipped(String),
    Interrupted,
}

/// The progress of all runs, on a terminal.
struct Meter {
    bar: Progress,
    start: Instant,
    done: AtomicU64,
    cycles: AtomicU64,
}

impl Meter {
    fn run(&self, draft: &Draft, plan: &Plan, works: &Works, kept: &Kept) -> Result<Outcome> {
        if interrupt::requested() {
            return Ok(Outcome::Interrupted);
        }
        if let Some(point) = kept.get(draft, plan, works)? {
            self.bar.set(
                self.done.fetch_add(1, Ordering::Relaxed) + 1,
                String::from("known"),
            );
            return Ok(Outcome::Done(Box::new(point)));
        }
        let mut before = 0;
        let mut watch = |progress: RunProgress| {
            let more = progress.cycle - before;
            before = progress.cycle;
            let cycles = self.cycles.fetch_add(more, Ordering::Relaxed) + more;
            let done = self.done.load(Ordering::Relaxed);
            self.bar.set(done, speed(cycles, self.start));
            !interrupt::requested()
        };
        let outcome = match Point::run(draft, plan, works, false, &mut watch) {
            Ok(point) if point.ended => {
                kept.add(&point, plan, works)?;
                Outcome::Done(Box::new(point))
            }
            Ok(_) => Outcome::Interrupted,
            Err(error @ Error::Usage { .. }) => Outcome::Skipped(error.to_string()),
            Err(error) => return Err(error),
        };
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let cycles = self.cycles.load(Ordering::Relaxed);
        self.bar.set(done, speed(cycles, self.start));
        Ok(outcome)
    }
}

/// The runs of a shard: how many there are, and whether all have ended.
pub(super) fn run_part(
    plan: &Plan,
    works: &Works,
    (args, kept): (&PointArgs, &Kept),
    printer: &Printer,
) -> Result<(usize, bool)> {
    let wanted = baselines(plan, works);
    let among = among(plan, &wanted);
    let runs = kept.part_of(
        args,
        runs(plan, &wanted, &among),
        |run| run.1,
        (plan, works),
    )?;
    let outcomes = all(&runs, plan, works, kept, printer)?;
    let ended = |o: &(Role, Outcome)| !matches!(o.1, Outcome::Interrupted);
    Ok((runs.len(), outcomes.iter().all(ended)))
}

/// Runs on all cores, in their order.
fn all(
    runs: &[(Role, &Draft)],
    plan: &Plan,
    works: &Works,
    kept: &Kept,
    printer: &Printer,
) -> Result<Vec<(Role, Outcome)>> {
    let meter = Meter {
        bar: printer.progress(runs.len() as u64, "sim: points"),
        start: Instant::now(),
        done: AtomicU64::new(0),
        cycles: AtomicU64::new(0),
    };
    let run = |&(role, draft): &(Role, &Draft)| Ok((role, meter.run(draft, plan, works, kept)?));
    runs.par_iter().map(run).collect()
}

/// The point that equals each baseline, if there is one.
fn among(plan: &Plan, baselines: &[Draft]) -> Vec<Option<usize>> {
    let find = |b: &Draft| plan.points.iter().position(|p| p.is_same_run(b, plan));
    baselines.iter().map(find).collect()
}

/// All runs. Baselines that are no points come before the points that are
/// compared with them, so that an interrupted sweep can compare the points that
/// it has.
fn runs<'a>(
    plan: &'a Plan,
    baselines: &'a [Draft],
    among: &[Option<usize>],
) -> Vec<(Role, &'a Draft)> {
    let alone = baselines.iter().zip(among).filter(|b| b.1.is_none());
    let mut alone: Vec<&Draft> = alone.map(|b| b.0).collect();
    let mut runs = Vec::new();
    for point in &plan.points {
        let first = alone.iter().position(|b| b.is_comparable(point));
        runs.extend(first.map(|i| (Role::Baseline, alone.remove(i))));
        runs.push((Role::Point, point));
    }
    runs
}

impl Outcome {
    /// The point, if it ran to its end.
    fn done(&self) -> Option<Point> {
        match self {
            Outcome::Done(point) => Some((**point).clone()),
            _ => None,
        }
    }
}

impl Sweep {
    /// A single point without a baseline.
    pub fn of_one(point: Point) -> Self {
        Sweep {
            interrupted: !point.ended,
            points: vec![point],
            skipped: Vec::new(),
            baselines: Vec::new(),
            planned: 1,
        }
    }

    /// Runs all points, on all cores.
    pub fn run(plan: &Plan, works: &Works, kept: &Kept, printer: &Printer) -> Result<Self> {
        let wanted = baselines(plan, works);
        let among = among(plan, &wanted);
        let runs = runs(plan, &wanted, &among);
        let outcomes = all(&runs, plan, works, kept, printer)?;
        let (alone, points): (Vec<_>, Vec<_>) =
            outcomes.into_iter().partition(|o| o.0 == Role::Baseline);
        let points: Vec<Outcome> = points.into_iter().map(|o| o.1).collect();
        let mut alone = alone.into_iter();
        let baselines = among.iter().filter_map(|among| match among {
            Some(i) => points[*i].done(),
            None => alone.next()?.1.done(),
        });
        let baselines = baselines.collect();
        Self::of_outcomes(plan, baselines, points)
    }

    fn of_outcomes(plan: &Plan, baselines: Vec<Point>, points: Vec<Outcome>) -> Result<Self> {
        let mut sweep = Sweep {
            points: Vec::new(),
            skipped: Vec::new(),
            baselines,
            planned: plan.points.len(),
            interrupted: false,
        };
        for (draft, outcome) in plan.points.iter().zip(points) {
            match outcome {
                Outcome::Done(point) => sweep.points.push(*point),
                Outcome::Skipped(reason) => sweep.skipped.push((draft.clone(), reason)),
                Outcome::Interrupted => sweep.interrupted = true,
            }
        }
        if let (true, Some((_, reason))) = (sweep.points.is_empty(), sweep.skipped.first())
            && !sweep.interrupted
        {
            return Err(Error::usage(
                format!("no point of the sweep can run; the first: {reason}"),
                "change the options' values, or the machine (--preset, --config)",
            ));
        }
        for point in &mut sweep.points {
            let same = |b: &&Point| b.draft.is_comparable(&point.draft);
            let baseline = sweep.baselines.iter().find(same);
            point.baseline = baseline.map(|b| b.statistics.cycles);
        }
        Ok(sweep)
    }

    /// The machine that all points have, if it is one.
    pub fn preset(&self) -> Option<&str> {
        let name = |p: &Point| p.config.name.clone();
        let first = self.points.first()?;
        let one = self.points.iter().all(|p| name(p) == first.config.name);
        one.then_some(&first.config.name)
    }

    /// A line per point with all that its JSON has. What a point does not have,
    /// such as the counts of an L2 where its machine has none, is an empty cell.
    pub fn csv(&self) -> String {
        let rows = self.points.iter().map(|p| {
            let mut row = Vec::new();
            flatten("", &json!(p.compared()), &mut row);
            row
        });
        let rows: Vec<Vec<(String, String)>> = rows.collect();
        let mut head: Vec<&String> = Vec::new();
        let mut column: HashMap<&String, usize> = HashMap::new();
        for (key, _) in rows.iter().flatten() {
            column.entry(key).or_insert_with(|| {
                head.push(key);
                head.len() - 1
            });
        }
        let line = |cells: &[&str]| {
            let cells: Vec<String> = cells.iter().map(|c| csv_cell(c)).collect();
            cells.join(",") + "\n"
        };
        let head: Vec<&str> = head.into_iter().map(String::as_str).collect();
        let mut out = line(&head);
        for row in &rows {
            let mut cells = vec![""; head.len()];
            for (key, value) in row {
                cells[column[key]] = value;
            }
            out += &line(&cells);
        }
        out
    }
}

/// The runs that speed-ups are over: of the first point of each machine, with
/// its keys, and grid that can run.
fn baselines(plan: &Plan, works: &Works) -> Vec<Draft> {
    let mut found: Vec<Draft> = Vec::new();
    for draft in &plan.points {
        if found.iter().any(|b| b.is_comparable(draft)) {
            continue;
        }
        let baseline = draft.baseline();
        let can_run = |machine| {
            baseline
                .setup
                .build(&machine, works.of(draft.blocks))
                .is_ok()
        };
        if baseline.machine(plan).is_ok_and(can_run) {
            found.push(baseline);
        }
    }
    found
}

/// The leaves of `value` with their paths.
fn flatten(path: &str, value: &Value, row: &mut Vec<(String, String)>) {
    let below = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                flatten(&below(key), value, row);
            }
        }
        Value::Array(values) => {
            for (i, value) in values.iter().enumerate() {
                flatten(&below(&i.to_string()), value, row);
            }
        }
        Value::Null => row.push((path.to_owned(), String::new())),
        Value::String(text) => row.push((path.to_owned(), text.clone())),
        other => row.push((path.to_owned(), other.to_string())),
    }
}
