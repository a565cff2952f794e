//! `spadkit synth`: area, delay and power of units.

use super::Global;
use super::output::write_file;
use super::printer::Printer;
use super::synthesis::Synthesis;
use crate::error::Result;
use crate::interrupt;
use crate::synth::{DEFAULT_TECHNOLOGY, Technology};
use crate::tool::Toolbox;
use clap::Args;
use std::path::PathBuf;

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
    let done = Synthesis::run(
        &args.units,
        &args.periods,
        &machine,
        &technology,
        &tools,
        printer,
    )?;
    if let Some(path) = &args.chart {
        write_file(path, done.chart().as_bytes())?;
        printer.log(format!("chart: {}", path.display()));
    }
    printer.result(done.json(), || done.text())
}
