//! The shared variables that an entry reaches, and where they lie.
//!
//! Variables of known size come one after the other, those of the module
//! before those of the functions; the dynamic ones, whose size the launch
//! gives, all begin after them. Before all of them lies the memory that CUDA
//! keeps for itself, where the entry asks for its place. A
//! [layout marker](super::marker) of the entry moves variables of known size
//! inside the bytes that they take together.

use super::ast::{
    Base, Function, Instruction, LabelKind, Linkage, Module, Operand, Span, Symbol, Target,
    Variable,
};
use super::names::{Space, Word};
use super::opcodes::Opcode;

/// The largest alignment that a variable in shared memory certainly has, in
/// bytes. On sm_90 and later, ptxas (seen with 12.9 and 13.5) begins with the
/// first variable 1 KB into the window, also if `.align` says more.
pub const WINDOW_ALIGN: u32 = 1024;

/// A shared variable and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedVariable {
    /// The function that it is declared in, `None` for the module.
    pub function: Option<u32>,
    /// Index in [`Function::variables`] or [`Module::variables`].
    pub index: u32,
    /// Name of the variable.
    pub name: String,
    /// Byte offset in the shared memory of a block.
    pub offset: u32,
    /// Size in bytes; 0 for dynamic ones.
    pub bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Whether its size comes with the launch.
    pub dynamic: bool,
}

/// The layout of an entry's shared variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedMemory {
    /// The variables, the dynamic ones last; otherwise as they are declared.
    pub variables: Vec<SharedVariable>,
    /// Bytes before the dynamic ones.
    pub bytes: u32,
    /// Bytes at the begin that CUDA keeps for itself: [`RESERVED`] where the
    /// entry asks for their place, as cooperative groups do, else 0.
    pub reserved: u32,
}

/// A reason why the variables cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// Place of the declaration.
    pub place: Span,
    /// The variable or marker.
    pub text: String,
    /// Why.
    pub reason: String,
}

/// A bound on the bytes of shared memory: more than any machine has.
const MOST: u64 = 1 << 24;

/// Bytes of shared memory that CUDA keeps for itself in every block since
/// compute capability 8.0, at the begin.
pub const RESERVED: u32 = 1024;

/// Whether variables of the space are in the scratchpad.
pub fn is_shared(space: Space) -> bool {
    matches!(space, Space::Shared | Space::SharedCta)
}

/// Whether the instruction names shared memory of other blocks of the cluster: by its
/// address in another block, or in several at a time. A bulk copy to `.shared::cluster`
/// alone goes to the own block, unless `mapa` has made the address.
pub fn names_neighbours(i: &Instruction) -> bool {
    let plain = [Opcode::Ld, Opcode::St, Opcode::Atom, Opcode::Red];
    let remote = plain.contains(&i.opcode) && i.space() == Some(Space::SharedCluster);
    i.opcode == Opcode::Mapa || i.has(Word::MulticastCluster) || remote
}

impl Module {
    /// The entry and all functions that it may come to: called, pointed to by
    /// instructions, lists of targets or initial values; the entry is first.
    pub fn reached(&self, entry: u32) -> Vec<u32> {
        let mut list = vec![entry];
        let mut listed = vec![false; self.functions.len()];
        listed[entry as usize] = true;
        let mut add = |list: &mut Vec<u32>, f: u32| {
            if self.functions[f as usize].defined
                && !std::mem::replace(&mut listed[f as usize], true)
            {
                list.push(f);
            }
        };
        let mut at = 0;
        while at < list.len() {
            let function = &self.functions[list[at] as usize];
            let named = named_functions(self, function);
            named.into_iter().for_each(|f| add(&mut list, f));
            at += 1;
            if at == list.len() {
                for target in self.relocations() {
                    if let Target::Function(f) = target {
                        add(&mut list, f);
                    }
                }
            }
        }
        list
    }

    /// What the blocks of an entry do together, in a clause: they are in clusters of
    /// several blocks, wait for other blocks of their cluster, or access their shared
    /// memory. `cluster` is the launch's where it is known and the PTX does not say it.
    pub fn together(&self, entry: u32, cluster: Option<[u32; 3]>) -> Option<String> {
        let own = self.functions[entry as usize].tuning.cluster;
        let blocks = own.or(cluster).map(|size| size.iter().product::<u32>());
        if let Some(blocks) = blocks {
            return (blocks > 1).then(|| format!("they run in clusters of {blocks}"));
        }
        let reached = self.reached(entry);
        let mut all = reached
            .iter()
            .flat_map(|&f| &self.functions[f as usize].instructions);
        let line = |i: &Instruction| i.span.line;
        all.find_map(|i| {
            let waits = i.opcode == Opcode::Barrier && i.has(Word::Cluster);
            let what = match i.opcode {
                _ if waits => "wait for each other in clusters",
                _ if names_neighbours(i) => "access each other's shared memory",
                _ => return None,
            };
            Some(format!("they {what} (line {} of the PTX)", line(i)))
        })
    }

    /// Variables and functions that initial values of variables point to.
    pub fn relocations(&self) -> impl Iterator<Item = Target> + '_ {
        let initial = self.variables.iter().flat_map(|v| &v.initial);
        initial.flat_map(|i| &i.relocations).map(|r| r.target)
    }

    /// The shared variables of an entry as they are declared.
    pub fn declared_shared(&self, functions: &[u32]) -> Result<SharedMemory, Misplaced> {
        let used = self.used_variables(functions);
        let of_module = self.variables.iter().enumerate();
        let mut variables: Vec<(Option<u32>, u32, &Variable)> = of_module
            .filter(|(at, v)| is_shared(v.space) && used.contains(&(*at as u32)))
            .map(|(at, v)| (None, at as u32, v))
            .collect();
        for &function in functions {
            let own = &self.functions[function as usize].variables;
            let own = own.iter().enumerate().filter(|(_, v)| is_shared(v.space));
            variables.extend(own.map(|(at, v)| (Some(function), at as u32, v)));
        }
        let is_dynamic = |v: &Variable| v.bytes == 0 || v.linkage == Linkage::Extern;
        let dynamic = variables.iter().filter(|(_, _, v)| is_dynamic(v));
        let start = dynamic.map(|(_, _, v)| v.align).max().unwrap_or(1);
        variables.sort_by_key(|(_, _, v)| is_dynamic(v));
        let mut memory = SharedMemory {
            reserved: self.reserved_shared(functions),
            ..SharedMemory::default()
        };
        // As ptxas does, `.align` counts from the end of what is reserved.
        let reserved = u64::from(memory.reserved);
        let mut next = 0u64;
        for (function, index, v) in variables {
            let dynamic = is_dynamic(v);
            next = next.next_multiple_of(u64::from(if dynamic { start } else { v.align.max(1) }));
            let bytes = if dynamic { 0 } else { v.bytes };
            if reserved + next + bytes > MOST {
                return Err(Misplaced {
                    place: v.span,
                    text: v.name.clone(),
                    reason: "more shared memory than any machine has".to_owned(),
                });
            }
            memory.variables.push(SharedVariable {
                function,
                index,
                name: v.name.clone(),
                offset: (reserved + next) as u32,
                bytes: bytes as u32,
                align: v.align.max(1),
                dynamic,
            });
            next += bytes;
        }
        memory.bytes = (reserved + next) as u32;
        Ok(memory)
    }

    fn reserved_shared(&self, functions: &[u32]) -> u32 {
        let asks = |o: &Operand| matches!(o, Operand::Special(s) if s.is_reserved_shared());
        let of = |f: &u32| &self.functions[*f as usize].instructions;
        let mut all = functions.iter().flat_map(of);
        let any = all.any(|i| i.operands.iter().any(asks));
        if any { RESERVED } else { 0 }
    }

    /// The shared variables of an entry where its layout marker puts them;
    /// as they are declared without one.
    pub fn placed_shared(&self, entry: u32, functions: &[u32]) -> Result<SharedMemory, Misplaced> {
        let mut memory = self.declared_shared(functions)?;
        match self.layout_marker(entry) {
            None => Ok(memory),
            Some(Ok(marker)) => {
                let place = self.marker_place(entry);
                let wrong = |reason| Misplaced {
                    place,
                    text: marker.text(),
                    reason,
                };
                memory.place(&marker.offsets).map_err(wrong)?;
                Ok(memory)
            }
            Some(Err((place, reason))) => Err(Misplaced {
                place,
                text: format!(".pragma \"{}\"", super::marker::LAYOUT),
                reason,
            }),
        }
    }

    fn marker_place(&self, entry: u32) -> Span {
        let own = self.statements.iter().filter(|s| s.function == Some(entry));
        let text =
            |s: &&super::ast::Statement| self.text_of(s.span).contains(super::marker::LAYOUT);
        own.into_iter().find(text).map_or(Span::TOP, |s| s.span)
    }

    /// Variables of the module that the functions name.
    fn used_variables(&self, functions: &[u32]) -> Vec<u32> {
        let mut used = Vec::new();
        for &function in functions {
            let instructions = &self.functions[function as usize].instructions;
            let operands = instructions.iter().flat_map(|i| i.operands.iter());
            operands.for_each(|o| module_variables(o, &mut used));
        }
        used.sort_unstable();
        used.dedup();
        used
    }
}

impl SharedMemory {
    /// Moves variables of known size; what is wrong with the offsets
    /// otherwise: variables lie inside [`bytes`](Self::bytes), aligned, apart.
    pub fn place(&mut self, offsets: &[(String, u32)]) -> Result<(), String> {
        for (name, offset) in offsets {
            let mut named = self.variables.iter_mut().filter(|v| v.name == *name);
            let (Some(variable), None) = (named.next(), named.next()) else {
                return Err(format!(
                    "the entry does not have exactly one shared variable {name}"
                ));
            };
            if variable.dynamic && variable.offset != *offset {
                return Err(format!(
                    "{name} is dynamic and begins at {}",
                    variable.offset
                ));
            }
            if offset % variable.align != 0 {
                return Err(format!("{name} has to be aligned to {}", variable.align));
            }
            if u64::from(*offset) + u64::from(variable.bytes) > u64::from(self.bytes) {
                return Err(format!("{name} ends beyond {} bytes", self.bytes));
            }
            variable.offset = *offset;
        }
        let mut fixed: Vec<&SharedVariable> = self.variables.iter().collect();
        fixed.retain(|v| v.bytes > 0);
        fixed.sort_by_key(|v| v.offset);
        let overlap = fixed
            .windows(2)
            .find(|w| w[0].offset + w[0].bytes > w[1].offset);
        match overlap {
            Some(w) => Err(format!("{} and {} overlap", w[0].name, w[1].name)),
            None => Ok(()),
        }
    }
}

fn module_variables(operand: &Operand, used: &mut Vec<u32>) {
    match operand {
        Operand::Variable(Symbol::Module(at), _)
        | Operand::Address(Base::Variable(Symbol::Module(at)), _) => used.push(*at),
        Operand::Vector(items) | Operand::List(items) => {
            items.iter().for_each(|o| module_variables(o, used));
        }
        _ => {}
    }
}

/// Functions that a function names: called, pointed to, in lists of targets.
fn named_functions(module: &Module, function: &Function) -> Vec<u32> {
    let operands = function.instructions.iter().flat_map(|i| i.operands.iter());
    let mut list: Vec<u32> = operands
        .filter_map(|o| match o {
            Operand::Function(f) => Some(*f),
            _ => None,
        })
        .collect();
    for label in &function.labels {
        if let LabelKind::Calls(calls) = &label.kind {
            list.extend(calls);
        }
    }
    list.retain(|&f| (f as usize) < module.functions.len());
    list
}
