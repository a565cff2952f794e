//! A launch file with its PTX: arguments against parameters, buffers in memory.

use super::arg::{Arg, ArgKind};
use super::contents::Buffer;
use super::file::LaunchFile;
use super::handles::{Handles, check_named};
use super::module::read_module;
use super::room::{contents, no_memory};
use super::single::{Instead, Launch, Passed};
use super::symbol::Symbol;
use crate::error::{Error, Result};
use crate::input::require_file;
use crate::input::section::Source;
use crate::ptx::exec::{self, BufferId, Memory, Parameter, Program};
use crate::ptx::{Module, find_name};
use std::path::PathBuf;

/// Bytes of a tensor map.
const TENSOR_MAP: usize = 128;

/// Chooses the address of a buffer with these bytes.
type Place<'p> = &'p mut dyn FnMut(&[u8]) -> Result<u64>;

/// A launch that is ready to run: the PTX decoded, every buffer made, every
/// parameter packed.
pub struct Prepared<'a> {
    file: &'a LaunchFile,
    program: Program,
    memory: Memory,
    /// Per argument its buffer, if it has one.
    buffers: Vec<Option<BufferId>>,
    /// The variable of each symbol.
    symbols: Vec<BufferId>,
    handles: Handles,
    launches: Vec<exec::Launch>,
}

impl LaunchFile {
    /// Decodes the PTX, which is the file's [own](Self::module) or another one, checks
    /// the launches against it, makes the buffers and packs the parameters.
    pub fn prepare(&self, module: &Module) -> Result<Prepared<'_>> {
        self.prepare_placed(module, None)
    }

    /// The same with every buffer at the address that `place` returns for its
    /// bytes. If `place` copies them to a GPU, the launches can run there as they
    /// are. Addresses of module variables, textures and samplers are the
    /// executor's.
    pub fn prepare_at(
        &self,
        module: &Module,
        place: &mut dyn FnMut(&[u8]) -> Result<u64>,
    ) -> Result<Prepared<'_>> {
        self.prepare_placed(module, Some(place))
    }

    fn prepare_placed(&self, module: &Module, place: Option<Place>) -> Result<Prepared<'_>> {
        let program = Program::new(module)?;
        let launches = self
            .launches()
            .map(|launch| resolve(self, &program, launch))
            .collect::<Result<Vec<_>>>()?;
        check_all_taken(self, &launches)?;
        for symbol in &self.symbols {
            check_symbol(&self.source, &program, symbol)?;
        }
        check_named(self, &program)?;
        // Report everything unsupported before anything runs.
        for launch in &launches {
            program.check(&launch.entry)?;
        }
        let mut memory = Memory::new();
        let buffers = self.make_buffers(&mut memory, place)?;
        let symbols = self.write_symbols(&program, &mut memory)?;
        let handles = Handles::new(self, &program, &mut memory, &buffers)?;
        let pack = |resolved: &Resolved| exec::Launch {
            entry: resolved.entry.clone(),
            grid: resolved.launch.grid,
            block: resolved.launch.block,
            dynamic_shared: resolved.launch.dynamic_shared,
            params: pack(self, resolved, &memory, (&buffers, &handles)),
        };
        Ok(Prepared {
            file: self,
            launches: launches.iter().map(pack).collect(),
            program,
            memory,
            buffers,
            symbols,
            handles,
        })
    }

    /// Per argument its buffer, if it has one; tables of addresses and tensor
    /// maps, which name others, come last.
    fn make_buffers(
        &self,
        memory: &mut Memory,
        mut place: Option<Place>,
    ) -> Result<Vec<Option<BufferId>>> {
        let mut alloc = |memory: &mut Memory, arg: &Arg, bytes: &[u8]| {
            let id = match &mut place {
                Some(place) => memory.try_alloc_at(&arg.name, place(bytes)?, bytes),
                None => memory.try_alloc(&arg.name, bytes),
            };
            let none = || no_memory(&self.source, &arg.name, bytes.len() as u64, arg.offset);
            id.ok_or_else(none)
        };
        let mut buffers = self
            .args
            .iter()
            .map(|arg| match &arg.kind {
                ArgKind::Buffer(buffer) => {
                    let bytes = contents(&self.source, &arg.name, buffer, arg.offset)?;
                    alloc(memory, arg, &bytes).map(Some)
                }
                _ => Ok(None),
            })
            .collect::<Result<Vec<_>>>()?;
        for (at, arg) in self.args.iter().enumerate() {
            if let ArgKind::Addresses(args) = &arg.kind {
                let address = |arg: &usize| self.address(*arg, memory, &buffers).to_le_bytes();
                let table: Vec<u8> = args.iter().flat_map(address).collect();
                buffers[at] = Some(alloc(memory, arg, &table)?);
            }
        }
        for (at, arg) in self.args.iter().enumerate() {
            if let ArgKind::TensorMap(map) = &arg.kind {
                let begin = self.address(map.buffer, memory, &buffers);
                let bytes = map.placed(begin).encode();
                buffers[at] = Some(alloc(memory, arg, &bytes)?);
            }
        }
        Ok(buffers)
    }

    /// The variables of the symbols, with what the file gives them.
    fn write_symbols(&self, program: &Program, memory: &mut Memory) -> Result<Vec<BufferId>> {
        program.load(memory)?;
        let mut symbols = Vec::with_capacity(self.symbols.len());
        for symbol in &self.symbols {
            // `check_symbol` has refused a name that the PTX does not have.
            let id = program.symbol_buffer(memory, &symbol.name);
            let id = id.ok_or_else(|| Error::defect(format!("no buffer of {}", symbol.name)))?;
            if !symbol.keep {
                let Symbol { name, buffer, .. } = symbol;
                let bytes = contents(&self.source, name, buffer, symbol.offset)?;
                memory.bytes_mut(id).copy_from_slice(&bytes);
            }
            symbols.push(id);
        }
        Ok(symbols)
    }

    /// The address that an argument passes; 0 where it is none.
    fn address(&self, arg: usize, memory: &Memory, buffers: &[Option<BufferId>]) -> u64 {
        match &self.args[arg].kind {
            ArgKind::Same { arg, bytes } => self.address(*arg, memory, buffers) + bytes,
            _ => buffers[arg].map_or(0, |id| memory.address(id)),
        }
    }

    /// The PTX, parsed; linked where there are several.
    pub fn module(&self) -> Result<Module> {
        let module = |file: &PathBuf| {
            require_file(file)?;
            read_module(file)
        };
        Module::link(self.ptx_files().map(module).collect::<Result<_>>()?)
    }
}

impl<'a> Prepared<'a> {
    /// The decoded PTX.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The launches, in order.
    pub fn launches(&self) -> &[exec::Launch] {
        &self.launches
    }

    /// Runs the launches in order; the first that has a finding other than a
    /// warning is the last. The file's limit counts for all together. What
    /// kernels have allocated and not freed are warnings at the end.
    pub fn run(&mut self, options: &exec::Options) -> Result<exec::Outcome> {
        self.run_each(options, |_, _| ())
    }

    /// The same, and hands the outcome of each launch to `each`.
    pub fn run_each(
        &mut self,
        options: &exec::Options,
        mut each: impl FnMut(&exec::Launch, &exec::Outcome),
    ) -> Result<exec::Outcome> {
        let mut all = exec::Outcome::default();
        let count = self.launches.len();
        self.run_first(
            count,
            |_| options.clone(),
            |launch, outcome| {
                each(launch, &outcome);
                all.warp_instructions += outcome.warp_instructions;
                all.thread_instructions += outcome.thread_instructions;
                all.shared_accesses += outcome.shared_accesses;
                all.findings.extend(outcome.findings);
            },
        )?;
        if !all.has_faults() {
            all.findings.extend(self.memory.leaks());
        }
        Ok(all)
    }

    /// Runs the launch of that index with `options`, after those before it,
    /// which run whole and without the sink; the file's limit counts for all
    /// together. The outcome is that of the one, or of the first before it that
    /// has a fault.
    pub fn run_one(&mut self, index: usize, options: &exec::Options) -> Result<exec::Outcome> {
        let before = exec::Options {
            // It is the sink that may need one thread.
            threads: if options.sink.is_some() {
                0
            } else {
                options.threads
            },
            sink: None,
            only_block: None,
            ..options.clone()
        };
        let own = |at| if at == index { options } else { &before }.clone();
        let mut last = exec::Outcome::default();
        self.run_first(index + 1, own, |_, outcome| last = outcome)?;
        Ok(last)
    }

    /// Runs the first `count` launches in order, each with the `options` of its
    /// index, up to the first with a fault; hands their outcomes to `each`.
    fn run_first<'o>(
        &mut self,
        count: usize,
        options: impl Fn(usize) -> exec::Options<'o>,
        mut each: impl FnMut(&exec::Launch, exec::Outcome),
    ) -> Result<()> {
        let mut used = 0;
        let written = self.file.launches();
        for ((at, launch), written) in self.launches[..count].iter().enumerate().zip(written) {
            let wanted = options(at);
            let options = exec::Options {
                cluster: written.cluster.or(wanted.cluster),
                cooperative: written.cooperative || wanted.cooperative,
                limit: self.file.limit.saturating_sub(used).max(1),
                heap: self.file.heap,
                parts: self.file.shared.clone(),
                ..wanted
            };
            let outcome = self.program.run(&mut self.memory, launch, &options)?;
            used += outcome.thread_instructions;
            let ends = outcome.has_faults();
            each(launch, outcome);
            if ends {
                break;
            }
        }
        Ok(())
    }

    /// Name, description and bytes of every buffer, then of every symbol, in
    /// the order of the file, then of surfaces and textures.
    pub fn buffers(&self) -> impl Iterator<Item = (&'a str, &'a Buffer, &[u8])> {
        let args = self.file.args.iter().zip(&self.buffers);
        let of_args = args.filter_map(|(arg, id)| match (&arg.kind, id) {
            (ArgKind::Buffer(buffer), Some(id)) => {
                Some((arg.name.as_str(), buffer, self.memory.bytes(*id)))
            }
            _ => None,
        });
        let symbols = self.file.symbols.iter().zip(&self.symbols);
        let of_symbols =
            symbols.map(|(s, id)| (s.name.as_str(), &s.buffer, self.memory.bytes(*id)));
        let textures = self.file.textures.iter().zip(&self.handles.texels);
        let of_textures = textures.filter_map(|(table, id)| {
            let id = (*id)?;
            Some((table.name.as_str(), table.buffer()?, self.memory.bytes(id)))
        });
        of_args.chain(of_symbols).chain(of_textures)
    }

    /// Name and bytes of every buffer and symbol.
    pub fn outputs(&self) -> impl Iterator<Item = (&'a str, &[u8])> {
        self.buffers().map(|(name, _, bytes)| (name, bytes))
    }
}

/// A launch whose arguments fit the entry's parameters.
struct Resolved<'a> {
    launch: &'a Launch,
    entry: String,
    /// The argument of each parameter.
    params: Vec<(Passed, Parameter)>,
}

fn resolve<'a>(
    file: &'a LaunchFile,
    program: &Program,
    launch: &'a Launch,
) -> Result<Resolved<'a>> {
    let entry = find_entry(file, program, launch)?;
    let params = program.params(&entry)?;
    let args = match &launch.args {
        Some(args) => args.clone(),
        None => (0..file.args.len().min(params.len()))
            .map(Passed::from)
            .collect(),
    };
    if args.len() != params.len() {
        let what = format!("{} arguments for {entry}", args.len());
        let help = format!("expected {}: {}", params.len(), described(&params));
        return Err(file.source.error(what, help, launch.offset));
    }
    let address_bytes = program.module().address_size / 8;
    for (arg, param) in args.iter().zip(&params) {
        check_size(file, address_bytes, arg.arg, param, &entry)?;
    }
    Ok(Resolved {
        launch,
        entry,
        params: args.into_iter().zip(params).collect(),
    })
}

fn described(params: &[Parameter]) -> String {
    let all: Vec<String> = params
        .iter()
        .map(|p| format!("{} ({} bytes)", p.name, p.bytes))
        .collect();
    if all.is_empty() {
        "it has no parameters".to_owned()
    } else {
        all.join(", ")
    }
}

fn find_entry(file: &LaunchFile, program: &Program, launch: &Launch) -> Result<String> {
    let entries: Vec<&str> = program.entries().collect();
    let names = if entries.is_empty() {
        "the PTX has no entry with a body".to_owned()
    } else {
        format!("its entries are {}", entries.join(", "))
    };
    let ptx = file.ptx.value.file_name().unwrap_or_default().display();
    match (&launch.entry, &entries[..]) {
        (None, [entry]) => Ok((*entry).to_owned()),
        (None, _) => {
            let what = format!("{ptx} has {} entries and 'entry' is missing", entries.len());
            Err(file.source.error(what, names, file.ptx.offset))
        }
        (Some(wanted), _) => match find_name(&wanted.value, &entries) {
            Ok(name) => Ok(name.to_owned()),
            Err(several) => {
                let (what, names) = if several.is_empty() {
                    (format!("{ptx} has no entry '{}'", wanted.value), names)
                } else {
                    (
                        format!("several entries of {ptx} are '{}'", wanted.value),
                        format!("expected one of {}", several.join(", ")),
                    )
                };
                Err(file.source.error(what, names, wanted.offset))
            }
        },
    }
}

fn check_size(
    file: &LaunchFile,
    address_bytes: u32,
    arg: usize,
    param: &Parameter,
    entry: &str,
) -> Result<()> {
    let arg = &file.args[arg];
    let (bytes, what) = match &arg.kind {
        ArgKind::Value(element, bytes) => (bytes.len(), element.name()),
        ArgKind::Handle(_) => (8, "a handle"),
        // A pointer to it may be passed, too.
        ArgKind::TensorMap(_) if param.bytes != address_bytes => (TENSOR_MAP, "a tensor map"),
        _ => (address_bytes as usize, "an address"),
    };
    if bytes == param.bytes as usize {
        Ok(())
    } else {
        Err(file.source.error(
            format!("argument '{}', {what}, has {bytes} bytes", arg.name),
            format!(
                "expected {}: parameter {} of {entry}",
                param.bytes, param.name
            ),
            arg.offset,
        ))
    }
}

/// Arguments after the first launch's must be there for another one.
fn check_all_taken(file: &LaunchFile, launches: &[Resolved]) -> Result<()> {
    let mut passed = vec![false; file.args.len()];
    for (arg, _) in launches.iter().flat_map(|l| &l.params) {
        passed[arg.arg] = true;
    }
    let used = |arg: usize| passed[arg];
    let taken = |i: usize| {
        let names = |other: usize, arg: usize| match &file.args[other].kind {
            ArgKind::Same { arg: named, .. } => *named == arg,
            ArgKind::Addresses(args) => args.contains(&arg),
            ArgKind::TensorMap(map) => map.buffer == arg,
            _ => false,
        };
        let all = 0..file.args.len();
        let in_table = |arg: usize| all.clone().any(|other| used(other) && names(other, arg));
        // An argument of a table may itself be the same as another.
        used(i) || in_table(i) || all.clone().any(|other| in_table(other) && names(other, i))
    };
    match (0..file.args.len()).find(|i| !taken(*i)) {
        None => Ok(()),
        Some(i) => Err(file.source.error(
            format!("no launch takes the argument '{}'", file.args[i].name),
            format!(
                "{} has {} parameters, which the first arguments are for; others are named by \
                 the args of a [[then]]",
                launches[0].entry,
                launches[0].params.len()
            ),
            file.args[i].offset,
        )),
    }
}

fn check_symbol(source: &Source, program: &Program, symbol: &Symbol) -> Result<()> {
    let Some(variable) = program.symbol(&symbol.name) else {
        let names: Vec<String> = program.symbols().map(|s| s.name).collect();
        return Err(source.error(
            format!(
                "the PTX has no variable '{}' in .global or .const",
                symbol.name
            ),
            if names.is_empty() {
                "it has no variable that the host can write".to_owned()
            } else {
                format!("expected one of {}", names.join(", "))
            },
            symbol.offset,
        ));
    };
    if symbol.buffer.bytes() == variable.bytes {
        Ok(())
    } else {
        Err(source.error(
            format!(
                "the symbol '{}' has {} bytes",
                symbol.name,
                symbol.buffer.bytes()
            ),
            format!("expected {}, as in the PTX", variable.bytes),
            symbol.offset,
        ))
    }
}

/// The parameters as the entry has them in memory.
fn pack(
    file: &LaunchFile,
    launch: &Resolved,
    memory: &Memory,
    (buffers, handles): (&[Option<BufferId>], &Handles),
) -> Vec<u8> {
    let size = launch.params.last().map_or(0, |(_, p)| p.offset + p.bytes);
    let mut image = vec![0; size as usize];
    for (passed, param) in &launch.params {
        let arg = passed.arg;
        let bytes = match (&passed.instead, &file.args[arg].kind) {
            (Some(Instead::Value(bytes)), _) | (None, ArgKind::Value(_, bytes)) => bytes.clone(),
            (_, ArgKind::Handle(handle)) => handles.of(*handle).to_le_bytes().to_vec(),
            (None, ArgKind::TensorMap(_)) if param.bytes as usize == TENSOR_MAP => {
                buffers[arg].map_or(Vec::new(), |id| memory.bytes(id).to_vec())
            }
            (Some(Instead::Address(buffer, bytes)), _) => {
                let address = file.address(*buffer, memory, buffers) + bytes;
                address.to_le_bytes().to_vec()
            }
            _ => file.address(arg, memory, buffers).to_le_bytes().to_vec(),
        };
        let (offset, size) = (param.offset as usize, param.bytes as usize);
        image[offset..offset + size].copy_from_slice(&bytes[..size]);
    }
    image
}
