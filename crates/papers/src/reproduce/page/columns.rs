//! The columns of a figure's table: a column per number that is formed of the
//! points, whatever it is summed up to.

use super::super::evidence::Evidence;
use super::super::figure::Figure;
use super::super::quantity::Quantity;
use super::super::results::Comparison;
use std::collections::BTreeSet;

/// A number of each workload.
pub(super) struct Column<'a> {
    /// Name of the quantity.
    pub name: &'a str,
    /// Unit of the values.
    pub unit: &'a str,
    /// Results of workloads.
    pub values: Vec<&'a Comparison>,
    /// Mean of the values.
    pub mean: Option<&'a Comparison>,
    formed_of: &'a Quantity,
}

/// The columns in the order of the quantities.
pub(super) fn columns<'a>(figure: &'a Figure, results: &'a [Comparison]) -> Vec<Column<'a>> {
    let mut columns: Vec<Column> = Vec::new();
    for quantity in &figure.quantity {
        let of = |r: &&Comparison| r.workload.is_some() && r.quantity == quantity.name;
        let values: Vec<&Comparison> = results.iter().filter(of).collect();
        let mean = mean(quantity, results);
        let same = columns
            .iter_mut()
            .find(|c| c.formed_of.same_number(quantity) && values.iter().all(|v| c.has(v)));
        match same {
            // The same numbers, summed up in another way.
            Some(column) => column.mean = column.mean.or(mean),
            None => columns.push(Column {
                name: &quantity.name,
                unit: &quantity.unit,
                values,
                mean,
                formed_of: quantity,
            }),
        }
    }
    columns
}

fn mean<'a>(quantity: &Quantity, results: &'a [Comparison]) -> Option<&'a Comparison> {
    let summaries = quantity.summaries();
    let mean = summaries.iter().find(|s| s.form.is_mean())?;
    let name = quantity.name_of(mean);
    let of = |r: &&Comparison| r.workload.is_none() && r.quantity == name;
    results.iter().find(of)
}

impl<'a> Column<'a> {
    /// The data file wants it on the page.
    pub fn is_shown(&self) -> bool {
        self.formed_of.show
    }

    /// The result of a workload.
    pub fn of(&self, workload: &str) -> Option<&'a Comparison> {
        let of = |r: &&&Comparison| r.workload.as_deref() == Some(workload);
        self.values.iter().find(of).copied()
    }

    /// All workloads with results in it.
    pub fn workloads(&self) -> BTreeSet<&'a str> {
        let names = self.values.iter().filter_map(|v| v.workload.as_deref());
        names.collect()
    }

    /// The name up to the last comma; all of it without one.
    pub fn stem(&self) -> &'a str {
        self.name.rsplit_once(", ").map_or(self.name, |n| n.0)
    }

    /// The name after the last comma.
    pub fn series(&self) -> Option<&'a str> {
        self.name.rsplit_once(", ").map(|n| n.1)
    }

    /// The paper has a value of some workload.
    pub fn is_published(&self) -> bool {
        self.values.iter().any(|v| v.published.is_some())
    }

    /// The evidence of its values, apart from inferred ones, whose cells state it.
    pub fn evidence(&self) -> Option<Evidence> {
        let own = |r: &&&Comparison| r.evidence != Evidence::Inferred;
        let first = self.values.iter().find(own).or(self.values.first());
        first.map(|r| r.evidence)
    }

    fn has(&self, value: &Comparison) -> bool {
        let workload = value.workload.as_deref().unwrap_or_default();
        let same = |r: &Comparison| r.measured == value.measured && r.published == value.published;
        self.of(workload).is_some_and(same)
    }
}

impl Quantity {
    /// Whether it is formed of the same numbers of the points.
    fn same_number(&self, other: &Quantity) -> bool {
        let formed = |q: &Quantity| {
            (
                q.metric,
                q.scale,
                q.gap_to.clone(),
                q.key.clone(),
                q.of.clone(),
                q.over.clone(),
                q.over_without.clone(),
                q.less.clone(),
                q.less_over.clone(),
                q.part_of.clone(),
            )
        };
        formed(self) == formed(other)
    }
}
