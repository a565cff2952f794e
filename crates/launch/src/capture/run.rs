//! A recorded run of a launch: as the accesses of a block, as the programs of all
//! warps, or as both.

use super::access::AccessRecorder;
use super::code::Code;
use super::full::FullRecorder;
use super::{Captured, Selected, refuse_faults};
use crate::launch::{LaunchFile, Prepared};
use spadkit_base::error::Result;
use spadkit_mapping::trace::AccessTrace;
use spadkit_ptx::Module;
use spadkit_ptx::exec::{
    BarrierEvent, BlockSink, CopyEvent, Event, Launch, Meeting, Options, Outcome, Sink,
};
use std::path::Path;

/// Options for the run of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// The block that an access trace is of, by its linear index; what the launch
    /// file says if not given.
    pub block: Option<u64>,
    /// Whether reads outside buffers are no faults, and give zeros.
    pub zeros_beyond: bool,
}

impl RunOptions {
    /// An access trace of that block.
    pub fn of_block(block: u64) -> Self {
        RunOptions {
            block: Some(block),
            ..RunOptions::default()
        }
    }

    /// The traced block of the launch `index` of a file.
    pub(super) fn block_of(self, file: &LaunchFile, index: usize) -> u64 {
        let of_file = if index == 0 { file.trace_block } else { 0 };
        self.block.unwrap_or(of_file)
    }
}

/// A launch of a file, with the PTX that runs: its own or another. The launches
/// before it run first.
#[derive(Clone, Copy)]
pub struct LaunchRun<'a> {
    /// The file.
    pub file: &'a LaunchFile,
    /// The PTX.
    pub module: &'a Module,
    /// The launch of the file that is recorded.
    pub selected: &'a Selected,
    /// Options of the run.
    pub options: RunOptions,
}

impl<'a> LaunchRun<'a> {
    fn prepare(&self) -> Result<(Prepared<'a>, usize)> {
        let prepared = self.file.prepare(self.module)?;
        let index = self.selected.index(prepared.launches())?;
        Ok((prepared, index))
    }

    /// The accesses of one block to shared memory.
    pub fn access_trace(&self) -> Result<AccessTrace> {
        let (mut prepared, index) = self.prepare()?;
        launch_trace(&mut prepared, self.file, index, self.options)
    }

    /// Writes the programs of all warps to `to`. Blocks run in order, each is written
    /// as it runs: memory is needed for one, and the file is the same every time.
    pub fn full_trace(&self, to: &Path) -> Result<Captured> {
        let (mut prepared, index) = self.prepare()?;
        let launch = prepared.launches()[index].clone();
        let code = Code::new(prepared.program(), &launch.entry)?;
        let recorder = FullRecorder::new(
            &code,
            (&launch, self.module),
            self.file,
            (self.selected, index),
            to,
        )?;
        let outcome = self.record(&mut prepared, index, &recorder)?;
        refuse_faults(&outcome, &self.selected.file)?;
        recorder.finish()
    }

    /// Both traces of one run. The second is none, and takes a run of its own, if other
    /// blocks run before the traced one or something is wrong: the first must not
    /// depend on them.
    pub fn both(&self, to: &Path) -> Result<(AccessTrace, Option<Captured>)> {
        let (mut prepared, index) = self.prepare()?;
        let launch = prepared.launches()[index].clone();
        let block = self.options.block_of(self.file, index);
        if block != 0 {
            let trace = launch_trace(&mut prepared, self.file, index, self.options)?;
            return Ok((trace, None));
        }
        let code = Code::new(prepared.program(), &launch.entry)?;
        let accesses = AccessRecorder::new(&code, &launch, block)?;
        let named = (self.selected, index);
        let Ok(all) = FullRecorder::new(&code, (&launch, self.module), self.file, named, to) else {
            return Ok((self.access_trace()?, None));
        };
        let outcome = self.record(&mut prepared, index, &Pair(&accesses, &all))?;
        if outcome.has_faults() {
            return Ok((self.access_trace()?, None));
        }
        let trace = accesses.finish(&prepared, self.file, index)?;
        Ok((trace, Some(all.finish()?)))
    }

    /// Runs all launches of the file with the checks of `options`. If nothing runs but
    /// the block that an access trace is of, and without a fault, its accesses come
    /// from the same run.
    pub fn checked(&self, options: &Options) -> Result<Checked<'a>> {
        let (mut prepared, index) = self.prepare()?;
        let launch = prepared.launches()[index].clone();
        if prepared.launches().len() > 1 || launch.grid != [1, 1, 1] {
            let outcome = prepared.run_each(options, |_, _| ())?;
            let trace = None;
            return Ok(Checked {
                prepared,
                outcome,
                trace,
            });
        }
        let code = Code::new(prepared.program(), &launch.entry)?;
        let block = self.options.block_of(self.file, index);
        let recorder = AccessRecorder::new(&code, &launch, block)?;
        let recorded = Options {
            sink: Some(&recorder),
            ..options.clone()
        };
        let outcome = prepared.run_each(&recorded, |_, _| ())?;
        let is_whole = !outcome.has_faults();
        let trace = is_whole.then(|| recorder.finish(&prepared, self.file, index));
        Ok(Checked {
            trace: trace.transpose()?,
            prepared,
            outcome,
        })
    }

    fn record(&self, prepared: &mut Prepared, index: usize, sink: &dyn Sink) -> Result<Outcome> {
        let options = Options {
            threads: 1,
            sink: Some(sink),
            zeros_beyond: self.options.zeros_beyond,
            ..Options::default()
        };
        prepared.run_one(index, &options)
    }
}

/// Result of all launches of a file.
pub struct Checked<'a> {
    /// The launches with their buffers, after they ran.
    pub prepared: Prepared<'a>,
    /// Outcome of the run.
    pub outcome: Outcome,
    /// The accesses of the traced block, if it is all that ran.
    pub trace: Option<AccessTrace>,
}

/// The accesses of a block of the launch `index` of a file that is prepared, with
/// its PTX or with another. Only this block of the launch runs.
pub fn launch_trace(
    prepared: &mut Prepared,
    file: &LaunchFile,
    index: usize,
    options: RunOptions,
) -> Result<AccessTrace> {
    let launch: Launch = prepared.launches()[index].clone();
    let block = options.block_of(file, index);
    let code = Code::new(prepared.program(), &launch.entry)?;
    let recorder = AccessRecorder::new(&code, &launch, block)?;
    let options = Options {
        threads: 1,
        sink: Some(&recorder),
        only_block: Some(block),
        zeros_beyond: options.zeros_beyond,
        ..Options::default()
    };
    let outcome = prepared.run_one(index, &options)?;
    refuse_faults(&outcome, &file.source.path)?;
    recorder.finish(prepared, file, index)
}

/// Tells two observers.
struct Pair<'a>(&'a dyn Sink, &'a dyn Sink);

impl Sink for Pair<'_> {
    fn block(&self, block: [u32; 3]) -> Option<Box<dyn BlockSink + '_>> {
        match (self.0.block(block), self.1.block(block)) {
            (Some(a), Some(b)) => Some(Box::new(PairOfBlock(a, b))),
            (one, other) => one.or(other),
        }
    }
}

struct PairOfBlock<'a>(Box<dyn BlockSink + 'a>, Box<dyn BlockSink + 'a>);

impl BlockSink for PairOfBlock<'_> {
    fn instruction(&mut self, event: &Event) {
        self.0.instruction(event);
        self.1.instruction(event);
    }

    fn mbarrier(&mut self, event: &BarrierEvent) {
        self.0.mbarrier(event);
        self.1.mbarrier(event);
    }

    fn bulk_copy(&mut self, event: &CopyEvent) {
        self.0.bulk_copy(event);
        self.1.bulk_copy(event);
    }

    fn barrier_reached(&mut self, meeting: &Meeting) {
        self.0.barrier_reached(meeting);
        self.1.barrier_reached(meeting);
    }

    fn barrier_passed(&mut self, barrier: u32) {
        self.0.barrier_passed(barrier);
        self.1.barrier_passed(barrier);
    }

    fn finish(self: Box<Self>) {
        self.0.finish();
        self.1.finish();
    }
}
