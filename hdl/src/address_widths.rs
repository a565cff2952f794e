//! The supported geometries.

use crate::error::{HdlError, Result};
use std::ops::RangeInclusive;

/// Address and bank bits of an emission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressWidths {
    /// n, word-address bits.
    pub addr_bits: usize,
    /// m, bank bits.
    pub bank_bits: usize,
}

impl AddressWidths {
    /// Allowed values of n.
    pub const ADDR_BITS: RangeInclusive<u32> = spadkit_names::ADDR_BITS;
    /// Allowed values of m.
    pub const BANK_BITS: RangeInclusive<u32> = spadkit_names::BANK_BITS;

    /// n - m, the bits of a row index.
    pub fn row_bits(self) -> usize {
        self.addr_bits - self.bank_bits
    }

    /// Fails unless the geometry is in the table.
    pub fn check(self) -> Result<Self> {
        let addr_bits = Self::ADDR_BITS.contains(&(self.addr_bits as u32));
        if addr_bits && Self::BANK_BITS.contains(&(self.bank_bits as u32)) {
            return Ok(self);
        }
        Err(HdlError::Geometry {
            addr_bits: self.addr_bits,
            bank_bits: self.bank_bits,
            expected: format!(
                "n from {} to {}, m from {} to {}",
                Self::ADDR_BITS.start(),
                Self::ADDR_BITS.end(),
                Self::BANK_BITS.start(),
                Self::BANK_BITS.end()
            ),
        })
    }

    /// The widths in the form of a file's header.
    pub(crate) fn parameters(self) -> String {
        format!(
            "addr_bits n = {}, bank_bits m = {}",
            self.addr_bits, self.bank_bits
        )
    }
}
