//! The decoded form of an entry with all functions that it calls.
//!
//! There is no recursion, so that every function has its registers and local
//! memory at fixed places.
//!
//! `form` has one variant for each form of instruction; `asynchronous` and
//! `matrices` what such instructions name, `element` how values lie in memory, `followed`
//! what becomes of registers that nobody may have written.

pub(super) mod asynchronous;
pub(super) mod element;
pub(super) mod followed;
pub(super) mod form;
pub(super) mod matrices;

use super::api::InstructionInfo;
use super::race::mark::Scope;
use super::race::{Strength, Uses};
pub(super) use super::registers::From;
use super::registers::{Pair, Slot};
use super::texture::TextureOp;
use crate::ast::Modifiers;
use crate::names::{Space, Special, Type, Word};
use crate::opcodes::Opcode;
use crate::scalar::Scalar;
use crate::tensor::Pieces;
pub(super) use asynchronous::{
    Action, BulkEnd, BulkOp, Change, MapMove, MapOp, MapReplace, SharedPlace, TensorCopy,
    TensorMove, Wait,
};
use element::Element;
use followed::{Followed, Unsure};
use form::Op;
use matrices::{GroupOp, Matrices, TensorOp};

/// No reconvergence before the function ends.
pub(super) const NEVER: u32 = u32::MAX;

/// The offset of a generic address from the start of a window that it is in
/// or near: pointers may have gone below their variable.
pub(super) fn offset_in(window: u64, address: u64) -> Option<u64> {
    let offset = address.wrapping_sub(window);
    (offset.wrapping_add(1 << 40) < 1 << 41).then_some(offset)
}

/// An offset in shared or local memory as a number with a sign: of 32 bits,
/// of 64, or of a generic address.
pub(super) fn signed(offset: u64) -> i64 {
    match offset {
        0x8000_0000..=0xffff_ffff => i64::from(offset as u32 as i32),
        _ => ((offset << 8) as i64) >> 8,
    }
}

/// Generic addresses with these upper bits are in the space.
pub(super) const SHARED_WINDOW: u64 = 1 << 56;
pub(super) const LOCAL_WINDOW: u64 = 2 << 56;
pub(super) const PARAM_WINDOW: u64 = 3 << 56;
pub(super) const FUNCTION_WINDOW: u64 = 4 << 56;
/// Handles of textures, surfaces and samplers.
pub(super) const TEXTURE_WINDOW: u64 = 0x70 << 56;
pub(super) const WINDOW: u64 = 0xff << 56;

/// An instruction that the scalar definitions compute.
pub(super) struct Generic {
    pub compute: Scalar,
    pub sources: Vec<Slot>,
    pub result: Slot,
    /// Second result, a mask.
    pub second: Option<Slot>,
}

/// Bytes of a space that an access may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub space: Space,
    pub low: u64,
    /// Behind the last; `u64::MAX` for the end of the space.
    pub high: u64,
}

impl Region {
    /// Of accesses of which nothing is known.
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
pub(super) struct MemoryOp {
    /// Its own index, for what the machine remembers of it.
    pub index: u32,
    /// None for generic addresses.
    pub space: Option<Space>,
    pub from: From,
    pub offset: i64,
    /// The variables that the address is of, where that is known.
    pub region: Region,
    /// Of all of a lane.
    pub bytes: u32,
    pub transfer: Transfer,
    pub order: MemoryOrder,
}

/// What an access is to others at the same time, and whether it orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemoryOrder {
    pub strength: Strength,
    pub scope: Scope,
    pub acquire: bool,
    pub release: bool,
    /// What it reads has to stay as it is (`ld.global.nc`).
    pub fixed: bool,
    /// It is one access, whatever registers its value is in (`.b128`).
    pub whole: bool,
    /// An atomic on two halves, each of which is an access of its own (`.f16x2`).
    pub halves: bool,
}

/// What an access does with its bytes.
pub(super) enum Transfer {
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
    /// Of 128 bits.
    AtomicPair(PairUpdate),
    /// What is there has no value any more (`discard`).
    Discard,
    /// The side of an asynchronous copy that is read.
    CopySource,
    /// The side that is written.
    CopyTarget {
        /// The access that reads.
        source: u32,
        /// How many bytes each lane reads, where that is not all.
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
pub(super) struct Moved {
    pub store: bool,
    pub registers: Matrices,
    /// Registers that hold nothing.
    pub unused: Vec<Slot>,
    /// Rows and columns, and whether memory has it by columns.
    pub size: [u32; 2],
    pub by_columns: bool,
    /// What this access moves.
    pub pieces: Pieces,
    /// Accesses that move the matrix together.
    pub accesses: u32,
    /// Where the matrix begins, and the elements between its rows (columns).
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
pub(super) struct Update {
    /// The new value, from the old one and the sources.
    pub compute: Scalar,
    pub sources: Vec<Slot>,
    /// Gets the old value, if somebody reads it.
    pub result: Option<Slot>,
}

/// An exchange of 128 bits.
#[derive(Clone, Copy)]
pub(super) struct PairUpdate {
    /// What has to be there for the new value to be written.
    pub expected: Option<Pair>,
    pub new: Pair,
    /// Gets the old value.
    pub result: Option<Pair>,
}

impl Image {
    /// Whether an instruction may access something smaller than a word of shared memory.
    pub fn has_shared_bytes(&self) -> bool {
        let shared = |space| matches!(space, None | Some(Space::Shared));
        let mut all = self.memory.iter();
        all.any(|info| shared(info.space) && !info.bytes.is_multiple_of(4))
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

/// `mov` between a register and its parts: the sources one after the other,
/// cut into the results.
pub(super) struct Repack {
    /// Bits of a part.
    pub part: u32,
    pub sources: Vec<Slot>,
    pub results: Vec<Slot>,
}

/// `mov` of a vector: each source into the result at its place.
#[derive(Default)]
pub(super) struct ElementMoves {
    pub sources: Vec<Slot>,
    pub results: Vec<Slot>,
}

/// A call of a function of the system.
pub(super) struct SystemCall {
    pub arguments: Vec<ValuePlace>,
    pub results: Vec<ValuePlace>,
}

/// A value that a call passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    pub from: ValuePlace,
    pub to: ValuePlace,
    pub bytes: u32,
}

/// Where a passed value is.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValuePlace {
    Slot(Slot),
    /// Offset in the local memory of the lane.
    Local(u32),
}

/// A function that a call may reach.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    pub function: u32,
    pub pc: u32,
    pub arguments: Vec<Passed>,
    pub returns: Vec<Passed>,
}

/// A call.
pub(super) struct CallOp {
    /// Register with the address, for calls through pointers.
    pub pointer: Option<Slot>,
    pub callees: Vec<Callee>,
}

/// Whether an arrival at the barrier of the cluster releases (and a wait
/// acquires).
pub(super) type Releases = bool;

/// A barrier of the block, or of the cluster.
pub(super) struct BarrierOp {
    pub number: Slot,
    /// Threads, where the instruction says how many.
    pub count: Option<Slot>,
    pub arrive_only: bool,
    pub aligned: bool,
    /// The one of the cluster, and whether what came before the arrival is
    /// visible after the wait.
    pub cluster: Option<Releases>,
    /// Reduction: operator, predicate, result.
    pub reduction: Option<(Word, Slot, Slot)>,
}

/// An exchange inside the warp.
pub(super) struct WarpOp {
    pub opcode: Opcode,
    /// All that the instruction says of itself: lanes execute it together where that is
    /// the same.
    pub qualifiers: Modifiers,
    pub word: Option<Word>,
    pub ty: Type,
    pub sources: Vec<Slot>,
    pub result: Slot,
    pub second: Option<Slot>,
    /// Two values to one, of reductions of floating-point numbers.
    pub combine: Option<Scalar>,
}

/// A variable of shared memory, for messages.
#[derive(Clone, Debug)]
pub(super) struct SharedVariable {
    pub name: String,
    pub offset: u32,
    pub bytes: u32,
}

/// A variable of local memory, or a parameter.
#[derive(Clone, Debug)]
pub(super) struct LocalVariable {
    pub name: String,
    pub offset: u32,
    pub bytes: u32,
    /// Declared in `.local`: nobody but the function writes it.
    pub own: bool,
}

/// What an instruction is to a loop that only waits for something that other
/// threads write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Spin {
    #[default]
    No,
    /// It is in one.
    Inside,
    /// It is the branch back to its begin.
    Again,
}

/// What becomes of an element that a load brings, where it is only moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It is in a register that is followed, by its number among those.
    Copied(u32),
    /// Some of its bits become a part of what is stored.
    Masked,
    /// The byte of an object without members, which no load brings: what is stored has
    /// no value.
    Nothing,
}

/// The elements of a load or a store that are only moved.
#[derive(Clone, Debug)]
pub(super) struct Moves {
    pub loads: bool,
    /// The elements have signs.
    pub signed: bool,
    pub parts: Vec<Option<Part>>,
}

/// The decoded entry.
#[derive(Default)]
pub(super) struct Image {
    /// Whether loads and stores may use vector instructions.
    pub vector: bool,
    pub ops: Vec<Op>,
    pub infos: Vec<InstructionInfo>,
    /// `file:line` of each instruction, as index of `source_names`.
    pub sources: Vec<u32>,
    pub source_names: Vec<String>,
    pub generics: Vec<Generic>,
    pub repacks: Vec<Repack>,
    pub element_moves: Vec<ElementMoves>,
    /// Moves of 128 bits: to, from.
    pub pairs: Vec<[Pair; 2]>,
    pub memory: Vec<MemoryOp>,
    pub calls: Vec<CallOp>,
    pub system_calls: Vec<SystemCall>,
    pub barriers: Vec<BarrierOp>,
    pub exchanges: Vec<WarpOp>,
    pub textures: Vec<TextureOp>,
    pub changes: Vec<Change>,
    pub waits: Vec<Wait>,
    pub bulks: Vec<BulkOp>,
    pub maps: Vec<MapOp>,
    pub tensors: Vec<TensorOp>,
    pub tables: Vec<Vec<u32>>,
    /// What each instruction is to loops that wait.
    pub spins: Vec<Spin>,
    /// Loads and atomics whose value decides how long a loop goes on.
    pub awaited: Vec<bool>,
    /// The registers that loops write which wait.
    pub spun: Vec<Slot>,
    /// Of each instruction whether all lanes of a warp execute it together.
    pub aligned: Vec<bool>,
    /// Whether it has volatile accesses.
    pub volatile: bool,
    /// Memory operation of each instruction, for observers.
    pub access: Vec<Option<u32>>,
    /// Of each instruction the entry of `unsure`, where it has one.
    pub unsure_at: Vec<Option<u32>>,
    pub unsure: Vec<Unsure>,
    /// The registers that are followed.
    pub followed: Vec<Followed>,
    /// Of each instruction the entry of `moves`, where it has one.
    pub moves_at: Vec<Option<u32>>,
    pub moves: Vec<Moves>,
    /// Of each instruction up to the last one that has some, the entry of
    /// `accumulator_uses`.
    pub accumulators_at: Vec<Option<u32>>,
    pub accumulator_uses: Vec<Uses>,
    /// Registers that are the accumulator of a product of a warpgroup.
    pub accumulators: u32,
    pub register_bytes: u32,
    pub constants: Vec<(Slot, u64)>,
    pub specials: Vec<(Slot, Special)>,
    pub local_bytes: u32,
    /// Variables in local memory, and those that calls pass.
    pub locals: Vec<LocalVariable>,
    pub params: Vec<LocalVariable>,
    /// Bytes of the static shared variables; the dynamic ones follow.
    pub shared_bytes: u32,
    /// Those of them, at the begin, that CUDA keeps for itself.
    pub reserved_shared: u32,
    pub shared: Vec<SharedVariable>,
    pub param_bytes: u32,
    /// Whether it calls `malloc` or `free`.
    pub allocates: bool,
    /// Blocks of a cluster, where the entry says so.
    pub cluster: Option<[u32; 3]>,
    /// The block that a launch has to have (`.reqntid`), and its most threads
    /// (`.maxntid`), where the entry says so.
    pub block: Option<[u32; 3]>,
    pub most_threads: Option<u32>,
    /// Whether blocks must run one after the other.
    pub ordered: bool,
}
