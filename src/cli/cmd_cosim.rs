//! `spadkit cosim`: Verilated RTL against the golden model.

use super::Global;
use super::output::check_writable;
use super::printer::{Printer, table};
use crate::cosim::{CosimOptions, CosimResult, cosim_all};
use crate::error::{Error, Result};
use crate::rtl::Design;
use crate::tool::{Cache, Toolbox};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Verilated RTL against the golden model, in lockstep.
#[derive(Args)]
pub struct CosimArgs {
    /// Units; all if none is named.
    units: Vec<String>,
    /// Addresses from a trace (.json or kernel:NAME) instead of random ones.
    #[arg(long, value_name = "INPUT")]
    trace: Option<String>,
    /// Clock cycles per unit.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    cycles: u64,
    /// Seed of the stimulus.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Write a waveform with both sides (the 1000 cycles up to the first
    /// mismatch, or the last ones); needs one unit.
    #[arg(long, value_name = "FILE.vcd")]
    wave: Option<PathBuf>,
    /// Take the Verilog from DIR (hand-edited, say) instead of emitting it.
    #[arg(long, value_name = "DIR")]
    rtl: Option<PathBuf>,
}

pub(super) fn run(args: &CosimArgs, global: &Global, printer: &Printer) -> Result<()> {
    let config = global.machine()?;
    let design = Design::emit(&args.units, &config)?;
    if args.wave.is_some() && design.units.len() != 1 {
        return Err(Error::usage(
            format!("--wave with {} units", design.units.len()),
            "name the one unit that the waveform is for",
        ));
    }
    let trace = args.trace.as_deref();
    let trace = trace
        .map(|input| super::load_for(input, &config, printer))
        .transpose()?;
    if let Some(wave) = &args.wave {
        check_writable(wave)?;
    }
    let options = CosimOptions {
        config: &config,
        cycles: args.cycles,
        seed: args.seed,
        trace: trace.as_ref(),
        rtl_dir: args.rtl.clone(),
        wave: args.wave.clone(),
    };
    let (tools, cache) = (Toolbox::new(), Cache::user()?);
    let bar = printer.progress(design.units.len() as u64, "cosim");
    let results = cosim_all(&design, &options, &tools, &cache, &|done, unit| {
        bar.set(done, unit);
    })?;
    drop(bar);
    let json = json!({"results": results.iter().map(CosimResult::json).collect::<Vec<_>>()});
    printer.result(json, || text(&results))?;
    let preset = global.machine_option();
    fail_on_mismatch(&results, &format!("{preset} --seed {}", args.seed))
}

/// An error that names the first mismatch; `options` repeat the run.
pub(super) fn fail_on_mismatch(results: &[CosimResult], options: &str) -> Result<()> {
    let Some((result, first)) = results.iter().find_map(|r| Some((r, r.mismatch()?))) else {
        return Ok(());
    };
    Err(Error::CheckFailed {
        what: format!(
            "{}: {} in cycle {} is {}, expected {}",
            result.unit, first.signal, first.cycle, first.got, first.expected
        ),
        help: Some(format!(
            "see both sides with: spadkit cosim {} {options} --wave mismatch.vcd",
            result.unit
        )),
    })
}

fn text(results: &[CosimResult]) -> String {
    let header = ["unit", "cycles", "checks", "mismatches", "cycles/s"];
    let rows = results.iter().map(|r| {
        vec![
            r.unit.clone(),
            r.outcome.cycles.to_string(),
            r.outcome.checks.to_string(),
            r.outcome.mismatches.to_string(),
            format!("{:.2e}", r.outcome.cycles as f64 / r.seconds.max(1e-9)),
        ]
    });
    table(&header, &header[1..], rows)
}
