//! Running all points of a sweep, and what comes out of it.

use super::plan::{Draft, Plan};
use super::point::Point;
use super::{Works, merge, speed};
use crate::cli::printer::Printer;
use crate::error::{Error, Result};
use crate::interrupt;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Points that ran, and those that did not.
pub(super) struct Sweep {
    /// In the order of the options' values.
    pub points: Vec<Point>,
    /// Points that cannot be, with the reason.
    pub skipped: Vec<(Draft, String)>,
    /// What speed-ups are over: the first point of each machine and grid, with
    /// `mod` and no hash stage.
    pub baselines: Vec<Point>,
    /// All points of the plan.
    pub planned: usize,
    /// It was ended before all points had run.
    pub interrupted: bool,
}

/// How a point ended.
enum Outcome {
    Done(Box<Point>),
    Skipped(String),
    Interrupted,
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
    /// One point, which is compared with nothing.
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
    pub fn run(plan: &Plan, works: &Works, printer: &Printer) -> Result<Self> {
        let wanted = baselines(plan);
        let find = |b: &Draft| plan.points.iter().position(|p| p.is_same_run(b, plan));
        let among: Vec<Option<usize>> = wanted.iter().map(find).collect();
        // Those that are no point of their own come first: an interrupted
        // sweep can still compare.
        let alone = wanted.into_iter().zip(&among).filter(|b| b.1.is_none());
        let mut drafts: Vec<Draft> = alone.map(|b| b.0).collect();
        let extra = drafts.len();
        drafts.extend(plan.points.iter().cloned());
        let bar = printer.progress(drafts.len() as u64, "sim: points");
        let (start, done, cycles) = (Instant::now(), AtomicU64::new(0), AtomicU64::new(0));
        let run = |draft: &Draft| {
            let mut before = 0;
            let mut count = |now: u64| {
                let all = cycles.fetch_add(now - before, Ordering::Relaxed) + (now - before);
                before = now;
                bar.set(done.load(Ordering::Relaxed), speed(all, start));
                !interrupt::requested()
            };
            if interrupt::requested() {
                return Ok(Outcome::Interrupted);
            }
            let outcome = Point::run(draft, plan, works, &mut |p| count(p.cycle));
            let outcome = match outcome {
                Ok(point) if point.ended => Outcome::Done(Box::new(point)),
                Ok(_) => Outcome::Interrupted,
                Err(error @ Error::Usage { .. }) => Outcome::Skipped(error.to_string()),
                Err(error) => return Err(error),
            };
            done.fetch_add(1, Ordering::Relaxed);
            Ok(outcome)
        };
        let mut outcomes = drafts.par_iter().map(run).collect::<Result<Vec<_>>>()?;
        drop(bar);
        let points = outcomes.split_off(extra);
        let mut extra = outcomes.into_iter();
        let baselines = among.iter().filter_map(|among| match among {
            Some(i) => points[*i].done(),
            None => extra.next()?.done(),
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

    /// The result as one object.
    pub fn json(&self, works: &Works) -> Value {
        let mut json = json!({"kernel": works.kernel()});
        if let Some(preset) = self.preset() {
            json["preset"] = json!(preset);
        }
        let baselines: Vec<Value> = self.baselines.iter().map(Point::json).collect();
        let skipped = self.skipped.iter().map(|(draft, reason)| {
            let mut point = serde_json::Map::new();
            let labels = draft.labels.iter();
            point.extend(labels.map(|(k, v)| (k.replace(' ', "_"), json!(v))));
            json!({"point": point, "reason": reason})
        });
        let more = json!({
            "results": self.points.iter().map(compared).collect::<Vec<_>>(),
            "baselines": baselines,
            "skipped": skipped.collect::<Vec<_>>(),
            "interrupted": self.interrupted,
        });
        merge(&mut json, more);
        json
    }

    /// A line per point with all that its JSON has.
    pub fn csv(&self) -> String {
        let rows = self.points.iter().map(|p| {
            let mut row = Vec::new();
            flatten("", &compared(p), &mut row);
            row
        });
        let mut out = String::new();
        for (i, row) in rows.enumerate() {
            let line = |cells: Vec<&String>| {
                let cells: Vec<String> = cells.into_iter().map(|c| csv_cell(c)).collect();
                cells.join(",") + "\n"
            };
            if i == 0 {
                out += &line(row.iter().map(|cell| &cell.0).collect());
            }
            out += &line(row.iter().map(|cell| &cell.1).collect());
        }
        out
    }
}

/// A point's JSON with its speed-up.
fn compared(point: &Point) -> Value {
    let mut json = point.json();
    json["speed_up"] = json!(point.speed_up());
    json
}

/// The runs that speed-ups are over, one per machine and grid.
fn baselines(plan: &Plan) -> Vec<Draft> {
    let mut found: Vec<Draft> = Vec::new();
    for draft in &plan.points {
        if !found.iter().any(|b| b.is_comparable(draft)) {
            found.push(draft.baseline());
        }
    }
    found
}

/// The leaves of `value` with their paths.
fn flatten(path: &str, value: &Value, row: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = match path {
                    "" => key.clone(),
                    path => format!("{path}.{key}"),
                };
                flatten(&path, value, row);
            }
        }
        Value::Null => row.push((path.to_owned(), String::new())),
        Value::String(text) => row.push((path.to_owned(), text.clone())),
        other => row.push((path.to_owned(), other.to_string())),
    }
}

/// A cell as RFC 4180 has it.
fn csv_cell(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
