//! The matrices that `wmma` loads and stores: it takes the address of the first row and
//! a distance, and computes the addresses of the other rows itself. Such a matrix can
//! be spread by longer rows, and in no other way.

use super::{Access, AccessTrace};
use serde_json::Value;

/// The field of an access that has the distance, in bytes.
pub const FIELD: &str = "row_bytes";

/// The words of one access to a matrix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatrixRows {
    /// Words from one row to the next; 0 where they do not begin at words.
    pub row_words: u32,
    /// Ascending, each once.
    words: Vec<u32>,
}

impl Access {
    /// Bytes from one row to the next, of an access that computes the addresses of the
    /// lanes itself.
    pub fn row_bytes(&self) -> Option<u32> {
        let bytes = self.extra.get(FIELD).and_then(Value::as_u64)?;
        u32::try_from(bytes).ok()
    }
}

impl AccessTrace {
    /// The accesses to matrices, each once.
    pub fn matrix_rows(&self) -> Vec<MatrixRows> {
        let rows = |access: &Access| {
            let bytes = access.row_bytes()?;
            let row_words = if bytes.is_multiple_of(4) {
                bytes / 4
            } else {
                0
            };
            let mut words: Vec<u32> = access.addrs.iter().copied().flatten().collect();
            words.sort_unstable();
            words.dedup();
            Some(MatrixRows { row_words, words })
        };
        let mut all: Vec<_> = self.accesses.iter().filter_map(rows).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl MatrixRows {
    /// Whether the words are still rows at one distance where a gap follows every
    /// `every` words of the array: as many gaps from each row to the next, and none
    /// inside a row.
    pub fn keeps_rows(&self, every: u32) -> bool {
        let Some(&first) = self.words.first() else {
            return true;
        };
        if self.row_words == 0 || !self.row_words.is_multiple_of(every) {
            return false;
        }
        let gaps_of_a_row = self.row_words / every;
        self.words.iter().all(|word| {
            let rows = (word - first) / self.row_words;
            word / every - first / every == rows * gaps_of_a_row
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(row_words: u32, words: impl IntoIterator<Item = u32>) -> MatrixRows {
        let words = words.into_iter().collect();
        MatrixRows { row_words, words }
    }

    /// Whether eight rows of `width` words from `first` are still evenly spaced rows if 4
    /// words of padding follow every `every` words.
    fn by_places(row_words: u32, first: u32, width: u32, every: u32) -> bool {
        let place = |word: u32| word + 4 * (word / every);
        let row = |n: u32| place(first + n * row_words);
        let distance = row(1) - row(0);
        (0..8).all(|n| {
            let own = first + n * row_words;
            row(n) == row(0) + n * distance && place(own + width - 1) == row(n) + width - 1
        })
    }

    #[test]
    fn gaps_keep_rows_that_they_are_between() {
        for every in [8, 16, 24, 32, 64] {
            for first in 0..40 {
                let words = (0..8).flat_map(|n| (0..8).map(move |w| first + 32 * n + w));
                let found = rows(32, words).keeps_rows(every);
                // Gaps that do not divide a row may be as many by chance.
                let whole = 32 % every == 0;
                assert_eq!(
                    found,
                    whole && by_places(32, first, 8, every),
                    "{every} {first}"
                );
            }
        }
        assert!(!rows(0, [0, 1]).keeps_rows(8), "rows at no words");
    }
}
