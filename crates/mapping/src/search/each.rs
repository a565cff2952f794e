//! Exhaustive search of a kind with few configurations, one after the other.

use super::{Control, Outcome, Problem};
use crate::hash::{HashKind, HashSpec, UnitSpec, kind};
use spadkit_base::error::{Error, Result};

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
                "drop --fits and --fixed-rows",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;
    use crate::search::testing::random_profile;

    #[test]
    fn the_result_is_that_of_the_plain_loop() {
        let g = Geometry::new(11, 5).unwrap();
        let problem = Problem::new(&random_profile(3, 11, 20, 32), g);
        for kind in [HashKind::BitvecPerm, HashKind::BitwisePerm] {
            let found = search(&problem, kind, &Control::none()).unwrap();
            let mut all = Vec::new();
            let visit = &mut |spec: UnitSpec| {
                all.push(problem.conflicts(&spec.into())?);
                Ok(())
            };
            (kind::of(kind).each)(g, visit).unwrap();
            assert_eq!(Some(found.conflicts), all.iter().copied().min(), "{kind}");
            assert_eq!(problem.conflicts(&found.spec).unwrap(), found.conflicts);
            assert_eq!(found.evaluated as usize, all.len());
            assert!(found.optimal());
        }
    }

    #[test]
    fn a_stopped_search_says_what_it_did() {
        let g = Geometry::new(9, 3).unwrap();
        let problem = Problem::new(&random_profile(2, 9, 30, 32), g);
        let control = Control::none().stop_when(&|| true);
        let found = search(&problem, HashKind::BitvecPerm, &control).unwrap();
        assert_eq!(found.evaluated, 0);
        assert_eq!(found.conflicts, problem.conflicts(&HashSpec::Mod).unwrap());
        assert!(!found.optimal());
    }
}
