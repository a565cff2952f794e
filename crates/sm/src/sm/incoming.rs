//! What other blocks of the cluster do to a block.

use super::mbarrier::MbarrierOp;

/// An operation of another block of the cluster on an `mbarrier` object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// Byte address of the object.
    pub object: u64,
    /// Phase of the object that it belongs to, counted from 0.
    pub phase: u64,
    /// The operation; of bytes that come, [`MbarrierOp::Complete`].
    pub op: MbarrierOp,
    /// The copy that brings the bytes: byte address in the block's shared memory and
    /// bytes, and whether they come from global memory.
    pub copy: Option<((u64, u64), bool)>,
}
