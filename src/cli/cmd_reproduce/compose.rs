//! `spadkit compose`: all mechanisms on one kernel.

use super::Meter;
use crate::cli::printer::{CommandResult, Printer};
use crate::cli::{Example, Execute, Global, MachineNote};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::quote::shell;
use crate::reproduce::compose::{Composition, Subset, composition, of_input};
use crate::reproduce::{Change, Library, Store, compute, number, points, table_of};
use crate::terminal::{Columns, Details, Hint, Table, Tone};
use clap::Args;
use serde::Serialize;

/// The machine of all subsets, which its base and the mechanisms make.
const MACHINE: &str = "reproduce/compose/machine.toml";

/// Run a kernel with every subset of hash, elastic pipeline, sharing and hashed
/// locks.
///
/// Shows cycles, conflicts, area and time of each, on the machine of
/// reproduce/compose/machine.toml. The front has the subsets that no other
/// beats in both speed and area.
#[derive(Args)]
pub struct ComposeArgs {
    /// Launch file, access trace, full trace, program text or kernel:NAME.
    input: String,
}

impl Execute for ComposeArgs {
    fn examples() -> &'static [Example] {
        &[("all subsets on one kernel", "compose kernel:transpose")]
    }

    fn execute(&self, _global: &Global, printer: &Printer) -> Result<()> {
        let library = Library::load()?;
        let figures = library.select(&["compose".to_owned()])?;
        let figure = of_input(figures[0], &library.root, &self.input)?;
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
        let machine = MachineNote::of_kit(&library.root.join(MACHINE), MACHINE);
        let composed = Composed {
            composition: composition(&library.root, "kernel", &self.input, &table)?,
            input: &self.input,
            machine: machine.preset.clone(),
        };
        printer.clone().of_machine(machine).show(&composed)
    }
}

/// The subsets of a kernel, and where they ran.
#[derive(Serialize)]
struct Composed<'a> {
    #[serde(flatten)]
    composition: Composition,
    #[serde(skip)]
    input: &'a str,
    /// Name of the machine.
    #[serde(skip)]
    machine: String,
}

impl CommandResult for Composed<'_> {
    fn verdict(&self) -> String {
        let sentence = self.composition.sentence.trim_end_matches('.');
        format!("{sentence}.")
    }

    fn details(&self) -> Details {
        let mut details = Details::of(subset_table(&self.composition.results));
        details.note(format!(
            "cycles are those of {}, which has room for all mechanisms; flow and sim run a kernel \
             on another machine (fermi, or that of its PTX), so that their cycles differ",
            self.machine
        ));
        details
    }

    /// A run of the kernel with all of its counters.
    fn hints(&self) -> Vec<Hint> {
        let (input, hash) = (shell(self.input), best_hash(&self.composition.results));
        let hash = hash.map_or(String::new(), |hash| format!(" --hash {}", shell(hash)));
        let command = format!("spadkit sim {input}{hash} --config {MACHINE}");
        vec![Hint::new("what the cycles go to, on this machine", command)]
    }
}

/// The mapping of the subsets with a hash.
fn best_hash(subsets: &[Subset]) -> Option<&str> {
    subsets.iter().find_map(|s| s.hash.as_deref())
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
