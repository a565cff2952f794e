//! Launch files as programs: kernels in PTX, executed.

use crate::capture::{Selected, full_trace_of, opened};
use crate::error::{Error, Result};
use crate::launch::LaunchFile;
use crate::sm::{KernelInfo, ProgramStream, TraceFile, Workload};
use std::path::Path;
use tempfile::TempPath;

/// The first launch of a launch file.
///
/// The kernel runs once; the programs of its warps then lie in a temporary
/// [full trace](TraceFile), from which each is read as the SM runs it.
pub struct LaunchWorkload {
    file: TraceFile,
    /// Goes when the workload does.
    _path: TempPath,
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

    /// Runs the kernel of a launch of a file that has been read.
    pub fn of(file: &LaunchFile, selected: &Selected) -> Result<Self> {
        let temporary = tempfile::Builder::new().suffix(".spt").tempfile();
        let temporary = temporary
            .map_err(|e| Error::io("create", &std::env::temp_dir(), e))?
            .into_temp_path();
        full_trace_of(file, selected, &temporary)?;
        Ok(LaunchWorkload {
            file: TraceFile::open(&temporary)?,
            _path: temporary,
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
}
