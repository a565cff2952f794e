//! `spadkit emit`: Verilog with test benches, constraints, manifest, file list
//! and FuseSoC core.

use super::Global;
use super::printer::{Printer, table};
use crate::cosim::{BENCH_CYCLES, add_test_benches};
use crate::error::Result;
use crate::output::OwnedFolder;
use crate::rtl::{Design, write_design};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Write synthesizable Verilog, with test benches, constraints (SDC), a file list, a FuseSoC core
/// and a manifest.
///
/// Afterwards the directory holds, of spadkit's files, those of this call alone; a file that was
/// edited, or is not spadkit's, is named and kept, and then nothing is written.
#[derive(Args)]
pub struct EmitArgs {
    /// Units; all if none is named.
    units: Vec<String>,
    /// Directory to write into.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// In front of every module's name, so that two machines live in one chip.
    #[arg(long, value_name = "NAME_", default_value = "")]
    prefix: String,
    /// Clock cycles of each unit's test bench, eight times as many for the hash units; 0: no test
    /// benches.
    #[arg(long, value_name = "N", default_value_t = BENCH_CYCLES,
          value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    bench_cycles: u32,
    /// Replace and remove files that are in the way.
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &EmitArgs, global: &Global, printer: &Printer) -> Result<()> {
    let machine = global.machine()?;
    let mut design = Design::emit(&args.units, &machine)?.with_prefix(&args.prefix)?;
    add_test_benches(&mut design, &machine, args.bench_cycles as usize)?;
    write_design(&design, &OwnedFolder::new(&args.out, args.force))?;
    let mut json = design.manifest();
    json["dir"] = json!(args.out);
    printer.result(json, || {
        let rows = design.units.iter().map(|u| {
            let bits: usize = u.ports.iter().map(|p| p.width).sum();
            vec![
                u.top.clone(),
                u.files.len().to_string(),
                u.latency_cycles.to_string(),
                bits.to_string(),
            ]
        });
        let header = ["unit", "files", "latency", "port bits"];
        format!(
            "{} modules{} for {} ({}) in {}\n{}",
            design.files.len(),
            if design.benches.is_empty() {
                ""
            } else {
                ", with test benches,"
            },
            design.preset,
            design.geometry,
            args.out.display(),
            table(&header, &header[1..], rows)
        )
    })
}
