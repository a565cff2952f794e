//! Matrices over GF(2): every linear bank function is one.

/// An m x n matrix over GF(2); row `i` is the mask of address bits whose XOR
/// is bank bit `i`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gf2Matrix {
    rows: Vec<u32>,
}

impl Gf2Matrix {
    /// A matrix from its row masks, bank bit 0 first.
    pub fn from_rows(rows: Vec<u32>) -> Self {
        Gf2Matrix { rows }
    }

    /// The row masks, bank bit 0 first.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The product with the address vector: the bank index.
    #[inline]
    pub fn apply(&self, addr: u32) -> u32 {
        self.rows.iter().enumerate().fold(0, |bank, (i, row)| {
            bank | (((row & addr).count_ones() & 1) << i)
        })
    }

    /// Rank over GF(2).
    pub fn rank(&self) -> u32 {
        self.lowest_pivots().count_ones()
    }

    /// The lowest possible set of independent columns, as a mask.
    ///
    /// Columns are taken from bit 0 upward whenever they are independent of
    /// those already taken. Independent column sets form a matroid, so this
    /// greedy choice has the smallest possible k-th element for every k.
    pub fn lowest_pivots(&self) -> u32 {
        let mut rows = self.rows.clone();
        let mut pivots = 0;
        let mut done = 0;
        for column in 0..u32::BITS {
            let bit = 1u32 << column;
            let Some(found) = (done..rows.len()).find(|&i| rows[i] & bit != 0) else {
                continue;
            };
            rows.swap(done, found);
            let pivot_row = rows[done];
            for row in &mut rows[done + 1..] {
                if *row & bit != 0 {
                    *row ^= pivot_row;
                }
            }
            pivots |= bit;
            done += 1;
        }
        pivots
    }

    /// The smallest non-empty set of rows whose XOR is zero, if the rows are
    /// dependent: the reason for a rank below m.
    pub fn dependent_rows(&self) -> Option<Vec<usize>> {
        let m = self.rows.len();
        let xor_of = |set: u32| {
            (0..m)
                .filter(|i| set >> i & 1 == 1)
                .fold(0, |x, i| x ^ self.rows[i])
        };
        (1u32..1 << m)
            .filter(|&set| xor_of(set) == 0)
            .min_by_key(|set| set.count_ones())
            .map(|set| (0..m).filter(|i| set >> i & 1 == 1).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_and_lowest_pivots() {
        let m = Gf2Matrix::from_rows(vec![0b1001, 0b0110, 0b1111]);
        assert_eq!(m.rank(), 2);
        assert_eq!(m.dependent_rows(), Some(vec![0, 1, 2]));
        let xor = Gf2Matrix::from_rows(vec![0b001_001, 0b010_010, 0b100_100]);
        assert_eq!(xor.lowest_pivots(), 0b111);
        assert_eq!(xor.dependent_rows(), None);
        assert_eq!(xor.apply(0b101_011), 0b110);
    }
}
