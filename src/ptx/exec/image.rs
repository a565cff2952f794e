//! The decoded form of an entry with all functions that it calls.
//!
//! Registers of a warp lie in one file of bytes: a predicate is a mask of 4
//! bytes, any other register 32 lanes of 2, 4 or 8 bytes. Constants and
//! special registers are registers, too, filled when a warp starts. There is
//! no recursion, so that every function has its registers and local memory
//! at fixed places.

use super::api::InstructionInfo;
use super::machine::Machine;
use super::race::Strength;
use super::scalar::Scalar;
use crate::ptx::names::{Space, Special, Type, Word};
use crate::ptx::opcodes::Opcode;

/// Executes an instruction for the lanes of a mask.
pub(super) type Handler = unsafe fn(&mut Machine<'_>, &Op, u32);

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

/// Offset of the mask with all lanes in the register file.
pub(super) const TRUE: u32 = 0;

/// Generic addresses with these upper bits are in the space.
pub(super) const SHARED_WINDOW: u64 = 1 << 56;
pub(super) const LOCAL_WINDOW: u64 = 2 << 56;
pub(super) const PARAM_WINDOW: u64 = 3 << 56;
pub(super) const FUNCTION_WINDOW: u64 = 4 << 56;
pub(super) const WINDOW: u64 = 0xff << 56;

/// How the loop treats an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// Run the handler, go on.
    Straight,
    /// As straight, and look whether the run has to stop.
    Checked,
    /// To the instruction `a`; lanes meet again at `b`.
    Branch,
    /// To an instruction of table `extra` by register `a`; they meet at `b`.
    Indexed,
    /// The call number `extra`.
    Call,
    Return,
    Exit,
    /// The barrier number `extra`.
    Barrier,
    /// The handler needs the lanes of the mask in register `c`.
    Together,
    Trap,
}

/// A decoded instruction: offsets in the register file.
#[derive(Clone, Copy)]
pub(super) struct Op {
    pub run: Handler,
    pub d: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    /// Offset of the mask of the guard, and what it is xored with.
    pub guard: u32,
    pub flip: u32,
    /// Index in one of the tables, or a constant.
    pub extra: u32,
    pub control: Control,
}

/// Size of a register: log2 of its bytes a lane; predicates are masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Width {
    Mask,
    Half,
    Word,
    Double,
}

impl Width {
    /// Of registers of a type.
    pub fn of(ty: Type) -> Option<Width> {
        Some(match ty.bits() {
            1 => Width::Mask,
            8 | 16 => Width::Half,
            32 => Width::Word,
            64 => Width::Double,
            _ => return None,
        })
    }

    /// Bytes of the file that a register takes.
    pub fn bytes(self) -> u32 {
        match self {
            Width::Mask => 4,
            Width::Half => 64,
            Width::Word => 128,
            Width::Double => 256,
        }
    }
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub at: u32,
    pub width: Width,
    /// `!p`
    pub flip: bool,
}

/// An instruction that the scalar definitions compute.
pub(super) struct Generic {
    pub compute: Scalar,
    pub sources: Vec<Slot>,
    pub result: Slot,
    /// Second result, a mask.
    pub second: Option<Slot>,
}

/// Where an address comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Constant,
    Word(u32),
    Double(u32),
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

    /// First byte and the one behind the last in a space of `len` bytes.
    #[inline(always)]
    pub fn within(&self, space: Space, len: u64) -> (u64, u64) {
        match self.space == space {
            true => (self.low, self.high.min(len)),
            false => (0, len),
        }
    }
}

/// A load, store, atomic or copy.
pub(super) struct MemoryOp {
    /// Its own index, for what the machine remembers of it.
    pub index: u32,
    /// None for generic addresses.
    pub space: Option<Space>,
    pub from: From,
    pub offset: i64,
    /// The variables that the address is of, where that is known.
    pub region: Region,
    /// Bytes of an element, and of all of a lane.
    pub element: u32,
    pub bytes: u32,
    pub store: bool,
    pub atomic: bool,
    /// What it is to others at the same time, and whether it orders.
    pub strength: Strength,
    pub acquire: bool,
    pub release: bool,
    /// An asynchronous copy: the operation behind it in the table reads.
    pub copies: bool,
    /// Registers of the elements.
    pub data: Vec<Slot>,
    /// Of atomics: how the new value follows from the old.
    pub update: Option<Scalar>,
}

/// A value that a call passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    pub from: Place,
    pub to: Place,
    pub bytes: u32,
}

/// Where a passed value is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
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

/// A barrier of the block.
pub(super) struct BarrierOp {
    pub number: Slot,
    /// Threads, where the instruction says how many.
    pub count: Option<Slot>,
    pub arrive_only: bool,
    pub aligned: bool,
    /// Reduction: operator, predicate, result.
    pub reduction: Option<(Word, Slot, Slot)>,
}

/// An exchange inside the warp.
pub(super) struct WarpOp {
    pub opcode: Opcode,
    pub word: Option<Word>,
    pub ty: Type,
    pub sources: Vec<Slot>,
    pub result: Option<Slot>,
    pub second: Option<Slot>,
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

/// What an instruction does with registers that a thread may read before it has
/// written them.
#[derive(Clone, Debug, Default)]
pub(super) struct Unsure {
    /// Those that it reads, with their names.
    pub reads: Vec<(u32, String)>,
    /// Those that it writes.
    pub writes: Vec<u32>,
}

/// The decoded entry.
pub(super) struct Image {
    pub ops: Vec<Op>,
    pub infos: Vec<InstructionInfo>,
    /// `file:line` of each instruction, as index of `source_names`.
    pub sources: Vec<u32>,
    pub source_names: Vec<String>,
    pub generics: Vec<Generic>,
    pub memory: Vec<MemoryOp>,
    pub calls: Vec<CallOp>,
    pub barriers: Vec<BarrierOp>,
    pub exchanges: Vec<WarpOp>,
    pub tables: Vec<Vec<u32>>,
    /// Memory operation of each instruction, for observers.
    pub access: Vec<Option<u32>>,
    /// Of each instruction the entry of `unsure`, where it has one.
    pub unsure_at: Vec<Option<u32>>,
    pub unsure: Vec<Unsure>,
    pub unsure_registers: usize,
    pub register_bytes: u32,
    pub constants: Vec<(Slot, u64)>,
    pub specials: Vec<(Slot, Special)>,
    pub local_bytes: u32,
    /// Variables in local memory, and those that calls pass.
    pub locals: Vec<LocalVariable>,
    pub params: Vec<LocalVariable>,
    /// Bytes of the static shared variables; the dynamic ones follow.
    pub shared_bytes: u32,
    pub shared: Vec<SharedVariable>,
    pub param_bytes: u32,
    /// Whether blocks must run one after the other.
    pub ordered: bool,
}
