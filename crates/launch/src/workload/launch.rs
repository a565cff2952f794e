//! Launches as programs: kernels in PTX, executed.

use crate::capture::{Captured, LaunchRun};
use spadkit_base::error::Result;
use spadkit_base::output::Scratch;
use spadkit_mapping::trace::{AccessTrace, Places};
use spadkit_sm::sm::{Incoming, KernelInfo, ProgramStream, TraceFile, Workload};

/// A launch of a launch file.
///
/// The kernel runs once; the programs of its warps then lie in a temporary
/// [full trace](TraceFile), from which each is read as the SM runs it.
pub struct LaunchWorkload {
    file: TraceFile,
    places: Places,
    /// Goes when the workload does.
    _scratch: Scratch,
}

/// The full trace in the folder of a workload.
const FILE: &str = "k.spt";

impl LaunchWorkload {
    /// Runs the kernel.
    pub fn open(run: &LaunchRun) -> Result<Self> {
        let scratch = Scratch::new()?;
        let captured = run.full_trace(&scratch.path(FILE))?;
        Self::new(captured, scratch)
    }

    /// Runs the kernel, for the accesses of a block, too. The workload is none where it
    /// takes [a run of its own](LaunchRun::both).
    pub fn open_both(run: &LaunchRun) -> Result<(AccessTrace, Option<Self>)> {
        let scratch = Scratch::new()?;
        let (trace, captured) = run.both(&scratch.path(FILE))?;
        let workload = captured.map(|captured| Self::new(captured, scratch));
        Ok((trace, workload.transpose()?))
    }

    fn new(captured: Captured, scratch: Scratch) -> Result<Self> {
        Ok(LaunchWorkload {
            file: TraceFile::open(&scratch.path(FILE))?,
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

    fn incoming(&self, block: u32) -> Result<Vec<Incoming>> {
        self.file.incoming(block)
    }

    fn places(&self) -> Places {
        self.places.clone()
    }
}
