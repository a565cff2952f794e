//! A parameter that a search of the hash paper finds here, compared with the
//! one in its Table 5, and the reason for the difference.

use spadkit_base::error::Result;
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::{BankFunction, Gf2Matrix, HashKind, HashSpec};
use spadkit_mapping::search::Outcome;
use spadkit_mapping::search::reference::{Candidates, Departure};
use spadkit_mapping::search::tune::{Method, Tuner};

/// The comparison of two parameters.
pub(super) struct Compared {
    /// Printed the same.
    pub equal: bool,
    /// The banks are the same, except for their numbers.
    pub same_banks: bool,
    /// Conflicts that the published parameter leaves here.
    pub published: u64,
    /// The measured reason for the difference; none if they are equal.
    pub reason: Option<String>,
}

/// Compares `found` with `published`, both configurations of unit `kind`.
pub(super) fn compare(
    tuner: &Tuner,
    (kind, method): (HashKind, Method),
    found: &Outcome,
    published: &HashSpec,
) -> Result<Compared> {
    let geometry = tuner.problem.geometry();
    let rows = rows(published, geometry)?;
    let conflicts = tuner.problem.conflicts(published)?;
    let equal = found.spec == *published;
    let same_banks = same_space(&rows, &self::rows(&found.spec, geometry)?);
    let mut reason = match () {
        _ if equal => None,
        _ if same_banks => {
            Some("the published banks under other numbers: no conflict changes".to_owned())
        }
        _ => {
            let why = match method {
                Method::Exhaustive if conflicts == found.conflicts => TIE.to_owned(),
                Method::Exhaustive => "other accesses".to_owned(),
                _ => match departure(tuner, kind, method, &rows) {
                    None => format!("{TIE}: each published bit is among the best"),
                    Some(at) => departed(&at, &rows),
                },
            };
            let mod_banks = tuner.problem.conflicts(&HashSpec::Mod)?;
            Some(format!(
                "{why}. Conflicts: {mod_banks} without a hash, {conflicts} with the published parameter, {} with that found",
                found.conflicts
            ))
        }
    };
    let rank = Gf2Matrix::from_rows(rows).rank();
    if let Some(reason) = reason.as_mut().filter(|_| rank < geometry.bank_bits()) {
        *reason += &format!(
            "; as printed its rank is {rank} of {}",
            geometry.bank_bits()
        );
    }
    Ok(Compared {
        equal,
        same_banks,
        published: conflicts,
        reason,
    })
}

const TIE: &str = "tie";

fn rows(spec: &HashSpec, geometry: Geometry) -> Result<Vec<u32>> {
    Ok(match BankFunction::new(spec, geometry)? {
        BankFunction::Linear(matrix) => matrix.rows().to_vec(),
        _ => Vec::new(),
    })
}

/// Whether two lists of rows span the same space: then the same addresses meet
/// in a bank.
fn same_space(a: &[u32], b: &[u32]) -> bool {
    let rank = |rows: Vec<u32>| Gf2Matrix::from_rows(rows).rank();
    let both = rank([a, b].concat());
    both == rank(a.to_vec()) && both == rank(b.to_vec())
}

fn departure(tuner: &Tuner, kind: HashKind, method: Method, rows: &[u32]) -> Option<Departure> {
    let heuristic = method.heuristic()?;
    heuristic.departure(tuner.problem, tuner.sets, Candidates::of(kind), rows)
}

fn departed(at: &Departure, rows: &[u32]) -> String {
    let name = |row: u32| {
        let bits = (0..32).filter(|b| row >> b & 1 == 1);
        bits.map(|b: u32| b.to_string())
            .collect::<Vec<_>>()
            .join("^")
    };
    format!(
        "other accesses: the address bits {} of bank bit {} score {:.1} here, the best {:.1}",
        name(rows[at.step]),
        at.step + 1,
        at.given,
        at.best,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_bits_and_sums_of_them_change_no_bank() {
        assert!(same_space(&[0b001, 0b010], &[0b010, 0b001]));
        assert!(same_space(&[0b001, 0b010], &[0b011, 0b010]));
        assert!(!same_space(&[0b001, 0b010], &[0b001, 0b100]));
        assert!(!same_space(&[0b001, 0b001], &[0b001, 0b010]));
    }
}
