//! `spadkit reproduce --check`: the committed points and pages against the tree.

use super::{Meter, pages, sections};
use crate::cli::printer::{CommandResult, Printer};
use crate::error::{Error, Result};
use crate::reproduce::page::{README_BEGIN, README_END, README_TABLE};
use crate::reproduce::verify::{absent, differing, keys, recompute, sample, unused};
use crate::reproduce::{Change, Figure, Library, Point, Store, points};
use crate::terminal::{Details, Tone};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The committed points, below the folder of the pages.
pub(super) const POINTS: &str = "reproduction/points.jsonl";

/// The inputs of the check.
pub(super) struct Check<'a> {
    pub library: &'a Library,
    /// The folder of the pages, or one of them.
    pub at: &'a Path,
    /// Figures of which every point is computed again.
    pub ids: &'a [String],
    /// Number of points of other figures that are computed again.
    pub recompute: usize,
    pub printer: &'a Printer,
}

/// The results of the check.
#[derive(Serialize)]
struct Checked {
    points: usize,
    files: usize,
    recomputed: usize,
}

impl CommandResult for Checked {
    fn verdict(&self) -> String {
        let Checked {
            points,
            files,
            recomputed,
        } = self;
        format!(
            "{points} points are those of the tree, {recomputed} were computed again, \
             {files} files are as the points give them."
        )
    }

    fn tone(&self) -> Tone {
        Tone::Good
    }

    fn details(&self) -> Details {
        Details::new()
    }
}

impl Check<'_> {
    /// Fails with the first differences.
    pub fn run(&self) -> Result<()> {
        let dir = match self.at.extension() {
            Some(_) => self.at.parent().unwrap_or(Path::new("")).to_owned(),
            None => self.at.to_owned(),
        };
        let file = dir.join(POINTS);
        let store = Store::load(&file)?;
        let figures: Vec<&Figure> = self.library.figures.iter().collect();
        let wanted = points(&self.library.root, &figures, &Change::default())?;
        self.inputs(&wanted, &store, &file)?;
        let (sections, used) = sections(self.library, &figures, &store, self.printer)?;
        let mut needed: BTreeSet<String> = wanted.iter().map(|p| p.digest.clone()).collect();
        needed.extend(used);
        let unused = unused(&needed, &store);
        failed(&unused, "points are of no figure", &file)?;
        let mut files = pages(self.library, &sections)?;
        let compact = store.compact(&needed, &keys(&figures));
        files.insert(POINTS.to_owned(), compact);
        let table = files.remove(README_TABLE).unwrap_or_default();
        let mut faults = differing(&dir, &files)?;
        faults.extend(readme(&dir, &table)?);
        failed(&faults, "not what the points give", &dir)?;
        let recomputed = self.again(&wanted, &store, &file)?;
        self.printer.show(&Checked {
            points: wanted.len(),
            files: files.len(),
            recomputed,
        })
    }

    /// Fails unless the store has every point of the tree.
    fn inputs(&self, wanted: &[Point], store: &Store, file: &Path) -> Result<()> {
        let name = |p: &&Point| format!("{}, {}, {}", p.figure, p.workload, p.configuration);
        let absent: Vec<String> = absent(wanted, store).iter().map(name).collect();
        failed(
            &absent,
            "points are not there, because a kernel, data, a machine or a configuration has changed",
            file,
        )
    }

    /// Computes points again; how many.
    fn again(&self, wanted: &[Point], store: &Store, file: &Path) -> Result<usize> {
        self.library.select(self.ids)?;
        let of_figures = match self.ids {
            [] => Vec::new(),
            ids => {
                let figures = self.library.select(ids)?;
                points(&self.library.root, &figures, &Change::default())?
            }
        };
        let digests: BTreeSet<&str> = of_figures.iter().map(|p| p.digest.as_str()).collect();
        let others = wanted
            .iter()
            .filter(|p| !digests.contains(p.digest.as_str()));
        let others: Vec<&Point> = others.collect();
        let mut chosen: Vec<&Point> = of_figures.iter().collect();
        chosen.extend(sample(&others, store, self.recompute));
        let meter = Meter::new(self.printer, chosen.len(), "reproduce: points again");
        let Some(differing) = recompute(&chosen, store, &meter)? else {
            return Err(Error::Interrupted {
                what: "reproduce --check".to_owned(),
            });
        };
        failed(&differing, "points are computed otherwise", file)?;
        Ok(chosen.len())
    }
}

/// Compares the results' table in README.md, in the parent folder; passes if there is no README.md.
fn readme(dir: &Path, table: &str) -> Result<Vec<String>> {
    let path = beside(dir);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Error::io("read", &path, e)),
    };
    let between = text
        .split_once(README_BEGIN)
        .and_then(|(_, rest)| Some(rest.split_once(README_END)?.0));
    let expected = table
        .trim_start_matches(README_BEGIN)
        .trim_end()
        .trim_end_matches(README_END);
    Ok(match between {
        Some(between) if between == expected => Vec::new(),
        Some(between) => {
            let mut lines = expected.lines().filter(|l| !between.contains(l));
            let line = lines.next().unwrap_or("lines too many").to_owned();
            vec![format!("README.md differs: {line}")]
        }
        None => vec![format!("README.md has no {README_BEGIN}")],
    })
}

fn beside(dir: &Path) -> PathBuf {
    match dir.parent() {
        Some(parent) => parent.join("README.md"),
        None => PathBuf::from("README.md"),
    }
}

/// An error that names the first of some faults.
fn failed(faults: &[String], what: &str, at: &Path) -> Result<()> {
    if faults.is_empty() {
        return Ok(());
    }
    let first: Vec<&str> = faults.iter().take(3).map(String::as_str).collect();
    let (at, count) = (at.display(), faults.len());
    Err(Error::CheckFailed {
        what: format!("{at}: {what}; the first of {count}: {}", first.join("; ")),
        help: Some("run `make reproduction` to compute and write points and pages".to_owned()),
    })
}

/// The minutes that figures take, from `reproduce/minutes.toml`.
pub(super) fn minutes(library: &Library) -> Result<BTreeMap<String, f64>> {
    let path = library.root.join("reproduce/minutes.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| Error::io("read", &path, e))?;
    toml::from_str(&text).map_err(|e| {
        Error::usage(
            format!("{}: {}", path.display(), e.message()),
            "expected ID = MINUTES",
        )
    })
}
