//! Whether committed points and pages are those of the tree.

use super::compute::{Watch, compute};
use super::figure::Figure;
use super::point::{Numbers, Point};
use super::store::Store;
use spadkit_base::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Numbers that are kept in addition to those of quantities: those of
/// compositions, and the time of a point.
const KEPT: [&str; 5] = [
    "cycles",
    "bank_conflicts",
    "stalls",
    "stalls.shared_scratchpad",
    INSTRUCTIONS,
];

const INSTRUCTIONS: &str = "thread_instructions";
/// Instructions of a simulation that takes about a second.
const QUICK: f64 = 1_500_000.0;

/// The numbers that some figure reads off points.
pub fn keys<'a>(figures: &[&'a Figure]) -> BTreeSet<&'a str> {
    let quantities = figures.iter().flat_map(|f| &f.quantity);
    let orders = figures.iter().flat_map(|f| &f.order);
    let keys = quantities.flat_map(|q| [Some(q.key.as_str()), q.gap_to.as_deref()]);
    let keys = keys.flatten().chain(orders.map(|o| o.key.as_str()));
    keys.chain(KEPT).collect()
}

/// Points that `store` has not: something that they depend on has changed.
pub fn absent<'p>(points: &'p [Point], store: &Store) -> Vec<&'p Point> {
    let is_absent = |p: &&Point| store.get(&p.digest).is_none();
    points.iter().filter(is_absent).collect()
}

/// Points of `store` that nothing needs.
pub fn unused(needed: &BTreeSet<String>, store: &Store) -> Vec<String> {
    let all = store.digests().into_iter();
    all.filter(|d| !needed.contains(d)).collect()
}

/// `count` of the points that take a second at most, spread over their digests:
/// the same ones until an input changes. All points if `count` is the largest.
pub fn sample<'p>(points: &[&'p Point], store: &Store, count: usize) -> Vec<&'p Point> {
    if count == usize::MAX {
        return points.to_vec();
    }
    let mut quick: Vec<&Point> = points
        .iter()
        .copied()
        .filter(|p| is_quick(p, store))
        .collect();
    quick.sort_by(|a, b| a.digest.cmp(&b.digest));
    let step = quick.len().div_ceil(count.max(1)).max(1);
    quick.into_iter().step_by(step).take(count).collect()
}

/// Searches and random draws take longer than simulations.
fn is_quick(point: &Point, store: &Store) -> bool {
    let draws = point.work.access.is_some() || point.work.transpose.is_some();
    let numbers = store.get(&point.digest).unwrap_or_default();
    let instructions = numbers.values.get(INSTRUCTIONS).copied().unwrap_or(0.0);
    point.with.tune.is_none() && !draws && instructions <= QUICK
}

/// Computes the points again; what differs from `store`, or none if `watch`
/// ended it.
pub fn recompute(
    points: &[&Point],
    store: &Store,
    watch: &dyn Watch,
) -> Result<Option<Vec<String>>> {
    let points: Vec<Point> = points.iter().map(|p| (*p).clone()).collect();
    let now = Store::in_memory();
    if !compute(&points, &now, watch)? {
        return Ok(None);
    }
    let numbers = |store: &Store, p: &Point| store.get(&p.digest).unwrap_or_default();
    let differing = points.iter().filter_map(|p| {
        let what = difference(&numbers(store, p), &numbers(&now, p))?;
        Some(format!(
            "{}, {}, {}: {what}",
            p.figure, p.workload, p.configuration
        ))
    });
    Ok(Some(differing.collect()))
}

/// The first number that is not what was kept of it.
fn difference(kept: &Numbers, now: &Numbers) -> Option<String> {
    if kept.hash != now.hash || kept.reason != now.reason {
        return Some("another mapping or reason".to_owned());
    }
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
    let differs = |(key, value): &(&String, &f64)| {
        !now.values.get(*key).is_some_and(|now| near(**value, *now))
    };
    let (key, value) = kept.values.iter().find(differs)?;
    let computed = now
        .values
        .get(key)
        .map_or("none".to_owned(), f64::to_string);
    Some(format!("{key} is kept as {value}, computed as {computed}"))
}

/// The first line of each file below `dir` that is not as it should be. Files
/// of the folders in `files` that are not among them count, too.
pub fn differing(dir: &Path, files: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let (pages, others): (Vec<_>, Vec<_>) = files.iter().partition(|f| f.0.ends_with(".md"));
    for (name, text) in pages.into_iter().chain(others) {
        let path = dir.join(name);
        match std::fs::read_to_string(&path) {
            Ok(known) if known == *text => {}
            Ok(known) => faults.extend(lines(name, &known, text)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                faults.push(format!("{name} is not there"));
            }
            Err(e) => return Err(Error::io("read", &path, e)),
        }
    }
    let folders: BTreeSet<&str> = files
        .keys()
        .filter_map(|f| Some(f.split_once('/')?.0))
        .collect();
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(dir.join(folder)) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if !files.contains_key(&name) {
                faults.push(format!("{name} is of no figure"));
            }
        }
    }
    Ok(faults)
}

/// The lines of `text` that `known` has otherwise.
fn lines(name: &str, known: &str, text: &str) -> Vec<String> {
    let there: BTreeSet<&str> = known.lines().collect();
    let absent: Vec<&str> = text.lines().filter(|l| !there.contains(l)).collect();
    if absent.is_empty() {
        return vec![format!("{name} has lines too many, or in another order")];
    }
    let fault = |line: &&str| format!("{name} has no line: {}", shortened(line));
    absent.iter().map(fault).collect()
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(240) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_number_is_named() {
        let of = |cycles: f64| {
            let mut numbers = Numbers::default();
            numbers.values.insert("cycles".to_owned(), cycles);
            numbers
        };
        assert_eq!(difference(&of(10.0), &of(10.0)), None);
        let what = difference(&of(10.0), &of(11.0)).unwrap();
        assert_eq!(what, "cycles is kept as 10, computed as 11");
        assert!(
            difference(&of(10.0), &Numbers::default())
                .unwrap()
                .contains("none")
        );
        // More than what is kept is no difference.
        assert_eq!(difference(&Numbers::default(), &of(1.0)), None);
    }

    #[test]
    fn files_that_differ_or_are_too_many_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        std::fs::create_dir(dir.path().join("charts")).unwrap();
        write("a.md", "one\ntwo\n");
        write("charts/x.svg", "x");
        let files = |a: &str| -> BTreeMap<String, String> {
            let files = [("a.md", a), ("charts/x.svg", "x")];
            files.map(|(k, v)| (k.to_owned(), v.to_owned())).into()
        };
        assert!(
            differing(dir.path(), &files("one\ntwo\n"))
                .unwrap()
                .is_empty()
        );
        let faults = differing(dir.path(), &files("one\nthree\n")).unwrap();
        assert_eq!(faults, ["a.md has no line: three"]);
        let faults = differing(dir.path(), &files("one\n")).unwrap();
        assert_eq!(faults, ["a.md has lines too many, or in another order"]);
        write("charts/y.svg", "y");
        let faults = differing(dir.path(), &files("one\ntwo\n")).unwrap();
        assert_eq!(faults, ["charts/y.svg is of no figure"]);
    }
}
