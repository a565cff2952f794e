//! The decoded form of an entry with all functions that it calls.
//!
//! There is no recursion, so that every function has its registers and local
//! memory at fixed places.
//!
//! `form` has one variant for each form of instruction; `access`, `asynchronous`
//! and `matrices` what such instructions name, `element` how values lie in memory, `followed`
//! what becomes of registers that nobody may have written.

mod access;
pub(super) mod asynchronous;
pub(super) mod element;
pub(super) mod followed;
pub(super) mod form;
pub(super) mod matrices;
mod reach;

use super::api::InstructionInfo;
pub(super) use super::registers::From;
use super::registers::{Pair, Slot};
use super::texture::TextureOp;
use crate::ast::Modifiers;
use crate::exec::ordering::Uses;
use crate::names::{Space, Special, Type, Word};
use crate::opcodes::Opcode;
use crate::scalar::Scalar;
pub(super) use access::{MemoryOp, MemoryOrder, Moved, PairUpdate, Region, Transfer, Update};
pub(super) use asynchronous::{
    Action, BulkEnd, BulkOp, Change, MapMove, MapOp, MapReplace, SharedPlace, TensorCopy,
    TensorMove, Wait,
};
use followed::{Followed, Unsure};
use form::Op;
use matrices::TensorOp;

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

impl Image {
    /// Whether an instruction may access something smaller than a word of shared memory.
    pub fn has_shared_bytes(&self) -> bool {
        let shared = |space| matches!(space, None | Some(Space::Shared));
        let mut all = self.memory.iter();
        all.any(|info| shared(info.space) && !info.bytes.is_multiple_of(4))
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

/// The place of a passed value.
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
    /// Modifiers of the instruction: lanes execute it together where they are the same.
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

/// The part of an instruction in a loop that only waits for something that other threads
/// write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Spin {
    #[default]
    No,
    /// The instruction is in such a loop.
    Inside,
    /// The instruction is the branch back to the begin of such a loop.
    Again,
}

/// The use of an element that a load brings, where it is only moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The element is in a followed register of this number.
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
    /// Meetings that branches may lead past, with their depth and the sides that do not
    /// come there.
    pub past: Vec<Vec<form::Overtaken>>,
    /// By instruction, its part in loops that wait.
    pub spins: Vec<Spin>,
    /// Loads and atomics whose value decides how long a loop goes on.
    pub awaited: Vec<bool>,
    /// The registers that loops write which wait.
    pub spun: Vec<Slot>,
    /// By instruction, whether all lanes of a warp execute it together.
    pub aligned: Vec<bool>,
    /// Whether it has volatile accesses.
    pub volatile: bool,
    /// Memory operation of each instruction, for observers.
    pub access: Vec<Option<u32>>,
    /// By instruction, its entry of `unsure`, if it has one.
    pub unsure_at: Vec<Option<u32>>,
    pub unsure: Vec<Unsure>,
    /// The registers that are followed.
    pub followed: Vec<Followed>,
    /// By instruction, its entry of `moves`, if it has one.
    pub moves_at: Vec<Option<u32>>,
    pub moves: Vec<Moves>,
    /// By instruction, up to the last one that has an entry of `accumulator_uses`, that
    /// entry.
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
    /// Bytes of static shared memory, at its begin, that CUDA keeps for itself.
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
