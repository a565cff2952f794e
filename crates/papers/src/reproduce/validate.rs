//! The consistency rules of a figure's file, beyond its keys.

use super::evidence::Evidence;
use super::figure::Figure;
use super::order::Order;
use super::quantity::{Form, Metric, Provenance, Quantity, Summary};
use super::rules::is_read_off_a_clock;
use spadkit_base::error::{Error, Result};
use spadkit_base::quote::did_you_mean;
use std::path::Path;

/// The file of a figure, and the names that it may use.
struct File<'a> {
    path: &'a Path,
    evidence: Option<Evidence>,
    configurations: Vec<&'a str>,
    workloads: Vec<&'a str>,
}

/// Checks that every name in a quantity refers to something, and that every
/// value states its evidence and its source.
pub(super) fn validate(figure: &Figure, path: &Path) -> Result<()> {
    let file = File {
        path,
        evidence: figure.evidence,
        configurations: figure.configuration.keys().map(String::as_str).collect(),
        workloads: figure.workload.keys().map(String::as_str).collect(),
    };
    file.names(figure)?;
    for quantity in &figure.quantity {
        file.quantity(quantity)?;
    }
    for order in &figure.order {
        file.order(order)?;
    }
    let sums = |q: &Quantity| -> Vec<String> {
        let sums = q.summaries();
        sums.iter()
            .map(|s| q.name_of(s))
            .chain([q.name.clone()])
            .collect()
    };
    let values: Vec<String> = figure.quantity.iter().flat_map(sums).collect();
    for quantity in &figure.quantity {
        let against = quantity.summary.iter().filter_map(|s| s.against.as_ref());
        for other in against {
            if !figure.quantity.iter().any(|q| q.name == *other) {
                return Err(file.wrong(other, "expected the name of a quantity in `against`"));
            }
        }
    }
    for range in &figure.range {
        file.has_workloads(&range.only)?;
        if range.over.is_empty() || range.over.iter().any(|name| !values.contains(name)) {
            let expected = "expected names of quantities or of their sums in `over`";
            return Err(file.wrong(&range.claim, expected));
        }
    }
    for row in &figure.not_modelled {
        file.derivation(&row.quantity, row.provenance, row.derivation.as_deref())?;
        if row.reason.trim().is_empty() {
            return Err(file.wrong(&row.quantity, "expected the `reason` why no model gives it"));
        }
    }
    if figure.quantity.is_empty() && figure.order.is_empty() && figure.not_modelled.is_empty() {
        return Err(file.wrong(
            &figure.id,
            "expected a quantity, an order or a not_modelled",
        ));
    }
    Ok(())
}

impl File<'_> {
    fn wrong(&self, name: &str, expected: &str) -> Error {
        Error::usage(format!("{}: '{name}'", self.path.display()), expected)
    }

    /// Two rows of one name could not be told apart.
    fn names(&self, figure: &Figure) -> Result<()> {
        let quantities = figure.quantity.iter().map(|q| q.name.clone());
        let sums =
            |q: &Quantity| -> Vec<String> { q.summaries().iter().map(|s| q.name_of(s)).collect() };
        let sums = figure.quantity.iter().flat_map(sums);
        let orders = figure.order.iter().map(|o| o.name.clone());
        let mut seen = std::collections::BTreeSet::new();
        for name in quantities.chain(sums).chain(orders) {
            if !seen.insert(name.clone()) {
                return Err(self.wrong(
                    &name,
                    "expected another name: a quantity, a sum or an order has this one",
                ));
            }
        }
        Ok(())
    }

    fn quantity(&self, quantity: &Quantity) -> Result<()> {
        let name = &quantity.name;
        self.evidence(name, quantity.evidence, &quantity.key)?;
        let names: Vec<String> = quantity.configurations().map(str::to_owned).collect();
        self.has_configurations(&names)?;
        if (quantity.metric != Metric::Value) != quantity.over.is_some() {
            return Err(self.wrong(
                name,
                "expected `over` where metric is not value, and only there",
            ));
        }
        if quantity.gap_to.is_some() && quantity.over.is_none() {
            return Err(self.wrong(name, "expected `over` beside `gap_to`"));
        }
        if let Some(ending) = &quantity.over_without {
            let beside = quantity
                .only
                .iter()
                .map(|w| w.strip_suffix(ending.as_str()));
            let beside: Option<Vec<&str>> = beside.collect();
            let Some(beside) = beside.filter(|b| !b.is_empty()) else {
                let expected = "expected `only` with workloads that end in `over_without`";
                return Err(self.wrong(name, expected));
            };
            let beside: Vec<String> = beside.into_iter().map(str::to_owned).collect();
            self.has_workloads(&beside)?;
        }
        self.has_workloads(&quantity.only)?;
        self.has_workloads(quantity.published.keys())?;
        let left_out = |w: &&String| !quantity.only.is_empty() && !quantity.only.contains(w);
        if let Some(workload) = quantity.published.keys().find(left_out) {
            let expected = format!("expected '{workload}' in `only`: it has a published value");
            return Err(self.wrong(name, &expected));
        }
        if !quantity.published.is_empty() {
            let derivation = quantity.derivation.as_deref();
            self.derivation(name, quantity.provenance, derivation)?;
        }
        if quantity.published_mean.is_some() && quantity.mean.is_none() {
            return Err(self.wrong(name, "expected `mean` beside `published_mean`"));
        }
        quantity
            .summaries()
            .iter()
            .try_for_each(|s| self.summary(quantity, s))
    }

    fn summary(&self, quantity: &Quantity, summary: &Summary) -> Result<()> {
        let name = quantity.name_of(summary);
        self.has_workloads(&summary.only)?;
        if (summary.form == Form::CountIf) != summary.condition.is_some() {
            return Err(self.wrong(
                &name,
                "expected a `condition` where form is count-if, and only there",
            ));
        }
        if summary.against.is_some() && summary.form != Form::Rank {
            return Err(self.wrong(
                &name,
                "expected `against` where form is rank, and only there",
            ));
        }
        let derivation = summary.derivation.as_deref();
        match &summary.published {
            Some(_) => self.derivation(&name, summary.provenance, derivation),
            None => Ok(()),
        }
    }

    fn order(&self, order: &Order) -> Result<()> {
        self.evidence(&order.name, order.evidence, &order.key)?;
        self.has_workloads(&order.only)?;
        self.has_configurations(&order.over)?;
        self.has_configurations(&order.of)?;
        let names: Vec<String> = order.names().into_iter().map(str::to_owned).collect();
        match order.of {
            Some(_) => self.has_workloads(&names)?,
            None => self.has_configurations(&names)?,
        }
        if !order.is_well_formed() {
            return Err(self.wrong(
                &order.name,
                "expected descending or ascending with two names or more, or most or least with `among`",
            ));
        }
        if (order.metric != Metric::Value) != order.over.is_some() {
            return Err(self.wrong(
                &order.name,
                "expected `over` where metric is not value, and only there",
            ));
        }
        if order.published_count.is_some() && (order.of.is_some() || order.mean.is_some()) {
            return Err(self.wrong(
                &order.name,
                "expected `published_count` where the order is that of each workload",
            ));
        }
        Ok(())
    }

    fn evidence(&self, name: &str, own: Option<Evidence>, key: &str) -> Result<()> {
        match own.or(self.evidence) {
            None => Err(self.wrong(
                name,
                "expected `evidence`, here or for the figure: formula, counted, timed or inferred",
            )),
            Some(Evidence::Counted) if is_read_off_a_clock(key) => Err(self.wrong(
                name,
                &format!("expected evidence timed: {key} are read off a clock"),
            )),
            Some(_) => Ok(()),
        }
    }

    /// A derived value shows how.
    fn derivation(&self, name: &str, from: Provenance, text: Option<&str>) -> Result<()> {
        let missing = text.is_none_or(|t| t.trim().is_empty());
        match from {
            Provenance::Derived if missing => Err(self.wrong(
                name,
                "expected a `derivation` (`mean_derivation` of a mean): how the value follows from printed ones",
            )),
            Provenance::None => Err(self.wrong(
                name,
                "expected provenance text, derived or prose of a published value",
            )),
            _ => Ok(()),
        }
    }

    fn has_workloads<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> Result<()> {
        self.has(("workload", &self.workloads), names)
    }

    fn has_configurations<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> Result<()> {
        self.has(("configuration", &self.configurations), names)
    }

    /// Refuses names that are not `known` as `what`.
    fn has<'n>(
        &self,
        (what, known): (&str, &[&str]),
        names: impl IntoIterator<Item = &'n String>,
    ) -> Result<()> {
        for name in names {
            if !known.contains(&name.as_str()) {
                return Err(Error::usage(
                    format!(
                        "{}: there is no {what} '{name}'{}",
                        self.path.display(),
                        did_you_mean(name, known.iter().copied())
                    ),
                    format!("expected one of: {}", known.join(", ")),
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(quantity: &str) -> String {
        let text = format!(
            "id = 'x.f1'\ntitle = 't'\nsource = 's'\nworkload = {{ a = {{}} }}\n\
             configuration = {{ base = {{}} }}\n[[quantity]]\nname = 'n'\nof = 'base'\n{quantity}"
        );
        let figure: Figure = match toml::from_str(&text) {
            Ok(figure) => figure,
            Err(e) => return e.to_string(),
        };
        match validate(&figure, Path::new("f1.toml")) {
            Ok(()) => String::new(),
            Err(e) => format!("{e:?}"),
        }
    }

    #[test]
    fn a_file_that_leaves_something_open_is_refused() {
        assert_eq!(fault("evidence = 'timed'"), "");
        for (quantity, expected) in [
            ("", "expected `evidence`"),
            ("evidence = 'counted'", "read off a clock"),
            ("evidence = 'timed'\ntolerance = 1.0", "tolerance"),
            ("evidence = 'timed'\nmetric = 'gain'", "expected `over`"),
            ("evidence = 'timed'\nonly = ['b']", "no workload 'b'"),
            (
                "evidence = 'timed'\npublished = { a = 1 }\nprovenance = 'derived'",
                "`derivation`",
            ),
            ("evidence = 'timed'\npublished_mean = 1", "`mean`"),
            (
                "evidence = 'timed'\n[[quantity]]\nname = 'n'\nof = 'base'\nevidence = 'timed'",
                "another name",
            ),
            (
                "evidence = 'timed'\n[[quantity.summary]]\nform = 'count-if'",
                "`condition`",
            ),
            (
                "evidence = 'timed'\npublished = { a = 'more' }",
                "\"up\" or \"down\"",
            ),
        ] {
            let fault = fault(quantity);
            assert!(fault.contains(expected), "{quantity}: {fault}");
        }
    }
}
