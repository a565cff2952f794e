//! Sparsity: the place and the meaning of the metadata of `mma.sp`.

use crate::names::Type;

/// The layout of the elements of a sparse factor in its rows: in chunks of which some
/// are zero, with four bits of metadata each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sparsity {
    /// Columns of a chunk.
    pub chunk: u32,
    /// Chunks of a row.
    pub chunks: u32,
    /// Whether a word of metadata is for two rows, a half each.
    halves: bool,
    /// The lanes of each four that have the metadata.
    pub selector: u32,
}

impl Sparsity {
    /// The sparsity of a factor with `columns` columns of a type.
    pub fn new(ty: Type, columns: u32, selector: u32) -> Sparsity {
        let chunk = match ty.bits() {
            32 => 2,
            4 => 8,
            _ => 4,
        };
        Sparsity {
            chunk,
            chunks: columns / chunk,
            halves: ty.bits() >= 16,
            selector,
        }
    }

    /// Number of values that the selector may have: a word has eight chunks, and
    /// there are 16 rows.
    pub fn selectors(&self) -> u32 {
        16 / self.chunks
    }

    /// Lane and lowest bit of the metadata of a chunk of a row.
    pub fn place(&self, row: u32, chunk: u32) -> (u32, u32) {
        let (group, high) = (row % 8, row / 8);
        let per_word = if self.halves { 4 } else { 8 };
        let (word, at) = (chunk / per_word, chunk % per_word);
        let first = 4 * group + self.selector * (self.chunks / 4);
        if self.halves {
            (first + word, 16 * high + 4 * at)
        } else {
            (first + 2 * word + high, 4 * at)
        }
    }

    /// Elements of a chunk that are not zero.
    pub fn kept(&self) -> u32 {
        self.chunk / 2
    }

    /// Position in its chunk of the `n`-th element that is not zero.
    pub fn column(&self, metadata: u32, n: u32) -> u32 {
        match self.chunk {
            // The metadata has halves of elements.
            2 => metadata >> 1 & 1,
            // Elements come in pairs.
            8 => 2 * (metadata >> (2 * (n / 2)) & 3) + n % 2,
            _ => metadata >> (2 * n) & 3,
        }
    }

    /// Whether the metadata of a chunk is some that the PTX ISA has: two
    /// places in ascending order.
    pub fn is_valid(&self, metadata: u32) -> bool {
        match self.chunk {
            2 => matches!(metadata, 0b0100 | 0b1110),
            _ => metadata & 3 < metadata >> 2 & 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Each chunk has four bits of its own, in the lanes that the selector
    /// chooses.
    #[test]
    fn metadata_of_all_chunks_has_its_place() {
        for (ty, columns) in [
            (Type::F16, 16),
            (Type::F16, 32),
            (Type::Tf32, 8),
            (Type::Tf32, 16),
            (Type::S8, 32),
            (Type::S8, 64),
            (Type::S4, 64),
            (Type::S4, 128),
        ] {
            let selectors = Sparsity::new(ty, columns, 0).selectors();
            let mut all = BTreeSet::new();
            for selector in 0..selectors {
                let sparsity = Sparsity::new(ty, columns, selector);
                let of = |row| (0..sparsity.chunks).map(move |chunk| sparsity.place(row, chunk));
                all.extend((0..16).flat_map(of));
            }
            let bits = (0..32).flat_map(|lane| (0..8).map(move |n| (lane, 4 * n)));
            assert_eq!(all, bits.collect(), "{ty:?} {columns}");
        }
    }
}
