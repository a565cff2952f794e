//! The gain of sharing and of each of the compiler's steps (sharing paper, Figs
//! 14, 16 and 17). The golden model of the SM runs a kernel without sharing and
//! with it. Then owner-warp-first scheduling, the reordered variables, and
//! relssp placed in both ways are added.

use super::entry::AnalysedEntry;
use super::placement::Placement;
use super::plan::{LayoutKind, Needs, Plan};
use rayon::prelude::*;
use serde::Serialize;
use spadkit_base::error::Result;
use spadkit_launch::capture::Selected;
use spadkit_launch::capture::{LaunchRun, RunOptions};
use spadkit_launch::launch::LaunchFile;
use spadkit_launch::workload::LaunchWorkload;
use spadkit_ptx::Module;
use spadkit_sm::config::{Config, Scheduler};
use spadkit_sm::sm::{Residency, Setup, Share, Statistics};

/// A way to run the kernel.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The paper's name; `Unshared` is its baseline.
    pub name: &'static str,
    /// The warp scheduler.
    pub scheduler: Scheduler,
    /// Blocks that were resident.
    pub residency: Residency,
    /// The statistics of the run.
    pub statistics: Statistics,
}

/// Name, scheduler (none: the machine's), whether blocks share, and what the
/// compiler does.
type Step = (&'static str, Option<Scheduler>, bool, Option<Placement>);

const STEPS: [Step; 6] = [
    ("Unshared", None, false, None),
    ("NoOpt", None, true, None),
    ("OWF", Some(Scheduler::Owf), true, None),
    ("Reorder", Some(Scheduler::Owf), true, Some(Placement::None)),
    (
        "PostDom",
        Some(Scheduler::Owf),
        true,
        Some(Placement::PostDom),
    ),
    ("OPT", Some(Scheduler::Owf), true, Some(Placement::Optimal)),
];

impl Variant {
    /// Times as fast as `baseline`.
    pub fn speed_up(&self, baseline: &Variant) -> f64 {
        baseline.statistics.cycles as f64 / self.statistics.cycles.max(1) as f64
    }

    fn gain(&self, baseline: &Variant) -> Gain {
        let statistics = &self.statistics;
        let [before, holding, after] = statistics.shared_progress.parts().map(|p| 100.0 * p);
        Gain {
            variant: self.name,
            scheduler: self.scheduler,
            resident_blocks: self.residency.blocks(),
            cycles: statistics.cycles,
            warp_instructions: statistics.warp_instructions,
            ipc: statistics.ipc,
            thread_instructions: statistics.thread_instructions,
            thread_ipc: statistics.thread_ipc,
            speed_up: self.speed_up(baseline),
            stalls_shared_scratchpad: statistics.stalls.shared_scratchpad,
            progress_pct: Progress {
                before,
                holding,
                after,
            },
            pairs: self.residency.pairs,
        }
    }
}

/// The numbers of a variant, compared with the baseline.
#[derive(Clone, Debug, Serialize)]
pub struct Gain {
    /// Name of the variant.
    pub variant: &'static str,
    /// The scheduler that it ran with.
    pub scheduler: Scheduler,
    /// Blocks that were resident.
    pub resident_blocks: u32,
    /// Cycles of the kernel.
    pub cycles: u64,
    warp_instructions: u64,
    /// Warp instructions per cycle.
    pub ipc: f64,
    thread_instructions: u64,
    /// Thread instructions per cycle.
    pub thread_ipc: f64,
    /// Times as fast as the baseline.
    pub speed_up: f64,
    stalls_shared_scratchpad: u64,
    /// The phases in which paired blocks spend their cycles.
    pub progress_pct: Progress,
    /// Pairs of blocks that shared.
    #[serde(skip)]
    pub pairs: u32,
}

/// Cycles of blocks of pairs with respect to the shared part, in percent.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Progress {
    /// Before they had it.
    pub before: f64,
    /// While they had it.
    pub holding: f64,
    /// After they released it.
    pub after: f64,
}

/// The numbers of each variant; the first is the baseline.
pub fn gains(variants: &[Variant]) -> Vec<Gain> {
    variants.iter().map(|v| v.gain(&variants[0])).collect()
}

/// A kernel with the launch that it is run by.
#[derive(Clone, Copy)]
pub struct Launched<'a> {
    /// The kernel.
    pub kernel: &'a AnalysedEntry<'a>,
    /// Resources that a block needs.
    pub needs: Needs,
    /// The launch file.
    pub file: &'a LaunchFile,
    /// The launch of the file that is run.
    pub selected: &'a Selected,
}

impl Launched<'_> {
    /// The programs of the launch with another text for its PTX.
    fn workload(&self, text: &str) -> Result<LaunchWorkload> {
        LaunchWorkload::open(&LaunchRun {
            file: self.file,
            module: &Module::parse(text, &self.kernel.module.name)?,
            selected: self.selected,
            options: RunOptions::default(),
        })
    }
}

/// Runs all variants on `machine` with the threshold `sharing`; the machine's
/// scheduler is that of the baseline and of plain sharing. `go_on` is
/// asked now and then, and ends the runs by returning false: there are fewer
/// variants then. Equal programs run once.
pub fn variants(
    launched: Launched,
    machine: &Config,
    sharing: f64,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Variant>> {
    let (texts, program_of) = programs(launched, machine, sharing)?;
    let mut workloads = Vec::new();
    for text in &texts {
        if !go_on() {
            return Ok(Vec::new());
        }
        workloads.push(launched.workload(text)?);
    }
    let mut jobs: Vec<(usize, Scheduler, bool)> = STEPS
        .iter()
        .zip(&program_of)
        .map(|(step, &program)| {
            let scheduler = step.1.unwrap_or(machine.settings.scheduler);
            (program, scheduler, step.2)
        })
        .collect();
    let wanted = jobs.clone();
    jobs.dedup();
    let runs = jobs.par_iter().map(|&(program, scheduler, shares)| {
        let mut machine = machine.clone();
        machine.sm.sharing.on = false;
        let setup = Setup {
            scheduler: Some(scheduler),
            sharing: shares.then_some(Share::All(sharing)),
            ..Setup::default()
        };
        let sm = setup.build(&machine, &workloads[program])?;
        let residency = sm.layout().residency();
        let (statistics, ended) = sm.run_watched(&mut |_| go_on())?;
        Ok(ended.then_some((residency, statistics)))
    });
    let runs: Vec<_> = runs.collect::<Result<_>>()?;
    let all = STEPS.iter().zip(&wanted).filter_map(|(step, job)| {
        let run = jobs.iter().position(|j| j == job)?;
        let (residency, statistics) = runs[run]?;
        Some(Variant {
            name: step.0,
            scheduler: job.1,
            residency,
            statistics,
        })
    });
    Ok(all.collect())
}

/// The different programs of the steps, and which of them each step runs.
fn programs(
    launched: Launched,
    machine: &Config,
    sharing: f64,
) -> Result<(Vec<String>, Vec<usize>)> {
    let mut texts: Vec<String> = vec![launched.kernel.module.text.clone()];
    let mut program_of = Vec::new();
    for (_, _, _, placement) in STEPS {
        let text = match placement {
            None => texts[0].clone(),
            Some(placement) => annotated(launched, machine, sharing, placement)?,
        };
        let known = texts.iter().position(|t| *t == text);
        program_of.push(known.unwrap_or_else(|| {
            texts.push(text);
            texts.len() - 1
        }));
    }
    Ok((texts, program_of))
}

/// The launch of a kernel with the best layout and relssp placed in one way.
pub fn annotated_launch(
    launched: Launched,
    machine: &Config,
    sharing: f64,
    placement: Placement,
) -> Result<LaunchWorkload> {
    let text = annotated(launched, machine, sharing, placement)?;
    launched.workload(&text)
}

/// The kernel with the best layout and relssp placed in one way; as it was
/// where neither changes anything.
fn annotated(
    launched: Launched,
    machine: &Config,
    sharing: f64,
    placement: Placement,
) -> Result<String> {
    let choice = (LayoutKind::Optimal, placement);
    let plan = Plan::new(launched.kernel, machine, launched.needs, sharing, choice)?;
    let declared = launched.kernel.variables.iter().map(|v| v.offset);
    // If no blocks share, there is no shared part to lay out or to release.
    if plan.residency.pairs == 0
        || plan.points.is_empty() && declared.eq(plan.layout.offsets.iter().copied())
    {
        Ok(launched.kernel.module.text.clone())
    } else {
        Ok(plan.annotate()?.text)
    }
}
