//! `spad_sm_path`: from the issue port to the writeback port
//! (docs/microarchitecture.md, section 18). Composed of the units' models.

mod ahead;
mod commit;
mod contexts;
mod eval;
pub(super) mod hash_stage;
mod in_flight;
pub mod kind;
mod pool;
mod ports;
mod quiet;

pub use hash_stage::RegisterWrite;
pub use kind::{Offer, Offers};
pub use ports::{
    IcnData, Issue, NO_OPERANDS, Operands, PathConfig, PathLaunch, SmPathInputs, SmPathOutputs,
    Writeback,
};

use super::spad_access_unit::{AccessUnit, BlockMask};
use super::spad_conflict_history::ConflictHistory;
use super::spad_degree_accumulator::DegreeAccumulator;
use super::spad_nonmem_queue::NonmemQueue;
use super::spad_premem_queue::PrememQueue;
use super::spad_relssp::Relssp;
use super::spad_scratchpad::Scratchpad;
use super::spad_warp_mask::MemoryWarpMask;
use super::spad_warp_scheduler::WarpScheduler;
use super::spad_writeback_mux::WritebackMux;
use crate::config::Config;
use crate::error::Result;
use crate::hash::HashSpec;
use ahead::Ahead;
#[cfg(test)]
pub(crate) use ahead::Selection;
use contexts::Contexts;
use eval::Wires;
use hash_stage::HashStage;
use in_flight::Counters;
use pool::{Control, Pass, Pool, Slot};

/// Memory stages that the model has room for.
const MAX_MEM_STAGES: usize = 8;

/// What comes back with a scratchpad response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tag {
    control: Control,
    /// An LDLK or STUL of the retry sequencer.
    sequencer: bool,
    /// Its context.
    context: u8,
    /// Final PASS of an atomic: it failed.
    error: bool,
    /// Final PASS of an atomic: degree of its first read.
    degree: u32,
}

/// The issue stage's memory of the instruction whose passes are being issued,
/// where AHEAD = 0.
#[derive(Clone, Copy, Debug, Default)]
struct Multi {
    /// Passes remain.
    on: bool,
    control: Control,
    /// Number of passes - 1.
    last_pass: u16,
    next: u16,
}

/// The path.
#[derive(Clone, Debug)]
pub struct SmPath {
    config: Config,
    // Issue.
    scheduler: WarpScheduler,
    mask: MemoryWarpMask,
    history: ConflictHistory,
    accumulator: DegreeAccumulator,
    multi: Multi,
    /// The stages in front of EX, where AHEAD = 3.
    ahead: Option<Ahead>,
    mem_in_flight: Counters,
    nonmem_in_flight: Counters,
    // Sharing.
    relssp: Relssp,
    access: AccessUnit,
    warp_blk: Vec<u8>,
    /// (rel_done, live) at the start of the cycle, of relssp itself.
    block_state: (BlockMask, BlockMask),
    // Stages.
    ex: Option<Control>,
    hash: HashStage,
    hx: Option<Pass>,
    pre: PrememQueue<Pass>,
    atomics: Contexts,
    spad: Scratchpad<Tag>,
    /// MEM4 .. MEM(M-1), by their number; those before are the scratchpad's.
    mem: [Option<Pass>; MAX_MEM_STAGES],
    nonmem: NonmemQueue<Pass>,
    wb: WritebackMux<Pass>,
    pool: Pool,
    /// Data of a response to the sequencer.
    scratch: Box<Slot>,
}

impl SmPath {
    /// The path of `config`, after reset; the scratchpad holds zeros.
    pub fn new(config: &Config) -> Self {
        let warps = config.path.warps as usize;
        let mut path = SmPath {
            scheduler: WarpScheduler::new(warps),
            mask: MemoryWarpMask::new(config.path.ahead),
            history: ConflictHistory::new(config.path.history_sets as usize),
            accumulator: DegreeAccumulator::new(config.excess_bits()),
            multi: Multi::default(),
            ahead: (config.path.ahead > 0).then(|| Ahead::new(config.path.blocks)),
            mem_in_flight: Counters::new(warps),
            nonmem_in_flight: Counters::new(warps),
            relssp: Relssp::new(warps, config.path.blocks, config.warp_size, config.lanes),
            access: AccessUnit::new(warps),
            warp_blk: vec![0; warps],
            block_state: (0, 0),
            ex: None,
            hash: HashStage::new(config),
            hx: None,
            pre: PrememQueue::new(config.premem_depth() as usize),
            atomics: Contexts::new(config),
            spad: Scratchpad::new(config),
            mem: [None; MAX_MEM_STAGES],
            nonmem: NonmemQueue::new(config.nonmem_depth() as usize),
            wb: WritebackMux::new(config.path.ahead),
            pool: Pool::new(),
            scratch: Box::new(Slot::EMPTY),
            config: config.clone(),
        };
        path.block_state = path.relssp.registered(&path.warp_blk);
        path
    }

    /// Sets the hash as if a host had written the registers, whatever unit the
    /// path has. A reset or a register write undoes it; nothing may be in flight.
    pub fn load_hash(&mut self, spec: &HashSpec) -> Result<()> {
        self.hash.load(spec)
    }

    /// The scratchpad: contents and lock bits.
    pub fn scratchpad(&self) -> ScratchpadView<'_> {
        ScratchpadView { path: self }
    }

    /// Initial contents: `word` at physical word address `addr`.
    pub fn preload(&mut self, addr: u16, word: u64) {
        let (mut bank, mut row) = ([0], [0]);
        self.hash.places(&[addr], &mut bank, &mut row);
        self.spad.preload(bank[0].into(), row[0].into(), word);
    }

    /// The warp that was chosen last: with AHEAD = 0 the one whose first pass
    /// was issued last. The highest slot after reset.
    pub fn last_issued(&self) -> usize {
        self.scheduler.last()
    }

    /// Rounds of the atomic pass that the sequencer executes, the first one
    /// where there are several; 0 if none.
    pub fn atomic_rounds(&self) -> u32 {
        self.atomics.rounds_of_first()
    }

    /// Rounds of all atomic passes since reset.
    pub fn all_atomic_rounds(&self) -> u64 {
        self.atomics.all_rounds()
    }

    /// Passes behind EXE and before the end of writeback, but for those in the
    /// scratchpad and in the sequencer.
    #[cfg(test)]
    pub(super) fn passes_in_flight(&self) -> usize {
        self.pool.in_use()
    }

    /// Data of the writeback register, a word per lane: registered, so it
    /// belongs to the outputs until the next `commit`. `None` if it is empty.
    pub fn wb_data(&self) -> Option<&[u64]> {
        let (_, pass) = self.wb.wb()?;
        Some(&self.pool.at(pass.slot).data[..self.config.lanes as usize])
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &SmPathInputs) -> SmPathOutputs {
        self.wires(inputs).out
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &SmPathInputs) {
        let wires = self.wires(inputs);
        self.commit_wires(inputs, &wires);
    }

    /// One clock cycle. [`wb_data`](Self::wb_data) is to be read before it.
    pub fn step(&mut self, inputs: &SmPathInputs) -> SmPathOutputs {
        let wires = self.wires(inputs);
        self.commit_wires(inputs, &wires);
        wires.out
    }

    fn has_locks(&self) -> bool {
        self.config.path.locks != 0
    }
}

/// The contents of the path's scratchpad, by physical word address.
#[derive(Clone, Copy)]
pub struct ScratchpadView<'a> {
    path: &'a SmPath,
}

impl ScratchpadView<'_> {
    /// The word at `addr`.
    pub fn word(&self, addr: u16) -> u64 {
        let (mut bank, mut row) = ([0], [0]);
        self.path.hash.places(&[addr], &mut bank, &mut row);
        self.path.spad.word_at(bank[0].into(), row[0].into())
    }

    /// Lock bits that are taken.
    pub fn held_locks(&self) -> u32 {
        let bits = self.path.spad.held_locks();
        bits.iter().map(|word| word.count_ones()).sum()
    }
}
