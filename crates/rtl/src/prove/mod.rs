//! Formal proofs that the RTL agrees with its definition, for all addresses and
//! all legal configurations.
//!
//! Each proof is a small circuit around the RTL (`testbenches/prove/`), about
//! which Yosys' SAT solver answers questions. docs/explanation/proofs.md has the
//! arguments that put the answers together.
//!
//! Nothing is proved from assumptions that cannot hold: every proof first
//! asks for an example of them.

mod after_reset;
mod circuit;
mod edited;
mod exhaust;
mod harness;
mod induction;
mod machine;
mod plan;
mod property;
mod question;
mod rtl;
mod script;
mod solver;
mod stated;
mod subject;
mod template;
mod vcd;

pub use exhaust::Exhausted;
pub use machine::Machines;
pub use plan::{Proof, about, plan};
pub use property::Property;
pub use rtl::RtlSource;
pub use script::{Counterexample, Method, Outcome, Verdict};
pub use solver::Value;
pub use subject::provable_units;

use crate::error::{Error, Result};
use crate::geometry::Geometry;

/// The geometries that are proved unless others are asked for: the presets
/// `small`, `gt200` and `fermi`, the two ends of the table, and one with an
/// address shorter than 2m bits.
pub fn usual_geometries() -> Vec<Geometry> {
    [(9, 3), (9, 6), (10, 3), (12, 3), (14, 5), (16, 6)]
        .into_iter()
        .filter_map(|(n, m)| Geometry::new(n, m).ok())
        .collect()
}

/// An error if not all of the verdicts are proofs.
pub fn check(verdicts: &[Verdict]) -> Result<()> {
    let of = |wanted: fn(&Outcome) -> bool| verdicts.iter().filter(move |v| wanted(&v.outcome));
    let disproved: Vec<_> = of(|o| matches!(o, Outcome::Disproved(_))).collect();
    let unknown: Vec<_> = of(|o| matches!(o, Outcome::Unknown(_))).collect();
    let (first, what) = match (disproved.first(), unknown.first()) {
        (Some(first), _) => (first, format!("{} disproved", disproved.len())),
        (None, Some(first)) => (first, format!("{} undecided", unknown.len())),
        (None, None) => return Ok(()),
    };
    let reason = match &first.outcome {
        Outcome::Disproved(counterexample) => counterexample.to_string(),
        Outcome::Unknown(reason) => reason.clone(),
        Outcome::Proved => String::new(),
    };
    Err(Error::CheckFailed {
        what: format!("of {} proofs, {what}", verdicts.len()),
        help: Some(format!(
            "the first is {} of {} for {}{}: {reason}",
            first.property,
            first.unit,
            first.geometry,
            first.lines()
        )),
    })
}
