//! Known bits of results, from those of operands.

use super::{KnownBits, mask};

impl KnownBits {
    /// The low `bits` bits, zero-extended.
    pub(in super::super) fn truncate(self, bits: u32) -> Self {
        KnownBits {
            zeros: self.zeros | !mask(bits),
            ones: self.ones & mask(bits),
        }
    }

    /// The low `from` bits, sign-extended to `to` bits.
    pub(super) fn sign_extend(self, from: u32, to: u32) -> Self {
        let extend = |bits: u64| {
            let unused = 64 - from.clamp(1, 64);
            ((bits << unused) as i64 >> unused) as u64
        };
        KnownBits {
            zeros: extend(self.zeros),
            ones: extend(self.ones),
        }
        .truncate(to)
    }

    pub(super) fn not(self, bits: u32) -> Self {
        KnownBits {
            zeros: self.ones,
            ones: self.zeros,
        }
        .truncate(bits)
    }

    pub(super) fn and(self, other: Self) -> Self {
        KnownBits {
            zeros: self.zeros | other.zeros,
            ones: self.ones & other.ones,
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        KnownBits {
            zeros: self.zeros & other.zeros,
            ones: self.ones | other.ones,
        }
    }

    pub(super) fn xor(self, other: Self) -> Self {
        KnownBits {
            zeros: self.zeros & other.zeros | self.ones & other.ones,
            ones: self.zeros & other.ones | self.ones & other.zeros,
        }
    }

    /// Any function of three bits by its table.
    pub(super) fn lop3(inputs: [Self; 3], table: u64, bits: u32) -> Self {
        let mut can = [0u64; 2];
        for row in 0..8u64 {
            let may = |n: usize, bit: u64| match row & bit {
                0 => !inputs[n].ones,
                _ => !inputs[n].zeros,
            };
            let possible = may(0, 4) & may(1, 2) & may(2, 1);
            can[(table >> row & 1) as usize] |= possible;
        }
        KnownBits {
            zeros: !can[1],
            ones: !can[0],
        }
        .truncate(bits)
    }

    /// The sum modulo 2^bits, with a carry that is known.
    pub(super) fn add_carry(self, other: Self, carry: bool, bits: u32) -> Self {
        let carry = u64::from(carry);
        let most = (!self.zeros).wrapping_add(!other.zeros).wrapping_add(carry);
        let least = self.ones.wrapping_add(other.ones).wrapping_add(carry);
        // A carry into a bit is known where both extremes agree on it.
        let carries_zero = !(most ^ self.zeros ^ other.zeros);
        let carries_one = least ^ self.ones ^ other.ones;
        let known = self.known() & other.known() & (carries_zero | carries_one);
        KnownBits {
            zeros: !most & known,
            ones: least & known,
        }
        .truncate(bits)
    }

    pub(in super::super) fn add(self, other: Self, bits: u32) -> Self {
        let sum = self.add_carry(other, false, bits);
        // Small numbers have a small sum.
        match self.max().checked_add(other.max()) {
            Some(high) if high <= mask(bits) => {
                sum.with(KnownBits::range(self.min() + other.min(), high))
            }
            _ => sum,
        }
    }

    pub(super) fn sub(self, other: Self, bits: u32) -> Self {
        let difference = self.add_carry(other.not(64), true, bits);
        match self.min().checked_sub(other.max()) {
            Some(low) => difference.with(KnownBits::range(low, self.max() - other.min())),
            None => difference,
        }
    }

    /// Facts that hold if two facts of one value do.
    fn with(self, other: Self) -> Self {
        KnownBits {
            zeros: self.zeros | other.zeros,
            ones: self.ones | other.ones,
        }
    }

    /// The product modulo 2^bits.
    pub(in super::super) fn mul(self, other: Self, bits: u32) -> Self {
        // As many low bits as both factors have known ones, beyond the zeros
        // of the other.
        let (a, b) = (self.trailing_zeros(), other.trailing_zeros());
        let sure = (self.known().trailing_ones().saturating_add(b))
            .min(other.known().trailing_ones().saturating_add(a))
            .min(64);
        let low = self.ones.wrapping_mul(other.ones) & mask(sure);
        let product = KnownBits {
            zeros: !low & mask(sure),
            ones: low,
        };
        match self.max().checked_mul(other.max()) {
            Some(high) if high <= mask(bits) => {
                product.with(KnownBits::range(self.min() * other.min(), high))
            }
            _ => product,
        }
        .truncate(bits)
    }

    pub(super) fn shl(self, by: u32, bits: u32) -> Self {
        if by >= bits {
            return KnownBits::constant(0);
        }
        KnownBits {
            zeros: self.zeros << by | mask(by),
            ones: self.ones << by,
        }
        .truncate(bits)
    }

    /// Shift to the right of a value of `bits` bits.
    pub(super) fn shr(self, by: u32, bits: u32, signed: bool) -> Self {
        if signed {
            let wide = self.sign_extend(bits, 64);
            let by = by.min(63);
            return KnownBits {
                zeros: (wide.zeros as i64 >> by) as u64,
                ones: (wide.ones as i64 >> by) as u64,
            }
            .truncate(bits);
        }
        if by >= bits {
            return KnownBits::constant(0);
        }
        let value = self.truncate(bits);
        KnownBits {
            zeros: value.zeros >> by | !(u64::MAX >> by),
            ones: value.ones >> by,
        }
    }

    /// A field of `length` bits from `at` on.
    pub(super) fn extract(self, at: u32, length: u32, bits: u32, signed: bool) -> Self {
        let length = length.min(bits);
        if length == 0 {
            return KnownBits::constant(0);
        }
        if signed {
            // The sign is that of the value where the field reaches beyond.
            let wide = self.sign_extend(bits, 64);
            let at = at.min(63);
            let field = KnownBits {
                zeros: (wide.zeros as i64 >> at) as u64,
                ones: (wide.ones as i64 >> at) as u64,
            };
            return field.sign_extend(length, bits);
        }
        self.shr(at, bits, false).truncate(length)
    }

    /// `self` put into `other` at `at`, `length` bits of it.
    pub(super) fn insert(self, other: Self, at: u32, length: u32, bits: u32) -> Self {
        if at >= bits {
            return other;
        }
        let field = mask(length.min(bits)) << at & mask(bits);
        KnownBits {
            zeros: self.zeros << at & field | other.zeros & !field,
            ones: self.ones << at & field | other.ones & !field,
        }
    }

    pub(super) fn reverse(self, bits: u32) -> Self {
        KnownBits {
            zeros: self.zeros.reverse_bits() >> (64 - bits),
            ones: self.ones.reverse_bits() >> (64 - bits),
        }
        .truncate(bits)
    }

    /// The smaller or the larger of two, as unsigned numbers.
    pub(super) fn extreme(self, other: Self, max: bool) -> Self {
        let (low, high) = if max {
            (self.min().max(other.min()), self.max().max(other.max()))
        } else {
            (self.min().min(other.min()), self.max().min(other.max()))
        };
        self.meet(other).with(KnownBits::range(low, high))
    }

    /// Whether it is below 2^(bits - 1).
    pub(super) fn is_positive(self, bits: u32) -> bool {
        self.zeros >> (bits - 1) & 1 == 1
    }

    /// The bytes of `b:a` that the selectors name (`prmt` without a mode).
    pub(super) fn permute(a: Self, b: Self, selectors: u64) -> Self {
        let all = KnownBits {
            zeros: a.zeros & mask(32) | b.zeros << 32,
            ones: a.ones & mask(32) | b.ones << 32,
        };
        let mut result = KnownBits::unknown(32);
        for byte in 0..4u32 {
            let selector = (selectors >> (4 * byte) & 15) as u32;
            let from = 8 * (selector & 7);
            let one = |bits: u64| match selector & 8 {
                0 => bits >> from & 0xff,
                _ => (bits >> (from + 7) & 1) * 0xff,
            };
            result.zeros |= one(all.zeros) << (8 * byte);
            result.ones |= one(all.ones) << (8 * byte);
        }
        result
    }
}
