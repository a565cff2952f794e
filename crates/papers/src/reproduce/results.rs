//! Compares the published values with those of the points.

use super::compute::Table;
use super::evidence::Evidence;
use super::figure::Figure;
use super::order::Order;
use super::published::Published;
use super::quantity::{Form, NotModelled, Provenance, Quantity, Summary};
use super::rules::Measure;
use super::sums::{Summand, extreme, of_values, sum};
use serde::{Serialize, Serializer};

mod judge;

/// The result of comparing a published value with the measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Within the tolerance, and the same way.
    Reproduced,
    /// Timed, outside of it, but the same way.
    DirectionOnly,
    /// Outside of it.
    Differs,
    /// Published, and no model gives it.
    NotModelled,
    /// Measured alone.
    NothingPublished,
}

impl Verdict {
    /// Every verdict, in the order of the page.
    pub const ALL: [Verdict; 5] = [
        Verdict::Reproduced,
        Verdict::DirectionOnly,
        Verdict::Differs,
        Verdict::NotModelled,
        Verdict::NothingPublished,
    ];

    /// Published, measured, and not within the tolerance.
    pub(super) fn is_missed(self) -> bool {
        matches!(self, Verdict::Differs | Verdict::DirectionOnly)
    }

    /// The verdict's word on the page.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::DirectionOnly => "direction only",
            Verdict::Differs => "differs",
            Verdict::NotModelled => "not modelled",
            Verdict::NothingPublished => "nothing published",
        }
    }
}

/// Serialised as its word.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// The kind of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The value of a workload.
    Exact,
    /// A value that sums up workloads.
    Mean,
    /// Whether an order holds.
    Order,
    /// The direction in which a mechanism moves it.
    Direction,
    /// Nothing.
    None,
}

/// A published value and the measured one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The figure.
    pub id: String,
    /// The quantity; means begin with `mean`.
    pub quantity: String,
    /// Name of a benchmark; none for means.
    pub workload: Option<String>,
    /// Name of the machine.
    pub machine: Option<String>,
    /// The paper's value.
    pub published: Option<Published>,
    /// Origin of the value in the paper.
    pub provenance: Provenance,
    /// How it was derived from printed values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derivation: Option<String>,
    /// The evidence of the measured value.
    pub evidence: Evidence,
    /// The models' value.
    pub measured: Option<f64>,
    /// The unit of both.
    pub unit: String,
    /// The kind of comparison.
    pub check: Check,
    /// The tolerance, by the rule for the evidence.
    pub tolerance: Option<f64>,
    /// The result of the comparison.
    pub verdict: Verdict,
    /// For a sum over fewer workloads than the paper's: the number of workloads with a
    /// value, and of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workloads: Option<[usize; 2]>,
    /// A mechanism that does nothing is as near.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_mechanism_passes: bool,
    /// Why it differs, or is not modelled.
    pub reason: Option<String>,
    /// The value for a mechanism without any effect.
    #[serde(skip)]
    pub neutral: Option<f64>,
    /// Whether the value is a count, or names a workload, so that no distance
    /// applies.
    #[serde(skip)]
    pub counts: bool,
    /// The tolerance of a timed value of its kind; none if that is a part of the value.
    #[serde(skip)]
    pub yardstick: Option<f64>,
}

/// The results of a figure. Points that are missing, as in a shard, give null.
pub fn results(figure: &Figure, machine: Option<&str>, table: &Table) -> Vec<Comparison> {
    let figure = Context {
        figure,
        machine,
        table,
    };
    let quantities = figure.figure.quantity.iter();
    let orders = figure.figure.order.iter();
    let without = figure.figure.not_modelled.iter();
    let mut all: Vec<Comparison> = quantities.flat_map(|q| figure.of_quantity(q)).collect();
    all.extend(orders.flat_map(|o| figure.of_order(o)));
    all.extend(without.map(|n| figure.not_modelled(n)));
    all
}

struct Context<'a> {
    figure: &'a Figure,
    machine: Option<&'a str>,
    table: &'a Table,
}

/// The basis of a row's comparison.
struct By<'a> {
    key: &'a str,
    measure: Measure,
}

impl Context<'_> {
    /// A row with nothing but names.
    fn row(&self, quantity: &str, workload: Option<&str>) -> Comparison {
        Comparison {
            id: self.figure.id.clone(),
            quantity: quantity.to_owned(),
            workload: workload.map(str::to_owned),
            machine: self.machine.map(str::to_owned),
            published: None,
            provenance: Provenance::None,
            derivation: None,
            evidence: Evidence::Timed,
            measured: None,
            unit: String::new(),
            check: Check::None,
            tolerance: None,
            verdict: Verdict::NothingPublished,
            workloads: None,
            no_mechanism_passes: false,
            reason: None,
            neutral: None,
            counts: false,
            yardstick: None,
        }
    }

    /// The evidence of values of some workloads: inferred, if an input of one is.
    fn evidence<'w>(
        &self,
        own: Option<Evidence>,
        workloads: impl IntoIterator<Item = &'w str>,
    ) -> Evidence {
        let inferred = |w: &str| {
            let workload = self.figure.workload.get(w);
            workload.is_some_and(|w| w.inferred.is_some())
        };
        match own.or(self.figure.evidence) {
            _ if workloads.into_iter().any(inferred) => Evidence::Inferred,
            Some(Evidence::Timed) | None if self.figure.machine_inferred.is_some() => {
                Evidence::Inferred
            }
            evidence => evidence.unwrap_or(Evidence::Timed),
        }
    }

    fn of_quantity(&self, quantity: &Quantity) -> Vec<Comparison> {
        let workloads = self.figure.workloads_of(&quantity.only);
        let mut rows: Vec<Comparison> = workloads.map(|w| self.of_workload(quantity, w)).collect();
        let sums: Vec<Comparison> = quantity
            .summaries()
            .iter()
            .map(|s| self.summed(quantity, s, &rows))
            .collect();
        rows.extend(sums);
        rows
    }

    fn of_workload(&self, quantity: &Quantity, workload: &str) -> Comparison {
        let published = quantity.published.get(workload).cloned();
        let mut result = Comparison {
            provenance: from(published.as_ref(), quantity.provenance),
            derivation: published.as_ref().and(quantity.derivation.clone()),
            published,
            evidence: self.evidence(quantity.evidence, [workload]),
            measured: self.measured(quantity, workload),
            unit: quantity.unit.clone(),
            neutral: quantity.neutral(),
            reason: quantity
                .reason
                .get(workload)
                .cloned()
                .or_else(|| self.impossible(quantity, workload)),
            ..self.row(&quantity.name, Some(workload))
        };
        let measure = Measure::of(quantity.metric, &quantity.unit, None);
        let key = &quantity.key;
        result.judge(&By { key, measure }, Check::Exact);
        result
    }

    fn summed(&self, quantity: &Quantity, summary: &Summary, rows: &[Comparison]) -> Comparison {
        let only = &summary.only;
        let takes_part = |r: &&Comparison| {
            let name = r.workload.as_ref();
            only.is_empty() || name.is_some_and(|n| only.contains(n))
        };
        let rows: Vec<&Comparison> = rows.iter().filter(takes_part).collect();
        let names = rows.iter().filter_map(|r| r.workload.as_deref());
        let with = rows.iter().filter(|r| r.measured.is_some()).count();
        let form = summary.form;
        let mut compared = summands(&rows);
        if let Some(other) = &summary.against {
            self.set_against(&mut compared, other);
        }
        let mut result = Comparison {
            published: summary.published.clone(),
            provenance: from(summary.published.as_ref(), summary.provenance),
            derivation: summary.published.as_ref().and(summary.derivation.clone()),
            evidence: self.evidence(quantity.evidence, names),
            measured: sum(form, summary.condition.as_ref(), &compared),
            unit: if form.counts() || form == Form::Rank {
                String::new()
            } else {
                quantity.unit.clone()
            },
            neutral: quantity
                .neutral()
                .filter(|_| form.is_mean() || matches!(form, Form::Max | Form::Min)),
            workloads: (with < rows.len()).then_some([with, rows.len()]),
            reason: summary.reason.clone().or_else(|| of_rows(&rows)),
            ..self.row(&quantity.name_of(summary), None)
        };
        let measure = Measure::of(quantity.metric, &quantity.unit, Some(form));
        let key = &quantity.key;
        result.judge(&By { key, measure }, Check::Mean);
        if let Some(at) = &summary.at {
            let summands = summands(&rows);
            let extreme = extreme(form, &summands);
            result.is_of(at, extreme.map(|s| s.workload));
        }
        result
    }

    /// Replaces the published values by the measured values of another quantity.
    fn set_against(&self, summands: &mut [Summand], other: &str) {
        let named = |q: &&Quantity| q.name == other;
        let other = self.figure.quantity.iter().find(named);
        for summand in summands {
            summand.published = other.and_then(|q| self.measured(q, summand.workload));
        }
    }

    fn of_order(&self, order: &Order) -> Vec<Comparison> {
        let workloads: Vec<&str> = self.figure.workloads_of(&order.only).collect();
        let number = |workload: &str, name: &str| self.number(order, workload, name);
        let holds = |result: Option<bool>| result.map(f64::from);
        if let Some(of) = &order.of {
            let measured = holds(order.holds(|w| number(w, of)));
            let evidence = self.evidence(order.evidence, order.names());
            return vec![self.order_row(order, None, evidence, measured)];
        }
        let evidence = self.evidence(order.evidence, workloads.iter().copied());
        if let Some(form) = order.mean {
            // Means are compared over the workloads that have all numbers.
            let names = order.names();
            let whole = |w: &&&str| names.iter().all(|name| number(w, name).is_some());
            let common: Vec<&&str> = workloads.iter().filter(whole).collect();
            let mean = |name: &str| {
                let values = common.iter().filter_map(|w| number(w, name));
                let values: Vec<f64> = values.collect();
                (!values.is_empty()).then(|| of_values(form, &values))?
            };
            let mut row = self.order_row(order, None, evidence, holds(order.holds(mean)));
            row.workloads =
                (common.len() < workloads.len()).then_some([common.len(), workloads.len()]);
            return vec![row];
        }
        let row = |w: &&str| {
            let evidence = self.evidence(order.evidence, [*w]);
            self.order_row(
                order,
                Some(w),
                evidence,
                holds(order.holds(|n| number(w, n))),
            )
        };
        let mut rows: Vec<Comparison> = workloads.iter().map(row).collect();
        if let Some(published) = &order.published_count {
            let measured: Option<Vec<f64>> = rows.iter().map(|r| r.measured).collect();
            let mut count = Comparison {
                published: Some(published.clone()),
                provenance: Provenance::Prose,
                derivation: order.derivation.clone(),
                evidence,
                measured: measured.map(|m| m.iter().sum()),
                reason: order.reason.get("count").cloned(),
                ..self.row(&format!("count {}", order.name), None)
            };
            let measure = Measure::Count;
            let key = &order.key;
            count.judge(&By { key, measure }, Check::Mean);
            rows.push(count);
        }
        rows
    }

    fn order_row(
        &self,
        order: &Order,
        workload: Option<&str>,
        evidence: Evidence,
        measured: Option<f64>,
    ) -> Comparison {
        let stated = order.published_count.is_none();
        let mut result = Comparison {
            published: stated.then(|| Published::number_of(1.0, 0)),
            provenance: if stated {
                Provenance::Prose
            } else {
                Provenance::None
            },
            derivation: order.derivation.clone().filter(|_| stated),
            evidence,
            measured,
            reason: order.reason.get(workload.unwrap_or("mean")).cloned(),
            ..self.row(&order.name, workload)
        };
        let measure = Measure::Count;
        let key = &order.key;
        result.judge(&By { key, measure }, Check::Order);
        result
    }

    fn not_modelled(&self, row: &NotModelled) -> Comparison {
        Comparison {
            machine: None,
            published: row.published.clone(),
            provenance: from(row.published.as_ref(), row.provenance),
            derivation: row.derivation.clone(),
            evidence: row.evidence,
            unit: row.unit.clone(),
            verdict: Verdict::NotModelled,
            reason: Some(row.reason.trim().to_owned()),
            ..self.row(&row.quantity, row.workload.as_deref())
        }
    }

    /// Why a point of the quantity has no numbers.
    fn impossible(&self, quantity: &Quantity, workload: &str) -> Option<String> {
        let of = self.cell(workload, &quantity.of)?;
        of.reason.clone()
    }

    fn cell(&self, workload: &str, configuration: &str) -> Option<&super::point::Numbers> {
        self.table
            .get(&(workload.to_owned(), configuration.to_owned()))
    }

    fn value(&self, workload: &str, configuration: &str, key: &str) -> Option<f64> {
        self.cell(workload, configuration)?.values.get(key).copied()
    }

    /// The quantity of one workload.
    fn measured(&self, quantity: &Quantity, workload: &str) -> Option<f64> {
        quantity.formed(workload, |w, configuration, key| {
            self.value(w, configuration, key)
        })
    }

    /// The number that an order compares, of a workload and a configuration.
    fn number(&self, order: &Order, workload: &str, configuration: &str) -> Option<f64> {
        let value = |configuration: &str| self.value(workload, configuration, &order.key);
        let over = order.over.as_deref().map(value);
        order.metric.formed(value(configuration)?, over)
    }
}

fn from(published: Option<&Published>, provenance: Provenance) -> Provenance {
    published.map_or(Provenance::None, |_| provenance)
}

fn summands<'a>(rows: &[&'a Comparison]) -> Vec<Summand<'a>> {
    let summand = |r: &&'a Comparison| Summand {
        workload: r.workload.as_deref().unwrap_or_default(),
        measured: r.measured,
        published: r.published.as_ref().and_then(Published::number),
    };
    rows.iter().map(summand).collect()
}

/// The rows that add nothing to a sum, and why: their own reasons say it.
fn of_rows(rows: &[&Comparison]) -> Option<String> {
    let explained = |r: &&&Comparison| r.measured == Some(0.0) && r.reason.is_some();
    let names = rows.iter().filter(explained);
    let names: Vec<&str> = names.filter_map(|r| r.workload.as_deref()).collect();
    (!names.is_empty()).then(|| format!("the causes of its rows: {}", names.join(", ")))
}

#[cfg(test)]
mod tests;
