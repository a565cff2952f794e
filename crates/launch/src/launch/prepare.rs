//! A launch file with its PTX: buffers in memory, parameters packed.

use super::arg::{Arg, ArgKind};
use super::contents::Buffer;
use super::file::LaunchFile;
use super::fits::{Resolved, check_all_taken, check_symbol, resolve};
use super::handles::{Handles, check_named};
use super::init::Init;
use super::module::read_module;
use super::room::{contents, no_memory};
use super::single::Instead;
use super::structs::Struct;
use super::symbol::Symbol;
use super::tensor_map::TENSOR_MAP;
use spadkit_base::error::{Error, Result};
use spadkit_base::input::require_file;
use spadkit_ptx::Module;
use spadkit_ptx::exec::{self, BufferId, Memory, Program};
use std::path::PathBuf;

/// Chooses the address of a buffer with these bytes.
type ChooseAddress<'p> = &'p mut dyn FnMut(&[u8]) -> Result<u64>;

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
        self.prepare_with(module, None)
    }

    /// Prepares the launches as [`prepare`](Self::prepare) does, with every buffer
    /// at the address that `place` returns for its bytes. If `place` copies them to
    /// a GPU, the launches can run there as they are. Addresses of module
    /// variables, textures and samplers are the executor's.
    pub fn prepare_at(
        &self,
        module: &Module,
        choose: &mut dyn FnMut(&[u8]) -> Result<u64>,
    ) -> Result<Prepared<'_>> {
        self.prepare_with(module, Some(choose))
    }

    fn prepare_with(&self, module: &Module, choose: Option<ChooseAddress>) -> Result<Prepared<'_>> {
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
        let buffers = self.make_buffers(&mut memory, choose)?;
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
        mut choose: Option<ChooseAddress>,
    ) -> Result<Vec<Option<BufferId>>> {
        let mut alloc = |memory: &mut Memory, arg: &Arg, bytes: &[u8]| {
            let id = match &mut choose {
                Some(choose) => memory.try_alloc_at(&arg.name, choose(bytes)?, bytes),
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
                    let id = alloc(memory, arg, &bytes)?;
                    if buffer.init == Init::None {
                        memory.without_contents(id);
                    }
                    Ok(Some(id))
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

    /// The PTX, parsed; linked if there are several.
    pub fn module(&self) -> Result<Module> {
        let module = |file: &PathBuf| {
            require_file(file).map_err(|error| self.unread_ptx(error))?;
            read_module(file)
        };
        Module::link(self.ptx_files().map(module).collect::<Result<_>>()?)
    }

    /// A PTX file that cannot be read is an error in the line that names it.
    fn unread_ptx(&self, error: Error) -> Error {
        match error {
            Error::Io { .. } => self.source.error(
                error.to_string(),
                "'ptx' names a file relative to the launch file: compile the kernel into it, or \
                 name another",
                self.ptx.offset,
            ),
            other => other,
        }
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

    /// Runs the launches as [`run`](Self::run) does, and calls `each` with the
    /// outcome of each.
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
                all.add(outcome);
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
            // The sink may need a single thread.
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

/// The parameters as laid out in the entry's parameter memory.
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
            (None, ArgKind::Struct(given)) => packed(file, given, memory, buffers),
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

/// The bytes of a struct, with the addresses and tensor maps that it has.
fn packed(
    file: &LaunchFile,
    given: &Struct,
    memory: &Memory,
    buffers: &[Option<BufferId>],
) -> Vec<u8> {
    let mut bytes = given.bytes.clone();
    for pointer in &given.pointers {
        let address = file.address(pointer.arg, memory, buffers) + pointer.bytes;
        bytes[pointer.at..][..8].copy_from_slice(&address.to_le_bytes());
    }
    for map in &given.maps {
        if let Some(id) = buffers[map.arg] {
            bytes[map.at..][..TENSOR_MAP].copy_from_slice(memory.bytes(id));
        }
    }
    bytes
}
