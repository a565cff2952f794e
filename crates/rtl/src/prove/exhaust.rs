//! Bijectivity by enumeration of all configurations of a unit, if they are few.
//! It is checked on the mapping as the software sees it. The row index is that
//! which the values of the registers of `spad_row_map` define.

use super::script::{Counterexample, Outcome};
use crate::error::Result;
use crate::geometry::Geometry;
use crate::hash::{BankFunction, Gf2Matrix, HashKind, HashSpec, Mapping, encode_row_map, kind};

/// Number of configurations above which they are left to the solver.
const MAX_CONFIGURATIONS: u128 = 300_000;

/// All configurations of a unit for one geometry.
#[derive(Clone, Debug)]
pub struct Exhausted {
    /// Proved, or the first configuration that is not a bijection.
    pub outcome: Outcome,
    /// Number of configurations, and of legal ones.
    pub covered: String,
}

impl Exhausted {
    /// Whether the configurations of `kind` are few enough.
    pub fn is_feasible(kind: HashKind, geometry: Geometry) -> bool {
        (kind::of(kind).count)(geometry) <= MAX_CONFIGURATIONS
    }
}

/// Goes through all configurations. For the bitwise units these are sets of
/// bank bits: their order only names the banks. A configuration of rank below
/// m must be refused by the software; any other must be a bijection.
pub(super) fn exhaust(kind: HashKind, geometry: Geometry) -> Result<Exhausted> {
    let (mut legal, mut refused) = (0u64, 0u64);
    let mut wrong = None;
    (kind::of(kind).each)(geometry, &mut |spec| {
        let spec = HashSpec::from(spec);
        match check(&spec, geometry)? {
            Check::Bijection => legal += 1,
            Check::Refused => refused += 1,
            Check::Wrong(why) => {
                wrong.get_or_insert((spec, why));
            }
        }
        Ok(())
    })?;
    let outcome = match wrong {
        None => Outcome::Proved,
        Some((spec, why)) => Outcome::Disproved(Counterexample {
            violates: why.to_owned(),
            values: [("hash".to_owned(), spec.to_string())].into(),
            run: Vec::new(),
        }),
    };
    Ok(Exhausted {
        outcome,
        covered: format!("{legal} legal and {refused} refused configurations"),
    })
}

enum Check {
    Bijection,
    Refused,
    Wrong(&'static str),
}

fn check(spec: &HashSpec, geometry: Geometry) -> Result<Check> {
    crate::interrupt::check("a proof")?;
    let BankFunction::Linear(bank) = BankFunction::new(spec, geometry)? else {
        return Ok(Check::Wrong("the bank function is linear"));
    };
    let onto = reaches_every_bank(&bank, geometry);
    let mapping = match (Mapping::new(spec, geometry), onto) {
        (Ok(mapping), true) => mapping,
        (Err(_), false) => return Ok(Check::Refused),
        (Ok(_), false) => return Ok(Check::Wrong("what misses a bank is refused")),
        (Err(_), true) => return Ok(Check::Wrong("what reaches every bank is accepted")),
    };
    let registers = encode_row_map(mapping.row_map(), geometry).registers;
    let m = geometry.bank_bits();
    let source = |(j, r): (u32, &u64)| match *r {
        0 => 1u32 << (m + j),
        r => 1 << (r - 1),
    };
    let mut rows = bank.rows().to_vec();
    rows.extend((0..).zip(&registers).map(source));
    let all = Gf2Matrix::from_rows(rows);
    Ok(if all.rank() == geometry.addr_bits() {
        Check::Bijection
    } else {
        Check::Wrong("(bank, row) is a bijection")
    })
}

/// Whether the columns span all banks, by adding one after the other to the
/// set of reachable banks (and not by elimination, which chose the pivots).
fn reaches_every_bank(bank: &Gf2Matrix, geometry: Geometry) -> bool {
    let mut reached = vec![0u32];
    for bit in 0..geometry.addr_bits() {
        let column = bank.apply(1 << bit);
        if !reached.contains(&column) {
            let more: Vec<u32> = reached.iter().map(|b| b ^ column).collect();
            reached.extend(more);
        }
    }
    reached.len() == geometry.banks()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exhausted(kind: HashKind, n: u32, m: u32) -> Exhausted {
        exhaust(kind, Geometry::new(n, m).unwrap()).unwrap()
    }

    #[test]
    fn the_papers_4480_bit_vector_configurations() {
        let all = exhausted(HashKind::BitvecXor, 14, 5);
        assert_eq!(all.outcome, Outcome::Proved);
        let numbers: Vec<u64> = all
            .covered
            .split(' ')
            .filter_map(|w| w.parse().ok())
            .collect();
        assert_eq!(numbers.iter().sum::<u64>(), 4480);
        assert!(numbers[1] > 0, "k1 = k2 with a mask has rank below m");
    }

    #[test]
    fn bit_vector_units_in_every_geometry() {
        for geometry in Geometry::all() {
            for kind in [
                HashKind::BitvecPerm,
                HashKind::BitvecXor,
                HashKind::BitwisePerm,
            ] {
                assert!(Exhausted::is_feasible(kind, geometry));
                let all = exhaust(kind, geometry).unwrap();
                assert_eq!(all.outcome, Outcome::Proved, "{kind} {geometry}");
            }
        }
    }

    #[test]
    fn the_largest_permutations_are_all_legal() {
        assert_eq!(
            exhausted(HashKind::BitwisePerm, 16, 6).covered,
            "8008 legal and 0 refused configurations"
        );
    }
}
