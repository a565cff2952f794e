//! `spadkit run`: executes a PTX kernel, checks its outputs, finds its faults.

use super::printer::{CommandResult, Printer, table};
use super::{Execute, Global};
use crate::capture::listed_from;
use crate::error::{Error, Result};
use crate::launch::{Comparison, LaunchFile, Prepared};
use crate::output::{check_writable, write_file};
use crate::ptx::exec::{Finding, Options};
use clap::Args;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::Instant;

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
    /// Run the warps of each block in an order that SEED draws, to see that the
    /// findings do not depend on it.
    #[arg(long, value_name = "SEED")]
    warp_order: Option<u64>,
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

impl Execute for RunArgs {
    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        global.check_machine()?;
        let mut file = LaunchFile::load(&self.launch)?;
        file.zeros_beyond = self.allow.zeros_beyond(printer);
        let mut prepared = file.prepare()?;
        check_dumps(&prepared, &self.dump)?;
        let options = Options {
            threads: self.threads.unwrap_or(0).into(),
            races: self.races.is_some(),
            global_races: self.races == Some(Races::Global),
            warp_order: self.warp_order,
            ..Options::default()
        };
        let report = Report::of(&file, &mut prepared, &options)?;
        for dump in &self.dump {
            let found = prepared.buffers().find(|(name, ..)| *name == dump.name);
            if let Some((_, buffer, bytes)) = found {
                write_file(&dump.path, &buffer.to_npy(bytes))?;
            }
        }
        printer.show(&report)?;
        report.verdict()
    }
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
    Ok(())
}

/// A buffer after the run.
#[derive(Serialize)]
struct Output {
    name: String,
    sha256: String,
    #[serde(flatten)]
    checked: Checked,
    /// The same, with the place of the first difference.
    #[serde(skip)]
    comparison: Option<Comparison>,
}

/// A buffer against what was expected, where something was.
#[derive(Serialize)]
struct Checked {
    /// The largest error, if it is finite: JSON has no infinity.
    max_error: Option<f64>,
    ok: Option<bool>,
}

impl Checked {
    fn of(comparison: Option<&Comparison>) -> Self {
        let error = comparison.map(|c| c.max_error);
        Checked {
            max_error: error.filter(|e| e.is_finite()),
            ok: comparison.map(|c| c.ok),
        }
    }
}

fn outputs(prepared: &Prepared) -> Result<Vec<Output>> {
    let output = |(name, buffer, bytes): (&str, &crate::launch::Buffer, &[u8])| {
        let digest = Sha256::digest(bytes);
        let comparison = buffer.compare(bytes)?;
        Ok(Output {
            name: name.to_owned(),
            sha256: digest.iter().map(|b| format!("{b:02x}")).collect(),
            checked: Checked::of(comparison.as_ref()),
            comparison,
        })
    };
    prepared.buffers().map(output).collect()
}

/// What a run did.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    entry: String,
    grid: [u32; 3],
    block: [u32; 3],
    #[serde(flatten)]
    counts: Counts,
    outputs: Vec<Output>,
    findings: Vec<Finding>,
    /// Launches that did not run, because of a fault before.
    skipped: Vec<Skipped>,
    #[serde(skip)]
    ptx: &'a Path,
}

/// What was executed, and for how long.
#[derive(Serialize)]
struct Counts {
    warp_instructions: u64,
    thread_instructions: u64,
    shared_accesses: u64,
    seconds: f64,
}

/// A launch that did not run.
#[derive(Serialize)]
struct Skipped {
    launch: usize,
    entry: String,
}

impl<'a> Report<'a> {
    /// Runs all launches.
    pub fn of(file: &'a LaunchFile, prepared: &mut Prepared, options: &Options) -> Result<Self> {
        let start = Instant::now();
        let mut done = 0;
        let outcome = prepared.run_each(options, |_, _| done += 1)?;
        let seconds = start.elapsed().as_secs_f64();
        let launches = prepared.launches();
        let skipped = launches.iter().enumerate().skip(done);
        Ok(Report {
            entry: launches[0].entry.clone(),
            grid: file.first.grid,
            block: file.first.block,
            counts: Counts {
                warp_instructions: outcome.warp_instructions,
                thread_instructions: outcome.thread_instructions,
                shared_accesses: outcome.shared_accesses,
                seconds,
            },
            findings: outcome.findings,
            skipped: skipped
                .map(|(launch, l)| Skipped {
                    launch,
                    entry: l.entry.clone(),
                })
                .collect(),
            outputs: outputs(prepared)?,
            ptx: &file.ptx.value,
        })
    }

    /// An error for the exit status where something is wrong with the kernel.
    pub fn verdict(&self) -> Result<()> {
        let fault = self.findings.iter().find(|f| !f.warning);
        if let Some(fault) = fault {
            let source = fault.line_of_kernel();
            let source = source.map_or(String::new(), |s| format!(", {s}"));
            let (line, ptx) = (fault.ptx_line, fault.ptx());
            return Err(Error::CheckFailed {
                what: format!("{}: {}", fault.kind.text(), fault.message),
                help: Some(format!("see line {line} of {ptx}{source}")),
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

impl CommandResult for Report<'_> {
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
        let mut text = verdict_text(&self.findings);
        text += &format!(
            "{}: {} warp instructions, {} thread instructions, {} shared-memory accesses, {:.3} s\n{}",
            self.entry,
            self.counts.warp_instructions,
            self.counts.thread_instructions,
            self.counts.shared_accesses,
            self.counts.seconds,
            table(&header, &["max error"], rows),
        );
        for finding in &self.findings {
            text.push_str(&finding_text(self.ptx, finding));
        }
        if let Some(first) = self.skipped.first() {
            let entries: Vec<&str> = self.skipped.iter().map(|s| s.entry.as_str()).collect();
            let list = listed_from(first.launch, &entries);
            text += &format!("not run because of the preceding fault: launches {list}\n");
        }
        text
    }
}

/// How much is wrong, and of which kinds; nothing where nothing is.
fn verdict_text(findings: &[Finding]) -> String {
    let counted = |warning: bool, what: &str| {
        let all = findings.iter().filter(|f| !f.other && f.warning == warning);
        let kinds: Vec<&str> = all.clone().map(|f| f.kind.text()).collect();
        let mut names = kinds.clone();
        names.dedup();
        let s = if kinds.len() == 1 { "" } else { "s" };
        let text = || format!("{} {what}{s} ({})", kinds.len(), names.join(", "));
        (!kinds.is_empty()).then(text)
    };
    let parts = [counted(false, "fault"), counted(true, "warning")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts[..] {
        [] => String::new(),
        _ => format!("found: {}\n", parts.join(", ")),
    }
}

fn finding_text(ptx: &Path, finding: &Finding) -> String {
    let ptx = finding.ptx_file.as_ref().map_or(ptx, Path::new);
    let name = ptx.file_name().unwrap_or_default().display();
    // The outermost call is the line of the kernel itself.
    let call = finding.inlined_at.last();
    let call = call.map_or(String::new(), |c| format!(", inlined at {c}"));
    let source = finding
        .source
        .as_ref()
        .map_or(String::new(), |s| format!(" ({s}{call})"));
    let (warning, kind) = match (finding.other, finding.warning) {
        (true, _) => ("    ", "and"),
        (false, true) => ("warning, ", finding.kind.text()),
        (false, false) => ("", finding.kind.text()),
    };
    // Behind both sides what they have in common.
    let mut common = String::new();
    if let Some(count) = finding.count.filter(|_| finding.other) {
        let places = if count == 1 { "place" } else { "places" };
        common = format!("    at {count} {places}");
        if let Some(barrier) = &finding.barrier {
            common += &format!("; one barrier {barrier} would order them");
        }
        common.push('\n');
    }
    format!(
        "{warning}{kind}: {name}:{}{source}, block {:?}, thread {:?}: {}\n{common}",
        finding.ptx_line, finding.block, finding.thread, finding.message
    )
}
