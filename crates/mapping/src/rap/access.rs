//! The accesses of a warp whose congestion is measured (RAP paper, sections
//! III and VII).

use super::scheme::{Element, Scheme};
use crate::hash::uniform;
use rand_chacha::rand_core::Rng;
use spadkit_base::error::{Error, Result};
use std::str::FromStr;
use strum::{Display, IntoStaticStr, VariantArray};

/// The w elements that the threads of a warp access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum AccessKind {
    /// A row: consecutive addresses.
    Contiguous,
    /// A column of a matrix: addresses w apart.
    Stride,
    /// A diagonal of a matrix: thread t of warp i accesses `a[t][(i + t) mod w]`.
    Diagonal,
    /// Uniformly random elements; equal ones are merged.
    Random,
    /// `a[i][j][0..w][l]`.
    Stride1,
    /// `a[i][0..w][k][l]`.
    Stride2,
    /// `a[0..w][j][k][l]`.
    Stride3,
    /// The worst access known of someone who knows the scheme, not its random
    /// numbers.
    Malicious,
}

impl AccessKind {
    /// Every kind, in the order of declaration.
    pub const ALL: &[AccessKind] = <AccessKind as VariantArray>::VARIANTS;

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the paper defines it for arrays of `dims` dimensions, 2 or 4.
    pub fn has_dims(self, dims: u32) -> bool {
        match self {
            AccessKind::Contiguous | AccessKind::Random | AccessKind::Malicious => {
                dims == 2 || dims == 4
            }
            AccessKind::Stride | AccessKind::Diagonal => dims == 2,
            _ => dims == 4,
        }
    }

    /// The elements that one warp accesses, thread by thread. The indices that
    /// are the same for the whole warp are drawn at random.
    pub(super) fn elements(
        self,
        scheme: Scheme,
        dims: u32,
        w: u32,
        rng: &mut impl Rng,
        out: &mut Vec<Element>,
    ) {
        let mut index = || uniform(rng, w) as u16;
        // The fixed indices; in a matrix i = j = 0.
        let [mut i, mut j] = [0, 0];
        if dims == 4 {
            [i, j] = [index(), index()];
        }
        let [k, l] = [index(), index()];
        let at = |i, j, k, l| Element { i, j, k, l };
        let lanes = 0..w as u16;
        let wrap = |a: u16, b: u16| ((u32::from(a) + u32::from(b)) % w) as u16;
        out.clear();
        match self {
            AccessKind::Contiguous => out.extend(lanes.map(|t| at(i, j, k, t))),
            AccessKind::Stride | AccessKind::Stride1 => out.extend(lanes.map(|t| at(i, j, t, l))),
            AccessKind::Stride2 => out.extend(lanes.map(|t| at(i, t, k, l))),
            AccessKind::Stride3 => out.extend(lanes.map(|t| at(t, j, k, l))),
            AccessKind::Diagonal => out.extend(lanes.map(|t| at(i, j, t, wrap(l, t)))),
            AccessKind::Random if dims == 2 => {
                out.extend(lanes.map(|_| at(0, 0, index(), index())))
            }
            AccessKind::Random => {
                out.extend(lanes.map(|_| at(index(), index(), index(), index())));
            }
            AccessKind::Malicious => {
                out.extend(lanes.map(|t| malicious(scheme, w, t, at(i, j, k, l))));
            }
        }
    }
}

/// Thread t's element in the worst access known against `scheme`.
///
/// RAW and 1P have accesses of congestion w: f leaves out indices. Under RAS w
/// different rows are the worst, whichever, since elements of one row never
/// meet. Where a permutation rotates the rows (RAP, 3P, w^2 P, 1P w^2 R), two
/// elements meet most often if they differ in the permuted index and in l, that
/// is, on a diagonal. The probability is then 1 / (w - 1) instead of 1 / w. Of
/// some forty regular accesses tried (other permutations as diagonals, grids
/// and cubes of indices with several choices of l), none was worse for w = 32.
///
/// R1P cannot tell the 6 orders of three indices (section VII): groups of 6
/// elements are always in one bank. Groups that share one index meet somewhat
/// more often than the paper's disjoint ones (mean 8.1 against 8.0, w = 32).
fn malicious(scheme: Scheme, w: u32, t: u16, at: Element) -> Element {
    let diagonal = Element {
        k: t,
        l: ((u32::from(at.l) + u32::from(t)) % w) as u16,
        ..at
    };
    match scheme {
        Scheme::Raw | Scheme::Ras => Element { k: t, ..at },
        Scheme::OneP => Element { i: t, ..at },
        Scheme::Rap | Scheme::ThreeP | Scheme::W2P | Scheme::OnePW2R => diagonal,
        Scheme::R1P => {
            let group = u32::from(t) / 6;
            let [a, b, c] = [0, 2 * group + 1, 2 * group + 2];
            let order = match t % 6 {
                0 => [a, b, c],
                1 => [a, c, b],
                2 => [b, a, c],
                3 => [b, c, a],
                4 => [c, a, b],
                _ => [c, b, a],
            };
            let [i, j, k] = order.map(|index| (index % w) as u16);
            Element { i, j, k, l: at.l }
        }
    }
}

impl FromStr for AccessKind {
    type Err = Error;

    fn from_str(s: &str) -> Result<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|kind| kind.name() == s).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|known| known.name()).collect();
            // The command line shows only the message, so the names are in it.
            Error::Usage {
                what: format!("'{s}' is not an access; accesses are {}", names.join(", ")),
                help: None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn every_access_is_w_elements_inside_the_array_and_distinct_unless_random() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let mut elements = Vec::new();
        for w in [2, 3, 7, 32, 100] {
            for &scheme in Scheme::ALL {
                for (kind, dims) in AccessKind::ALL.iter().flat_map(|k| [(k, 2), (k, 4)]) {
                    if !kind.has_dims(dims) || !scheme.has_dims(dims) {
                        continue;
                    }
                    kind.elements(scheme, dims, w, &mut rng, &mut elements);
                    assert_eq!(elements.len(), w as usize);
                    let inside = |e: &Element| {
                        [e.i, e.j, e.k, e.l].iter().all(|&x| u32::from(x) < w)
                            && (dims == 4 || (e.i, e.j) == (0, 0))
                    };
                    assert!(elements.iter().all(inside), "{kind} {scheme} {w}");
                    if *kind != AccessKind::Random {
                        elements.sort_unstable();
                        elements.dedup();
                        assert_eq!(elements.len(), w as usize, "{kind} {scheme} {w}");
                    }
                }
            }
        }
    }
}
