//! `spadkit trace`: writes the access trace of a kernel, or a full trace.

use super::printer::{Printer, table};
use crate::capture::{access_trace_with, full_trace_with as capture_all, is_launch};
use crate::error::{Error, Result};
use crate::output::write_file;
use crate::sm::{KernelInfo, TraceSummary, record};
use crate::trace::AccessTrace;
use crate::trace::kernels::{self, Kernel};
use crate::workload::load_input;
use crate::workload::{AccessOptions, is_access_trace, load_workload};
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Run a PTX kernel and record its trace, or write that of a generated kernel.
///
/// For a launch file (docs/reference/ptx.md) the first launch is traced;
/// LAUNCH.toml:N takes the N-th [[then]], LAUNCH.toml:ENTRY the first launch of
/// that entry. An access trace has the shared-memory accesses of one block;
/// with an output named .spt, a full trace has all instructions of all blocks.
///
/// The trace (docs/reference/formats.md) is what every command takes as INPUT;
/// launch files and generated kernels can also be named there directly. Full
/// traces are also made of program texts and access traces. An access trace has
/// only accesses; --blocks, --dependent and --intensity add what a full trace
/// needs.
#[derive(Args)]
pub struct TraceArgs {
    /// Launch file (.toml, .toml:N), kernel:NAME or kernel:NAME:param=value,..., or an access trace (.json)
    /// to check and copy; for a full trace also a program text (.warp) or a full trace.
    #[arg(required_unless_present = "list")]
    input: Option<String>,
    /// Where to write the trace.
    #[arg(short, long, value_name = "FILE", required_unless_present = "list")]
    output: Option<PathBuf>,
    /// Access trace of a launch file: linear index of the block [default: the
    /// file's trace_block].
    #[arg(long = "block-index", alias = "block", value_name = "N")]
    block: Option<u64>,
    /// Full trace of an access trace: a grid of N equal blocks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    blocks: Option<u32>,
    /// Full trace of an access trace: an access waits for the N-th one before
    /// it in its warp; 0: back to back [default: 2].
    #[arg(long, value_name = "N")]
    dependent: Option<u32>,
    /// Full trace of an access trace: spread ALU instructions evenly between
    /// the accesses of a warp, so that a share R of its instructions (above 0,
    /// at most 1) are accesses.
    #[arg(long, value_name = "R")]
    intensity: Option<f64>,
    #[command(flatten)]
    allow: super::Allow,
    /// List the kernels with their parameters.
    #[arg(long, conflicts_with_all = ["input", "output"])]
    list: bool,
}

pub(super) fn run(args: &TraceArgs, printer: &Printer) -> Result<()> {
    args.refuse_block()?;
    match (&args.input, &args.output) {
        (Some(input), Some(output)) if is_full(output) => {
            let options = AccessOptions {
                zeros_beyond: args.allow.zeros_beyond(printer),
                ..args.options()
            };
            full_trace(input, output, &options, printer)
        }
        (Some(input), Some(output)) => {
            args.refuse_options(output)?;
            let trace = if is_launch(Path::new(input)) {
                super::note_launches(input, printer);
                let zeros_beyond = args.allow.zeros_beyond(printer);
                access_trace_with(Path::new(input), args.block, zeros_beyond)?
            } else {
                load_input(input)?
            };
            write_file(output, trace.to_json().as_bytes())?;
            let mut json = summary(&trace);
            json["file"] = json!(output.to_string_lossy());
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
            zeros_beyond: false,
        }
    }

    /// A block is chosen where there are several and the trace has one.
    fn refuse_block(&self) -> Result<()> {
        let (Some(block), Some(input), Some(output)) = (self.block, &self.input, &self.output)
        else {
            return Ok(());
        };
        let why = match (is_launch(Path::new(input)), is_full(output)) {
            (true, false) => return Ok(()),
            (true, true) => "a full trace has all blocks",
            (false, _) => "it is not a launch file",
        };
        Err(Error::usage(
            format!("--block-index {block} for {input}: {why}"),
            "--block-index is for access traces (.json) of launch files (.toml)",
        ))
    }

    /// An access trace has no place for what the options add.
    fn refuse_options(&self, output: &Path) -> Result<()> {
        if self.options() == AccessOptions::default() {
            Ok(())
        } else {
            Err(Error::usage(
                format!(
                    "{} is to be an access trace, of accesses alone",
                    output.display()
                ),
                "--blocks, --dependent and --intensity are for full traces: name the output .spt",
            ))
        }
    }
}

fn is_full(output: &Path) -> bool {
    output.extension().is_some_and(|e| e == "spt")
}

fn full_trace(
    input: &str,
    output: &Path,
    options: &AccessOptions,
    printer: &Printer,
) -> Result<()> {
    if is_launch(Path::new(input)) {
        options.refuse(input)?;
        super::note_launches(input, printer);
        let captured = capture_all(Path::new(input), output, options.zeros_beyond)?;
        if captured.crowded > 0 {
            printer.warn(format!(
                "{}: more than 255 registers are live at once; {} share a number with another, \
                 and may wait for it",
                captured.info.name, captured.crowded
            ));
        }
        let mut json = full_json(&captured.info, &captured.summary, output);
        json["shared_numbers"] = json!(captured.crowded);
        return printer.result(json, || full_text(&captured.summary, output));
    }
    let workload = load_workload(input, options)?;
    let dependent = is_access_trace(input).then(|| {
        options
            .dependent
            .unwrap_or(crate::sm::AccessWorkload::DEPENDENT)
    });
    let summary = record(workload.as_ref(), output)?;
    let mut json = full_json(workload.info(), &summary, output);
    json["dependent"] = json!(dependent);
    printer.result(json, || full_text(&summary, output))
}

fn full_json(info: &KernelInfo, summary: &TraceSummary, output: &Path) -> Value {
    json!({
        "name": info.name,
        "source": info.source,
        "instructions": summary.instructions,
        "warps": info.warps(),
        "blocks": info.blocks,
        "shared_bytes": info.shared_bytes,
        "shared_accesses": summary.shared_accesses,
        "dependent": null,
        "file": output,
        "file_bytes": summary.bytes,
    })
}

fn full_text(summary: &TraceSummary, output: &Path) -> String {
    let (file, count) = (output.display(), summary.instructions);
    let shared = summary.shared_accesses;
    let share = 100.0 * shared as f64 / count.max(1) as f64;
    format!(
        "{file}: {count} warp instructions, {shared} of them ({share:.1} %) \
         shared-memory accesses, {} bytes\n",
        summary.bytes
    )
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
