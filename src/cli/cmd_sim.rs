//! `spadkit sim`: the golden model of a whole SM runs a kernel.

use super::Global;
use super::printer::{Printer, table};
use crate::config::{Config, LockHash, Pipeline, Scheduler};
use crate::error::{Error, Result};
use crate::hash::HashSpec;
use crate::sm::{Layout, Setup, Statistics, Workload, load_workload};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// Run a kernel on the golden model of a whole SM.
///
/// An access trace runs as it is: the accesses of each warp back to back,
/// atomics through the lock unit, its barriers honoured. Full traces and
/// program texts (docs/formats.md) bring all their instructions.
///
/// With --sweep every combination of the options' values runs: --pipeline
/// unified,elastic --sharing 0.1,0.5 --hash mod --hash xor.
#[derive(Args)]
pub struct SimArgs {
    /// Access trace (.json), kernel:NAME, program text (.warp) or full trace (.spt).
    input: String,
    /// Pipeline; as the machine has it if not given.
    #[arg(long, value_delimiter = ',', value_parser = named::<Pipeline>(&["unified", "split", "elastic"]))]
    pipeline: Vec<Pipeline>,
    /// Warp scheduler.
    #[arg(long, value_delimiter = ',', value_parser = named::<Scheduler>(
        &["lrr", "gto", "two-level", "conflict-aware", "owf", "owf-slot", "lowest-slot"]))]
    scheduler: Vec<Scheduler>,
    /// Bank mapping; it must keep all rows within the capacity. Repeat for several.
    #[arg(long, value_name = "SPEC")]
    hash: Vec<HashSpec>,
    /// Hash of the lock addresses.
    #[arg(long, value_parser = named::<LockHash>(&["none", "xor", "add"]))]
    lock_hash: Option<LockHash>,
    /// Two blocks share all of their scratchpad but the part T, 0 to 1.
    #[arg(long, value_name = "T", value_delimiter = ',')]
    sharing: Vec<f64>,
    /// Run an access trace as a grid of N equal blocks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    blocks: Option<u32>,
    /// Run every combination of the values; without any: mod and xor, all
    /// pipelines, lrr and conflict-aware.
    #[arg(long)]
    sweep: bool,
}

/// A parser of the names that serde has for `T`.
fn named<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names)
        .try_map(|name| serde_json::from_value::<T>(Value::String(name)))
}

/// The name that serde has for a value.
fn name(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

pub(super) fn run(args: &SimArgs, global: &Global, printer: &Printer) -> Result<()> {
    let machine = global.machine()?;
    let workload = load_workload(&args.input, args.blocks)?;
    let setups = args.setups()?;
    let progress = printer.progress(setups.len() as u64, "sim");
    let done = AtomicU64::new(0);
    let points = setups
        .par_iter()
        .map(|setup| {
            let point = Point::run(setup, &machine, workload.as_ref());
            progress.set(done.fetch_add(1, Ordering::Relaxed) + 1, "");
            point
        })
        .collect::<Result<Vec<_>>>()?;
    drop(progress);
    let kernel = &workload.info().name;
    match &points[..] {
        [point] if !args.sweep => {
            let mut json = json!({"kernel": kernel, "preset": machine.name});
            merge(&mut json, point.json());
            printer.result(json, || point.text(kernel))
        }
        points => {
            let results: Vec<Value> = points.iter().map(Point::json).collect();
            let json = json!({"kernel": kernel, "preset": machine.name, "results": results});
            printer.result(json, || sweep_text(kernel, points))
        }
    }
}

impl SimArgs {
    /// The points to run.
    fn setups(&self) -> Result<Vec<Setup>> {
        let values = [
            ("--pipeline", self.pipeline.len()),
            ("--scheduler", self.scheduler.len()),
            ("--hash", self.hash.len()),
            ("--sharing", self.sharing.len()),
        ];
        if let Some((option, count)) = values.into_iter().find(|v| v.1 > 1 && !self.sweep) {
            return Err(Error::usage(
                format!("{option} has {count} values"),
                "expected one; --sweep runs every combination",
            ));
        }
        let (mut pipelines, mut schedulers) = (some(&self.pipeline), some(&self.scheduler));
        let mut hashes = some(&self.hash);
        if self.sweep && values.iter().all(|v| v.1 == 0) {
            pipelines = [Pipeline::Unified, Pipeline::Split, Pipeline::Elastic]
                .map(Some)
                .to_vec();
            schedulers = [Scheduler::Lrr, Scheduler::ConflictAware]
                .map(Some)
                .to_vec();
            hashes = [HashSpec::Mod, HashSpec::Xor].map(Some).to_vec();
        }
        let mut setups = Vec::new();
        for hash in &hashes {
            for &pipeline in &pipelines {
                for &scheduler in &schedulers {
                    for sharing in some(&self.sharing) {
                        setups.push(Setup {
                            pipeline,
                            scheduler,
                            hash: hash.clone(),
                            lock_hash: self.lock_hash,
                            sharing,
                        });
                    }
                }
            }
        }
        Ok(setups)
    }
}

/// The values of an option; one `None` where it was not given.
fn some<T: Clone>(values: &[T]) -> Vec<Option<T>> {
    match values {
        [] => vec![None],
        values => values.iter().cloned().map(Some).collect(),
    }
}

/// One run.
struct Point {
    config: Config,
    hash: String,
    layout: Layout,
    statistics: Statistics,
}

impl Point {
    fn run(setup: &Setup, machine: &Config, workload: &dyn Workload) -> Result<Self> {
        let config = setup.apply(machine)?;
        Ok(Point {
            hash: setup
                .hash
                .as_ref()
                .map_or("mod".to_owned(), ToString::to_string),
            layout: Layout::new(&config, workload.info())?,
            statistics: setup.run(machine, workload)?,
            config,
        })
    }

    fn sharing(&self) -> Option<f64> {
        let sharing = self.config.sm.sharing;
        sharing.on.then_some(sharing.threshold)
    }

    fn json(&self) -> Value {
        let settings = &self.config.settings;
        let residency = self.layout.residency();
        let mut json = json!({
            "pipeline": settings.pipeline,
            "scheduler": settings.scheduler,
            "hash": self.hash,
            "hash_stage": self.config.path.hash_stage,
            "lock_hash": settings.lock_hash,
            "sharing": self.sharing(),
            "resident_blocks": residency.blocks(),
            "pairs": residency.pairs,
        });
        merge(&mut json, json!(self.statistics));
        json
    }

    fn text(&self, kernel: &str) -> String {
        let s = &self.statistics;
        let settings = &self.config.settings;
        let residency = self.layout.residency();
        let mut rows = vec![
            vec!["cycles".to_owned(), s.cycles.to_string()],
            vec![
                "warp instructions".to_owned(),
                s.warp_instructions.to_string(),
            ],
            vec![
                "warp instructions per cycle".to_owned(),
                format!("{:.3}", s.ipc),
            ],
            vec!["issue slots used".to_owned(), s.issued.to_string()],
        ];
        for (reason, cycles) in s.stalls.list() {
            let reason = format!("stall: {}", reason.replace('_', " "));
            rows.push(vec![reason, cycles.to_string()]);
        }
        rows.extend([
            vec!["bank conflicts".to_owned(), s.bank_conflicts.to_string()],
            vec![
                "mean conflict degree".to_owned(),
                format!("{:.3}", s.mean_conflict_degree),
            ],
            vec!["atomic rounds".to_owned(), s.atomic_rounds.to_string()],
            vec!["global segments".to_owned(), s.global_segments.to_string()],
        ]);
        format!(
            "{kernel} on {}: {} pipeline, {} scheduler, hash {}, lock hash {}, \
             {} resident blocks ({} pairs share)\n{}",
            self.config.name,
            name(settings.pipeline),
            name(settings.scheduler),
            self.hash,
            name(settings.lock_hash),
            residency.blocks(),
            residency.pairs,
            table(&["", "count"], &["count"], rows)
        )
    }

    fn row(&self, first: &Statistics) -> Vec<String> {
        let s = &self.statistics;
        let stalls = s.stalls;
        let speed_up = first.cycles as f64 / s.cycles.max(1) as f64;
        vec![
            self.hash.clone(),
            name(self.config.settings.pipeline),
            name(self.config.settings.scheduler),
            self.sharing().map_or("off".to_owned(), |t| t.to_string()),
            s.cycles.to_string(),
            format!("{:.3}", s.ipc),
            format!("{speed_up:.3}"),
            format!("{:.3}", s.mean_conflict_degree),
            stalls.bank_conflict.to_string(),
            stalls.writeback_conflict.to_string(),
            (stalls.total() - stalls.bank_conflict - stalls.writeback_conflict).to_string(),
        ]
    }
}

fn sweep_text(kernel: &str, points: &[Point]) -> String {
    let header = [
        "hash",
        "pipeline",
        "scheduler",
        "sharing",
        "cycles",
        "ipc",
        "speed-up",
        "degree",
        "bank stalls",
        "writeback stalls",
        "other stalls",
    ];
    let rows = points.iter().map(|p| p.row(&points[0].statistics));
    format!("{kernel}\n{}", table(&header, &header[4..], rows))
}

/// Adds the fields of `more` to `object`.
fn merge(object: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
}
