//! The state that instructions work on: registers of the current warp,
//! memory, counters, findings.
//!
//! Parts of it: what blocks of a cluster see of each other, objects of `mbarrier`,
//! what warpgroups have executed, which registers were written.

pub(super) mod draw;
pub(super) mod handover;
pub(super) mod pairs;
pub(super) mod peers;
pub(super) mod phase;
pub(super) mod warpgroup;
pub(super) mod watch;
pub(super) mod written;

use super::api::{BlockSink, BufferId, FindingKind, Launch, Options, SharedPart};
use super::image::{Image, MemoryOp, Transfer};
use super::memory::heap::Heap;
use super::memory::{Memory, Object};
use super::race::Races;
use super::registers::Registers;
use super::texture::{Sampler, Texture};
use handover::Handover;
use pairs::Pairs;
use peers::Cluster;
use phase::Mbarriers;
use spadkit_base::error::{Error, Result};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use warpgroup::Groups;
use watch::Watch;
use written::Written;

/// State that all blocks of a launch share.
pub(super) struct Common<'a> {
    pub image: &'a Image,
    pub objects: &'a [Object],
    /// Indices of `objects`, in the order of their addresses.
    pub by_address: &'a [u32],
    pub textures: &'a [Texture],
    pub samplers: &'a [Sampler],
    /// The heap of `malloc`, if some kernel has called it.
    pub heap: Option<&'a Heap>,
    /// The parameters of the entry.
    pub params: &'a Object,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    /// Parts of dynamic shared memory with names.
    pub parts: Arc<[SharedPart]>,
    /// Blocks of a cluster.
    pub cluster: [u32; 3],
    /// Address of what a barrier of the whole grid counts in; 0 without one.
    pub workspace: u64,
    pub limit: u64,
    /// Reads outside of everything are warnings.
    pub zeros_beyond: bool,
    /// Thread instructions of all blocks so far.
    pub used: AtomicU64,
    pub stop: AtomicBool,
    /// Whether the user has stopped them. The request itself may be withdrawn before the run
    /// returns, by another thread of the program.
    pub interrupted: AtomicBool,
    /// Blocks that have begun.
    pub begun: AtomicU64,
    /// Whether several blocks run at the same time.
    pub parallel: bool,
}

/// The way in which the blocks of a launch run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    /// Blocks of a cluster.
    pub cluster: [u32; 3],
    /// Address of the counter of a barrier of the whole grid, as in [`Common`].
    pub workspace: u64,
    /// Whether several run at the same time.
    pub parallel: bool,
}

impl<'a> Common<'a> {
    pub fn new(
        image: &'a Image,
        memory: &'a Memory,
        params: &'a Object,
        launch: &Launch,
        options: &Options,
        together: Shared,
    ) -> Self {
        Common {
            image,
            objects: &memory.objects,
            by_address: &memory.by_address,
            textures: &memory.textures,
            samplers: &memory.samplers,
            heap: memory.heap.as_ref(),
            params,
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            parts: options.parts.clone(),
            cluster: together.cluster,
            workspace: together.workspace,
            limit: options.limit,
            zeros_beyond: options.zeros_beyond,
            used: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            begun: AtomicU64::new(0),
            parallel: together.parallel,
        }
    }

    /// An error where the user has stopped the blocks of `entry`.
    pub fn check_interrupted(&self, entry: &str) -> Result<()> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted {
                what: entry.to_owned(),
            });
        }
        Ok(())
    }
}

/// A finding before it has names.
#[derive(Clone, Debug)]
pub(super) struct RawFinding {
    pub kind: FindingKind,
    pub warning: bool,
    pub other: bool,
    pub pc: u32,
    /// The block, if it is another one than the one that ran.
    pub block: Option<u64>,
    pub thread: u32,
    pub address: Option<u64>,
    pub variable: Option<String>,
    pub message: String,
}

/// Threads that have arrived at a barrier without waiting.
#[derive(Clone, Copy, Debug)]
pub(super) struct BarrierArrival {
    pub number: u32,
    pub threads: u32,
    /// Threads that the barrier is for, as the instruction says.
    pub count: Option<u32>,
}

/// Room that lanes which do nothing may write to and read from.
pub(super) const DUMMY: usize = 64;

/// The machine that a worker runs blocks on.
pub(super) struct Machine<'a> {
    pub common: &'a Common<'a>,
    pub image: &'a Image,
    /// Registers of the current warp.
    pub registers: Registers,
    /// Local memory of the current warp: lanes one after the other.
    pub local: *mut u8,
    /// Shared memory of the block.
    pub shared: Vec<u64>,
    pub shared_len: u64,
    /// By byte of shared memory, whether it was written ([`written::WRITTEN`]).
    pub written: Vec<u8>,
    /// Whether all of them are.
    pub complete: bool,
    pub dummy: Box<[u64; DUMMY]>,
    /// Object that the last global access of each operation was in.
    pub last_object: Vec<u32>,
    pub block_index: [u32; 3],
    pub cluster: Cluster,
    pub warp: u32,
    pub pc: u32,
    pub active: u32,
    pub warp_instructions: u64,
    pub thread_instructions: u64,
    pub shared_accesses: u64,
    /// Thread instructions that `common.used` has.
    pub reported: u64,
    /// Number of thread instructions before `over_limit` is asked again.
    pub pause: u64,
    pub findings: Vec<RawFinding>,
    /// Kind, instruction, and whether it is a warning (of races also: whether
    /// the other side writes).
    pub known: HashSet<(FindingKind, u32, u8)>,
    pub output: Vec<u8>,
    /// Instructions so far that may have changed what [`state`](Self::state) leaves out.
    pub effects: u64,
    /// The watch on the accesses of loops.
    pub watch: Option<Box<Watch>>,
    pub stop: bool,
    /// State of the numbers that draw the order of warps, where one is asked for.
    pub draws: Option<u64>,
    /// Whether anything but loops that wait without a change has run in this turn.
    pub progressed: bool,
    /// The choice of the accesses at which others get their turn.
    pub handover: Handover,
    /// Whether this worker was the one that found the limit exceeded.
    pub limit_reached: bool,
    /// Threads that have arrived at barriers without waiting.
    pub arrivals: Vec<BarrierArrival>,
    pub mbarriers: Mbarriers,
    pub groups: Groups,
    pub observer: Option<Box<dyn BlockSink + 'a>>,
    pub races: Option<Races>,
    /// The races of the block.
    pub pairs: Pairs,
    /// By warp, what it has written, if races are looked for.
    pub written_by: Vec<Written>,
    /// Reads of shared memory before any write, while the block runs: by instruction, with
    /// the byte that was not written.
    pub early: BTreeMap<u32, Vec<(u64, RawFinding)>>,
    /// The last instruction that read a register which lanes may not have written,
    /// and the lanes that had not.
    pub unknown: (u32, u32),
}

impl<'a> Machine<'a> {
    pub fn new(common: &'a Common<'a>) -> Self {
        let image = common.image;
        let len = u64::from(image.shared_bytes) + u64::from(common.dynamic_shared);
        Machine {
            common,
            image,
            registers: Registers::NONE,
            local: std::ptr::null_mut(),
            shared: vec![0; len.div_ceil(8) as usize],
            shared_len: len,
            written: vec![0; len as usize],
            complete: false,
            dummy: Box::new([0; DUMMY]),
            last_object: vec![0; image.memory.len()],
            block_index: [0; 3],
            cluster: Cluster::default(),
            warp: 0,
            pc: 0,
            active: 0,
            warp_instructions: 0,
            thread_instructions: 0,
            shared_accesses: 0,
            reported: 0,
            pause: 0,
            findings: Vec::new(),
            known: HashSet::new(),
            output: Vec::new(),
            effects: 0,
            watch: None,
            stop: false,
            draws: None,
            progressed: false,
            handover: Handover::default(),
            limit_reached: false,
            arrivals: Vec::new(),
            mbarriers: Mbarriers::default(),
            groups: Groups::default(),
            observer: None,
            races: None,
            pairs: Pairs::new(),
            written_by: Vec::new(),
            early: BTreeMap::new(),
            unknown: (u32::MAX, 0),
        }
    }

    /// The local memory of a lane, a number below 32, of the warp that runs.
    pub fn lane_local(&self, lane: u32) -> *mut u8 {
        debug_assert!(lane < 32, "lane {lane} of a warp");
        // SAFETY: the local memory of a warp has 32 parts, one for each lane.
        unsafe {
            self.local
                .add(lane as usize * self.image.local_bytes as usize)
        }
    }

    /// The object of a buffer.
    pub fn object(&self, buffer: BufferId) -> &'a Object {
        &self.common.objects[buffer.0]
    }

    /// Linear index of the block.
    pub fn block_number(&self) -> u64 {
        let [x, y, z] = self.block_index.map(u64::from);
        let [gx, gy, _] = self.common.grid.map(u64::from);
        x + gx * (y + gy * z)
    }

    /// Linear index of a thread of the current warp.
    pub fn thread(&self, lane: u32) -> u32 {
        self.warp * 32 + lane
    }

    /// Notes something wrong, once per kind and instruction.
    pub fn found(
        &mut self,
        kind: FindingKind,
        lane: u32,
        address: Option<u64>,
        variable: Option<String>,
        message: String,
    ) {
        self.note((kind, kind.only_warns()), lane, address, variable, message);
    }

    /// Notes an access outside of what there is; a warning where such reads
    /// are allowed.
    pub fn beyond(
        &mut self,
        info: &MemoryOp,
        lane: u32,
        address: Option<u64>,
        variable: Option<String>,
        message: String,
    ) {
        let warning = self.common.zeros_beyond && !info.transfer.writes();
        self.note(
            (FindingKind::OutOfBounds, warning),
            lane,
            address,
            variable,
            message,
        );
    }

    /// Notes a finding as [`found`](Self::found) does, as a fault or as a warning.
    pub fn note(
        &mut self,
        (kind, warning): (FindingKind, bool),
        lane: u32,
        address: Option<u64>,
        variable: Option<String>,
        message: String,
    ) {
        if self.known.insert((kind, self.pc, warning.into())) {
            self.findings.push(RawFinding {
                kind,
                warning,
                other: false,
                pc: self.pc,
                block: None,
                thread: self.thread(lane),
                address,
                variable,
                message,
            });
        }
    }

    /// A byte of shared memory.
    pub fn shared_byte(&self, offset: u64) -> Option<u8> {
        let word = self.shared.get((offset / 8) as usize)?;
        (offset < self.shared_len).then(|| (word >> (8 * (offset % 8))) as u8)
    }

    /// The bits of an element of 1, 2, 4 or 8 bytes of shared memory, at a
    /// multiple of its size.
    pub fn shared_element(&self, offset: u64, bytes: u64) -> u64 {
        let word = self.shared[(offset / 8) as usize];
        word >> (8 * (offset % 8)) & (u64::MAX >> (64 - 8 * bytes))
    }

    /// Writes such an element.
    pub fn put_shared(&mut self, offset: u64, bytes: u64, value: u64) {
        let shift = 8 * (offset % 8);
        let mask = (u64::MAX >> (64 - 8 * bytes)) << shift;
        let word = &mut self.shared[(offset / 8) as usize];
        *word = *word & !mask | value << shift & mask;
    }

    /// The parameter of the kernel at an offset, and the byte of it that is there.
    pub fn parameter(&self, offset: u64) -> Option<(String, u64)> {
        self.image.params.iter().find_map(|v| {
            let byte = offset.checked_sub(v.offset.into())?;
            (byte < u64::from(v.bytes)).then(|| (v.name.clone(), byte))
        })
    }

    /// The variable of shared memory at an offset.
    pub fn shared_variable(&self, offset: u64) -> Option<String> {
        self.shared_place(offset).0
    }

    /// A description of an access for messages.
    pub fn describe(&self, info: &MemoryOp) -> String {
        let what = match &info.transfer {
            Transfer::Discard => "discard",
            transfer if transfer.is_atomic() => "atomic access",
            transfer if transfer.writes() => "store",
            _ => "load",
        };
        format!("{what} of {} bytes", info.bytes)
    }
}
