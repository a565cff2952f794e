//! Details of an instruction beyond its kind, registers and addresses.

use super::InstrKind;
use crate::sm::mbarrier::MbarrierOp;
use spadkit_ptx::exec::BarrierOp;
use spadkit_ptx::tensor::Work;

/// The operation of [`InstrKind::BulkGroup`]. The position in
/// [`BulkGroupOp::ALL`] is its number in recorded traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkGroupOp {
    /// Makes a group of the bulk copies since the last one.
    Commit,
    /// Waits until all groups but the last few are complete.
    Wait,
    /// Waits until they have read their sources.
    WaitRead,
}

impl BulkGroupOp {
    /// Every operation.
    pub const ALL: [BulkGroupOp; 3] = [
        BulkGroupOp::Commit,
        BulkGroupOp::Wait,
        BulkGroupOp::WaitRead,
    ];
}

/// The number of an atomic that adds one and whose result nobody reads. GPUs from
/// sm_80 on count the lanes of each word and add once; a lock unit takes it for an
/// addition.
pub const INCREMENT: u8 = 9;

/// The number of an atomic at one address for the whole warp, which GPUs have one
/// lane do for all; a lock unit takes it for an addition.
pub const AGGREGATED: u8 = 10;

/// A barrier, as an instruction names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meeting {
    /// Threads that it is for; 0: all of the block that have not ended.
    pub threads: u16,
    /// Its number.
    pub number: u8,
    /// Whether the warp arrives without waiting.
    pub arrives: bool,
    /// Whether it is that of the cluster, which is taken for one of the block.
    pub cluster: bool,
}

impl Meeting {
    /// The barrier of that number, of the whole block.
    pub fn of_block(number: u8) -> Self {
        Meeting {
            number,
            ..Meeting::default()
        }
    }
}

/// Details of an instruction beyond its kind, registers and addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    None,
    /// For an atomic: the number of its operation
    /// (microarchitecture/parameters.md), or [`INCREMENT`].
    Atomic(u8),
    /// A load that represents an atomic, on machines that serve the lanes of
    /// atomics one after another.
    LaneByLane,
    /// For a barrier: what it is.
    Barrier(Meeting),
    /// For a product of matrices: its [`Work`], field by field. (A variant that
    /// contains the struct would make every instruction larger.)
    Product {
        /// Bits of a factor.
        bits: u8,
        /// Multiplications.
        macs: u32,
        /// Whether it is a warp's part of a product of a warpgroup.
        group: bool,
    },
    /// For an operation on an `mbarrier`: the parts of an [`MbarrierOp`].
    Mbarrier(BarrierOp, u32),
    /// For bulk groups: a wait leaves this many of them pending.
    BulkGroup(BulkGroupOp, u32),
    /// For a load of global memory: it goes past the L1, to what all SMs see.
    PastL1 {
        /// Whether it also writes, as an atomic.
        writes: bool,
    },
    /// For arithmetic: a unit other than that of its kind.
    Unit(Unit),
}

/// A unit of a scheduler whose rate is its own. Without one, alu goes to that of
/// floating-point numbers, and sfu to that of special functions. The position in
/// [`Unit::ALL`] plus one is its number in recorded traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Integers of 32 bits, but for their products.
    Integer,
    /// Floating-point numbers of 64 bits.
    Double,
    /// None that limits it.
    Free,
    /// Exchanges between the lanes of a warp.
    Exchange,
}

impl Unit {
    /// Every unit.
    pub const ALL: [Unit; 4] = [Unit::Integer, Unit::Double, Unit::Free, Unit::Exchange];
}

// Traces hold tens of millions of instructions.
const _: () = assert!(size_of::<Detail>() == 8);

impl From<MbarrierOp> for Detail {
    fn from(op: MbarrierOp) -> Self {
        let (op, number) = op.parts();
        Detail::Mbarrier(op, number)
    }
}

impl From<Work> for Detail {
    fn from(work: Work) -> Self {
        let Work { bits, macs, group } = work;
        Detail::Product { bits, macs, group }
    }
}

impl Detail {
    /// The default detail of an instruction of `kind`.
    pub(super) fn of(kind: InstrKind) -> Self {
        match kind {
            InstrKind::AtomShared => Detail::Atomic(0),
            InstrKind::Bar => Detail::Barrier(Meeting::default()),
            InstrKind::Mma => Detail::Product {
                bits: 0,
                macs: 0,
                group: false,
            },
            InstrKind::Mbarrier => Detail::Mbarrier(BarrierOp::Init, 0),
            InstrKind::BulkGroup => Detail::BulkGroup(BulkGroupOp::Commit, 0),
            _ => Detail::None,
        }
    }
}
