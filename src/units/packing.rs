//! Fields side by side in 32-bit words, the first one in the low bits.

use std::slice::{Iter, IterMut};

/// Writes fields one behind the other.
pub(super) struct Packer<'a> {
    words: IterMut<'a, u32>,
    /// Bits that are still to be written, fewer than 32, and how many.
    bits: u64,
    count: usize,
}

impl<'a> Packer<'a> {
    /// Starts at the low end of `words`.
    #[inline]
    pub(super) fn new(words: &'a mut [u32]) -> Self {
        Packer {
            words: words.iter_mut(),
            bits: 0,
            count: 0,
        }
    }

    /// A field of at most 64 bits; what is beyond the words is dropped.
    #[inline]
    pub(super) fn push(&mut self, width: usize, value: u64) {
        match width {
            ..=32 => self.push_short(width, value),
            _ => {
                self.push_short(32, value);
                self.push_short(width - 32, value >> 32);
            }
        }
    }

    #[inline]
    fn push_short(&mut self, width: usize, value: u64) {
        self.bits |= (value & ((1 << width) - 1)) << self.count;
        self.count += width;
        if self.count >= 32 {
            self.write();
        }
    }

    #[inline]
    fn write(&mut self) {
        if let Some(word) = self.words.next() {
            *word = self.bits as u32;
        }
        self.bits >>= 32;
        self.count = self.count.saturating_sub(32);
    }

    /// Writes what is left, and zeros behind it.
    #[inline]
    pub(super) fn finish(mut self) {
        self.write();
        self.words.for_each(|word| *word = 0);
    }
}

/// Reads fields of one width.
pub(super) struct Unpacker<'a> {
    words: Iter<'a, u32>,
    width: usize,
    /// Bits of words that have been begun, fewer than 32, and how many.
    bits: u64,
    count: usize,
}

impl<'a> Unpacker<'a> {
    /// Fields of `width` bits, at most 64, from the low end of `words`.
    #[inline]
    pub(super) fn new(words: &'a [u32], width: usize) -> Self {
        Unpacker {
            words: words.iter(),
            width,
            bits: 0,
            count: 0,
        }
    }

    /// The next field; zeros are behind the words.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        match self.width {
            ..=32 => self.next_short(self.width),
            _ => {
                let low = self.next_short(32);
                low | self.next_short(self.width - 32) << 32
            }
        }
    }

    #[inline]
    fn next_short(&mut self, width: usize) -> u64 {
        if self.count < width {
            let word = self.words.next().copied().unwrap_or(0);
            self.bits |= u64::from(word) << self.count;
            self.count += 32;
        }
        let field = self.bits & ((1 << width) - 1);
        self.bits >>= width;
        self.count -= width;
        field
    }
}

/// Replaces `width` bits, at most 64, from bit `at` on.
#[inline]
pub(super) fn put(words: &mut [u32], mut at: usize, mut width: usize, mut value: u64) {
    while width > 0 {
        let (word, shift) = (&mut words[at / 32], at % 32);
        let bits = width.min(32 - shift);
        let mask = u32::MAX >> (32 - bits) << shift;
        *word = *word & !mask | (value as u32) << shift & mask;
        value >>= bits;
        (at, width) = (at + bits, width - bits);
    }
}

/// Words of at most 128 bits as an integer.
#[inline]
pub(super) fn join(words: &[u32]) -> u128 {
    let high_first = words.iter().rev();
    high_first.fold(0, |value, &word| value << 32 | u128::from(word))
}

/// The bits of `word` with even numbers, side by side.
#[inline]
pub(super) fn even_bits(word: u32) -> u32 {
    let pairs = (word & 0x5555_5555 | (word & 0x5555_5555) >> 1) & 0x3333_3333;
    let nibbles = (pairs | pairs >> 2) & 0x0f0f_0f0f;
    let bytes = (nibbles | nibbles >> 4) & 0x00ff_00ff;
    (bytes | bytes >> 8) & 0xffff
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields of every width, written, read, and replaced one by one.
    #[test]
    fn what_is_read_is_what_was_written() {
        for width in 1..=64 {
            let field = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - width);
            let bits = 33 * width;
            let (mut packed, mut put_in) = ([u32::MAX; 67], [u32::MAX; 67]);
            let mut packer = Packer::new(&mut packed);
            for i in 0..33 {
                packer.push(width, field(i) | (u64::MAX << (width - 1) << 1));
                put(&mut put_in, i as usize * width, width, field(i));
            }
            packer.finish();
            let mut unpacker = Unpacker::new(&packed, width);
            for i in 0..33 {
                assert_eq!(unpacker.next(), field(i), "{i} of {width} bits");
            }
            assert_eq!(unpacker.next(), 0);
            let (whole, rest) = (bits / 32, bits % 32);
            assert_eq!(packed[..whole], put_in[..whole], "{width} bits");
            if rest > 0 {
                assert_eq!(packed[whole], put_in[whole] & ((1 << rest) - 1));
            }
            assert!(packed[bits.div_ceil(32)..].iter().all(|&word| word == 0));
            assert!(put_in[bits.div_ceil(32)..].iter().all(|&w| w == u32::MAX));
        }
    }

    #[test]
    fn even_bits_stand_side_by_side() {
        for word in [0x5555_5555, 0xaaaa_aaaa, 0x1234_5678, 0xf00d_cafe] {
            let bit = |i: u32| (word >> (2 * i) & 1) << i;
            assert_eq!(even_bits(word), (0..16).map(bit).sum::<u32>());
        }
    }
}
