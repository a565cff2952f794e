//! The kernel on the model of the SM: cycles by what the issue slots did, and
//! the gain of a mapping.

use super::options::Options;
use crate::assembler::registers;
use crate::capture::{LaunchInput, LaunchRun, RunOptions};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hash::HashSpec;
use crate::interrupt;
use crate::launch::LaunchFile;
use crate::report::{CycleParts, FlowReport, Timed, Worth};
use crate::sm::{KernelInfo, Profile, Setup, Workload};
use crate::trace::{AccessTrace, Places};
use crate::workload::{AccessOptions, LaunchWorkload};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A run of the kernel on the model.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub timed: Timed,
    pub parts: CycleParts,
    /// Issue slots by instruction.
    pub profile: Profile,
}

/// The place where a hash is computed, in hardware or in software.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Realized {
    /// The pipeline computes the hash.
    InHardware,
    /// The kernel computes it in its indices: it has no stage.
    InSoftware,
}

/// The runs of one kernel with unmapped indices, each made once.
pub(super) struct Runs<'a> {
    machine: &'a Config,
    workload: Box<dyn Workload + 'a>,
    budget: Duration,
    known: RefCell<BTreeMap<String, Run>>,
}

impl<'a> Runs<'a> {
    pub fn open(trace: &AccessTrace, machine: &'a Config, options: &Options) -> Result<Self> {
        let access = AccessOptions::default();
        let workload: Box<dyn Workload> = if options.input.is_access_trace() {
            Box::new(access.workload(trace)?)
        } else if let Some(launch) = options.input.launch() {
            let run = launch.run(RunOptions::default())?;
            let file = &with_registers(launch, machine)?;
            Box::new(LaunchWorkload::open(&LaunchRun { file, ..run })?)
        } else {
            options.input.programs(&access)?
        };
        Ok(Runs {
            machine,
            workload,
            budget: options.budget,
            known: RefCell::default(),
        })
    }

    /// The run under `hash`, which in hardware has the stages that it needs.
    pub fn under(&self, hash: &HashSpec, realized: Realized) -> Result<Run> {
        let none = realized == Realized::InSoftware || *hash == HashSpec::Mod;
        let stage = none.then_some(0);
        let key = format!("{hash} {stage:?}");
        if let Some(run) = self.known.borrow().get(&key) {
            return Ok(run.clone());
        }
        let run = timed(
            hash.clone(),
            stage,
            self.machine,
            &*self.workload,
            self.budget,
        )?;
        self.known.borrow_mut().insert(key, run.clone());
        Ok(run)
    }

    /// The run of a changed workload without a hash.
    pub fn moved<'w>(
        &'w self,
        change: &dyn Fn(&'w dyn Workload) -> Box<dyn Workload + 'w>,
    ) -> Result<Run> {
        let changed = change(&*self.workload);
        timed(HashSpec::Mod, Some(0), self.machine, &*changed, self.budget)
    }

    /// The kernel.
    pub fn info(&self) -> &KernelInfo {
        self.workload.info()
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u32 {
        self.info().blocks
    }

    /// The places of the instructions.
    pub fn places(&self) -> Places {
        self.workload.places()
    }
}

/// The launch file with the registers of its kernel, as `ptxas` allocates them where it is
/// installed: they limit the resident blocks.
pub(super) fn with_registers(launch: &LaunchInput, machine: &Config) -> Result<LaunchFile> {
    let mut file = launch.file()?.clone();
    if machine.compute_capability.is_some() {
        let module = launch.module()?.clone().one_text()?;
        let entry = launch.selected().entry(&file, &module)?;
        // Without them, the cycles are still worth printing.
        if let Ok(found) = registers(&module, &entry, machine, file.registers) {
            file.registers = found;
        }
    }
    Ok(file)
}

/// Cycles without a hash and under the recommended mapping; `None` where that
/// is the same mapping.
pub(super) fn worth(runs: &Runs, report: &FlowReport) -> Result<Option<Worth>> {
    let best = report.recommended().filter(|m| !m.is_plain());
    let Some(best) = best else {
        return Ok(None);
    };
    let realized = if report.hash_unit {
        Realized::InHardware
    } else {
        Realized::InSoftware
    };
    let before = runs.under(&HashSpec::Mod, realized)?.timed;
    let after = runs.under(&best.hash.parse()?, realized)?.timed;
    Ok(Some(Worth {
        blocks: runs.blocks(),
        speed_up: before.cycles as f64 / after.cycles.max(1) as f64,
        rewritten: false,
        before,
        after,
    }))
}

/// The kernel under `hash`, for at most `budget`.
pub(super) fn timed(
    hash: HashSpec,
    hash_stage: Option<u32>,
    machine: &Config,
    workload: &dyn Workload,
    budget: Duration,
) -> Result<Run> {
    let name = hash.to_string();
    let setup = Setup {
        hash: Some(hash),
        hash_stage,
        ..Setup::default()
    };
    let hash_stage = setup.apply(machine)?.path.hash_stage;
    let start = Instant::now();
    let (statistics, profile, ended) = setup
        .build(machine, workload)?
        .run_profiled(&mut |_| !interrupt::requested() && start.elapsed() < budget)?;
    if !ended {
        return Err(Error::usage(
            format!("not known after {} cycles under {name}", statistics.cycles),
            "spadkit sim has no limit; --budget gives the seconds",
        ));
    }
    Ok(Run {
        parts: CycleParts::of(&statistics),
        timed: Timed {
            hash: name,
            hash_stage,
            cycles: statistics.cycles,
        },
        profile,
    })
}
