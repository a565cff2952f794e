//! Ports of `spad_sm_path` (microarchitecture/sm-path.md).

use crate::config::{Config, Scheduler};
use crate::model::kind::Offers;
use crate::model::lane_hash::RegisterWrite;
use crate::model::lanes::{LaneMask, WarpMask};
use crate::model::pass::{PassControl, PassResult};
use crate::model::spad_access_unit::BlockMask;
use crate::model::spad_hash_stage::Operands;
use crate::model::spad_relssp::{Exit, ThreadMask};
use crate::model::spad_retry_sequencer::State;
use crate::model::spad_warp_scheduler::Policy;
use crate::model::spad_writeback_mux::Source;

/// The `cfg_*` ports; static while anything is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathConfig {
    /// 0 unified, 1 split, 2 and 3 elastic.
    pub pipeline: u8,
    /// 0 strict, 1 relaxed, 2 and 3 relaxed with in-order commit per warp.
    pub barrel: u8,
    /// Selection among the candidates.
    pub policy: Policy,
    /// Bank-conflict-aware.
    pub aware: bool,
    /// Masked memory warps issue when nothing else is a candidate.
    pub violate: bool,
    /// 0 and 3 none, 1 xor, 2 add.
    pub lock_hash: u8,
    /// Scratchpad sharing is on.
    pub sharing: bool,
    /// First block-relative word of the shared part.
    pub limit: u16,
}

impl PathConfig {
    /// The settings of `config`; the limit of sharing is left 0.
    pub fn of(config: &Config) -> Self {
        let s = &config.settings;
        PathConfig {
            pipeline: s.pipeline.code(),
            barrel: s.barrel.code(),
            policy: match s.scheduler {
                Scheduler::Lrr | Scheduler::ConflictAware => Policy::Lrr,
                Scheduler::Owf => Policy::OwfLrr,
                Scheduler::OwfSlot => Policy::OwfSlot,
                Scheduler::LowestSlot => Policy::LowestSlot,
                Scheduler::Gto => Policy::Gto,
                Scheduler::TwoLevel => Policy::TwoLevel,
            },
            aware: s.is_aware(),
            violate: s.violate,
            lock_hash: s.lock_hash.code(),
            sharing: config.sm.sharing.on,
            limit: 0,
        }
    }
}

/// A block launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathLaunch {
    /// Block slot.
    pub block: usize,
    /// Whether the block shares its scratchpad with its partner.
    pub shared: bool,
    /// Warp slots of the block.
    pub warps: WarpMask,
    /// Threads of the highest of them; the others are full.
    pub last: ThreadMask,
}

/// Data from off-chip.
#[derive(Clone, Copy, Debug)]
pub struct IcnData<'a> {
    /// Warp that asked for it.
    pub warp: usize,
    /// Destination tag.
    pub tag: u8,
    /// Pass.
    pub pass: u16,
    /// The instruction's last pass.
    pub last: bool,
    /// Lanes.
    pub mask: LaneMask,
    /// A word per lane.
    pub data: &'a [u64],
}

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug)]
pub struct SmPathInputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// Clears accumulator, history and mask.
    pub kernel_clear: bool,
    /// The `cfg_*` ports.
    pub cfg: PathConfig,
    /// Write to the hash's configuration registers, where HASH has them.
    pub hash_wr: Option<RegisterWrite>,
    /// Write to the row map's, where HASH has one.
    pub row_wr: Option<RegisterWrite>,
    /// A block starts.
    pub launch: Option<PathLaunch>,
    /// Threads exit.
    pub exit: Option<Exit>,
    /// The offers of the warps.
    pub offers: &'a Offers,
    /// Operands of the pass in EX.
    pub op: Operands<'a>,
    /// Data from off-chip.
    pub icn: Option<IcnData<'a>>,
    /// The writeback port takes its result.
    pub wb_ready: bool,
    /// Model only: age of each warp, for [`Policy::Gto`] and
    /// [`Policy::Oldest`].
    pub age: &'a [u64],
    /// Model only: the active set, for [`Policy::TwoLevel`].
    pub active: WarpMask,
}

impl<'a> SmPathInputs<'a> {
    /// Offers, and the operands of the pass in EX; nothing else comes in, and the
    /// writeback port takes its result.
    pub fn undisturbed(cfg: PathConfig, offers: &'a Offers, op: Operands<'a>) -> Self {
        SmPathInputs {
            rst: false,
            kernel_clear: false,
            cfg,
            hash_wr: None,
            row_wr: None,
            launch: None,
            exit: None,
            offers,
            op,
            icn: None,
            wb_ready: true,
            age: &[],
            active: 0,
        }
    }
}

/// A pass that enters EX at the end of this cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issue {
    /// The warp.
    pub warp: usize,
    /// The pass; pass 0 consumes the offer.
    pub pass: u16,
    /// The instruction's last pass.
    pub last: bool,
}

impl From<PassControl> for Issue {
    fn from(control: PassControl) -> Self {
        Issue {
            warp: control.warp.into(),
            pass: control.pass,
            last: control.last,
        }
    }
}

/// The writeback register but for its data
/// ([`SmPath::wb_data`](super::SmPath::wb_data)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writeback {
    /// Source of the result.
    pub src: Source,
    /// The warp.
    pub warp: usize,
    /// Destination tag.
    pub tag: u8,
    /// Kind; 6 for data from off-chip.
    pub kind: u8,
    /// Pass.
    pub pass: u16,
    /// The instruction's last pass.
    pub last: bool,
    /// Active lanes.
    pub mask: LaneMask,
    /// LDLK: lanes that took their lock.
    pub success: LaneMask,
    /// Unsupported, or beyond the capacity.
    pub error: bool,
    /// Conflict degree.
    pub degree: u32,
}

impl Writeback {
    pub(super) fn new(src: Source, result: &PassResult) -> Self {
        let control = &result.control;
        Writeback {
            src,
            warp: control.warp.into(),
            tag: control.tag,
            kind: control.kind,
            pass: control.pass,
            last: control.last,
            mask: result.mask,
            success: result.success,
            error: result.error,
            degree: result.degree,
        }
    }
}

/// Outputs of one clock cycle; the writeback data is
/// [`SmPath::wb_data`](super::SmPath::wb_data).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmPathOutputs {
    /// A pass enters EX at the end of this cycle.
    pub iss: Option<Issue>,
    /// The pass in EX stays there in the next cycle.
    pub ex_hold: bool,
    /// Data from off-chip is taken.
    pub icn_ready: bool,
    /// The writeback register.
    pub wb: Option<Writeback>,
    /// Warps whose partner block holds the shared part. With AHEAD this, `viol`,
    /// `rel_done`, `live` and `unlock` are those of the cycle before.
    pub wait_sh: WarpMask,
    /// Warps whose block has already released the shared part.
    pub viol: WarpMask,
    /// Effective lock of each pair.
    pub locked: u32,
    /// Effective owner of each pair.
    pub owner: u32,
    /// Blocks whose active threads have all released.
    pub rel_done: BlockMask,
    /// Blocks with an active thread.
    pub live: BlockMask,
    /// Live blocks that have released in this cycle.
    pub unlock: BlockMask,
    /// 0 EX empty or moving, 1 bank conflict, 2 writeback conflict, 3 lock retry.
    pub stall: u8,
    /// Some ready warp is masked and no candidate.
    pub masked: bool,
    /// The retry sequencer.
    pub seq_state: State,
    /// Valid bits of the stages from bit 0: EX, HX (if any), MEM0, MEM1, ..., WB.
    pub occ: u32,
    /// Occupied NONMEM stages.
    pub nm_valid: u32,
    /// Entries in PREMEM.
    pub pre_count: usize,
}
