//! Registers that may hold what nobody has written, and what instructions do with them.

use crate::exec::registers::{Mask, Slot};

/// A register that may hold what nobody has written.
#[derive(Clone, Debug)]
pub struct Followed {
    pub name: String,
    /// An instruction always writes it before it is read: what may be unwritten is what
    /// was copied there.
    pub is_copy: bool,
    /// Whether a register may be unwritten, and not only local memory.
    pub by_registers: bool,
}

/// The uses of followed registers by an instruction, by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Unsure {
    /// Followed registers that the instruction reads, and which of their bytes, as bits.
    pub reads: Vec<(u32, u8)>,
    /// In a product, the predicate without which it reads none of the registers that it
    /// writes.
    pub adds: Option<Slot>,
    /// Followed registers that it writes.
    pub writes: Vec<u32>,
    /// The followed register that is its guard.
    pub guard: Option<u32>,
    /// The register that a shuffle hands from lane to lane: only some lanes' registers are
    /// read.
    pub shuffled: Option<u32>,
    /// Followed registers that it stores as they are.
    pub stored: Vec<u32>,
    /// Bytes that it carries from register to register.
    pub carried: Vec<Carried>,
}

/// The bytes that come into a register as they were in others.
#[derive(Clone, Debug)]
pub struct Carried {
    pub to: u32,
    pub parts: Vec<CarriedPart>,
}

/// Bytes of one of these others.
#[derive(Clone, Copy, Debug)]
pub struct CarriedPart {
    pub from: u32,
    /// The bytes of `from`, as bits.
    pub keep: u8,
    /// Number of bytes by which they go up; less than zero: down.
    pub up: i8,
    /// The highest of them goes into all above it.
    pub spreads: bool,
    /// The lanes that take them.
    pub when: Mask,
}
