//! Values that are only moved: from local memory into registers and from there into
//! memory again.
//!
//! A struct is copied with its padding and with members that nobody has set, and a
//! bit-field is written by a load, a mask and a store; code that is not optimised does
//! so everywhere. Such a load uses nothing that is not written.

use super::{Decoder, carried, handed};
use crate::ast::{Function, Instruction, Operand, Register};
use crate::exec::image::followed::{Followed, Unsure};
use crate::exec::image::{Moves, Part};
use crate::names::{Space, Type, Word};
use crate::opcodes::{Class, Opcode};
use crate::operands;
use std::collections::HashSet;

/// Instructions between a load and the store of what was made of it, at most.
const DEPTH: u32 = 8;

/// The registers of a function whose values are only moved.
#[derive(Debug, Default)]
pub struct Moved {
    /// Registers of loads some of whose bits become a part of what is stored.
    masked: HashSet<u32>,
    /// Registers that carry what no instruction may have written.
    unwritten: HashSet<u32>,
    /// Registers that nothing writes.
    never: Vec<bool>,
    /// Registers that nothing reads.
    unread: Vec<bool>,
}

impl Moved {
    /// Analyses a function with registers that may be read before they are written. Also
    /// returns the registers to follow: what they hold may be unwritten, and is carried
    /// from one to another.
    pub fn of(body: &Function, unsure: &[u32]) -> (Self, Vec<u32>) {
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
        let uses = Uses { body, readers };
        let loads = body.instructions.iter().filter(|i| is_load(i));
        let loaded: HashSet<Register> = loads.flat_map(operands::writes).collect();
        let (copied, others): (Vec<Register>, Vec<Register>) =
            loaded.into_iter().partition(|r| uses.is_copied(*r));
        let masked = others.into_iter().filter(|r| uses.is_masked(*r));
        let moved = Moved {
            masked: masked.map(|r| r.0).collect(),
            unwritten: carried::reached(body, unsure.iter().copied()),
            never,
            unread,
        };
        let copied = copied.iter().map(|r| r.0);
        let followed = carried::reached(body, copied.chain(unsure.iter().copied()));
        let mut followed: Vec<u32> = followed.into_iter().collect();
        followed.sort_unstable();
        (moved, followed)
    }

    /// The register that a shuffle hands on for a result that nothing reads, which is not
    /// looked at. Shuffles of structs, word by word, take padding along.
    fn ignored(&self, i: &Instruction) -> Option<Register> {
        let result = i.operands.first().and_then(|o| match o {
            Operand::Pair(both) => register_of(&both.0),
            one => register_of(one),
        });
        let unread = result.is_some_and(|r| self.unread[r.0 as usize]);
        let data = i.operands.get(1).and_then(register_of);
        data.filter(|_| unread && i.opcode == Opcode::Shfl)
    }

    /// Whether an instruction copies an object of a class without members, to a function
    /// or to local memory: a byte that nothing has written.
    fn stores_nothing(&self, i: &Instruction) -> bool {
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

struct Uses<'a> {
    body: &'a Function,
    /// The instructions that read each register.
    readers: Vec<Vec<u32>>,
}

impl Uses<'_> {
    fn of(&self, register: Register) -> impl Iterator<Item = &Instruction> {
        let all = self.readers[register.0 as usize].iter();
        all.map(|&at| &self.body.instructions[at as usize])
    }

    /// Whether it is carried to another register, or nothing but the data of stores.
    fn is_copied(&self, register: Register) -> bool {
        let carried = |i: &Instruction| carried::carries(i).iter().any(|c| c.from == register);
        self.of(register).any(carried) || self.of(register).all(|i| stores(i, register))
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
    /// Finds the registers of the current function to follow.
    pub(super) fn follow_moves(&mut self, unsure: &[u32]) {
        let body = self.body();
        let (moved, followed) = Moved::of(body, unsure);
        self.moved = moved;
        self.followed.clear();
        for register in followed {
            let number = self.image.followed.len() as u32;
            self.followed.insert(register, number);
            self.image.followed.push(Followed {
                name: body.registers[register as usize].name.clone(),
                is_copy: unsure.binary_search(&register).is_err(),
                by_registers: self.moved.unwritten.contains(&register),
            });
        }
    }

    /// Notes what an instruction does with registers that are followed.
    pub(super) fn note_unsure(&mut self, i: &Instruction, reads: &[Register], writes: &[Register]) {
        let number = |r: Register| self.followed.get(&r.0).copied();
        let guard = i.guard.and_then(|g| number(g.register));
        let shuffled = match (i.opcode, i.operands.get(1)) {
            (Opcode::Shfl, Some(Operand::Register(r))) if self.moved.ignored(i) != Some(*r) => {
                number(*r)
            }
            _ => None,
        };
        let looked_at = reads.iter().filter(|r| self.is_looked_at(i, **r));
        let looked_at = looked_at.filter_map(|r| Some((number(*r)?, carried::needed(i, *r))));
        let reads: Vec<(u32, u8)> = looked_at.filter(|r| Some(r.0) != shuffled).collect();
        let stored = operands::reads(i).into_iter().filter(|r| stores(i, *r));
        let stored: Vec<u32> = stored.filter_map(number).collect();
        let mut writes: Vec<u32> = writes.iter().filter_map(|r| number(*r)).collect();
        let carried = self.carried(i);
        writes.retain(|to| carried.iter().all(|c| c.to != *to));
        let lists = [reads.is_empty(), writes.is_empty(), stored.is_empty()];
        let any = lists.contains(&false) || !carried.is_empty() || shuffled.is_some();
        let at = any.then_some(self.image.unsure.len() as u32);
        self.image.unsure_at.push(at);
        if any {
            let adds = self.product_adds(i);
            self.image.unsure.push(Unsure {
                reads,
                adds,
                writes,
                guard,
                shuffled,
                stored,
                carried,
            });
        }
    }

    /// Whether an instruction uses a register for something else than to carry it on.
    fn is_looked_at(&self, i: &Instruction, register: Register) -> bool {
        if i.guard.is_some_and(|g| g.register == register) {
            return true;
        }
        let carries = || carried::carries(i).iter().any(|c| c.from == register);
        let chooses =
            i.opcode == Opcode::Selp && i.operands.last() == Some(&Operand::Register(register));
        if self.moved.ignored(i) == Some(register) || !chooses && carries() {
            return false;
        }
        if !stores(i, register) {
            return true;
        }
        // What a call passes is not followed into the function.
        i.space() == Some(Space::Param)
            && self.moved.unwritten.contains(&register.0)
            && !self.moved.stores_nothing(i)
            && !handed::is_handed_on(self.module, self.body(), i, register)
    }

    /// Notes which elements of a load or a store are only moved.
    pub(super) fn note_moves(&mut self, i: &Instruction) {
        let loads = i.opcode == Opcode::Ld;
        let data = match i.opcode {
            Opcode::Ld if is_load(i) => i.operands.first(),
            Opcode::St => i.operands.get(1),
            _ => None,
        };
        let part = |o: &Operand| {
            let register = register_of(o).filter(|r| loads || stores(i, *r))?;
            let masked = self
                .moved
                .masked
                .contains(&register.0)
                .then_some(Part::Masked);
            let number = self.followed.get(&register.0);
            number.map(|n| Part::Copied(*n)).or(masked)
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
            let signed = i.ty(0).is_some_and(Type::is_signed);
            self.image.moves.push(Moves {
                loads,
                signed,
                parts,
            });
        }
    }
}
