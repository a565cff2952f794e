//! Determines the points that a run needs, and computes them.

use super::change::Change;
use super::figure::Figure;
use super::point::{Inputs, Numbers, Point};
use super::store::Store;
use super::{analytic, simulate};
use rayon::prelude::*;
use spadkit_base::error::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// Told how far the points are; says whether to go on.
pub trait Watch: Sync {
    /// A point is done, of `all`.
    fn point(&self, point: &Point, all: usize);
    /// Whether to go on.
    fn goes_on(&self) -> bool;
}

/// The points of figures, each once, in the order of the figures.
pub fn points(root: &Path, figures: &[&Figure], change: &Change) -> Result<Vec<Point>> {
    let mut inputs = Inputs::of(root);
    let mut found: Vec<Point> = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for figure in figures {
        for workload in figure.workload.keys() {
            for configuration in figure.configurations_of(workload) {
                let point = Point::new(&mut inputs, figure, (workload, configuration), change)?;
                if known.insert(point.digest.clone()) {
                    found.push(point);
                }
            }
        }
    }
    Ok(found)
}

/// Computes the `points` that `store` does not have, on all cores, and adds
/// each when it is done; false if it was interrupted.
pub fn compute(points: &[Point], store: &Store, watch: &dyn Watch) -> Result<bool> {
    let missing: Vec<&Point> = points
        .iter()
        .filter(|p| store.get(&p.digest).is_none())
        .collect();
    let all = missing.len();
    let done = missing.par_iter().map(|point| {
        if !watch.goes_on() {
            return Ok(false);
        }
        let numbers = match one(point, watch) {
            Ok(Some(numbers)) => numbers,
            Ok(None) => return Ok(false),
            // The kernel has no such form, or the published bits are not a mapping
            // of the machine; other points go on.
            Err(error @ Error::Usage { .. }) if point.with.is_from_table() => Numbers {
                reason: Some(error.to_string()),
                ..Numbers::default()
            },
            Err(error) => return Err(in_point(error, point)),
        };
        store.add(point, numbers)?;
        watch.point(point, all);
        Ok(true)
    });
    let done: Vec<bool> = done.collect::<Result<_>>()?;
    Ok(done.into_iter().all(|d| d))
}

fn one(point: &Point, watch: &dyn Watch) -> Result<Option<Numbers>> {
    let work = &point.work;
    if let Some(formula) = point.with.formula.as_ref().or(work.formula.as_ref()) {
        return analytic::formula(point, formula).map(Some);
    }
    if let Some(access) = &work.access {
        return analytic::congestion(point, access).map(Some);
    }
    if let Some(transpose) = &work.transpose {
        return analytic::transpose(point, transpose).map(Some);
    }
    let Some(machine) = &point.machine else {
        return Err(Error::usage(
            "no machine to simulate",
            "expected `machine` in the figure",
        ));
    };
    match &work.input {
        None => analytic::residency(work, machine).map(Some),
        Some(input) if point.with.counted => simulate::count(point, machine, input).map(Some),
        Some(input) => simulate::simulate(point, machine, input, &mut |_| watch.goes_on()),
    }
}

fn in_point(error: Error, point: &Point) -> Error {
    let place = format!(
        "{}, {}, {}",
        point.figure, point.workload, point.configuration
    );
    match error {
        Error::Usage { what, help } => Error::Usage {
            what: format!("{place}: {what}"),
            help,
        },
        other => other,
    }
}

/// The numbers of a figure's points by workload and configuration.
pub type Table = BTreeMap<(String, String), Numbers>;

/// The points of a figure that `store` has.
pub fn table(root: &Path, figure: &Figure, store: &Store, change: &Change) -> Result<Table> {
    let mut inputs = Inputs::of(root);
    let mut table = Table::new();
    for workload in figure.workload.keys() {
        for configuration in figure.configurations_of(workload) {
            let point = Point::new(&mut inputs, figure, (workload, configuration), change)?;
            if let Some(numbers) = store.get(&point.digest) {
                table.insert((workload.clone(), configuration.to_owned()), numbers);
            }
        }
    }
    Ok(table)
}
