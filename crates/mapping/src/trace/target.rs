//! The GPU that the kernel of a trace was compiled for, which says the machine to count by.

use super::AccessTrace;
use serde::Deserialize;
use serde_json::Value;

/// The field of a trace that has it: `sm_80`, as the `.target` of its PTX.
pub const FIELD: &str = "target";

/// The target in an access trace as JSON, whose accesses are not kept; none if there is
/// none, or no such trace.
pub(super) fn target_of_json(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        target: Value,
    }
    let head: Head = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    head.target.as_str().map(str::to_owned)
}

impl AccessTrace {
    /// The `.target` of its PTX, if it was recorded from some.
    pub fn target(&self) -> Option<&str> {
        self.extra.get(FIELD)?.as_str()
    }
}
