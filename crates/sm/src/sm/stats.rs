//! The statistics of a run (microarchitecture/sm-model.md).

use super::phases::Phases;
use serde::{Deserialize, Serialize};

/// Cycles without issue, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    /// Latency, front end, barrel, masked warps, nothing left to issue.
    pub no_ready_warp: u64,
    /// EX is held by an access that needs more groups.
    pub bank_conflict: u64,
    /// EX is held because the writeback port is taken.
    pub writeback_conflict: u64,
    /// Atomics: the retry sequencer has the scratchpad, or is waited for.
    pub lock_retry: u64,
    /// The partner block holds the shared scratchpad.
    pub shared_scratchpad: u64,
    /// Barriers of thread blocks.
    pub barrier: u64,
    /// Data from global memory.
    pub memory: u64,
    /// Global stores: the next one finds no entry, or all warps have ended and
    /// the channel takes what is left.
    pub store_queue: u64,
    /// Products of matrices: the tensor unit has others.
    pub tensor_unit: u64,
    /// Texels.
    pub texture: u64,
    /// Phases of an `mbarrier`.
    pub mbarrier: u64,
    /// Groups of asynchronous copies; or a copy has the banks.
    pub async_copy: u64,
}

/// A reason of a cycle without issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stall {
    NoReadyWarp,
    BankConflict,
    WritebackConflict,
    LockRetry,
    SharedScratchpad,
    Barrier,
    Memory,
    StoreQueue,
    TensorUnit,
    Texture,
    Mbarrier,
    AsyncCopy,
}

impl Stalls {
    pub(super) fn add(&mut self, stall: Stall, cycles: u64) {
        let count = match stall {
            Stall::NoReadyWarp => &mut self.no_ready_warp,
            Stall::BankConflict => &mut self.bank_conflict,
            Stall::WritebackConflict => &mut self.writeback_conflict,
            Stall::LockRetry => &mut self.lock_retry,
            Stall::SharedScratchpad => &mut self.shared_scratchpad,
            Stall::Barrier => &mut self.barrier,
            Stall::Memory => &mut self.memory,
            Stall::StoreQueue => &mut self.store_queue,
            Stall::TensorUnit => &mut self.tensor_unit,
            Stall::Texture => &mut self.texture,
            Stall::Mbarrier => &mut self.mbarrier,
            Stall::AsyncCopy => &mut self.async_copy,
        };
        *count += cycles;
    }

    pub(super) fn merge(&mut self, other: &Stalls) {
        self.no_ready_warp += other.no_ready_warp;
        self.bank_conflict += other.bank_conflict;
        self.writeback_conflict += other.writeback_conflict;
        self.lock_retry += other.lock_retry;
        self.shared_scratchpad += other.shared_scratchpad;
        self.barrier += other.barrier;
        self.memory += other.memory;
        self.store_queue += other.store_queue;
        self.tensor_unit += other.tensor_unit;
        self.texture += other.texture;
        self.mbarrier += other.mbarrier;
        self.async_copy += other.async_copy;
    }

    /// The categories by their names in the output.
    pub fn list(&self) -> [(&'static str, u64); 12] {
        [
            ("no_ready_warp", self.no_ready_warp),
            ("bank_conflict", self.bank_conflict),
            ("writeback_conflict", self.writeback_conflict),
            ("lock_retry", self.lock_retry),
            ("shared_scratchpad", self.shared_scratchpad),
            ("barrier", self.barrier),
            ("memory", self.memory),
            ("store_queue", self.store_queue),
            ("tensor_unit", self.tensor_unit),
            ("texture", self.texture),
            ("mbarrier", self.mbarrier),
            ("async_copy", self.async_copy),
        ]
    }

    /// The most frequent reason and its cycles, the first in
    /// [`list`](Stalls::list) of several; `None` without stalls.
    pub fn most(&self) -> Option<(&'static str, u64)> {
        let list = self.list();
        let most = list.iter().map(|stall| stall.1).max()?;
        let first = list.into_iter().find(|stall| stall.1 == most);
        first.filter(|(_, cycles)| *cycles > 0)
    }

    /// Number of all cycles without issue.
    pub fn total(&self) -> u64 {
        self.list().iter().map(|s| s.1).sum()
    }
}

/// Cycles that blocks of pairs were resident, all of them together, by what
/// they had of the shared scratchpad (sharing paper, Fig. 17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedProgress {
    /// Up to the block's first access to it, waiting for it included.
    pub before: u64,
    /// Cycles from there until all threads that it still has have released it, or to
    /// its end.
    pub holding: u64,
    /// Cycles from the release to the end of the block.
    pub after: u64,
}

impl SharedProgress {
    pub(super) fn add(&mut self, more: SharedProgress) {
        self.before += more.before;
        self.holding += more.holding;
        self.after += more.after;
    }

    /// The three as parts of their sum; zeros where no block shares.
    pub fn parts(&self) -> [f64; 3] {
        let all = (self.before + self.holding + self.after).max(1) as f64;
        [self.before, self.holding, self.after].map(|n| n as f64 / all)
    }
}

/// The numbers of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Number of the last cycle in which an instruction completed, a store by
    /// the end of its last slot on the channel.
    pub cycles: u64,
    /// Instructions of warps.
    pub warp_instructions: u64,
    /// Warp instructions per cycle.
    pub ipc: f64,
    /// Instructions of threads: the active lanes of each warp instruction.
    pub thread_instructions: u64,
    /// Thread instructions per cycle.
    pub thread_ipc: f64,
    /// The part of `thread_instructions` that accesses the scratchpad.
    pub shared_thread_instructions: u64,
    /// Issue slots in which a pass was issued: with one scheduler, cycles.
    pub issued: u64,
    /// The other issue slots, by reason; issued + stalls = cycles * schedulers.
    pub stalls: Stalls,
    /// The part of `no_ready_warp` in which a ready warp was masked.
    pub masked_cycles: u64,
    /// Conflict degree less one, summed over scratchpad accesses per pass.
    pub bank_conflicts: u64,
    /// Mean conflict degree of the passes with an active lane.
    pub mean_conflict_degree: f64,
    /// Passes with an active lane.
    pub scratchpad_passes: u64,
    /// Rounds of the retry loop.
    pub atomic_rounds: u64,
    /// Segments of global memory that crossed the channel.
    pub global_segments: u64,
    /// Segments of loads that waited for the data of an earlier load.
    pub global_merged: u64,
    /// Lines that loads found in the L1.
    pub l1_hits: u64,
    /// Lines that the L1 asked global memory for.
    pub l1_misses: u64,
    /// Lines that loads found under way to the L1.
    pub l1_merged: u64,
    /// Segments that the L2 had.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub l2_hits: u64,
    /// Lines that the L2 did not have.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub l2_misses: u64,
    /// Segments of lines that were under way to the L2.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub l2_merged: u64,
    /// Accesses to rows of DRAM that were open.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dram_row_hits: u64,
    /// Accesses to rows that had to be opened.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dram_row_conflicts: u64,
    /// Instructions of warps that access shared memory of other blocks of the cluster.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub remote_accesses: u64,
    /// Barriers of the cluster that warps have come to, which wait for their block alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cluster_barriers: u64,
    /// Thread blocks that ran.
    pub blocks: u64,
    /// The progress of sharing blocks, relative to the shared scratchpad.
    pub shared_progress: SharedProgress,
    #[serde(skip)]
    pub(super) degrees: u64,
    /// The time of the first block between barriers.
    pub phases: Phases,
}

/// Counts of units that the machine need not have are left out where they are 0.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Statistics {
    /// A pass of the scratchpad of degree `degree` was written back.
    pub(super) fn pass(&mut self, degree: u32) {
        if degree > 0 {
            self.scratchpad_passes += 1;
            self.degrees += u64::from(degree);
            self.bank_conflicts += u64::from(degree - 1);
        }
    }

    /// Forms the means at the end of the run.
    pub(super) fn finish(&mut self) {
        let ratio = |a: u64, b: u64| if b == 0 { 0.0 } else { a as f64 / b as f64 };
        self.ipc = ratio(self.warp_instructions, self.cycles);
        self.thread_ipc = ratio(self.thread_instructions, self.cycles);
        self.mean_conflict_degree = ratio(self.degrees, self.scratchpad_passes);
    }
}
