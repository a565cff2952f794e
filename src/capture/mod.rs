//! Launch files as traces: what the executor reports while a kernel runs, as
//! an access trace of one block or as a full trace of all (docs/ptx.md).

mod access;
mod barriers;
mod code;
mod full;
mod registers;
#[cfg(test)]
mod tests;

pub use access::{access_trace, launch_trace};
pub use full::{Captured, full_trace};

use crate::error::{Error, Result};
use crate::ptx::exec::Outcome;
use std::path::Path;

/// Whether INPUT is a launch file, by its name.
pub fn is_launch(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "toml")
}

/// A kernel that does something wrong has no trace: what it does afterwards
/// means nothing.
pub(crate) fn refuse_faults(outcome: &Outcome, launch: &Path) -> Result<()> {
    let Some(fault) = outcome.findings.iter().find(|f| !f.kind.is_warning()) else {
        return Ok(());
    };
    let source = fault.source.as_ref();
    let source = source.map_or(String::new(), |s| format!(" ({s})"));
    Err(Error::CheckFailed {
        what: format!(
            "no trace of {}: {}, line {} of the PTX{source}, block {:?}, thread {:?}: {}",
            launch.display(),
            fault.kind.text(),
            fault.ptx_line,
            fault.block,
            fault.thread,
            fault.message
        ),
        help: Some(format!("see all with: spadkit run {}", launch.display())),
    })
}
