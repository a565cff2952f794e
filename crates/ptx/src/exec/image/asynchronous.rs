//! Operands of decoded instructions of `mbarrier`, bulk copies and tensor maps.

use crate::exec::registers::{From, Slot};
use crate::exec::tensor_map::Field;
use crate::names::{Space, Type};
use crate::scalar::Scalar;

/// The place of an `mbarrier` object.
#[derive(Clone, Copy, Debug)]
pub struct SharedPlace {
    pub from: From,
    pub offset: i64,
    pub generic: bool,
}

/// The action of an instruction on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Init,
    Invalidate,
    ExpectBytes,
    CompleteBytes,
    Arrive {
        drops: bool,
        /// The number is of bytes to expect, not of arrivals.
        expects: bool,
        stays: bool,
    },
    /// Arrives when the `cp.async` copies so far have come; `counts` is false
    /// where the arrival is one more than the barrier was initialised for.
    Copies {
        counts: bool,
    },
}

/// An instruction that changes an object.
pub struct Change {
    pub action: Action,
    pub place: SharedPlace,
    /// Count or bytes.
    pub number: Option<Slot>,
    /// Gets the state before.
    pub state: Option<Slot>,
    pub releases: bool,
    /// Whether the change is released to the own block alone (`.cta`).
    pub narrow: bool,
}

/// `cp.async.bulk`
pub struct BulkOp {
    pub to: BulkEnd,
    pub from: BulkEnd,
    /// Bytes.
    pub size: Slot,
    /// The `mbarrier` at which the bytes arrive.
    pub arrives: Option<Change>,
    /// Blocks of the cluster that get the bytes.
    pub blocks: Option<Slot>,
    /// The new value of an element from the old one and the source's, and
    /// bytes of an element.
    pub combine: Option<(Scalar, u32)>,
}

/// Target or source of a bulk copy.
#[derive(Clone, Copy, Debug)]
pub struct BulkEnd {
    pub from: From,
    pub offset: i64,
    /// Whether it is in shared memory, else in global memory.
    pub shared: bool,
}

/// `test_wait` and `try_wait`.
pub struct Wait {
    pub place: SharedPlace,
    /// The state, or the parity.
    pub by: Slot,
    pub parity: bool,
    /// Whether the phase is complete.
    pub result: Slot,
    pub acquires: bool,
    /// Whether the wait acquires from the own block alone (`.cta`).
    pub narrow: bool,
    /// Whether anything depends on the result.
    pub decides: bool,
}

/// An instruction of tensor maps.
pub enum MapOp {
    Copy(TensorCopy),
    Replace(MapReplace),
    Move(MapMove),
}

/// `cp.async.bulk.tensor`, its reduction and its prefetch.
pub struct TensorCopy {
    /// Generic address of the map.
    pub map: Slot,
    /// Begin of the box, the innermost dimension first.
    pub coordinates: Vec<Slot>,
    /// For pixels, the offsets that are added to their places; none for boxes.
    pub offsets: Option<Vec<Slot>>,
    pub moves: TensorMove,
}

/// The direction of a copy of tensors.
pub enum TensorMove {
    /// Nothing, after it was checked.
    Prefetch,
    Load {
        to: BulkEnd,
        arrives: Change,
        /// Blocks of the cluster that get the elements.
        blocks: Option<Slot>,
    },
    Store {
        from: BulkEnd,
    },
    /// A store that combines: new values for the types that have one.
    Reduce {
        from: BulkEnd,
        updates: Vec<(Type, Scalar)>,
    },
}

/// `tensormap.replace`
pub struct MapReplace {
    /// None for generic addresses.
    pub space: Option<Space>,
    pub from: From,
    pub offset: i64,
    pub field: Field,
    pub value: Slot,
}

/// `tensormap.cp_fenceproxy`: copies a map from shared to global memory.
pub struct MapMove {
    pub to: BulkEnd,
    pub from: BulkEnd,
}
