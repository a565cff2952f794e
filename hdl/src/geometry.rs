//! The table of supported geometries.
//!
//! rust-hdl's widths are const generics, so each geometry is an instantiation
//! of its own; this is the one list of them.

use crate::error::{HdlError, Result};
use std::ops::RangeInclusive;

/// Address and bank bits of an emission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// n, word-address bits.
    pub addr_bits: usize,
    /// m, bank bits.
    pub bank_bits: usize,
}

impl Geometry {
    /// What n may be.
    pub const ADDR_BITS: RangeInclusive<u32> = 9..=16;
    /// What m may be.
    pub const BANK_BITS: RangeInclusive<u32> = 3..=6;

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

    /// The widths as they stand in a file's header.
    pub(crate) fn parameters(self) -> String {
        format!(
            "addr_bits n = {}, bank_bits m = {}",
            self.addr_bits, self.bank_bits
        )
    }
}

/// `for_geometry!(geometry, N, M => expression)` evaluates `expression`, a
/// `Result<_>`, with the constants `N` and `M` of the geometry.
macro_rules! for_geometry {
    ($geometry:expr, $body:expr) => {
        for_geometry!(@rows $geometry, $body;
            (9) (10) (11) (12) (13) (14) (15) (16))
    };
    (@rows $geometry:expr, $body:expr; $(($n:literal))*) => {
        match $geometry.check()? {
            $(
                $crate::geometry::Geometry { addr_bits: $n, bank_bits: 3 } => for_geometry!(@arm $n, 3, $body),
                $crate::geometry::Geometry { addr_bits: $n, bank_bits: 4 } => for_geometry!(@arm $n, 4, $body),
                $crate::geometry::Geometry { addr_bits: $n, bank_bits: 5 } => for_geometry!(@arm $n, 5, $body),
                $crate::geometry::Geometry { addr_bits: $n, bank_bits: 6 } => for_geometry!(@arm $n, 6, $body),
            )*
            _ => unreachable!("check() admits the table only"),
        }
    };
    (@arm $n:literal, $m:literal, $body:expr) => {{
        #[allow(dead_code, reason = "not every unit depends on both")]
        const N: usize = $n;
        #[allow(dead_code, reason = "not every unit depends on both")]
        const M: usize = $m;
        $body
    }};
}
pub(crate) use for_geometry;
