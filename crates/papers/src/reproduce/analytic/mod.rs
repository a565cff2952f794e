//! Points that no kernel runs for: formulas of the papers, the RAP paper's
//! accesses, resident blocks.
//!
//! A formula has a name, `PAPER.WHAT`, and each paper a file. It takes its
//! `numbers` and `words` from the workload or the configuration, and returns
//! values under the names that quantities use.

mod atomics;
mod elastic;
mod hash;
mod rap;
mod sharing;

use super::figure::Workload;
use super::point::{Numbers, Point};
use spadkit_base::error::{Error, Result};
use spadkit_base::quote::did_you_mean;
use spadkit_mapping::rap::{AccessKind, Experiment, Scheme, Transpose, transpose_stats};
use spadkit_sm::config::Config;
use spadkit_sm::sm::{KernelInfo, Layout};
use std::str::FromStr;

/// Random draws of a mean.
const SAMPLES: u64 = 100_000;
/// Transposes of a mean; each has w accesses per warp and side.
const TRANSPOSES: u64 = 60_000;
const SEED: u64 = 1;
/// Time units of the memory machine, as `congestion --table 3`.
const LATENCY: u64 = 5;

/// A formula: its name and what computes it.
type Formula = (&'static str, fn(&Inputs) -> Result<Numbers>);

/// All formulas, by paper.
const FORMULAS: [&[Formula]; 5] = [
    hash::FORMULAS,
    rap::FORMULAS,
    sharing::FORMULAS,
    elastic::FORMULAS,
    atomics::FORMULAS,
];

/// The inputs of a formula.
struct Inputs<'a> {
    point: &'a Point,
}

impl Inputs<'_> {
    /// A number of the configuration, or else of the workload.
    fn number(&self, name: &str) -> Result<f64> {
        let Point { with, work, .. } = self.point;
        let number = with.numbers.get(name).or_else(|| work.numbers.get(name));
        number.copied().ok_or_else(|| missing("numbers", name))
    }

    /// A text of the configuration, or else of the workload.
    fn word(&self, name: &str) -> Result<&str> {
        let Point { with, work, .. } = self.point;
        let word = with.words.get(name).or_else(|| work.words.get(name));
        word.map(String::as_str)
            .ok_or_else(|| missing("words", name))
    }

    /// The machine of the figure with the configuration's keys.
    fn machine(&self) -> Result<&Config> {
        let machine = self.point.machine.as_ref();
        machine.ok_or_else(|| Error::usage("no machine", "expected `machine` in the figure"))
    }
}

fn missing(table: &str, name: &str) -> Error {
    Error::usage(
        format!("the formula's {name} is missing"),
        format!("expected {table} = {{ {name} = ... }} in the workload or the configuration"),
    )
}

/// The numbers of a formula.
pub(super) fn formula(point: &Point, name: &str) -> Result<Numbers> {
    let known = || FORMULAS.iter().copied().flatten();
    let (_, formula) = known().find(|f| f.0 == name).ok_or_else(|| {
        let names: Vec<&str> = known().map(|f| f.0).collect();
        Error::usage(
            format!(
                "there is no formula '{name}'{}",
                did_you_mean(name, names.iter().copied())
            ),
            format!("expected one of: {}", names.join(", ")),
        )
    })?;
    formula(&Inputs { point })
}

/// Mean congestion of an access.
pub(super) fn congestion(point: &Point, access: &str) -> Result<Numbers> {
    let work = &point.work;
    let width = work.width.unwrap_or(32);
    let access = AccessKind::from_str(access)?;
    let experiment = Experiment::new(scheme(point)?, access, width, work.dims.unwrap_or(2))?;
    let stats = experiment.sample(SAMPLES, SEED)?;
    let log = f64::from(width).log2();
    Ok(numbers([
        ("congestion", stats.mean),
        ("standard error", stats.std_error),
        (
            "congestion over log w / log log w",
            stats.mean / (log / log.log2()),
        ),
    ]))
}

/// Congestion and time of a transpose.
pub(super) fn transpose(point: &Point, name: &str) -> Result<Numbers> {
    let all = [Transpose::Crsw, Transpose::Srcw, Transpose::Drdw];
    let named = all
        .into_iter()
        .find(|t| t.to_string().eq_ignore_ascii_case(name));
    let transpose = named.ok_or_else(|| {
        Error::usage(format!("transpose '{name}'"), "expected crsw, srcw or drdw")
    })?;
    let width = point.work.width.unwrap_or(32);
    let stats = transpose_stats(transpose, scheme(point)?, width, LATENCY, TRANSPOSES, SEED)?;
    Ok(numbers([
        ("read", stats.read),
        ("write", stats.write),
        ("time", stats.time),
    ]))
}

/// Resident blocks of a size.
pub(super) fn residency(work: &Workload, machine: &Config) -> Result<Numbers> {
    let threads = work.threads.unwrap_or(32);
    let info = KernelInfo {
        name: "block".to_owned(),
        source: String::new(),
        block_dim: [threads, 1, 1],
        blocks: u32::MAX,
        shared_bytes: work.shared_bytes.unwrap_or(0),
        warp_size: 32,
        registers: 0,
        target: None,
        together: None,
    };
    let residency = Layout::new(machine, &info)?.residency();
    Ok(numbers([
        ("resident_blocks", f64::from(residency.blocks())),
        ("pairs", f64::from(residency.pairs)),
    ]))
}

fn scheme(point: &Point) -> Result<Scheme> {
    match &point.with.scheme {
        Some(name) => Scheme::from_str(name),
        None => Ok(Scheme::Raw),
    }
}

fn numbers<const N: usize>(values: [(&str, f64); N]) -> Numbers {
    Numbers {
        hash: None,
        reason: None,
        values: values.into_iter().map(|(k, v)| (k.to_owned(), v)).collect(),
    }
}
