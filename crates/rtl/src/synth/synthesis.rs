//! Synthesis of emitted units over their target periods, with whole SMs.

use super::{
    Effort, Flow, Published, SmTotal, SynthJob, SynthReport, TARGET_PERIODS_PS, Technology,
};
use crate::config::Config;
use crate::error::Result;
use crate::hash::{Configured, HASH_ADD, HASH_XOR};
use crate::rtl::{Design, EmittedUnit};
use crate::tool::{Cache, Toolbox};
use serde::Serialize;
use std::path::Path;

/// Beside the paper's target periods, two that no unit is expected to reach:
/// they show the fastest netlist that ABC finds.
const STRETCH_PERIODS_PS: [u32; 2] = [150, 80];

/// Options of a measurement, in addition to units and periods.
#[derive(Clone, Copy, Default)]
pub struct Measured<'a> {
    /// Effort to meet the periods.
    pub effort: Effort,
    /// Directory of the Verilog, if it is not emitted.
    pub rtl: Option<&'a Path>,
    /// Whether modules are mapped one by one, so that paths tell which
    /// instances they go through.
    pub keep_hierarchy: bool,
    /// Whether the slowest paths by stages are wanted.
    pub paths: bool,
}

impl Measured<'_> {
    /// `units`, all if empty: as emitted, or those that the folder has.
    fn design(&self, units: &[String], machine: &Config) -> Result<Design> {
        match self.rtl {
            None => Design::emit(units, machine),
            Some(dir) => Design::of_folder(units, machine, dir)?.with_files_of(dir),
        }
    }

    /// A job for each of `units` of a design.
    fn jobs(&self, design: &Design, units: &[&EmittedUnit], machine: &Config) -> Vec<SynthJob> {
        let job = |unit: &&EmittedUnit| SynthJob {
            keep_hierarchy: self.keep_hierarchy,
            ..SynthJob::of(design, unit, machine)
        };
        units.iter().map(job).collect()
    }

    /// Jobs for the registers of the units of `jobs` that are not in `there` already: the
    /// totals need them.
    fn registers(
        &self,
        jobs: &[SynthJob],
        machine: &Config,
        there: &[SynthJob],
    ) -> Result<Vec<SynthJob>> {
        let registers = registers_of(jobs, machine, there)?;
        let registers = match self.rtl {
            None => registers,
            // No totals of edited and emitted Verilog.
            Some(dir) => registers.retain_units_in(dir).with_files_of(dir)?,
        };
        let all: Vec<&EmittedUnit> = registers.units.iter().collect();
        Ok(self.jobs(&registers, &all, machine))
    }
}

/// Units over target periods, and the cost of a whole SM with them.
#[derive(Serialize)]
pub struct Synthesis {
    /// Every unit and period.
    #[serde(flatten)]
    pub report: SynthReport,
    best: Vec<Best>,
    /// Whole SMs: the hash units, and the others that have configuration registers.
    pub per_sm: Vec<SmTotal>,
    published_40nm: Vec<PublishedUnit>,
    /// The units of the chart.
    #[serde(skip)]
    pub charted: Vec<String>,
    /// The target periods of the chart.
    #[serde(skip)]
    pub chart_periods: Vec<u32>,
}

/// The best result of a unit over the periods.
#[derive(Serialize)]
struct Best {
    unit: String,
    period_ps: u32,
    area_um2: f64,
    delay_ps: f64,
    rated_ps: Option<f64>,
}

/// The hash paper's figures about a unit, for one instance.
#[derive(Serialize)]
struct PublishedUnit {
    unit: &'static str,
    target_periods_ps: [u32; 8],
    /// At each of these periods.
    latency_ps: [u32; 8],
    area_um2: f64,
    power_mw: f64,
}

impl Synthesis {
    /// Synthesizes `units` for `periods`. Without units: all of them, and those
    /// with registers only for the slowest period, as they are off the path of
    /// the accesses. Without periods: the usual ones. `progress` is told the
    /// number of finished points and the last one.
    pub fn run(
        units: &[String],
        periods: &[u32],
        machine: &Config,
        technology: &Technology,
        tools: &Toolbox,
        measured: Measured,
        progress: &(dyn Fn(u64, u64, &str) + Sync),
    ) -> Result<Self> {
        let design = measured.design(units, machine)?;
        let (swept, chart_periods) = match periods {
            [] => (usual_periods(), TARGET_PERIODS_PS.to_vec()),
            given => (given.to_vec(), given.to_vec()),
        };
        let slowest = swept.iter().copied().max().unwrap_or_default();
        let sweep_it = |u: &&EmittedUnit| !units.is_empty() || !u.is_sequential();
        let (swept_units, slow_units): (Vec<_>, Vec<_>) = design.units.iter().partition(sweep_it);
        let main = measured.jobs(&design, &swept_units, machine);
        let mut slow = measured.jobs(&design, &slow_units, machine);
        let shown = slow.len();
        slow.extend(measured.registers(&main, machine, &slow)?);
        let cache = Cache::user()?;
        let flow = Flow {
            tools,
            cache: &cache,
            technology,
            effort: measured.effort,
            paths: measured.paths,
        };
        let points = (main.len() * swept.len()) as u64;
        let total = points + slow.len() as u64;
        let mut report = flow.run(&main, &swept, &|done, what| progress(done, total, what))?;
        let rest = flow.run(&slow, &[slowest], &|done, what| {
            progress(points + done, total, what)
        })?;

        let per_sm = per_sm(&report, &rest, machine.lanes);
        report.results.extend(rest.results.into_iter().take(shown));
        report.warnings.extend(rest.warnings);
        report.warnings.sort();
        report.warnings.dedup();
        let charted = match units {
            [] => configurable_hashes(&per_sm),
            _ => swept_units.iter().map(|u| u.name.clone()).collect(),
        };
        let measured = report.units().into_iter();
        Ok(Synthesis {
            published_40nm: measured.clone().filter_map(PublishedUnit::of).collect(),
            best: measured.filter_map(|u| Best::of(&report, u)).collect(),
            report,
            per_sm,
            charted,
            chart_periods,
        })
    }
}

fn usual_periods() -> Vec<u32> {
    let stretch = STRETCH_PERIODS_PS;
    TARGET_PERIODS_PS.into_iter().chain(stretch).collect()
}

/// The units of Fig. 4, and those of their kind that are new.
fn configurable_hashes(per_sm: &[SmTotal]) -> Vec<String> {
    let configurable = per_sm.iter().filter(|t| t.config.is_some());
    let units = configurable.map(|t| t.unit.clone());
    units.filter(|u| u.starts_with("spad_hash_")).collect()
}

impl Best {
    fn of(report: &SynthReport, unit: &str) -> Option<Self> {
        let best = report.best(unit)?;
        Some(Best {
            unit: best.unit.clone(),
            period_ps: best.period_ps,
            area_um2: best.area_um2,
            delay_ps: best.delay_ps,
            rated_ps: best.rated_ps,
        })
    }
}

impl PublishedUnit {
    fn of(unit: &str) -> Option<Self> {
        let published = Published::of(unit)?;
        Some(PublishedUnit {
            unit: published.unit,
            target_periods_ps: TARGET_PERIODS_PS,
            latency_ps: published.latency_ps,
            area_um2: published.area_um2(),
            power_mw: published.power_mw(),
        })
    }
}

/// The configuration registers of `jobs` that are not in `there` already.
fn registers_of(jobs: &[SynthJob], machine: &Config, there: &[SynthJob]) -> Result<Design> {
    let names = jobs.iter().filter_map(|j| Configured::of_unit(&j.unit));
    let names: Vec<String> = names
        .map(|unit| unit.config_unit().to_owned())
        .filter(|name| !there.iter().any(|j| j.unit == *name))
        .collect();
    if names.is_empty() {
        // An empty list of names means all units.
        Ok(Design::empty(machine))
    } else {
        Design::emit(&names, machine)
    }
}

/// The total of every unit of `report` whose registers are in `registers`, and
/// of the fixed hashes, which have none.
fn per_sm(report: &SynthReport, registers: &SynthReport, lanes: u32) -> Vec<SmTotal> {
    let total = |unit: &str| {
        let config = Configured::of_unit(unit);
        let config = config.and_then(|c| registers.best(c.config_unit()));
        let is_fixed = [HASH_XOR, HASH_ADD].contains(&unit);
        (config.is_some() || is_fixed).then(|| SmTotal::new(report, unit, config, lanes))?
    };
    report.units().into_iter().filter_map(total).collect()
}
