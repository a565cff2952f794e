//! Ordering: the part of an instruction in the PTX ISA's memory consistency model. These
//! are the strength of an access and the threads for which it is strong, the accesses that
//! a fence orders, and the registers that a tensor core uses. The decoder finds them out,
//! the image keeps them, the race detector applies them.

/// The strength of an access in the memory consistency model, from strong to weak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Atomics and relaxed, acquiring or releasing accesses.
    Strong,
    /// Volatile loads in a loop that repeats them until they give the awaited value.
    Waiting,
    Volatile,
    #[default]
    Weak,
}

/// The threads among which an access that is not weak is strong: the PTX scope, from
/// narrow to wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `.cta`
    Block,
    /// `.cluster`
    Cluster,
    /// `.gpu` and `.sys`
    #[default]
    Wide,
}

impl Scope {
    /// The scope with `.cluster` narrowed to the block unless the cluster has
    /// `several` blocks.
    pub fn among(self, several: bool) -> Scope {
        match self {
            Scope::Cluster if !several => Scope::Block,
            scope => scope,
        }
    }
}

/// A fence, by the threads or the proxy for which it orders accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// Threads of the block.
    Block,
    /// Threads of the cluster.
    Cluster,
    /// Threads of all blocks.
    Wide,
    /// `fence.proxy.async`, for shared, for global, or for all memory.
    Proxy { shared: bool, global: bool },
}

/// The directions in which a fence orders accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// `.acq_rel`, `.sc`, `membar`
    Both,
    /// Later accesses come after everything that earlier loads have acquired.
    Acquire,
    /// Later stores release everything that came before the fence.
    Release,
}

/// The registers of an instruction that products of a warpgroup (`wgmma`) use, too.
#[derive(Clone, Debug)]
pub struct Uses {
    /// Numbers and names of the registers that the instruction reads; for a product,
    /// its factors.
    pub reads: Vec<(u32, String)>,
    /// Numbers and names of the registers that it writes; for a product, its
    /// accumulator, which it also reads. Products of one shape are executed in order.
    pub writes: Vec<(u32, String)>,
    /// The instruction is itself a product of a warpgroup.
    pub product: bool,
}
