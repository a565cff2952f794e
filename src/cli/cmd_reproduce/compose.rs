//! `spadkit compose`: all mechanisms on one kernel, and their part of the page.

use super::Meter;
use crate::cli::printer::{Printer, table};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::reproduce::compose::{Subset, chart, markdown, of_input, sentence, subsets};
use crate::reproduce::page::{Section, chart_file};
use crate::reproduce::{Change, Figure, Library, Store, Table, compute, number, points, table_of};
use clap::Args;
use serde_json::json;

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

pub(in crate::cli) fn run(args: &ComposeArgs, printer: &Printer) -> Result<()> {
    let library = Library::load()?;
    let figure = of_input(library.select(&["compose".to_owned()])?[0], &args.input)?;
    interrupt::listen();
    let store = Store::in_memory();
    let wanted = points(&library.root, &[&figure], &Change::default())?;
    let meter = Meter::new(printer, wanted.len(), "compose: subsets");
    if !compute(&wanted, &store, &meter)? {
        return Err(Error::Interrupted {
            what: "compose".to_owned(),
        });
    }
    drop(meter);
    let table = table_of(&library.root, &figure, &store, &Change::default())?;
    let found = subsets(&library.root, "kernel", &table)?;
    let text = sentence(&args.input, &found);
    printer.result(json!({"results": found, "sentence": text}), || {
        format!("{}\n{text}\n", subset_table(&found))
    })
}

fn subset_table(subsets: &[Subset]) -> String {
    let head = [
        "subset",
        "cycles",
        "conflicts",
        "stalls",
        "µm²",
        "ps",
        "ns",
        "speed-up",
        "front",
    ];
    let rows = subsets.iter().map(|s| {
        vec![
            s.name().to_owned(),
            number(s.cycles),
            number(s.bank_conflicts),
            number(s.stalls),
            number(s.area_um2),
            number(s.clock_ps),
            number(s.time_ns),
            number(s.speed_up),
            if s.front { "*" } else { "" }.to_owned(),
        ]
    });
    table(&head, &head[1..8], rows.collect::<Vec<_>>())
}

/// Kernels with their subsets.
type Kernels = Vec<(String, Vec<Subset>)>;

/// All kernels of the figure that `table` has.
fn kernels(library: &Library, figure: &Figure, table: &Table) -> Result<Kernels> {
    let one = |workload: &String| {
        let found = subsets(&library.root, workload, table)?;
        Ok((workload.clone(), found))
    };
    figure.workload.keys().map(one).collect()
}

/// Gives the section its tables, sentences and chart, and for programs each
/// kernel as `compose` has it.
pub(super) fn describe(section: &mut Section, library: &Library, table: &Table) -> Result<()> {
    let kernels = kernels(library, section.figure, table)?;
    let file = format!("charts/{}", chart_file(section.figure));
    section.body = Some(markdown(&kernels, &file));
    section.drawing = Some(chart(&kernels));
    let one = |(name, subsets): &(String, Vec<Subset>)| {
        let text = sentence(name, subsets);
        json!({"kernel": name, "results": subsets, "sentence": text})
    };
    section.details = Some(kernels.iter().map(one).collect());
    Ok(())
}
