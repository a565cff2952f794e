//! `spadkit trace`: writes the access trace of a generated kernel, or a full trace.

use super::printer::{Printer, table};
use crate::error::Result;
use crate::output::write_file;
use crate::sm::{load_workload, record};
use crate::trace::kernels::{self, Kernel};
use crate::trace::{AccessTrace, load_input};
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Write the access trace of a generated kernel.
///
/// The trace (docs/formats.md) is what every command takes as INPUT; generated
/// kernels can also be named there directly, as kernel:NAME:param=value,...
/// With an output named .spt it is a full trace, also of a program text.
#[derive(Args)]
pub struct TraceArgs {
    /// kernel:NAME or kernel:NAME:param=value,..., or an access trace (.json) to check and copy;
    /// for a full trace also a program text (.warp) or a full trace.
    #[arg(required_unless_present = "list")]
    input: Option<String>,
    /// Where to write the trace.
    #[arg(
        short,
        long,
        value_name = "FILE.json",
        required_unless_present = "list"
    )]
    output: Option<PathBuf>,
    /// List the kernels with their parameters.
    #[arg(long, conflicts_with_all = ["input", "output"])]
    list: bool,
}

pub(super) fn run(args: &TraceArgs, printer: &Printer) -> Result<()> {
    match (&args.input, &args.output) {
        (Some(input), Some(output)) if output.extension().is_some_and(|e| e == "spt") => {
            full_trace(input, output, printer)
        }
        (Some(input), Some(output)) => {
            let trace = load_input(input)?;
            write_file(output, trace.to_json().as_bytes())?;
            let mut json = summary(&trace);
            json["file"] = json!(output);
            printer.result(json, || {
                let file = output.display();
                format!("{}: {} warp accesses\n", file, trace.accesses.len())
            })
        }
        // clap lets only --list through without the two.
        _ => list(printer),
    }
}

fn full_trace(input: &str, output: &Path, printer: &Printer) -> Result<()> {
    let workload = load_workload(input, None)?;
    let summary = record(workload.as_ref(), output)?;
    let info = workload.info();
    let json = json!({
        "name": info.name,
        "source": info.source,
        "instructions": summary.instructions,
        "warps": info.warps(),
        "blocks": info.blocks,
        "shared_bytes": info.shared_bytes,
        "file": output,
        "file_bytes": summary.bytes,
    });
    printer.result(json, || {
        let (file, count) = (output.display(), summary.instructions);
        format!(
            "{file}: {count} warp instructions, {} bytes\n",
            summary.bytes
        )
    })
}

fn summary(trace: &AccessTrace) -> Value {
    let warps: BTreeSet<u32> = trace.accesses.iter().map(|a| a.warp).collect();
    json!({
        "name": trace.name,
        "source": trace.source,
        "accesses": trace.accesses.len(),
        "warps": warps.len(),
        "shared_bytes": trace.shared_bytes,
    })
}

fn list(printer: &Printer) -> Result<()> {
    let kernels = kernels::list();
    let json = json!({"kernels": kernels.iter().map(kernel_json).collect::<Vec<_>>()});
    printer.result(json, || {
        table(
            &["kernel", "accesses of", "parameters"],
            &[],
            kernels.iter().map(|k| {
                let params: Vec<String> = k.params.iter().map(|p| p.to_string()).collect();
                vec![k.name.to_owned(), k.about.to_owned(), params.join("\n")]
            }),
        )
    })
}

fn kernel_json(kernel: &Kernel) -> Value {
    let params: Vec<Value> = kernel
        .params
        .iter()
        .map(|p| {
            json!({
                "name": p.name,
                "default": p.default,
                "min": p.min,
                "max": p.max,
                "power_of_two": p.power_of_two,
                "about": p.about,
            })
        })
        .collect();
    json!({"name": kernel.name, "about": kernel.about, "params": params})
}
