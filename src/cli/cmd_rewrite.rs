//! `spadkit rewrite`: a bank mapping put into a PTX kernel.

mod modes;
mod proposal;
mod report;
mod resources;

use super::cmd_init::init_command;
use super::machine_code::{JudgeBy, JudgeRewritten};
use super::printer::Printer;
use super::{Example, Execute, Global};
use crate::capture::{LaunchInput, Selected};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::launch::LaunchFile;
use crate::output::{check_writable, write_file};
use crate::ptx::Module;
use crate::quote::shell;
use crate::rewrite::{Hashes, Request, measure, rewrite};
use crate::software::LayoutSpec;
use crate::workload::Input;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use report::Report;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Put a bank mapping into a PTX kernel, for GPUs that have no hash unit.
///
/// Accesses to shared memory go to the words that the mapping gives; the kernel
/// computes the same results. With one mapping, all shared variables are in one
/// array under it; with --hash NAME=SPEC, each named variable is in an array of
/// its own. docs/guides/rewrite.md says what can be rewritten.
///
/// With a launch file, the kernel runs before and after, and instructions,
/// conflicts and outputs are compared. The exit status is 1 if the kernel
/// cannot be rewritten under this mapping, or if an output differs.
#[derive(Args)]
pub struct RewriteArgs {
    /// PTX (.ptx), or a launch file (.toml) that names it.
    #[arg(value_parser = super::values::file_input())]
    input: Input,
    /// The entry [default: that of the launch file, or the only one].
    #[arg(long, alias = "kernel", value_name = "NAME")]
    entry: Option<String>,
    /// The mapping of all shared variables together, or with NAME= of one
    /// variable or part of dynamic memory; repeat for several.
    #[arg(long = "hash", value_name = "[NAME=]SPEC", required = true, value_parser = parse_hash)]
    hashes: Vec<NamedHash>,
    /// Where to write the PTX.
    #[arg(short, long, alias = "out", value_name = "FILE")]
    output: PathBuf,
    /// Measure with this launch file.
    #[arg(long, value_name = "FILE.toml", value_parser = launch_file())]
    launch: Option<Arc<LaunchInput>>,
    /// Threads of a block; knowing them saves instructions. The PTX then works
    /// only for such blocks, which .reqntid enforces.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = super::values::parse_block)]
    block: Option<[u32; 3]>,
    /// Do not assume the block size of the launch file.
    #[arg(long, conflicts_with = "block")]
    any_block: bool,
    /// Bytes of dynamic shared memory [default: those of the launch file].
    #[arg(long, value_name = "BYTES")]
    dynamic_shared: Option<u32>,
    /// Map every address before each access, without optimisation.
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    judge: JudgeRewritten,
}

/// A mapping, of one variable where it has a name.
#[derive(Clone)]
struct NamedHash {
    name: Option<String>,
    spec: LayoutSpec,
}

fn parse_hash(text: &str) -> std::result::Result<NamedHash, String> {
    let spec = |text: &str| super::values::parsed::<LayoutSpec>(text);
    // A spec has its first `=` after a `:`.
    match text.split_once('=') {
        Some((name, rest)) if !name.contains(':') && !name.is_empty() => Ok(NamedHash {
            name: Some(name.to_owned()),
            spec: spec(rest)?,
        }),
        _ => Ok(NamedHash {
            name: None,
            spec: spec(text)?,
        }),
    }
}

fn launch_file() -> impl TypedValueParser<Value = Arc<LaunchInput>> {
    PathBufValueParser::new().map(|path| LaunchInput::at(&path).into())
}

impl Execute for RewriteArgs {
    fn examples() -> &'static [Example] {
        &[(
            "measured with its launch",
            "rewrite k.toml --hash swizzle:3,1,4 -o fast.ptx",
        )]
    }

    fn kernel(&self) -> Option<&Input> {
        Some(&self.input)
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        let machine = global.machine()?;
        let hashes = self.hashes()?;
        check_writable(&self.output)?;
        let launch = self.launch_file()?;
        if self.judge.by() == JudgeBy::MachineCode && launch.is_none() {
            return Err(Error::usage(
                "--machine-code without a launch file",
                "expected a launch file (.toml), or PTX with --launch FILE.toml: the kernel runs",
            ));
        }
        let module = self.input.module()?;
        let (request, threads) = self.request(&machine, &module, launch, hashes)?;
        let write = |text: &str| write_file(&self.output, text.as_bytes());
        let job = Job {
            module: &module,
            request: &request,
            machine: &machine,
            launch,
            threads,
            command: Some(self.command(&request.entry, global)),
            judge: self.judge.by(),
            output: Some(&self.output),
            flow: self.flow(global),
        };
        job.run(&write, printer)
    }
}

/// A kernel, and what is to be done to it.
struct Job<'a> {
    module: &'a Module,
    request: &'a Request,
    machine: &'a Config,
    /// The launch file to measure with.
    launch: Option<&'a LaunchFile>,
    /// Threads of a block, where they are known.
    threads: Option<[u32; 3]>,
    /// The command without its mappings.
    command: Option<String>,
    judge: JudgeBy,
    /// The file for the PTX, unless it goes elsewhere.
    output: Option<&'a Path>,
    /// The command that simulates the launch.
    flow: Option<String>,
}

impl Job<'_> {
    /// Rewrites, measures with the launch if there is one, and hands the
    /// text to `write` if the kernel still computes the same.
    fn run(&self, write: &dyn Fn(&str) -> Result<()>, printer: &Printer) -> Result<()> {
        let rewritten = rewrite(self.module, self.request)?;
        let rule = self.machine.conflict_rule();
        let measured = match (self.launch, rewritten.text()) {
            (Some(file), Some(_)) => {
                Some(measure(file, self.module, self.request, &rewritten, rule)?)
            }
            _ => None,
        };
        let counts = self
            .judge
            .counts(self.launch, self.module, self.request, self.machine)?;
        let machine_code = match &counts {
            Some(counts) => self.judge.known(counts.beside(&rewritten))?,
            None => None,
        };
        if let Some(text) = rewritten.text()
            && measured.is_none_or(|m| m.outputs_equal)
        {
            write(text)?;
        }
        let resources = self.resources(&rewritten, printer);
        let report = Report {
            advice: self.advice(&rewritten, counts.as_ref())?,
            resources,
            swizzle_modes: self.modes(&rewritten)?,
            rewritten: &rewritten,
            measured,
            machine_code,
            machine: self.machine,
            init: self
                .output
                .map(|to| init_command(to, self.module, &self.request.entry)),
            output: self.output,
            flow: self.flow.as_deref(),
        };
        printer.show(&report)?;
        report.verdict()
    }
}

impl RewriteArgs {
    fn hashes(&self) -> Result<Hashes> {
        match &self.hashes[..] {
            [NamedHash { name: None, spec }] => Ok(Hashes::All(spec.clone())),
            list => {
                let named = |h: &NamedHash| Some((h.name.clone()?, h.spec.clone()));
                let all: Option<Vec<_>> = list.iter().map(named).collect();
                all.map(Hashes::Named).ok_or_else(|| {
                    Error::usage(
                        "--hash SPEC given together with another --hash",
                        "expected --hash SPEC once, or --hash NAME=SPEC for each variable",
                    )
                })
            }
        }
    }

    /// The launch file to measure with.
    fn launch_file(&self) -> Result<Option<&LaunchFile>> {
        match (&self.launch, self.input.launch()) {
            (Some(_), Some(_)) => Err(Error::usage(
                format!("--launch, but {} is a launch file, too", self.input),
                "name the PTX and --launch FILE.toml, or the launch file alone",
            )),
            (launch, own) => own.or(launch.as_deref()).map(LaunchInput::file).transpose(),
        }
    }

    /// The command that simulates the launch.
    fn flow(&self, global: &Global) -> Option<String> {
        let own = self.input.launch().map(|_| self.input.name());
        let launch = own.or(self.launch.as_ref().map(|launch| launch.name()))?;
        Some(format!(
            "spadkit flow {} {}",
            shell(launch),
            global.machine_option()
        ))
    }

    /// The request, and the threads of a block if known.
    fn request(
        &self,
        machine: &Config,
        module: &Module,
        launch: Option<&LaunchFile>,
        hashes: Hashes,
    ) -> Result<(Request, Option<[u32; 3]>)> {
        let launches = match launch {
            Some(file) => file.prepare(module)?.launches().to_vec(),
            None => Vec::new(),
        };
        let named = self.launch.as_deref().map(LaunchInput::name);
        let first = match Selected::of(named.unwrap_or(self.input.name())) {
            Some(selected) if !launches.is_empty() => launches.get(selected.index(&launches)?),
            _ => None,
        };
        let entry = match (&self.entry, first) {
            (Some(entry), _) => module.entry_named(entry)?.to_owned(),
            (None, Some(first)) => first.entry.clone(),
            (None, None) => only_entry(module)?,
        };
        if launch.is_some() && !launches.iter().any(|l| l.entry == entry) {
            let what = format!("the launch file does not launch {entry}");
            return Err(Error::usage(what, "expected an entry that it launches"));
        }
        let function = &module.functions[module.entry(&entry)? as usize];
        let of_launches = Request::of_launches(machine, &launches, &entry, hashes);
        let threads = self.block.or(of_launches.block).or(function.tuning.reqntid);
        let request = Request {
            dynamic_shared: self.dynamic_shared.or(of_launches.dynamic_shared),
            parts: launch.map_or_else(Vec::new, |file| file.shared.to_vec()),
            block: self.block.or(of_launches.block.filter(|_| !self.any_block)),
            optimise: !self.plain,
            ..of_launches
        };
        Ok((request, threads))
    }

    /// The command that does the same to `entry`, without its mappings.
    fn command(&self, entry: &str, global: &Global) -> String {
        let mut command = format!("spadkit rewrite {}", shell(self.input.name()));
        if self.entry.is_some() {
            command += &format!(" --entry {}", shell(entry));
        }
        if let Some(launch) = &self.launch {
            command += &format!(" --launch {}", shell(launch.name()));
        }
        if let Some(bytes) = self.dynamic_shared {
            command += &format!(" --dynamic-shared {bytes}");
        }
        command += &format!(" -o {} {}", shell(&self.output), global.machine_option());
        command
    }
}

/// A rewriting without files.
pub(super) struct Rewriting<'a> {
    pub module: &'a Module,
    pub entry: &'a str,
    /// `SPEC`, or `NAME=SPEC` for each variable.
    pub hashes: &'a [String],
    /// The launch file to measure with.
    pub launch: Option<&'a LaunchFile>,
    /// Whether the block size of the launch is not to be relied on.
    pub any_block: bool,
    /// Whether every address is mapped before its access.
    pub plain: bool,
}

impl Rewriting<'_> {
    /// Hands the text to `write` if the kernel still computes the same.
    pub fn run(
        &self,
        machine: &Config,
        write: &dyn Fn(&str) -> Result<()>,
        printer: &Printer,
    ) -> Result<()> {
        let expected = "expected a mapping, SPEC or NAME=SPEC: mod, xor, pad:every=32,by=1, ...";
        let hash = |text: &String| {
            parse_hash(text).map_err(|why| Error::usage(format!("'{text}': {why}"), expected))
        };
        let args = RewriteArgs {
            input: PathBuf::from(&self.module.name).into(),
            entry: Some(self.entry.to_owned()),
            hashes: self.hashes.iter().map(hash).collect::<Result<_>>()?,
            output: PathBuf::new(),
            launch: None,
            block: None,
            any_block: self.any_block,
            dynamic_shared: None,
            plain: self.plain,
            judge: JudgeRewritten::default(),
        };
        let hashes = args.hashes()?;
        let module = self.module.clone().one_text()?;
        let (request, threads) = args.request(machine, &module, self.launch, hashes)?;
        let job = Job {
            module: &module,
            request: &request,
            machine,
            launch: self.launch,
            threads,
            command: None,
            judge: JudgeBy::default(),
            output: None,
            flow: None,
        };
        job.run(write, printer)
    }
}

fn only_entry(module: &Module) -> Result<String> {
    let entries: Vec<&str> = module.entries().map(|f| f.name.as_str()).collect();
    match entries[..] {
        [entry] => Ok(entry.to_owned()),
        [] => Err(Error::usage(
            format!("{} has no entry", Path::new(&module.name).display()),
            "expected PTX with a kernel",
        )),
        _ => Err(Error::usage(
            format!("{} has {} entries", module.name, entries.len()),
            format!(
                "name one with --entry: {}",
                crate::ptx::listed_names(&entries)
            ),
        )),
    }
}
