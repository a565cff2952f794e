//! `spadkit compose`: all mechanisms on one kernel.

use super::Meter;
use crate::cli::printer::{CommandResult, Printer};
use crate::cli::{Execute, Global};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::page::{Columns, Details, Table, Tone};
use crate::reproduce::compose::{Composition, Subset, composition, of_input};
use crate::reproduce::{Change, Library, Store, compute, number, points, table_of};
use clap::Args;

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

impl Execute for ComposeArgs {
    fn execute(&self, _global: &Global, printer: &Printer) -> Result<()> {
        let library = Library::load()?;
        let figure = of_input(library.select(&["compose".to_owned()])?[0], &self.input)?;
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
        printer.show(&composition(&library.root, "kernel", &self.input, &table)?)
    }
}

impl CommandResult for Composition {
    fn verdict(&self) -> String {
        let sentence = self.sentence.trim_end_matches('.');
        format!("{sentence}.")
    }

    fn details(&self) -> Details {
        Details::of(subset_table(&self.results))
    }
}

fn subset_table(subsets: &[Subset]) -> Table {
    Columns::of(subsets)
        .left("subset", |s| s.name())
        .right("cycles", |s| number(s.cycles))
        .right("conflicts", |s| number(s.bank_conflicts))
        .right("stalls", |s| number(s.stalls))
        .right("µm²", |s| number(s.area_um2))
        .right("ps", |s| number(s.clock_ps))
        .right("ns", |s| number(s.time_ns))
        .right("speed-up", |s| number(s.speed_up))
        .left("front", |s| if s.front { "*" } else { "" })
        .toned(|_| Tone::Good)
        .minor(&["stalls", "ps"])
        .table()
}
