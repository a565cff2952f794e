//! `cosim` of one unit: build, run, report.

use super::compiled::Compiled;
use super::lockstep::{Lockstep, Mismatch, Outcome, Recording, record};
use super::shrink::{self, Shrunk};
use super::verilated::VerilatedUnit;
use super::wave;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::output::write_file;
use crate::rtl::{Design, EmittedUnit, Reset, SourceFile, read_foreign};
use crate::sm::Workload;
use crate::tool::{Cache, Toolbox};
use crate::trace::AccessTrace;
use crate::units::{Bench, Layout, Setup, Stimulus, bench_for, replay_for, unit_of};
use rayon::prelude::*;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Cycles before a mismatch that a waveform shows.
const WAVE_CYCLES: u64 = 1000;

/// The unit that executes workloads.
pub const PATH: &str = "spad_sm_path";

/// Options of a co-simulation.
pub struct CosimOptions<'a> {
    /// The machine.
    pub config: &'a Config,
    /// Clock cycles per unit; `None`: as many as each unit has in its row of
    /// `units`.
    pub cycles: Option<u64>,
    /// Seed of the stimulus.
    pub seed: u64,
    /// Addresses from a trace instead of random ones.
    pub trace: Option<&'a AccessTrace>,
    /// The workload of `spad_sm_path`, instead of random stimulus.
    pub replay: Option<Replay<'a>>,
    /// Verilog from this directory instead of emitting it. It is run:
    /// [`check_foreign`](crate::rtl::check_foreign) says what is refused.
    pub rtl_dir: Option<PathBuf>,
    /// Whether Verilog from `rtl_dir` is run unchecked.
    pub trust: bool,
    /// Waveform to write.
    pub wave: Option<PathBuf>,
}

impl<'a> CosimOptions<'a> {
    /// The workload of the unit; `None`: random stimulus.
    fn replay_of(&self, unit: &EmittedUnit) -> Option<Replay<'a>> {
        self.replay.filter(|_| unit.name == PATH)
    }

    /// Clock cycles of the unit.
    fn cycles_of(&self, unit: &EmittedUnit) -> Result<u64> {
        match (self.replay_of(unit), self.cycles) {
            (Some(replay), _) => Ok(replay.cycles),
            (None, Some(cycles)) => Ok(cycles),
            (None, None) => Ok(unit_of(&unit.name)?.cycles),
        }
    }

    /// Verilog files of a unit.
    fn files_of(&self, design: &Design, unit: &EmittedUnit) -> Result<Vec<SourceFile>> {
        match &self.rtl_dir {
            None => Ok(design.files_of(unit)),
            Some(dir) => read_foreign(&unit.files, dir, self.trust),
        }
    }
}

/// A workload as stimulus.
#[derive(Clone, Copy)]
pub struct Replay<'a> {
    /// The kernel.
    pub workload: &'a dyn Workload,
    /// Clock cycles after which it is cut off.
    pub cycles: u64,
}

/// The result for one unit.
#[derive(Clone, Debug, Serialize)]
pub struct CosimResult {
    /// The unit.
    pub unit: String,
    /// Cycles, checks and mismatches.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Wall time of the run, without building.
    pub seconds: f64,
    /// Whether the workload ended, if the unit executed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<bool>,
    /// A short stimulus with the same difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<Shrunk>,
}

impl CosimResult {
    /// The first difference.
    pub fn mismatch(&self) -> Option<&Mismatch> {
        self.outcome.first.as_ref()
    }
}

/// Runs the RTL of `unit` against its golden model.
pub fn cosim_unit(
    design: &Design,
    unit: &EmittedUnit,
    options: &CosimOptions,
    tools: &Toolbox,
    cache: &Cache,
    progress: &dyn Fn(u64),
) -> Result<CosimResult> {
    let layout = Layout::new(unit);
    let (cycles, files) = (options.cycles_of(unit)?, options.files_of(design, unit)?);
    let replay = options.replay_of(unit);
    let setup = Setup {
        config: options.config,
        layout: &layout,
        reset: Reset::of(files.iter().map(|file| file.text.as_str())),
        trace: options.trace,
    };
    let new_bench = || -> Result<Box<dyn Bench + '_>> {
        Ok(match replay {
            Some(Replay { workload, .. }) => {
                replay_for(options.config, &layout, workload, options.seed)?
            }
            None => bench_for(&unit.name, &setup)?,
        })
    };
    let mut bench = new_bench()?;
    let rtl = VerilatedUnit::build(
        &unit.name,
        &files,
        layout.clone(),
        Compiled::for_cycles(cycles),
        tools,
        cache,
    )?;
    let start = Instant::now();
    let keep = options.wave.is_some();
    let run = Lockstep::new(&layout, &mut *bench, rtl.instance(), options.seed, keep);
    let (mut outcome, recording) = run.run(cycles, progress)?;
    if let Some(first) = &mut outcome.first {
        first.driven_by = unit.driven_by(&first.signal);
    }
    let seconds = start.elapsed().as_secs_f64();
    let shrunk = match &outcome.first {
        Some(first) if shrink::fits(&layout, first.cycle + 1) => {
            let failing = record_until(first, &layout, &mut *new_bench()?, options.seed);
            shrink_failing(&layout, &rtl, &*bench, failing, first)?
        }
        _ => None,
    };
    let result = CosimResult {
        unit: unit.name.clone(),
        ended: replay.map(|_| outcome.ended),
        outcome,
        seconds,
        shrunk,
    };
    if let (Some(path), Some(recording)) = (&options.wave, &recording) {
        write_wave(path, &result, &layout, recording)?;
    }
    Ok(result)
}

/// The part of a failing stimulus that shows the mismatch; without a clock, its last cycle.
fn shrink_failing(
    layout: &Layout,
    rtl: &Arc<VerilatedUnit>,
    bench: &dyn Bench,
    failing: Recording,
    first: &Mismatch,
) -> Result<Option<Shrunk>> {
    if layout.clocked {
        shrink::shrink(layout, rtl, bench, &failing.inputs, first)
    } else {
        shrink::last_cycle(layout, rtl, failing)
    }
}

/// The stimulus of `seed` up to the cycle of a mismatch, on a fresh bench.
fn record_until(first: &Mismatch, layout: &Layout, bench: &mut dyn Bench, seed: u64) -> Recording {
    let cycles = first.cycle as usize + 1;
    record(layout, bench, &mut Stimulus::new(seed), cycles)
}

/// Writes the last cycles before a mismatch, or of the run, as waveforms.
fn write_wave(
    path: &Path,
    result: &CosimResult,
    layout: &Layout,
    recording: &Recording,
) -> Result<()> {
    let (recording, end) = match (&result.shrunk, result.mismatch()) {
        (Some(shrunk), _) => (&shrunk.recording, shrunk.cycles),
        (None, Some(first)) => (recording, first.cycle + 1),
        (None, None) => (recording, result.outcome.cycles),
    };
    let cycles = end.saturating_sub(WAVE_CYCLES) as usize..end as usize;
    let text = wave::render(&result.unit, layout, recording, cycles)
        .map_err(|e| Error::io("write", path, e))?;
    write_file(path, &text)
}

/// Runs every unit of `design`, in parallel; `done` counts finished units.
/// After an interrupt the units that were begun have fewer cycles, and the
/// others are left out.
pub fn cosim_all(
    design: &Design,
    options: &CosimOptions,
    tools: &Toolbox,
    cache: &Cache,
    done: &(dyn Fn(u64, &str) + Sync),
) -> Result<Vec<CosimResult>> {
    let units: Vec<&EmittedUnit> = design.units.iter().collect();
    let run = |unit: &EmittedUnit| cosim_unit(design, unit, options, tools, cache, &|_| {});
    each_unit(&units, &run, done)
}

/// Gives `units` to `run`, in parallel, as [`cosim_all`] does.
pub fn each_unit(
    units: &[&EmittedUnit],
    run: &(dyn Fn(&EmittedUnit) -> Result<CosimResult> + Sync),
    done: &(dyn Fn(u64, &str) + Sync),
) -> Result<Vec<CosimResult>> {
    let finished = AtomicU64::new(0);
    let one = |unit: &EmittedUnit| {
        interrupt::check(&unit.name)?;
        let result = run(unit)?;
        done(finished.fetch_add(1, Ordering::Relaxed) + 1, &unit.name);
        Ok(result)
    };
    let results = units.par_iter();
    let results = results.map(|unit| interrupt::or_none(one(unit)));
    let results = results.collect::<Result<Vec<_>>>()?;
    Ok(results.into_iter().flatten().collect())
}
