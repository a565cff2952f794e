//! INPUT of `sim`: a launch file, a program text, a full trace, or an access trace.

use super::{LaunchWorkload, load_input};
use crate::capture::is_launch;
use crate::error::{Error, Result};
use crate::input::{Limit, is_stdin};
use crate::sm::{AccelSimWorkload, AccessWorkload, TraceFile, WarpText, Workload};
use crate::trace::accelsim;
use std::path::Path;

/// How an access trace, which knows the accesses of one block alone, becomes
/// programs. Inputs that bring programs of their own take none of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AccessOptions {
    /// Equal blocks of the grid, 1 if not given.
    pub blocks: Option<u32>,
    /// N: an access waits for the N-th one before it in its warp; 0: for none;
    /// [`AccessWorkload::DEPENDENT`] if not given.
    pub dependent: Option<u32>,
    /// ALU instructions between the accesses, so that this share of all
    /// instructions are accesses; none if not given.
    pub intensity: Option<f64>,
    /// Whether an executed kernel may read outside buffers.
    pub zeros_beyond: bool,
}

impl AccessOptions {
    /// The programs of an access trace.
    pub fn workload(&self, trace: &crate::trace::AccessTrace) -> Result<AccessWorkload> {
        let workload = AccessWorkload::new(trace, self.blocks.unwrap_or(1))?
            .dependent(self.dependent.unwrap_or(AccessWorkload::DEPENDENT))?;
        match self.intensity {
            Some(intensity) => workload.with_intensity(intensity),
            None => Ok(workload),
        }
    }

    /// Refuses what is for access traces alone, for `input`, which is none.
    pub fn refuse(&self, input: &str) -> Result<()> {
        let [blocks, dependent] = [self.blocks, self.dependent].map(|o| o.map(|v| v.to_string()));
        let intensity = self.intensity.map(|v| v.to_string());
        let refused = [
            ("--blocks", blocks, "a grid of its own"),
            ("--dependent", dependent, "registers of its own"),
            ("--intensity", intensity, "instructions of its own"),
        ];
        match refused
            .into_iter()
            .find_map(|(o, v, own)| Some((o, v?, own)))
        {
            None => Ok(()),
            Some((option, value, own)) => Err(Error::usage(
                format!("{option} {value} for {input}, which has {own}"),
                format!("{option} is for access traces, which know the accesses of one block"),
            )),
        }
    }
}

/// Whether INPUT is an access trace, by its name or, for a full trace, by its
/// first bytes. Of standard input, what begins like JSON is one.
pub fn is_access_trace(input: &str) -> bool {
    let path = Path::new(input);
    if is_stdin(path) {
        return !TraceFile::is_one(path) && begins_like_json(path);
    }
    let named = |extension: &str| path.extension().is_some_and(|e| e == extension);
    let programs = named("warp") || named("spt") || is_launch(path) || accelsim::is_accelsim(path);
    !(programs || TraceFile::is_one(path))
}

/// Reads INPUT: a program text (`.warp`), a full trace, an Accel-Sim trace, a
/// launch file, whose kernel is executed (`.toml`), or whatever
/// [`load_input`] takes. `options` are about access traces; the others bring
/// their own grid and instructions.
pub fn load_workload(input: &str, options: &AccessOptions) -> Result<Box<dyn Workload>> {
    let path = Path::new(input);
    let is_text = if is_stdin(path) {
        !TraceFile::is_one(path)
    } else {
        path.extension().is_some_and(|e| e == "warp")
    };
    if is_access_trace(input) {
        return Ok(Box::new(options.workload(&load_input(input)?)?));
    }
    options.refuse(input)?;
    if accelsim::is_accelsim(path) {
        return Ok(Box::new(AccelSimWorkload::open(path)?));
    }
    if !is_stdin(path) && is_launch(path) {
        return Ok(Box::new(LaunchWorkload::open_with(
            path,
            options.zeros_beyond,
        )?));
    }
    Ok(if is_text {
        Box::new(WarpText::load(path)?)
    } else {
        Box::new(TraceFile::open(path)?)
    })
}

/// Standard input is read by whoever looks at it first, and kept.
fn begins_like_json(stdin: &Path) -> bool {
    const LIMIT: Limit = Limit {
        bytes: 1 << 30,
        expected: "an access trace, a full trace or a program text",
    };
    let begin = |bytes: Vec<u8>| bytes.into_iter().find(|b| !b.is_ascii_whitespace());
    // A byte order mark comes before JSON only; an error comes up again.
    let first = LIMIT.read(stdin).map(begin);
    matches!(first, Ok(Some(b'{' | 0xef) | None) | Err(_))
}
