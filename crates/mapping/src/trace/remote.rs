//! Accesses to shared memory of other blocks of the cluster, of which a trace has only the
//! number.

use super::AccessTrace;

/// The field of a trace that has it.
pub const FIELD: &str = "remote_accesses";

impl AccessTrace {
    /// Instructions of warps that access shared memory of other blocks: they are none of
    /// the accesses.
    pub fn remote_accesses(&self) -> u64 {
        let field = self.extra.get(FIELD);
        field.and_then(|n| n.as_u64()).unwrap_or(0)
    }
}
