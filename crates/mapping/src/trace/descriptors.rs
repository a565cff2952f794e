//! The matrices that `wgmma` reads by a descriptor: it has the address of the first row,
//! and computes those of the others itself, in one of four swizzle modes. No other
//! mapping can spread them.

use super::{Access, AccessTrace};
use serde_json::Value;

/// The field of an access that says so.
pub const FIELD: &str = "by_descriptor";

impl Access {
    /// Whether it reads a matrix that a descriptor names.
    pub fn is_by_descriptor(&self) -> bool {
        self.extra.get(FIELD) == Some(&Value::Bool(true))
    }
}

impl AccessTrace {
    /// Whether some of it is read by a descriptor.
    pub fn has_descriptors(&self) -> bool {
        self.accesses.iter().any(Access::is_by_descriptor)
    }
}
