//! `spadkit trace`: writes the access trace of a generated kernel, or a full trace.

use super::printer::{Printer, table};
use crate::error::{Error, Result};
use crate::output::write_file;
use crate::sm::{AccessOptions, is_access_trace, load_workload, record};
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
/// With an output named .spt it is a full trace, also of a program text. An
/// access trace knows accesses alone: --blocks, --dependent and --intensity
/// make more of it in the full trace.
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
    /// Full trace of an access trace: a grid of N equal blocks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    blocks: Option<u32>,
    /// Full trace of an access trace: an access waits for the N-th one before
    /// it in its warp; 0: back to back. 2 if not given.
    #[arg(long, value_name = "N")]
    dependent: Option<u32>,
    /// Full trace of an access trace: ALU instructions spread evenly between
    /// the accesses of a warp, so that a share R of its instructions, above 0
    /// and at most 1, are accesses.
    #[arg(long, value_name = "R")]
    intensity: Option<f64>,
    /// List the kernels with their parameters.
    #[arg(long, conflicts_with_all = ["input", "output"])]
    list: bool,
}

pub(super) fn run(args: &TraceArgs, printer: &Printer) -> Result<()> {
    match (&args.input, &args.output) {
        (Some(input), Some(output)) if output.extension().is_some_and(|e| e == "spt") => {
            full_trace(input, output, &args.options(), printer)
        }
        (Some(input), Some(output)) => {
            args.refuse_options(output)?;
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

impl TraceArgs {
    fn options(&self) -> AccessOptions {
        AccessOptions {
            blocks: self.blocks,
            dependent: self.dependent,
            intensity: self.intensity,
        }
    }

    /// An access trace has no place for what the options add.
    fn refuse_options(&self, output: &Path) -> Result<()> {
        match self.options() == AccessOptions::default() {
            true => Ok(()),
            false => Err(Error::usage(
                format!(
                    "{} is to be an access trace, of accesses alone",
                    output.display()
                ),
                "--blocks, --dependent and --intensity are for full traces: name the output .spt",
            )),
        }
    }
}

fn full_trace(
    input: &str,
    output: &Path,
    options: &AccessOptions,
    printer: &Printer,
) -> Result<()> {
    let workload = load_workload(input, options)?;
    let dependent = is_access_trace(input).then(|| {
        options
            .dependent
            .unwrap_or(crate::sm::AccessWorkload::DEPENDENT)
    });
    let summary = record(workload.as_ref(), output)?;
    let info = workload.info();
    let json = json!({
        "name": info.name,
        "source": info.source,
        "instructions": summary.instructions,
        "warps": info.warps(),
        "blocks": info.blocks,
        "shared_bytes": info.shared_bytes,
        "shared_accesses": summary.shared_accesses,
        "dependent": dependent,
        "file": output,
        "file_bytes": summary.bytes,
    });
    printer.result(json, || {
        let (file, count) = (output.display(), summary.instructions);
        let shared = summary.shared_accesses;
        let share = 100.0 * shared as f64 / count.max(1) as f64;
        format!(
            "{file}: {count} warp instructions, {shared} of them ({share:.1} %) \
             shared-memory accesses, {} bytes\n",
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
