//! Whether the parameters of a spec are in range for a geometry.

use crate::geometry::Geometry;
use spadkit_base::error::{Error, Result};
use std::fmt;

/// Checks the parameters of one spec.
pub struct Ranges<'a> {
    /// The spec, for errors.
    pub(in crate::hash) spec: &'a dyn fmt::Display,
    pub(in crate::hash) geometry: Geometry,
}

impl Ranges<'_> {
    /// The geometry.
    pub(super) fn geometry(&self) -> Geometry {
        self.geometry
    }

    pub(super) fn error(&self, what: String, help: String) -> Error {
        let (spec, geometry) = (self.spec, self.geometry);
        Error::usage(format!("hash spec '{spec}' for {geometry}: {what}"), help)
    }

    /// A parameter is at most `max`.
    pub(super) fn at_most(&self, name: &str, value: u32, max: u32) -> Result<()> {
        if value <= max {
            return Ok(());
        }
        Err(self.error(
            format!("{name}={value} is out of range"),
            format!("{name} is from 0 to {max}"),
        ))
    }

    /// Fails unless `count` is the number of bank bits.
    pub(super) fn count(&self, count: usize) -> Result<()> {
        let m = self.geometry.bank_bits();
        if count == m as usize {
            return Ok(());
        }
        let bits_are = if count == 1 { "bit is" } else { "bits are" };
        Err(self.error(
            format!("{count} bank {bits_are} given"),
            format!("expected {m}, bank bit 0 first"),
        ))
    }

    /// The address has these bits.
    pub(super) fn bits(&self, bits: impl Iterator<Item = u32>) -> Result<()> {
        let n = self.geometry.addr_bits();
        for bit in bits {
            if bit >= n {
                return Err(self.error(
                    format!("address bit {bit} is out of range"),
                    format!("address bits are 0 to {}", n - 1),
                ));
            }
        }
        Ok(())
    }
}
