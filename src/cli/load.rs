//! INPUT, read for a machine.

use super::printer::Printer;
use crate::capture::{LaunchInput, LaunchRun};
use crate::config::Config;
use crate::error::Result;
use crate::trace::AccessTrace;
use crate::workload::{Input, LaunchWorkload, RunOptions};

/// Reads INPUT for `machine`, which must have its addresses; warns where the
/// two were not made for each other.
pub(super) fn load_for(
    input: &Input,
    run: RunOptions,
    machine: &Config,
    printer: &Printer,
) -> Result<AccessTrace> {
    let trace = input.accesses(run)?;
    admit(input, &trace, machine, printer)?;
    Ok(trace)
}

/// The accesses and the programs of a launch, from one run where that can be.
pub(super) fn load_both(
    input: &Input,
    launch: &LaunchRun,
    machine: &Config,
    printer: &Printer,
) -> Result<(AccessTrace, LaunchWorkload)> {
    let (trace, workload) = LaunchWorkload::open_both(launch)?;
    admit(input, &trace, machine, printer)?;
    let workload = workload.map_or_else(|| LaunchWorkload::open(launch), Ok)?;
    Ok((trace, workload))
}

/// Refuses accesses that `machine` does not have; warns where the two were not made
/// for each other.
pub(super) fn admit(
    input: &Input,
    trace: &AccessTrace,
    machine: &Config,
    printer: &Printer,
) -> Result<()> {
    note_launches(input, printer);
    for note in machine.admit(trace)? {
        printer.warn(note);
    }
    Ok(())
}

/// Says which launch of a launch file with several INPUT is.
pub(super) fn note_launches(input: &Input, printer: &Printer) {
    if let Some(note) = input.launch().and_then(LaunchInput::note) {
        printer.warn(note);
    }
}
