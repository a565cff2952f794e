//! Operands of decoded loads, stores, atomics and copies.

use super::element::Element;
use super::matrices::{GroupOp, Matrices};
use crate::exec::ordering::{Scope, Strength};
use crate::exec::registers::{From, Pair, Slot};
use crate::names::Space;
use crate::scalar::Scalar;
use crate::tensor::Pieces;
use std::ops::Range;

/// Bytes of a space that an access may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub space: Space,
    pub low: u64,
    /// Behind the last; `u64::MAX` for the end of the space.
    pub high: u64,
}

impl Region {
    /// The region of accesses of which nothing is known.
    pub const ANYWHERE: Region = Region {
        space: Space::Reg,
        low: 0,
        high: u64::MAX,
    };

    /// First byte and the one after the last in a space of `len` bytes.
    #[inline(always)]
    pub fn within(&self, space: Space, len: u64) -> (u64, u64) {
        if self.space == space {
            (self.low, self.high.min(len))
        } else {
            (0, len)
        }
    }
}

/// A load, store, atomic, or one side of a copy.
pub struct MemoryOp {
    /// Index of the access in the image, for what the machine remembers of it.
    pub index: u32,
    /// None for generic addresses.
    pub space: Option<Space>,
    pub from: From,
    pub offset: i64,
    /// The variables that the address is of, where that is known.
    pub region: Region,
    /// Bytes that one lane accesses in all.
    pub bytes: u32,
    pub transfer: Transfer,
    pub order: MemoryOrder,
}

/// The strength of an access, and the order that it makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryOrder {
    pub strength: Strength,
    pub scope: Scope,
    pub acquire: bool,
    pub release: bool,
    /// Nothing reads what it loads, so that it orders nothing.
    pub unread: bool,
    /// The bytes that it reads have to stay as they are (`ld.global.nc`).
    pub fixed: bool,
    /// The access is one, whatever registers its value is in (`.b128`).
    pub whole: bool,
    /// An atomic on two halves, each of which is an access of its own (`.f16x2`).
    pub halves: bool,
}

/// The transfer of an access's bytes.
pub enum Transfer {
    Load {
        element: Element,
        to: Vec<Slot>,
    },
    Store {
        element: Element,
        from: Vec<Slot>,
    },
    /// Elements of a vector one after the other, mostly one.
    Atomic(Vec<Update>),
    /// An atomic of 128 bits.
    AtomicPair(PairUpdate),
    /// Takes the value of the bytes away (`discard`).
    Discard,
    /// The side of an asynchronous copy that is read.
    CopySource,
    /// The side that is written.
    CopyTarget {
        /// The access that reads.
        source: u32,
        /// Number of bytes that each lane reads, where that is not all.
        size: Option<Slot>,
    },
    /// Rows of a matrix to registers of the lanes.
    LoadMatrix {
        to: Vec<Slot>,
        transposed: bool,
    },
    StoreMatrix {
        from: Vec<Slot>,
        transposed: bool,
    },
    /// A matrix of `wmma`, in pieces of 16 bytes at most: this access has those of one
    /// number to each lane.
    Fragment(Box<Moved>),
    /// The factors of a product of a warpgroup that are in shared memory, in
    /// pieces of 16 bytes: as many accesses as they take.
    Factors(Box<GroupOp>),
}

/// A matrix between memory and registers.
#[derive(Clone)]
pub struct Moved {
    pub store: bool,
    pub registers: Matrices,
    /// Registers that hold nothing.
    pub unused: Vec<Slot>,
    /// Rows and columns, and whether memory has it by columns.
    pub size: [u32; 2],
    pub by_columns: bool,
    /// Pieces that this access moves.
    pub pieces: Pieces,
    /// Accesses that move the matrix together.
    pub accesses: u32,
    /// Begin of the matrix, and the elements between its rows (columns).
    pub base: Slot,
    pub offset: i64,
    pub stride: Option<Slot>,
    /// Gets the addresses of the pieces.
    pub addresses: Slot,
}

impl Moved {
    /// Elements of a row in memory.
    pub fn long(&self) -> u32 {
        let [rows, columns] = self.size;
        if self.by_columns { rows } else { columns }
    }

    /// Bytes of a row in memory.
    pub fn long_bytes(&self) -> u32 {
        self.long() * self.registers.ty.bits() / 8
    }

    /// The lanes that have a piece.
    pub fn lanes(&self) -> u32 {
        u32::MAX >> (32 - self.pieces.places.len() as u32)
    }
}

/// An atomic operation.
pub struct Update {
    /// The new value, from the old one and the sources.
    pub compute: Scalar,
    pub sources: Vec<Slot>,
    /// Gets the old value, if somebody reads it.
    pub result: Option<Slot>,
    /// The new value does not depend on the old one.
    pub exchanges: bool,
}

/// An exchange of 128 bits.
#[derive(Clone, Copy)]
pub struct PairUpdate {
    /// The value that has to be there for the new one to be written.
    pub expected: Option<Pair>,
    pub new: Pair,
    /// Gets the old value.
    pub result: Option<Pair>,
}

impl MemoryOp {
    /// Whether an address is a multiple of the bytes that are accessed.
    pub fn is_aligned(&self, address: u64) -> bool {
        address.is_multiple_of(u64::from(self.bytes))
    }

    /// Whether an access at `address` goes beyond the addresses `within`. A GPU refuses a
    /// misaligned address that is one of them before it looks how far the access goes.
    pub fn is_outside(&self, address: u64, within: Range<u64>) -> bool {
        let end = address.checked_add(u64::from(self.bytes));
        let ends_behind = end.is_none_or(|end| end > within.end);
        !within.contains(&address) || self.is_aligned(address) && ends_behind
    }

    /// The bytes that are accessed at once, as far as the access is strong: an element of a
    /// vector.
    pub fn strong_bytes(&self) -> u32 {
        match &self.transfer {
            _ if self.order.whole => self.bytes,
            Transfer::Atomic(_) if self.order.halves => 2,
            Transfer::Load { element, .. } | Transfer::Store { element, .. } => element.bytes(),
            Transfer::Atomic(updates) => self.bytes / updates.len() as u32,
            _ => self.bytes,
        }
    }
}

impl Transfer {
    pub fn writes(&self) -> bool {
        use Transfer::{CopyTarget, Discard, Fragment, Store, StoreMatrix};
        matches!(self, Fragment(moved) if moved.store)
            || matches!(
                self,
                Store { .. } | CopyTarget { .. } | StoreMatrix { .. } | Discard
            )
            || self.is_atomic()
    }

    pub fn is_atomic(&self) -> bool {
        matches!(self, Transfer::Atomic(_) | Transfer::AtomicPair(_))
    }

    /// Whether it writes, and reads nothing there.
    pub fn only_writes(&self) -> bool {
        self.writes() && !self.is_atomic()
    }

    /// Whether it writes, and what is there does not matter: nobody reads the old value that
    /// it exchanges.
    pub fn replaces(&self) -> bool {
        let blind = |u: &Update| u.exchanges && u.result.is_none();
        match self {
            Transfer::Atomic(updates) => updates.iter().all(blind),
            Transfer::AtomicPair(u) => u.expected.is_none() && u.result.is_none(),
            _ => self.only_writes(),
        }
    }

    /// The lanes of a mask whose addresses it uses: of `ldmatrix` and `stmatrix` one for
    /// each row.
    pub fn addressed(&self, lanes: u32) -> u32 {
        use Transfer::{LoadMatrix, StoreMatrix};
        match self {
            LoadMatrix { to: registers, .. }
            | StoreMatrix {
                from: registers, ..
            } => lanes & (u32::MAX >> (32 - 8 * registers.len())),
            _ => lanes,
        }
    }

    /// Whether the warp accesses the places together, so that a lane's address does not
    /// say whose data is there: `ldmatrix`, `stmatrix`, `wmma`.
    pub fn is_joint(&self) -> bool {
        use Transfer::{Fragment, LoadMatrix, StoreMatrix};
        matches!(self, LoadMatrix { .. } | StoreMatrix { .. } | Fragment(_))
    }

    /// Whether it is the written side of an asynchronous copy.
    pub fn is_copy(&self) -> bool {
        matches!(self, Transfer::CopyTarget { .. })
    }
}
