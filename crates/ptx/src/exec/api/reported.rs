//! Events of asynchronous instructions, for observers.

use crate::tensor::Swizzle;

/// An operation on an `mbarrier` object. The position in [`BarrierOp::ALL`] is its
/// number in recorded traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierOp {
    /// Initialises it: the number is of arrivals in a phase.
    Init,
    /// Invalidates it.
    Invalidate,
    /// Expects this many bytes more.
    Expect,
    /// Completes this many bytes.
    Complete,
    /// Arrives this many times.
    Arrive,
    /// Arrives once, and expects this many bytes first.
    ArriveExpect,
    /// Arrives this many times, for this phase and all later ones.
    Drop,
    /// As `Drop`, once, and expects this many bytes first.
    DropExpect,
    /// Arrives when the `cp.async` copies so far have come.
    CopiesArrive,
    /// As `CopiesArrive`, with one arrival beyond those the object was initialised for.
    CopiesJoin,
    /// Waits until the phase of that number, counted from 0, is complete.
    Wait,
    /// This many bytes of an `st.async` or `red.async` are on their way to it.
    Sent,
}

impl BarrierOp {
    /// Every operation, in the order of its number in traces.
    pub const ALL: [BarrierOp; 12] = [
        BarrierOp::Init,
        BarrierOp::Invalidate,
        BarrierOp::Expect,
        BarrierOp::Complete,
        BarrierOp::Arrive,
        BarrierOp::ArriveExpect,
        BarrierOp::Drop,
        BarrierOp::DropExpect,
        BarrierOp::CopiesArrive,
        BarrierOp::CopiesJoin,
        BarrierOp::Wait,
        BarrierOp::Sent,
    ];
}

/// The operation of one lane on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierLane {
    /// The lane.
    pub lane: u32,
    /// Byte offset of the object in shared memory.
    pub offset: u64,
    /// Arrivals, bytes or phase, as the operation says; the last modulo 2^32.
    pub number: u32,
}

/// An instruction of `mbarrier` that has been executed. Waits are reported
/// when they end, and without lanes if they end before the phase does.
#[derive(Clone, Copy, Debug)]
pub struct BarrierEvent<'a> {
    /// Warp of the block.
    pub warp: u32,
    /// Index in the table of [`crate::exec::Program::instructions`].
    pub pc: u32,
    /// Operation of the instruction.
    pub op: BarrierOp,
    /// The lanes for which it has done it.
    pub lanes: &'a [BarrierLane],
}

/// What another block of the cluster does to an `mbarrier` object of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerEvent {
    /// Byte offset of the object.
    pub object: u64,
    /// Phase of the object in which it is done, counted from 0.
    pub phase: u64,
    /// The operation; of bytes that come, [`BarrierOp::Complete`].
    pub op: BarrierOp,
    /// Arrivals or bytes, as the operation says.
    pub number: u32,
    /// The copy that brings the bytes.
    pub copy: Option<PeerCopy>,
}

/// A copy of another block of the cluster into the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerCopy {
    /// Shared memory that it writes.
    pub shared: Piece,
    /// Whether it comes from global memory, not from shared memory of the other block.
    pub from_global: bool,
}

/// Lanes that come to a barrier of the block or of its cluster.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// Warp of the block.
    pub warp: u32,
    /// Index in the table of [`crate::exec::Program::instructions`].
    pub pc: u32,
    /// The lanes.
    pub lanes: u32,
    /// Number of the barrier, as [`BlockSink::barrier_passed`](crate::exec::BlockSink) has it.
    pub number: u32,
    /// Threads that it is for, where the instruction says how many.
    pub threads: Option<u32>,
    /// Whether they wait, or arrive and go on.
    pub waits: bool,
    /// Whether it is the barrier of the cluster.
    pub cluster: bool,
}

/// Bytes without a gap: where they begin, and how many they are.
pub type Piece = (u64, u64);

/// A bulk copy of one lane that has been executed.
#[derive(Clone, Copy, Debug)]
pub struct CopyEvent<'a> {
    /// Warp of the block.
    pub warp: u32,
    /// Index in the table of [`crate::exec::Program::instructions`].
    pub pc: u32,
    /// The lane.
    pub lane: u32,
    /// Shared memory that it writes, or reads if it stores: by byte
    /// offset.
    pub shared: &'a [Piece],
    /// Global memory that it reads or writes: in the order in which it
    /// goes through it.
    pub global: &'a [Piece],
    /// Shared memory of another block of the cluster that it writes.
    pub peer: Option<Piece>,
    /// Whether it copies from shared memory to global memory.
    pub stores: bool,
    /// Whether it reads `shared`: a store, or a copy to another block.
    pub reads_shared: bool,
    /// Layout of the bytes in shared memory, for a copy by a tensor map.
    pub tensor: Option<TensorRows>,
    /// Byte offset of the `mbarrier` that its bytes arrive at, and how many
    /// they are; of none it is a part of the thread's bulk group.
    pub arrives: Option<(u64, u32)>,
    /// Whether it also writes shared memory of other blocks of the cluster, or only that.
    pub others: bool,
}

/// Layout of the rows that a copy by a tensor map puts into shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorRows {
    /// The swizzle of the map.
    pub swizzle: Swizzle,
    /// Bytes of a row of its box.
    pub row_bytes: u32,
}
