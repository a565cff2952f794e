//! The swizzle modes of shared memory, of tensor maps and of matrix descriptors
//! (PTX ISA, "Swizzling Modes" and "Matrix Descriptor Format").

/// Bytes of a piece, the unit of every field of a descriptor.
pub const PIECE: u32 = 16;

/// The spread of the pieces of 16 bytes of a matrix over the banks: runs of this
/// many bytes, whose pieces trade places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Swizzle {
    #[default]
    None,
    Bytes32,
    Bytes64,
    Bytes128,
}

impl Swizzle {
    /// Every swizzle, in the order of their numbers in tensor maps.
    pub const ALL: [Swizzle; 4] = [
        Swizzle::None,
        Swizzle::Bytes32,
        Swizzle::Bytes64,
        Swizzle::Bytes128,
    ];

    /// Pieces of 16 bytes of a run.
    pub fn pieces(self) -> u32 {
        match self {
            Swizzle::None => 1,
            Swizzle::Bytes32 => 2,
            Swizzle::Bytes64 => 4,
            Swizzle::Bytes128 => 8,
        }
    }

    /// Bytes of a run, 0 without a swizzle.
    pub fn span(self) -> u64 {
        match self {
            Swizzle::None => 0,
            _ => u64::from(self.pieces() * PIECE),
        }
    }

    /// The place of the byte of an address: pieces of a run trade places by the
    /// number of their 128 bytes, counted from the one numbered `base`.
    pub fn place(self, address: u64, base: u64) -> u64 {
        let number = (address >> 7).wrapping_sub(base);
        address ^ (number % u64::from(self.pieces()) * u64::from(PIECE))
    }
}
