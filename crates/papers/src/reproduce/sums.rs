//! Sums up the workloads of a quantity.

use super::quantity::{Condition, Form};

/// A workload's contribution.
pub(super) struct Summand<'a> {
    /// Name of the workload.
    pub workload: &'a str,
    /// Measured value of the workload.
    pub measured: Option<f64>,
    /// The published one, if that is a number.
    pub published: Option<f64>,
}

/// The sum of workloads that have numbers; none if none has.
pub(super) fn sum(form: Form, condition: Option<&Condition>, rows: &[Summand]) -> Option<f64> {
    let values: Vec<f64> = rows.iter().filter_map(|r| r.measured).collect();
    if values.is_empty() {
        return None;
    }
    match form {
        Form::CountIf => {
            let condition = condition?;
            Some(values.iter().filter(|v| condition.meets(**v)).count() as f64)
        }
        Form::ArgMin | Form::ArgMax => named(form, rows),
        Form::Rank => {
            let pairs = rows
                .iter()
                .filter_map(|r| Some((r.measured?, r.published?)));
            rank_correlation(pairs)
        }
        form => of_values(form, &values),
    }
}

/// Means, extremes and totals.
pub(super) fn of_values(form: Form, values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let total = || values.iter().sum::<f64>();
    let value = match form {
        Form::Arithmetic => total() / n,
        Form::Geometric => (values.iter().map(|v| v.ln()).sum::<f64>() / n).exp(),
        Form::GeometricGain => {
            let logs = values.iter().map(|v| (1.0 + v / 100.0).ln());
            100.0 * ((logs.sum::<f64>() / n).exp() - 1.0)
        }
        Form::Max => values.iter().copied().reduce(f64::max)?,
        Form::Min => values.iter().copied().reduce(f64::min)?,
        Form::Sum => total(),
        Form::ArgMin | Form::ArgMax | Form::Rank | Form::CountIf => return None,
    };
    Some(value).filter(|v| v.is_finite())
}

/// The workload with the largest value, of `Min` and `ArgMin` with the least; the first of
/// several.
pub(super) fn extreme<'a>(form: Form, rows: &'a [Summand<'a>]) -> Option<&'a Summand<'a>> {
    let sign = match form {
        Form::Min | Form::ArgMin => 1.0,
        _ => -1.0,
    };
    let with = rows.iter().filter_map(|r| Some((sign * r.measured?, r)));
    with.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, r)| r)
}

/// The number in the name of the workload with the extreme.
fn named(form: Form, rows: &[Summand]) -> Option<f64> {
    let digits = extreme(form, rows)?.workload.chars();
    let digits: String = digits.filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Spearman's rank correlation of pairs; ties share ranks. None for fewer than
/// three, or where one side is constant.
pub fn rank_correlation(pairs: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
    if a.len() < 3 {
        return None;
    }
    let (a, b) = (ranks(&a), ranks(&b));
    let centre = (a.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        let terms = a.iter().zip(b);
        terms.map(|(x, y)| (x - centre) * (y - centre)).sum()
    };
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    (scale > 0.0).then(|| product(&a, &b) / scale)
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
    use super::*;

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn correlation_is_of_ranks_and_of_three_or_more() {
        let of = |pairs: &[(f64, f64)]| rank_correlation(pairs.iter().copied());
        assert_eq!(of(&[(1.0, 10.0), (2.0, 20.0), (9.0, 21.0)]), Some(1.0));
        assert_eq!(of(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), Some(-1.0));
        assert_eq!(of(&[(1.0, 3.0), (2.0, 2.0)]), None);
        assert_eq!(of(&[(1.0, 3.0), (2.0, 3.0), (3.0, 3.0)]), None);
    }

    #[test]
    fn means_and_extremes() {
        let of = |form| of_values(form, &[1.0, 4.0]).unwrap();
        assert_eq!((of(Form::Arithmetic), of(Form::Sum)), (2.5, 5.0));
        assert_eq!((of(Form::Min), of(Form::Max)), (1.0, 4.0));
        assert!((of(Form::Geometric) - 2.0).abs() < 1e-12);
        // 0 and 300 % are ratios of 1 and 4.
        let gain = of_values(Form::GeometricGain, &[0.0, 300.0]).unwrap();
        assert!((gain - 100.0).abs() < 1e-9);
    }
}
