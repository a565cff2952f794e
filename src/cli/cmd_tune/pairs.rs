//! The accesses that a mapping is tuned for where blocks share.

use super::TuneArgs;
use crate::cli::printer::Printer;
use crate::config::Config;
use crate::error::Result;
use crate::sm::{Layout, Setup, Share};
use crate::trace::AccessTrace;
use crate::workload::AccessOptions;

/// The accesses of a block wherever blocks that share can lie.
pub(super) fn placed(
    args: &TuneArgs,
    part: f64,
    machine: &Config,
    printer: &Printer,
) -> Result<AccessTrace> {
    let setup = Setup {
        sharing: Some(Share::All(part)),
        ..Setup::default()
    };
    let machine = setup.apply(machine)?;
    let options = AccessOptions {
        zeros_beyond: args.allow.run(printer).zeros_beyond,
        ..AccessOptions::default()
    };
    let workload = args.input.programs(&options)?;
    let layout = Layout::new(&machine, workload.info())?;
    layout.placed(workload.as_ref())
}
