//! The parameters of the scratchpad path: what is fixed when RTL is emitted,
//! and what its `cfg_*` ports are set to (microarchitecture/parameters.md).

use super::Config;
use serde::{Deserialize, Serialize};
use spadkit_hdl::codes;
use spadkit_hdl::{AxiOptions, PathHash, RetryLatencies, StreamOptions, TcdmOptions};
use spadkit_mapping::hash::HashSpec;
use strum::{EnumString, VariantNames};

/// The arrangement of the memory stages beside the rest (elastic paper, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumString, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Pipeline {
    /// Every instruction goes through the memory stages.
    Unified,
    /// A second, fixed pipeline next to the memory stages.
    Split,
    /// Split with the PREMEM and NONMEM queues.
    Elastic,
}

/// The instructions that a warp may have in flight (elastic paper, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Barrel {
    /// One instruction per warp.
    Strict,
    /// Independent instructions of one warp overlap.
    Relaxed,
    /// Relaxed, with in-order commit per warp.
    RelaxedInOrder,
}

/// The policy that chooses the warp to issue among those that are ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumString, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Scheduler {
    /// Loose round-robin.
    Lrr,
    /// Greedy, then oldest; in the model only.
    Gto,
    /// Round-robin over an active set; in the model only.
    TwoLevel,
    /// Loose round-robin, aware unless said otherwise (elastic paper, section 5).
    ConflictAware,
    /// Owner warps first, round-robin within a class (sharing paper, section 4).
    Owf,
    /// Owner warps first, the lowest slot within a class.
    OwfSlot,
    /// The lowest slot.
    LowestSlot,
}

/// The hash before the lock index (atomics paper, section IV).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumString, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum LockHash {
    /// The low address bits.
    None,
    /// Five low bits XORed with the bits above the index.
    Xor,
    /// The sum of the low bits and the bits above the index, modulo 32.
    Add,
}

impl Pipeline {
    /// Code of the pipeline on `cfg_pipeline`.
    pub fn code(self) -> u8 {
        match self {
            Pipeline::Unified => codes::pipeline::UNIFIED,
            Pipeline::Split => codes::pipeline::SPLIT,
            Pipeline::Elastic => codes::pipeline::ELASTIC,
        }
    }
}

impl Barrel {
    /// Code of the barrel on `cfg_barrel`.
    pub fn code(self) -> u8 {
        match self {
            Barrel::Strict => codes::barrel::STRICT,
            Barrel::Relaxed => codes::barrel::RELAXED,
            Barrel::RelaxedInOrder => codes::barrel::IN_ORDER,
        }
    }
}

impl Scheduler {
    /// Code of the scheduler on `cfg_policy`; the model's own have none.
    pub fn code(self) -> Option<u8> {
        match self {
            Scheduler::Lrr | Scheduler::ConflictAware => Some(codes::policy::LRR),
            Scheduler::Owf => Some(codes::policy::OWF_LRR),
            Scheduler::OwfSlot => Some(codes::policy::OWF_SLOT),
            Scheduler::LowestSlot => Some(codes::policy::SLOT),
            Scheduler::Gto | Scheduler::TwoLevel => None,
        }
    }
}

impl LockHash {
    /// Code of the lock hash on `cfg_lock_hash`.
    pub fn code(self) -> u8 {
        match self {
            LockHash::None => codes::lock_hash::NONE,
            LockHash::Xor => codes::lock_hash::XOR,
            LockHash::Add => codes::lock_hash::ADD,
        }
    }
}

/// Parameters that are fixed when the path is emitted, in addition to geometry and
/// lanes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathParams {
    /// W: warp slots.
    pub warps: u32,
    /// T: thread-block slots; even.
    pub blocks: u32,
    /// Lock bits; 0 leaves out the lock unit and the retry sequencer.
    pub locks: u32,
    /// LKG: cycles of a lock group.
    pub lock_group_cycles: u32,
    /// LKO: each lock knows the lane that took it, and an unlock tells whether it was
    /// that lane's.
    pub lock_owner: bool,
    /// M: memory stages.
    pub mem_stages: u32,
    /// AHEAD: stages in which the issue is decided before EX, 0 to 3. They are
    /// stages of the front end, which has at least this many.
    pub ahead: u32,
    /// H: 1 = a pipeline stage of its own for the hash.
    pub hash_stage: u32,
    /// The hash of the lanes.
    pub hash: PathHash,
    /// The mapping that its configuration registers hold after a reset.
    #[serde(skip_serializing_if = "HashSpec::is_mod")]
    pub hash_reset: HashSpec,
    /// BCAST: lanes on one address are served together.
    pub broadcast: bool,
    /// MERGE: stores of one word merge per byte.
    pub merge_bytes: bool,
    /// SETS of the conflict history, of two ways each.
    pub history_sets: u32,
    /// The retry sequencer's latencies, those of the paper in its presets.
    pub retry: RetryLatencies,
    /// The latencies of the hardware for this machine: only those that a
    /// configuration file or `--set` specifies
    /// (microarchitecture/retry-sequencer.md).
    #[serde(skip)]
    pub emitted_retry: RetryLatencies,
    /// Options of `spad_tcdm`.
    pub tcdm: TcdmOptions,
    /// Options of `spad_stream`.
    pub stream: StreamOptions,
    /// Options of `spad_axi`.
    #[serde(skip_serializing_if = "AxiOptions::is_absent")]
    pub axi: AxiOptions,
    /// Contexts of the retry loop: ATOMIC instructions in flight. The RTL has
    /// one.
    pub retry_contexts: u32,
}

impl PathParams {
    /// The bank mapping of the hardware after reset.
    pub fn hash_after_reset(&self) -> HashSpec {
        match self.hash {
            PathHash::Xor => HashSpec::Xor,
            PathHash::Add => HashSpec::Add,
            PathHash::Mod => HashSpec::Mod,
            PathHash::Configurable | PathHash::Rap => self.hash_reset.clone(),
        }
    }
}

/// The values of the path's `cfg_*` ports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathSettings {
    /// Unified, split or elastic.
    pub pipeline: Pipeline,
    /// Strict or relaxed barrel execution.
    pub barrel: Barrel,
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Memory warps are masked while the banks are busy, whatever the
    /// scheduler; without it [`Scheduler::ConflictAware`] alone masks them.
    pub aware: Option<bool>,
    /// If warps are masked: whether masked memory warps issue when there is no other candidate.
    pub violate: bool,
    /// The lock hash.
    pub lock_hash: LockHash,
}

impl PathSettings {
    /// Memory warps are masked while the banks are busy.
    pub fn is_aware(&self) -> bool {
        let by_policy = self.scheduler == Scheduler::ConflictAware;
        self.aware.unwrap_or(by_policy)
    }
}

impl Config {
    /// The machine as hardware is made for it: its retry sequencer waits no
    /// longer than its scratchpad, unless `[retry]` asks for it.
    pub fn for_hardware(mut self) -> Self {
        self.path.retry = self.path.emitted_retry;
        self
    }

    /// S: subwarps, the passes of one warp access of a word.
    pub fn subwarps(&self) -> u32 {
        self.warp_size / self.lanes
    }

    /// Cycles by which `sm.latencies.shared` exceeds what the path takes from
    /// the issue of a load to the use of its data: issue, EX, the memory
    /// stages and writeback. The hash stage comes on top of both. The stages
    /// before EX are not a part of it. An instruction that uses the data may
    /// be in them while the latency is counted down. If nothing is counted, it
    /// issues as many cycles later.
    pub fn shared_delay(&self) -> u32 {
        let path = 3 + self.path.mem_stages;
        self.sm.latencies.shared.saturating_sub(path)
    }

    /// Cycles from the issue of a load of shared memory without conflict to its
    /// use.
    pub fn shared_latency(&self) -> u32 {
        3 + self.path.mem_stages + self.shared_delay()
    }

    /// Stages from fetch to writeback: the front end, of which those that
    /// decide the issue ahead are a part, issue, EX, the memory stages, the
    /// hash stage and writeback.
    pub fn pipeline_stages(&self) -> u32 {
        let front_end = self.sm.frontend_stages.max(self.path.ahead);
        front_end + 3 + self.path.mem_stages + self.path.hash_stage
    }
}
