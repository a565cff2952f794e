//! `spadkit rewrite`: a bank mapping put into a PTX kernel.

use super::Global;
use super::printer::{Printer, table};
use crate::capture::{Selected, is_launch, launch_trace};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::launch::{LaunchFile, read_module};
use crate::output::{check_writable, write_file};
use crate::ptx::Module;
use crate::rewrite::{Hashes, Measured, Request, Rewritten, measure, propose, rewrite};
use crate::software::LayoutSpec;
use crate::trace::ConflictProfile;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

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
    #[arg(value_name = "KERNEL.ptx|LAUNCH.toml")]
    pub(super) input: PathBuf,
    /// The entry [default: that of the launch file, or the only one].
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// The mapping of all shared variables together, or with NAME= of one
    /// variable; repeat for several.
    #[arg(long = "hash", value_name = "[NAME=]SPEC", required = true, value_parser = parse_hash)]
    hashes: Vec<NamedHash>,
    /// Where to write the PTX.
    #[arg(short, long, value_name = "FILE.ptx")]
    output: PathBuf,
    /// Measure with this launch file.
    #[arg(long, value_name = "FILE.toml")]
    launch: Option<PathBuf>,
    /// Threads of a block; knowing them saves instructions. The PTX then works
    /// only for such blocks, which .reqntid enforces.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = super::parse_block)]
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
}

/// A mapping, of one variable where it has a name.
#[derive(Clone)]
struct NamedHash {
    name: Option<String>,
    spec: LayoutSpec,
}

fn parse_hash(text: &str) -> std::result::Result<NamedHash, String> {
    let spec = |text: &str| super::parsed::<LayoutSpec>(text);
    // A spec has its first `=` behind a `:`.
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

pub(super) fn run(args: &RewriteArgs, global: &Global, printer: &Printer) -> Result<()> {
    let machine = global.machine()?;
    let hashes = args.hashes()?;
    check_writable(&args.output)?;
    let launch = args.launch_file()?;
    let module = args.module(launch.as_ref())?;
    let request = args.request(&machine, &module, launch.as_ref(), hashes)?;
    let write = |text: &str| write_file(&args.output, text.as_bytes());
    apply(
        &module,
        &request,
        &machine,
        launch.as_ref(),
        &write,
        printer,
    )
}

/// Rewrites, measures with the launch where there is one, and hands the text
/// to `write` if the kernel still computes the same.
fn apply(
    module: &Module,
    request: &Request,
    machine: &Config,
    launch: Option<&LaunchFile>,
    write: &dyn Fn(&str) -> Result<()>,
    printer: &Printer,
) -> Result<()> {
    let rewritten = rewrite(module, request)?;
    let measured = match (launch, &rewritten.text) {
        (Some(file), Some(_)) => {
            let rule = machine.conflict_rule();
            Some(measure(file, module, request, &rewritten, rule)?)
        }
        _ => None,
    };
    if let Some(text) = &rewritten.text
        && measured.is_none_or(|m| m.outputs_equal)
    {
        write(text)?;
    }
    let report = Report {
        rewritten: &rewritten,
        measured: measured.as_ref(),
        proposal: proposal(&rewritten, request, machine, launch.zip(Some(module)))?,
    };
    printer.result(report.json(), || report.text())?;
    report.verdict()
}

/// The mapping to propose if wide accesses would be split: the best for the
/// launch, where there is one.
fn proposal(
    rewritten: &Rewritten,
    request: &Request,
    machine: &Config,
    launch: Option<(&LaunchFile, &Module)>,
) -> Result<Option<LayoutSpec>> {
    let Some(together) = rewritten.together else {
        return Ok(None);
    };
    let profile = match launch {
        None => None,
        Some((file, module)) => {
            let mut prepared = file.prepare_with(module)?;
            let own = |l: &crate::ptx::exec::Launch| l.entry == request.entry;
            let index = prepared.launches().iter().position(own).unwrap_or(0);
            let trace = launch_trace(&mut prepared, file, index, None)?;
            Some(ConflictProfile::new(&trace, machine.conflict_rule()))
        }
    };
    Ok(propose(machine.geometry, together, profile.as_ref()))
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
                        "one mapping for all variables, and another",
                        "expected --hash SPEC once, or --hash NAME=SPEC for each variable",
                    )
                })
            }
        }
    }

    fn launch_file(&self) -> Result<Option<LaunchFile>> {
        let path = match (&self.launch, is_launch(&self.input)) {
            (Some(launch), false) => launch,
            (Some(_), true) => {
                return Err(Error::usage(
                    format!(
                        "--launch, but {} is a launch file, too",
                        self.input.display()
                    ),
                    "name the PTX and --launch FILE.toml, or the launch file alone",
                ));
            }
            (None, true) => &self.input,
            (None, false) => return Ok(None),
        };
        let file = Selected::of(path).map_or(path.clone(), |s| s.file);
        LaunchFile::load(&file).map(Some)
    }

    fn module(&self, launch: Option<&LaunchFile>) -> Result<Module> {
        let path = match (launch, is_launch(&self.input)) {
            (Some(file), true) => return file.module(),
            _ => &self.input,
        };
        read_module(path)
    }

    fn request(
        &self,
        machine: &Config,
        module: &Module,
        launch: Option<&LaunchFile>,
        hashes: Hashes,
    ) -> Result<Request> {
        let launches = match launch {
            Some(file) => file.prepare_with(module)?.launches().to_vec(),
            None => Vec::new(),
        };
        let named = self.launch.as_ref().unwrap_or(&self.input);
        let first = match Selected::of(named) {
            Some(selected) if !launches.is_empty() => launches.get(selected.index(&launches)?),
            _ => None,
        };
        let entry = match (&self.entry, first) {
            (Some(entry), _) => module.entry_named(entry)?.to_owned(),
            (None, Some(first)) => first.entry.clone(),
            (None, None) => only_entry(module)?,
        };
        let own: Vec<_> = launches.iter().filter(|l| l.entry == entry).collect();
        if launch.is_some() && own.is_empty() {
            let what = format!("the launch file does not launch {entry}");
            return Err(Error::usage(what, "expected an entry that it launches"));
        }
        let first = own.first();
        let same = own.iter().all(|l| Some(l.block) == first.map(|f| f.block));
        let of_launch = first.map(|l| l.block).filter(|_| same && !self.any_block);
        let dynamic = own.iter().map(|l| l.dynamic_shared).max();
        Ok(Request {
            hashes,
            geometry: machine.geometry,
            block_words: machine.block_words,
            dynamic_shared: self.dynamic_shared.or(dynamic),
            block: self.block.or(of_launch),
            optimise: !self.plain,
            entry,
        })
    }
}

/// A rewriting without files.
pub(super) struct Rewriting<'a> {
    pub module: &'a Module,
    pub entry: &'a str,
    /// `SPEC`, or `NAME=SPEC` for each variable.
    pub hashes: &'a [String],
    /// To measure with.
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
            input: self.module.name.clone().into(),
            entry: Some(self.entry.to_owned()),
            hashes: self.hashes.iter().map(hash).collect::<Result<_>>()?,
            output: PathBuf::new(),
            launch: None,
            block: None,
            any_block: self.any_block,
            dynamic_shared: None,
            plain: self.plain,
        };
        let request = args.request(machine, self.module, self.launch, args.hashes()?)?;
        apply(self.module, &request, machine, self.launch, write, printer)
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
            format!("name one with --entry: {}", entries.join(", ")),
        )),
    }
}

struct Report<'a> {
    rewritten: &'a Rewritten,
    measured: Option<&'a Measured>,
    proposal: Option<LayoutSpec>,
}

impl Report<'_> {
    fn json(&self) -> Value {
        let r = self.rewritten;
        let mut json = json!({
            "entry": r.entry,
            "accesses": r.accesses,
            "rewritten": r.rewritten,
            "refused": r.refused,
            "left": r.left,
            "proposal": self.proposal,
            "added_static": r.added_static,
            "shared_bytes": r.shared_bytes,
            "dynamic_shared": r.dynamic_shared,
            "block": r.block,
        });
        if let Some(m) = self.measured {
            super::merge(
                &mut json,
                json!({
                    "added_executed": m.added_executed,
                    "added_per_access": m.added_per_access(),
                    "conflicts_before": m.conflicts_before,
                    "conflicts_after": m.conflicts_after,
                    "outputs_equal": m.outputs_equal,
                }),
            );
        }
        json
    }

    fn text(&self) -> String {
        let r = self.rewritten;
        let mut text = format!(
            "{}: {} of {} accesses rewritten, {} instructions added, shared memory {} -> {} bytes\n",
            r.entry,
            r.rewritten,
            r.accesses,
            r.added_static,
            r.shared_bytes.before,
            r.shared_bytes.after
        );
        if let Some(bytes) = r.dynamic_shared {
            text += &format!("launch it with {bytes} bytes of dynamic shared memory\n");
        }
        if let Some([x, y, z]) = r.block {
            text += &format!("for blocks of {x} x {y} x {z} threads alone\n");
        }
        if let Some(m) = self.measured {
            let per_access = m
                .added_per_access()
                .map_or("-".to_owned(), |n| format!("{n:.2}"));
            text += &format!(
                "executed: {} instructions added, {per_access} per access; conflicts {} -> {}; outputs {}\n",
                m.added_executed,
                m.conflicts_before,
                m.conflicts_after,
                if m.outputs_equal {
                    "equal"
                } else {
                    "different"
                },
            );
        }
        if !r.left.is_empty() {
            let rows = r
                .left
                .iter()
                .map(|l| vec![l.line.to_string(), l.reason.clone()]);
            text += &table(&["line", "left as it is, because"], &["line"], rows);
        }
        text
    }

    /// An error for the exit status.
    fn verdict(&self) -> Result<()> {
        if let Some(reason) = &self.rewritten.refused {
            return Err(Error::CheckFailed {
                what: format!("{} was not rewritten: {reason}", self.rewritten.entry),
                help: Some(match &self.proposal {
                    Some(spec) => format!("{spec} keeps them: the best swizzle that does"),
                    None => "the lines that are in the way are above".to_owned(),
                }),
            });
        }
        if self.measured.is_some_and(|m| !m.outputs_equal) {
            Err(Error::CheckFailed {
                what: format!(
                    "{}: the rewritten kernel computes something else",
                    self.rewritten.entry
                ),
                help: Some(
                    "nothing was written; the kernel may depend on the order of its threads"
                        .to_owned(),
                ),
            })
        } else {
            Ok(())
        }
    }
}
