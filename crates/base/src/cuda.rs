//! CUDA's limits for a launch.

/// Thread blocks of a grid, by dimension.
pub const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
/// Threads of a block, by dimension.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Threads of a block in all.
pub const MAX_THREADS: u32 = 1024;
/// Bytes of a kernel's parameters (PTX ISA, "Kernel function parameters").
pub const MAX_PARAMETER_BYTES: u64 = 32_764;
/// Bytes of the static shared memory of a kernel: `ptxas` refuses more, however much a
/// launch may ask for.
pub const MAX_STATIC_SHARED: u32 = 48 << 10;
