//! Values of Verilog ports, of any width.

use std::fmt;

/// The value of a port; bit 0 is the low bit.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PortValue {
    width: usize,
    words: Vec<u64>,
}

impl PortValue {
    /// The value with all bits zero.
    pub fn zero(width: usize) -> Self {
        PortValue {
            width,
            words: vec![0; width.div_ceil(64)],
        }
    }

    /// The low `width` bits of `value`.
    pub fn from_u64(width: usize, value: u64) -> Self {
        let mut port = Self::zero(width);
        port.set_field(0, width.min(64), value);
        port
    }

    /// Bits of the port.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Bit `index`.
    pub fn bit(&self, index: usize) -> bool {
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// Sets bit `index`, which must be below the width.
    pub fn set_bit(&mut self, index: usize, value: bool) {
        assert!(index < self.width, "bit {index} of {}", self.width);
        let mask = 1 << (index % 64);
        if value {
            self.words[index / 64] |= mask
        } else {
            self.words[index / 64] &= !mask
        }
    }

    /// Sets the `width` bits from `offset` upward to the low bits of `value`.
    pub fn set_field(&mut self, offset: usize, width: usize, value: u64) {
        assert!(
            offset + width <= self.width && width <= 64,
            "bits {offset}..{} of {}",
            offset + width,
            self.width
        );
        let Some(unused) = 64usize.checked_sub(width).filter(|&unused| unused < 64) else {
            return;
        };
        let field = u64::MAX >> unused;
        let value = value & field;
        let (word, shift) = (offset / 64, offset % 64);
        self.words[word] = self.words[word] & !(field << shift) | value << shift;
        if shift > unused {
            let there = 64 - shift;
            self.words[word + 1] = self.words[word + 1] & !(field >> there) | value >> there;
        }
    }

    /// The 32-bit words, low word first: the layout of Verilator's wide ports.
    pub fn u32_words(&self) -> impl Iterator<Item = u32> {
        (0..self.width.div_ceil(32)).map(|i| (self.words[i / 2] >> (32 * (i % 2))) as u32)
    }
}

/// Hexadecimal without leading zeros, `0x..`.
impl fmt::Display for PortValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex: String = self
            .words
            .iter()
            .rev()
            .map(|w| format!("{w:016x}"))
            .collect();
        let digits = hex.trim_start_matches('0');
        write!(f, "0x{}", if digits.is_empty() { "0" } else { digits })
    }
}

impl fmt::Debug for PortValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}'{self}", self.width)
    }
}

impl serde::Serialize for PortValue {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_cross_words() {
        let mut v = PortValue::zero(130);
        v.set_field(62, 5, 0b10101);
        v.set_bit(129, true);
        assert!(v.bit(62) && !v.bit(63) && v.bit(64) && v.bit(66));
        assert_eq!(v.to_string(), "0x200000000000000054000000000000000");
        let words: Vec<u32> = v.u32_words().collect();
        assert_eq!(words, [0, 0x4000_0000, 5, 0, 2]);
        v.set_field(60, 8, 0b1000_0001);
        assert_eq!(v.to_string(), "0x200000000000000081000000000000000");
        assert_eq!(PortValue::zero(3).to_string(), "0x0");
        assert_eq!(PortValue::from_u64(3, 0xff).to_string(), "0x7");
    }
}
