//! Parts of parameters: what is loaded from them, and where addresses lead into them.

use spadkit_ptx::analysis::writes;
use spadkit_ptx::{Base, Function, Immediate, Instruction, Opcode, Operand, Parameter, Register};
use spadkit_ptx::{Space, Symbol};
use std::collections::{BTreeMap, BTreeSet};

/// A parameter, by the index of its variable, or what is at a byte of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub param: u32,
    pub byte: u32,
}

/// The most parts that one register may lead to: a loop over an array of a parameter has
/// no end here.
const MOST: usize = 16;

/// By register: the parts of parameters whose address it may hold. Where an index is added
/// that is no constant, this is the first element.
#[derive(Debug)]
pub(super) struct Addresses<'a> {
    function: &'a Function,
    constants: BTreeMap<Register, i64>,
    parts: BTreeMap<Register, BTreeSet<Part>>,
}

impl<'a> Addresses<'a> {
    pub fn of(function: &'a Function) -> Self {
        let mut all = Addresses {
            function,
            constants: constants(function),
            parts: BTreeMap::new(),
        };
        loop {
            let mut changed = false;
            for i in &function.instructions {
                let new = all.result(i);
                for register in writes(i).into_iter().filter(|_| !new.is_empty()) {
                    let known = all.parts.entry(register).or_default();
                    let before = known.len();
                    for part in &new {
                        if known.len() < MOST {
                            known.insert(*part);
                        }
                    }
                    changed |= known.len() > before;
                }
            }
            if !changed {
                return all;
            }
        }
    }

    /// The parts at a base plus bytes.
    pub fn at(&self, base: Base, bytes: i64) -> BTreeSet<Part> {
        match base {
            Base::Register(register) => self.shifted(&self.held(register), bytes),
            Base::Variable(symbol) => self.shifted(&self.begin(symbol), bytes),
            Base::Absolute => BTreeSet::new(),
        }
    }

    /// The parts whose address an instruction computes.
    fn result(&self, i: &Instruction) -> BTreeSet<Part> {
        let operand = |at: usize| i.operands.get(at);
        let value = |at: usize| operand(at).map_or(BTreeSet::new(), |o| self.value(o));
        match i.opcode {
            Opcode::Mov | Opcode::Cvta => value(1),
            Opcode::Selp => &value(1) | &value(2),
            Opcode::Add => &self.sum(i, 1, 2, 1) | &self.sum(i, 2, 1, 1),
            Opcode::Sub => self.sum(i, 1, 2, -1),
            // The product is an index.
            Opcode::Mad => i.operands.last().map_or(BTreeSet::new(), |o| self.value(o)),
            _ => BTreeSet::new(),
        }
    }

    /// The parts at one operand plus the other one, times a sign.
    fn sum(&self, i: &Instruction, base: usize, index: usize, sign: i64) -> BTreeSet<Part> {
        let (Some(base), Some(index)) = (i.operands.get(base), i.operands.get(index)) else {
            return BTreeSet::new();
        };
        let from = self.value(base);
        let constant = match index {
            Operand::Immediate(Immediate::Integer(n)) => Some(*n),
            Operand::Register(register) => self.constants.get(register).copied(),
            _ => None,
        };
        // A loop that goes from element to element.
        let steps = i.operands.first() == Some(base);
        match constant {
            Some(n) if !steps => self.shifted(&from, n.wrapping_mul(sign)),
            _ => from,
        }
    }

    fn value(&self, operand: &Operand) -> BTreeSet<Part> {
        match operand {
            Operand::Register(register) => self.held(*register),
            Operand::Variable(symbol, bytes) => self.shifted(&self.begin(*symbol), *bytes),
            _ => BTreeSet::new(),
        }
    }

    fn held(&self, register: Register) -> BTreeSet<Part> {
        self.parts.get(&register).cloned().unwrap_or_default()
    }

    /// A parameter's first byte; nothing of another variable.
    fn begin(&self, symbol: Symbol) -> BTreeSet<Part> {
        match symbol {
            Symbol::Local(param) => {
                let is_param = self.function.params.contains(&Parameter::Variable(param));
                let first = is_param.then_some(Part { param, byte: 0 });
                first.into_iter().collect()
            }
            _ => BTreeSet::new(),
        }
    }

    fn shifted(&self, from: &BTreeSet<Part>, bytes: i64) -> BTreeSet<Part> {
        let shift = |part: &Part| {
            let byte = u32::try_from(i64::from(part.byte).checked_add(bytes)?).ok()?;
            let size = self.function.variables[part.param as usize].bytes;
            (u64::from(byte) < size).then_some(Part { byte, ..*part })
        };
        from.iter().filter_map(shift).collect()
    }
}

/// The registers that hold one integer.
fn constants(function: &Function) -> BTreeMap<Register, i64> {
    let mut found: BTreeMap<Register, Option<i64>> = BTreeMap::new();
    for i in &function.instructions {
        let value = match (i.opcode, i.guard, &i.operands[..]) {
            (Opcode::Mov, None, [_, Operand::Immediate(Immediate::Integer(n))]) => Some(*n),
            _ => None,
        };
        for register in writes(i) {
            let once = !found.contains_key(&register);
            found.insert(register, value.filter(|_| once));
        }
    }
    let known = found.into_iter();
    known.filter_map(|(r, value)| Some((r, value?))).collect()
}

/// The part of a parameter that `ld.param` reads into each register.
pub(super) fn loaded(i: &Instruction, addresses: &Addresses) -> Vec<(Register, Part)> {
    let (Some(Operand::Address(base, first)), Some(ty)) = (i.operands.get(1), i.types().last())
    else {
        return Vec::new();
    };
    // The address of a parameter is a generic one, too.
    let space = i.space();
    if i.opcode != Opcode::Ld || !matches!(space, None | Some(Space::Param | Space::ParamEntry)) {
        return Vec::new();
    }
    let from = addresses.at(*base, *first);
    let part = |(at, register): (usize, Register)| {
        let of = move |part: &Part| {
            let byte = part.byte + at as u32 * ty.bytes();
            (register, Part { byte, ..*part })
        };
        from.iter().map(of).collect::<Vec<_>>()
    };
    writes(i).into_iter().enumerate().flat_map(part).collect()
}
