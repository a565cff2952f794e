//! INPUT of `sim`: a program text, a full trace, or an access trace.

use super::{AccessWorkload, TraceFile, WarpText, Workload};
use crate::error::{Error, Result};
use crate::input::{Limit, is_stdin};
use crate::trace::load_input;
use std::path::Path;

/// Whether INPUT is an access trace, by its name or, for a full trace, by its
/// first bytes. Of standard input, what begins like JSON is one.
pub fn is_access_trace(input: &str) -> bool {
    let path = Path::new(input);
    if is_stdin(path) {
        return !TraceFile::is_one(path) && begins_like_json(path);
    }
    let named = |extension: &str| path.extension().is_some_and(|e| e == extension);
    !(named("warp") || named("spt") || TraceFile::is_one(path))
}

/// Reads INPUT: a program text (`.warp`), a full trace, or whatever
/// [`load_input`] takes. `blocks` is the grid of an access trace, 1 if not
/// given; the others bring their own.
pub fn load_workload(input: &str, blocks: Option<u32>) -> Result<Box<dyn Workload>> {
    let path = Path::new(input);
    let is_text = match is_stdin(path) {
        true => !TraceFile::is_one(path),
        false => path.extension().is_some_and(|e| e == "warp"),
    };
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
    Ok(match is_text {
        true => Box::new(WarpText::load(path)?),
        false => Box::new(TraceFile::open(path)?),
    })
}

/// Standard input is read by whoever looks at it first, and kept.
fn begins_like_json(stdin: &Path) -> bool {
    const LIMIT: Limit = Limit {
        bytes: 1 << 30,
        expected: "an access trace, a full trace or a program text",
    };
    let begin = |bytes: Vec<u8>| bytes.into_iter().find(|b| !b.is_ascii_whitespace());
    // A byte order mark is in front of JSON only; an error comes up again.
    let first = LIMIT.read(stdin).map(begin);
    matches!(first, Ok(Some(b'{' | 0xef) | None) | Err(_))
}
