//! The accesses to shared memory of a kernel with all functions that it
//! calls, and what each may touch.
//!
//! A register stands for everything that is ever written to it. What is
//! followed is whose address a register may hold: that of shared variables,
//! as an address in shared memory or as a generic one, or what nobody knows
//! (loaded from memory, a parameter of a device function). A pointer plus a
//! number is the pointer.

use crate::ptx::ast::{Base, Function, Immediate, Instruction, Module, Operand, Symbol, Target};
use crate::ptx::names::{Opcode, Space, Word};
use std::collections::BTreeSet;

/// A shared variable: of a function, or of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Variable {
    /// The function; `None` for module scope.
    pub function: Option<u32>,
    /// Its index there.
    pub index: u32,
}

/// What an access may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Touches {
    /// These variables alone.
    Variables(BTreeSet<Variable>),
    /// Any shared memory.
    All,
}

/// An instruction that accesses shared memory.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// The function, as index of the module's.
    pub function: u32,
    /// The instruction.
    pub at: u32,
    /// Which operand is the address.
    pub operand: usize,
    /// Bytes that stand together and are aligned.
    pub bytes: u32,
    /// Whether the address is a generic one.
    pub generic: bool,
    /// What it may touch.
    pub touches: Touches,
}

/// An instruction that may touch shared memory in a way that cannot be
/// rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Obstacle {
    /// 1-based line of the PTX.
    pub line: u32,
    /// What is in the way.
    pub reason: String,
}

/// The accesses of a kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Accesses {
    /// In the order of the functions and of the text.
    pub list: Vec<Access>,
    /// What may touch all of shared memory and cannot be rewritten.
    pub obstacles: Vec<Obstacle>,
}

/// What a register may hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Origin {
    variables: BTreeSet<Variable>,
    /// It may be a generic address of these variables.
    generic: bool,
    /// It may be what nobody knows.
    unknown: bool,
    /// It may be no address of shared memory.
    other: bool,
}

impl Origin {
    fn unknown() -> Self {
        Origin {
            unknown: true,
            ..Origin::default()
        }
    }

    fn other() -> Self {
        Origin {
            other: true,
            ..Origin::default()
        }
    }

    fn is_pointer(&self) -> bool {
        !self.variables.is_empty()
    }

    /// Either of two.
    fn join(&mut self, more: &Origin) -> bool {
        let before = self.clone();
        self.variables.extend(&more.variables);
        self.generic |= more.generic;
        self.unknown |= more.unknown;
        self.other |= more.other;
        *self != before
    }

    /// What is computed of both: a pointer and numbers make a pointer.
    fn combine(&mut self, more: &Origin) {
        let pointer = self.is_pointer() || more.is_pointer();
        // A pointer that may be none stays one that may be none.
        let may_be_none = |o: &Origin| o.is_pointer() && (o.unknown || o.other);
        let none = may_be_none(self) || may_be_none(more);
        self.variables.extend(&more.variables);
        self.generic |= more.generic;
        self.unknown = match pointer {
            true => none,
            false => self.unknown || more.unknown,
        };
        self.other = !self.unknown && !pointer;
    }
}

/// The functions that a kernel comes to: the entry first, in the order in
/// which they are found. An obstacle where that is not known.
pub(super) fn reached(module: &Module, entry: u32) -> (Vec<u32>, Vec<Obstacle>) {
    let (mut list, mut obstacles, mut at) = (vec![entry], Vec::new(), 0);
    while at < list.len() {
        let function = &module.functions[list[at] as usize];
        for call in function
            .instructions
            .iter()
            .filter(|i| i.opcode == Opcode::Call)
        {
            let mut refuse = |reason: String| {
                let line = call.span.line;
                obstacles.push(Obstacle { line, reason });
            };
            match call.operands.get(1) {
                Some(Operand::Function(callee)) => {
                    let head = &module.functions[*callee as usize];
                    let known = ["vprintf", "__assertfail", "malloc", "free"];
                    if head.defined && !list.contains(callee) {
                        list.push(*callee);
                    } else if !head.defined && !known.contains(&head.name.as_str()) {
                        refuse(format!("a call of {}, whose body is not here", head.name));
                    }
                }
                _ => refuse("a call through a pointer".to_owned()),
            }
        }
        at += 1;
    }
    (list, obstacles)
}

/// The accesses of the functions `reached`, the entry first.
pub(super) fn accesses(module: &Module, reached: &[u32]) -> Accesses {
    let mut found = Accesses::default();
    let per_function: Vec<(u32, Vec<Origin>)> = reached
        .iter()
        .map(|&f| (f, origins(module, f, f == reached[0])))
        .collect();
    for relocation in module
        .variables
        .iter()
        .flat_map(|v| v.initial.iter().flat_map(|i| &i.relocations))
    {
        if let Target::Variable(v) = relocation.target
            && is_shared(module.variables[v as usize].space)
        {
            found.obstacles.push(Obstacle {
                line: module.variables[v as usize].span.line,
                reason: "its address is in an initial value".to_owned(),
            });
        }
    }
    let escapes = per_function.iter().any(|(f, origins)| {
        let function = &module.functions[*f as usize];
        function.instructions.iter().any(|i| escapes(i, origins))
    });
    for (index, origins) in &per_function {
        let function = &module.functions[*index as usize];
        for (at, instruction) in function.instructions.iter().enumerate() {
            let view = View {
                module,
                index: *index,
                function,
                origins,
                escapes,
            };
            match view.classify(instruction) {
                Class::Nothing => {}
                Class::Access {
                    operand,
                    bytes,
                    generic,
                    touches,
                } => found.list.push(Access {
                    function: *index,
                    at: at as u32,
                    operand,
                    bytes,
                    generic,
                    touches,
                }),
                Class::Obstacle(reason) => found.obstacles.push(Obstacle {
                    line: instruction.span.line,
                    reason,
                }),
            }
        }
    }
    found
}

pub(super) fn is_shared(space: Space) -> bool {
    matches!(space, Space::Shared | Space::SharedCta)
}

/// The variable of shared memory that a symbol names.
pub(super) fn shared_variable(
    module: &Module,
    function: &Function,
    index: u32,
    symbol: Symbol,
) -> Option<Variable> {
    is_shared(module.variable(function, symbol).space).then_some(match symbol {
        Symbol::Module(at) => Variable {
            function: None,
            index: at,
        },
        Symbol::Local(at) => Variable {
            function: Some(index),
            index: at,
        },
    })
}

/// What the registers of a function may hold.
fn origins(module: &Module, index: u32, is_entry: bool) -> Vec<Origin> {
    let function = &module.functions[index as usize];
    let mut origins = vec![Origin::default(); function.registers.len()];
    for parameter in &function.params {
        if let crate::ptx::ast::Parameter::Register(r) = parameter {
            origins[r.0 as usize] = Origin::unknown();
        }
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for i in &function.instructions {
            for register in crate::ptx::analysis::writes(i) {
                let new = result(module, function, index, i, &origins, is_entry);
                changed |= origins[register.0 as usize].join(&new);
            }
        }
    }
    origins
}

/// What an instruction writes.
fn result(
    module: &Module,
    function: &Function,
    index: u32,
    i: &Instruction,
    origins: &[Origin],
    is_entry: bool,
) -> Origin {
    let of = |operand: &Operand| match operand {
        Operand::Register(r) | Operand::Negated(r) => origins[r.0 as usize].clone(),
        Operand::Variable(symbol, _) => {
            match shared_variable(module, function, index, *symbol) {
                Some(variable) => Origin {
                    variables: BTreeSet::from([variable]),
                    ..Origin::default()
                },
                None => Origin::other(),
            }
        }
        _ => Origin::other(),
    };
    let sources = || i.operands.iter().skip(1).map(of);
    match i.opcode {
        Opcode::Ld | Opcode::Ldu if is_entry && i.space() == Some(Space::Param) => Origin::other(),
        Opcode::Ld
        | Opcode::Ldu
        | Opcode::Ldmatrix
        | Opcode::Atom
        | Opcode::Call
        | Opcode::Shfl
        | Opcode::Other => Origin::unknown(),
        Opcode::Cvta => {
            let mut origin = sources().next().unwrap_or_default();
            origin.generic |= i.space().is_some_and(is_shared) && !i.has(Word::To);
            origin
        }
        // One of two.
        Opcode::Selp | Opcode::Slct | Opcode::Min | Opcode::Max => {
            let mut all = Origin::default();
            for source in sources().take(2) {
                all.join(&source);
            }
            all
        }
        _ => {
            let vectors = i.operands.iter().skip(1).any(|o| matches!(o, Operand::Vector(_)));
            let mut all = Origin::default();
            for source in sources() {
                all.combine(&source);
            }
            // Halves of an address are put together elsewhere.
            if vectors { Origin::unknown() } else { all }
        }
    }
}

/// Whether an instruction stores a generic address of shared memory, or hands
/// it to a function.
fn escapes(i: &Instruction, origins: &[Origin]) -> bool {
    let is_generic = |o: &Operand| match o {
        Operand::Register(r) => {
            let origin = &origins[r.0 as usize];
            origin.is_pointer() && origin.generic
        }
        _ => false,
    };
    let values = match i.opcode {
        Opcode::St => &i.operands[1..],
        Opcode::Atom | Opcode::Shfl => &i.operands[1..],
        Opcode::Red => &i.operands[1..],
        Opcode::Call => &i.operands[..],
        Opcode::Mov if i.operands.iter().any(|o| matches!(o, Operand::Vector(_))) => {
            &i.operands[..]
        }
        _ => return false,
    };
    values.iter().any(|o| match o {
        Operand::Vector(items) | Operand::List(items) => items.iter().any(is_generic),
        one => is_generic(one),
    })
}

/// What an instruction is to shared memory.
enum Class {
    Nothing,
    Access {
        operand: usize,
        bytes: u32,
        generic: bool,
        touches: Touches,
    },
    Obstacle(String),
}

/// A function with what its registers may hold.
struct View<'a> {
    module: &'a Module,
    index: u32,
    function: &'a Function,
    origins: &'a [Origin],
    /// A generic address of shared memory is stored somewhere.
    escapes: bool,
}

impl View<'_> {
    fn classify(&self, i: &Instruction) -> Class {
        let first = |from: usize| {
            let is_address = |o: &Operand| matches!(o, Operand::Address(..));
            let found = i.operands[from.min(i.operands.len())..].iter().position(is_address);
            found.map(|n| n + from)
        };
        let obstacle = |what: &str| Class::Obstacle(what.to_owned());
        let copies = i.has(Word::Async) && !i.has(Word::Bulk);
        let (operand, bytes) = match i.opcode {
            Opcode::Ld | Opcode::Ldu | Opcode::Atom => (first(1), self.bytes(i)),
            Opcode::St | Opcode::Red => (first(0), self.bytes(i)),
            Opcode::Cp if copies && i.has(Word::Mbarrier) => {
                return obstacle("cp.async arrives at an mbarrier in shared memory");
            }
            Opcode::Cp if copies => match first(0) {
                None => return Class::Nothing,
                at => (at, copied(i)),
            },
            Opcode::Ldmatrix => (first(1), 16),
            Opcode::Stmatrix => (first(0), 16),
            Opcode::Mbarrier => return obstacle("an mbarrier lies in shared memory"),
            Opcode::Wgmma => return obstacle("wgmma reads shared memory by descriptors"),
            Opcode::Wmma if first(0).is_some() && i.space() != Some(Space::Global) => {
                return obstacle("wmma loads or stores a matrix by rows");
            }
            Opcode::Cp if i.has(Word::Bulk) && first(0).is_some() => {
                return obstacle("a bulk copy writes shared memory in one piece");
            }
            Opcode::Other if self.other_touches(i) => {
                return obstacle("an instruction that the kit does not know");
            }
            _ => return Class::Nothing,
        };
        let Some(operand) = operand else {
            return Class::Nothing;
        };
        let Operand::Address(base, _) = &i.operands[operand] else {
            return Class::Nothing;
        };
        self.address(i, operand, *base, bytes)
    }

    /// Whether an unknown instruction may access shared memory.
    fn other_touches(&self, i: &Instruction) -> bool {
        let addresses = |o: &Operand| matches!(o, Operand::Address(..) | Operand::Other);
        match i.space() {
            None => i.operands.iter().any(addresses),
            Some(space) => is_shared(space) || space == Space::SharedCluster,
        }
    }

    fn address(&self, i: &Instruction, operand: usize, base: Base, bytes: u32) -> Class {
        let access = |generic, touches| Class::Access {
            operand,
            bytes,
            generic,
            touches,
        };
        let obstacle = |what: &str| Class::Obstacle(what.to_owned());
        match (i.space(), base) {
            (Some(Space::SharedCluster), _) => obstacle("shared memory of another block"),
            (space, Base::Variable(symbol)) => {
                let variable = shared_variable(self.module, self.function, self.index, symbol);
                match variable {
                    Some(v) => access(false, Touches::Variables(BTreeSet::from([v]))),
                    None if space.is_some_and(is_shared) => {
                        obstacle("an address in shared memory that is no variable's")
                    }
                    None => Class::Nothing,
                }
            }
            (Some(space), Base::Absolute) if is_shared(space) => {
                obstacle("a fixed address in shared memory")
            }
            (Some(space), Base::Register(r)) if is_shared(space) => {
                let origin = &self.origins[r.0 as usize];
                let sure = origin.is_pointer() && !origin.unknown && !origin.other;
                access(
                    false,
                    match sure {
                        true => Touches::Variables(origin.variables.clone()),
                        false => Touches::All,
                    },
                )
            }
            (None, Base::Register(r)) => {
                let origin = &self.origins[r.0 as usize];
                if origin.is_pointer() {
                    return match origin.unknown || origin.other || !origin.generic {
                        false => access(true, Touches::Variables(origin.variables.clone())),
                        true => obstacle(
                            "a generic address that may be in shared memory, or elsewhere",
                        ),
                    };
                }
                match origin.unknown && self.escapes {
                    true => obstacle(
                        "a generic address of unknown origin, while one of shared memory is \
                         stored or handed to a function",
                    ),
                    false => Class::Nothing,
                }
            }
            _ => Class::Nothing,
        }
    }

    fn bytes(&self, i: &Instruction) -> u32 {
        let elements = match i.one_of(&[Word::V2, Word::V4, Word::V8]) {
            None => 1,
            Some(Word::V2) => 2,
            Some(Word::V4) => 4,
            Some(_) => 8,
        };
        i.types().last().map_or(4, |ty| ty.bytes()) * elements
    }
}

/// Bytes that a `cp.async` writes.
fn copied(i: &Instruction) -> u32 {
    let size = i.operands.iter().find_map(|o| match o {
        Operand::Immediate(Immediate::Integer(n)) => u32::try_from(*n).ok(),
        _ => None,
    });
    size.unwrap_or(16)
}
