//! The GPU that the kernel of a trace was compiled for, which says the machine to count by.

use super::AccessTrace;

/// The field of a trace that has it: `sm_80`, as the `.target` of its PTX.
pub const FIELD: &str = "target";

impl AccessTrace {
    /// The `.target` of its PTX, if it was recorded from some.
    pub fn target(&self) -> Option<&str> {
        self.extra.get(FIELD)?.as_str()
    }
}
