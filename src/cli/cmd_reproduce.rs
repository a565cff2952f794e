//! `spadkit reproduce` and `spadkit merge`: the papers' results, measured.

mod compose;
mod sensitivity;

pub(super) use compose::ComposeArgs;

use super::printer::{Columns, CommandResult, Printer, Progress};
use super::{Execute, Global};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::output::write_file;
use crate::reproduce::compose::{Composed, composed};
use crate::reproduce::page::{Section, chart_file, markdown, rows, sensitivity_file};
use crate::reproduce::sensitivity::Sensitivity;
use crate::reproduce::{
    Change, Comparison, Figure, Library, Point, Store, Verdict, Watch, compute, number, points,
    results, table_of,
};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Measure the tables and figures of the papers beside their published values.
///
/// Workloads, machines and published values are data: a file per figure in
/// reproduce/. docs/reproduction.md has the results. With -o, points that DIR
/// already has are not computed again.
#[derive(Args)]
pub struct ReproduceArgs {
    /// Figures, such as hash.t6 [default: all].
    ids: Vec<String>,
    /// Compute every N-th point from the I-th; `merge` puts shards together.
    #[arg(long, value_name = "I/N", requires = "out")]
    shard: Option<String>,
    /// Show each headline number as median and range over perturbations of
    /// machine and input, and what moves it most. Without it, as far as DIR has
    /// the points.
    #[arg(long, conflicts_with = "shard")]
    sensitivity: bool,
    /// Write points.jsonl, reproduction.md and charts.
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Fail if a result differs from this page.
    #[arg(long, value_name = "FILE.md")]
    check: Option<PathBuf>,
}

/// Merge the shards of `reproduce`.
///
/// The result is byte for byte that of a single run.
#[derive(Args)]
pub struct MergeArgs {
    /// Folders of shards.
    #[arg(required = true)]
    shards: Vec<PathBuf>,
    /// The figures of the shards [default: all].
    #[arg(long = "id", value_name = "ID")]
    ids: Vec<String>,
    /// Folder for the result.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
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
    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        global.check_machine()?;
        let library = Library::load()?;
        let figures = library.select(&self.ids)?;
        let shard = self.shard.as_deref().map(shard).transpose()?;
        let store = match &self.out {
            Some(dir) => Store::open(dir)?,
            None => Store::in_memory(),
        };
        interrupt::listen();
        let mut wanted = points(&library.root, &figures, &Change::default())?;
        if let Some((i, n)) = shard {
            wanted = wanted.into_iter().skip(i - 1).step_by(n).collect();
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
        if shard.is_some() {
            let points = wanted.len();
            return printer.show(&Shard { points });
        }
        let mut sections = sections(&library, &figures, &store)?;
        for section in &mut sections {
            let analysis = sensitivity::Analysis {
                library: &library,
                store: &store,
                computes: self.sensitivity,
                printer,
            };
            section.sensitivity = analysis.of(section)?;
        }
        store.finish()?;
        report(&sections, self.out.as_deref(), printer)?;
        match &self.check {
            Some(page) => check(&sections, page),
            None => Ok(()),
        }
    }
}

impl Execute for MergeArgs {
    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        global.check_machine()?;
        let library = Library::load()?;
        let figures = library.select(&self.ids)?;
        let store = Store::open(&self.out)?;
        for shard in &self.shards {
            store.merge(shard)?;
        }
        store.finish()?;
        report(
            &sections(&library, &figures, &store)?,
            Some(&self.out),
            printer,
        )
    }
}

/// I and N of `I/N`.
fn shard(text: &str) -> Result<(usize, usize)> {
    let parsed = text
        .split_once('/')
        .and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match parsed {
        Some((i, n)) if i >= 1 && i <= n => Ok((i, n)),
        _ => Err(Error::usage(
            format!("--shard {text}"),
            "expected I/N, such as 1/4 for the first of four shards",
        )),
    }
}

fn sections<'a>(
    library: &Library,
    figures: &[&'a Figure],
    store: &Store,
) -> Result<Vec<Section<'a>>> {
    let section = |figure: &&'a Figure| {
        let table = table_of(&library.root, figure, store, &Change::default())?;
        Ok(Section {
            figure,
            results: results(figure, figure.machine_name()?.as_deref(), &table),
            sensitivity: Vec::new(),
            composed: match figure.id.as_str() {
                "compose" => Some(composed(&library.root, figure, &table)?),
                _ => None,
            },
        })
    };
    figures.iter().map(section).collect()
}

fn report(sections: &[Section], out: Option<&Path>, printer: &Printer) -> Result<()> {
    if let Some(dir) = out {
        let charts = dir.join("charts");
        std::fs::create_dir_all(&charts).map_err(|e| Error::io("create", &charts, e))?;
        for section in sections {
            if let Some(svg) = section.chart() {
                write_file(&charts.join(chart_file(section.figure)), svg.as_bytes())?;
            }
            for (i, headline) in section.sensitivity.iter().enumerate() {
                let file = charts.join(sensitivity_file(section.figure, i));
                write_file(&file, headline.chart().as_bytes())?;
            }
        }
        write_file(
            &dir.join("reproduction.md"),
            markdown(sections, "charts").as_bytes(),
        )?;
    }
    printer.show(&Reproduced::of(sections))
}

/// The points of a shard.
#[derive(Serialize)]
struct Shard {
    points: usize,
}

impl CommandResult for Shard {
    fn text(&self) -> String {
        let points = self.points;
        format!("{points} points; spadkit merge puts the shards together\n")
    }
}

/// Figures as measured.
#[derive(Serialize)]
struct Reproduced<'a> {
    results: Vec<&'a Comparison>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compose: Option<&'a [Composed]>,
    /// By figure and quantity.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sensitivity: BTreeMap<&'a str, BTreeMap<&'a str, Sensitivity>>,
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
            sections,
        }
    }
}

impl CommandResult for Reproduced<'_> {
    fn text(&self) -> String {
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
            .left("verdict", |r| r.verdict.word());
        let count = |v| results.iter().filter(|r| r.verdict == v).count();
        let reasons = results.iter().filter(|r| r.measured.is_none());
        let reasons = reasons.filter_map(|r| Some(format!("{}: {}\n", r.id, r.reason.as_ref()?)));
        let ranges = sections.iter().flat_map(|s| &s.sensitivity);
        let ranges = ranges.map(|headline| format!("{}\n", headline.text()));
        format!(
            "{}{}{}\n{}\n",
            figures.text(),
            reasons.collect::<String>(),
            ranges.collect::<String>(),
            Verdict::ALL
                .map(|v| format!("{} {}", count(v), v.word()))
                .join(", "),
        )
    }
}

/// Every row of these figures' tables stands in the page as it is now.
fn check(sections: &[Section], page: &Path) -> Result<()> {
    let known = std::fs::read_to_string(page).map_err(|e| Error::io("read", page, e))?;
    let now = markdown(sections, "charts");
    let mut missing: Vec<String> = Vec::new();
    for Section { figure, .. } in sections {
        let there = rows(&known, figure);
        let rows = rows(&now, figure).into_iter();
        let absent = rows.filter(|row| !there.contains(row));
        missing.extend(absent.map(|row| format!("{}: {row}", figure.id)));
    }
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(Error::CheckFailed {
            what: format!(
                "{} has no such row of {first}; {} rows differ",
                page.display(),
                missing.len()
            ),
            help: Some("run `make reproduction` to regenerate the page".to_owned()),
        }),
    }
}
