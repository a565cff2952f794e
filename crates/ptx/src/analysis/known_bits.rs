//! Bits of values that are the same whenever the value exists.

mod instruction;
mod solve;
mod transfer;

pub use solve::BitFacts;
pub(super) use solve::SHARED_LIMIT_BITS;

/// Bits of a value that are always zero and always one. The value is that of
/// the register, zero-extended to 64 bits: bits beyond its width are zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownBits {
    /// Bits that are always zero.
    pub zeros: u64,
    /// Bits that are always one.
    pub ones: u64,
}

/// A mask of all bits below `bits`.
pub(super) fn mask(bits: u32) -> u64 {
    match bits {
        0 => 0,
        1..=63 => (1 << bits) - 1,
        _ => u64::MAX,
    }
}

impl KnownBits {
    /// Nothing is known of a value of `bits` bits.
    pub fn unknown(bits: u32) -> Self {
        KnownBits {
            zeros: !mask(bits),
            ones: 0,
        }
    }

    /// The value is this.
    pub fn constant(value: u64) -> Self {
        KnownBits {
            zeros: !value,
            ones: value,
        }
    }

    /// Bits of numbers from `low` to `high`: the leading bits that they share.
    pub fn range(low: u64, high: u64) -> Self {
        let same = match low ^ high {
            0 => u64::MAX,
            different => !mask(64 - different.leading_zeros()),
        };
        KnownBits {
            zeros: same & !low,
            ones: same & low,
        }
    }

    /// A multiple of `align`, a power of two, of `bits` bits.
    pub fn aligned(align: u64, bits: u32) -> Self {
        let unknown = KnownBits::unknown(bits);
        KnownBits {
            zeros: unknown.zeros | align.max(1).wrapping_sub(1) & !align,
            ..unknown
        }
    }

    /// Bits that are known.
    pub fn known(self) -> u64 {
        self.zeros | self.ones
    }

    /// The value, where all bits are known.
    pub fn value(self) -> Option<u64> {
        (self.known() == u64::MAX).then_some(self.ones)
    }

    /// The smallest value, unsigned.
    pub fn min(self) -> u64 {
        self.ones
    }

    /// The largest value, unsigned.
    pub fn max(self) -> u64 {
        !self.zeros
    }

    /// Number of low bits that are zero.
    pub fn trailing_zeros(self) -> u32 {
        self.zeros.trailing_ones()
    }

    /// Facts that hold of either of two values.
    pub fn meet(self, other: Self) -> Self {
        KnownBits {
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
        }
    }

    /// Whether `value` agrees with what is known.
    pub fn holds(self, value: u64) -> bool {
        value & self.zeros == 0 && value & self.ones == self.ones
    }

    /// Whether no bit can be one in both: the sum is the bitwise or.
    pub fn is_disjoint(self, other: Self) -> bool {
        self.zeros | other.zeros == u64::MAX
    }
}
