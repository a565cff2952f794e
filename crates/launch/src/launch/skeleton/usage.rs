//! Usage of an entry's parameters by its instructions.
//!
//! Compilers write PTX in virtual registers that are assigned once or by few
//! instructions, so the order of instructions does not matter here: a register
//! represents every parameter that it may be computed from.

mod local;

use super::parts::{Addresses, Part, loaded};
use spadkit_ptx::Type;
use spadkit_ptx::analysis::{is_dynamic, reads, writes};
use spadkit_ptx::{Base, Function, Instruction, Module, Opcode, Operand, Register, Space, Special};
use std::collections::{BTreeMap, BTreeSet};

/// The use that an entry makes of its parameters and the grid.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// The parts of parameters that are addresses of global memory.
    pub pointers: BTreeMap<Part, Pointer>,
    /// The parameters that are addresses of shared memory, as those of `local` pointers of
    /// OpenCL, by index.
    pub shared_pointers: BTreeSet<u32>,
    /// Types as which instructions read a parameter's value, by index.
    seen_as: BTreeMap<u32, Vec<Type>>,
    /// Dimensions of a block that the kernel asks for, 1 to 3.
    pub block_dimensions: u32,
    /// Dimensions of the grid that the kernel asks for, 1 to 3.
    pub grid_dimensions: u32,
    /// Whether it names shared memory without a size.
    pub dynamic_shared: bool,
    /// Whether it, or a function that it calls, waits for the whole grid, as `grid.sync()` does.
    pub cooperative: bool,
}

/// The use of a pointer.
#[derive(Debug, Default)]
pub(super) struct Pointer {
    /// Types of what is accessed there.
    types: Vec<Type>,
    pub reads: bool,
    pub writes: bool,
}

impl Pointer {
    /// The type of an element.
    pub fn element(&self) -> Option<Type> {
        telling(&self.types)
    }
}

/// The parts of parameters from which a register is computed.
pub(super) type Origins = BTreeMap<Register, BTreeSet<Part>>;

impl Usage {
    /// Looks at all instructions of an entry. What device functions do with
    /// pointers that they are given is not followed.
    pub fn of(module: &Module, function: &Function, addresses: &Addresses) -> Self {
        let mut usage = Usage {
            block_dimensions: 1,
            grid_dimensions: 1,
            cooperative: with_callees(module, function).any(waits_for_the_grid),
            ..Usage::default()
        };
        let origins = origins(function, module.address_size, |i| loaded(i, addresses));
        let consumers = consumers(function);
        let sure = converted(function, &origins);
        for i in &function.instructions {
            usage.special(i);
            usage.shared(module, function, i);
            for (register, part) in loaded(i, addresses) {
                if part.byte != 0 {
                    continue;
                }
                let seen = types_of(&consumers, register, i.ty(0));
                usage.seen_as.entry(part.param).or_default().extend(seen);
            }
            usage.access(i, &origins, &sure, &consumers);
        }
        for part in sure {
            usage.pointers.entry(part).or_default();
        }
        usage.shared_pointers = local::shared_pointers(module, function, addresses);
        usage.dynamic_shared |= !usage.shared_pointers.is_empty();
        usage
    }

    /// The type of a scalar that is declared as `declared`. Instructions that read a part
    /// of it do not tell.
    pub fn scalar(&self, param: u32, declared: Type) -> Type {
        let seen = self.seen_as.get(&param).map_or(&[][..], |s| s);
        let whole: Vec<Type> = (seen.iter().copied())
            .filter(|ty| ty.bytes() == declared.bytes())
            .collect();
        if declared.is_float() || declared.is_signed() {
            declared
        } else {
            telling(&whole).unwrap_or(declared)
        }
    }

    /// The addresses in a struct, by their bytes.
    pub fn members(&self, param: u32) -> impl Iterator<Item = (u32, &Pointer)> {
        let own = self.pointers.iter().filter(move |p| p.0.param == param);
        own.map(|(part, pointer)| (part.byte, pointer))
    }

    fn special(&mut self, i: &Instruction) {
        for operand in &i.operands {
            let Operand::Special(special) = operand else {
                continue;
            };
            match special {
                Special::TidY | Special::NtidY => {
                    self.block_dimensions = self.block_dimensions.max(2)
                }
                Special::TidZ | Special::NtidZ => self.block_dimensions = 3,
                Special::CtaidY | Special::NctaidY => {
                    self.grid_dimensions = self.grid_dimensions.max(2);
                }
                Special::CtaidZ | Special::NctaidZ => self.grid_dimensions = 3,
                _ => {}
            }
        }
    }

    fn shared(&mut self, module: &Module, function: &Function, i: &Instruction) {
        for operand in &i.operands {
            let (Operand::Variable(symbol, _) | Operand::Address(Base::Variable(symbol), _)) =
                operand
            else {
                continue;
            };
            let variable = module.variable(function, *symbol);
            self.dynamic_shared |= variable.space == Space::Shared && is_dynamic(variable);
        }
    }

    /// Notes an access to global memory, or one with a generic address. Where
    /// an address is the sum of several parameters, those that `cvta` converts
    /// are the pointers, and the others are offsets.
    fn access(
        &mut self,
        i: &Instruction,
        origins: &Origins,
        sure: &BTreeSet<Part>,
        consumers: &BTreeMap<Register, Vec<Type>>,
    ) {
        let global = matches!(i.space(), None | Some(Space::Global));
        let (reads, writes_there) = match i.opcode {
            Opcode::Ld | Opcode::Ldu => (true, false),
            Opcode::St => (false, true),
            Opcode::Atom | Opcode::Red => (true, true),
            Opcode::Cp => (true, false),
            _ => return,
        };
        for operand in i
            .operands
            .iter()
            .filter(|_| global || i.opcode == Opcode::Cp)
        {
            let Operand::Address(Base::Register(base), _) = operand else {
                continue;
            };
            let from = origins.get(base).into_iter().flatten().copied();
            let (pointers, others): (Vec<Part>, Vec<Part>) = from.partition(|p| sure.contains(p));
            let chosen = if pointers.is_empty() {
                others
            } else {
                pointers
            };
            let ty = i.types().last();
            let seen: Vec<Type> = match i.opcode {
                Opcode::Ld | Opcode::Ldu => writes(i)
                    .into_iter()
                    .flat_map(|r| types_of(consumers, r, ty))
                    .chain(ty)
                    .collect(),
                Opcode::Cp => Vec::new(),
                _ => ty.into_iter().collect(),
            };
            for part in chosen {
                let pointer = self.pointers.entry(part).or_default();
                pointer.reads |= reads;
                pointer.writes |= writes_there;
                pointer.types.extend(&seen);
            }
        }
    }
}

/// A function and all that it calls.
fn with_callees<'a>(
    module: &'a Module,
    function: &'a Function,
) -> impl Iterator<Item = &'a Function> {
    let mut all = vec![function];
    let mut known = BTreeSet::new();
    let mut next = 0;
    while next < all.len() {
        for i in &all[next].instructions {
            if let (Opcode::Call, Some(Operand::Function(f))) = (i.opcode, i.operands.get(1))
                && known.insert(*f)
            {
                all.push(&module.functions[*f as usize]);
            }
        }
        next += 1;
    }
    all.into_iter()
}

/// Whether it reads where the barrier of the grid is.
fn waits_for_the_grid(function: &Function) -> bool {
    let mut operands = function.instructions.iter().flat_map(|i| &i.operands);
    operands.any(|o| matches!(o, Operand::Special(special) if special.is_of_the_driver()))
}

/// The parts of parameters that each register of `width` bits may hold as an
/// address: those of `begin`, and those that are moved, converted, or offset
/// from there.
pub(super) fn origins(
    function: &Function,
    width: u32,
    begin: impl Fn(&Instruction) -> Vec<(Register, Part)>,
) -> Origins {
    let mut origins = Origins::new();
    loop {
        let mut changed = false;
        let mut add = |origins: &mut Origins, register, from: &BTreeSet<Part>| {
            let known = origins.entry(register).or_default();
            let before = known.len();
            known.extend(from);
            changed |= known.len() > before;
        };
        for i in &function.instructions {
            let begins = begin(i);
            for (register, part) in &begins {
                add(&mut origins, *register, &BTreeSet::from([*part]));
            }
            if !begins.is_empty() {
                continue;
            }
            let bases = bases(i, width).into_iter();
            let from: BTreeSet<Part> = bases
                .filter_map(|r| origins.get(&r))
                .flatten()
                .copied()
                .collect();
            if !from.is_empty() {
                for register in writes(i) {
                    add(&mut origins, register, &from);
                }
            }
        }
        if !changed {
            return origins;
        }
    }
}

/// The registers whose address, if they hold one, is that of the result but for an offset.
fn bases(i: &Instruction, width: u32) -> Vec<Register> {
    let wide = |ty: Option<Type>| ty.is_some_and(|t| t.bits() == width);
    match i.opcode {
        Opcode::Mov | Opcode::Add | Opcode::Sub | Opcode::Selp | Opcode::Cvta
            if wide(i.types().last()) =>
        {
            reads(i)
        }
        // This applies to `mad.wide.u32`, too, whose result is twice as wide: the
        // product is an offset, never an address.
        Opcode::Mad => match i.operands.last() {
            Some(Operand::Register(register)) => vec![*register],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The parameters that `cvta` converts: nothing but a pointer is converted.
fn converted(function: &Function, origins: &Origins) -> BTreeSet<Part> {
    let conversions = function
        .instructions
        .iter()
        .filter(|i| i.opcode == Opcode::Cvta);
    let bases = conversions.flat_map(reads);
    bases
        .filter_map(|r| origins.get(&r))
        .flatten()
        .copied()
        .collect()
}

/// Types of the instructions that read a register, for arithmetic, by register.
fn consumers(function: &Function) -> BTreeMap<Register, Vec<Type>> {
    let mut list: BTreeMap<Register, Vec<Type>> = BTreeMap::new();
    for i in &function.instructions {
        // The types of the last are those of fragments and texels, not those of
        // strides and coordinates.
        if matches!(
            i.opcode,
            Opcode::Mov
                | Opcode::Ld
                | Opcode::Bra
                | Opcode::Call
                | Opcode::Wmma
                | Opcode::Tex
                | Opcode::Tld4
                | Opcode::Suld
                | Opcode::Sust
        ) {
            continue;
        }
        // The types of cvt are those of the result and of the source.
        let types: Vec<Type> = match i.opcode {
            Opcode::Cvt => i.types().skip(1).collect(),
            _ => i.types().collect(),
        };
        for register in reads(i) {
            list.entry(register).or_default().extend(&types);
        }
    }
    list
}

/// The types of the readers of `register` that have the size of `declared`.
fn types_of(
    consumers: &BTreeMap<Register, Vec<Type>>,
    register: Register,
    declared: Option<Type>,
) -> Vec<Type> {
    let seen = consumers.get(&register).into_iter().flatten().copied();
    let bits = declared.map_or(0, Type::bits);
    seen.filter(|t| t.bits() == bits).collect()
}

/// The most specific of the types seen: a floating-point number, then a signed,
/// then an unsigned integer, then bits.
fn telling(types: &[Type]) -> Option<Type> {
    let rank = |ty: &Type| match ty {
        Type::Pred | Type::B128 => 0,
        Type::B8 | Type::B16 | Type::B32 | Type::B64 => 1,
        t if t.is_float() => 4,
        t if t.is_signed() => 3,
        _ => 2,
    };
    let best = types.iter().map(rank).max()?;
    types.iter().copied().find(|t| rank(t) == best)
}
