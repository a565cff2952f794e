//! `spadkit run`: executes a PTX kernel, checks its outputs, finds its faults.

mod text;

use super::printer::Printer;
use super::{Example, Execute, Global};
use crate::digest::sha256_hex;
use crate::error::{Error, Result};
use crate::launch::{Comparison, LaunchFile, Prepared};
use crate::output::{check_writable, write_file};
use crate::ptx::exec::{Finding, FindingKind, Options};
use crate::readable::readable_words;
use clap::Args;
use serde::{Serialize, Serializer};
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
    /// Run the warps of each block, and blocks that run together, in an order
    /// that SEED draws, to check that the findings do not depend on it.
    #[arg(long, value_name = "SEED")]
    warp_order: Option<u64>,
    /// Show the SHA-256 of each buffer after the run.
    #[arg(long)]
    digests: bool,
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
    fn examples() -> &'static [Example] {
        &[
            ("outputs and faults", "run k.toml"),
            ("races, too", "run k.toml --races"),
            ("a buffer to a file", "run k.toml --dump out=out.npy"),
        ]
    }

    fn execute(&self, _global: &Global, printer: &Printer) -> Result<()> {
        let file = LaunchFile::load(&self.launch)?;
        let zeros_beyond = self.allow.run(printer).zeros_beyond;
        let mut prepared = file.prepare(&file.module()?)?;
        check_dumps(&prepared, &self.dump)?;
        let options = Options {
            threads: self.threads.unwrap_or(0).into(),
            races: self.races.is_some(),
            global_races: self.races == Some(Races::Global),
            warp_order: self.warp_order,
            zeros_beyond,
            ..Options::default()
        };
        let report = Report {
            digests: self.digests,
            launch: Some(&self.launch),
            ..Report::of(&file, &mut prepared, &options)?
        };
        for dump in &self.dump {
            let found = prepared.buffers().find(|(name, ..)| *name == dump.name);
            if let Some((_, buffer, bytes)) = found {
                write_file(&dump.path, &buffer.to_npy(bytes))?;
                printer.wrote(&dump.path);
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
    /// The comparison with the index of the first difference.
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
        let comparison = buffer.compare(bytes)?;
        Ok(Output {
            name: name.to_owned(),
            sha256: sha256_hex(bytes),
            checked: Checked::of(comparison.as_ref()),
            comparison,
        })
    };
    prepared.buffers().map(output).collect()
}

/// The result of a run.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    entry: String,
    grid: [u32; 3],
    block: [u32; 3],
    #[serde(flatten)]
    counts: Counts,
    outputs: Vec<Output>,
    #[serde(serialize_with = "with_users_lines")]
    findings: Vec<Finding>,
    /// Launches that did not run, because of a fault before.
    skipped: Vec<Skipped>,
    /// The guesses of `init` that the user has not filled in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guesses: Vec<Guess>,
    #[serde(skip)]
    ptx: &'a Path,
    /// The launch file, where it is a file.
    #[serde(skip)]
    launch: Option<&'a Path>,
    /// Races were looked for.
    #[serde(skip)]
    races: bool,
    /// Digests are shown.
    #[serde(skip)]
    digests: bool,
}

/// A line of a launch file that is marked "fill in".
#[derive(Serialize)]
struct Guess {
    /// 1-based.
    line: usize,
    /// Text without the mark.
    text: String,
}

impl Guess {
    fn all(text: &str) -> Vec<Self> {
        let (mut all, mut of) = (Vec::new(), String::new());
        for (i, line) in text.lines().enumerate() {
            let (text, mark) = line.split_once('#').unwrap_or((line, ""));
            let (key, value) = text.split_once('=').unwrap_or((text, ""));
            match key.trim() {
                // The argument whose keys follow.
                "name" => of = format!("{}: ", value.trim().trim_matches('"')),
                section if section.starts_with('[') => of.clear(),
                _ if mark.trim_start().starts_with("fill in") => all.push(Guess {
                    line: i + 1,
                    text: format!("{of}{}", text.trim()),
                }),
                _ => {}
            }
        }
        all
    }
}

/// The executed instructions, and the time.
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

/// Findings, each in a header of the toolkit with the line of the source that led to it.
fn with_users_lines<S: Serializer>(
    findings: &[Finding],
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        #[serde(flatten)]
        finding: &'a Finding,
        #[serde(skip_serializing_if = "Option::is_none")]
        user_source: Option<&'a str>,
    }
    to.collect_seq(findings.iter().map(|finding| {
        let users = finding.users_line();
        Row {
            finding,
            user_source: users.filter(|line| finding.source.as_deref() != Some(*line)),
        }
    }))
}

/// The finding with a message for people; its variable is named as in the PTX.
fn in_names_of_the_source(finding: Finding) -> Finding {
    Finding {
        message: readable_words(&finding.message),
        ..finding
    }
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
            findings: outcome
                .findings
                .into_iter()
                .map(in_names_of_the_source)
                .collect(),
            skipped: skipped
                .map(|(launch, l)| Skipped {
                    launch,
                    entry: l.entry.clone(),
                })
                .collect(),
            outputs: outputs(prepared)?,
            guesses: Guess::all(&file.source.text),
            ptx: &file.ptx.value,
            launch: None,
            races: options.races,
            digests: false,
        })
    }

    /// An error for the exit status where something is wrong with the kernel.
    pub fn verdict(&self) -> Result<()> {
        // A race may cause the others.
        let faults = || self.findings.iter().filter(|f| !f.warning);
        let race = faults().find(|f| f.kind == FindingKind::Race);
        let fault = race.or_else(|| faults().next());
        if let Some(fault) = fault {
            let source = fault.users_line();
            let source = source.map_or(String::new(), |s| format!(", {s}"));
            let (line, ptx) = (fault.ptx_line, fault.ptx());
            return Err(Error::check(
                format!("{}: {}", fault.kind.text(), fault.message),
                format!("see line {line} of {ptx}{source}"),
            ));
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
        Err(Error::check(
            format!(
                "the buffer '{}' is not as expected from element {first} on",
                output.name
            ),
            format!("see it with: --dump {0}={0}.npy", output.name),
        ))
    }
}
