//! The accesses to shared memory of a kernel with all functions that it
//! calls, and what stands in the way of rewriting them.

use spadkit_mapping::trace::BulkCopy;
use spadkit_ptx::analysis::{
    AccessKind, Affines, BitFacts, Context, Loops, SharedAccess, SharedVariable, Summaries,
    Touches, Values, shared_accesses,
};
use spadkit_ptx::ast::{Base, Instruction, Linkage, Module, Operand, Span, Target};
use spadkit_ptx::cfg::Cfg;
use spadkit_ptx::names::{Space, Special, Word};
use spadkit_ptx::opcodes::Opcode;
use spadkit_ptx::shared::is_shared;
use std::ops::Range;

/// Bytes of an `mbarrier` object.
const OBJECT_BYTES: u32 = 8;

/// An instruction that accesses shared memory.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// The function, as index of the module's.
    pub function: u32,
    /// The instruction.
    pub at: u32,
    /// Index of the operand that is the address.
    pub operand: usize,
    /// Bytes that stay together and aligned.
    pub bytes: u32,
    /// Whether the address is a generic one.
    pub generic: bool,
    /// The shared memory that it may touch.
    pub touches: Touches,
    /// The least and the largest byte of its dynamic variable at which it may begin,
    /// where that is known.
    pub begins: Option<(u32, u32)>,
}

/// An instruction that may touch shared memory in a way that cannot be
/// rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Obstacle {
    /// Span of the instruction.
    pub place: Span,
    /// The reason.
    pub reason: String,
    /// The shared memory that it may touch.
    pub touches: Touches,
    /// Whether the hardware has a swizzle mode for the variables that it touches.
    pub has_modes: bool,
}

impl Obstacle {
    /// An obstacle for all of shared memory.
    fn everywhere(place: Span, reason: String) -> Self {
        let touches = Touches::All {
            at: 0,
            reason: "all of shared memory",
        };
        Obstacle {
            place,
            reason,
            touches,
            has_modes: false,
        }
    }
}

/// The accesses of a kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Accesses {
    /// Accesses in the order of the functions and of the text.
    pub list: Vec<Access>,
    /// Instructions that touch shared memory and cannot be rewritten.
    pub obstacles: Vec<Obstacle>,
}

/// The accesses of the functions `reached`, the entry first, to the variables
/// `used`. An access to a dynamic variable may touch all dynamic variables of
/// the module, as they begin at one address; those that the entry does not use
/// have no memory. `parts` are the bytes of dynamic shared memory with mappings of their own.
/// `block` are the threads of a block, if they are certain.
pub(super) fn accesses(
    module: &Module,
    reached: &[u32],
    used: &[SharedVariable],
    parts: &[Range<u32>],
    block: Option<[u32; 3]>,
) -> Accesses {
    let mut found = of_functions(module, reached, parts, block);
    let accesses = found.list.iter_mut().map(|a| &mut a.touches);
    let obstacles = found.obstacles.iter_mut().map(|o| &mut o.touches);
    for touches in accesses.chain(obstacles) {
        if let Touches::Variables(set) = touches {
            set.retain(|v| used.contains(v));
        }
    }
    found
}

fn of_functions(
    module: &Module,
    reached: &[u32],
    parts: &[Range<u32>],
    block: Option<[u32; 3]>,
) -> Accesses {
    let mut found = Accesses::default();
    initial_values(module, &mut found);
    let summaries = Summaries::new(module);
    // Without a generic address of shared memory none can come from anywhere.
    let functions = || reached.iter().map(|&f| &module.functions[f as usize]);
    let generic_made = functions().any(|f| f.instructions.iter().any(makes_generic));
    for &index in reached {
        let function = &module.functions[index as usize];
        let context = Context {
            block: block.or(function.tuning.reqntid),
            ..Context::default()
        };
        let cfg = Cfg::new(function);
        let values = Values::new(function, &cfg);
        let loops = Loops::new(&cfg, values.dominators());
        let facts = BitFacts::new(module, function, &cfg, &values, &context);
        let affines = Affines::new(module, function, &cfg, &values, &loops, &facts, &context);
        for access in shared_accesses(module, function, &cfg, &values, &affines, &summaries) {
            let i = &function.instructions[access.at as usize];
            let is_dynamic = |symbol| {
                let v = module.variable(function, symbol);
                is_shared(v.space) && (v.bytes == 0 || v.linkage == Linkage::Extern)
            };
            let begins = access.expression.as_ref();
            let begins = begins.and_then(|e| affines.offset_range(e, is_dynamic));
            let own = |operand, bytes, generic| Access {
                function: index,
                at: access.at,
                operand,
                bytes,
                generic,
                touches: access.touches.clone(),
                begins,
            };
            match classify(module, i, &access, generic_made) {
                Class::Nothing => {}
                Class::Access { operand } => {
                    found.list.push(own(operand, access.bytes, access.generic));
                }
                // It moves with what is beside the parts.
                Class::Obstacle(_) if is_object_beside(parts, i, &access, begins) => {
                    found.list.push(own(access.operand, OBJECT_BYTES, false));
                }
                Class::Obstacle(reason) if is_unknown(i, &access) => {
                    found.obstacles.push(Obstacle::everywhere(i.span, reason));
                }
                Class::Obstacle(reason) => found.obstacles.push(Obstacle {
                    place: i.span,
                    reason,
                    has_modes: has_modes(i, access.operand),
                    touches: access.touches,
                }),
            }
        }
        let hidden = function
            .instructions
            .iter()
            .filter_map(|i| Some(Obstacle::everywhere(i.span, hidden(i)?.to_owned())));
        found.obstacles.extend(hidden);
    }
    found
}

/// Names instructions that touch shared memory without an address, or depend on its size.
fn hidden(i: &Instruction) -> Option<&'static str> {
    let is_size = |o: &Operand| {
        matches!(
            o,
            Operand::Special(Special::DynamicSmemSize | Special::TotalSmemSize)
        )
    };
    let is_reserved = |o: &Operand| matches!(o, Operand::Special(s) if s.is_reserved_shared());
    if i.operands.iter().any(is_reserved) {
        return Some("the kernel uses the shared memory that CUDA keeps for itself");
    }
    let sizes = i.operands.iter().any(is_size);
    sizes.then_some("the kernel reads the size of shared memory, which a mapping may change")
}

/// Whether a generic address is made of one of shared memory.
fn makes_generic(i: &Instruction) -> bool {
    let shared = i
        .space()
        .is_some_and(|s| is_shared(s) || s == Space::SharedCluster);
    i.opcode == Opcode::Cvta && shared && !i.has(Word::To)
}

/// Addresses of shared variables in initial values.
fn initial_values(module: &Module, found: &mut Accesses) {
    for variable in &module.variables {
        let relocations = variable.initial.iter().flat_map(|i| &i.relocations);
        let shared = |target: Target| match target {
            Target::Variable(v) => is_shared(module.variables[v as usize].space),
            Target::Function(_) => false,
        };
        if relocations.map(|r| r.target).any(shared) {
            let reason = "the initial value has the address of a shared variable";
            let obstacle = Obstacle::everywhere(variable.span, reason.to_owned());
            found.obstacles.push(obstacle);
        }
    }
}

/// The class of an access in this pass.
enum Class {
    Nothing,
    Access { operand: usize },
    Obstacle(String),
}

fn classify(module: &Module, i: &Instruction, access: &SharedAccess, generic_made: bool) -> Class {
    let obstacle = |what: &str| Class::Obstacle(what.to_owned());
    if access.kind == AccessKind::Call {
        return match i.operands.get(1) {
            // Its body is analysed as well.
            Some(Operand::Function(f)) if module.functions[*f as usize].defined => Class::Nothing,
            Some(Operand::Function(f)) => Class::Obstacle(format!(
                "a call of {}, whose body is not in this module",
                module.functions[*f as usize].name
            )),
            _ => Class::Nothing,
        };
    }
    let sure = matches!(access.touches, Touches::Variables(_)) && !access.elsewhere;
    if access.generic && !generic_made && !sure {
        return Class::Nothing;
    }
    if access.generic && !generic_made && access.kind != AccessKind::Other {
        // `ld [variable]`
        return position(i);
    }
    if access.generic && !sure {
        return obstacle("a generic address that may be in shared memory, or elsewhere");
    }
    match access.kind {
        AccessKind::Other => Class::Obstacle(other(i, access.operand)),
        _ if i.space() == Some(Space::SharedCluster) => obstacle("shared memory of another block"),
        _ => position(i),
    }
}

/// The operand that is the address.
fn position(i: &Instruction) -> Class {
    let is_address = |o: &Operand| matches!(o, Operand::Address(..));
    match i.operands.iter().position(is_address) {
        Some(at) => match i.operands[at] {
            Operand::Address(Base::Absolute, _) => {
                Class::Obstacle("a fixed address in shared memory".to_owned())
            }
            _ => Class::Access { operand: at },
        },
        None => Class::Nothing,
    }
}

/// The use that an instruction makes of the shared memory which an operand names.
fn other(i: &Instruction, operand: usize) -> String {
    let what = match i.opcode {
        Opcode::Mbarrier => "an mbarrier object",
        Opcode::Wgmma => "wgmma reads it by a descriptor, whose swizzle mode is its mapping",
        Opcode::Wmma => "wmma loads or stores a matrix by rows",
        Opcode::Tensormap => "a tensor map in shared memory",
        Opcode::Cp if arrives_at(i, operand) => "an mbarrier object",
        Opcode::Cp if i.has(Word::Tensor) => match operand {
            0 => "a tensor copy writes it in the swizzle mode of its tensor map",
            _ => "a tensor copy reads it in the swizzle mode of its tensor map",
        },
        Opcode::Cp if i.has(Word::Bulk) => BulkCopy::reason(operand != 0),
        Opcode::Cp => "a copy that is more than cp.async of 4, 8 or 16 bytes",
        _ => "an instruction that the kit does not know",
    };
    what.to_owned()
}

/// Whether the instruction may do unknown things with its address.
fn is_unknown(i: &Instruction, access: &SharedAccess) -> bool {
    use Opcode::{Cp, Mbarrier, Tensormap, Wgmma, Wmma};
    access.kind == AccessKind::Other && ![Cp, Mbarrier, Tensormap, Wgmma, Wmma].contains(&i.opcode)
}

/// Whether the operand of a copy is the object that it arrives at: the last
/// address of a copy to shared memory, the only one of an arrival.
fn arrives_at(i: &Instruction, operand: usize) -> bool {
    let is_address = |o: &Operand| matches!(o, Operand::Address(..));
    let last = i.operands.iter().rposition(is_address) == Some(operand);
    last && i.one_of(&[Word::Mbarrier, Word::MbarrierBytes]).is_some()
}

/// Whether it uses an `mbarrier` object that is certainly in none of the mapped parts.
fn is_object_beside(
    parts: &[Range<u32>],
    i: &Instruction,
    access: &SharedAccess,
    begins: Option<(u32, u32)>,
) -> bool {
    let arrives = i.opcode == Opcode::Cp && arrives_at(i, access.operand);
    let is_object = (i.opcode == Opcode::Mbarrier || arrives) && !access.generic;
    let is_beside = |(low, high): (u32, u32)| {
        let end = high.saturating_add(OBJECT_BYTES);
        let mut parts = parts.iter();
        parts.all(|part| end <= part.start || part.end <= low)
    };
    is_object && !parts.is_empty() && begins.is_some_and(is_beside)
}

/// Whether the hardware accesses an operand in a swizzle mode of its own.
fn has_modes(i: &Instruction, operand: usize) -> bool {
    let copies = i.opcode == Opcode::Cp && i.has(Word::Tensor) && !arrives_at(i, operand);
    copies || i.opcode == Opcode::Wgmma
}

/// Functions whose address is taken, so that they may be called through pointers.
pub(super) fn address_taken(module: &Module, reached: &[u32]) -> bool {
    let taken = |i: &Instruction| {
        let operands = i.operands.iter().enumerate();
        let mut own = operands.filter(|(n, _)| i.opcode != Opcode::Call || *n != 1);
        own.any(|(_, o)| matches!(o, Operand::Function(_)))
    };
    let functions = reached.iter().map(|&f| &module.functions[f as usize]);
    functions.flat_map(|f| &f.instructions).any(taken)
        || module
            .relocations()
            .any(|t| matches!(t, Target::Function(_)))
}

/// The variable of shared memory that a symbol names in a function.
pub(super) fn shared_variable(
    module: &Module,
    function: u32,
    symbol: spadkit_ptx::ast::Symbol,
) -> Option<SharedVariable> {
    let own = &module.functions[function as usize];
    let shared = is_shared(module.variable(own, symbol).space);
    shared.then(|| SharedVariable::new(function, symbol))
}
