//! `spadkit reproduce` and `spadkit merge`: the papers' results, measured.

mod check;
mod compose;
mod merge;
mod report;
mod sensitivity;

pub(super) use compose::ComposeArgs;
pub(super) use merge::MergeArgs;

use super::campaign::Shard;
use super::printer::{CommandResult, Printer, Progress};
use super::{Example, Execute, Global};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::output::{check_writable, write_file};
use crate::reproduce::compose::{Composed, composed};
use crate::reproduce::page::{self, Section, files};
use crate::reproduce::sensitivity::Sensitivity;
use crate::reproduce::verify::keys;
use crate::reproduce::{
    Change, Comparison, Figure, Library, Null, Point, Store, Verdict, Watch, compute, number,
    points, results, table_of,
};
use crate::terminal::{Columns, Details, Hint, Tone};
use clap::Args;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Measure the papers' tables and figures, and compare them with the published
/// values.
///
/// Workloads, machines and published values are data: a file per figure in
/// reproduce/. docs/reproduction.md has the results. With -o, points that DIR
/// already has are not computed again.
#[derive(Args)]
pub struct ReproduceArgs {
    /// Papers or figures, such as hash or hash.t6 [default: all].
    ids: Vec<String>,
    /// Compute points I, I+N, I+2N, ... (part I of N); `merge` puts the parts
    /// together.
    #[arg(long, value_name = "I/N", requires = "out")]
    shard: Option<Shard>,
    /// Show each headline number as median and range over perturbations of
    /// machine and input, and what moves it most. Without this option, only for
    /// points that DIR already has.
    #[arg(long, conflicts_with = "shard")]
    sensitivity: bool,
    /// Write points.jsonl, reproduction.md, the papers' pages and charts.
    #[arg(short, long = "output", alias = "out", value_name = "DIR")]
    out: Option<PathBuf>,
    /// Take the points that this file has, such as docs/reproduction/points.jsonl,
    /// and compute the others. The file is only read.
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["out", "shard"])]
    points: Option<PathBuf>,
    /// Write a page: how much is reproduced, what is furthest off, each published
    /// value beside the measured one.
    #[arg(long, value_name = "FILE.html", conflicts_with = "shard")]
    report: Option<PathBuf>,
    /// Fail if the points and pages in this folder, or the table of README.md
    /// beside it, are not those that the checkout gives. Points of the figures named by ID
    /// are computed again.
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        default_missing_value = "docs",
        conflicts_with_all = ["out", "shard", "sensitivity", "points", "report"]
    )]
    check: Option<PathBuf>,
    /// With --check: also compute this many points of the other figures again,
    /// among those that take a second at most; or all points.
    #[arg(long, value_name = "N|all", value_parser = amount, default_value = "0")]
    recompute: usize,
}

struct Meter {
    bar: Progress,
    done: AtomicU64,
}

impl Meter {
    fn new(printer: &Printer, points: usize, what: &str) -> Self {
        Meter {
            bar: printer.progress(points as u64, what),
            done: AtomicU64::new(0),
        }
    }
}

impl Watch for Meter {
    fn point(&self, point: &Point, all: usize) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_total(all as u64);
        self.bar
            .set(done, format!("{} {}", point.figure, point.workload));
    }

    fn goes_on(&self) -> bool {
        !interrupt::requested()
    }
}

impl Execute for ReproduceArgs {
    fn examples() -> &'static [Example] {
        &[
            ("a table", "reproduce hash.t6"),
            (
                "a page of a paper",
                "reproduce rap --points points.jsonl --report rap.html",
            ),
            ("a quarter of all points", "reproduce --shard 1/4 -o shard1"),
        ]
    }

    fn execute(&self, _global: &Global, printer: &Printer) -> Result<()> {
        let library = Library::load()?;
        let figures = library.select(&self.ids)?;
        interrupt::listen();
        if let Some(at) = &self.check {
            let check = check::Check {
                library: &library,
                at,
                ids: &self.ids,
                recompute: self.recompute,
                printer,
            };
            return check.run();
        }
        if let Some(file) = &self.report {
            check_writable(file)?;
        }
        let store = match (&self.out, &self.points) {
            (Some(dir), _) => Store::open(dir)?,
            (None, Some(file)) => Store::load(file)?,
            (None, None) => Store::in_memory(),
        };
        let mut wanted = points(&library.root, &figures, &Change::default())?;
        if let Some(shard) = self.shard {
            wanted = shard.of(wanted);
        }
        let meter = Meter::new(printer, wanted.len(), "reproduce: points");
        let ended = compute(&wanted, &store, &meter)?;
        drop(meter);
        store.finish()?;
        if !ended {
            return Err(Error::Interrupted {
                what: "reproduce".to_owned(),
            });
        }
        if self.shard.is_some() {
            let points = wanted.len();
            return printer.show(&Part { points });
        }
        let run = Run {
            library: &library,
            figures: &figures,
            store: &store,
            printer,
        };
        let files = Files {
            pages: self.out.as_deref(),
            report: self.report.as_deref().map(|file| (file, &self.ids[..])),
        };
        run.report(self.sensitivity, &files)
    }
}

/// A number of points, or all.
fn amount(text: &str) -> std::result::Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => text
            .parse()
            .map_err(|_| "expected a number, or all".to_owned()),
    }
}

/// The results of figures as far as `store` has points, and the digests of the
/// points that their sensitivity needs.
fn sections<'a>(
    library: &Library,
    figures: &[&'a Figure],
    store: &Store,
    printer: &Printer,
) -> Result<(Vec<Section<'a>>, BTreeSet<String>)> {
    analysed(library, figures, store, printer, false)
}

/// The results of figures, as [`sections`] has them; `computes` the points of the
/// sensitivity analysis that `store` does not have.
fn analysed<'a>(
    library: &Library,
    figures: &[&'a Figure],
    store: &Store,
    printer: &Printer,
    computes: bool,
) -> Result<(Vec<Section<'a>>, BTreeSet<String>)> {
    let analysis = sensitivity::Analysis {
        library,
        store,
        computes,
        printer,
    };
    let (mut sections, mut used) = (Vec::new(), BTreeSet::new());
    for &figure in figures {
        let table = table_of(&library.root, figure, store, &Change::default())?;
        let mut section = Section {
            figure,
            results: results(figure, figure.machine_name()?.as_deref(), &table),
            sensitivity: Vec::new(),
            composed: match figure.id.as_str() {
                "compose" => Some(composed(&library.root, figure, &table)?),
                _ => None,
            },
        };
        let (headlines, digests) = analysis.of(&section)?;
        section.sensitivity = headlines;
        used.extend(digests);
        sections.push(section);
    }
    Ok((sections, used))
}

/// All pages, by path.
fn pages(library: &Library, sections: &[Section]) -> Result<BTreeMap<String, String>> {
    Ok(files(sections, &check::minutes(library)?))
}

/// Figures whose points have been computed.
struct Run<'a> {
    library: &'a Library,
    figures: &'a [&'a Figure],
    store: &'a Store,
    printer: &'a Printer,
}

/// The files to write.
struct Files<'a> {
    /// Points, pages and charts.
    pages: Option<&'a Path>,
    /// The report, and the papers or figures that the command line named.
    report: Option<(&'a Path, &'a [String])>,
}

impl Run<'_> {
    /// Writes the pages and prints the results.
    fn report(&self, computes: bool, files: &Files) -> Result<()> {
        let Run {
            library,
            figures,
            store,
            printer,
        } = self;
        let (sections, used) = analysed(library, figures, store, printer, computes)?;
        store.finish()?;
        if let Some(dir) = files.pages {
            let mut files = pages(library, &sections)?;
            files.insert(check::POINTS.to_owned(), self.compact(used.clone())?);
            for (name, text) in files {
                let path = dir.join(name);
                let folder = path.parent().unwrap_or(dir);
                std::fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
                write_file(&path, text.as_bytes())?;
            }
        }
        if let Some((file, ids)) = files.report {
            let page = report::of(&sections, &self.compact(used)?, ids, library)?;
            write_file(file, page.render()?.as_bytes())?;
            printer.wrote(file);
        }
        printer.show(&Reproduced::of(&sections))
    }

    /// The points of the figures, and the points `used` besides, in the format of `-o`.
    fn compact(&self, used: BTreeSet<String>) -> Result<String> {
        let wanted = points(&self.library.root, self.figures, &Change::default())?;
        let mut digests = used;
        digests.extend(wanted.into_iter().map(|p| p.digest));
        Ok(self.store.compact(&digests, &keys(self.figures)))
    }
}

/// The points of a shard.
#[derive(Serialize)]
struct Part {
    points: usize,
}

impl CommandResult for Part {
    fn verdict(&self) -> String {
        match self.points {
            1 => "1 point is computed.".to_owned(),
            points => format!("{points} points are computed."),
        }
    }

    fn details(&self) -> Details {
        Details::new()
    }

    fn hints(&self) -> Vec<Hint> {
        vec![Hint::new(
            "put the shards together with",
            "spadkit merge DIR... -o DIR",
        )]
    }
}

/// Figures as measured.
#[derive(Serialize)]
struct Reproduced<'a> {
    results: Vec<&'a Comparison>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compose: Option<&'a [Composed]>,
    /// Sensitivities by figure and quantity.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sensitivity: BTreeMap<&'a str, BTreeMap<&'a str, Sensitivity>>,
    /// Errors of means, compared with those of null models.
    null_models: Vec<Null>,
    #[serde(skip)]
    sections: &'a [Section<'a>],
}

impl<'a> Reproduced<'a> {
    fn of(sections: &'a [Section]) -> Self {
        let analysed = sections.iter().filter(|s| !s.sensitivity.is_empty());
        let sensitivity = analysed.map(|section| {
            let headlines = section.sensitivity.iter();
            let headlines = headlines.map(|h| (h.name.as_str(), h.sensitivity()));
            (section.figure.id.as_str(), headlines.collect())
        });
        Reproduced {
            results: sections.iter().flat_map(|s| &s.results).collect(),
            compose: sections.iter().find_map(|s| s.composed.as_deref()),
            sensitivity: sensitivity.collect(),
            null_models: sections.iter().flat_map(Section::nulls).collect(),
            sections,
        }
    }
}

impl CommandResult for Reproduced<'_> {
    fn verdict(&self) -> String {
        page::verdict(self.sections)
    }

    fn details(&self) -> Details {
        let (results, sections) = (&self.results, self.sections);
        let value = |v: Option<f64>| v.map_or(String::new(), number);
        let figures = Columns::of(results)
            .left("ID", |r| &r.id)
            .left("quantity", |r| &r.quantity)
            .left("workload", |r| r.workload.clone().unwrap_or_default())
            .right("published", |r| {
                r.published.as_ref().map_or(String::new(), |p| p.text())
            })
            .right("measured", |r| value(r.measured))
            .left("unit", |r| &r.unit)
            .left("evidence", |r| r.evidence.word())
            .left("verdict", |r| r.verdict.word())
            .toned(|r| match r.verdict {
                Verdict::Differs => Tone::Bad,
                _ => Tone::Plain,
            })
            .minor(&["evidence", "unit"]);
        let mut details = Details::of(figures.table());
        let reasons = results.iter().filter(|r| r.measured.is_none());
        for (id, reason) in reasons.filter_map(|r| Some((&r.id, r.reason.as_ref()?))) {
            details.say(format!("{id}: {reason}"));
        }
        for headline in sections.iter().flat_map(|s| &s.sensitivity) {
            details.say(headline.text());
        }
        details
    }
}
