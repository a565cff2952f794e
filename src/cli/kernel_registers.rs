//! The registers of a kernel, for commands that go on without them.

use super::printer::Printer;
use crate::assembler::registers;
use crate::config::Config;
use crate::ptx::Module;

/// The registers of a thread of `entry` on `machine`. Where the assembler fails,
/// they are those that the user gives, with a warning.
pub(super) fn of_kernel(
    module: &Module,
    entry: &str,
    machine: &Config,
    given: Option<u32>,
    printer: &Printer,
) -> Option<u32> {
    registers(module, entry, machine, given).unwrap_or_else(|error| {
        printer.warn(match given {
            Some(given) => format!("the given {given} registers of a thread count: {error}"),
            None => format!("the registers of a thread are unknown: {error}"),
        });
        given
    })
}
