//! `spadkit congestion`: RAW, RAS and RAP on the discrete memory machine.

use super::printer::{CommandResult, Printer};
use super::{Example, Execute, Global};
use crate::error::{Error, Result};
use crate::rap::{
    AccessKind, Experiment, Scheme, TABLE_II_WIDTHS, table_ii, table_iii, table_iv, transpose_stats,
};
use crate::terminal::{Columns, Details, Hint, Table};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};

/// Measure the congestion of random address shift mappings on the discrete memory
/// machine.
///
/// The congestion of a warp access is the largest number of distinct addresses
/// in one bank. Mean and maximum are taken over random draws of the mapping and
/// of the access; the result depends only on the seed, not on the machine.
#[derive(Args)]
pub struct CongestionArgs {
    /// Required without --table: raw, ras, rap (2 dimensions); raw, ras, 1p, r1p,
    /// 3p, w2p, 1pw2r (4 dimensions).
    #[arg(long, required_unless_present = "table", value_parser = super::values::parsed::<Scheme>)]
    mapping: Option<Scheme>,
    /// Required without --table: contiguous, random, malicious; stride, diagonal
    /// (2 dimensions); stride1, stride2, stride3 (4 dimensions).
    #[arg(long, required_unless_present = "table", value_parser = super::values::parsed::<AccessKind>)]
    access: Option<AccessKind>,
    /// Banks, threads of a warp, and size of the array in each dimension: 2 to
    /// 1024 [default: 32]; not for --table 2, which has widths of its own.
    #[arg(long, value_name = "W")]
    width: Option<u32>,
    /// Dimensions of the array, 2 or 4 [default: 2, or 4 if mapping or access
    /// needs it].
    #[arg(long)]
    dims: Option<u32>,
    /// Random draws.
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    samples: u64,
    /// Seed of the random numbers.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// A whole table of the RAP paper, with the published values (2 for all its
    /// widths; 3 and 4 for --width).
    #[arg(long, value_enum, conflicts_with_all = ["mapping", "access", "dims"])]
    table: Option<PaperTable>,
    /// Latency of the memory machine in time units, for --table 3 [default: 5].
    #[arg(long, value_name = "L", requires = "table")]
    latency: Option<u64>,
}

/// A table of the RAP paper.
#[derive(Clone, Copy, ValueEnum)]
enum PaperTable {
    /// Congestion of accesses to a matrix.
    #[value(name = "2")]
    Ii,
    /// Transposes of a matrix.
    #[value(name = "3")]
    Iii,
    /// Congestion of accesses to a 4-dimensional array.
    #[value(name = "4")]
    Iv,
}

impl Execute for CongestionArgs {
    fn examples() -> &'static [Example] {
        &[
            (
                "one access",
                "congestion --mapping rap --access stride --width 32",
            ),
            (
                "a table of the paper, in seconds",
                "congestion --table 2 --samples 10000",
            ),
        ]
    }

    fn execute(&self, _global: &Global, printer: &Printer) -> Result<()> {
        self.check()?;
        match (self.table, self.mapping, self.access) {
            (None, Some(mapping), Some(access)) => one(self, mapping, access, printer),
            (Some(PaperTable::Iii), ..) => transposes(self, printer),
            (Some(PaperTable::Iv), ..) => four_dimensions(self, printer),
            (Some(PaperTable::Ii), ..) => matrices(self, printer),
            (None, ..) => unreachable!("clap requires --table, or --mapping and --access"),
        }
    }
}

impl CongestionArgs {
    /// Options of another table are refused.
    fn check(&self) -> Result<()> {
        match self.table {
            Some(PaperTable::Ii) if self.width.is_some() => Err(Error::usage(
                "--width has no effect on --table 2, which has widths of its own",
                "leave it out, or measure one access: --mapping, --access and --width",
            )),
            Some(PaperTable::Ii | PaperTable::Iv) if self.latency.is_some() => Err(Error::usage(
                "--latency is for --table 3: the other tables have no times",
                "leave it out",
            )),
            _ => Ok(()),
        }
    }

    fn width(&self) -> u32 {
        self.width.unwrap_or(32)
    }
}

fn one(
    args: &CongestionArgs,
    mapping: Scheme,
    access: AccessKind,
    printer: &Printer,
) -> Result<()> {
    let needs_4 = !mapping.has_dims(2) || !access.has_dims(2);
    let dims = args.dims.unwrap_or(if needs_4 { 4 } else { 2 });
    let experiment = Experiment::new(mapping, access, args.width(), dims)?;
    let stats = experiment.sample(args.samples, args.seed)?;
    printer.show(&Congestion {
        mapping: mapping.name(),
        access: access.name(),
        width: args.width(),
        dims,
        samples: args.samples,
        seed: args.seed,
        random_numbers: mapping.random_numbers(dims, u64::from(args.width())),
        mean: stats.mean,
        max: stats.max,
        std_error: stats.std_error,
    })
}

/// The congestion of one access under one mapping.
#[derive(Serialize)]
struct Congestion {
    mapping: &'static str,
    access: &'static str,
    width: u32,
    dims: u32,
    samples: u64,
    seed: u64,
    /// Random numbers of a draw of the mapping.
    random_numbers: u64,
    mean: f64,
    max: u32,
    std_error: f64,
}

impl CommandResult for Congestion {
    fn verdict(&self) -> String {
        let Congestion {
            mapping, access, ..
        } = self;
        format!(
            "{access} accesses under {mapping} have a congestion of {:.4} in the mean, {} at most, on the \
             discrete memory machine with {} banks.",
            self.mean, self.max, self.width
        )
    }

    fn details(&self) -> Details {
        let table = Columns::of([self])
            .left("mapping", |c| c.mapping)
            .left("access", |c| c.access)
            .right("width", |c| c.width)
            .right("dims", |c| c.dims)
            .right("mean", |c| format!("{:.4}", c.mean))
            .right("std error", |c| format!("{:.4}", c.std_error))
            .right("max", |c| c.max)
            .table();
        Details::of(table)
    }

    fn hints(&self) -> Vec<Hint> {
        let table = if self.dims == 4 { 4 } else { 2 };
        let command = format!("spadkit congestion --table {table}");
        vec![Hint::new(
            "compared with all mappings of the paper",
            command,
        )]
    }
}

/// A table of the paper, simulated.
#[derive(Serialize)]
struct Simulated<R> {
    table: u32,
    samples: u64,
    seed: u64,
    results: Vec<R>,
}

/// A row of a simulated table.
trait Row: Serialize {
    /// The fields that the text shows; the first two are names.
    const COLUMNS: &'static [&'static str];
}

impl<R: Row> CommandResult for Simulated<R> {
    fn verdict(&self) -> String {
        format!(
            "Table {} of the RAP paper over {} draws: {} rows.",
            self.table,
            self.samples,
            self.results.len()
        )
    }

    fn details(&self) -> Details {
        let cell = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Number(n) if n.is_f64() => format!("{:.2}", n.as_f64().unwrap_or_default()),
            other => other.to_string(),
        };
        let rows = self.results.iter().map(|row| {
            let row = json!(row);
            R::COLUMNS.iter().map(|c| cell(&row[*c])).collect()
        });
        let header: Vec<String> = R::COLUMNS.iter().map(|c| c.replace('_', " ")).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let rows = rows.collect::<Vec<Vec<String>>>();
        Details::of(Table::new(&header, rows).right(&header[2..]))
    }
}

impl<R> Simulated<R> {
    fn of(table: u32, args: &CongestionArgs, results: Vec<R>) -> Self {
        Simulated {
            table,
            samples: args.samples,
            seed: args.seed,
            results,
        }
    }
}

/// A row of Table II.
#[derive(Serialize)]
struct OfMatrix {
    mapping: &'static str,
    access: &'static str,
    width: u32,
    mean: f64,
    published: f64,
    difference: f64,
    max: u32,
}

impl Row for OfMatrix {
    const COLUMNS: &'static [&'static str] = &[
        "mapping",
        "access",
        "width",
        "mean",
        "published",
        "difference",
        "max",
    ];
}

fn matrices(args: &CongestionArgs, printer: &Printer) -> Result<()> {
    let cells: Vec<_> = TABLE_II_WIDTHS
        .into_iter()
        .flat_map(|w| table_ii(w).into_iter().map(move |cell| (w, cell)))
        .collect();
    let progress = printer.progress(cells.len() as u64, "Table II");
    let mut rows = Vec::new();
    for (width, (mapping, access, published)) in cells {
        progress.set(rows.len() as u64, format!("{mapping} {access} w={width}"));
        let stats = Experiment::new(mapping, access, width, 2)?.sample(args.samples, args.seed)?;
        rows.push(OfMatrix {
            mapping: mapping.name(),
            access: access.name(),
            width,
            mean: stats.mean,
            published,
            difference: stats.mean - published,
            max: stats.max,
        });
    }
    drop(progress);
    printer.show(&Simulated::of(2, args, rows))
}

/// A row of Table III. The paper has a width of 32 only.
#[derive(Serialize)]
struct OfTranspose {
    transpose: String,
    mapping: &'static str,
    width: u32,
    latency: u64,
    read: f64,
    write: f64,
    time: f64,
    published_read: Option<f64>,
    published_write: Option<f64>,
}

impl Row for OfTranspose {
    const COLUMNS: &'static [&'static str] = &[
        "transpose",
        "mapping",
        "read",
        "published_read",
        "write",
        "published_write",
        "time",
    ];
}

fn transposes(args: &CongestionArgs, printer: &Printer) -> Result<()> {
    let cells = table_iii();
    let progress = printer.progress(cells.len() as u64, "Table III");
    let mut rows = Vec::new();
    for (transpose, mapping, read, write) in cells {
        progress.set(rows.len() as u64, format!("{transpose} {mapping}"));
        let (width, latency) = (args.width(), args.latency.unwrap_or(5));
        let stats = transpose_stats(transpose, mapping, width, latency, args.samples, args.seed)?;
        rows.push(OfTranspose {
            transpose: transpose.to_string(),
            mapping: mapping.name(),
            width,
            latency,
            read: stats.read,
            write: stats.write,
            time: stats.time,
            published_read: (width == 32).then_some(read),
            published_write: (width == 32).then_some(write),
        });
    }
    drop(progress);
    printer.show(&Simulated::of(3, args, rows))
}

/// A row of Table IV.
#[derive(Serialize)]
struct OfArray {
    mapping: &'static str,
    access: &'static str,
    width: u32,
    mean: f64,
    max: u32,
    /// The published order of growth.
    published_order: &'static str,
    random_numbers: u64,
}

impl Row for OfArray {
    const COLUMNS: &'static [&'static str] = &[
        "access",
        "mapping",
        "width",
        "mean",
        "max",
        "published_order",
        "random_numbers",
    ];
}

fn four_dimensions(args: &CongestionArgs, printer: &Printer) -> Result<()> {
    let cells = table_iv();
    let progress = printer.progress(cells.len() as u64, "Table IV");
    let mut rows = Vec::new();
    for (mapping, access, published_order) in cells {
        progress.set(rows.len() as u64, format!("{mapping} {access}"));
        let experiment = Experiment::new(mapping, access, args.width(), 4)?;
        let stats = experiment.sample(args.samples, args.seed)?;
        rows.push(OfArray {
            mapping: mapping.name(),
            access: access.name(),
            width: args.width(),
            mean: stats.mean,
            max: stats.max,
            published_order,
            random_numbers: mapping.random_numbers(4, u64::from(args.width())),
        });
    }
    drop(progress);
    printer.show(&Simulated::of(4, args, rows))
}
