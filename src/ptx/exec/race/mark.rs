//! What is remembered of an access: when, where, by whom, and how it was made.

/// What an access is to others at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Atomics, relaxed accesses.
    Strong,
    /// Volatile loads that a loop repeats until they give what it waits for.
    Waiting,
    Volatile,
    #[default]
    Weak,
}

/// Who an access that is not weak is strong for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The block; clusters have one.
    Block,
    /// Other blocks, too.
    #[default]
    Wide,
}

/// An access of lanes of a warp to a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Its moment; 0 for none.
    pub seq: u32,
    pub pc: u32,
    pub lanes: u32,
    /// Of the block, or behind them an agent.
    pub warp: u8,
    pub how: How,
    /// A store of the value that was there.
    pub silent: bool,
    /// More accesses that count are in the list of the place.
    pub more: bool,
}

/// How an access is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct How {
    pub strength: Strength,
    pub scope: Scope,
    /// Bytes of an element.
    pub size: u8,
}

impl How {
    /// Whether two accesses may come in any order; `apart` of two blocks.
    pub fn agrees(self, other: How, apart: bool) -> bool {
        use Strength::{Volatile, Weak};
        let wide = self.scope == Scope::Wide && other.scope == Scope::Wide;
        match (self.strength, other.strength) {
            (Weak, _) | (_, Weak) => false,
            (Volatile, Volatile) => false,
            _ => self.size == other.size && (wide || !apart),
        }
    }

    /// Whether whatever agrees with this one agrees with the other.
    pub fn covers(self, other: How) -> bool {
        let wide = self.scope == Scope::Block || other.scope == Scope::Wide;
        let alike = self.size == other.size && wide;
        self.strength == Strength::Weak || alike && self.strength >= other.strength
    }
}
