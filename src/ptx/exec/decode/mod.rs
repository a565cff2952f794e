//! Decoding: the functions that an entry reaches, to an [`Image`].
//!
//! Whatever cannot be run is collected, so that all of it is reported at
//! once, before anything runs.

mod call;
mod instruction;
mod memory;
mod operand;

use super::api::{InstructionInfo, Kind};
use super::image::{Control, Image, NEVER, Op, SharedVariable, Slot, TRUE, Width};
use super::lanes;
use crate::ptx::ast::{
    Function, Instruction, LabelKind, Linkage, Module, Operand, Parameter, Register, Symbol, Target,
};
use crate::ptx::cfg::Cfg;
use crate::ptx::names::{Opcode, Space, Special};
use std::collections::HashMap;

/// Something that the executor does not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub line: u32,
    pub text: String,
    pub reason: String,
}

/// Where the variables of the module are.
pub(super) type Addresses = HashMap<u32, u64>;

/// Bytes of the file before the registers: the masks with all and no lanes,
/// and a register that takes what nobody wants.
const RESERVED: u32 = 64 + 256;
const SCRATCH: u32 = 64;

struct Decoder<'m> {
    module: &'m Module,
    addresses: &'m Addresses,
    image: Image,
    problems: Vec<Problem>,
    vector: bool,
    /// Start of the code of each function.
    starts: HashMap<u32, u32>,
    /// Registers of the function that is being decoded, made on first use.
    slots: HashMap<(u32, u32), Slot>,
    constants: HashMap<(u64, Width), Slot>,
    specials: HashMap<Special, Slot>,
    /// Offsets of variables of functions in local memory.
    locals: HashMap<(u32, u32), u32>,
    shared: HashMap<(Option<u32>, u32), u32>,
    /// Functions whose address is taken.
    pointed: Vec<u32>,
    function: u32,
    carry: HashMap<u32, Slot>,
    next: u32,
}

/// Decodes an entry; `vector` allows the fast handlers.
pub(super) fn decode(
    module: &Module,
    entry: u32,
    addresses: &Addresses,
    vector: bool,
) -> Result<Image, Vec<Problem>> {
    let mut decoder = Decoder {
        module,
        addresses,
        image: empty(),
        problems: Vec::new(),
        vector: vector && lanes::available(),
        starts: HashMap::new(),
        slots: HashMap::new(),
        constants: HashMap::new(),
        specials: HashMap::new(),
        locals: HashMap::new(),
        shared: HashMap::new(),
        pointed: Vec::new(),
        function: entry,
        carry: HashMap::new(),
        next: RESERVED,
    };
    decoder.entry(entry);
    match decoder.problems.is_empty() {
        true => Ok(decoder.image),
        false => Err(decoder.problems),
    }
}

fn empty() -> Image {
    Image {
        ops: Vec::new(),
        infos: Vec::new(),
        sources: Vec::new(),
        source_names: Vec::new(),
        generics: Vec::new(),
        memory: Vec::new(),
        calls: Vec::new(),
        barriers: Vec::new(),
        exchanges: Vec::new(),
        tables: Vec::new(),
        access: Vec::new(),
        register_bytes: 0,
        constants: Vec::new(),
        specials: Vec::new(),
        local_bytes: 0,
        shared_bytes: 0,
        shared: Vec::new(),
        param_bytes: 0,
        ordered: false,
    }
}

impl<'m> Decoder<'m> {
    fn entry(&mut self, entry: u32) {
        if self.module.address_size != 64 {
            self.problems.push(Problem {
                line: 1,
                text: ".address_size 32".to_owned(),
                reason: "addresses of 32 bits".to_owned(),
            });
            return;
        }
        let functions = self.reached(entry);
        if let Err(problem) = self.check_recursion(entry) {
            self.problems.push(problem);
            return;
        }
        let mut start = 0;
        for &function in &functions {
            self.starts.insert(function, start);
            start += self.module.functions[function as usize].instructions.len() as u32 + 1;
        }
        self.place_shared(&functions);
        self.place_locals(&functions, entry);
        for &function in &functions {
            self.function = function;
            self.code(function);
        }
        self.image.register_bytes = self.next.next_multiple_of(64);
    }

    fn body(&self) -> &'m Function {
        &self.module.functions[self.function as usize]
    }

    /// The entry and all functions that calls may reach, and those whose
    /// address is taken.
    fn reached(&mut self, entry: u32) -> Vec<u32> {
        let mut list = vec![entry];
        let mut at = 0;
        while at < list.len() {
            let function = &self.module.functions[list[at] as usize];
            for callee in named_functions(self.module, function) {
                if !list.contains(&callee) && self.module.functions[callee as usize].defined {
                    list.push(callee);
                }
            }
            at += 1;
        }
        for &function in &list {
            for i in &self.module.functions[function as usize].instructions {
                for operand in i
                    .operands
                    .iter()
                    .enumerate()
                    .filter(|(n, _)| !(i.opcode == Opcode::Call && *n == 1))
                {
                    if let Operand::Function(f) = operand.1 {
                        self.pointed.push(*f);
                    }
                }
            }
        }
        for variable in &self.module.variables {
            for relocation in variable.initial.iter().flat_map(|i| &i.relocations) {
                if let Target::Function(f) = relocation.target {
                    self.pointed.push(f);
                    if !list.contains(&f) && self.module.functions[f as usize].defined {
                        list.push(f);
                    }
                }
            }
        }
        self.pointed.sort_unstable();
        self.pointed.dedup();
        list
    }

    /// Depth-first over direct calls: a way back to a function on the way.
    fn check_recursion(&self, entry: u32) -> Result<(), Problem> {
        let functions = &self.module.functions;
        let mut done = vec![false; functions.len()];
        let mut way: Vec<(u32, Vec<(u32, u32)>)> =
            vec![(entry, direct_calls(&functions[entry as usize]))];
        while let Some((function, calls)) = way.last_mut() {
            let Some((callee, line)) = calls.pop() else {
                done[*function as usize] = true;
                way.pop();
                continue;
            };
            if way.iter().any(|(f, _)| *f == callee) {
                let name = &functions[callee as usize].name;
                return Err(Problem {
                    line,
                    text: format!("call {name}"),
                    reason: format!("recursion: {name} comes to call itself"),
                });
            }
            if !done[callee as usize] {
                way.push((callee, direct_calls(&functions[callee as usize])));
            }
        }
        Ok(())
    }

    /// Shared variables of the functions one after the other; those of
    /// unknown size, the dynamic ones, all at the end.
    fn place_shared(&mut self, functions: &[u32]) {
        let used = self.used_globals(functions);
        let module = self.module;
        let of_module = module.variables.iter().enumerate();
        let mut variables: Vec<(Option<u32>, u32, &crate::ptx::ast::Variable)> = of_module
            .filter(|(at, v)| is_shared(v.space) && used.contains(&(*at as u32)))
            .map(|(at, v)| (None, at as u32, v))
            .collect();
        for &function in functions {
            let own = module.functions[function as usize]
                .variables
                .iter()
                .enumerate();
            variables.extend(
                own.filter(|(_, v)| is_shared(v.space))
                    .map(|(at, v)| (Some(function), at as u32, v)),
            );
        }
        let mut next = 0u64;
        let is_dynamic =
            |v: &crate::ptx::ast::Variable| v.bytes == 0 || v.linkage == Linkage::Extern;
        let fixed = variables.iter().filter(|(_, _, v)| !is_dynamic(v));
        let dynamic = variables.iter().filter(|(_, _, v)| is_dynamic(v));
        let start = dynamic.clone().map(|(_, _, v)| v.align).max().unwrap_or(1);
        for (place, (function, at, v)) in
            fixed.map(|v| (true, v)).chain(dynamic.map(|v| (false, v)))
        {
            next = next.next_multiple_of(u64::from(if place { v.align } else { start }));
            self.shared.insert((*function, *at), next as u32);
            self.image.shared.push(SharedVariable {
                name: v.name.clone(),
                offset: next as u32,
                bytes: if place { v.bytes as u32 } else { 0 },
            });
            if place {
                next += v.bytes;
            }
            if next > 1 << 24 {
                self.problems.push(Problem {
                    line: v.span.line,
                    text: v.name.clone(),
                    reason: "more shared memory than any machine has".to_owned(),
                });
                return;
            }
        }
        self.image.shared_bytes = next as u32;
    }

    /// Variables of the module that the functions name.
    fn used_globals(&self, functions: &[u32]) -> Vec<u32> {
        let mut used = Vec::new();
        for &function in functions {
            for i in &self.module.functions[function as usize].instructions {
                i.operands
                    .iter()
                    .for_each(|o| module_variables(o, &mut used));
            }
        }
        used.sort_unstable();
        used.dedup();
        used
    }

    /// Variables of functions in local memory, and the parameters.
    fn place_locals(&mut self, functions: &[u32], entry: u32) {
        let mut next = 0u64;
        for &function in functions {
            let body = &self.module.functions[function as usize];
            let mut params = 0u64;
            for (at, v) in body.variables.iter().enumerate() {
                let parameter = body.params.contains(&Parameter::Variable(at as u32));
                if function == entry && parameter {
                    params = params.next_multiple_of(u64::from(v.align));
                    self.locals.insert((function, at as u32), params as u32);
                    params += v.bytes;
                    self.image.param_bytes = params as u32;
                } else if matches!(v.space, Space::Local | Space::Param) {
                    next = next.next_multiple_of(u64::from(v.align));
                    self.locals.insert((function, at as u32), next as u32);
                    next += v.bytes;
                }
            }
        }
        if next > 1 << 24 {
            self.problems.push(Problem {
                line: 1,
                text: ".local".to_owned(),
                reason: "more than 16 MB of local memory a thread".to_owned(),
            });
        }
        self.image.local_bytes = next.next_multiple_of(32).min(1 << 24) as u32;
    }

    fn problem(&mut self, i: &Instruction, reason: impl Into<String>) {
        let text = self.module.text_of(i.span);
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.problems.push(Problem {
            line: i.span.line,
            text: text.chars().take(80).collect(),
            reason: reason.into(),
        });
    }

    fn code(&mut self, function: u32) {
        let body = self.body();
        let cfg = Cfg::new(body);
        let start = self.starts[&function];
        for (at, i) in body.instructions.iter().enumerate() {
            let ops = self.image.ops.len();
            if let Err(reason) = self.instruction(i, at as u32, start, &cfg) {
                self.problem(i, reason);
            }
            debug_assert!(self.image.ops.len() <= ops + 1);
            if self.image.ops.len() == ops {
                let op = self.straight(lanes::nothing);
                self.image.ops.push(op);
            }
            self.guard(i);
            self.note(i, at as u32);
        }
        // Control that runs off the end leaves the function.
        let mut op = self.straight(lanes::nothing);
        op.control = Control::Return;
        self.image.ops.push(op);
        let info = InstructionInfo {
            kind: Kind::Branch,
            function,
            instruction: body.instructions.len() as u32,
            line: body
                .instructions
                .last()
                .map_or(body.span.line, |i| i.span.line),
            reads: Vec::new(),
            writes: Vec::new(),
        };
        self.image.infos.push(info);
        self.image.sources.push(u32::MAX);
        self.image.access.push(None);
    }

    fn straight(&self, run: super::image::Handler) -> Op {
        Op {
            run,
            d: 0,
            a: 0,
            b: 0,
            c: 0,
            guard: TRUE,
            flip: 0,
            extra: 0,
            control: Control::Straight,
        }
    }

    fn push(&mut self, op: Op) {
        self.image.ops.push(op);
    }

    /// Puts the guard into the operation just made.
    fn guard(&mut self, i: &Instruction) {
        let Some(guard) = i.guard else {
            return;
        };
        let slot = self.register(guard.register);
        if slot.width != Width::Mask {
            self.problem(i, "the guard is no predicate");
        }
        if let Some(op) = self.image.ops.last_mut() {
            op.guard = slot.at;
            op.flip = if guard.negated { u32::MAX } else { 0 };
        }
    }

    /// What observers and messages want to know.
    fn note(&mut self, i: &Instruction, at: u32) {
        let body = self.body();
        let source = match self.module.source(body, i) {
            None => u32::MAX,
            Some(name) => match self.image.source_names.last() {
                Some(last) if *last == name => self.image.source_names.len() as u32 - 1,
                _ => {
                    self.image.source_names.push(name);
                    self.image.source_names.len() as u32 - 1
                }
            },
        };
        self.image.sources.push(source);
        let (reads, writes) = accessed(i);
        self.image.infos.push(InstructionInfo {
            kind: kind(i),
            function: self.function,
            instruction: at,
            line: i.span.line,
            reads,
            writes,
        });
        let op = self.image.ops[self.image.ops.len() - 1];
        let accesses = matches!(
            i.opcode,
            Opcode::Ld
                | Opcode::Ldu
                | Opcode::St
                | Opcode::Atom
                | Opcode::Red
                | Opcode::Cp
                | Opcode::Ldmatrix
                | Opcode::Stmatrix
        );
        let access = accesses && (op.extra as usize) < self.image.memory.len();
        let idle = op.run as usize == lanes::nothing as super::image::Handler as usize;
        self.image
            .access
            .push((access && !idle).then_some(op.extra));
    }

    /// Start of the block that a branch's lanes meet at.
    fn meeting(&self, cfg: &Cfg, at: u32, start: u32) -> u32 {
        let block = cfg.post_dominator[cfg.block_of[at as usize] as usize];
        cfg.blocks
            .get(block as usize)
            .map_or(NEVER, |b| start + b.start)
    }

    fn label(&self, operand: Option<&Operand>) -> Option<&'m LabelKind> {
        match operand {
            Some(Operand::Label(label)) => Some(&self.body().labels.get(*label as usize)?.kind),
            _ => None,
        }
    }
}

fn is_shared(space: Space) -> bool {
    matches!(space, Space::Shared | Space::SharedCta)
}

fn module_variables(operand: &Operand, used: &mut Vec<u32>) {
    match operand {
        Operand::Variable(Symbol::Module(at), _)
        | Operand::Address(crate::ptx::ast::Base::Variable(Symbol::Module(at)), _) => {
            used.push(*at)
        }
        Operand::Vector(items) | Operand::List(items) => {
            items.iter().for_each(|o| module_variables(o, used));
        }
        _ => {}
    }
}

/// Functions that a function names: called, pointed to, in lists of targets.
fn named_functions(module: &Module, function: &Function) -> Vec<u32> {
    let mut list = Vec::new();
    for i in &function.instructions {
        list.extend(i.operands.iter().filter_map(|o| match o {
            Operand::Function(f) => Some(*f),
            _ => None,
        }));
    }
    for label in &function.labels {
        if let LabelKind::Calls(calls) = &label.kind {
            list.extend(calls);
        }
    }
    list.retain(|&f| (f as usize) < module.functions.len());
    list
}

/// Callees and lines of the direct calls of a function.
fn direct_calls(function: &Function) -> Vec<(u32, u32)> {
    let calls = function
        .instructions
        .iter()
        .filter(|i| i.opcode == Opcode::Call);
    calls
        .filter_map(|i| match i.operands.get(1) {
            Some(Operand::Function(f)) => Some((*f, i.span.line)),
            _ => None,
        })
        .collect()
}

/// Registers that an instruction reads and writes.
fn accessed(i: &Instruction) -> (Vec<Register>, Vec<Register>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    reads.extend(i.guard.map(|g| g.register));
    let writes_first = !matches!(
        i.opcode,
        Opcode::St
            | Opcode::Red
            | Opcode::Bra
            | Opcode::Brx
            | Opcode::Cp
            | Opcode::Stmatrix
            | Opcode::Prefetch
            | Opcode::Nanosleep
            | Opcode::Ret
            | Opcode::Exit
            | Opcode::Membar
            | Opcode::Fence
            | Opcode::Prefetchu
            | Opcode::Discard
    ) && !(matches!(i.opcode, Opcode::Bar | Opcode::Barrier)
        && !i.has(crate::ptx::names::Word::Red));
    for (at, operand) in i.operands.iter().enumerate() {
        let address = matches!(operand, Operand::Address(..));
        let list = if at == 0 && writes_first && !address {
            &mut writes
        } else {
            &mut reads
        };
        collect(operand, list);
    }
    (reads, writes)
}

fn collect(operand: &Operand, list: &mut Vec<Register>) {
    match operand {
        Operand::Register(r) | Operand::Negated(r) => list.push(*r),
        Operand::Address(crate::ptx::ast::Base::Register(r), _) => list.push(*r),
        Operand::Vector(items) | Operand::List(items) => {
            items.iter().for_each(|o| collect(o, list))
        }
        Operand::Pair(pair) => {
            collect(&pair.0, list);
            collect(&pair.1, list);
        }
        _ => {}
    }
}

fn kind(i: &Instruction) -> Kind {
    use Opcode::*;
    match i.opcode {
        Ld | Ldu | Ldmatrix => Kind::Load,
        St | Stmatrix => Kind::Store,
        Cp => Kind::Load,
        Atom | Red => Kind::Atomic,
        Bar | Barrier if !i.has(crate::ptx::names::Word::Warp) => Kind::Barrier,
        Bar | Shfl | Vote | Match | Redux | Activemask | Elect | Movmatrix => Kind::Warp,
        Bra | Brx | Call | Ret | Exit | Trap => Kind::Branch,
        Rcp | Sqrt | Rsqrt | Sin | Cos | Lg2 | Ex2 | Tanh => Kind::Sfu,
        Div if i.ty(0).is_some_and(|t| t.is_float()) => Kind::Sfu,
        Membar | Fence | Prefetch | Prefetchu | Nanosleep | Pmevent | Brkpt | Discard => {
            Kind::Other
        }
        _ => Kind::Alu,
    }
}
