//! `spadkit synth`: area, delay and power of units.

use super::cells::Cells;
use super::paths_text;
use super::printer::{CommandResult, Printer};
use super::synthesis_text;
use super::{Example, Execute, Global};
use crate::config::Config;
use crate::error::Result;
use crate::interrupt;
use crate::output::{check_writable, write_result};
use crate::report::draw::fig4;
use crate::synth::{
    Effort, FEATURE_BLOCKS, FeatureCost, Measured, Synthesis, feature_builds, feature_costs,
};
use crate::terminal::{Details, Hint, Table};
use crate::tool::{Cache, Toolbox};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::PathBuf;

/// Measure area, delay and power of units on a cell library.
///
/// Yosys and ABC map each unit for each target period; OpenSTA adds static
/// timing and power (omitted without it). A unit with a clock is rated by
/// OpenSTA's period, which includes clock-to-output and set-up times, any other
/// by ABC's delay. For each unit that you name, if it has a clock, the output
/// also has the slowest paths into and out of each group of registers and ports,
/// and the critical path.
#[derive(Args)]
pub struct SynthArgs {
    /// Units; all if none is named.
    units: Vec<String>,
    #[command(flatten)]
    cells: Cells,
    /// Target clock periods in ps [default: those of the hash paper's Fig. 4
    /// (1.5 to 5 GHz), and 150 and 80].
    #[arg(long = "period", value_name = "PS", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    periods: Vec<u32>,
    /// area: Yosys' own recipe. speed: if that does not meet the period, a
    /// timing-driven one; several times slower to run, and larger units.
    #[arg(long, value_enum, default_value_t)]
    effort: Recipe,
    /// Take the Verilog from DIR (hand-edited, for example) instead of emitting
    /// it; without UNIT, every unit that DIR has.
    #[arg(long, value_name = "DIR")]
    rtl: Option<PathBuf>,
    /// Map each module with a clock separately instead of the whole unit at
    /// once: the critical path then shows which instances it goes through.
    /// Netlists are slower and larger, because nothing is optimised across
    /// modules.
    #[arg(long)]
    keep_hierarchy: bool,
    /// Show instead what each feature costs: the blocks interconnect (arbiter
    /// and crossbars), spad_scratchpad (both by default) or spad_sm_path, with
    /// broadcast, byte merging, locks and so on left out in turn. Cells and
    /// levels in Yosys' own gates, without a library.
    #[arg(long, conflicts_with_all = ["liberty", "tech", "periods", "effort", "rtl", "chart", "keep_hierarchy"])]
    features: bool,
    /// Draw power and area over the target periods.
    #[arg(long, value_name = "FILE.svg")]
    chart: Option<PathBuf>,
}

/// How hard to try to meet the period.
#[derive(Clone, Copy, Default, ValueEnum)]
enum Recipe {
    #[default]
    Area,
    Speed,
}

impl Recipe {
    fn effort(self) -> Effort {
        match self {
            Recipe::Area => Effort::Area,
            Recipe::Speed => Effort::Speed,
        }
    }
}

impl Execute for SynthArgs {
    fn examples() -> &'static [Example] {
        &[
            ("one unit", "synth spad_hash_xor"),
            (
                "two clock periods",
                "synth spad_sm_path --preset small --period 2000,1000",
            ),
        ]
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        interrupt::listen();
        let machine = global.machine()?.for_hardware();
        let tools = Toolbox::new();
        if self.features {
            return features(&self.units, &machine, &tools, printer);
        }
        let technology = self.cells.library().load()?;
        if let Some(path) = &self.chart {
            check_writable(path)?;
        }
        let bar = printer.progress(1, "synthesis");
        let done = Synthesis::run(
            &self.units,
            &self.periods,
            &machine,
            &technology,
            &tools,
            Measured {
                effort: self.effort.effort(),
                rtl: self.rtl.as_deref(),
                keep_hierarchy: self.keep_hierarchy,
                paths: !self.units.is_empty(),
            },
            &|done, total, what| {
                bar.set_total(total);
                bar.set(done, what);
            },
        )?;
        drop(bar);
        for warning in &done.report.warnings {
            printer.warn(warning);
        }
        if let Some(path) = &self.chart {
            let whole = !interrupt::requested();
            let written = write_result(path, fig4(&done).as_bytes(), whole)?;
            printer.wrote(&written);
        }
        let next = global.about_units("emit", &self.units, None) + " -o rtl";
        printer.show(&Measurement {
            synthesis: done,
            next: self.rtl.is_none().then_some(next),
        })
    }
}

/// Area, delay and power, and what to type next.
#[derive(Serialize)]
struct Measurement {
    #[serde(flatten)]
    synthesis: Synthesis,
    /// The command that writes the Verilog that was measured.
    #[serde(skip)]
    next: Option<String>,
}

impl CommandResult for Measurement {
    fn verdict(&self) -> String {
        synthesis_text::answer(&self.synthesis)
    }

    fn details(&self) -> Details {
        let mut details = synthesis_text::all(&self.synthesis);
        details.add(paths_text::all(&self.synthesis.report));
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let hint = |command: &String| Hint::new("their Verilog", &**command);
        self.next.iter().map(hint).collect()
    }
}

/// `synth --features`.
fn features(units: &[String], machine: &Config, tools: &Toolbox, printer: &Printer) -> Result<()> {
    let blocks = match units {
        [] => FEATURE_BLOCKS[..2]
            .iter()
            .map(|b| (*b).to_owned())
            .collect(),
        named => named.to_vec(),
    };
    let progress = printer.progress(feature_builds(&blocks, machine), "synthesis");
    let costs = feature_costs(&blocks, machine, tools, &Cache::user()?, &|done, what| {
        progress.set(done, what);
    })?;
    drop(progress);
    printer.show(&Features { features: costs })
}

/// Blocks with everything, and with one thing left out.
#[derive(Serialize)]
struct Features {
    features: Vec<FeatureCost>,
}

impl CommandResult for Features {
    fn verdict(&self) -> String {
        let blocks = self.features.chunk_by(|a, b| a.block == b.block);
        let costs = blocks.map(|builds| {
            let full = builds[0].structure.cells;
            let saved = |b: &&FeatureCost| full.saturating_sub(b.structure.cells);
            match builds[1..].iter().max_by_key(saved) {
                Some(most) => format!(
                    "{} has {full} cells, {} fewer with the build {}",
                    most.block,
                    saved(&most),
                    most.build
                ),
                None => format!("{} has {full} cells", builds[0].block),
            }
        });
        costs.collect::<Vec<_>>().join("; ") + "."
    }

    /// A row per build, with the difference to the block with everything.
    fn details(&self) -> Details {
        let header = [
            "block", "build", "cells", "±", "flops", "± ", "levels", " ±", "RAM bits",
        ];
        let blocks = self.features.chunk_by(|a, b| a.block == b.block);
        let rows = blocks.flat_map(|builds| {
            let full = builds[0].structure;
            let against = move |now: u64, full: u64| match now as i64 - full as i64 {
                0 => String::new(),
                difference => format!("{difference:+}"),
            };
            builds.iter().map(move |b| {
                let s = b.structure;
                vec![
                    b.block.clone(),
                    b.build.clone(),
                    s.cells.to_string(),
                    against(s.cells, full.cells),
                    s.flops.to_string(),
                    against(s.flops, full.flops),
                    s.levels.to_string(),
                    against(s.levels, full.levels),
                    s.memory_bits.to_string(),
                ]
            })
        });
        let table = Table::new(&header, rows).right(&header[2..]);
        let mut details = Details::of(table.minor(&["RAM bits"]));
        details.note(
            "Yosys' own gates; bank RAMs are left out. Differences against the first row of the block",
        );
        details
    }
}
