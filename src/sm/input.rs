//! INPUT of `sim`: a program text, a full trace, or an access trace.

use super::{AccelSimWorkload, AccessWorkload, TraceFile, WarpText, Workload};
use crate::error::{Error, Result};
use crate::trace::{accelsim, load_input};
use std::path::Path;

/// Whether INPUT is an access trace, by its name or, for a full trace, by its
/// first bytes.
pub fn is_access_trace(input: &str) -> bool {
    let path = Path::new(input);
    let named = |extension: &str| path.extension().is_some_and(|e| e == extension);
    let programs = named("warp") || named("spt") || accelsim::is_accelsim(path);
    !(programs || TraceFile::is_one(path))
}

/// Reads INPUT: a program text (`.warp`), a full trace, an Accel-Sim trace, or whatever
/// [`load_input`] takes. `blocks` is the grid of an access trace, 1 if not
/// given; the others bring their own.
pub fn load_workload(input: &str, blocks: Option<u32>) -> Result<Box<dyn Workload>> {
    let path = Path::new(input);
    let is_text = path.extension().is_some_and(|e| e == "warp");
    if is_access_trace(input) {
        let trace = load_input(input)?;
        return Ok(Box::new(AccessWorkload::new(&trace, blocks.unwrap_or(1))?));
    }
    if let Some(blocks) = blocks {
        return Err(Error::usage(
            format!("{blocks} blocks of {input}, which has a grid of its own"),
            "--blocks is for access traces, which are of one block",
        ));
    }
    if accelsim::is_accelsim(path) {
        return Ok(Box::new(AccelSimWorkload::open(path)?));
    }
    Ok(match is_text {
        true => Box::new(WarpText::load(path)?),
        false => Box::new(TraceFile::open(path)?),
    })
}
