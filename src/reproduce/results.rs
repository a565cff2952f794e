//! What the points say about the published values.

use super::compute::Table;
use super::figure::{Check, Figure, Mean, Metric, Provenance, Quantity};
use serde::Serialize;

/// How a published value and the measured one stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// Within the tolerance.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// Outside of it.
    #[serde(rename = "differs")]
    Differs,
    /// Nothing to compare, or nothing that a model gives.
    #[serde(rename = "not reproducible")]
    NotReproducible,
}

/// One published value beside the measured one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Result {
    /// The figure.
    pub id: String,
    /// The quantity; means begin with `mean`.
    pub quantity: String,
    /// Name of a benchmark; none for means.
    pub workload: Option<String>,
    /// Name of the machine.
    pub machine: Option<String>,
    /// What the paper has.
    pub published: Option<f64>,
    /// Where it has it.
    pub provenance: Provenance,
    /// What the models have.
    pub measured: Option<f64>,
    /// Of both.
    pub unit: String,
    /// How they are compared.
    pub check: Check,
    /// Absolute; for curves a part of the published value; for orders the least.
    pub tolerance: Option<f64>,
    /// What comes of it.
    pub verdict: Verdict,
    /// Why it differs, or cannot be reproduced.
    pub reason: Option<String>,
}

/// All results of a figure. Points that are missing, as in a shard, give null.
pub fn results(figure: &Figure, machine: Option<&str>, table: &Table) -> Vec<Result> {
    if let Some(reason) = &figure.not_reproducible {
        return vec![unreproducible(figure, reason)];
    }
    let of = |quantity| of_quantity(figure, quantity, machine, table);
    figure.quantity.iter().flat_map(of).collect()
}

fn unreproducible(figure: &Figure, reason: &str) -> Result {
    Result {
        id: figure.id.clone(),
        quantity: figure.title.clone(),
        workload: None,
        machine: None,
        published: None,
        provenance: Provenance::None,
        measured: None,
        unit: String::new(),
        check: Check::None,
        tolerance: None,
        verdict: Verdict::NotReproducible,
        reason: Some(reason.trim().to_owned()),
    }
}

fn of_quantity(
    figure: &Figure,
    quantity: &Quantity,
    machine: Option<&str>,
    table: &Table,
) -> Vec<Result> {
    let row = |workload: &str| {
        let published = quantity.published.get(workload).copied();
        let mut result = Result {
            id: figure.id.clone(),
            quantity: quantity.name.clone(),
            workload: Some(workload.to_owned()),
            machine: machine.map(str::to_owned),
            published,
            provenance: published.map_or(Provenance::None, |_| quantity.provenance),
            measured: measured(quantity, workload, table),
            unit: quantity.unit.clone(),
            check: published.map_or(Check::None, |_| quantity.check),
            tolerance: published.and(quantity.tolerance),
            verdict: Verdict::NotReproducible,
            reason: quantity
                .reason
                .get(workload)
                .cloned()
                .or_else(|| impossible(quantity, workload, table)),
        };
        result.judge();
        result
    };
    let mut rows: Vec<Result> = figure.workloads_of(quantity).map(row).collect();
    if let Some(mean) = quantity.mean {
        let mean = summed(figure, quantity, machine, &rows, mean);
        rows.push(mean);
    }
    rows
}

fn summed(
    figure: &Figure,
    quantity: &Quantity,
    machine: Option<&str>,
    rows: &[Result],
    mean: Mean,
) -> Result {
    let mut result = Result {
        id: figure.id.clone(),
        quantity: format!("{} {}", mean.word(), quantity.name),
        workload: None,
        machine: machine.map(str::to_owned),
        published: quantity.published_mean,
        provenance: match quantity.published_mean {
            Some(_) => quantity.mean_provenance.unwrap_or(quantity.provenance),
            None => Provenance::None,
        },
        measured: mean_of(rows, mean),
        unit: quantity.unit.clone(),
        check: quantity.mean_check,
        tolerance: quantity.mean_tolerance,
        verdict: Verdict::NotReproducible,
        reason: quantity
            .reason
            .get("mean")
            .cloned()
            .or_else(|| of_rows(rows)),
    };
    result.judge();
    result
}

/// The reasons of the rows that add nothing to a sum.
fn of_rows(rows: &[Result]) -> Option<String> {
    let without = rows.iter().filter(|r| r.measured == Some(0.0));
    let reason = |r: &Result| {
        let reason = r.reason.as_deref().filter(|r| *r != UNPUBLISHED)?;
        Some(format!("{}: {reason}", r.workload.as_deref()?))
    };
    let reasons: Vec<String> = without.filter_map(reason).collect();
    (!reasons.is_empty()).then(|| reasons.join(". "))
}

const UNPUBLISHED: &str = "no value stands in the text of the paper";

impl Result {
    fn judge(&mut self) {
        let tolerance = self.tolerance.unwrap_or(0.0);
        let near = |a: f64, b: f64, t: f64| (a - b).abs() <= t + 1e-9;
        let agrees = match (self.check, self.published, self.measured) {
            (Check::None, ..) | (_, _, None) => None,
            (Check::Order, _, Some(m)) => Some(m >= tolerance),
            (_, None, _) => None,
            (Check::Exact | Check::Mean, Some(p), Some(m)) => Some(near(m, p, tolerance)),
            (Check::Curve, Some(p), Some(m)) => Some(near(m, p, tolerance * p.abs())),
        };
        self.verdict = match agrees {
            Some(true) => Verdict::Reproduced,
            Some(false) => Verdict::Differs,
            None => Verdict::NotReproducible,
        };
        if agrees.is_none() && self.reason.is_none() {
            self.reason = Some(match (self.published, self.measured) {
                (_, None) => "not computed".to_owned(),
                _ => UNPUBLISHED.to_owned(),
            });
        }
        if agrees == Some(true) {
            self.reason = None;
        }
    }
}

/// Why a point of the quantity has no numbers.
fn impossible(quantity: &Quantity, workload: &str, table: &Table) -> Option<String> {
    let of = table.get(&(workload.to_owned(), quantity.of.clone()))?;
    of.reason.clone()
}

/// The quantity of one workload.
fn measured(quantity: &Quantity, workload: &str, table: &Table) -> Option<f64> {
    let number = |configuration: &str| {
        let numbers = table.get(&(workload.to_owned(), configuration.to_owned()))?;
        numbers.values.get(&quantity.key).copied()
    };
    let of = number(&quantity.of)?;
    let over = quantity.over.as_deref().map(number);
    match (quantity.metric, over) {
        (Metric::Value, _) => Some(of),
        (Metric::SpeedUp, Some(over)) => Some(over? / of),
        (Metric::Ratio, Some(over)) => Some(of / over?),
        (Metric::Gain, Some(over)) => Some(100.0 * (over? / of - 1.0)),
        (Metric::Increase, Some(over)) => Some(100.0 * (of / over? - 1.0)),
        (Metric::Difference, Some(over)) => Some(of - over?),
        (Metric::Left, Some(over)) => Some(match over? {
            0.0 if of == 0.0 => 0.0,
            over => 100.0 * of / over,
        }),
        // What has none to begin with has nothing to lose.
        (Metric::Removed, Some(over)) => match over? {
            0.0 => None,
            over => Some(100.0 * (1.0 - of / over)),
        },
        (_, None) => None,
    }
    .filter(|v| v.is_finite())
}

fn mean_of(rows: &[Result], mean: Mean) -> Option<f64> {
    let values: Vec<f64> = rows.iter().filter_map(|r| r.measured).collect();
    let n = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    match mean {
        Mean::Arithmetic => Some(values.iter().sum::<f64>() / n),
        Mean::Geometric => Some((values.iter().map(|v| v.ln()).sum::<f64>() / n).exp()),
        Mean::GeometricGain => {
            let logs = values.iter().map(|v| (1.0 + v / 100.0).ln());
            Some(100.0 * ((logs.sum::<f64>() / n).exp() - 1.0))
        }
        Mean::Max => values.iter().copied().reduce(f64::max),
        Mean::Sum => Some(values.iter().sum()),
        Mean::ArgMin => {
            let least = rows.iter().filter(|r| r.measured.is_some());
            let least = least.min_by(|a, b| {
                a.measured
                    .partial_cmp(&b.measured)
                    .unwrap_or(std::cmp::Ordering::Equal)
            })?;
            let digits = least
                .workload
                .as_ref()?
                .chars()
                .filter(char::is_ascii_digit);
            digits.collect::<String>().parse().ok()
        }
        Mean::Rank => rank_correlation(rows),
    }
}

/// Spearman's rank correlation of measured and published; ties share ranks.
fn rank_correlation(rows: &[Result]) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|r| Some((r.measured?, r.published?)))
        .collect();
    if pairs.len() < 3 {
        return None;
    }
    let measured = ranks(&pairs.iter().map(|p| p.0).collect::<Vec<_>>());
    let published = ranks(&pairs.iter().map(|p| p.1).collect::<Vec<_>>());
    let centre = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(x, y)| (x - centre) * (y - centre))
            .sum()
    };
    let scale = (product(&measured, &measured) * product(&published, &published)).sqrt();
    (scale > 0.0).then(|| product(&measured, &published) / scale)
}

/// The rank of each value, from 1; equal values have the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |v: &f64| {
        let below = values.iter().filter(|w| *w < v).count() as f64;
        let equal = values.iter().filter(|w| *w == v).count() as f64;
        below + (equal + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::super::point::Numbers;
    use super::*;

    fn figure(text: &str) -> Figure {
        toml::from_str(text).unwrap()
    }

    fn table(cells: &[(&str, &str, f64)]) -> Table {
        let cell = |&(w, c, cycles): &(&str, &str, f64)| {
            let mut numbers = Numbers::default();
            numbers.values.insert("cycles".into(), cycles);
            ((w.to_owned(), c.to_owned()), numbers)
        };
        cells.iter().map(cell).collect()
    }

    const TWO: &str = r#"
        id = "x.f1"
        title = "t"
        source = "s"
        [workload.a]
        input = "a"
        [workload.b]
        input = "b"
        [configuration.base]
        [configuration.new]
        [[quantity]]
        name = "speed-up"
        metric = "speed-up"
        of = "new"
        over = "base"
        mean = "geometric"
        published = { a = 2.0 }
        check = "exact"
        tolerance = 0.1
        published_mean = 4.0
        mean_tolerance = 0.5
    "#;

    #[test]
    fn a_value_within_its_tolerance_is_reproduced_and_means_are_of_the_rows() {
        let cells = [
            ("a", "base", 20.0),
            ("a", "new", 10.0),
            ("b", "base", 80.0),
            ("b", "new", 10.0),
        ];
        let results = results(&figure(TWO), None, &table(&cells));
        assert_eq!(results.len(), 3);
        assert_eq!(
            (results[0].measured, results[0].verdict),
            (Some(2.0), Verdict::Reproduced)
        );
        assert_eq!(results[1].verdict, Verdict::NotReproducible);
        assert!((results[2].measured.unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(results[2].quantity, "mean speed-up");
        assert_eq!(results[2].verdict, Verdict::Reproduced);
    }

    #[test]
    fn a_value_outside_its_tolerance_differs() {
        let cells = [
            ("a", "base", 22.0),
            ("a", "new", 10.0),
            ("b", "base", 10.0),
            ("b", "new", 10.0),
        ];
        let results = results(&figure(TWO), None, &table(&cells));
        assert_eq!(results[0].verdict, Verdict::Differs);
        assert_eq!(results[2].verdict, Verdict::Differs);
    }

    #[test]
    fn a_missing_point_is_no_number() {
        let results = results(&figure(TWO), None, &table(&[("a", "new", 10.0)]));
        assert!(results.iter().all(|r| r.measured.is_none()));
        assert_eq!(results[0].reason.as_deref(), Some("not computed"));
    }

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }
}
