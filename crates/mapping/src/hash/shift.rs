//! Shift tables of the random address shift techniques (RAP paper, section IV).

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use spadkit_base::error::{Error, Result};

/// The source of the shifts r_0, ..., r_(w-1) of RAP or RAS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ShiftTable {
    /// Drawn from a generator with this seed; the same on every machine.
    Seed(u64),
    /// Given one by one.
    Values(Vec<u32>),
}

impl ShiftTable {
    /// The w shifts, each below w, all distinct if `permutation`.
    pub fn values(&self, w: usize, permutation: bool) -> Result<Vec<u32>> {
        match self {
            ShiftTable::Seed(seed) => {
                let mut rng = ChaCha12Rng::seed_from_u64(*seed);
                Ok(if permutation {
                    random_permutation(&mut rng, w)
                } else {
                    (0..w).map(|_| uniform(&mut rng, w as u32)).collect()
                })
            }
            ShiftTable::Values(values) => {
                check_values(values, w, permutation)?;
                Ok(values.clone())
            }
        }
    }
}

fn check_values(values: &[u32], w: usize, permutation: bool) -> Result<()> {
    let expected = if permutation {
        format!("expected a permutation of 0..{}", w - 1)
    } else {
        format!("expected {w} values from 0 to {}", w - 1)
    };
    if values.len() != w {
        return Err(Error::usage(
            format!("{} shifts given for {w} banks", values.len()),
            expected,
        ));
    }
    let mut seen = vec![false; w];
    for &v in values {
        if v as usize >= w {
            return Err(Error::usage(
                format!("shift {v} is out of range for {w} banks"),
                expected,
            ));
        }
        if permutation && std::mem::replace(&mut seen[v as usize], true) {
            return Err(Error::usage(format!("shift {v} occurs twice"), expected));
        }
    }
    Ok(())
}

/// A uniform integer below `bound`, by rejection: exact, and the same for the
/// same stream on every platform and with every version of any library.
pub fn uniform(rng: &mut impl Rng, bound: u32) -> u32 {
    let zone = u32::MAX - u32::MAX % bound;
    loop {
        let v = rng.next_u32();
        if v < zone {
            return v % bound;
        }
    }
}

/// A uniform permutation of 0..w (Fisher-Yates).
pub(crate) fn random_permutation(rng: &mut impl Rng, w: usize) -> Vec<u32> {
    let mut p: Vec<u32> = (0..w as u32).collect();
    for i in (1..w).rev() {
        p.swap(i, uniform(rng, i as u32 + 1) as usize);
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeded_tables_are_permutations_and_reproducible() {
        let a = ShiftTable::Seed(7).values(32, true).unwrap();
        let mut sorted = a.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..32).collect::<Vec<_>>());
        assert_eq!(a, ShiftTable::Seed(7).values(32, true).unwrap());
        assert_ne!(a, ShiftTable::Seed(8).values(32, true).unwrap());
    }

    #[test]
    fn given_tables_are_checked() {
        let t = |v: &[u32]| ShiftTable::Values(v.to_vec());
        assert!(t(&[2, 0, 3, 1]).values(4, true).is_ok());
        assert!(t(&[2, 0, 3, 3]).values(4, true).is_err());
        assert!(t(&[2, 0, 3, 3]).values(4, false).is_ok());
        assert!(t(&[2, 0, 4, 3]).values(4, false).is_err());
        assert!(t(&[2, 0, 3]).values(4, false).is_err());
    }
}
