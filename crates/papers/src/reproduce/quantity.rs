//! Quantities that are computed from a figure's points, with the published values.

use super::evidence::Evidence;
use super::published::Published;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A computation of a number from the points of one workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The number itself.
    #[default]
    Value,
    /// `over` divided by `of`.
    SpeedUp,
    /// `of` divided by `over`.
    Ratio,
    /// `of` less `over`.
    Difference,
    /// Percent that `of` has less than `over`.
    Removed,
    /// Percent by which `over` is more than `of`: gain in speed.
    Gain,
    /// Percent of `over` that `of` has; 0 where both have none.
    Left,
    /// Percent by which `of` is more than `over`.
    Increase,
}

impl Metric {
    /// The value for a mechanism without any effect; none for the number itself.
    pub fn neutral(self) -> Option<f64> {
        match self {
            Metric::Value => None,
            Metric::SpeedUp | Metric::Ratio => Some(1.0),
            Metric::Difference | Metric::Removed | Metric::Gain | Metric::Increase => Some(0.0),
            Metric::Left => Some(100.0),
        }
    }

    /// The number of two points: that of a configuration, and that of the one it is
    /// compared with.
    pub(super) fn formed(self, of: f64, over: Option<Option<f64>>) -> Option<f64> {
        let value = match (self, over) {
            (Metric::Value, _) => of,
            (_, None) => return None,
            (Metric::SpeedUp, Some(over)) => over? / of,
            (Metric::Ratio, Some(over)) => of / over?,
            (Metric::Gain, Some(over)) => 100.0 * (over? / of - 1.0),
            (Metric::Increase, Some(over)) => 100.0 * (of / over? - 1.0),
            (Metric::Difference, Some(over)) => of - over?,
            (Metric::Left, Some(over)) => match over? {
                0.0 if of == 0.0 => 0.0,
                over => 100.0 * of / over,
            },
            // A workload with none at the start has nothing to remove.
            (Metric::Removed, Some(over)) => match over? {
                0.0 => return None,
                over => 100.0 * (1.0 - of / over),
            },
        };
        Some(value).filter(|v| v.is_finite())
    }
}

/// A way of summing up workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The sum divided by the number of workloads.
    Arithmetic,
    /// Root of the product.
    Geometric,
    /// The geometric mean of the ratios, as a percentage; for percentages.
    GeometricGain,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The sum.
    Sum,
    /// The number in the name of the workload with the smallest.
    ArgMin,
    /// The number in the name of the workload with the largest.
    ArgMax,
    /// Spearman's rank correlation of measured and published, or of two measured ones.
    Rank,
    /// Number of workloads that meet a condition.
    CountIf,
}

impl Form {
    /// The word before the quantity's name.
    pub fn word(self) -> &'static str {
        match self {
            Form::Arithmetic | Form::Geometric | Form::GeometricGain => "mean",
            Form::Max => "maximum",
            Form::Min => "minimum",
            Form::Sum => "total",
            Form::ArgMin => "least",
            Form::ArgMax => "most",
            Form::Rank => "rank correlation",
            Form::CountIf => "count",
        }
    }

    /// A mean of the values.
    pub fn is_mean(self) -> bool {
        matches!(
            self,
            Form::Arithmetic | Form::Geometric | Form::GeometricGain
        )
    }

    /// Whether the value is a count or names a workload, so that it is not in the quantity's unit.
    pub fn counts(self) -> bool {
        matches!(self, Form::ArgMin | Form::ArgMax | Form::CountIf)
    }
}

/// The origin of a published value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// A table or number of the paper.
    Text,
    /// Follows from such numbers; the `derivation` says how.
    Derived,
    /// A sentence of the paper.
    Prose,
    /// Not published as a number.
    None,
}

/// A kind of number of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// Name of the quantity, as in `mean NAME`.
    pub name: String,
    /// The evidence of its values; that of the figure if not given.
    pub evidence: Option<Evidence>,
    /// Metric that computes it.
    #[serde(default)]
    pub metric: Metric,
    /// The number of the points that it is formed from.
    #[serde(default = "cycles")]
    pub key: String,
    /// Configuration.
    pub of: String,
    /// Configuration that it is compared with.
    pub over: Option<String>,
    /// The workload to compare with is that of the name without this ending: `, padded`.
    pub over_without: Option<String>,
    /// Configuration whose own value is taken off: what `of` adds to it.
    pub less: Option<String>,
    /// The baseline of that configuration, if not `over`.
    pub less_over: Option<String>,
    /// Configuration of whose own value this is a part, in percent.
    pub part_of: Option<String>,
    /// Number of `over` that the value is to reach: how many times the value that is.
    pub gap_to: Option<String>,
    /// The value in `unit` of one that the points have: nanoseconds of a cycle, say.
    pub scale: Option<f64>,
    /// Unit of the value.
    #[serde(default)]
    pub unit: String,
    /// Workloads that take part; all if empty.
    #[serde(default)]
    pub only: Vec<String>,
    /// Published values of workloads.
    #[serde(default)]
    pub published: BTreeMap<String, Published>,
    /// Printed decimals of the values, where the numbers here do not show them.
    pub decimals: Option<u32>,
    /// The origin of the published values.
    #[serde(default = "text")]
    pub provenance: Provenance,
    /// How derived values were computed from printed ones.
    pub derivation: Option<String>,
    /// How workloads are summed up, if in one way: a `[[quantity.summary]]` in
    /// short.
    pub mean: Option<Form>,
    /// Published value of that mean.
    pub published_mean: Option<Published>,
    /// The origin of that.
    pub mean_provenance: Option<Provenance>,
    /// How it was derived from printed values.
    pub mean_derivation: Option<String>,
    /// More sums of the workloads.
    #[serde(default)]
    pub summary: Vec<Summary>,
    /// Whether its sums are from an abstract or a conclusion: the overview shows
    /// them, and the sensitivity analysis covers them.
    #[serde(default)]
    pub headline: bool,
    /// The page shows its values although no value is published.
    #[serde(default)]
    pub show: bool,
    /// Why a workload, or `mean`, differs.
    #[serde(default)]
    pub reason: BTreeMap<String, String>,
}

/// A number that sums up the workloads of a quantity.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Form of the sum.
    pub form: Form,
    /// Name of the summary; FORM QUANTITY if not given.
    pub name: Option<String>,
    /// The workloads; all of the quantity if empty.
    #[serde(default)]
    pub only: Vec<String>,
    /// For `max` and `min`: the workload of the extreme in the paper.
    pub at: Option<String>,
    /// For `rank`: the quantity whose measured values replace the published ones.
    pub against: Option<String>,
    /// For `count-if`: `> 1`, `<= 0`, `= 100`.
    pub condition: Option<Condition>,
    /// Published value of the summary.
    pub published: Option<Published>,
    /// The origin of that.
    #[serde(default = "prose")]
    pub provenance: Provenance,
    /// How it was derived from printed values.
    pub derivation: Option<String>,
    /// Why it differs.
    pub reason: Option<String>,
}

/// A comparison with a constant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Condition {
    relation: Relation,
    value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

const RELATIONS: [(&str, Relation); 5] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("<", Relation::Less),
    (">", Relation::More),
    ("=", Relation::Equal),
];

impl TryFrom<String> for Condition {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parsed = RELATIONS.iter().find_map(|&(sign, relation)| {
            let value = text.trim().strip_prefix(sign)?.trim().parse().ok()?;
            Some(Condition { relation, value })
        });
        parsed.ok_or_else(|| {
            format!("condition '{text}': expected <, <=, =, >= or > and a number, as \"> 1\"")
        })
    }
}

impl Condition {
    /// Whether a value meets it; values that only rounding separates are equal.
    pub fn meets(&self, value: f64) -> bool {
        let close = (value - self.value).abs() <= 1e-9 * self.value.abs().max(1.0);
        match self.relation {
            Relation::Less => value < self.value && !close,
            Relation::AtMost => value < self.value || close,
            Relation::Equal => close,
            Relation::AtLeast => value > self.value || close,
            Relation::More => value > self.value && !close,
        }
    }
}

/// A published value that no model gives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotModelled {
    /// The published quantity.
    pub quantity: String,
    /// Workload of the value.
    pub workload: Option<String>,
    /// The value; none where only a drawing has it.
    pub published: Option<Published>,
    /// Unit of the value.
    #[serde(default)]
    pub unit: String,
    /// Origin of the value.
    #[serde(default = "text")]
    pub provenance: Provenance,
    /// The evidence that a measurement of it would be.
    #[serde(default = "timed")]
    pub evidence: Evidence,
    /// How it was derived from printed values.
    pub derivation: Option<String>,
    /// Why no model gives it.
    pub reason: String,
}

fn cycles() -> String {
    "cycles".to_owned()
}

fn text() -> Provenance {
    Provenance::Text
}

fn prose() -> Provenance {
    Provenance::Prose
}

fn timed() -> Evidence {
    Evidence::Timed
}

impl Quantity {
    /// The value for a mechanism without any effect; none for the number itself, and for
    /// a part of another mechanism's effect.
    pub fn neutral(&self) -> Option<f64> {
        let own = self.metric.neutral().filter(|_| self.part_of.is_none());
        match self.less {
            Some(_) => own.and(Some(0.0)),
            None => own,
        }
    }

    /// Every configuration that the quantity is computed from.
    pub fn configurations(&self) -> impl Iterator<Item = &str> {
        let more = [&self.over, &self.less, &self.less_over, &self.part_of];
        let more = more.into_iter().filter_map(|name| name.as_deref());
        std::iter::once(self.of.as_str()).chain(more)
    }

    /// The value of a workload, of `value` of a workload, a configuration and a key.
    pub(super) fn formed(
        &self,
        workload: &str,
        value: impl Fn(&str, &str, &str) -> Option<f64>,
    ) -> Option<f64> {
        let number = |workload: &str, name: &str| value(workload, name, &self.key);
        let beside = match &self.over_without {
            Some(ending) => workload.strip_suffix(ending.as_str())?,
            None => workload,
        };
        let formed = |name: &str, over: Option<&str>| {
            let over = over.map(|over| number(beside, over));
            self.metric.formed(number(workload, name)?, over)
        };
        let over = self.over.as_deref();
        let mut own = formed(&self.of, over)?;
        if let Some(less) = &self.less {
            own -= formed(less, self.less_over.as_deref().or(over))?;
        }
        if let Some(whole) = &self.part_of {
            own *= 100.0 / formed(whole, over)?;
        }
        if let Some(key) = &self.gap_to {
            own = value(beside, over?, key)? / own;
        }
        let own = own * self.scale.unwrap_or(1.0);
        Some(own).filter(|v| v.is_finite())
    }

    /// Every summary of the quantity's workloads.
    pub fn summaries(&self) -> Vec<Summary> {
        let short = self.mean.map(|form| Summary {
            form,
            name: None,
            only: Vec::new(),
            at: None,
            against: None,
            condition: None,
            published: self.published_mean.clone(),
            provenance: self.mean_provenance.unwrap_or(self.provenance),
            derivation: self.mean_derivation.clone(),
            reason: self.reason.get("mean").cloned(),
        });
        short.into_iter().chain(self.summary.clone()).collect()
    }

    /// The name of a summary in results.
    pub fn name_of(&self, summary: &Summary) -> String {
        let name = || format!("{} {}", summary.form.word(), self.name);
        summary.name.clone().unwrap_or_else(name)
    }

    /// Takes the printed decimals from the text of the data file.
    pub(super) fn resolve(&mut self, text: &str) {
        let decimals = self.decimals;
        let workloads = self.published.values_mut();
        workloads.for_each(|p| p.resolve(text, decimals));
        let sums = self.summary.iter_mut().filter_map(|s| s.published.as_mut());
        sums.chain(self.published_mean.as_mut())
            .for_each(|p| p.resolve(text, None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_a_relation_and_a_number() {
        let of = |text: &str| Condition::try_from(text.to_owned());
        assert!(of("> 1").unwrap().meets(1.1));
        assert!(!of("> 1").unwrap().meets(1.0 + 1e-12));
        assert!(of(">=1").unwrap().meets(1.0));
        assert!(of("= 100").unwrap().meets(100.0));
        assert!(!of("<= 0").unwrap().meets(0.5));
        assert!(of("about 1").unwrap_err().contains("\"> 1\""));
    }
}
