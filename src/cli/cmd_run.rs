//! `spadkit run`: executes a PTX kernel, checks its outputs, finds its faults.

use super::printer::{Printer, table};
use crate::capture::listed_from;
use crate::error::{Error, Result};
use crate::launch::{Comparison, LaunchFile, Prepared};
use crate::output::{check_writable, write_file};
use crate::ptx::exec::{Finding, Options, Outcome};
use clap::Args;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Run a PTX kernel on the CPU, check its outputs and find its faults.
///
/// A launch file (docs/reference/kernels.md) names the PTX, the entry, the
/// grid, the arguments and the expected outputs. The exit status is 1 if a
/// fault was found or an output is not as expected.
#[derive(Args)]
pub struct RunArgs {
    /// Launch file.
    #[arg(value_name = "LAUNCH.toml")]
    launch: PathBuf,
    /// Write a buffer after the run; repeat for several.
    #[arg(long, value_name = "NAME=FILE.npy", value_parser = parse_dump)]
    dump: Vec<Dump>,
    #[command(flatten)]
    allow: super::Allow,
    /// Find races on shared memory, or on shared and global memory, and reads
    /// of values that were never written.
    #[arg(long, value_name = "MEMORY", value_enum, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "shared")]
    races: Option<Races>,
    /// Threads of the host [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// Memory that races are looked for on.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Races {
    /// Shared memory.
    Shared,
    /// Shared and global memory; blocks then run one after the other.
    Global,
}

/// A buffer and the file it goes to.
#[derive(Clone)]
struct Dump {
    name: String,
    path: PathBuf,
}

fn parse_dump(text: &str) -> std::result::Result<Dump, String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && path.ends_with(".npy") => Ok(Dump {
            name: name.to_owned(),
            path: path.into(),
        }),
        _ => Err("expected NAME=FILE.npy, the name of a buffer and a file".to_owned()),
    }
}

pub(super) fn run(args: &RunArgs, printer: &Printer) -> Result<()> {
    let mut file = LaunchFile::load(&args.launch)?;
    file.zeros_beyond = args.allow.zeros_beyond(printer);
    let mut prepared = file.prepare()?;
    check_dumps(&prepared, &args.dump)?;
    let options = Options {
        threads: args.threads.unwrap_or(0).into(),
        races: args.races.is_some(),
        global_races: args.races == Some(Races::Global),
        ..Options::default()
    };
    let report = Report::of(&file, &mut prepared, &options)?;
    for dump in &args.dump {
        let found = prepared.buffers().find(|(name, ..)| *name == dump.name);
        if let Some((_, buffer, bytes)) = found {
            write_file(&dump.path, &buffer.to_npy(bytes))?;
        }
    }
    printer.result(report.json(), || report.text())?;
    report.verdict()
}

/// Refuses names that are not buffers, and files that cannot be written.
fn check_dumps(prepared: &Prepared, dumps: &[Dump]) -> Result<()> {
    let names: Vec<&str> = prepared.buffers().map(|(name, ..)| name).collect();
    for dump in dumps {
        if !names.contains(&dump.name.as_str()) {
            return Err(Error::usage(
                format!("there is no buffer '{}' to dump", dump.name),
                format!("expected one of {}", names.join(", ")),
            ));
        }
        check_writable(&dump.path)?;
    }
    let place = |dump: &Dump| std::path::absolute(&dump.path).unwrap_or(dump.path.clone());
    let place = |dump: &Dump| std::fs::canonicalize(&dump.path).unwrap_or_else(|_| place(dump));
    for (at, dump) in dumps.iter().enumerate() {
        if let Some(other) = dumps[..at].iter().find(|o| place(o) == place(dump)) {
            let what = format!(
                "'{}' and '{}' are both to be dumped to {}",
                other.name,
                dump.name,
                dump.path.display()
            );
            return Err(Error::usage(what, "expected a file for each"));
        }
    }
    Ok(())
}

/// A buffer after the run.
struct Output {
    name: String,
    sha256: String,
    /// With what was expected, where something was.
    comparison: Option<Comparison>,
}

fn outputs(prepared: &Prepared) -> Result<Vec<Output>> {
    let output = |(name, buffer, bytes): (&str, &crate::launch::Buffer, &[u8])| {
        let digest = Sha256::digest(bytes);
        Ok(Output {
            name: name.to_owned(),
            sha256: digest.iter().map(|b| format!("{b:02x}")).collect(),
            comparison: buffer.compare(bytes)?,
        })
    };
    prepared.buffers().map(output).collect()
}

/// What a run did.
pub(super) struct Report<'a> {
    file: &'a LaunchFile,
    /// Entries of all launches.
    entries: Vec<String>,
    /// Launches that ran; those behind a fault do not.
    done: usize,
    outcome: Outcome,
    outputs: Vec<Output>,
    seconds: Duration,
}

impl<'a> Report<'a> {
    /// Runs all launches.
    pub fn of(file: &'a LaunchFile, prepared: &mut Prepared, options: &Options) -> Result<Self> {
        let start = Instant::now();
        let mut done = 0;
        let outcome = prepared.run_each(options, |_, _| done += 1)?;
        Ok(Report {
            file,
            entries: prepared
                .launches()
                .iter()
                .map(|l| l.entry.clone())
                .collect(),
            done,
            outcome,
            seconds: start.elapsed(),
            outputs: outputs(prepared)?,
        })
    }

    pub fn json(&self) -> Value {
        let output = |o: &Output| {
            // JSON has no infinity: null, too.
            let error = o.comparison.as_ref().map(|c| c.max_error);
            json!({
                "name": o.name,
                "sha256": o.sha256,
                "max_error": error.filter(|e| e.is_finite()),
                "ok": o.comparison.as_ref().map(|c| c.ok),
            })
        };
        let skipped = |(launch, entry)| json!({"launch": launch, "entry": entry});
        json!({
            "entry": self.entries[0],
            "grid": self.file.first.grid,
            "block": self.file.first.block,
            "warp_instructions": self.outcome.warp_instructions,
            "thread_instructions": self.outcome.thread_instructions,
            "shared_accesses": self.outcome.shared_accesses,
            "seconds": self.seconds.as_secs_f64(),
            "outputs": self.outputs.iter().map(output).collect::<Vec<_>>(),
            "findings": self.outcome.findings.iter().map(finding_json).collect::<Vec<_>>(),
            "skipped": self.skipped().map(skipped).collect::<Vec<_>>(),
        })
    }

    /// Number and entry of the launches that did not run.
    fn skipped(&self) -> impl Iterator<Item = (usize, &str)> {
        let entries = self.entries.iter().map(String::as_str);
        entries.enumerate().skip(self.done)
    }

    fn text(&self) -> String {
        let rows = self.outputs.iter().map(|o| {
            let compared =
                |f: &dyn Fn(&Comparison) -> String| o.comparison.as_ref().map_or(String::new(), f);
            vec![
                o.name.clone(),
                o.sha256[..16].to_owned(),
                compared(&|c| format!("{:.3e}", c.max_error)),
                compared(&|c| if c.ok { "yes" } else { "no" }.to_owned()),
            ]
        });
        let header = ["buffer", "SHA-256 (first 16)", "max error", "as expected"];
        let mut text = format!(
            "{}: {} warp instructions, {} thread instructions, {} shared-memory accesses, {:.3} s\n{}",
            self.entries[0],
            self.outcome.warp_instructions,
            self.outcome.thread_instructions,
            self.outcome.shared_accesses,
            self.seconds.as_secs_f64(),
            table(&header, &["max error"], rows),
        );
        for finding in &self.outcome.findings {
            text.push_str(&finding_text(&self.file.ptx.value, finding));
        }
        let skipped: Vec<&str> = self.skipped().map(|(_, entry)| entry).collect();
        if !skipped.is_empty() {
            let list = listed_from(self.done, &skipped);
            text += &format!("not run, because of the fault before: launches {list}\n");
        }
        text
    }

    /// An error for the exit status where something is wrong with the kernel.
    pub fn verdict(&self) -> Result<()> {
        let fault = self.outcome.findings.iter().find(|f| !f.warning);
        if let Some(fault) = fault {
            return Err(Error::CheckFailed {
                what: format!("{}: {}", fault.kind.text(), fault.message),
                help: Some(format!("see line {} of {}", fault.ptx_line, fault.ptx())),
            });
        }
        let wrong = |o: &&Output| o.comparison.as_ref().is_some_and(|c| !c.ok);
        let Some(output) = self.outputs.iter().find(wrong) else {
            return Ok(());
        };
        let first = output
            .comparison
            .as_ref()
            .and_then(|c| c.first)
            .unwrap_or(0);
        Err(Error::CheckFailed {
            what: format!(
                "the buffer '{}' is not as expected from element {first} on",
                output.name
            ),
            help: Some(format!("see it with: --dump {0}={0}.npy", output.name)),
        })
    }
}

fn finding_json(finding: &Finding) -> Value {
    let mut json = json!({
        "kind": finding.kind.text(),
        "ptx_line": finding.ptx_line,
        "source": finding.source,
        "block": finding.block,
        "thread": finding.thread,
        "address": finding.address,
        "variable": finding.variable,
        "message": finding.message,
        "warning": finding.warning,
    });
    if let Some(file) = &finding.ptx_file {
        json["ptx_file"] = json!(file);
    }
    if finding.other {
        json["other"] = json!(true);
    }
    json
}

fn finding_text(ptx: &Path, finding: &Finding) -> String {
    let ptx = finding.ptx_file.as_ref().map_or(ptx, Path::new);
    let name = ptx.file_name().unwrap_or_default().display();
    let source = finding
        .source
        .as_ref()
        .map_or(String::new(), |s| format!(" ({s})"));
    format!(
        "{}{}: {name}:{}{source}, block {:?}, thread {:?}: {}\n",
        if finding.warning { "warning, " } else { "" },
        finding.kind.text(),
        finding.ptx_line,
        finding.block,
        finding.thread,
        finding.message
    )
}
