//! The interface of a command to `main`.

use super::{Global, Printer};
use crate::error::Result;
use crate::workload::Input;

/// The purpose of an example, and its arguments.
pub(super) type Example = (&'static str, &'static str);

/// A command with its arguments, ready to be executed.
pub(super) trait Execute {
    /// The examples at the end of its help.
    fn examples() -> &'static [Example]
    where
        Self: Sized;

    /// The kernel that it is about: where no machine is named, the target of
    /// its PTX chooses one. None for commands that make or check hardware: the
    /// user designs that machine, and the GPUs that PTX names have no RTL of the
    /// SM path.
    fn kernel(&self) -> Option<&Input> {
        None
    }

    /// Whether it works on one machine, which its output then names. Not asked of a
    /// command whose row says `needs Nothing`.
    fn has_machine(&self) -> bool {
        true
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()>;
}
