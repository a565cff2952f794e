//! The columns of a figure's table: a column per number that is formed of the
//! points, whatever it is summed up to.

use super::super::figure::Figure;
use super::super::quantity::Quantity;
use super::super::results::Result;

/// A number of each workload.
pub(super) struct Column<'a> {
    /// Name of the quantity.
    pub name: &'a str,
    /// Of the values.
    pub unit: &'a str,
    /// Results of workloads.
    pub values: Vec<&'a Result>,
    /// What they are summed up to, by the word that stands before the name.
    pub summaries: Vec<(&'static str, &'a Result)>,
    formed_of: &'a Quantity,
}

/// The columns in the order of the quantities.
pub(super) fn columns<'a>(figure: &'a Figure, results: &'a [Result]) -> Vec<Column<'a>> {
    let mut columns: Vec<Column> = Vec::new();
    for quantity in &figure.quantity {
        let values = of_workloads(quantity, results);
        let summary = summary(quantity, results);
        let same = columns
            .iter_mut()
            .find(|c| c.formed_of.same_number(quantity));
        match same {
            // The same numbers summed up in another way.
            Some(column) if values.iter().all(|v| column.has(v)) => {
                column.summaries.extend(summary);
            }
            _ => columns.push(Column {
                name: &quantity.name,
                unit: &quantity.unit,
                values,
                summaries: summary,
                formed_of: quantity,
            }),
        }
    }
    columns
}

fn of_workloads<'a>(quantity: &Quantity, results: &'a [Result]) -> Vec<&'a Result> {
    let of = |r: &&Result| r.workload.is_some() && r.quantity == quantity.name;
    results.iter().filter(of).collect()
}

fn summary<'a>(quantity: &Quantity, results: &'a [Result]) -> Vec<(&'static str, &'a Result)> {
    let found = |s: &super::super::quantity::Summary| {
        let name = quantity.name_of(s);
        let of = |r: &&Result| r.workload.is_none() && r.quantity == name;
        Some((s.form.word(), results.iter().find(of)?))
    };
    quantity.summaries().iter().filter_map(found).collect()
}

impl Column<'_> {
    /// The result of a workload.
    pub fn of(&self, workload: &str) -> Option<&Result> {
        let of = |r: &&&Result| r.workload.as_deref() == Some(workload);
        self.values.iter().find(of).copied()
    }

    fn has(&self, value: &Result) -> bool {
        let workload = value.workload.as_deref().unwrap_or_default();
        let same = |r: &Result| r.measured == value.measured && r.published == value.published;
        self.of(workload).is_some_and(same)
    }
}

impl Quantity {
    /// Whether it is formed of the same numbers of the points.
    fn same_number(&self, other: &Quantity) -> bool {
        let formed = |q: &Quantity| (q.metric, q.key.clone(), q.of.clone(), q.over.clone());
        formed(self) == formed(other)
    }
}
