//! Options by which INPUT becomes programs.

use crate::capture::RunOptions;
use spadkit_base::error::{Error, Result};
use spadkit_mapping::trace::AccessTrace;
use spadkit_sm::sm::AccessWorkload;
use std::fmt::Display;

/// Options by which an access trace, which knows the accesses of one block alone,
/// becomes programs. Inputs that bring programs of their own take none of it.
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
    /// Options for the run of an executed kernel.
    pub fn run(&self) -> RunOptions {
        RunOptions {
            block: None,
            zeros_beyond: self.zeros_beyond,
        }
    }

    /// The programs of an access trace.
    pub fn workload(&self, trace: &AccessTrace) -> Result<AccessWorkload> {
        let workload = AccessWorkload::new(trace, self.blocks.unwrap_or(1))?
            .dependent(self.dependent.unwrap_or(AccessWorkload::DEPENDENT))?;
        match self.intensity {
            Some(intensity) => workload.with_intensity(intensity),
            None => Ok(workload),
        }
    }

    /// Refuses options for access traces if `input` is not one.
    pub fn refuse(&self, input: &impl Display) -> Result<()> {
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
