//! All mechanisms on one SM: every subset of hash, elastic pipeline, sharing
//! and hashed locks, with its cost.

mod sentence;
mod text;

pub use text::{chart, markdown};

use super::compute::Table;
use super::data::parse;
use super::figure::{Figure, Workload};
use serde::{Deserialize, Serialize};
use spadkit_base::error::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// The mechanisms, as configurations have them in their names.
const MECHANISMS: [&str; 4] = ["hash", "elastic", "sharing", "locks"];

/// `reproduce/compose/area.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Costs {
    /// Period of the path with no mechanism.
    clock_ps: f64,
    /// The slowest stage of the path with each mechanism.
    stage_ps: BTreeMap<String, f64>,
    /// Units of each mechanism, with their areas.
    area_um2: BTreeMap<String, Vec<(String, f64)>>,
}

impl Costs {
    fn area(&self, mechanisms: &[&str]) -> f64 {
        let units = mechanisms.iter().filter_map(|m| self.area_um2.get(*m));
        // A sum of nothing is -0.
        units.flatten().map(|unit| unit.1).sum::<f64>() + 0.0
    }

    /// The slowest stage.
    fn clock(&self, mechanisms: &[&str]) -> f64 {
        let stages = mechanisms.iter().filter_map(|m| self.stage_ps.get(*m));
        stages.copied().fold(self.clock_ps, f64::max)
    }
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
    /// Bank conflicts of the kernel.
    pub bank_conflicts: f64,
    /// Issue slots without issue.
    pub stalls: f64,
    /// Issue slots without issue because the partner held the shared scratchpad.
    pub stalls_shared_scratchpad: f64,
    /// Area that the mechanisms add.
    pub area_um2: f64,
    /// Period of the path.
    pub clock_ps: f64,
    /// Time of the kernel.
    pub time_ns: f64,
    /// Time of the machine with none of them over this time.
    pub speed_up: f64,
    /// No other subset is as fast and smaller, or as small and faster.
    pub front: bool,
    #[serde(skip)]
    name: String,
}

/// A kernel with every subset of the mechanisms.
#[derive(Clone, Debug, Serialize)]
pub struct Composition {
    /// Sorted by area.
    pub results: Vec<Subset>,
    /// A sentence about the kernel, derived from the numbers.
    pub sentence: String,
}

/// A composition with the name of its kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Composed {
    /// The name.
    pub kernel: String,
    /// All subsets.
    #[serde(flatten)]
    pub composition: Composition,
}

/// The composition for a workload of the figure, which the sentence calls `name`.
pub fn composition(root: &Path, workload: &str, name: &str, table: &Table) -> Result<Composition> {
    let results = subsets(root, workload, table)?;
    Ok(Composition {
        sentence: sentence::sentence(name, &results),
        results,
    })
}

/// All workloads of the figure.
pub fn composed(root: &Path, figure: &Figure, table: &Table) -> Result<Vec<Composed>> {
    let one = |workload: &String| {
        Ok(Composed {
            kernel: workload.clone(),
            composition: composition(root, workload, workload, table)?,
        })
    };
    figure.workload.keys().map(one).collect()
}

/// The figure with a user's workload instead of its own. The figure's are below `root`;
/// a file keeps its name where that is the current folder.
pub fn of_input(figure: &Figure, root: &Path, input: &str) -> Result<Figure> {
    let input = if input.starts_with("kernel:") || root.as_os_str().is_empty() {
        input.to_owned()
    } else {
        let path = std::path::absolute(input);
        path.map_err(|e| Error::io("find", Path::new(input), e))?
            .display()
            .to_string()
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
fn subsets(root: &Path, workload: &str, table: &Table) -> Result<Vec<Subset>> {
    let costs: Costs = parse(&root.join("reproduce/compose/area.toml"))?;
    let of = table.iter().filter(|((w, _), _)| w == workload);
    let mut subsets: Vec<Subset> = of
        .map(|((_, name), numbers)| {
            let mechanisms: Vec<&str> = MECHANISMS
                .into_iter()
                .filter(|m| name.split('+').any(|part| part == *m))
                .collect();
            let has = |m: &str| mechanisms.contains(&m);
            let value = |key: &str| numbers.values.get(key).copied().unwrap_or(0.0);
            let clock_ps = costs.clock(&mechanisms);
            Subset {
                hash: numbers.hash.clone().filter(|_| has("hash")),
                elastic: has("elastic"),
                sharing: has("sharing"),
                locks: has("locks"),
                cycles: value("cycles"),
                bank_conflicts: value("bank_conflicts"),
                stalls: value("stalls"),
                stalls_shared_scratchpad: value("stalls.shared_scratchpad"),
                area_um2: costs.area(&mechanisms),
                clock_ps,
                time_ns: value("cycles") * clock_ps / 1000.0,
                speed_up: f64::NAN,
                front: false,
                name: name.clone(),
            }
        })
        .collect();
    let base = subsets.iter().find(|s| s.name == "none");
    let base = base.map_or(f64::NAN, |s| s.time_ns);
    for subset in &mut subsets {
        subset.speed_up = base / subset.time_ns.max(f64::MIN_POSITIVE);
    }
    mark_front(&mut subsets);
    Ok(subsets)
}

/// Sorts by area and marks those that are faster than all smaller ones.
fn mark_front(subsets: &mut [Subset]) {
    subsets.sort_by(|a, b| {
        a.area_um2
            .total_cmp(&b.area_um2)
            .then(b.speed_up.total_cmp(&a.speed_up))
    });
    let mut best = 0.0;
    for subset in subsets {
        subset.front = subset.speed_up > best;
        best = f64::max(best, subset.speed_up);
    }
}

impl Subset {
    /// Mechanisms of the subset, joined by +.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn has(&self, mechanism: &str) -> bool {
        self.name.split('+').any(|part| part == mechanism)
    }

    /// Name of the subset with one mechanism less.
    fn without(&self, mechanism: &str) -> String {
        let rest: Vec<&str> = self.name.split('+').filter(|p| *p != mechanism).collect();
        if rest.is_empty() {
            "none".to_owned()
        } else {
            rest.join("+")
        }
    }
}

/// Mechanisms that change neither cycles nor conflicts of any subset.
fn idle(subsets: &[Subset]) -> Vec<&'static str> {
    let changes_nothing = |mechanism: &&str| {
        let with = subsets.iter().filter(|s| s.has(mechanism));
        let mut pairs = with.map(|s| {
            let name = s.without(mechanism);
            (s, subsets.iter().find(|o| o.name == name))
        });
        pairs.all(|(s, without)| {
            without.is_some_and(|o| (o.cycles, o.bank_conflicts) == (s.cycles, s.bank_conflicts))
        })
    };
    MECHANISMS.into_iter().filter(changes_nothing).collect()
}
