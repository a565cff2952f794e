//! All mechanisms on one SM: every subset of hash, elastic pipeline, sharing
//! and hashed locks, with what it costs.

use super::compute::Table;
use super::data::parse;
use super::figure::{Figure, Workload};
use super::number::number;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The mechanisms, as configurations have them in their names.
const MECHANISMS: [&str; 4] = ["hash", "elastic", "sharing", "locks"];

/// `reproduce/compose/area.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Costs {
    clock_ps: f64,
    area_um2: BTreeMap<String, Vec<(String, f64)>>,
}

/// One subset of the mechanisms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Subset {
    /// The bank mapping, where there is a hash.
    pub hash: Option<String>,
    /// Elastic pipeline with conflict-aware scheduling.
    pub elastic: bool,
    /// Scratchpad sharing with owner-warp-first and relssp.
    pub sharing: bool,
    /// Hashed locks.
    pub locks: bool,
    /// Cycles of the kernel.
    pub cycles: f64,
    /// Its bank conflicts.
    pub bank_conflicts: f64,
    /// Issue slots in which the partner held the shared scratchpad.
    pub stalls_shared_scratchpad: f64,
    /// What the mechanisms add.
    pub area_um2: f64,
    /// Period of the path.
    pub clock_ps: f64,
    /// Of the kernel.
    pub time_ns: f64,
    /// Over none of them.
    pub speed_up: f64,
    /// None is as fast and smaller, or as small and faster.
    pub front: bool,
    #[serde(skip)]
    name: String,
}

/// The figure with one workload, a user's, in place of its own.
pub fn of_input(figure: &Figure, input: &str) -> Result<Figure> {
    let input = match input.starts_with("kernel:") {
        true => input.to_owned(),
        false => {
            let path = std::path::absolute(input);
            path.map_err(|e| Error::io("find", Path::new(input), e))?
                .display()
                .to_string()
        }
    };
    let workload = Workload {
        input: Some(input),
        ..Workload::default()
    };
    let mut figure = figure.clone();
    figure.workload = [("kernel".to_owned(), workload)].into();
    Ok(figure)
}

/// All subsets for a workload of the figure.
pub fn subsets(root: &Path, workload: &str, table: &Table) -> Result<Vec<Subset>> {
    let costs: Costs = parse(&root.join("reproduce/compose/area.toml"))?;
    let of = table.iter().filter(|((w, _), _)| w == workload);
    let none = table.get(&(workload.to_owned(), "none".to_owned()));
    let base = none
        .and_then(|n| n.values.get("cycles"))
        .copied()
        .unwrap_or(f64::NAN);
    let mut subsets: Vec<Subset> = of
        .map(|((_, name), numbers)| {
            let has = |m: &str| name.split('+').any(|part| part == m);
            let value = |key: &str| numbers.values.get(key).copied().unwrap_or(0.0);
            let area = MECHANISMS
                .iter()
                .filter(|m| has(m))
                .filter_map(|m| costs.area_um2.get(*m));
            Subset {
                hash: numbers.hash.clone().filter(|_| has("hash")),
                elastic: has("elastic"),
                sharing: has("sharing"),
                locks: has("locks"),
                cycles: value("cycles"),
                bank_conflicts: value("bank_conflicts"),
                stalls_shared_scratchpad: value("stalls.shared_scratchpad"),
                // A sum of nothing is -0.
                area_um2: area.flatten().map(|unit| unit.1).sum::<f64>() + 0.0,
                clock_ps: costs.clock_ps,
                time_ns: value("cycles") * costs.clock_ps / 1000.0,
                speed_up: base / value("cycles").max(1.0),
                front: false,
                name: name.clone(),
            }
        })
        .collect();
    subsets.sort_by(|a, b| {
        a.area_um2
            .total_cmp(&b.area_um2)
            .then(b.speed_up.total_cmp(&a.speed_up))
    });
    let mut best = 0.0;
    for subset in &mut subsets {
        subset.front = subset.speed_up > best;
        best = f64::max(best, subset.speed_up);
    }
    Ok(subsets)
}

impl Subset {
    /// Its mechanisms, joined by +.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// What the numbers say of a workload, in a sentence or two.
pub fn sentence(workload: &str, subsets: &[Subset]) -> String {
    let gain = |s: f64| 100.0 * (s - 1.0);
    let of = |name: &str| subsets.iter().find(|s| s.name == name).map(|s| s.speed_up);
    let best = subsets
        .iter()
        .filter(|s| s.front)
        .max_by(|a, b| a.speed_up.total_cmp(&b.speed_up));
    let Some(best) = best.filter(|b| b.name != "none" && gain(b.speed_up) >= 1.0) else {
        return format!(
            "{workload}: no subset gains 1 %: conflicts, locks and resident blocks do not bound it."
        );
    };
    let parts: Vec<&str> = best.name.split('+').collect();
    let product: f64 = parts.iter().filter_map(|p| of(p)).product();
    let mut text = format!(
        "{workload}: {} is the fastest, {} % over none, for {} µm²",
        best.name,
        number(gain(best.speed_up)),
        number(best.area_um2)
    );
    if parts.len() > 1 {
        text += match best.speed_up / product {
            r if r > 1.01 => "; together they gain more than the product of each alone",
            r if r < 0.99 => {
                "; together they gain less than the product of each alone: they remove the same stalls"
            }
            _ => "; their gains multiply",
        };
    }
    let harms = MECHANISMS
        .iter()
        .filter_map(|m| Some((m, of(m)?)))
        .filter(|m| m.1 < 0.99);
    for (mechanism, speed_up) in harms {
        text += &format!("; {mechanism} alone loses {} %", number(-gain(speed_up)));
    }
    text + "."
}
