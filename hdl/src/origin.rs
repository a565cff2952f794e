//! The origin of a line of Verilog.

use serde::Serialize;
use std::fmt;
use std::panic::Location;

/// The line of the Rust description that wrote a line of Verilog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Origin {
    /// The file, as in the kit's repository: `hdl/src/spad_skid.rs`.
    pub file: &'static str,
    /// The line, from 1 on.
    pub line: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Origin {
    /// The line that calls the function in which this is called, or that calls the
    /// outermost of several with `#[track_caller]`.
    #[track_caller]
    pub(crate) fn caller() -> Self {
        let at = Location::caller();
        // Cargo builds it by a path from the workspace, or by an absolute one. Both
        // end as in the repository.
        let start = at.file().rfind("hdl/src/").unwrap_or(0);
        Origin {
            file: &at.file()[start..],
            line: at.line(),
        }
    }
}
