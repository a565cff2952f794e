//! Bijectivity by enumeration of all configurations of a unit, if they are few:
//! on the mapping as the software sees it, with the row index as the values of
//! the registers of `spad_row_map` define it.

use super::script::{Counterexample, Outcome};
use crate::error::Result;
use crate::geometry::Geometry;
use crate::hash::{BankFunction, Gf2Matrix, HashKind, HashSpec, Mapping, encode_row_map};

/// More configurations than this are left to the solver.
const MAX_CONFIGURATIONS: u64 = 300_000;

/// All configurations of a unit for one geometry.
#[derive(Clone, Debug)]
pub struct Exhausted {
    /// Proved, or the first configuration that is not a bijection.
    pub outcome: Outcome,
    /// How many configurations there were, and how many of them are legal.
    pub covered: String,
}

impl Exhausted {
    /// Whether the configurations of `kind` are few enough.
    pub fn is_feasible(kind: HashKind, geometry: Geometry) -> bool {
        let (n, m) = (
            u64::from(geometry.addr_bits()),
            u64::from(geometry.bank_bits()),
        );
        let count = match kind {
            HashKind::BitvecPerm => n - m + 1,
            HashKind::BitvecXor => ((n - m + 1) * n) << m,
            HashKind::BitwisePerm => sets(n, m),
            HashKind::BitwiseXor => sets(n * (n + 1) / 2, m),
            HashKind::Matrix => return false,
        };
        count <= MAX_CONFIGURATIONS
    }
}

/// Goes through all configurations. For the bitwise units these are sets of
/// bank bits: their order only names the banks. A configuration of rank below
/// m must be refused by the software; any other must be a bijection.
pub fn exhaust(kind: HashKind, geometry: Geometry) -> Result<Exhausted> {
    let (mut legal, mut refused) = (0u64, 0u64);
    let mut wrong = None;
    each_configuration(kind, geometry, &mut |spec| {
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
    Ok(match all.rank() == geometry.addr_bits() {
        true => Check::Bijection,
        false => Check::Wrong("(bank, row) is a bijection"),
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

fn each_configuration(
    kind: HashKind,
    geometry: Geometry,
    visit: &mut dyn FnMut(HashSpec) -> Result<()>,
) -> Result<()> {
    let (n, m) = (geometry.addr_bits(), geometry.bank_bits());
    match kind {
        HashKind::BitvecPerm => {
            for k in 0..=n - m {
                visit(HashSpec::BitvecPerm { k })?;
            }
        }
        HashKind::BitvecXor => {
            for k1 in 0..=n - m {
                for k2 in 0..n {
                    for mask in 0..1 << m {
                        visit(HashSpec::BitvecXor { k1, k2, mask })?;
                    }
                }
            }
        }
        HashKind::BitwisePerm => {
            let bits: Vec<u32> = (0..n).collect();
            each_set(&bits, m as usize, &mut Vec::new(), &mut |set| {
                visit(HashSpec::BitwisePerm(set.to_vec()))
            })?;
        }
        HashKind::BitwiseXor => {
            let pair = |a| std::iter::once((a, None)).chain((a + 1..n).map(move |b| (a, Some(b))));
            let pairs: Vec<_> = (0..n).flat_map(pair).collect();
            each_set(&pairs, m as usize, &mut Vec::new(), &mut |set| {
                visit(HashSpec::BitwiseXor(set.to_vec()))
            })?;
        }
        HashKind::Matrix => unreachable!("not feasible"),
    }
    Ok(())
}

/// Every set of `size` of the `items`.
fn each_set<T: Copy>(
    items: &[T],
    size: usize,
    taken: &mut Vec<T>,
    visit: &mut dyn FnMut(&[T]) -> Result<()>,
) -> Result<()> {
    if taken.len() == size {
        return visit(taken);
    }
    for (i, &item) in items.iter().enumerate() {
        taken.push(item);
        each_set(&items[i + 1..], size, taken, visit)?;
        taken.pop();
    }
    Ok(())
}

/// Number of sets of `size` among `items` things.
fn sets(items: u64, size: u64) -> u64 {
    (0..size).fold(1, |count, i| count * (items - i) / (i + 1))
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
    fn sets_are_counted_and_listed_alike() {
        let mut listed = 0;
        let items: Vec<u32> = (0..9).collect();
        each_set(&items, 4, &mut Vec::new(), &mut |_| {
            listed += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(listed, sets(9, 4));
        assert_eq!(
            exhausted(HashKind::BitwisePerm, 16, 6).covered,
            "8008 legal and 0 refused configurations"
        );
    }
}
