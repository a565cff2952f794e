//! Statements about which of several is larger: `A > B > C`.

use super::evidence::Evidence;
use super::published::Published;
use super::quantity::{Form, Metric};
use serde::Deserialize;

/// An ordering that a paper states. It holds (1) or not (0): for each workload,
/// for the means over them, or among the workloads with one configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The statement, as in `count NAME`.
    pub name: String,
    /// Evidence of the statement; that of the figure if not given.
    pub evidence: Option<Evidence>,
    /// Metric that forms the numbers.
    #[serde(default)]
    pub metric: Metric,
    /// The number of the points that they are formed from.
    #[serde(default = "cycles")]
    pub key: String,
    /// Configuration that each is compared with.
    pub over: Option<String>,
    /// The configuration, where workloads are ordered and not configurations.
    pub of: Option<String>,
    /// Names from the largest number to the smallest.
    #[serde(default)]
    pub descending: Vec<String>,
    /// Names from the smallest number to the largest.
    #[serde(default)]
    pub ascending: Vec<String>,
    /// Instead of an order: none of `among` has more than this one.
    pub most: Option<String>,
    /// None of `among` has less.
    pub least: Option<String>,
    /// The compared names.
    #[serde(default)]
    pub among: Vec<String>,
    /// Equal neighbours keep an order.
    #[serde(default)]
    pub ties: bool,
    /// Workloads that take part; all if empty.
    #[serde(default)]
    pub only: Vec<String>,
    /// The order is that of the means over the workloads: one row.
    pub mean: Option<Form>,
    /// The paper states for how many workloads it holds, and not for which.
    pub published_count: Option<Published>,
    /// How it was derived from printed values.
    pub derivation: Option<String>,
    /// Why it does not hold, by workload; `mean` and `count` for the one row.
    #[serde(default)]
    pub reason: std::collections::BTreeMap<String, String>,
}

fn cycles() -> String {
    "cycles".to_owned()
}

impl Order {
    /// Configurations, or workloads, that are compared.
    pub fn names(&self) -> Vec<&str> {
        let ends = self.most.iter().chain(&self.least);
        let lists = self.descending.iter().chain(&self.ascending);
        let all = lists.chain(ends).chain(&self.among);
        all.map(String::as_str).collect()
    }

    /// Exactly one of the ways to state an order is used.
    pub(super) fn is_well_formed(&self) -> bool {
        let lists = [&self.descending, &self.ascending];
        let ends = [&self.most, &self.least];
        let ways = lists.iter().filter(|l| l.len() > 1).count();
        let ways = ways + ends.iter().filter(|e| e.is_some()).count();
        let among = ends.iter().any(|e| e.is_some()) != self.among.is_empty();
        ways == 1 && among && lists.iter().all(|l| l.len() != 1)
    }

    /// Whether the numbers are in the order; none if one is missing.
    pub fn holds(&self, number: impl Fn(&str) -> Option<f64>) -> Option<bool> {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0);
        let more = |a: f64, b: f64| if near(a, b) { self.ties } else { a > b };
        let chain = |names: &[String]| -> Option<bool> {
            let values: Option<Vec<f64>> = names.iter().map(|n| number(n)).collect();
            Some(values?.windows(2).all(|w| more(w[0], w[1])))
        };
        if !self.descending.is_empty() {
            return chain(&self.descending);
        }
        if !self.ascending.is_empty() {
            let reversed: Vec<String> = self.ascending.iter().rev().cloned().collect();
            return chain(&reversed);
        }
        let others: Option<Vec<f64>> = self.among.iter().map(|n| number(n)).collect();
        let one = number(self.most.as_ref().or(self.least.as_ref())?)?;
        let sign = if self.most.is_some() { 1.0 } else { -1.0 };
        let beats = |other: &f64| near(one, *other) || sign * one > sign * other;
        Some(others?.iter().all(beats))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(text: &str) -> Order {
        toml::from_str(&format!("name = \"n\"\n{text}")).unwrap()
    }

    fn number(name: &str) -> Option<f64> {
        let numbers = [("a", 3.0), ("b", 2.0), ("c", 2.0), ("d", 1.0)];
        numbers.iter().find(|n| n.0 == name).map(|n| n.1)
    }

    #[test]
    fn an_order_holds_or_not_and_ties_count_where_they_may() {
        let holds = |text: &str| order(text).holds(number);
        assert_eq!(holds("descending = ['a', 'b', 'd']"), Some(true));
        assert_eq!(holds("descending = ['a', 'b', 'c']"), Some(false));
        assert_eq!(
            holds("descending = ['a', 'b', 'c']\nties = true"),
            Some(true)
        );
        assert_eq!(holds("ascending = ['d', 'b', 'a']"), Some(true));
        assert_eq!(holds("ascending = ['a', 'b']"), Some(false));
        assert_eq!(holds("descending = ['a', 'x']"), None);
        assert_eq!(holds("most = 'b'\namong = ['c', 'd']"), Some(true));
        assert_eq!(holds("most = 'b'\namong = ['a', 'd']"), Some(false));
        assert_eq!(holds("least = 'd'\namong = ['a', 'b']"), Some(true));
    }

    #[test]
    fn one_way_to_state_it() {
        assert!(order("descending = ['a', 'b']").is_well_formed());
        assert!(order("most = 'a'\namong = ['b']").is_well_formed());
        for wrong in ["descending = ['a']", "most = 'a'", "among = ['a']", ""] {
            assert!(!order(wrong).is_well_formed(), "{wrong}");
        }
    }
}
