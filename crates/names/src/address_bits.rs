//! The geometries that the hardware supports.

use std::ops::RangeInclusive;

/// Allowed numbers of word-address bits, n.
pub const ADDR_BITS: RangeInclusive<u32> = 9..=16;
/// Allowed numbers of bank bits, m.
pub const BANK_BITS: RangeInclusive<u32> = 1..=6;
