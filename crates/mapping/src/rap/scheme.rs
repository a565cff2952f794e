//! The address mappings: no randomness (RAW), random shifts (RAS), random
//! permutations (RAP) and its extensions to four dimensions (RAP paper,
//! sections IV and VII).

use crate::hash::{random_permutation, uniform};
use rand_chacha::rand_core::Rng;
use spadkit_base::error::{Error, Result};
use std::str::FromStr;
use strum::{Display, IntoStaticStr, VariantArray};

/// A placement of element `a[i][j][k][l]` of a w x w x w x w array: in bank (l +
/// f(i, j, k)) mod w. A w x w matrix is the case i = j = 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Scheme {
    /// f = 0: addresses are unchanged.
    Raw,
    /// f is an independent random number for each (i, j, k).
    Ras,
    /// f = r_k with a random permutation r; for matrices.
    Rap,
    /// f = r_k, one permutation; for four dimensions.
    #[strum(serialize = "1p")]
    OneP,
    /// f = r_i + r_j + r_k: the one permutation, repeated.
    R1P,
    /// f = r_i + s_j + t_k: three permutations.
    #[strum(serialize = "3p")]
    ThreeP,
    /// f = r^(i w + j)_k: w^2 permutations.
    W2P,
    /// f = s_(i w + j) + r_k: one permutation and w^2 random numbers.
    #[strum(serialize = "1pw2r")]
    OnePW2R,
}

impl Scheme {
    /// Every scheme, in the order of the paper's tables.
    pub const ALL: &[Scheme] = <Scheme as VariantArray>::VARIANTS;

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the paper defines it for arrays of `dims` dimensions, 2 or 4.
    pub fn has_dims(self, dims: u32) -> bool {
        match self {
            Scheme::Raw | Scheme::Ras => dims == 2 || dims == 4,
            Scheme::Rap => dims == 2,
            _ => dims == 4,
        }
    }

    /// Random numbers that it keeps for width w (Table IV).
    pub fn random_numbers(self, dims: u32, w: u64) -> u64 {
        match self {
            Scheme::Raw => 0,
            Scheme::Ras if dims == 2 => w,
            Scheme::Ras | Scheme::W2P => w * w * w,
            Scheme::Rap | Scheme::OneP | Scheme::R1P => w,
            Scheme::ThreeP => 3 * w,
            Scheme::OnePW2R => w * w + w,
        }
    }
}

impl FromStr for Scheme {
    type Err = Error;

    fn from_str(s: &str) -> Result<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|scheme| scheme.name() == s).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|known| known.name()).collect();
            // The command line shows only the message, so the names are in it.
            Error::Usage {
                what: format!(
                    "'{s}' is not an address mapping; mappings are {}",
                    names.join(", ")
                ),
                help: None,
            }
        })
    }
}

/// An element `a[i][j][k][l]`; each index below 2^16. Ordered by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Element {
    pub i: u16,
    pub j: u16,
    pub k: u16,
    pub l: u16,
}

/// One draw of a scheme's random numbers, drawn lazily: w^3 numbers would be
/// too many for each sample.
pub(super) struct Draw {
    scheme: Scheme,
    w: u32,
    /// The permutations r, s, t of one draw, as far as the scheme has them.
    permutations: [Vec<u32>; 3],
    /// Groups in which each value was last drawn, for w^2 P.
    taken: Vec<u64>,
    group: u64,
}

impl Draw {
    pub fn new(scheme: Scheme, w: u32) -> Self {
        Draw {
            scheme,
            w,
            permutations: Default::default(),
            taken: vec![0; w as usize],
            group: 0,
        }
    }

    /// Draws the random numbers that `elements` depend on and calls `visit`
    /// with the bank of each. `elements` is sorted and without duplicates.
    pub fn banks(&mut self, rng: &mut impl Rng, elements: &[Element], mut visit: impl FnMut(u32)) {
        let count = match self.scheme {
            Scheme::Raw | Scheme::Ras | Scheme::W2P => 0,
            Scheme::Rap | Scheme::OneP | Scheme::R1P | Scheme::OnePW2R => 1,
            Scheme::ThreeP => 3,
        };
        for permutation in &mut self.permutations[..count] {
            *permutation = random_permutation(rng, self.w as usize);
        }
        let (mut plane, mut row) = (None, None);
        let (mut number, mut shift) = (0, 0);
        for e in elements {
            let new_plane = plane.replace((e.i, e.j)) != Some((e.i, e.j));
            let new_row = row.replace((e.i, e.j, e.k)) != Some((e.i, e.j, e.k));
            if new_plane {
                self.group += 1;
                if self.scheme == Scheme::OnePW2R {
                    number = uniform(rng, self.w);
                }
            }
            if new_row {
                shift = self.shift(rng, e, number);
            }
            visit((u32::from(e.l) + shift) % self.w);
        }
    }

    /// f(i, j, k) of a row that comes for the first time; `number` is s_(i w + j).
    fn shift(&mut self, rng: &mut impl Rng, e: &Element, number: u32) -> u32 {
        let [r, s, t] = &self.permutations;
        let (i, j, k) = (usize::from(e.i), usize::from(e.j), usize::from(e.k));
        match self.scheme {
            Scheme::Raw => 0,
            Scheme::Ras => uniform(rng, self.w),
            Scheme::Rap | Scheme::OneP => r[k],
            Scheme::R1P => r[i] + r[j] + r[k],
            Scheme::ThreeP => r[i] + s[j] + t[k],
            Scheme::W2P => self.next_of_permutation(rng),
            Scheme::OnePW2R => number + r[k],
        }
    }

    /// The next value of the permutation for the present (i, j): uniform among
    /// the values not drawn yet, as are any w distinct elements of a uniform
    /// permutation.
    fn next_of_permutation(&mut self, rng: &mut impl Rng) -> u32 {
        loop {
            let value = uniform(rng, self.w);
            if std::mem::replace(&mut self.taken[value as usize], self.group) != self.group {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn names_survive_a_round_trip() {
        for &scheme in Scheme::ALL {
            assert_eq!(scheme.to_string().parse::<Scheme>().unwrap(), scheme);
        }
        assert!("rpa".parse::<Scheme>().is_err());
    }

    /// Banks of the elements (i, j, k, l) under one draw.
    fn banks(scheme: Scheme, seed: u64, elements: &[[u16; 4]]) -> Vec<u32> {
        let mut elements: Vec<Element> = elements
            .iter()
            .map(|&[i, j, k, l]| Element { i, j, k, l })
            .collect();
        elements.sort_unstable();
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let mut banks = Vec::new();
        Draw::new(scheme, 16).banks(&mut rng, &elements, |b| banks.push(b));
        banks
    }

    #[test]
    fn a_row_is_always_rotated_as_a_whole() {
        let row: Vec<[u16; 4]> = (0..16).map(|l| [3, 1, 4, l]).collect();
        for &scheme in Scheme::ALL {
            let banks = banks(scheme, 5, &row);
            let rotated = (0..16).map(|l| (banks[0] + l) % 16).collect::<Vec<_>>();
            assert_eq!(banks, rotated, "{scheme}");
        }
    }

    #[test]
    fn permutations_of_one_plane_have_distinct_shifts() {
        let column: Vec<[u16; 4]> = (0..16).map(|k| [3, 1, k, 0]).collect();
        for &scheme in Scheme::ALL {
            let mut banks = banks(scheme, 5, &column);
            banks.sort_unstable();
            banks.dedup();
            match scheme {
                Scheme::Raw => assert_eq!(banks.len(), 1),
                Scheme::Ras => assert!(banks.len() < 16),
                _ => assert_eq!(banks.len(), 16, "{scheme}"),
            }
        }
    }

    #[test]
    fn r1p_is_symmetric_in_its_indices_and_3p_is_not() {
        let six = [
            [0, 1, 2, 0],
            [0, 2, 1, 0],
            [1, 0, 2, 0],
            [1, 2, 0, 0],
            [2, 0, 1, 0],
            [2, 1, 0, 0],
        ];
        let same = |banks: Vec<u32>| banks.iter().all(|&b| b == banks[0]);
        assert!((0..20).all(|seed| same(banks(Scheme::R1P, seed, &six))));
        assert!(!(0..20).all(|seed| same(banks(Scheme::ThreeP, seed, &six))));
    }
}
