//! Fields side by side in 32-bit words, the first one in the low bits.

use std::slice::Iter;

/// Writes fields one after the other.
pub(super) struct Packer<'a> {
    words: &'a mut [u32],
    /// The word that is written next.
    next: usize,
    /// Bits that are still to be written, fewer than 32, and how many.
    bits: u64,
    count: usize,
}

impl<'a> Packer<'a> {
    /// Starts at the low end of `words`.
    #[inline]
    pub(super) fn new(words: &'a mut [u32]) -> Self {
        Packer {
            words,
            next: 0,
            bits: 0,
            count: 0,
        }
    }

    /// A field of at most 64 bits; what is beyond the words is dropped.
    #[inline(always)]
    pub(super) fn push(&mut self, width: usize, value: u64) {
        match width {
            ..=32 => self.push_short(width, value),
            _ => {
                self.push_short(32, value);
                self.push_short(width - 32, value >> 32);
            }
        }
    }

    /// Words without packing: fields of 32 bits.
    #[inline]
    pub(super) fn push_words(&mut self, words: &[u32]) {
        let Some(&first) = words.first() else { return };
        self.push_short(32, first.into());
        // The rest of a word comes before the next word.
        let places = self.words[self.next..].iter_mut();
        match self.count {
            0 => places
                .zip(&words[1..])
                .for_each(|(place, &word)| *place = word),
            count => {
                for (place, pair) in places.zip(words.windows(2)) {
                    *place = pair[1] << count | pair[0] >> (32 - count);
                }
            }
        }
        self.next += words.len() - 1;
        self.bits = u64::from(words[words.len() - 1]) >> (32 - self.count);
    }

    #[inline(always)]
    fn push_short(&mut self, width: usize, value: u64) {
        self.bits |= (value & ((1 << width) - 1)) << self.count;
        self.count += width;
        if self.count >= 32 {
            self.write();
        }
    }

    #[inline(always)]
    fn write(&mut self) {
        if let Some(word) = self.words.get_mut(self.next) {
            *word = self.bits as u32;
        }
        self.next += 1;
        self.bits >>= 32;
        self.count = self.count.saturating_sub(32);
    }

    /// Writes what is left, and zeros after it.
    #[inline]
    pub(super) fn finish(mut self) {
        self.write();
        if let Some(rest) = self.words.get_mut(self.next..) {
            rest.fill(0);
        }
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

    /// The next field; zeros are after the words.
    #[inline(always)]
    pub(super) fn next(&mut self) -> u64 {
        match self.width {
            ..=32 => self.next_short(self.width),
            _ => {
                let low = self.next_short(32);
                low | self.next_short(self.width - 32) << 32
            }
        }
    }

    #[inline(always)]
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

/// Words of at most 128 bits as an integer.
#[inline]
pub(super) fn join(words: &[u32]) -> u128 {
    match *words {
        [word] => word.into(),
        [low, high] => (u64::from(high) << 32 | u64::from(low)).into(),
        _ => {
            let high_first = words.iter().rev();
            high_first.fold(0, |value, &word| value << 32 | u128::from(word))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields of every width, and whole words after a field of that width.
    #[test]
    fn what_is_read_is_what_was_written() {
        for width in 1..=64 {
            let field = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - width);
            let mut packed = [u32::MAX; 67];
            let mut packer = Packer::new(&mut packed);
            for i in 0..33 {
                let beyond = u64::MAX << (width - 1) << 1;
                packer.push(width, field(i) | beyond);
            }
            packer.finish();
            let mut unpacker = Unpacker::new(&packed, width);
            for i in 0..33 {
                assert_eq!(unpacker.next(), field(i), "{i} of {width} bits");
            }
            assert!((0..4).all(|_| unpacker.next() == 0), "{width} bits");

            let mut packer = Packer::new(&mut packed);
            packer.push(width, field(5));
            packer.push_words(&[1, 2, u32::MAX]);
            packer.push(1, 1);
            packer.finish();
            let whole = packed[..5].iter().rev();
            let value = whole.fold(0u128, |v, &word| v << 32 | u128::from(word));
            let words = 0x1_ffff_ffff_0000_0002_0000_0001;
            assert_eq!(value, u128::from(field(5)) | words << width, "{width} bits");
        }
    }
}
