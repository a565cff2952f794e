//! `spadkit trace`: writes the access trace of a kernel, or a full trace.

use super::printer::{CommandResult, Printer};
use super::{Example, Execute, Global};
use crate::error::{Error, Result};
use crate::output::{check_writable, write_file};
use crate::quote::shell;
use crate::sm::{KernelInfo, TraceSummary, record};
use crate::terminal::{Details, Hint, Table};
use crate::trace::AccessTrace;
use crate::trace::kernels::{self, GeneratedKernel};
use crate::workload::{AccessOptions, Input, RunOptions};
use clap::Args;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Run a PTX kernel and record its trace, or write that of a generated kernel.
///
/// For a launch file (docs/reference/kernels.md) the first launch is traced;
/// LAUNCH.toml:N takes launch N in execution order, LAUNCH.toml:ENTRY the first of
/// that entry. An access trace has the shared-memory accesses of one block;
/// with an output named .spt, a full trace has all instructions of all blocks.
///
/// The trace (docs/reference/formats.md) is what every command takes as INPUT;
/// launch files and generated kernels can also be named there directly. A
/// program text or an access trace can also be converted to a full trace. An
/// access trace has only accesses; --blocks, --dependent and --intensity add
/// what a full trace needs.
#[derive(Args)]
pub struct TraceArgs {
    /// Launch file (.toml, .toml:N), kernel:NAME or kernel:NAME:param=value,..., or
    /// an access trace (.json) to check and copy; for a full trace also a program
    /// text (.warp) or a full trace.
    #[arg(required_unless_present = "list")]
    input: Option<Input>,
    /// Where to write the trace.
    #[arg(
        short,
        long,
        alias = "out",
        value_name = "FILE",
        required_unless_present = "list"
    )]
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

impl Execute for TraceArgs {
    fn examples() -> &'static [Example] {
        &[
            ("what a block accesses", "trace k.toml -o k.json"),
            ("generated kernels", "trace --list"),
        ]
    }

    fn execute(&self, _global: &Global, printer: &Printer) -> Result<()> {
        self.refuse_block()?;
        if let Some(output) = &self.output {
            check_writable(output)?;
        }
        match (&self.input, &self.output) {
            (Some(input), Some(output)) if is_full(output) => {
                let options = AccessOptions {
                    zeros_beyond: self.allow.run(printer).zeros_beyond,
                    ..self.options()
                };
                full_trace(input, output, &options, printer)
            }
            (Some(input), Some(output)) => {
                self.refuse_options(output)?;
                super::load::note_launches(input, printer);
                let run = match input.launch() {
                    Some(_) => self.allow.run(printer),
                    None => RunOptions::default(),
                };
                let trace = input.accesses(RunOptions {
                    block: self.block,
                    ..run
                })?;
                write_file(output, trace.to_json().as_bytes())?;
                printer.show(&Written::of(&trace, output))
            }
            // clap lets only --list through without the two.
            _ => printer.show(&Kernels {
                kernels: kernels::list(),
            }),
        }
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

    /// A block is chosen if there are several and the trace has one.
    fn refuse_block(&self) -> Result<()> {
        let (Some(block), Some(input), Some(output)) = (self.block, &self.input, &self.output)
        else {
            return Ok(());
        };
        let why = match (input.launch().is_some(), is_full(output)) {
            (true, false) => return Ok(()),
            (true, true) => "a full trace has all blocks",
            (false, _) => "it is not a launch file",
        };
        Err(Error::usage(
            format!("--block-index {block} for {input}: {why}"),
            "--block-index applies only to access traces (.json) of launch files (.toml)",
        ))
    }

    /// Refuses the options that an access trace cannot represent.
    fn refuse_options(&self, output: &Path) -> Result<()> {
        if self.options() == AccessOptions::default() {
            Ok(())
        } else {
            Err(Error::usage(
                format!(
                    "{} would be an access trace, which has only accesses",
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
    input: &Input,
    output: &Path,
    options: &AccessOptions,
    printer: &Printer,
) -> Result<()> {
    if let Some(launch) = input.launch() {
        options.refuse(input)?;
        super::load::note_launches(input, printer);
        let captured = launch.full_trace(options.run(), output)?;
        if captured.crowded > 0 {
            printer.warn(format!(
                "{}: more than 255 registers are live at once; {} share a number with another, \
                 and may wait for it",
                captured.info.name, captured.crowded
            ));
        }
        return printer.show(&FullWritten {
            shared_numbers: Some(captured.crowded),
            ..FullWritten::of(&captured.info, &captured.summary, output)
        });
    }
    let workload = input.programs(options)?;
    let dependent = input.is_access_trace().then(|| {
        options
            .dependent
            .unwrap_or(crate::sm::AccessWorkload::DEPENDENT)
    });
    let summary = record(workload.as_ref(), output)?;
    printer.show(&FullWritten {
        dependent,
        ..FullWritten::of(workload.info(), &summary, output)
    })
}

/// An access trace in its file.
#[derive(Serialize)]
struct Written<'a> {
    name: &'a str,
    source: &'a str,
    accesses: usize,
    warps: usize,
    shared_bytes: u32,
    file: Cow<'a, str>,
}

impl<'a> Written<'a> {
    fn of(trace: &'a AccessTrace, file: &'a Path) -> Self {
        let warps: BTreeSet<u32> = trace.accesses.iter().map(|a| a.warp).collect();
        Written {
            name: &trace.name,
            source: &trace.source,
            accesses: trace.accesses.len(),
            warps: warps.len(),
            shared_bytes: trace.shared_bytes,
            file: file.to_string_lossy(),
        }
    }
}

impl CommandResult for Written<'_> {
    fn verdict(&self) -> String {
        format!("Wrote {}: {} warp accesses.", self.file, self.accesses)
    }

    fn details(&self) -> Details {
        Details::new()
    }

    fn hints(&self) -> Vec<Hint> {
        let command = format!("spadkit conflicts {}", shell(&*self.file));
        vec![Hint::new("its bank conflicts", command)]
    }
}

/// A full trace in its file.
#[derive(Serialize)]
struct FullWritten<'a> {
    name: &'a str,
    source: &'a str,
    instructions: u64,
    warps: u32,
    blocks: u32,
    shared_bytes: u32,
    shared_accesses: u64,
    /// Distance, in accesses, of the one that an access waits for, in a trace made
    /// from an access trace.
    dependent: Option<u32>,
    file: Cow<'a, str>,
    file_bytes: u64,
    /// Registers of a launch that share their number with another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_numbers: Option<u32>,
}

impl<'a> FullWritten<'a> {
    fn of(info: &'a KernelInfo, summary: &TraceSummary, file: &'a Path) -> Self {
        FullWritten {
            name: &info.name,
            source: &info.source,
            instructions: summary.instructions,
            warps: info.warps(),
            blocks: info.blocks,
            shared_bytes: info.shared_bytes,
            shared_accesses: summary.shared_accesses,
            dependent: None,
            file: file.to_string_lossy(),
            file_bytes: summary.bytes,
            shared_numbers: None,
        }
    }
}

impl CommandResult for FullWritten<'_> {
    fn verdict(&self) -> String {
        let share = 100.0 * self.shared_accesses as f64 / self.instructions.max(1) as f64;
        format!(
            "Wrote {}: {} warp instructions, {} of them ({share:.1} %) shared-memory accesses, {} bytes.",
            self.file, self.instructions, self.shared_accesses, self.file_bytes
        )
    }

    fn details(&self) -> Details {
        Details::new()
    }

    fn hints(&self) -> Vec<Hint> {
        let command = format!("spadkit sim {}", shell(&*self.file));
        vec![Hint::new("its cycles", command)]
    }
}

/// The kernels that there are generators for.
#[derive(Serialize)]
struct Kernels {
    kernels: &'static [GeneratedKernel],
}

impl CommandResult for Kernels {
    fn verdict(&self) -> String {
        format!(
            "{} kernels have generated accesses: name one as kernel:NAME, or kernel:NAME:PARAMETER=VALUE,... with parameters.",
            self.kernels.len()
        )
    }

    fn details(&self) -> Details {
        let row = |k: &GeneratedKernel| {
            let params: Vec<String> = k.params.iter().map(|p| p.to_string()).collect();
            vec![k.name.to_owned(), k.about.to_owned(), params.join("\n")]
        };
        let header = ["kernel", "accesses of", "parameters"];
        Details::of(Table::new(&header, self.kernels.iter().map(row)))
    }

    fn hints(&self) -> Vec<Hint> {
        let first = self.kernels.first();
        let command = first.map(|k| format!("spadkit conflicts kernel:{}", k.name));
        command
            .map(|command| Hint::new("the bank conflicts of one", command))
            .into_iter()
            .collect()
    }
}
