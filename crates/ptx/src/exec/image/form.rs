//! A decoded instruction: one variant for each form, with what it names.

use crate::analysis::Relation;
use crate::exec::ordering::{Fence, Sides};
use crate::exec::registers::{Mask, Registers, Slot};
use crate::scalar::Accepts;

/// A decoded instruction.
#[derive(Clone, Copy)]
pub struct Op {
    /// The lanes that it is for.
    pub guard: Mask,
    pub form: Form,
}

/// A place where lanes meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The instruction.
    pub pc: u32,
    /// Number of loops around all who meet; [`APART`] where only the end of the function
    /// joins them.
    pub depth: u8,
    /// Rank among meetings of one function in as many loops: lanes come to the lower number
    /// first.
    pub order: u32,
}

/// The place where the sides of a branch meet.
#[derive(Clone, Copy)]
pub struct Meet {
    pub at: Meeting,
    /// The list, of `Image::past`, of places where branches before it meet and that it may
    /// lead past.
    pub past: Option<u32>,
}

/// A place where the sides of a branch meet, and sides of a later one that lead past it.
pub struct Overtaken {
    pub at: Meeting,
    pub sides: Vec<u32>,
    /// Relation of the later branch's meeting to it, if it is no place before it.
    pub own: Option<Relation>,
    /// Place where the lanes of those sides meet the others.
    pub join: Option<Meeting>,
}

/// The depth where the sides of a branch leave the function apart.
pub const APART: u8 = u8::MAX;

/// The form of an instruction, as the loop treats it. Numbers are indices in the image's
/// tables, `target` and `meet` are places in its code.
#[derive(Clone, Copy)]
pub enum Form {
    /// Executes, and goes on with the next one.
    Step(Step),
    /// The lanes meet again at `meet`.
    Branch {
        target: u32,
        meet: Meet,
    },
    /// To an instruction of a table, by a register.
    IndexedBranch {
        index: u32,
        table: u32,
        meet: Meet,
        /// Place where the sides meet that stay in the loop around it, if others do not.
        inside: Option<Meeting>,
    },
    Call {
        call: u32,
    },
    Return,
    Exit,
    Barrier {
        barrier: u32,
    },
    /// Waits for a phase of an `mbarrier`.
    Wait {
        wait: u32,
    },
    /// Waits for the lanes that a register names, then exchanges something.
    Together {
        members: u32,
        exchange: Option<u32>,
    },
    /// Prints a message, and stops the run.
    Assert {
        call: u32,
    },
    Trap,
}

/// An instruction between branches.
#[derive(Clone, Copy)]
pub enum Step {
    Nothing,
    /// A function of up to three registers, all lanes at once.
    Map(Map),
    /// `setp`, all lanes at once.
    Compare(Compare),
    /// `selp`, all lanes at once.
    Select(Select),
    /// Logic of predicates.
    Masks(Masks),
    /// Computes by a scalar definition, lane after lane.
    Scalar {
        generic: u32,
    },
    /// Joins registers, or splits them into parts.
    Repack {
        repack: u32,
    },
    /// Moves the elements of a vector.
    MoveElements {
        moves: u32,
    },
    /// Moves a value of 128 bits.
    Pair {
        pair: u32,
    },
    Load {
        access: u32,
    },
    /// Loads words of shared memory, often at one place or in a row.
    LoadWords {
        access: u32,
    },
    /// Loads a parameter of the kernel at a fixed place.
    LoadParameter {
        access: u32,
    },
    /// Loads a parameter at a place that is not aligned, or beyond the parameter.
    BadParameter {
        access: u32,
    },
    Store {
        access: u32,
    },
    StoreWords {
        access: u32,
    },
    Atomic {
        access: u32,
    },
    /// A store or an atomic whose bytes arrive at an `mbarrier`.
    Delivered {
        access: u32,
        change: u32,
    },
    /// An atomic of 128 bits.
    AtomicPair {
        access: u32,
    },
    /// `cp.async`; the access is the one that writes.
    Copy {
        access: u32,
    },
    /// `ldmatrix`, `stmatrix`.
    Matrix {
        access: u32,
    },
    /// A product of matrices.
    Tensor {
        tensor: u32,
    },
    /// `wmma.load`, `wmma.store`; a large matrix has a second access after
    /// it.
    Fragment {
        access: u32,
    },
    /// A product of a warpgroup; the access is that to its factors.
    Group {
        access: u32,
    },
    /// `wgmma.commit_group`
    GroupCommit,
    /// `wgmma.wait_group`
    GroupWait {
        left: u32,
    },
    /// `cp.async.commit_group`
    Commit,
    /// Wait until at most this many copy groups are pending; `None` waits for all.
    Wait {
        left: Option<u32>,
    },
    /// `cp.async.bulk`
    Bulk {
        bulk: u32,
    },
    /// `cp.async.bulk.tensor`, or a change of a tensor map.
    TensorMap {
        map: u32,
    },
    /// Changes an `mbarrier`.
    Mbarrier {
        change: u32,
    },
    Fence {
        fence: Fence,
        sides: Sides,
    },
    /// `fence.mbarrier_init`
    FenceInit,
    /// `wgmma.fence`
    GroupFence,
    /// `cp.async.bulk.commit_group`
    BulkCommit,
    /// `cp.async.bulk.wait_group`, with `reads` only for what the copies read.
    BulkWait {
        left: u32,
        reads: bool,
    },
    /// Exchanges values between whatever lanes are there.
    Exchange {
        exchange: u32,
    },
    /// Reads the clock, or its upper half.
    Clock {
        to: Slot,
        upper: bool,
    },
    /// `tex`, `suld` and the like.
    Texture {
        texture: u32,
    },
    /// `discard`
    Discard {
        access: u32,
    },
    Print {
        call: u32,
    },
    /// `malloc`
    Allocate {
        call: u32,
    },
    /// `free`
    Free {
        call: u32,
    },
}

impl Form {
    /// The access to memory that it makes.
    pub fn access(&self) -> Option<u32> {
        use Step::*;
        match *self {
            Form::Step(
                Load { access }
                | LoadWords { access }
                | LoadParameter { access }
                | BadParameter { access }
                | Store { access }
                | StoreWords { access }
                | Atomic { access }
                | AtomicPair { access }
                | Copy { access }
                | Matrix { access }
                | Fragment { access }
                | Group { access },
            ) => Some(access),
            _ => None,
        }
    }
}

/// `to = f(a, b, c)`: offsets of registers.
#[derive(Clone, Copy)]
pub struct Map {
    pub run: MapKernel,
    pub to: u32,
    pub sources: [u32; 3],
}

/// Executes an instruction for the lanes of a mask.
pub type MapKernel = unsafe fn(Registers, &Map, u32);

/// The lanes whose values are in an accepted order.
#[derive(Clone, Copy)]
pub struct Compare {
    pub run: CompareKernel,
    pub to: u32,
    pub sources: [u32; 2],
    pub accepts: Accepts,
    /// Predicate that the result is combined with.
    pub combined: Option<(Combine, Mask)>,
}

/// Executes a comparison for the lanes of a mask.
pub type CompareKernel = unsafe fn(Registers, &Compare, u32);

/// The combination of two predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    And,
    Or,
    Xor,
}

/// The first source where a predicate holds, else the second.
#[derive(Clone, Copy)]
pub struct Select {
    pub run: SelectKernel,
    pub to: u32,
    pub sources: [u32; 2],
    pub chosen: Mask,
}

/// Executes a selection for the lanes of a mask.
pub type SelectKernel = unsafe fn(Registers, &Select, u32);

/// Any function of two predicates: bit `ab` of the table is the result.
#[derive(Clone, Copy)]
pub struct Masks {
    pub to: u32,
    pub sources: [Mask; 2],
    pub table: u8,
}
