//! The answers of the commands about kernels, for programs that link the library,
//! such as the Python package: the same JSON and the same errors, for a kernel
//! and arguments in memory. Nothing is printed.

use super::machine::{DEFAULT_PRESET, MachineNote};
use super::machine_code::{JudgeBy, Judgement, MachineCode};
use super::printer::{Collected, Printer};
use super::values::parsed;
use super::{cmd_conflicts, cmd_rewrite, cmd_run, cmd_tune};
use crate::capture::statics::source_indices;
use crate::capture::{RunOptions, launch_trace};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::launch::{Arg, Init, LaunchFile, Options, Placed, Skeleton, Symbol, pointed_to};
use crate::ptx::exec::{Parameter, Program, SymbolInfo};
use crate::ptx::{Module, Type};
use crate::readable::readable;
use crate::rewrite::{Hashes, Request};
use crate::software::LayoutSpec;
use crate::software::choice::MappingKind;
use crate::trace::AccessTrace;
use crate::workload::Input;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

mod commands;
mod pictures;

pub use commands::Command;
use pictures::{least_conflicting, pictures};

/// The output of a command, which is not printed.
#[derive(Debug)]
pub struct Answer {
    /// The object of `--format json`.
    pub json: Value,
    /// The answer in a sentence, with which `--format text` begins.
    pub sentence: String,
    /// The warnings of the command.
    pub warnings: Vec<String>,
    /// The error that it would have ended with, after the object: a fault in
    /// the kernel, say.
    pub verdict: Result<()>,
}

impl Answer {
    /// Runs a command. An error without an object is an error here, too.
    fn of(
        machine: Option<MachineNote>,
        command: impl FnOnce(&Printer) -> Result<()>,
    ) -> Result<Self> {
        let (mut printer, collected) = Printer::collecting();
        if let Some(note) = machine {
            printer = printer.of_machine(note);
        }
        let verdict = command(&printer);
        let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
        let Collected {
            json,
            sentence,
            warnings,
        } = std::mem::take(&mut *collected);
        match (json, verdict) {
            (Some(json), verdict) => Ok(Answer {
                json,
                sentence,
                warnings,
                verdict,
            }),
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Err(Error::defect("a command has printed nothing")),
        }
    }
}

/// An entry of a PTX text, or of several that are linked.
#[derive(Debug)]
pub struct Kernel {
    module: Module,
    entry: String,
}

impl Kernel {
    /// Parses `text`, whose `name` is for messages and may be the file's. The
    /// entry may be left out if there is one.
    pub fn new(text: &str, name: &str, entry: Option<&str>) -> Result<Self> {
        Self::linked(&[(text, name)], entry)
    }

    /// Links several texts, which are given with their names, as [`new`](Self::new)
    /// takes one.
    pub fn linked(texts: &[(&str, &str)], entry: Option<&str>) -> Result<Self> {
        let parse = |(text, name): &(&str, &str)| Module::parse(text, name);
        let module = Module::link(texts.iter().map(parse).collect::<Result<_>>()?)?;
        let entry = match entry {
            Some(entry) => module.entry_named(entry)?.to_owned(),
            None => Skeleton::new(&module, None)?.entry().to_owned(),
        };
        Ok(Kernel { module, entry })
    }

    /// The PTX; of several texts, one after the other.
    pub fn text(&self) -> &str {
        &self.module.text
    }

    /// The PTX's name for messages.
    pub fn name(&self) -> &str {
        &self.module.name
    }

    /// The kernel as an input, whose name is that of its file; sources are looked for
    /// in the same folder, too.
    fn input(&self) -> Input {
        Input::from(PathBuf::from(self.name()))
    }

    /// The entry, as the PTX names it.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The entry, as the source names it.
    pub fn source_name(&self) -> String {
        readable(&self.entry)
    }

    /// The parameters, in order.
    pub fn params(&self) -> Result<Vec<Parameter>> {
        Program::new(&self.module)?.params(&self.entry)
    }

    /// By parameter, the type in C++ and that of an element, if the entry's mangled
    /// name says that it is a pointer to numbers; empty if the name does not say.
    pub fn pointed_to(&self) -> Vec<Option<(String, Type)>> {
        pointed_to(&self.entry)
    }

    /// The variables that the host can write.
    pub fn symbols(&self) -> Result<Vec<SymbolInfo>> {
        Ok(Program::new(&self.module)?.symbols().collect())
    }

    /// Threads of a block, where the PTX requires a number (`.reqntid`).
    pub fn required_block(&self) -> Option<[u32; 3]> {
        let function = self.module.entry(&self.entry).ok()?;
        self.module.functions[function as usize].tuning.reqntid
    }

    /// Whether it can be run; else everything that cannot, with lines.
    pub fn check(&self) -> Result<()> {
        Program::new(&self.module)?.check(&self.entry)
    }

    /// A launch.
    pub fn launch(self: &std::sync::Arc<Self>, given: Given) -> Result<Launch> {
        let name = format!("launch of {}", self.entry);
        let mut text = format!(
            "ptx = \"-\"\ngrid = {:?}\nblock = {:?}\ndynamic_shared = {}\nlimit = {}\n\
             cooperative = {}\n",
            given.grid, given.block, given.dynamic_shared, given.limit, given.cooperative
        );
        if let Some(cluster) = &given.cluster {
            text += &format!("cluster = {cluster:?}\n");
        }
        if let Some(heap) = given.heap {
            text += &format!("heap = {heap}\n");
        }
        let mut file = LaunchFile::parse(text, Path::new(&name))?;
        let offset = file.ptx.offset;
        file.ptx = Placed {
            value: PathBuf::from(&self.module.name),
            offset,
        };
        file.first.entry = Some(Placed {
            value: self.entry.clone(),
            offset,
        });
        file.args = given.args;
        file.symbols = given.symbols;
        file.prepare(&self.module)?;
        Ok(Launch {
            kernel: std::sync::Arc::clone(self),
            file,
        })
    }

    /// A note on the machine in answers: that of a name or a file, else that of the
    /// PTX's target, else the default.
    pub fn machine_note(&self, named: Option<&str>) -> Result<MachineNote> {
        self.machine(named).map(|(_, note)| note)
    }

    /// The machine of a name or a file, else that of the PTX's target, else the
    /// default; with what answers say of it.
    fn machine(&self, named: Option<&str>) -> Result<(Config, MachineNote)> {
        const ARGUMENT: &str = "machine";
        match named {
            Some(file) if file.ends_with(".toml") => {
                let path = Path::new(file);
                Ok((Config::load(path)?, MachineNote::of_kit(path, ARGUMENT)))
            }
            Some(name) => Ok((Config::preset(name)?, MachineNote::named(name, ARGUMENT))),
            None => {
                let of_target = |sm| MachineNote::of_target(sm, &self.files());
                let note = self.module.sm().and_then(of_target);
                let note = note.unwrap_or_else(|| MachineNote::default(DEFAULT_PRESET));
                Ok((Config::preset(&note.preset)?, note))
            }
        }
    }

    /// The names of its files, without their folders.
    fn files(&self) -> String {
        let name = |path| Path::new(path).file_name().unwrap_or_default();
        let names = self.name().split(", ").map(name);
        let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
        names.join(", ")
    }

    /// `spadkit rewrite`: the answer, and the PTX where it was rewritten. With
    /// a launch, both are run and compared.
    pub fn rewrite(
        &self,
        launch: Option<&Launch>,
        how: &Rewriting,
    ) -> Result<(Answer, Option<String>)> {
        let (machine, note) = self.machine(how.machine.as_deref())?;
        let text = std::sync::Mutex::new(None);
        let write = |new: &str| {
            *text.lock().unwrap_or_else(PoisonError::into_inner) = Some(new.to_owned());
            Ok(())
        };
        let rewriting = cmd_rewrite::Rewriting {
            module: &self.module,
            entry: &self.entry,
            hashes: &how.hashes,
            launch: launch.map(|l| &l.file),
            any_block: how.any_block,
            plain: how.plain,
        };
        let answer = Answer::of(Some(note), |printer| {
            rewriting.run(&machine, &write, printer)
        });
        let text = text.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((answer?, text))
    }
}

/// Grid, block and arguments of a launch.
#[derive(Clone, Debug)]
pub struct Given {
    /// Thread blocks.
    pub grid: Vec<u64>,
    /// Threads of a block.
    pub block: Vec<u64>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u64,
    /// Blocks of a cluster, where the PTX does not say it.
    pub cluster: Option<Vec<u64>>,
    /// Whether the grid may wait for all of its blocks.
    pub cooperative: bool,
    /// Bytes of the heap of device-side `malloc`, where it is not CUDA's.
    pub heap: Option<u64>,
    /// Thread instructions after which a run ends.
    pub limit: u64,
    /// One for each parameter.
    pub args: Vec<Arg>,
    /// Module variables that the host writes.
    pub symbols: Vec<Symbol>,
}

/// Options of a rewriting.
#[derive(Clone, Debug, Default)]
pub struct Rewriting {
    /// The machine's name or file; that of the PTX's target where it is none.
    pub machine: Option<String>,
    /// `SPEC`, or `NAME=SPEC` for each variable.
    pub hashes: Vec<String>,
    /// Whether the block size of the launch is not to be relied on.
    pub any_block: bool,
    /// Whether every address is mapped before its access, without optimisation.
    pub plain: bool,
}

/// A kernel with its arguments before the launch.
#[derive(Debug)]
pub struct Launch {
    kernel: std::sync::Arc<Kernel>,
    file: LaunchFile,
}

/// Memory that races are looked for on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Races {
    /// None.
    No,
    /// Shared memory.
    Shared,
    /// Shared and global memory.
    Global,
}

impl Launch {
    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// `spadkit run`: the answer, and the bytes of every buffer argument, then
    /// of every symbol, after the run, with `changed` only where it has changed them;
    /// `warp_order` draws the order of the warps.
    pub fn run(
        &self,
        races: Races,
        threads: usize,
        warp_order: Option<u64>,
        changed: bool,
    ) -> Result<(Answer, Vec<Option<Vec<u8>>>)> {
        let mut prepared = self.file.prepare(&self.kernel.module)?;
        let options = Options {
            threads,
            races: races != Races::No,
            global_races: races == Races::Global,
            warp_order,
            ..Options::default()
        };
        let report = cmd_run::Report::of(&self.file, &mut prepared, &options)?;
        let answer = Answer::of(None, |printer| {
            printer.show(&report)?;
            report.verdict()
        })?;
        let after = prepared.outputs().map(|(_, bytes)| bytes);
        let bytes = self.file.buffers().zip(after).map(|(before, after)| {
            let is_same = matches!(&before.init, Init::Bytes(bytes) if bytes == after);
            (!changed || !is_same).then(|| after.to_vec())
        });
        Ok((answer, bytes.collect()))
    }

    /// The accesses to shared memory of block `block`, the linear index.
    pub fn trace(&self, block: u64) -> Result<AccessTrace> {
        let mut prepared = self.file.prepare(&self.kernel.module)?;
        launch_trace(&mut prepared, &self.file, 0, RunOptions::of_block(block))
    }

    /// `spadkit conflicts`, with the parts `per_pc` and `lines`; and pictures
    /// of the worst accesses, under the first of `specs` and the best of the others.
    pub fn conflicts(
        &self,
        machine: Option<&str>,
        specs: &[String],
        block: u64,
    ) -> Result<(Answer, Value)> {
        let (machine, note) = self.kernel.machine(machine)?;
        let specs: Vec<LayoutSpec> = specs.iter().map(|s| s.parse()).collect::<Result<_>>()?;
        let trace = self.trace(block)?;
        let input = self.kernel.input();
        let answer = Answer::of(Some(note), |printer| {
            for note in machine.admit(&trace)? {
                printer.warn(note);
            }
            let detail = cmd_conflicts::Detail {
                per_pc: true,
                source: true,
                simulated: None,
                machine_code: false,
                again: None,
            };
            let specs: Vec<&LayoutSpec> = specs.iter().collect();
            cmd_conflicts::of_trace(&trace, &specs, detail, &machine, &input, printer)
        })?;
        let pictures = match specs.split_first() {
            Some((spec, others)) => {
                let other = least_conflicting(&answer.json, others);
                pictures(&trace, spec, other, &machine, input.name())?
            }
            None => Value::Null,
        };
        Ok((answer, pictures))
    }

    /// `spadkit tune --software`: mappings of `kinds`, all where none is named.
    /// `machine_code`: with `Some(true)`, everything is judged by the machine code; with
    /// `Some(false)`, nothing is; with `None`, changes of the source are, if ptxas and nvdisasm
    /// are installed.
    pub fn tune_software(
        &self,
        machine: Option<&str>,
        kinds: &[String],
        budget: Duration,
        block: u64,
        machine_code: Option<bool>,
    ) -> Result<Answer> {
        let (machine, note) = self.kernel.machine(machine)?;
        let kind = |name: &String| {
            let expected = "expected a kind of mapping: swizzle, pad, xor, add, rap, ...";
            parsed::<MappingKind>(name).map_err(|why| Error::usage(why, expected))
        };
        let kinds: Vec<MappingKind> = kinds.iter().map(kind).collect::<Result<_>>()?;
        let trace = self.trace(block)?;
        let module = &self.kernel.module;
        let made = || MachineCode::of_module(module, &trace, &machine);
        let (of_code, judgement) = match JudgeBy::of(machine_code) {
            JudgeBy::Ptx => (None, Judgement::default()),
            JudgeBy::InstalledTools => (None, Judgement::by(made())),
            JudgeBy::MachineCode => (Some(made()?.into_trace()), Judgement::of_trace(true)),
        };
        let trace = of_code.unwrap_or(trace);
        let program = Program::new(module)?;
        let indices = source_indices(&program, &self.kernel.entry, trace.block_dim)?;
        let prepared = self.file.prepare(module)?;
        let (entry, launches) = (&self.kernel.entry, prepared.launches());
        let launched = cmd_tune::resources::Launched {
            module,
            file: &self.file,
            request: Request::of_launches(&machine, launches, entry, Hashes::Named(Vec::new())),
            registers: 0,
        };
        Answer::of(Some(note), |printer| {
            for note in machine.admit(&trace)? {
                printer.warn(note);
            }
            let input = self.kernel.input();
            let subject = cmd_tune::software::Subject {
                trace: &trace,
                indices: &indices,
                input: &input,
                room: self.file.shared_room(machine.block_words),
                launched: Some(launched),
                again: None,
                all: false,
                report: None,
                judgement,
            };
            cmd_tune::in_software::run(&kinds, budget, &subject, &machine, printer)
        })
    }
}
