//! Matrix descriptors of `wgmma`: where in shared memory the pieces of a
//! matrix are (PTX ISA, "Matrix Descriptor Format", "Strides" and "Canonical
//! Layouts" of the asynchronous warpgroup instructions).

use super::swizzle::{PIECE, Swizzle};

/// Along which dimension neighbours of a matrix lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Major {
    /// Along the inner products: `a` by rows, `b` by columns.
    K,
    /// Along the rows of `a` or the columns of `b`.
    Mn,
}

/// Addresses and offsets have 18 bits.
const ADDRESSES: u32 = 0x3_ffff;

/// The fields of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The first byte of the matrix in shared memory.
    pub start: u32,
    /// Bytes from pieces to those next to them in the leading dimension.
    pub leading: u32,
    /// Bytes from eight runs to the next eight.
    pub stride: u32,
    /// Number of 128 bytes at which the pattern of the swizzle begins, modulo
    /// 8: 0 where it begins at a multiple of its size.
    pub base: u32,
    /// The pattern.
    pub swizzle: Swizzle,
}

impl Descriptor {
    /// Bits that mean nothing.
    pub const UNUSED: u64 = !(0x3fff | 0x3fff << 16 | 0x3fff << 32 | 7 << 49 | 3 << 62);

    /// The descriptor in the bits of a register.
    pub fn new(bits: u64) -> Descriptor {
        let field = |at: u32| (bits >> at & 0x3fff) as u32 * PIECE;
        Descriptor {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base: (bits >> 49 & 7) as u32,
            swizzle: match bits >> 62 {
                0 => Swizzle::None,
                1 => Swizzle::Bytes128,
                2 => Swizzle::Bytes64,
                _ => Swizzle::Bytes32,
            },
        }
    }

    /// The first byte of a piece. Of a matrix along K `run` is the row of `a`
    /// (column of `b`) and `piece` counts along K; of one along M or N it is
    /// the other way round.
    ///
    /// Eight runs are one block. Without a swizzle their pieces follow each
    /// other; with one, whole runs do.
    pub fn place(&self, major: Major, run: u32, piece: u32) -> u32 {
        let (block, run, wide) = (run / 8, run % 8, self.swizzle.pieces());
        let offset = match (major, self.swizzle) {
            (Major::K, Swizzle::None) => block * self.stride + piece * self.leading,
            (Major::K, _) => block * self.stride + piece * PIECE,
            (Major::Mn, Swizzle::None) => block * self.leading + piece * self.stride,
            (Major::Mn, _) => {
                block * self.stride + piece / wide * self.leading + piece % wide * PIECE
            }
        };
        self.swizzled(self.start + offset + run * wide * PIECE)
    }

    fn swizzled(&self, address: u32) -> u32 {
        let address = u64::from(address & ADDRESSES);
        self.swizzle.place(address, self.base.into()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn descriptor(swizzle: u64) -> Descriptor {
        Descriptor::new(64 | 8 << 16 | 32 << 32 | swizzle << 62)
    }

    #[test]
    fn fields_are_where_the_isa_has_them() {
        let bits = 0x3fff | 1 << 16 | 64 << 32 | 5 << 49 | 2 << 62;
        let expected = Descriptor {
            start: 0x3_fff0,
            leading: 16,
            stride: 1024,
            base: 5,
            swizzle: Swizzle::Bytes64,
        };
        assert_eq!(Descriptor::new(bits), expected);
        assert_eq!(Descriptor::new(bits | Descriptor::UNUSED), expected);
        assert_eq!(bits & Descriptor::UNUSED, 0);
    }

    /// Eight runs of a block are in all 32 banks, each once, in every mode
    /// and along both dimensions.
    #[test]
    fn eight_runs_are_free_of_conflicts() {
        for swizzle in 0..4 {
            for major in [Major::K, Major::Mn] {
                for piece in 0..8 {
                    let place = |run| descriptor(swizzle).place(major, run, piece);
                    let banks: BTreeSet<u32> = (0..8).map(|run| place(run) / 16 % 8).collect();
                    assert_eq!(banks.len(), 8, "{swizzle} {major:?} {piece}");
                }
            }
        }
    }

    /// The figures of the PTX ISA: runs of 128 bytes, in which piece `p` of
    /// run `r` stands at `p ^ r`.
    #[test]
    fn the_swizzle_of_128_bytes_is_that_of_the_figure() {
        let d = descriptor(1);
        for run in 0..16 {
            for piece in 0..8 {
                let block = 1024 + run / 8 * 512;
                let expected = block + run % 8 * 128 + (piece ^ ((block / 128 + run) % 8)) * 16;
                assert_eq!(d.place(Major::K, run, piece), expected);
            }
        }
    }

    /// A pattern that begins elsewhere, as its base says.
    #[test]
    fn a_base_moves_the_pattern() {
        let here = Descriptor::new(64 | 64 << 32 | 1 << 62);
        let moved = Descriptor::new((64 + 3 * 8) | 64 << 32 | 3 << 49 | 1 << 62);
        for run in 0..8 {
            for piece in 0..8 {
                let [a, b] = [here, moved].map(|d| d.place(Major::K, run, piece));
                assert_eq!(b, a + 3 * 128);
            }
        }
    }
}
