//! What stands around the path in an SM (docs/microarchitecture.md, section 19).

use serde::Serialize;

/// Latencies of relaxed barrel execution, in cycles from issue to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Latencies {
    /// alu, mov.
    pub alu: u32,
    /// Special functions.
    pub sfu: u32,
    /// Branches.
    pub branch: u32,
    /// Loads of shared memory, with or without lock, that meet no conflict,
    /// without a hash stage; 0 or less than the path takes: as the path.
    pub shared: u32,
}

/// Global memory as one SM sees it (section 19.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GlobalMemory {
    /// Cycles from a request's start to its first data.
    pub latency: u32,
    /// Bytes of the aligned segments into which lanes coalesce.
    pub segment_bytes: u32,
    /// Cycles of the channel per segment.
    pub cycles_per_segment: u32,
    /// Segments outstanding.
    pub max_segments: u32,
    /// Store instructions that wait for their slots on the channel.
    pub max_stores: u32,
}

/// Scratchpad sharing between two blocks (sharing paper, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sharing {
    /// Whether blocks share.
    pub on: bool,
    /// t: the part of a block's scratchpad that stays its own, 0 to 1.
    pub threshold: f64,
}

/// The parameters of the SM.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SmParams {
    /// F: stages before the issue port; latency only.
    pub frontend_stages: u32,
    /// K: warp schedulers.
    pub schedulers: u32,
    /// A: warps in the active set of each two-level scheduler.
    pub active_warps: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Instruction latencies.
    pub latencies: Latencies,
    /// Global memory.
    pub global: GlobalMemory,
    /// Scratchpad sharing.
    pub sharing: Sharing,
}
