//! The headline numbers of a figure under perturbations.

use super::Meter;
use crate::cli::printer::Printer;
use crate::error::{Error, Result};
use crate::reproduce::page::Section;
use crate::reproduce::sensitivity::{
    Headline, Perturbation, about_headlines, headlines, perturbations,
};
use crate::reproduce::{
    Comparison, Figure, Library, Point, Store, compute, points, results, table_of,
};

/// An analysis and its inputs.
pub(super) struct Analysis<'a> {
    pub library: &'a Library,
    pub store: &'a Store,
    /// Computes what `store` has not.
    pub computes: bool,
    pub printer: &'a Printer,
}

impl Analysis<'_> {
    /// The headline numbers of a figure, and the digests of their points; none
    /// where it has none or no machine, or points are missing that are not to be
    /// computed.
    pub fn of(&self, section: &Section) -> Result<(Vec<Headline>, Vec<String>)> {
        let mut digests = Vec::new();
        let figure = about_headlines(section.figure);
        let base = headlines(&figure, &section.results);
        let (Some(machine), false) = (figure.machine()?, base.is_empty()) else {
            return Ok((Vec::new(), digests));
        };
        let headline = |r: &&Comparison| {
            Some(Headline {
                name: r.quantity.clone(),
                base: r.measured?,
                values: Vec::new(),
            })
        };
        let mut found: Vec<Headline> = base.iter().filter_map(headline).collect();
        for perturbation in perturbations(&machine.config()?) {
            match self.add(&mut found, &figure, &perturbation)? {
                Some(points) => digests.extend(points),
                None => return Ok((Vec::new(), Vec::new())),
            }
        }
        Ok((found, digests))
    }

    /// Adds the results under a perturbation, and returns its points; none if some are missing.
    fn add(
        &self,
        found: &mut [Headline],
        figure: &Figure,
        perturbation: &Perturbation,
    ) -> Result<Option<Vec<String>>> {
        let (root, change) = (&self.library.root, &perturbation.change);
        let wanted = match points(root, &[figure], change) {
            // Not every value is legal for every machine.
            Err(Error::Usage { what, .. }) => {
                let name = perturbation.name;
                self.printer.warn(format!("{}, {name}: {what}", figure.id));
                return Ok(Some(Vec::new()));
            }
            wanted => wanted?,
        };
        let is_there = |p: &Point| self.store.get(&p.digest).is_some();
        if !self.computes && !wanted.iter().all(is_there) {
            return Ok(None);
        }
        let meter = Meter::new(self.printer, wanted.len(), perturbation.name);
        if !compute(&wanted, self.store, &meter)? {
            return Err(Error::Interrupted {
                what: "reproduce --sensitivity".to_owned(),
            });
        }
        let table = table_of(root, figure, self.store, change)?;
        let changed = results(figure, None, &table);
        for headline in found {
            let mut means = changed.iter().filter(|r| r.workload.is_none());
            let same = means.find(|r| r.quantity == headline.name);
            if let Some(value) = same.and_then(|r| r.measured) {
                headline.values.push((perturbation.clone(), value));
            }
        }
        Ok(Some(wanted.into_iter().map(|p| p.digest).collect()))
    }
}
