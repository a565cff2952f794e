//! The verdict of a row.

use super::super::evidence::Evidence;
use super::super::published::{Published, sign};
use super::super::quantity::Provenance;
use super::super::rules::{Measure, Rule, Width, rule};
use super::{By, Check, Comparison, Verdict};

/// Why a value that has a model has no measured one.
const NOT_COMPUTED: &str = "not computed";

impl Comparison {
    /// Whether the value has a model, but this run, a shard or an incomplete merge,
    /// did not compute it.
    pub fn is_not_computed(&self) -> bool {
        self.measured.is_none() && self.reason.as_deref() == Some(NOT_COMPUTED)
    }

    /// The published value is not printed: it follows from printed ones.
    pub fn is_derived(&self) -> bool {
        self.published.is_some() && self.provenance == Provenance::Derived
    }

    /// Compares the two by the rule of the evidence.
    pub(super) fn judge(&mut self, by: &By, check: Check) {
        let Some(published) = self.published.clone() else {
            return;
        };
        self.check = match published.number() {
            Some(_) => check,
            None => Check::Direction,
        };
        self.counts = by.measure == Measure::Count;
        let timed = rule(Evidence::Timed, by.key, by.measure);
        let from = published.number().or(self.neutral).unwrap_or(0.0);
        self.yardstick = match timed.width {
            Width::Part(_) => None,
            _ => Some(timed.tolerance(from, published.decimals())),
        };
        let rule = rule(self.evidence, by.key, by.measure);
        self.tolerance = published
            .number()
            .map(|p| rule.tolerance(p, published.decimals()));
        let Some(measured) = self.measured else {
            self.verdict = Verdict::NotModelled;
            self.reason.get_or_insert_with(|| NOT_COMPUTED.to_owned());
            return;
        };
        self.verdict = self.verdict_of(measured, &published, rule);
        self.no_mechanism_passes = match (self.neutral, published.number(), self.tolerance) {
            (Some(neutral), Some(p), Some(tolerance)) => near(neutral, p, tolerance),
            _ => false,
        };
        if self.verdict == Verdict::Reproduced {
            self.reason = None;
        }
    }

    /// An extreme that is published of `at` is reproduced only if it is of that here, too.
    pub(super) fn is_of(&mut self, at: &str, found: Option<&str>) {
        let Some(found) = found.filter(|found| *found != at) else {
            return;
        };
        if self.verdict == Verdict::Reproduced {
            self.verdict = Verdict::DirectionOnly;
        }
        let place = format!("published of {at}, here of {found}");
        self.reason = Some(match self.reason.take() {
            Some(reason) => format!("{place}; {reason}"),
            None => place,
        });
    }

    fn verdict_of(&self, measured: f64, published: &Published, rule: &Rule) -> Verdict {
        // A value that stands alone goes up or down from 0.
        let neutral = self.neutral.unwrap_or(0.0);
        let direction = published.direction(neutral);
        // A change that the printed decimals would not show is none.
        let same_way = sign(measured - neutral, published.resolution()) == direction;
        let (Some(p), Some(tolerance)) = (published.number(), self.tolerance) else {
            return if same_way {
                Verdict::Reproduced
            } else {
                Verdict::Differs
            };
        };
        let within = near(measured, p, tolerance);
        let judges_direction = rule.needs_direction() && self.neutral.is_some() && direction != 0;
        match (within, judges_direction, same_way) {
            (true, true, false) => Verdict::Differs,
            (true, ..) => Verdict::Reproduced,
            (false, true, true) => Verdict::DirectionOnly,
            (false, ..) => Verdict::Differs,
        }
    }
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance + 1e-9 * b.abs().max(1.0)
}
