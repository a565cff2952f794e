//! Map of global memory. Each part begins where the one before it can no longer reach.

/// First address of the first buffer.
pub const FIRST: u64 = 1 << 40;
/// Address of what a barrier of the whole grid counts in.
pub const WORKSPACE: u64 = HEAP - GAP;
/// First address of the heap of `malloc`.
pub const HEAP: u64 = 1 << 51;
/// First address of the variables of the module.
pub const VARIABLES: u64 = 1 << 52;
/// Addresses between two objects that belong to nobody.
pub const GAP: u64 = 1 << 32;
/// Alignment of objects, as that of `cudaMalloc`.
pub const ALIGN: u64 = 256;
