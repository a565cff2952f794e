//! Instructions: opcode, modifiers, operands.

use super::{Register, Span, Symbol};
use crate::names::{Modifier, Selector, Space, Special, Type, Word};
use crate::opcodes::Opcode;

/// The predicate before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// A predicate register.
    pub register: Register,
    /// `@!p`
    pub negated: bool,
}

/// Modifiers in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Modifiers {
    items: [Modifier; Modifiers::LIMIT],
    len: u8,
}

impl Modifiers {
    /// A bound on the modifiers of an instruction: more than any form of an opcode
    /// has; a test compares.
    pub const LIMIT: usize = 15;

    /// No modifiers.
    pub const EMPTY: Modifiers = Modifiers {
        items: [Modifier::Word(Word::Other); Modifiers::LIMIT],
        len: 0,
    };

    /// Appends one; false if there is no room.
    pub fn push(&mut self, modifier: Modifier) -> bool {
        let room = usize::from(self.len) < Self::LIMIT;
        if room {
            self.items[usize::from(self.len)] = modifier;
            self.len += 1;
        }
        room
    }
}

impl std::ops::Deref for Modifiers {
    type Target = [Modifier];

    fn deref(&self) -> &[Modifier] {
        &self.items[..usize::from(self.len)]
    }
}

impl std::fmt::Debug for Modifiers {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.iter().try_for_each(|m| write!(f, ".{}", m.text()))
    }
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// First word of the instruction.
    pub opcode: Opcode,
    /// Further words, separated by dots.
    pub modifiers: Modifiers,
    /// `@p` before it.
    pub guard: Option<Guard>,
    /// Operands in the order of the text. Of a call always four: results as
    /// [`Operand::List`], function, arguments as list, and the prototype or
    /// list of targets, [`Operand::Discard`] if there is none.
    pub operands: Box<[Operand]>,
    /// Span from the guard to the `;`.
    pub span: Span,
    /// The `.loc` before it, as index of [`Function::locations`](super::Function::locations).
    pub location: Option<u32>,
}

impl Instruction {
    /// Whether it has the modifier `.word`.
    pub fn has(&self, word: Word) -> bool {
        self.modifiers.contains(&Modifier::Word(word))
    }

    /// Types of the instruction, in order.
    pub fn types(&self) -> impl Iterator<Item = Type> + '_ {
        self.modifiers.iter().filter_map(|m| match m {
            Modifier::Type(ty) => Some(*ty),
            _ => None,
        })
    }

    /// Type number `n` of the instruction, from 0.
    pub fn ty(&self, n: usize) -> Option<Type> {
        self.types().nth(n)
    }

    /// First state space of the instruction; none means generic addresses.
    pub fn space(&self) -> Option<Space> {
        self.modifiers.iter().find_map(|m| match m {
            Modifier::Space(space) => Some(*space),
            _ => None,
        })
    }

    /// The first modifier of `words` that it has.
    pub fn one_of(&self, words: &[Word]) -> Option<Word> {
        self.modifiers.iter().find_map(|m| match m {
            Modifier::Word(word) if words.contains(word) => Some(*word),
            _ => None,
        })
    }
}

/// A constant, as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    /// An integer, two's complement.
    Integer(i64),
    /// `0f3F800000`: bits of an f32.
    Single(u32),
    /// `0d3FF0000000000000` or `1.0`: bits of an f64.
    Double(u64),
}

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Register(Register),
    /// `!p`
    Negated(Register),
    /// `a.b0`, `a.h10`: parts of a register, in video instructions.
    Selected(Register, Selector),
    /// A constant.
    Immediate(Immediate),
    /// A special register.
    Special(Special),
    /// The address of a variable plus bytes; in a list of arguments the
    /// variable itself.
    Variable(Symbol, i64),
    /// `[base + offset]`
    Address(Base, i64),
    /// `{a, b}`
    Vector(Box<[Operand]>),
    /// `d|p`: a value and a predicate, or two predicates.
    Pair(Box<(Operand, Operand)>),
    /// A label.
    Label(u32),
    /// The address of a function.
    Function(u32),
    /// `_`
    Discard,
    /// `(a, b)` of a call.
    List(Box<[Operand]>),
    /// `[texture, {x, y}]`, `[texture, sampler, {x, y}]`: what the brackets
    /// have, in order; lists are [`Operand::Vector`]s.
    Indexed(Box<[Operand]>),
    /// An operand that no supported instruction has.
    Other,
}

/// The start of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A register.
    Register(Register),
    /// A variable.
    Variable(Symbol),
    /// Nothing: the offset is the address.
    Absolute,
}
