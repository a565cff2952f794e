//! Values that are only moved: from local memory into registers and from there into
//! memory again.
//!
//! A struct is copied with its padding and with members that nobody has set, and a
//! bit-field is written by a load, a mask and a store; code that is not optimised does
//! so everywhere. Such a load uses nothing that is not written.

use super::Decoder;
use crate::ast::{Function, Immediate, Instruction, Operand, Register};
use crate::exec::image::{Moves, Part};
use crate::names::{Space, Word};
use crate::opcodes::{Class, Opcode};
use crate::operands;
use std::collections::HashMap;

/// Instructions between a load and the store of what was made of it, at most.
const DEPTH: u32 = 8;

/// The loads of a function whose values are only moved, by register.
#[derive(Debug, Default)]
pub struct Moved {
    parts: HashMap<u32, Part>,
    /// Registers that nothing writes.
    never: Vec<bool>,
    /// Registers that nothing reads.
    unread: Vec<bool>,
    /// Of registers that are joined from others, the bits that are looked at.
    wanted: HashMap<u32, u64>,
}

impl Moved {
    /// Of a function; copied registers get numbers from `next` on.
    pub fn of(body: &Function, next: &mut u32) -> Self {
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); body.registers.len()];
        let mut writers = vec![0u32; body.registers.len()];
        for (at, i) in (0..).zip(&body.instructions) {
            operands::visit(i, |register, written| {
                if written {
                    writers[register.0 as usize] += 1;
                } else {
                    readers[register.0 as usize].push(at);
                }
            });
        }
        let never = writers.iter().map(|&n| n == 0).collect();
        let unread = readers.iter().map(Vec::is_empty).collect();
        let uses = Uses {
            body,
            readers,
            writers,
        };
        let mut parts = HashMap::new();
        for (at, i) in (0..).zip(&body.instructions).filter(|(_, i)| is_load(i)) {
            for register in operands::writes(i) {
                if uses.writers[register.0 as usize] != 1 {
                    continue;
                }
                if let Some(copies) = uses.copies(register, at, DEPTH) {
                    parts.extend(copies.iter().map(|r| (r.0, Part::Copied(*next))));
                    *next += 1;
                } else if uses.is_masked(register) {
                    parts.insert(register.0, Part::Masked);
                }
            }
        }
        let joined = body.instructions.iter().filter_map(joins);
        let wanted = joined.map(|(result, _)| (result.0, uses.wanted(result)));
        Moved {
            parts,
            never,
            unread,
            wanted: wanted.collect(),
        }
    }

    /// Registers that an instruction names among its sources and does not look at: what a
    /// shuffle hands on for a result that nothing reads, and parts of a result of which
    /// all readers mask other bits. Shuffles of structs, word by word, take padding along.
    pub fn ignored(&self, i: &Instruction) -> Vec<Register> {
        if i.opcode == Opcode::Shfl {
            let result = i.operands.first().and_then(|o| match o {
                Operand::Pair(both) => register_of(&both.0),
                one => register_of(one),
            });
            let unread = result.is_some_and(|r| self.unread[r.0 as usize]);
            let data = i.operands.get(1).and_then(register_of);
            return data.filter(|_| unread).into_iter().collect();
        }
        let Some((result, items)) = joins(i) else {
            return Vec::new();
        };
        let wanted = self.wanted.get(&result.0).copied().unwrap_or(u64::MAX);
        let bits = i.ty(0).map_or(64, |ty| ty.bits()) as usize / items.len();
        let mask = u64::MAX >> (64 - bits);
        let (looked_at, others): (Vec<_>, Vec<_>) = (0..)
            .zip(items)
            .partition(|(n, _)| wanted & mask << (n * bits) != 0);
        let others = others.iter().map(|(_, o)| *o);
        let others = others.filter(|o| looked_at.iter().all(|(_, other)| other != o));
        others.filter_map(register_of).collect()
    }

    /// Whether an instruction copies an object of a class without members, to a function
    /// or to local memory: a byte that nothing has written.
    pub fn stores_nothing(&self, i: &Instruction) -> bool {
        let byte = i.ty(0).is_some_and(|ty| ty.bits() == 8);
        let data = match i.operands.get(1) {
            Some(Operand::Register(register)) => self.never[register.0 as usize],
            _ => false,
        };
        let own = matches!(i.space(), None | Some(Space::Local | Space::Param));
        i.opcode == Opcode::St && own && byte && data
    }
}

/// Whether it may load from local memory.
fn is_load(i: &Instruction) -> bool {
    i.opcode == Opcode::Ld && matches!(i.space(), None | Some(Space::Local))
}

fn register_of(o: &Operand) -> Option<Register> {
    match o {
        Operand::Register(register) => Some(*register),
        _ => None,
    }
}

/// The result and the parts of a move that joins registers, up to 64 bits.
fn joins(i: &Instruction) -> Option<(Register, &[Operand])> {
    match (i.opcode, &i.operands[..]) {
        (Opcode::Mov, [Operand::Register(result), Operand::Vector(items)])
            if i.ty(0).is_some_and(|ty| ty.bits() <= 64) =>
        {
            Some((*result, items))
        }
        _ => None,
    }
}

struct Uses<'a> {
    body: &'a Function,
    /// The instructions that read each register.
    readers: Vec<Vec<u32>>,
    /// How many write it.
    writers: Vec<u32>,
}

impl Uses<'_> {
    fn of(&self, register: Register) -> impl Iterator<Item = &Instruction> {
        let all = self.readers[register.0 as usize].iter();
        all.map(|&at| &self.body.instructions[at as usize])
    }

    /// The registers that hold what an instruction brings into one, if these are nothing
    /// but the data of stores: it, and those that it is moved to, later in the text.
    fn copies(&self, register: Register, from: u32, depth: u32) -> Option<Vec<Register>> {
        let mut all = vec![register];
        for &at in &self.readers[register.0 as usize] {
            let i = &self.body.instructions[at as usize];
            match (i.opcode, &i.operands[..]) {
                _ if stores(i, register) => {}
                (Opcode::Mov, [Operand::Register(to), Operand::Register(_)])
                    if depth > 0
                        && at > from
                        && i.guard.is_none()
                        && self.writers[to.0 as usize] == 1 =>
                {
                    all.extend(self.copies(*to, at, depth - 1)?);
                }
                _ => return None,
            }
        }
        Some(all)
    }

    /// The bits of a register that are looked at, as far as masks say.
    fn wanted(&self, register: Register) -> u64 {
        let of = |i: &Instruction| match (i.opcode, &i.operands[..]) {
            (
                Opcode::And,
                [
                    _,
                    Operand::Register(_),
                    Operand::Immediate(Immediate::Integer(mask)),
                ],
            ) if i.guard.is_none_or(|g| g.register != register) => *mask as u64,
            _ => u64::MAX,
        };
        self.of(register).fold(0, |all, i| all | of(i))
    }

    /// Whether some bits of it, and no others, become a part of what is stored.
    fn is_masked(&self, register: Register) -> bool {
        self.of(register).all(|i| {
            let masks = i.opcode == Opcode::And
                && matches!(i.operands.last(), Some(Operand::Immediate(_)))
                && i.guard.is_none_or(|g| g.register != register);
            stores(i, register) || masks && self.is_part(i, DEPTH)
        })
    }

    /// Whether the result of an instruction is only stored, or becomes a part of what is.
    fn is_part(&self, i: &Instruction, depth: u32) -> bool {
        let Some(Operand::Register(result)) = i.operands.first() else {
            return false;
        };
        let whole = |i: &Instruction| {
            let joins = matches!(i.opcode, Opcode::Or | Opcode::And | Opcode::Mov);
            let converts = i.opcode.class() == Class::Convert;
            let guards = i.guard.is_some_and(|g| g.register == *result);
            depth > 0 && (joins || converts) && !guards && self.is_part(i, depth - 1)
        };
        self.of(*result).all(|i| stores(i, *result) || whole(i))
    }
}

/// Whether a register is the data of a store that may be to local memory, and nothing else
/// there.
fn stores(i: &Instruction, register: Register) -> bool {
    let is = |o: &Operand| *o == Operand::Register(register);
    let data = match i.operands.get(1) {
        Some(Operand::Vector(items)) => items.iter().any(is),
        Some(one) => is(one),
        None => false,
    };
    let address = matches!(i.operands.first(), Some(Operand::Address(base, _))
        if *base == crate::ast::Base::Register(register));
    let guards = i.guard.is_some_and(|g| g.register == register);
    let local = matches!(i.space(), None | Some(Space::Local | Space::Param));
    i.opcode == Opcode::St && local && !i.has(Word::Async) && data && !address && !guards
}

impl Decoder<'_> {
    /// Notes which elements of a load or a store are only moved.
    pub(super) fn note_moves(&mut self, i: &Instruction) {
        let data = match i.opcode {
            Opcode::Ld if is_load(i) => i.operands.first(),
            Opcode::St => i.operands.get(1),
            _ => None,
        };
        let part = |o: &Operand| match o {
            Operand::Register(register) => self.moved.parts.get(&register.0).copied(),
            _ => None,
        };
        let parts: Vec<Option<Part>> = match data {
            _ if self.moved.stores_nothing(i) => vec![Some(Part::Nothing)],
            Some(Operand::Vector(items)) => items.iter().map(part).collect(),
            Some(one) => vec![part(one)],
            None => Vec::new(),
        };
        let any = parts.iter().any(Option::is_some);
        let at = any.then_some(self.image.moves.len() as u32);
        self.image.moves_at.push(at);
        if any {
            let loads = i.opcode == Opcode::Ld;
            self.image.moves.push(Moves { loads, parts });
        }
    }
}
