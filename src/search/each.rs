//! Exhaustive search of a kind with few configurations, one after the other.

use super::{Control, Outcome, Problem};
use crate::error::{Error, Result};
use crate::hash::{HashKind, HashSpec, UnitSpec, kind};

/// The best configuration of `kind`, the first of several; proved unless
/// `control` stops the search.
pub fn search(problem: &Problem, kind: HashKind, control: &Control) -> Result<Outcome> {
    let g = problem.geometry();
    let total = (kind::of(kind).count)(g);
    let mut best: Option<(u64, UnitSpec)> = None;
    let mut evaluated = 0;
    (kind::of(kind).each)(g, &mut |spec| {
        if control.stopped() {
            return Ok(());
        }
        evaluated += 1;
        let rows = spec.get().rows(g);
        let rows: Vec<u32> = rows.iter().map(|row| row & g.addr_mask()).collect();
        let fewest = best.as_ref().map_or(u64::MAX, |(conflicts, _)| *conflicts);
        if problem.allows(&rows) {
            let conflicts = problem.passes().conflicts(&rows, fewest);
            if conflicts < fewest {
                best = Some((conflicts, spec));
            }
        }
        let fewest = best.as_ref().map(|(conflicts, _)| *conflicts);
        control.report(evaluated, total as u64, fewest);
        Ok(())
    })?;
    let complete = u128::from(evaluated) == total;
    let (conflicts, spec) = match best {
        Some((conflicts, spec)) => (conflicts, spec.into()),
        // Stopped before anything was found: the conventional mapping.
        None if !complete => (problem.conflicts(&HashSpec::Mod)?, HashSpec::Mod),
        None => {
            return Err(Error::usage(
                format!("none of the configurations of {kind} is allowed"),
                "drop --fits and --row fixed",
            ));
        }
    };
    Ok(Outcome {
        spec,
        conflicts,
        lower_bound: if complete {
            conflicts
        } else {
            problem.lower_bound()
        },
        evaluated,
        rank: g.bank_bits(),
        is_mapping: true,
    })
}
