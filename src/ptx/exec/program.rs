//! Decoded modules, and launches of their entries.

use super::api::{BufferId, Finding, InstructionInfo, Launch, Options, Outcome};
use super::block::{BlockOutcome, Worker};
use super::decode::{Addresses, Problem, decode};
use super::image::{FUNCTION_WINDOW, Image};
use super::machine::Common;
use super::memory::heap::Heap;
use super::memory::{ALIGN, GAP, Memory, VARIABLES};
use super::system::allocation::leak;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::ptx::ast::{self, Linkage, Module, Target};
use crate::ptx::names::{Space, Type};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

/// A parameter of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the PTX.
    pub name: String,
    /// Byte offset in [`Launch::params`].
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Type of an element.
    pub ty: Type,
}

/// A variable of module scope in global or constant memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolInfo {
    /// Its name.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Type of an element.
    pub ty: Type,
    /// Whether it is `.const`.
    pub constant: bool,
}

/// A decoded module.
pub struct Program {
    module: Arc<Module>,
    addresses: Addresses,
    /// Entries decoded so far, with and without vector instructions.
    images: Mutex<HashMap<(u32, bool), Arc<Image>>>,
}

/// CUDA's limits of grids and blocks.
const GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
const BLOCK: [u32; 3] = [1024, 1024, 64];
const THREADS: u32 = 1024;

/// Variables of a module in global and constant memory, together.
const VARIABLE_BYTES: u64 = 1 << 30;

impl Program {
    /// Places the variables of a module. Entries are decoded when they run.
    pub fn new(module: &Module) -> Result<Program> {
        let mut addresses = Addresses::new();
        let mut next = VARIABLES;
        let mut bytes = 0;
        for (at, variable) in module.variables.iter().enumerate() {
            let placed = matches!(variable.space, Space::Global | Space::Const);
            if placed && variable.linkage != Linkage::Extern {
                bytes = variable.bytes.saturating_add(bytes);
                if bytes > VARIABLE_BYTES {
                    let what = format!(
                        "{} has {} bytes of global or constant memory",
                        variable.name, variable.bytes
                    );
                    let help = "expected at most 1 GiB for all variables of the module; larger \
                                buffers are arguments of the launch";
                    return Err(Error::usage(what, help));
                }
                addresses.insert(at as u32, next);
                next = (next + variable.bytes + GAP).next_multiple_of(ALIGN);
            }
        }
        Ok(Program {
            module: Arc::new(module.clone()),
            addresses,
            images: Mutex::default(),
        })
    }

    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Names of the entries.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.module.entries().map(|f| f.name.as_str())
    }

    /// The parameters of an entry in order.
    pub fn params(&self, entry: &str) -> Result<Vec<Parameter>> {
        let function = &self.module.functions[self.module.entry(entry)? as usize];
        let mut offset = 0u32;
        let mut list = Vec::new();
        for parameter in &function.params {
            let ast::Parameter::Variable(at) = parameter else {
                continue;
            };
            let variable = &function.variables[*at as usize];
            offset = offset.next_multiple_of(variable.align);
            list.push(Parameter {
                name: variable.name.clone(),
                offset,
                bytes: variable.bytes as u32,
                align: variable.align,
                ty: variable.ty,
            });
            offset += variable.bytes as u32;
        }
        Ok(list)
    }

    /// The variable of that name in global or constant memory.
    pub fn symbol(&self, name: &str) -> Option<SymbolInfo> {
        self.symbols().find(|s| s.name == name)
    }

    /// All variables in global and constant memory.
    pub fn symbols(&self) -> impl Iterator<Item = SymbolInfo> {
        let placed = |at: &usize| self.addresses.contains_key(&(*at as u32));
        (0..self.module.variables.len()).filter(placed).map(|at| {
            let variable = &self.module.variables[at];
            SymbolInfo {
                name: variable.name.clone(),
                bytes: variable.bytes,
                ty: variable.ty,
                constant: variable.space == Space::Const,
            }
        })
    }

    /// Puts the variables of the module into a memory, where they are not in
    /// it yet, with their initial bytes. [`Program::run`] does so, too.
    pub fn load(&self, memory: &mut Memory) {
        for (at, variable) in self.module.variables.iter().enumerate() {
            let Some(&address) = self.addresses.get(&(at as u32)) else {
                continue;
            };
            if memory.at(address).is_some() {
                continue;
            }
            let bytes = variable
                .initial
                .as_ref()
                .map(|i| self.initial(i))
                .unwrap_or_default();
            let constant = variable.space == Space::Const;
            memory.place(&variable.name, address, &bytes, variable.bytes, constant);
        }
    }

    /// The variable of that name in a memory, for the host to read or write.
    pub fn symbol_buffer(&self, memory: &mut Memory, name: &str) -> Option<BufferId> {
        self.load(memory);
        let named = |at: &&u32| self.module.variables[**at as usize].name == name;
        memory.at(*self.addresses.get(self.addresses.keys().find(named)?)?)
    }

    fn initial(&self, initial: &ast::Initial) -> Vec<u8> {
        let mut bytes = initial.bytes.clone();
        for relocation in &initial.relocations {
            let address = match relocation.target {
                Target::Variable(at) => self.addresses.get(&at).copied().unwrap_or(0),
                Target::Function(at) => FUNCTION_WINDOW | u64::from(at) << 4,
            };
            let value = address.wrapping_add(relocation.addend as u64) & relocation.mask;
            let value = value >> relocation.mask.trailing_zeros().min(63);
            let (at, size) = (relocation.offset as usize, relocation.bytes as usize);
            bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
        bytes
    }

    fn image(&self, entry: &str, vector: bool) -> Result<Arc<Image>> {
        let index = self.module.entry(entry)?;
        let known = |p: PoisonError<_>| p.into_inner();
        if let Some(image) = self
            .images
            .lock()
            .unwrap_or_else(known)
            .get(&(index, vector))
        {
            return Ok(image.clone());
        }
        let image = decode(&self.module, index, &self.addresses, vector);
        let image = Arc::new(image.map_err(|own| self.refused(entry, own))?);
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        images.insert((index, vector), image.clone());
        Ok(image)
    }

    /// The instructions of an entry with all functions that it calls, in the
    /// order that [`super::Event::pc`] counts.
    pub fn instructions(&self, entry: &str) -> Result<Vec<InstructionInfo>> {
        Ok(self.image(entry, true)?.infos.clone())
    }

    /// Bytes of the static shared variables that an entry uses.
    pub fn static_shared(&self, entry: &str) -> Result<u32> {
        Ok(self.image(entry, true)?.shared_bytes)
    }

    /// The shared variables that an entry uses, with offset and bytes, by
    /// offset; dynamic ones, at the end, have 0 bytes.
    pub fn shared_variables(&self, entry: &str) -> Result<Vec<(String, u32, u32)>> {
        let image = self.image(entry, true)?;
        let variables = image.shared.iter();
        Ok(variables
            .map(|v| (v.name.clone(), v.offset, v.bytes))
            .collect())
    }

    /// Whether an entry can be run; else all that cannot, with lines.
    pub fn check(&self, entry: &str) -> Result<()> {
        self.image(entry, false).map(drop)
    }

    fn refused(&self, entry: &str, own: Vec<Problem>) -> Error {
        let first = own.first().map_or(ast::Span::TOP, |p| p.place);
        let list = |problems: &[Problem]| -> String {
            let line = |p: &Problem| {
                let file = self.module.file_of(p.place);
                let file = file.map_or(String::new(), |f| format!("{f}, "));
                format!("  {file}line {}: {} ({})\n", p.place.line, p.text, p.reason)
            };
            problems.iter().map(line).collect()
        };
        let mut others: Vec<Problem> = Vec::new();
        for other in self.entries().filter(|e| *e != entry) {
            let index = self.module.function(other).unwrap_or(0);
            if let Err(problems) = decode(&self.module, index, &self.addresses, false) {
                others.extend(problems);
            }
        }
        others.retain(|p| !own.contains(p));
        others.sort_by_key(|p| p.place.start);
        others.dedup();
        let mut help = format!("what {entry} needs and is not supported:\n{}", list(&own));
        if !others.is_empty() {
            help += &format!(
                "elsewhere in the file, not needed by {entry}:\n{}",
                list(&others)
            );
        }
        let what = format!("{entry} cannot be run: {} unsupported", plural(own.len()));
        self.module.error_at(first, what, Some(help))
    }

    /// Runs an entry to its end.
    pub fn run(&self, memory: &mut Memory, launch: &Launch, options: &Options) -> Result<Outcome> {
        let image = self.image(&launch.entry, options.vector)?;
        check_size(launch)?;
        check_params(launch, &image)?;
        self.load(memory);
        if image.allocates {
            memory.heap.get_or_insert_with(|| Heap::new(options.heap));
        }
        let params = aligned(&launch.params);
        let len = launch.params.len();
        // SAFETY: the words have these bytes, and live longer than the run.
        let params = unsafe { std::slice::from_raw_parts(params.as_ptr().cast::<u8>(), len) };
        let blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
        let range = match options.only_block {
            Some(block) => block.min(blocks)..(block + 1).min(blocks),
            None => 0..blocks,
        };
        let alone = image.ordered || options.global_races;
        let parallel = !alone && options.threads != 1 && range.end - range.start > 1;
        // Where no threads can be made one does it, with the same result.
        let pool = parallel.then(|| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads);
            pool.build().ok()
        });
        let mut sum = Sum::default();
        if let Some(pool) = pool.flatten() {
            // A worker of a pool may not be the one that reaches the limit
            // first if they run one after the other: what it left is taken back.
            let before = memory.snapshot();
            let shared = Common::new(&image, memory, params, launch, options, true);
            let whole = pool.install(|| run_parallel(&shared, options, range.clone(), &mut sum));
            if whole {
                return Ok(sum.outcome(&self.module, &image, launch));
            }
            interrupt::check(&launch.entry)?;
            *memory = before;
            sum = Sum {
                printed: sum.printed,
                ..Sum::default()
            };
        }
        let own = Common::new(&image, memory, params, launch, options, false);
        run_in_order(&own, options, range, &mut sum);
        if own.stop.load(Relaxed) {
            interrupt::check(&launch.entry)?;
        }
        if let Some(heap) = own.heap {
            heap.end_run(|site| named(&self.module, &image, launch, site.block, leak(site)));
        }
        Ok(sum.outcome(&self.module, &image, launch))
    }
}

/// Refuses parameters that the entry has not.
fn check_params(launch: &Launch, image: &Image) -> Result<()> {
    let len = launch.params.len();
    if len == image.param_bytes as usize {
        return Ok(());
    }
    Err(Error::usage(
        format!("{len} bytes of parameters for {}", launch.entry),
        format!("expected {}", image.param_bytes),
    ))
}

/// Bytes as whole words, so that they are aligned.
fn aligned(bytes: &[u8]) -> Vec<u64> {
    let word = |bytes: &[u8]| {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(whole)
    };
    bytes.chunks(8).map(word).collect()
}

/// Blocks one after the other, up to the one that reaches the limit.
fn run_in_order(common: &Common, options: &Options, range: std::ops::Range<u64>, sum: &mut Sum) {
    let mut worker = Worker::new(common, options);
    for block in range {
        if common.stop.load(Relaxed) {
            break;
        }
        sum.add(block, worker.run(block, options));
    }
}

/// Blocks in batches, the results in the order of the blocks: whether they all
/// ran within the limit. Where they did not, which of them reached it depends
/// on who was faster.
fn run_parallel<'a>(
    common: &'a Common<'a>,
    options: &Options<'a>,
    range: std::ops::Range<u64>,
    sum: &mut Sum,
) -> bool {
    const BATCH: u64 = 4096;
    let mut start = range.start;
    while start < range.end {
        let end = (start + BATCH).min(range.end);
        // A worker is costly: some blocks each, but work for all threads.
        let least = (end - start) as usize / (8 * rayon::current_num_threads()) + 1;
        let results: Vec<BlockOutcome> = (0..(end - start) as usize)
            .into_par_iter()
            .with_min_len(least)
            .map_init(
                || Worker::new(common, options),
                |worker, at| worker.run(start + at as u64, options),
            )
            .collect();
        if common.stop.load(Relaxed) {
            return false;
        }
        for (block, outcome) in (start..end).zip(results) {
            sum.add(block, outcome);
        }
        start = end;
    }
    true
}

/// What the blocks did together.
#[derive(Default)]
struct Sum {
    outcome: Outcome,
    findings: Vec<(u64, super::machine::RawFinding)>,
    known: HashSet<(super::api::FindingKind, u32, bool)>,
    /// Blocks below it have their output printed.
    printed: u64,
}

impl Sum {
    fn add(&mut self, block: u64, outcome: BlockOutcome) {
        self.outcome.warp_instructions += outcome.warp_instructions;
        self.outcome.thread_instructions += outcome.thread_instructions;
        self.outcome.shared_accesses += outcome.shared_accesses;
        if !outcome.output.is_empty() && block >= self.printed {
            // Nothing can be done about a closed standard error.
            let _ = std::io::stderr().write_all(&outcome.output);
        }
        self.printed = self.printed.max(block + 1);
        let mut findings = outcome.findings.into_iter().peekable();
        while let Some(finding) = findings.next() {
            let second = findings.next_if(|f| f.other);
            if self
                .known
                .insert((finding.kind, finding.pc, finding.warning))
            {
                self.findings.push((block, finding));
                self.findings.extend(second.map(|f| (block, f)));
            }
        }
    }

    fn outcome(self, module: &Module, image: &Image, launch: &Launch) -> Outcome {
        let named = |(block, raw)| named(module, image, launch, block, raw);
        Outcome {
            findings: self.findings.into_iter().map(named).collect(),
            ..self.outcome
        }
    }
}

/// A finding with its place, of a block.
fn named(
    module: &Module,
    image: &Image,
    launch: &Launch,
    block: u64,
    raw: super::machine::RawFinding,
) -> Finding {
    let [gx, gy, _] = launch.grid.map(u64::from);
    let [bx, by, _] = launch.block;
    let source = image.sources.get(raw.pc as usize);
    let t = raw.thread;
    let block = raw.block.unwrap_or(block);
    let info = image.infos.get(raw.pc as usize);
    let function = info.map(|i| &module.functions[i.function as usize]);
    let instruction = info.zip(function);
    let instruction = instruction.and_then(|(i, f)| f.instructions.get(i.instruction as usize));
    let inlined_at = function
        .zip(instruction)
        .map_or_else(Vec::new, |(f, i)| module.inlined_at(f, i));
    Finding {
        kind: raw.kind,
        warning: raw.warning,
        other: raw.other,
        ptx_line: info.map_or(0, |i| i.line),
        ptx_file: function.and_then(|f| module.file_of(f.span).map(str::to_owned)),
        source: source.and_then(|&s| image.source_names.get(s as usize).cloned()),
        inlined_at,
        block: [block % gx, block / gx % gy, block / (gx * gy)].map(|i| i as u32),
        thread: [t % bx, t / bx % by, t / (bx * by)],
        address: raw.address,
        variable: raw.variable,
        message: raw.message,
    }
}

fn plural(count: usize) -> String {
    match count {
        1 => "1 instruction is".to_owned(),
        n => format!("{n} instructions are"),
    }
}

fn check_size(launch: &Launch) -> Result<()> {
    let check = |what: &str, size: [u32; 3], most: [u32; 3]| {
        if size.iter().zip(most).all(|(&n, m)| (1..=m).contains(&n)) {
            Ok(())
        } else {
            Err(Error::usage(
                format!("{what} of {size:?}"),
                format!("expected 1 to {most:?}, CUDA's limits"),
            ))
        }
    };
    check("a grid", launch.grid, GRID)?;
    check("a block", launch.block, BLOCK)?;
    let threads: u32 = launch.block.iter().product();
    if threads > THREADS {
        return Err(Error::usage(
            format!("a block of {threads} threads"),
            "expected at most 1024",
        ));
    }
    if launch.dynamic_shared > 1 << 24 {
        return Err(Error::usage(
            format!("{} bytes of dynamic shared memory", launch.dynamic_shared),
            "expected at most 16 MB; no machine has as much",
        ));
    }
    Ok(())
}

impl Module {
    /// Whether an entry can be run; else one error that lists everything
    /// which is not supported, with lines.
    pub fn check_supported(&self, entry: &str) -> Result<()> {
        Program::new(self)?.check(entry)
    }
}
