//! Launch files as traces: what the executor reports while a kernel runs, as
//! an access trace of one block or as a full trace of all (docs/reference/ptx-traces.md).

mod access;
mod aggregated;
mod asynchronous;
mod barriers;
mod code;
mod copies;
mod executed;
mod full;
mod input;
mod products;
mod registers;
mod run;
mod select;
pub mod statics;
#[cfg(test)]
mod tests;
mod units;

pub use full::Captured;
pub use input::LaunchInput;
pub use run::{Checked, LaunchRun, RunOptions, launch_trace};
pub use select::{Selected, listed_from};

use crate::launch::LaunchFile;
use crate::readable::readable_words;
use spadkit_base::error::{Error, Result};
use spadkit_ptx::exec::Outcome;
use std::path::Path;

/// The source of a trace: the file, and which of several launches.
fn source(path: &Path, index: usize, file: &LaunchFile) -> String {
    let path = path.display();
    if file.then.is_empty() {
        path.to_string()
    } else {
        format!("{path}, launch {index}")
    }
}

/// A kernel that does something wrong has no trace: what it does afterwards
/// means nothing.
pub fn refuse_faults(outcome: &Outcome, launch: &Path) -> Result<()> {
    let Some(fault) = outcome.fault() else {
        return Ok(());
    };
    let source = fault.source.as_ref();
    let source = source.map_or(String::new(), |s| format!(" ({s})"));
    Err(Error::CheckFailed {
        what: format!(
            "no trace of {}: {}, line {} of {}{source}, block {:?}, thread {:?}: {}",
            launch.display(),
            fault.kind.text(),
            fault.ptx_line,
            fault.ptx(),
            fault.block,
            fault.thread,
            readable_words(&fault.message)
        ),
        // A launch without a file, a program's, is not an input of a command.
        help: Some(if Selected::of(launch).is_some() {
            format!("list all of them with: spadkit run {}", launch.display())
        } else {
            "a run with races shows all findings".to_owned()
        }),
    })
}
