//! The search methods by name: which unit, which method, on which inputs.

use super::bitvec::{self, Pair, Ties};
use super::optimal::{self, Family};
use super::reference::{Candidates, ReferenceSet, Selection};
use super::{Control, Outcome, Problem, givargis, imbalance};
use crate::error::{Error, Result};
use crate::hash::HashKind;
use std::fmt;

/// How a configuration is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Method {
    /// All configurations of a bit-vector unit, or the pruned ranges.
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
        match self {
            Method::Exhaustive => "exhaustive",
            Method::Givargis => "givargis",
            Method::Mih => "mih",
            Method::Optimal => "optimal",
        }
    }

    /// The method that proves most for a unit.
    pub fn default_for(kind: HashKind) -> Method {
        match kind {
            HashKind::BitvecPerm | HashKind::BitvecXor => Method::Exhaustive,
            HashKind::BitwisePerm | HashKind::BitwiseXor | HashKind::Matrix => Method::Optimal,
        }
    }

    /// Whether the method configures this unit.
    pub fn supports(self, kind: HashKind) -> bool {
        match self {
            Method::Exhaustive => matches!(kind, HashKind::BitvecPerm | HashKind::BitvecXor),
            Method::Givargis | Method::Mih => {
                matches!(kind, HashKind::BitwisePerm | HashKind::BitwiseXor)
            }
            Method::Optimal => !Method::Exhaustive.supports(kind),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Everything that a method may need.
#[derive(Clone, Copy)]
pub struct Tuner<'a> {
    /// What is searched for.
    pub problem: &'a Problem,
    /// The warp accesses, for the heuristics.
    pub sets: &'a [ReferenceSet],
    /// The bit-vector XOR configurations that are tried.
    pub pairs: &'a [Pair],
    /// Which candidates the heuristics may take, and what decides among equals.
    pub selection: Selection,
}

impl Tuner<'_> {
    /// The best configuration of unit `kind` that `method` finds.
    pub fn run(&self, kind: HashKind, method: Method, control: &Control) -> Result<Outcome> {
        let Tuner { problem, sets, .. } = *self;
        let (candidates, family) = match kind {
            HashKind::BitwisePerm => (Candidates::Bits, Family::Permutation),
            HashKind::Matrix => (Candidates::Pairs, Family::Matrix),
            _ => (Candidates::Pairs, Family::Xor),
        };
        match (method, kind) {
            _ if !method.supports(kind) => Err(unsupported(kind, method)),
            (Method::Exhaustive, HashKind::BitvecPerm) => bitvec::search_perm(problem, control),
            (Method::Exhaustive, _) => {
                let ties = match self.selection {
                    Selection::Allowed => Ties::First,
                    Selection::AsPublished => Ties::SmallestMask,
                };
                bitvec::search_tied(problem, self.pairs, ties, control)
            }
            (Method::Givargis, _) => givargis::search(problem, sets, candidates, self.selection),
            (Method::Mih, _) => imbalance::search(problem, sets, candidates, self.selection),
            (Method::Optimal, _) => optimal::search(problem, family, control),
        }
    }
}

fn unsupported(kind: HashKind, method: Method) -> Error {
    let methods: Vec<_> = <Method as clap::ValueEnum>::value_variants()
        .iter()
        .filter(|m| m.supports(kind))
        .map(|m| m.name())
        .collect();
    Error::usage(
        format!("method {method} does not configure {kind}"),
        format!("methods for {kind}: {}", methods.join(", ")),
    )
}
