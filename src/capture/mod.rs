//! Launch files as traces: what the executor reports while a kernel runs, as
//! an access trace of one block or as a full trace of all (docs/reference/ptx.md).

mod access;
mod aggregated;
mod asynchronous;
mod barriers;
mod code;
mod copies;
mod full;
mod products;
mod registers;
mod select;
pub mod statics;
mod target;
#[cfg(test)]
mod tests;

pub use access::{access_trace, access_trace_with, launch_trace};
pub use full::{Captured, full_trace, full_trace_of, full_trace_with};
pub use select::{Selected, input_files, launches_note, listed_from};
pub use target::{PtxTarget, ptx_target};

use crate::error::{Error, Result};
use crate::launch::LaunchFile;
use crate::ptx::exec::Outcome;
use std::path::Path;

/// Whether INPUT is a launch file, or a launch of one, by its name.
pub fn is_launch(path: &Path) -> bool {
    Selected::of(path).is_some()
}

/// The launch file that INPUT names, with the launch.
pub(crate) fn opened(input: &Path) -> Result<(LaunchFile, Selected)> {
    let selected = Selected::of(input).unwrap_or_else(|| Selected {
        file: input.to_owned(),
        which: None,
    });
    Ok((LaunchFile::load(&selected.file)?, selected))
}

/// Where a trace comes from: the file, and of several launches which.
fn source(selected: &Selected, index: usize, file: &LaunchFile) -> String {
    let path = selected.file.display();
    if file.then.is_empty() {
        path.to_string()
    } else {
        format!("{path}, launch {index}")
    }
}

/// A kernel that does something wrong has no trace: what it does afterwards
/// means nothing.
pub(crate) fn refuse_faults(outcome: &Outcome, launch: &Path) -> Result<()> {
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
            fault.message
        ),
        // A launch without a file, a program's, is not an input of a command.
        help: Some(if is_launch(launch) {
            format!("list all of them with: spadkit run {}", launch.display())
        } else {
            "a run with races shows all findings".to_owned()
        }),
    })
}
