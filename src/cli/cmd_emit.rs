//! `spadkit emit`: Verilog with manifest, file list and FuseSoC core.

use super::Global;
use super::printer::{Printer, table};
use crate::error::Result;
use crate::rtl::{Design, write_design};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Write synthesizable Verilog, a file list, a FuseSoC core and a manifest.
#[derive(Args)]
pub struct EmitArgs {
    /// Units; all if none is named.
    units: Vec<String>,
    /// Directory to write into.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn run(args: &EmitArgs, global: &Global, printer: &Printer) -> Result<()> {
    let machine = global.machine()?;
    let design = Design::emit(&args.units, &machine)?;
    write_design(&design, &args.out)?;
    let mut json = design.manifest();
    json["dir"] = json!(args.out);
    printer.result(json, || {
        let rows = design.units.iter().map(|u| {
            let bits: usize = u.ports.iter().map(|p| p.width).sum();
            vec![
                u.name.clone(),
                u.files.len().to_string(),
                u.latency_cycles.to_string(),
                bits.to_string(),
            ]
        });
        let header = ["unit", "files", "latency", "port bits"];
        format!(
            "{} files for {} ({}) in {}\n{}",
            design.files.len(),
            design.preset,
            design.geometry,
            args.out.display(),
            table(&header, &header[1..], rows)
        )
    })
}
