//! Synthesis of many units for many target periods, in parallel.

use super::effort::Effort;
use super::job::SynthJob;
use super::netlist::Netlist;
use super::paths::PathReport;
use super::result::{SynthReport, UnitResult};
use super::sta::Analysis;
use super::technology::Technology;
use super::timing::Timing;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::tool::{Cache, Tool, ToolKind, Toolbox};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

/// The tools and inputs of the synthesis flow.
pub struct Flow<'a> {
    /// The external tools.
    pub tools: &'a Toolbox,
    /// Results of earlier runs.
    pub cache: &'a Cache,
    /// The cell library.
    pub technology: &'a Technology,
    /// Effort to meet the periods.
    pub effort: Effort,
    /// Whether to look for the slowest paths by stages, too.
    pub paths: bool,
}

/// The part of the period by which a second attempt undercuts it.
const TARGET_MARGIN: f64 = 0.02;

/// A netlist with its timing.
struct Mapped {
    netlist: Netlist,
    timing: Option<Timing>,
}

impl Flow<'_> {
    /// Synthesizes every job for every period. `done` hears of each finished
    /// one: how many are done, and which it was.
    ///
    /// Without OpenSTA there is no power, and a warning; without Yosys there is
    /// no result. After an interrupt, the finished points are returned.
    pub fn run(
        &self,
        jobs: &[SynthJob],
        periods_ps: &[u32],
        done: &(dyn Fn(u64, &str) + Sync),
    ) -> Result<SynthReport> {
        let yosys = self.tools.get(ToolKind::Yosys)?;
        let sta = self.tools.get_optional(ToolKind::Sta)?;
        let mut warnings = self.missing(sta.as_ref());
        let count = AtomicU64::new(0);
        let point = |job: &SynthJob, period: u32| {
            interrupt::check(&job.unit)?;
            let measured = self.measure(job, period, &yosys, sta.as_ref())?;
            let so_far = count.fetch_add(1, Ordering::Relaxed) + 1;
            done(so_far, &format!("{} at {period} ps", job.unit));
            Ok(measured)
        };
        // Elaborated once, before its periods would wait for each other.
        let prepare = |job: &SynthJob| {
            interrupt::check(&job.unit)?;
            job.prepare(self.technology, &yosys, self.cache)
        };
        let measured = jobs
            .par_iter()
            .map(|job| {
                if interrupt::or_none(prepare(job))?.is_none() {
                    return Ok(Vec::new());
                }
                let points = periods_ps.par_iter();
                points
                    .map(|period| interrupt::or_none(point(job, *period)))
                    .collect::<Result<Vec<_>>>()
            })
            .collect::<Result<Vec<_>>>()?;
        let mut results = Vec::new();
        for (result, complaints) in measured.into_iter().flatten().flatten() {
            warnings.extend(complaints);
            results.push(result);
        }
        let used = [Some(&yosys), sta.as_ref()];
        Ok(SynthReport {
            tools: used
                .into_iter()
                .flatten()
                .map(|t| (t.kind.program().to_owned(), t.version.to_string()))
                .collect(),
            tech: self.technology.name.clone(),
            technology: self.technology.summary(),
            effort: self.effort,
            results,
            warnings: warnings.into_iter().collect(),
        })
    }

    /// Warnings of what no result will have.
    fn missing(&self, sta: Option<&Tool>) -> BTreeSet<String> {
        let mut warnings = BTreeSet::new();
        if sta.is_none() {
            let how = ToolKind::Sta.how_to_get();
            warnings.insert(format!(
                "OpenSTA was not found: no power and no static timing; {how}"
            ));
        }
        if self.technology.liberty.fo4_ps.is_none() {
            warnings.insert(
                "the library's inverter has no usual delay tables: no FO4 delays".to_owned(),
            );
        }
        warnings
    }

    /// One unit at one period, with Yosys's warnings.
    fn measure(
        &self,
        job: &SynthJob,
        period_ps: u32,
        yosys: &Tool,
        sta: Option<&Tool>,
    ) -> Result<(UnitResult, Vec<String>)> {
        let mapped = self.map(job, period_ps, yosys, sta)?;
        let rated_ps = mapped.rated_ps();
        let Mapped { netlist, timing } = mapped;
        let technology = self.technology;
        let paths = sta.filter(|_| self.paths && netlist.clocked && netlist.flops > 0);
        let paths = paths
            .map(|sta| {
                let analysis = self.analysis(&netlist, job, sta);
                PathReport::measure(f64::from(period_ps), &analysis)
            })
            .transpose()?;
        let result = UnitResult {
            unit: job.unit.clone(),
            geometry: job.geometry,
            period_ps,
            cells: netlist.cells(),
            flops: netlist.flops,
            memory_bits: netlist.memory_bits,
            area_um2: netlist.area_um2,
            nand2_equivalents: technology.nand2_um2.map(|n| netlist.area_um2 / n),
            delay_ps: netlist.delay_ps,
            delay_fo4: technology.liberty.fo4_ps.map(|f| netlist.delay_ps / f),
            rated_ps,
            sta_delay_ps: timing.map(|t| t.delay_ps),
            sta_delay_no_wires_ps: timing.map(|t| t.delay_no_wires_ps),
            wire_load: technology.liberty.wire_load.clone(),
            power_mw: timing.and_then(|t| t.power_mw(f64::from(period_ps))),
            cells_by_type: netlist.cells_by_type,
            paths,
        };
        let powerless = timing.is_some_and(|t| t.power.is_none());
        let powerless = powerless.then(|| "OpenSTA computed no power".to_owned());
        let warnings = netlist.warnings.iter().cloned().chain(powerless);
        Ok((
            result,
            warnings.map(|w| format!("{}: {w}", job.unit)).collect(),
        ))
    }

    fn analysis<'b>(
        &'b self,
        netlist: &'b Netlist,
        job: &'b SynthJob,
        sta: &'b Tool,
    ) -> Analysis<'b> {
        Analysis {
            netlist,
            top: &job.top,
            technology: self.technology,
            sta,
            cache: self.cache,
        }
    }

    /// The netlist that the effort gives. With [`Effort::Speed`] the smallest
    /// one that meets the period, or else the fastest.
    fn map(
        &self,
        job: &SynthJob,
        period_ps: u32,
        yosys: &Tool,
        sta: Option<&Tool>,
    ) -> Result<Mapped> {
        let attempt = |effort, target_ps| {
            let netlist = job.map(self.technology, effort, target_ps, yosys, self.cache)?;
            let timing = sta
                .map(|sta| Timing::measure(&self.analysis(&netlist, job, sta)))
                .transpose()?;
            Ok::<_, Error>(Mapped { netlist, timing })
        };
        let area = attempt(Effort::Area, period_ps)?;
        if self.effort == Effort::Area || area.reached_ps() <= f64::from(period_ps) {
            return Ok(area);
        }
        let speed = attempt(Effort::Speed, period_ps)?;
        let again = lower_target(period_ps, speed.netlist.delay_ps, speed.reached_ps());
        // With modules mapped one by one, ABC's delay is not that of a whole path.
        let again = again.filter(|_| !job.keep_hierarchy);
        let mut tried = vec![area, speed];
        if let Some(target_ps) = again {
            tried.push(attempt(Effort::Speed, target_ps)?);
        }
        let figures = tried.iter().map(|m| (m.netlist.area_um2, m.reached_ps()));
        let best = best_of(&figures.collect::<Vec<_>>(), f64::from(period_ps));
        Ok(tried.swap_remove(best))
    }
}

impl Mapped {
    /// The unit's rated delay: OpenSTA's shortest period if it has a clock, otherwise ABC's delay.
    fn rated_ps(&self) -> Option<f64> {
        if self.netlist.clocked {
            self.timing.map(|t| t.delay_ps)
        } else {
            Some(self.netlist.delay_ps)
        }
    }

    /// The rated delay, or ABC's delay for a point that may be unfinished.
    fn reached_ps(&self) -> f64 {
        self.rated_ps().unwrap_or(self.netlist.delay_ps)
    }
}

/// ABC knows neither clock-to-output nor set-up times, and makes gates small
/// again once it has met its target. Where that is all that the period was
/// missed by, the target that leaves room for them, which are not quite the
/// same in the next netlist.
fn lower_target(period_ps: u32, delay_ps: f64, reached_ps: f64) -> Option<u32> {
    let period = f64::from(period_ps);
    let target = (1.0 - TARGET_MARGIN) * period - (reached_ps - delay_ps);
    (delay_ps <= period && reached_ps > period).then_some(target.max(1.0) as u32)
}

/// The netlist, by area and period, that is the smallest to meet `period_ps`, or else the fastest.
fn best_of(tried: &[(f64, f64)], period_ps: f64) -> usize {
    let meets = |i: &usize| tried[*i].1 <= period_ps;
    let smallest = |a: &usize, b: &usize| tried[*a].0.total_cmp(&tried[*b].0);
    let fastest = |a: &usize, b: &usize| tried[*a].1.total_cmp(&tried[*b].1);
    let all = || 0..tried.len();
    let best = all().filter(meets).min_by(smallest);
    best.or(all().min_by(fastest)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_takes_the_smallest_that_meets_the_period_or_the_fastest() {
        let tried = [(10.0, 900.0), (30.0, 600.0), (20.0, 650.0)];
        assert_eq!(best_of(&tried, 1000.0), 0);
        assert_eq!(best_of(&tried, 667.0), 2);
        assert_eq!(best_of(&tried, 600.0), 1);
        assert_eq!(best_of(&tried, 500.0), 1);
    }

    #[test]
    fn the_target_is_lowered_by_what_registers_take() {
        assert_eq!(lower_target(1000, 900.0, 1100.0), Some(780));
        // Met, or missed by the logic itself.
        assert_eq!(lower_target(667, 500.0, 620.0), None);
        assert_eq!(lower_target(667, 700.0, 820.0), None);
        assert_eq!(lower_target(100, 90.0, 400.0), Some(1));
    }
}
