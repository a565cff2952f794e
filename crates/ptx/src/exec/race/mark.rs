//! Marks: what is remembered of an access, which is when, where, by whom, and how it was
//! made.

use crate::exec::ordering::{Scope, Strength};

/// An access of lanes of a warp to a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The moment of the access; 0 if there is none.
    pub moment: u32,
    pub pc: u32,
    pub lanes: u32,
    /// The value that a store writes, the place's first byte lowest.
    pub value: u32,
    /// Number of the warp in the block; from [`AGENTS`](super::AGENTS) on, of an agent.
    pub warp: u8,
    pub how: How,
    /// The bytes of the place that had the value of a store before, as bits.
    pub silent: u8,
    /// All lanes of the store write this `value`; else the value is not known.
    pub known: bool,
    /// The lanes store together what each of them has a part of, so that none of them made
    /// the store alone.
    pub joint: bool,
    /// More accesses that count are in the list of the place.
    pub more: bool,
    /// An earlier store of the same lanes counts for its value.
    pub older: bool,
    /// A store that is remembered for its value alone.
    pub kept: bool,
}

/// The manner of an access, as far as it decides with which others it may be concurrent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct How {
    pub strength: Strength,
    pub scope: Scope,
    /// Bytes of an element.
    pub size: u8,
    /// An atomic whose result nobody reads: what its thread does next does not depend on
    /// what it has observed.
    pub blind: bool,
}

impl How {
    /// Whether two accesses may come in any order; `between` is the narrowest scope
    /// that has both threads.
    pub fn agrees(self, other: How, between: Scope) -> bool {
        use Strength::{Volatile, Weak};
        let scoped = self.scope >= between && other.scope >= between;
        match (self.strength, other.strength) {
            (Weak, _) | (_, Weak) => false,
            (Volatile, Volatile) => false,
            _ => self.size == other.size && scoped,
        }
    }

    /// Whether two accesses only conflict because the scope of one does not have the other
    /// thread.
    pub fn is_too_narrow(self, other: How, between: Scope) -> bool {
        let wide = |how: How| How {
            scope: Scope::Wide,
            ..how
        };
        !self.agrees(other, between) && wide(self).agrees(wide(other), between)
    }

    /// Whether two accesses need no fences to be ordered.
    pub fn is_loose_with(self, other: How) -> bool {
        self.strength == Strength::Volatile && other.strength == Strength::Volatile
    }

    /// Whether whatever agrees with this one agrees with the other.
    pub fn covers(self, other: How) -> bool {
        let alike = self.size == other.size && self.scope <= other.scope;
        let alike = alike && self.blind <= other.blind;
        self.strength == Strength::Weak || alike && self.strength >= other.strength
    }
}
