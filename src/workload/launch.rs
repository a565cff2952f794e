//! Launch files as programs: kernels in PTX, executed.

use crate::capture::{Selected, full_trace_of, opened};
use crate::error::{Error, Result};
use crate::launch::LaunchFile;
use crate::output::Scratch;
use crate::sm::{KernelInfo, ProgramStream, TraceFile, Workload};
use crate::trace::Places;
use std::path::Path;

/// The first launch of a launch file.
///
/// The kernel runs once; the programs of its warps then lie in a temporary
/// [full trace](TraceFile), from which each is read as the SM runs it.
pub struct LaunchWorkload {
    file: TraceFile,
    places: Places,
    /// Goes when the workload does.
    _scratch: Scratch,
}

impl LaunchWorkload {
    /// Runs the kernel.
    pub fn open(launch: &Path) -> Result<Self> {
        Self::open_with(launch, false)
    }

    /// The same; with `zeros_beyond` the kernel may read outside buffers.
    pub fn open_with(launch: &Path, zeros_beyond: bool) -> Result<Self> {
        let (mut file, selected) = opened(launch)?;
        file.zeros_beyond = zeros_beyond;
        Self::of(&file, &selected)
    }

    /// Runs the kernel of a launch with another text for its PTX.
    pub fn of_text(file: &LaunchFile, selected: &Selected, text: &str) -> Result<Self> {
        let scratch = Scratch::new()?;
        let ptx = scratch.path("k.ptx");
        std::fs::write(&ptx, text).map_err(|e| Error::io("write", &ptx, e))?;
        let mut file = file.clone();
        file.ptx.value = ptx;
        file.linked.clear();
        Self::of(&file, selected)
    }

    /// Runs the kernel of a launch of a file that has been read.
    pub fn of(file: &LaunchFile, selected: &Selected) -> Result<Self> {
        let scratch = Scratch::new()?;
        let path = scratch.path("k.spt");
        let captured = full_trace_of(file, selected, &path)?;
        Ok(LaunchWorkload {
            file: TraceFile::open(&path)?,
            places: captured.places,
            _scratch: scratch,
        })
    }
}

impl Workload for LaunchWorkload {
    fn info(&self) -> &KernelInfo {
        self.file.info()
    }

    fn open(&self, block: u32, warp: u32) -> Result<Box<dyn ProgramStream + '_>> {
        self.file.open(block, warp)
    }

    fn places(&self) -> Places {
        self.places.clone()
    }
}
