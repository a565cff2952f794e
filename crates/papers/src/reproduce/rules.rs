//! The tolerances between measured and published values: one table for all
//! figures, which no figure can change.

use super::evidence::Evidence;
use super::published::half_unit;
use super::quantity::{Form, Metric};

/// The kind of compared number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A count of workloads, or the workload with the largest value.
    Count,
    /// Times: a speed-up.
    Ratio,
    /// Percent by which something changes: a gain.
    Gain,
    /// Percent of another value that goes or stays: stalls removed.
    Percent,
    /// Anything else: cycles, IPC.
    Absolute,
}

impl Measure {
    /// Every measure.
    pub const ALL: [Measure; 5] = [
        Measure::Count,
        Measure::Ratio,
        Measure::Gain,
        Measure::Percent,
        Measure::Absolute,
    ];

    /// The measure of a value of `metric` in `unit`, summed up by `form`.
    pub fn of(metric: Metric, unit: &str, form: Option<Form>) -> Self {
        match (form, metric, unit) {
            (Some(form), ..) if form.counts() => Measure::Count,
            (_, Metric::Gain | Metric::Increase, "%") => Measure::Gain,
            // A value in percent of something fixed is one as any other.
            (_, Metric::Value, "%") => Measure::Absolute,
            (_, _, "%") => Measure::Percent,
            (_, Metric::SpeedUp | Metric::Ratio, _) | (_, _, "x") => Measure::Ratio,
            _ => Measure::Absolute,
        }
    }
}

/// The measure of a value; `neutral` is the value for a mechanism without any
/// effect, if there is one.
pub fn value_measure(neutral: Option<f64>, unit: &str) -> Measure {
    match (neutral, unit) {
        (_, "%") => Measure::Percent,
        (Some(1.0), _) | (_, "x") => Measure::Ratio,
        _ => Measure::Absolute,
    }
}

/// A tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// Half a unit of the last decimal that the paper prints.
    Rounding,
    /// A part of the published value.
    Part(f64),
    /// An absolute number of percentage points.
    Points(f64),
    /// For a change: percentage points, or a part of the change if that is more.
    /// A speed-up of 1.24 is a change of 24 %.
    Change {
        /// Percentage points.
        points: f64,
        /// Part of the change.
        part: f64,
        /// One percentage point in the unit of the value: 1 for percentages, 0.01 for ratios.
        point: f64,
        /// No change: 0 of percents, 1 of ratios.
        neutral: f64,
    },
}

/// The width of changes, whether they are written as percents or as ratios.
const fn change(point: f64, neutral: f64) -> Width {
    Width::Change {
        points: 3.0,
        part: 0.10,
        point,
        neutral,
    }
}

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Evidence of the values that the rule is for.
    pub evidence: Evidence,
    /// Measures of the values that the rule is for.
    pub measures: &'static [Measure],
    /// Name of these values on the page.
    pub what: &'static str,
    /// Tolerance of these values.
    pub width: Width,
    /// Why that far.
    pub reason: &'static str,
}

/// The rules. Inferred values have the rule that they would have without the
/// fitted input. None depends on a figure, and no data file can change one.
pub const RULES: [Rule; 8] = [
    Rule {
        evidence: Evidence::Formula,
        measures: &Measure::ALL,
        what: "any value",
        width: Width::Rounding,
        reason: "both sides evaluate the same formula, so that only rounding is left",
    },
    Rule {
        evidence: Evidence::Counted,
        measures: &Measure::ALL,
        what: "any value",
        width: Width::Rounding,
        reason: "the same accesses have the same count on any correct model",
    },
    Rule {
        evidence: Evidence::Timed,
        measures: &[Measure::Ratio],
        what: "ratio (speed-up, normalised time)",
        width: change(0.01, 1.0),
        reason: "as a percent of change: 1.24 times is a gain of 24 %",
    },
    Rule {
        evidence: Evidence::Timed,
        measures: &[Measure::Gain],
        what: "percent of change (gain)",
        width: change(1.0, 0.0),
        reason: "both runs are of one simulator, so most of its differences cancel",
    },
    Rule {
        evidence: Evidence::Timed,
        measures: &[Measure::Percent],
        what: "percent that goes or stays (stalls removed)",
        width: Width::Points(3.0),
        reason: "the same points as for a change",
    },
    Rule {
        evidence: Evidence::Timed,
        measures: &[Measure::Absolute],
        what: "cycles, IPC, shares, and other absolute values",
        width: Width::Part(0.10),
        reason: "the same part as of a change",
    },
    Rule {
        evidence: Evidence::Timed,
        measures: &[Measure::Count],
        what: "number of workloads, place of an extreme, order",
        width: Width::Rounding,
        reason: "whole numbers and orders are right or wrong",
    },
    Rule {
        evidence: Evidence::Identity,
        measures: &Measure::ALL,
        what: "any value",
        width: Width::Rounding,
        reason: "the kit takes this value from the paper: a check of the copy, no evidence",
    },
];

/// Whether a number of a point is cycles, or made of them; a simulation counts
/// all others.
pub fn is_read_off_a_clock(key: &str) -> bool {
    let begins = ["stalls", "phase.", "progress."];
    let names = ["cycles", "masked_cycles", "ipc", "thread_ipc"];
    names.contains(&key) || begins.iter().any(|b| key.starts_with(b))
}

/// The kind of a value without its fitted input: that of the key, where the
/// data say that it is inferred.
fn underlying(evidence: Evidence, key: &str) -> Evidence {
    match evidence {
        Evidence::Inferred if is_read_off_a_clock(key) => Evidence::Timed,
        Evidence::Inferred => Evidence::Counted,
        other => other,
    }
}

/// The rule of a value.
pub fn rule(evidence: Evidence, key: &str, measure: Measure) -> &'static Rule {
    let evidence = underlying(evidence, key);
    let fits = |r: &&Rule| r.evidence == evidence && r.measures.contains(&measure);
    // Every pair has a rule: `rules_cover_every_value`.
    RULES.iter().find(fits).unwrap_or(&RULES[0])
}

impl Rule {
    /// The absolute distance for a published value with this many decimals.
    pub fn tolerance(&self, published: f64, decimals: u32) -> f64 {
        match self.width {
            Width::Rounding => half_unit(decimals),
            Width::Part(part) => part * published.abs(),
            Width::Points(points) => points,
            Width::Change {
                points,
                part,
                point,
                neutral,
            } => (point * points).max(part * (published - neutral).abs()),
        }
    }

    /// Whether a change must also go the published way.
    pub fn needs_direction(&self) -> bool {
        self.evidence == Evidence::Timed
    }

    /// The width as the page has it.
    pub fn width_text(&self) -> String {
        match self.width {
            Width::Rounding => "half a unit of the last printed decimal".to_owned(),
            Width::Part(part) => format!("{} % of the published value", (100.0 * part).round()),
            Width::Points(points) => format!("{points} percentage points"),
            Width::Change { points, part, .. } => {
                let part = (100.0 * part).round();
                format!("{points} percentage points, or {part} % of the change if that is more")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_cover_every_value() {
        for evidence in Evidence::ALL {
            for measure in Measure::ALL {
                for key in ["cycles", "bank_conflicts"] {
                    let rule = rule(evidence, key, measure);
                    assert_eq!(rule.evidence, underlying(evidence, key));
                    assert!(rule.measures.contains(&measure));
                    assert!(rule.reason.len() > 20);
                }
            }
        }
    }

    /// A part of 0.04 % that is 0.004 % here is another part.
    #[test]
    fn a_share_may_be_off_by_a_part_of_itself() {
        let share = Measure::of(Metric::Value, "%", None);
        let rule = rule(Evidence::Timed, "area", share);
        assert!((rule.tolerance(0.04, 2) - 0.004).abs() < 1e-12);
        assert_eq!(Measure::of(Metric::Removed, "%", None), Measure::Percent);
    }

    #[test]
    fn tolerances_are_those_of_the_table() {
        let of = |evidence, measure, published, decimals| {
            rule(evidence, "cycles", measure).tolerance(published, decimals)
        };
        assert_eq!(of(Evidence::Counted, Measure::Percent, 96.0, 0), 0.5);
        assert!((of(Evidence::Formula, Measure::Absolute, 3.08, 2) - 0.005).abs() < 1e-12);
        // A gain of 24 % and 1.24 times may be off by as much, and so may 50 %.
        assert!((of(Evidence::Timed, Measure::Ratio, 1.24, 2) - 0.03).abs() < 1e-12);
        assert_eq!(of(Evidence::Timed, Measure::Gain, 24.0, 0), 3.0);
        assert!((of(Evidence::Timed, Measure::Ratio, 1.50, 2) - 0.05).abs() < 1e-12);
        assert_eq!(of(Evidence::Timed, Measure::Gain, 50.0, 0), 5.0);
        assert_eq!(of(Evidence::Timed, Measure::Percent, 13.3, 1), 3.0);
        assert_eq!(of(Evidence::Timed, Measure::Count, 14.0, 0), 0.5);
        // The fitted input changes what a value is worth, not how near it must be.
        let inferred = rule(Evidence::Inferred, "bank_conflicts", Measure::Percent);
        assert_eq!(inferred.tolerance(96.0, 0), 0.5);
    }
}
