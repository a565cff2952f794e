//! The geometry of a scratchpad: how many address bits, how many banks.

use serde::{Deserialize, Serialize};
use spadkit_base::error::{Error, Result};
use std::fmt;
use std::ops::RangeInclusive;

/// Bytes of a word of shared memory on GPUs, in which traces count.
pub const WORD_BYTES: u32 = 4;

/// Word-address bits `n` and bank bits `m` of a scratchpad.
///
/// The scratchpad has up to 2^n words in 2^m banks. Addresses are word
/// addresses: byte offset in the block's shared memory divided by the word
/// size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Geometry {
    addr_bits: u32,
    bank_bits: u32,
}

impl Geometry {
    /// Supported numbers of address bits.
    pub const ADDR_BITS: RangeInclusive<u32> = spadkit_names::ADDR_BITS;
    /// Supported numbers of bank bits.
    pub const BANK_BITS: RangeInclusive<u32> = spadkit_names::BANK_BITS;

    /// A geometry of the supported table, or an error that lists it.
    pub fn new(addr_bits: u32, bank_bits: u32) -> Result<Self> {
        if Self::ADDR_BITS.contains(&addr_bits) && Self::BANK_BITS.contains(&bank_bits) {
            return Ok(Geometry {
                addr_bits,
                bank_bits,
            });
        }
        Err(Error::usage(
            format!("geometry n={addr_bits} m={bank_bits} is not supported"),
            format!(
                "expected addr_bits n from {} to {} and bank_bits m from {} to {}",
                Self::ADDR_BITS.start(),
                Self::ADDR_BITS.end(),
                Self::BANK_BITS.start(),
                Self::BANK_BITS.end()
            ),
        ))
    }

    /// Every supported geometry, by n, then m.
    pub fn all() -> impl Iterator<Item = Geometry> {
        Self::ADDR_BITS.flat_map(|addr_bits| {
            Self::BANK_BITS.map(move |bank_bits| Geometry {
                addr_bits,
                bank_bits,
            })
        })
    }

    /// n, the number of word-address bits.
    pub fn addr_bits(self) -> u32 {
        self.addr_bits
    }

    /// m, the number of bank bits.
    pub fn bank_bits(self) -> u32 {
        self.bank_bits
    }

    /// Bits of the number of an address bit: ceil(log2 n).
    pub fn bit_number_bits(self) -> u32 {
        u32::BITS - (self.addr_bits - 1).leading_zeros()
    }

    /// n - m, the number of row-index bits.
    pub fn row_bits(self) -> u32 {
        self.addr_bits - self.bank_bits
    }

    /// 2^m.
    pub fn banks(self) -> usize {
        1 << self.bank_bits
    }

    /// 2^n, the number of addressable words.
    pub fn words(self) -> usize {
        1 << self.addr_bits
    }

    /// The n low bits set.
    pub fn addr_mask(self) -> u32 {
        (1 << self.addr_bits) - 1
    }

    /// The m low bits set.
    pub fn bank_mask(self) -> u32 {
        (1 << self.bank_bits) - 1
    }
}

impl fmt::Display for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n={} m={}", self.addr_bits, self.bank_bits)
    }
}
