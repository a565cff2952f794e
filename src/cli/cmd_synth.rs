//! `spadkit synth`: area, delay and power of units.

use super::Global;
use super::output::write_file;
use super::printer::{Printer, table};
use crate::config::Config;
use crate::error::Result;
use crate::interrupt;
use crate::rtl::{Design, EmittedUnit};
use crate::synth::{
    DEFAULT_TECHNOLOGY, Flow, Published, SmTotal, SynthJob, SynthReport, TARGET_PERIODS_PS,
    Technology, UnitResult,
};
use crate::tool::{Cache, Toolbox};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Beside the paper's target periods, two that no unit is expected to reach:
/// they show the fastest netlist that ABC finds.
const STRETCH_PERIODS_PS: [u32; 2] = [150, 80];

/// Area, delay and power of units on a cell library.
///
/// Yosys and ABC map each unit for each target period; OpenSTA adds static
/// timing and power (without it, those are left out).
#[derive(Args)]
pub struct SynthArgs {
    /// Units; all if none is named.
    units: Vec<String>,
    /// Cell library: a Liberty file, .lib or .lib.gz.
    #[arg(long, value_name = "FILE", conflicts_with = "tech")]
    liberty: Option<PathBuf>,
    /// Technology by name: osu018, nangate45.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_TECHNOLOGY)]
    tech: String,
    /// Target clock periods in ps; unless given, those of the hash paper's
    /// Fig. 4 (1.5 to 5 GHz), and 150 and 80.
    #[arg(long = "period", value_name = "PS", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    periods: Vec<u32>,
    /// Draw power and area over the target periods.
    #[arg(long, value_name = "FILE.svg")]
    chart: Option<PathBuf>,
}

pub(super) fn run(args: &SynthArgs, global: &Global, printer: &Printer) -> Result<()> {
    interrupt::listen();
    let machine = global.machine()?;
    let technology = match &args.liberty {
        Some(path) => Technology::load(path)?,
        None => Technology::named(&args.tech)?,
    };
    let tools = Toolbox::new();
    let synthesis = Synthesis::run(
        &args.units,
        &args.periods,
        &machine,
        &technology,
        &tools,
        printer,
    )?;
    if let Some(path) = &args.chart {
        write_file(path, synthesis.chart().as_bytes())?;
        printer.log(format!("chart: {}", path.display()));
    }
    printer.result(synthesis.json(), || synthesis.text())
}

/// Units over target periods, and what a whole SM needs of them.
pub(super) struct Synthesis {
    pub report: SynthReport,
    /// Whole SMs, for the units that have configuration registers.
    pub per_sm: Vec<SmTotal>,
    charted: Vec<String>,
    chart_periods: Vec<u32>,
}

impl Synthesis {
    /// Synthesizes `units` (all if empty) for `periods` (the usual ones if
    /// empty). Configuration registers that only come in for the totals are
    /// made for the slowest of them: they are off the path of the accesses.
    pub fn run(
        units: &[String],
        periods: &[u32],
        machine: &Config,
        technology: &Technology,
        tools: &Toolbox,
        printer: &Printer,
    ) -> Result<Self> {
        let design = Design::emit(units, machine)?;
        let usual: Vec<u32> = TARGET_PERIODS_PS
            .into_iter()
            .chain(STRETCH_PERIODS_PS)
            .collect();
        let swept = if periods.is_empty() { &usual } else { periods };
        let slowest = swept.iter().copied().max().unwrap_or(TARGET_PERIODS_PS[0]);

        let named = |u: &&EmittedUnit| !units.is_empty() || !u.is_sequential();
        let (main, relaxed): (Vec<_>, Vec<_>) = design.units.iter().partition(named);
        let main: Vec<SynthJob> = main.into_iter().map(|u| job(&design, u)).collect();
        let mut relaxed: Vec<SynthJob> = relaxed.into_iter().map(|u| job(&design, u)).collect();
        let registers = registers_of(&main, machine, &relaxed)?;
        let implied = registers.units.len();
        let shown = relaxed.len();
        relaxed.extend(registers.units.iter().map(|u| job(&registers, u)));

        let cache = Cache::user()?;
        let flow = Flow {
            tools,
            cache: &cache,
            technology,
        };
        let total = main.len() * swept.len() + relaxed.len();
        let progress = printer.progress(total as u64, "synthesis");
        let mut report = flow.run(&main, swept, &|done, what| progress.set(done, what))?;
        let before = (main.len() * swept.len()) as u64;
        let rest = flow.run(&relaxed, &[slowest], &|done, what| {
            progress.set(before + done, what)
        })?;
        drop(progress);
        debug_assert_eq!(rest.results.len(), shown + implied);

        let per_sm = per_sm(&report, &rest, machine.lanes);
        report.results.extend(rest.results.into_iter().take(shown));
        report.warnings.extend(rest.warnings);
        report.warnings.sort();
        report.warnings.dedup();
        for warning in &report.warnings {
            printer.warn(warning);
        }
        let charted = match units.is_empty() {
            false => units.to_vec(),
            true => per_sm
                .iter()
                .map(|t| t.unit.clone())
                .filter(|u| u.starts_with("spad_hash_"))
                .collect(),
        };
        Ok(Synthesis {
            report,
            per_sm,
            charted,
            chart_periods: if periods.is_empty() {
                TARGET_PERIODS_PS.into()
            } else {
                periods.to_vec()
            },
        })
    }

    /// The hash paper's Fig. 4 with these results.
    pub fn chart(&self) -> String {
        let units: Vec<&str> = self.charted.iter().map(String::as_str).collect();
        self.report.chart(&units, &self.chart_periods).svg()
    }

    pub fn json(&self) -> Value {
        let units = self.report.units();
        let best = units.iter().filter_map(|u| self.report.best(u));
        let point = |r: &UnitResult| json!({"unit": r.unit, "period_ps": r.period_ps, "area_um2": r.area_um2, "delay_ps": r.delay_ps});
        let published = units.iter().filter_map(|u| Published::of(u));
        let figures = |p: &Published| {
            json!({
                "unit": p.unit,
                "target_period_ps": TARGET_PERIODS_PS,
                "latency_ps": p.latency_ps,
                "area_um2": p.area_um2(),
                "power_mw": p.power_mw(),
            })
        };
        let mut json = json!(self.report);
        json["best"] = best.map(point).collect();
        json["per_sm"] = json!(self.per_sm);
        json["published_40nm"] = published.map(figures).collect();
        json
    }

    pub fn text(&self) -> String {
        let technology = &self.report.technology;
        let tools: Vec<String> = self
            .report
            .tools
            .iter()
            .map(|(t, v)| format!("{t} {v}"))
            .collect();
        let known = |v: Option<f64>, unit: &str| {
            v.map_or("unknown".to_owned(), |v| format!("{v:.2} {unit}"))
        };
        format!(
            "{}: inputs driven by {}, outputs loaded with {} fF, NAND2 {}, FO4 {}; {}\n{}{}",
            technology.name,
            technology.driving_cell,
            technology.load_ff,
            known(technology.nand2_um2, "µm²"),
            known(technology.fo4_ps, "ps"),
            tools.join(", "),
            self.points(),
            self.totals(),
        )
    }

    /// A row per unit and period; the best of a unit is marked.
    fn points(&self) -> String {
        let header = [
            "unit",
            "target ps",
            "cells",
            "flops",
            "area µm²",
            "NAND2",
            "delay ps",
            "FO4",
            "STA ps",
            "power mW",
            "40 nm ps",
        ];
        let row = |r: &UnitResult| {
            let best = self
                .report
                .best(&r.unit)
                .is_some_and(|b| std::ptr::eq(b, r));
            let published = Published::of(&r.unit).and_then(|p| p.latency_at(r.period_ps));
            vec![
                r.unit.clone(),
                format!("{}{}", if best { "* " } else { "" }, r.period_ps),
                r.cells.to_string(),
                r.flops.to_string(),
                format!("{:.1}", r.area_um2),
                number(r.nand2_equivalents, 0),
                format!("{:.1}", r.delay_ps),
                number(r.delay_fo4, 1),
                number(r.sta_delay_ps, 1),
                number(r.power_mw, 4),
                published.map_or(String::new(), |p| p.to_string()),
            ]
        };
        let rows = self.report.results.iter().map(row);
        let note = "* least area x delay; 40 nm: latency published in the hash paper, Fig. 4\n";
        table(&header, &header[1..], rows) + note
    }

    /// A row per unit with configuration registers, beside the published area.
    fn totals(&self) -> String {
        if self.per_sm.is_empty() {
            return String::new();
        }
        let header = [
            "per SM",
            "lanes",
            "unit µm²",
            "registers µm²",
            "total µm²",
            "NAND2",
            "power mW",
            "40 nm, units only, µm²",
        ];
        let row = |t: &SmTotal| {
            let published = Published::of(&t.unit).map(|p| p.area_um2() * f64::from(t.lanes));
            vec![
                t.unit.clone(),
                t.lanes.to_string(),
                format!("{:.1}", t.unit_area_um2),
                format!("{:.1}", t.config_area_um2),
                format!("{:.0}", t.area_um2),
                number(t.nand2_equivalents, 0),
                number(t.power_mw, 3),
                number(published, 0),
            ]
        };
        table(&header, &header[1..], self.per_sm.iter().map(row))
    }
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(String::new(), |v| format!("{v:.digits$}"))
}

fn job(design: &Design, unit: &EmittedUnit) -> SynthJob {
    let files = design.files_of(unit).into_iter();
    SynthJob {
        unit: unit.name.clone(),
        top: unit.name.clone(),
        geometry: design.geometry,
        sources: files.map(|f| (f.name, f.text)).collect(),
    }
}

/// The name of a unit's configuration registers: `spad_hash_bitvec_perm` has
/// `spad_hash_config_bitvec_perm`, `spad_rap` has `spad_hash_config_rap`.
fn registers_name(unit: &str) -> String {
    let kind = unit
        .strip_prefix("spad_hash_")
        .or(unit.strip_prefix("spad_"));
    format!("spad_hash_config_{}", kind.unwrap_or(unit))
}

/// The configuration registers of `jobs` that are not in `there` already.
fn registers_of(jobs: &[SynthJob], machine: &Config, there: &[SynthJob]) -> Result<Design> {
    let all = Design::all_units();
    let names: Vec<String> = jobs
        .iter()
        .map(|j| registers_name(&j.unit))
        .filter(|n| all.contains(n) && !there.iter().any(|j| j.unit == *n))
        .collect();
    match names.is_empty() {
        false => Design::emit(&names, machine),
        // Emitting nothing would emit all.
        true => Ok(Design {
            preset: machine.name.clone(),
            geometry: machine.geometry,
            units: Vec::new(),
            files: Vec::new(),
        }),
    }
}

/// The best point of every unit of `report` whose registers are in `registers`.
fn per_sm(report: &SynthReport, registers: &SynthReport, lanes: u32) -> Vec<SmTotal> {
    let nand2 = report.technology.nand2_um2;
    let total = |unit: &str| {
        let config = registers.best(&registers_name(unit))?;
        Some(SmTotal::new(report.best(unit)?, config, lanes, nand2))
    };
    report.units().into_iter().filter_map(total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_named_after_their_unit() {
        let names = ["spad_hash_bitvec_perm", "spad_rap", "spad_row_map"].map(registers_name);
        let expected = ["bitvec_perm", "rap", "row_map"].map(|k| format!("spad_hash_config_{k}"));
        assert_eq!(names, expected);
        let all = Design::all_units();
        assert!(names.iter().all(|n| all.contains(n)));
    }
}
