//! The errors of models without knowledge, as a scale for ours.
//!
//! *No mechanism*: every workload is unchanged. *Constant gain*: every workload
//! gets the published mean.

use super::figure::Figure;
use super::quantity::Quantity;
use super::results::Comparison;
use super::rules::Measure;
use super::sums::rank_correlation;
use serde::Serialize;

/// A quantity's errors and those of the null models, in percentage points; a
/// speed-up of 1.2 counts as 20 %.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Null {
    /// The figure.
    pub id: String,
    /// The quantity.
    pub quantity: String,
    /// Workloads with a published value; 0 where only their mean has one.
    pub values: usize,
    /// Mean absolute error of the measured values.
    pub error: f64,
    /// The error of a mechanism without any effect.
    pub no_mechanism: f64,
    /// The error of the published mean as the value of every workload, or else
    /// of the mean of at least three published values; none if only a mean is
    /// published, as this model then has it by definition.
    pub constant_gain: Option<f64>,
    /// Rank correlation of measured and published values, of three or more. The
    /// null models, which are constant, have none.
    pub rank: Option<f64>,
}

/// The errors of each quantity that compares two configurations.
pub fn nulls(figure: &Figure, results: &[Comparison]) -> Vec<Null> {
    let quantities = figure.quantity.iter();
    quantities
        .filter_map(|q| null(figure, q, results))
        .collect()
}

fn null(figure: &Figure, quantity: &Quantity, results: &[Comparison]) -> Option<Null> {
    let scale = match Measure::of(quantity.metric, &quantity.unit, None) {
        Measure::Ratio => 100.0,
        Measure::Percent | Measure::Gain => 1.0,
        _ => return None,
    };
    let neutral = quantity.neutral()?;
    let pair = |r: &Comparison| Some((r.measured?, r.published.as_ref()?.number()?));
    let of = |r: &&Comparison| r.workload.is_some() && r.quantity == quantity.name;
    let values: Vec<(f64, f64)> = results.iter().filter(of).filter_map(pair).collect();
    let summaries = quantity.summaries();
    let mean = summaries.iter().filter(|s| s.form.is_mean());
    let mut mean = mean.filter_map(|s| {
        let name = quantity.name_of(s);
        let row = results
            .iter()
            .find(|r| r.workload.is_none() && r.quantity == name);
        pair(row?)
    });
    let mean = mean.next();
    let compared = if values.is_empty() {
        vec![mean?]
    } else {
        values.clone()
    };
    let error = |model: &dyn Fn(f64) -> f64| {
        let errors = compared.iter().map(|(m, p)| (model(*m) - p).abs());
        scale * errors.sum::<f64>() / compared.len() as f64
    };
    let own_mean = values.iter().map(|v| v.1).sum::<f64>() / values.len().max(1) as f64;
    // The mean of one or two values is no model of them.
    let constant = match mean {
        Some((_, published)) => Some(published),
        None if values.len() >= 3 => Some(own_mean),
        None => None,
    };
    let constant = constant.filter(|_| !values.is_empty());
    Some(Null {
        id: figure.id.clone(),
        quantity: quantity.name.clone(),
        values: values.len(),
        error: error(&|m| m),
        no_mechanism: error(&|_| neutral),
        constant_gain: constant.map(|constant| error(&|_| constant)),
        rank: rank_correlation(values.into_iter()),
    })
}

/// Several quantities as one: each value has the same weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overall {
    /// Values, with means where only these are published.
    pub values: usize,
    /// Mean absolute error.
    pub error: f64,
    /// Mean absolute error of the values for no mechanism.
    pub no_mechanism: f64,
    /// Values of workloads.
    pub of_workloads: usize,
    /// Mean absolute error of the values of workloads alone.
    pub workload_error: f64,
    /// Mean absolute error of the values of workloads for the constant gain.
    pub constant_gain: f64,
    /// Mean rank correlation.
    pub rank: Option<f64>,
}

/// The errors over all of `nulls`.
pub fn overall(nulls: &[Null]) -> Overall {
    let mut all = Overall::default();
    let (mut ranks, mut ranked) = (0.0, 0);
    for null in nulls {
        let n = null.values.max(1);
        all.values += n;
        all.error += n as f64 * null.error;
        all.no_mechanism += n as f64 * null.no_mechanism;
        if let Some(constant) = null.constant_gain {
            all.of_workloads += n;
            all.workload_error += n as f64 * null.error;
            all.constant_gain += n as f64 * constant;
        }
        if let Some(rank) = null.rank {
            ranks += n as f64 * rank;
            ranked += n;
        }
    }
    let n = all.values.max(1) as f64;
    all.error /= n;
    all.no_mechanism /= n;
    let n = all.of_workloads.max(1) as f64;
    all.workload_error /= n;
    all.constant_gain /= n;
    all.rank = (ranked > 0).then(|| ranks / ranked as f64);
    all
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{figure, gains};
    use super::super::results::results;
    use super::*;

    const FIGURE: &str = r#"
        id = "x.f1"
        title = "t"
        source = "s"
        evidence = "timed"
        workload = { a = {}, b = {}, c = {} }
        configuration = { base = {}, new = {} }
        [[quantity]]
        name = "gain"
        metric = "gain"
        of = "new"
        over = "base"
        unit = "%"
        published = { a = 10, b = 20, c = 60 }
        mean = "arithmetic"
        published_mean = 30
    "#;

    #[test]
    fn errors_stand_beside_those_of_models_that_know_nothing() {
        let figure = figure(FIGURE);
        let table = gains(&[("a", 112.0), ("b", 118.0), ("c", 164.0)]);
        let rows = results(&figure, None, &table);
        let [null] = &nulls(&figure, &rows)[..] else {
            panic!("one quantity");
        };
        // Off by 2, 2 and 4; from 0 by 10, 20 and 60; from 30 by 20, 10 and 30.
        assert!((null.error - 8.0 / 3.0).abs() < 1e-9, "{null:?}");
        assert!((null.no_mechanism - 30.0).abs() < 1e-9);
        assert!((null.constant_gain.unwrap() - 20.0).abs() < 1e-9);
        assert_eq!((null.values, null.rank), (3, Some(1.0)));
        assert!((overall(std::slice::from_ref(null)).error - null.error).abs() < 1e-12);
    }
}
