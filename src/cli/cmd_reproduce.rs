//! `spadkit reproduce` and `spadkit merge`: the papers' results, measured.

use super::printer::{Printer, Progress, table};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::output::write_file;
use crate::reproduce::compose::{self, Subset};
use crate::reproduce::page::{Section, chart_file, markdown, sensitivity_file};
use crate::reproduce::sensitivity::{Headline, headlines, perturbations};
use crate::reproduce::{
    Comparison, Figure, Library, Point, Store, Table, Verdict, Watch, compute, number, points,
    results, table_of,
};
use clap::Args;
use serde_json::json;
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
    /// Show each headline number as median and range over perturbations of the
    /// machine, and the parameter with the largest effect.
    #[arg(long, conflicts_with = "shard")]
    sensitivity: bool,
    /// Write points.jsonl, reproduction.md and charts.
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Fail if a result differs from this page.
    #[arg(long, value_name = "FILE.md")]
    check: Option<PathBuf>,
}

/// Run a kernel with every subset of hash, elastic pipeline, sharing and hashed
/// locks.
///
/// Shows cycles, conflicts, area and time of each, on the machine of
/// reproduce/compose/machine.toml. The front has the subsets that no other
/// beats in both speed and area.
#[derive(Args)]
pub struct ComposeArgs {
    /// INPUT, as for `sim`.
    input: String,
}

/// Put the shards of `reproduce` together.
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

pub(super) fn run(args: &ReproduceArgs, printer: &Printer) -> Result<()> {
    let library = Library::load()?;
    let figures = library.select(&args.ids)?;
    let shard = args.shard.as_deref().map(shard).transpose()?;
    let store = match &args.out {
        Some(dir) => Store::open(dir)?,
        None => Store::in_memory(),
    };
    interrupt::listen();
    let mut wanted = points(&library.root, &figures, &[])?;
    if let Some((i, n)) = shard {
        wanted = wanted.into_iter().skip(i - 1).step_by(n).collect();
    }
    let meter = Meter {
        bar: printer.progress(wanted.len() as u64, "reproduce: points"),
        done: AtomicU64::new(0),
    };
    let ended = compute(&wanted, &store, &meter)?;
    drop(meter);
    store.finish()?;
    if !ended {
        return Err(Error::Interrupted {
            what: "reproduce".to_owned(),
        });
    }
    if shard.is_some() {
        let count = wanted.len();
        return printer.result(json!({"points": count}), || {
            format!("{count} points; spadkit merge puts the shards together\n")
        });
    }
    let mut sections = sections(&library, &figures, &store)?;
    if args.sensitivity {
        for section in &mut sections {
            section.sensitivity = sensitivity(&library, section, &store, printer)?;
        }
        store.finish()?;
    }
    report(&sections, args.out.as_deref(), printer)?;
    match &args.check {
        Some(page) => check(&sections, page),
        None => Ok(()),
    }
}

pub(super) fn compose(args: &ComposeArgs, printer: &Printer) -> Result<()> {
    let library = Library::load()?;
    let figure = compose::of_input(library.select(&["compose".to_owned()])?[0], &args.input)?;
    interrupt::listen();
    let store = Store::in_memory();
    let wanted = points(&library.root, &[&figure], &[])?;
    let meter = Meter {
        bar: printer.progress(wanted.len() as u64, "compose: subsets"),
        done: AtomicU64::new(0),
    };
    if !compute(&wanted, &store, &meter)? {
        return Err(Error::Interrupted {
            what: "compose".to_owned(),
        });
    }
    drop(meter);
    let table = table_of(&library.root, &figure, &store, &[])?;
    let subsets = compose::subsets(&library.root, "kernel", &table)?;
    let sentence = compose::sentence(&args.input, &subsets);
    printer.result(json!({"results": subsets, "sentence": sentence}), || {
        format!("{}\n{sentence}\n", subset_table(&subsets))
    })
}

fn subset_table(subsets: &[Subset]) -> String {
    let head = [
        "subset",
        "cycles",
        "conflicts",
        "speed-up",
        "µm²",
        "ns",
        "front",
    ];
    let rows = subsets.iter().map(|s| {
        vec![
            s.name().to_owned(),
            number(s.cycles),
            number(s.bank_conflicts),
            number(s.speed_up),
            number(s.area_um2),
            number(s.time_ns),
            if s.front { "*" } else { "" }.to_owned(),
        ]
    });
    table(&head, &head[1..6], rows.collect::<Vec<_>>())
}

pub(super) fn merge(args: &MergeArgs, printer: &Printer) -> Result<()> {
    let library = Library::load()?;
    let figures = library.select(&args.ids)?;
    let store = Store::open(&args.out)?;
    for shard in &args.shards {
        store.merge(shard)?;
    }
    store.finish()?;
    report(
        &sections(&library, &figures, &store)?,
        Some(&args.out),
        printer,
    )
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
            "expected I/N, as 1/4 for the first of four",
        )),
    }
}

fn sections<'a>(
    library: &Library,
    figures: &[&'a Figure],
    store: &Store,
) -> Result<Vec<Section<'a>>> {
    let section = |figure: &&'a Figure| {
        let table = table_of(&library.root, figure, store, &[])?;
        Ok(Section {
            figure,
            results: results(figure, figure.machine_name()?.as_deref(), &table),
            remarks: match figure.id.as_str() {
                "compose" => remarks(library, figure, &table)?,
                _ => String::new(),
            },
            sensitivity: Vec::new(),
        })
    };
    figures.iter().map(section).collect()
}

/// A sentence per kernel of the composition.
fn remarks(library: &Library, figure: &Figure, table: &Table) -> Result<String> {
    let line = |workload: &String| {
        let subsets = compose::subsets(&library.root, workload, table)?;
        Ok(format!("- {}\n", compose::sentence(workload, &subsets)))
    };
    figure.workload.keys().map(line).collect()
}

/// The headline numbers of a figure under perturbations of its machine.
fn sensitivity(
    library: &Library,
    section: &Section,
    store: &Store,
    printer: &Printer,
) -> Result<Vec<Headline>> {
    let figure = section.figure;
    let base = headlines(figure, &section.results);
    let (Some(machine), false) = (figure.machine()?, base.is_empty()) else {
        return Ok(Vec::new());
    };
    let mut headlines_of: Vec<Headline> = base
        .iter()
        .filter_map(|r| {
            Some(Headline {
                name: r.quantity.clone(),
                base: r.measured?,
                values: Vec::new(),
            })
        })
        .collect();
    for perturbation in perturbations(&machine.config()?) {
        // Some machines have no such thing.
        let Ok(wanted) = points(&library.root, &[figure], &perturbation.sets) else {
            continue;
        };
        let meter = Meter {
            bar: printer.progress(wanted.len() as u64, perturbation.name),
            done: AtomicU64::new(0),
        };
        if !compute(&wanted, store, &meter)? {
            return Ok(Vec::new());
        }
        let table = table_of(&library.root, figure, store, &perturbation.sets)?;
        let changed = results(figure, None, &table);
        for headline in &mut headlines_of {
            let same = changed
                .iter()
                .find(|r| r.workload.is_none() && r.quantity == headline.name);
            if let Some(value) = same.and_then(|r| r.measured) {
                headline.values.push((perturbation.clone(), value));
            }
        }
    }
    Ok(headlines_of)
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
    let all: Vec<&Comparison> = sections.iter().flat_map(|s| &s.results).collect();
    printer.result(json!({"results": all}), || text(&all))
}

fn text(results: &[&Comparison]) -> String {
    let value = |v: Option<f64>| v.map_or(String::new(), number);
    let rows = results.iter().map(|r| {
        vec![
            r.id.clone(),
            r.quantity.clone(),
            r.workload.clone().unwrap_or_default(),
            value(r.published),
            value(r.measured),
            r.unit.clone(),
            match r.verdict {
                Verdict::Reproduced => "reproduced".to_owned(),
                Verdict::Differs => "differs".to_owned(),
                Verdict::NotReproducible => "-".to_owned(),
            },
        ]
    });
    let head = [
        "ID",
        "quantity",
        "workload",
        "published",
        "measured",
        "unit",
        "verdict",
    ];
    let count = |v| results.iter().filter(|r| r.verdict == v).count();
    let reasons = results.iter().filter(|r| r.measured.is_none());
    let reasons = reasons.filter_map(|r| Some(format!("{}: {}\n", r.id, r.reason.as_ref()?)));
    format!(
        "{}{}\n{} reproduced, {} differ, {} without a published value\n",
        table(&head, &["published", "measured"], rows.collect::<Vec<_>>()),
        reasons.collect::<String>(),
        count(Verdict::Reproduced),
        count(Verdict::Differs),
        count(Verdict::NotReproducible),
    )
}

/// Every row of these figures stands in the page as it is now.
fn check(sections: &[Section], page: &Path) -> Result<()> {
    let known = std::fs::read_to_string(page).map_err(|e| Error::io("read", page, e))?;
    let now = markdown(sections, "charts");
    let rows = now
        .lines()
        .filter(|l| l.starts_with("| ") && !l.starts_with("| ["));
    let missing: Vec<&str> = rows
        .filter(|row| !known.lines().any(|l| l == *row))
        .collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(Error::CheckFailed {
            what: format!(
                "{} rows are not as {} has them; the first: {first}",
                missing.len(),
                page.display()
            ),
            help: Some("make reproduction writes the page again".to_owned()),
        }),
    }
}
