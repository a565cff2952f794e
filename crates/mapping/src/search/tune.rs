//! The search methods by name: which unit, which method, on which inputs.

use super::bitvec::{self, Pair, Ties};
use super::heuristic::Heuristic;
use super::reference::{Candidates, ReferenceSet, Selection};
use super::{Control, Outcome, Problem, each, optimal};
use crate::hash::HashKind;
use crate::hash::kind::{self, Family, Search};
use spadkit_base::error::{Error, Result};

/// The method by which a configuration is searched for.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    serde::Deserialize,
    serde::Serialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum Method {
    /// Every configuration of a bit-vector unit, or the pruned ranges.
    Exhaustive,
    /// The Givargis heuristic.
    Givargis,
    /// The Minimum Imbalance Heuristic.
    Mih,
    /// Branch and bound over a bitwise or the matrix unit, within a budget.
    Optimal,
}

impl Method {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The heuristic, if it is one.
    pub fn heuristic(self) -> Option<Heuristic> {
        match self {
            Method::Givargis => Some(Heuristic::Givargis),
            Method::Mih => Some(Heuristic::MinimumImbalance),
            Method::Exhaustive | Method::Optimal => None,
        }
    }

    /// The method that proves most for a unit.
    pub fn default_for(kind: HashKind) -> Method {
        match kind::of(kind).search {
            Search::Each | Search::Windows => Method::Exhaustive,
            Search::Rows(_) => Method::Optimal,
        }
    }

    /// Whether the method configures this unit.
    pub fn supports(self, kind: HashKind) -> bool {
        let search = kind::of(kind).search;
        match self {
            Method::Exhaustive => matches!(search, Search::Each | Search::Windows),
            Method::Givargis | Method::Mih => {
                matches!(search, Search::Rows(Family::Permutation | Family::Xor))
            }
            Method::Optimal => matches!(search, Search::Rows(_)),
        }
    }
}

/// Everything that a method may need.
#[derive(Clone, Copy)]
pub struct Tuner<'a> {
    /// The problem to solve.
    pub problem: &'a Problem,
    /// The warp accesses, for the heuristics.
    pub sets: &'a [ReferenceSet],
    /// The bit-vector XOR configurations that are tried.
    pub pairs: &'a [Pair],
    /// The candidates of the heuristics, and the choice among equals.
    pub selection: Selection,
}

impl Tuner<'_> {
    /// The best configuration of unit `kind` that `method` finds.
    pub fn run(&self, kind: HashKind, method: Method, control: &Control) -> Result<Outcome> {
        let Tuner { problem, sets, .. } = *self;
        if !method.supports(kind) {
            return Err(unsupported(kind, method));
        }
        let family = match kind::of(kind).search {
            Search::Each => return each::search(problem, kind, control),
            Search::Windows => {
                let ties = match self.selection {
                    Selection::Allowed => Ties::First,
                    Selection::AsPublished => Ties::SmallestMask,
                };
                return bitvec::search_tied(problem, self.pairs, ties, control);
            }
            Search::Rows(family) => family,
        };
        match method.heuristic() {
            Some(heuristic) => {
                heuristic.search(problem, sets, Candidates::of(kind), self.selection)
            }
            None => optimal::search(problem, family, control),
        }
    }
}

fn unsupported(kind: HashKind, method: Method) -> Error {
    let methods: Vec<_> = <Method as strum::VariantArray>::VARIANTS
        .iter()
        .filter(|m| m.supports(kind))
        .map(|m| m.name())
        .collect();
    Error::usage(
        format!("method {method} does not configure {kind}"),
        format!("methods for {kind}: {}", methods.join(", ")),
    )
}
