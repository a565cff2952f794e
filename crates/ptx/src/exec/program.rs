//! Decoded modules: where variables are, what entries need.

use super::api::{BufferId, InstructionInfo};
use super::decode::{Addresses, Problem, decode};
use super::image::{FUNCTION_WINDOW, Image};
use super::memory::Memory;
use super::memory::map::{ALIGN, GAP, VARIABLES};
use crate::ast::{self, Linkage, Module, Target};
use crate::names::{Space, Type};
use spadkit_base::error::{Error, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A parameter of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name of the parameter in the PTX.
    pub name: String,
    /// Byte offset in [`Launch::params`](super::Launch::params).
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
    /// Name of the variable.
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
    /// The variables that have addresses, by name.
    named: HashMap<String, u32>,
    /// Entries decoded so far, with and without vector instructions.
    images: Mutex<HashMap<(u32, bool), Arc<Image>>>,
}

/// Variables of a module in global and constant memory, together.
const VARIABLE_BYTES: u64 = 1 << 30;

impl Program {
    /// Places the variables of a module. Entries are decoded when they run.
    pub fn new(module: &Module) -> Result<Program> {
        let mut addresses = Addresses::new();
        let mut named = HashMap::new();
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
                named.entry(variable.name.clone()).or_insert(at as u32);
                next = (next + variable.bytes + GAP).next_multiple_of(ALIGN);
            }
        }
        Ok(Program {
            module: Arc::new(module.clone()),
            addresses,
            named,
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
        Some(self.symbol_info(*self.named.get(name)?))
    }

    fn symbol_info(&self, at: u32) -> SymbolInfo {
        let variable = &self.module.variables[at as usize];
        SymbolInfo {
            name: variable.name.clone(),
            bytes: variable.bytes,
            ty: variable.ty,
            constant: variable.space == Space::Const,
        }
    }

    /// Every variable in global and constant memory.
    pub fn symbols(&self) -> impl Iterator<Item = SymbolInfo> {
        let placed = |at: &u32| self.addresses.contains_key(at);
        let all = (0..self.module.variables.len() as u32).filter(placed);
        all.map(|at| self.symbol_info(at))
    }

    /// Puts the variables of the module into a memory, where they are not in
    /// it yet, with their initial bytes. [`Program::run`] does so, too. Fails
    /// where the system has no memory for them.
    pub fn load(&self, memory: &mut Memory) -> Result<()> {
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
            let placed = memory.place(&variable.name, address, &bytes, variable.bytes, constant);
            if placed.is_none() {
                let what = format!("no memory for {}, {} bytes", variable.name, variable.bytes);
                let help = "expected smaller variables, or a higher limit of memory (ulimit -v)";
                return Err(self
                    .module
                    .error_at(variable.span, what, Some(help.to_owned())));
            }
        }
        Ok(())
    }

    /// The variable of that name in a memory, for the host to read or write.
    pub fn symbol_buffer(&self, memory: &mut Memory, name: &str) -> Option<BufferId> {
        let address = *self.addresses.get(self.named.get(name)?)?;
        if memory.at(address).is_none() {
            self.load(memory).ok()?;
        }
        memory.at(address)
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

    /// An entry, decoded with or without vector instructions.
    pub(super) fn image(&self, entry: &str, vector: bool) -> Result<Arc<Image>> {
        let index = self.module.entry(entry)?;
        let images = || self.images.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(image) = images().get(&(index, vector)) {
            return Ok(image.clone());
        }
        let image = decode(&self.module, index, &self.addresses, vector);
        let image = Arc::new(image.map_err(|own| self.refused(entry, own))?);
        images().insert((index, vector), image.clone());
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
}

fn plural(count: usize) -> String {
    match count {
        1 => "1 instruction is".to_owned(),
        n => format!("{n} instructions are"),
    }
}

impl Module {
    /// Whether an entry can be run; else one error that lists everything
    /// which is not supported, with lines.
    pub fn check_supported(&self, entry: &str) -> Result<()> {
        Program::new(self)?.check(entry)
    }
}
