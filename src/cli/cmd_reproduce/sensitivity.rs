//! The headline numbers of a figure under perturbations.

use super::Meter;
use crate::cli::printer::Printer;
use crate::error::{Error, Result};
use crate::reproduce::page::Section;
use crate::reproduce::sensitivity::{
    Headline, Perturbation, about_headlines, headlines, perturbations,
};
use crate::reproduce::{Figure, Library, Store, compute, points, results, table_of};

/// None where the figure has no headline number or no machine.
pub(super) fn analyse(
    library: &Library,
    section: &Section,
    store: &Store,
    printer: &Printer,
) -> Result<Vec<Headline>> {
    let figure = about_headlines(section.figure);
    let base = headlines(&figure, &section.results);
    let (Some(machine), false) = (figure.machine()?, base.is_empty()) else {
        return Ok(Vec::new());
    };
    let headline = |r: &&crate::reproduce::Comparison| {
        Some(Headline {
            name: r.quantity.clone(),
            base: r.measured?,
            values: Vec::new(),
        })
    };
    let mut found: Vec<Headline> = base.iter().filter_map(headline).collect();
    for perturbation in perturbations(&machine.config()?) {
        add(&mut found, library, &figure, &perturbation, store, printer)?;
    }
    Ok(found)
}

fn add(
    found: &mut [Headline],
    library: &Library,
    figure: &Figure,
    perturbation: &Perturbation,
    store: &Store,
    printer: &Printer,
) -> Result<()> {
    let change = &perturbation.change;
    let wanted = match points(&library.root, &[figure], change) {
        // Not every machine takes every value.
        Err(Error::Usage { what, .. }) => {
            printer.warn(format!("{}, {}: {what}", figure.id, perturbation.name));
            return Ok(());
        }
        wanted => wanted?,
    };
    let meter = Meter::new(printer, wanted.len(), perturbation.name);
    if !compute(&wanted, store, &meter)? {
        return Err(Error::Interrupted {
            what: "reproduce --sensitivity".to_owned(),
        });
    }
    let table = table_of(&library.root, figure, store, change)?;
    let changed = results(figure, None, &table);
    for headline in found {
        let mut means = changed.iter().filter(|r| r.workload.is_none());
        let same = means.find(|r| r.quantity == headline.name);
        if let Some(value) = same.and_then(|r| r.measured) {
            headline.values.push((perturbation.clone(), value));
        }
    }
    Ok(())
}
