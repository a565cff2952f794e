//! Synthesis of many units for many target periods, in parallel.

use super::job::SynthJob;
use super::result::{SynthReport, UnitResult};
use super::technology::Technology;
use super::timing::Timing;
use crate::error::Result;
use crate::interrupt;
use crate::tool::{Cache, Kind, Tool, Toolbox};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the synthesis flow works with.
pub struct Flow<'a> {
    /// The external tools.
    pub tools: &'a Toolbox,
    /// Results of earlier runs.
    pub cache: &'a Cache,
    /// The cell library.
    pub technology: &'a Technology,
}

impl Flow<'_> {
    /// Synthesizes every job for every period. `done` hears of each finished
    /// one: how many are done, and which it was.
    ///
    /// Without OpenSTA there is no power, and a warning; without Yosys there
    /// is nothing. After an interrupt the points that were finished are there.
    pub fn run(
        &self,
        jobs: &[SynthJob],
        periods_ps: &[u32],
        done: &(dyn Fn(u64, &str) + Sync),
    ) -> Result<SynthReport> {
        let yosys = self.tools.get(Kind::Yosys)?;
        let sta = self.tools.get_optional(Kind::Sta)?;
        let mut warnings = BTreeSet::new();
        if sta.is_none() {
            let how = Kind::Sta.how_to_get();
            warnings.insert(format!(
                "OpenSTA was not found: no power and no static timing; {how}"
            ));
        }
        if self.technology.liberty.fo4_ps.is_none() {
            warnings.insert(
                "the library's inverter has no usual delay tables: no FO4 delays".to_owned(),
            );
        }
        let points: Vec<(&SynthJob, u32)> = jobs
            .iter()
            .flat_map(|job| periods_ps.iter().map(move |p| (job, *p)))
            .collect();
        let count = AtomicU64::new(0);
        let point = |(job, period): &(&SynthJob, u32)| {
            interrupt::check(&job.unit)?;
            let measured = self.measure(job, *period, &yosys, sta.as_ref())?;
            let so_far = count.fetch_add(1, Ordering::Relaxed) + 1;
            done(so_far, &format!("{} at {period} ps", job.unit));
            Ok(measured)
        };
        let measured = points
            .par_iter()
            .map(|p| interrupt::or_none(point(p)))
            .collect::<Result<Vec<_>>>()?;
        let mut results = Vec::new();
        for (result, complaints) in measured.into_iter().flatten() {
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
            results,
            warnings: warnings.into_iter().collect(),
        })
    }

    /// One unit at one period, with Yosys's warnings.
    fn measure(
        &self,
        job: &SynthJob,
        period_ps: u32,
        yosys: &Tool,
        sta: Option<&Tool>,
    ) -> Result<(UnitResult, Vec<String>)> {
        let netlist = job.map(self.technology, period_ps, yosys, self.cache)?;
        let timing = sta
            .map(|sta| Timing::measure(&netlist, &job.top, self.technology, sta, self.cache))
            .transpose()?;
        let technology = self.technology;
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
            sta_delay_ps: timing.map(|t| t.delay_ps),
            power_mw: timing.map(|t| t.power_mw(f64::from(period_ps))),
            cells_by_type: netlist.cells_by_type,
        };
        let warnings = netlist.warnings.iter();
        Ok((
            result,
            warnings.map(|w| format!("{}: {w}", job.unit)).collect(),
        ))
    }
}
