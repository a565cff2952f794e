//! Inputs and results of a run.

pub(super) mod reported;

use crate::ast::Register;
use crate::names::Space;
use reported::{BarrierEvent, CopyEvent, Meeting, PeerEvent};
use serde::{Serialize, Serializer};
use spadkit_base::toolkit::Users;
use std::sync::Arc;

/// Names a buffer of a [`Memory`](super::Memory).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId(pub(super) usize);

/// One kernel launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Name of the entry.
    pub entry: String,
    /// Thread blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of shared memory beyond the static variables.
    pub dynamic_shared: u32,
    /// The parameters as the layout of [`super::Program::params`] has them.
    pub params: Vec<u8>,
}

/// A part of dynamic shared memory with a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedPart {
    /// The name.
    pub name: String,
    /// Offset of the first byte, from the begin of dynamic shared memory.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
}

impl SharedPart {
    /// The byte after its last.
    pub fn end(&self) -> u32 {
        self.offset + self.bytes
    }
}

/// Bytes of the heap where nothing else is said, as CUDA has it.
pub const HEAP_BYTES: u64 = 8 << 20;

/// Thread instructions after which a run is stopped where nothing else is said.
pub const DEFAULT_LIMIT: u64 = 10_000_000_000;

/// Options of a run.
#[derive(Clone)]
pub struct Options<'a> {
    /// Worker threads; 0: one per core.
    pub threads: usize,
    /// Whether to look for races on shared memory.
    pub races: bool,
    /// Whether to look for races on shared and on global memory: blocks then
    /// run one after the other.
    pub global_races: bool,
    /// Thread instructions after which the run is stopped.
    pub limit: u64,
    /// Blocks of a cluster, where the PTX does not say it.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks run together and may wait for each other.
    pub cooperative: bool,
    /// Parts of dynamic shared memory, by offset: what findings call them.
    pub parts: Arc<[SharedPart]>,
    /// Observes what is executed.
    pub sink: Option<&'a dyn Sink>,
    /// Run only this block (linear index), for a trace of it.
    pub only_block: Option<u64>,
    /// Whether reads outside buffers, variables and shared memory are warnings
    /// in the place of faults. They give zeros in any case.
    pub zeros_beyond: bool,
    /// Bytes that device-side `malloc` has, for the first run that calls it;
    /// the heap of a memory keeps its size.
    pub heap: u64,
    /// Runs the warps of each block in an order, and for turns, that this
    /// number draws, and the blocks of a cluster or of a cooperative launch in an
    /// order that it draws; without it one after the other as far as each comes.
    pub warp_order: Option<u64>,
    /// Whether to use the vector instructions of the machine where it has
    /// them; off, every lane is computed by the scalar definitions.
    pub vector: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            threads: 0,
            races: false,
            global_races: false,
            limit: DEFAULT_LIMIT,
            cluster: None,
            cooperative: false,
            parts: Arc::from([]),
            sink: None,
            only_block: None,
            zeros_beyond: false,
            heap: HEAP_BYTES,
            warp_order: None,
            vector: true,
        }
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Instructions that warps executed.
    pub warp_instructions: u64,
    /// Instructions that threads reached, guarded ones whatever the guard.
    pub thread_instructions: u64,
    /// Warp instructions that accessed shared memory.
    pub shared_accesses: u64,
    /// Faults of the kernel and warnings: each kind once per instruction.
    pub findings: Vec<Finding>,
}

impl Outcome {
    /// Adds the outcome of a later launch.
    pub fn add(&mut self, later: Outcome) {
        let Outcome {
            warp_instructions,
            thread_instructions,
            shared_accesses,
            findings,
        } = later;
        self.warp_instructions += warp_instructions;
        self.thread_instructions += thread_instructions;
        self.shared_accesses += shared_accesses;
        self.findings.extend(findings);
    }

    /// The first finding that is more than a warning.
    pub fn fault(&self) -> Option<&Finding> {
        self.findings.iter().find(|f| !f.warning)
    }

    /// Whether there is one.
    pub fn has_faults(&self) -> bool {
        self.fault().is_some()
    }
}

/// Kinds of [`Finding`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum FindingKind {
    OutOfBounds,
    Misaligned,
    Null,
    Race,
    DivergentBarrier,
    BarrierNotReached,
    EndlessWait,
    Limit,
    Trap,
    Uninitialised,
    InvalidMask,
    InvalidBarrier,
    InvalidTexture,
    InvalidMetadata,
    InvalidTensorMap,
    InvalidWgmma,
    InvalidFree,
    Leak,
}

impl Serialize for FindingKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

impl FindingKind {
    /// The kind's words in reports.
    pub fn text(self) -> &'static str {
        match self {
            FindingKind::OutOfBounds => "out-of-bounds",
            FindingKind::Misaligned => "misaligned",
            FindingKind::Null => "null",
            FindingKind::Race => "race",
            FindingKind::DivergentBarrier => "divergent-barrier",
            FindingKind::BarrierNotReached => "barrier-not-reached",
            FindingKind::EndlessWait => "endless-wait",
            FindingKind::Limit => "limit",
            FindingKind::Trap => "trap",
            FindingKind::Uninitialised => "uninitialised",
            FindingKind::InvalidMask => "invalid-mask",
            FindingKind::InvalidBarrier => "invalid-barrier",
            FindingKind::InvalidTexture => "invalid-texture",
            FindingKind::InvalidMetadata => "invalid-metadata",
            FindingKind::InvalidTensorMap => "invalid-tensor-map",
            FindingKind::InvalidWgmma => "invalid-wgmma",
            FindingKind::InvalidFree => "invalid-free",
            FindingKind::Leak => "leak",
        }
    }

    /// Whether it is never more than a warning.
    pub(super) fn only_warns(self) -> bool {
        matches!(self, FindingKind::Uninitialised | FindingKind::Leak)
    }
}

/// Something wrong with the kernel, at its first occurrence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Kind of the finding.
    pub kind: FindingKind,
    /// 1-based line of the PTX.
    pub ptx_line: u32,
    /// The file of the PTX, where several are linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_file: Option<String>,
    /// `file:line` of the source, where `.loc` gives one.
    pub source: Option<String>,
    /// The calls through which that came into the function, as `file:line`,
    /// the innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inlined_at: Vec<String>,
    /// Block index.
    pub block: [u32; 3],
    /// Thread index.
    pub thread: [u32; 3],
    /// Byte offset in the space; for global memory in the buffer, where the
    /// address is in or near one.
    pub address: Option<u64>,
    /// The variable or buffer there.
    pub variable: Option<String>,
    /// A sentence.
    pub message: String,
    /// The kernel does what it would do on a GPU: no fault.
    pub warning: bool,
    /// The other side of the race before it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub other: bool,
    /// In a race, the number of words (4 bytes, aligned) in which the two lines race,
    /// summed over the blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// In a race, the place of one barrier of the block that would order the two lines, if
    /// there is one that all threads pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barrier: Option<String>,
    /// In a race with a copy that nobody has waited for, the place of one barrier of the
    /// block that would order the two lines behind a wait for the copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// In a race between lanes of one warp, the place of a barrier of the warp
    /// (`__syncwarp()`) that would order the two lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp_barrier: Option<String>,
    /// In a race: both threads load, change and store a word, and one atomic in place of
    /// the load and the store would help.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub atomic: bool,
    /// In a race between blocks, the place of the fence that would order the two accesses,
    /// if nothing else is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<String>,
    /// In a race of strong accesses, the scope of this one, if it does not include the
    /// other thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

impl Finding {
    /// The file of the PTX for people, where several are linked.
    pub fn ptx(&self) -> &str {
        self.ptx_file.as_deref().unwrap_or("the PTX")
    }

    /// `file:line` of the source; in a header of the toolkit, of the user's line that led there.
    pub fn users_line(&self) -> Option<&str> {
        let source = self.source.as_ref()?;
        Some(Users::of(source, &self.inlined_at).line)
    }
}

/// Kind of an executed instruction, for traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstructionKind {
    /// Integer, float, move, conversion.
    Alu,
    /// Special functions: rcp, sqrt, sin, ex2, ...; also f64 division.
    Sfu,
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic or a reduction.
    Atomic,
    /// A product of matrices, by the tensor cores.
    Tensor,
    /// Shuffles, votes and other exchanges inside the warp.
    Warp,
    /// A barrier of the block.
    Barrier,
    /// Branch, call, return, exit.
    Branch,
    /// Fences, prefetches, `nanosleep` and the like.
    Other,
}

/// An instruction in the code of an entry, for traces.
#[derive(Clone, Debug)]
pub struct InstructionInfo {
    /// Kind of the instruction.
    pub kind: InstructionKind,
    /// Function, as index of [`crate::Module::functions`].
    pub function: u32,
    /// Index in [`crate::Function::instructions`].
    pub instruction: u32,
    /// 1-based line of the PTX.
    pub line: u32,
    /// Registers that it reads, the guard and addresses included.
    pub reads: Vec<Register>,
    /// Registers that it writes.
    pub writes: Vec<Register>,
}

/// The memory access of a warp instruction.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Shared, global, local, const or param; of generic addresses that of
    /// the first active lane.
    pub space: Space,
    /// Bytes that each lane accesses.
    pub bytes: u32,
    /// Lanes that access.
    pub lanes: u32,
    /// Byte offset in the space (shared, local, param) or address (global,
    /// const) of each lane; only those of `lanes` count.
    pub addresses: &'a [u64; 32],
    /// Bytes from one row of a matrix to the next, where the instruction computes the
    /// addresses of the lanes itself from that of the first row: `wmma`.
    pub row_bytes: Option<u64>,
}

/// A warp instruction that is about to be executed.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Warp of the block.
    pub warp: u32,
    /// Index in the table of [`super::Program::instructions`].
    pub pc: u32,
    /// Lanes that reach it.
    pub active: u32,
    /// Lanes that execute it: `active` with the guard.
    pub exec: u32,
    /// The access to memory, if the instruction makes one; for an asynchronous copy, the
    /// store.
    pub access: Option<Access<'a>>,
    /// The load of an asynchronous copy: lanes that copy no byte of it have none.
    pub copied: Option<Access<'a>>,
    /// The access to shared memory of other blocks of the cluster, which is no access of this
    /// block: the lanes that make it, and their offsets in the other block.
    pub remote: Option<Access<'a>>,
}

/// Observes a run; called from several threads.
pub trait Sink: Sync {
    /// The observer of a block, none where it is of no interest.
    fn block(&self, block: [u32; 3]) -> Option<Box<dyn BlockSink + '_>>;
}

/// Observes a block, in the order in which its warps execute.
pub trait BlockSink {
    /// A warp executes an instruction.
    fn instruction(&mut self, event: &Event);

    /// An instruction of `mbarrier` that was told of has been executed.
    fn mbarrier(&mut self, _event: &BarrierEvent) {}

    /// A lane of a bulk copy that was told of has copied.
    fn bulk_copy(&mut self, _event: &CopyEvent) {}

    /// An `st.async` or `red.async` that was told of has written shared memory of other blocks
    /// of the cluster, at these offsets.
    fn sent(&mut self, _pc: u32, _there: &Access) {}

    /// Another block of the cluster has changed an `mbarrier` of this one.
    fn changed_by_peer(&mut self, _event: &PeerEvent) {}

    /// Lanes come to a barrier, which was told of as an instruction.
    fn barrier_reached(&mut self, _meeting: &Meeting) {}

    /// Called when all threads have passed the barrier of a number.
    fn barrier_passed(&mut self, _barrier: u32) {}

    /// The block has ended.
    fn finish(self: Box<Self>) {}
}
