//! The golden models: one file per hardware unit, named like its RTL.
//!
//! Plain Rust, written from the contract
//! (docs/reference/microarchitecture/) and independent of the RTL. Each unit is a
//! struct with its state and a `step`, one call per clock cycle (combinational
//! units: one call per evaluation).

mod byte_merging;
mod hash_config;
mod hash_unit;
mod hash_units;
pub mod kind;
mod lane_hash;
mod lanes;
mod pass;
pub mod spad_access_unit;
pub mod spad_atomic_bank;
pub mod spad_axi;
mod spad_bank_ram;
mod spad_conflict_arbiter;
pub mod spad_conflict_history;
mod spad_conflict_predictor;
mod spad_counters;
mod spad_crossbar;
mod spad_degree_accumulator;
mod spad_eligibility;
mod spad_hash_add;
mod spad_hash_bitvec_perm;
mod spad_hash_bitvec_xor;
mod spad_hash_bitwise_perm;
mod spad_hash_bitwise_xor;
mod spad_hash_config;
mod spad_hash_matrix;
mod spad_hash_stage;
mod spad_hash_xor;
mod spad_issue_select;
mod spad_lock_unit;
pub(crate) mod spad_memory_entry;
mod spad_memory_exit;
mod spad_nonmem_queue;
mod spad_pass_issue;
mod spad_phases;
mod spad_premem_queue;
mod spad_rap;
mod spad_release_register;
mod spad_relssp;
pub mod spad_retry_sequencer;
mod spad_row_map;
pub mod spad_scratchpad;
mod spad_skid;
pub mod spad_sm_path;
mod spad_stream;
mod spad_tcdm;
pub mod spad_tilelink_lane;
pub(crate) mod spad_warp_mask;
mod spad_warp_scheduler;
mod spad_wide_stream;
mod spad_window;
mod spad_writeback_mux;

pub use byte_merging::ByteMerging;
pub use hash_config::ConfigRegister;
pub use hash_unit::{Bank, HashUnit};
pub use hash_units::{AnyUnit, bank_of, unit_of};
pub use kind::{Offer, Offers};
pub use lane_hash::{LaneHash, RegisterWrite};
pub use lanes::even_bits;
pub use lanes::{LaneMask, MAX_BANKS, MAX_LANES, WarpMask};
pub(crate) use lanes::{lanes_of, warp_bit, warps_of};
pub use pass::{AccessTag, Pass, PassControl, PassData, PassPool, PassResult};
pub use spad_access_unit::{AccessInputs, AccessOutputs, AccessUnit, BlockMask, SharingLaunch};
pub use spad_atomic_bank::{AtomicBank, BankAnswer, BankOperation};
pub use spad_axi::{
    Axi, AxiBurst, AxiData, AxiInputs, AxiOutputs, AxiRead, AxiWords, AxiWritten, LaneRequests,
    MAX_AXI_LANES,
};
pub use spad_bank_ram::{BankInputs, BankRam};
pub use spad_conflict_arbiter::{ArbiterInputs, ArbiterOutputs, ConflictArbiter, Group};
pub use spad_conflict_history::{ConflictHistory, HistoryInputs, HistoryOutputs};
pub use spad_conflict_predictor::{
    ConflictPredictor, PredictedIssue, PredictorInputs, PredictorOutputs,
};
pub use spad_counters::{CounterInputs, Counters};
pub use spad_crossbar::{BankRequests, CrossbarOutputs, RequestInputs, ResponseInputs, crossbar};
pub use spad_degree_accumulator::{
    AccumulatorInputs, DegreeAccumulator, ExcessUpdate, ResolvedPass,
};
pub use spad_eligibility::{Eligibility, EligibilityInputs, EligibilityOutputs, WarpKind};
pub use spad_hash_add::HashAdd;
pub use spad_hash_bitvec_perm::HashBitvecPerm;
pub use spad_hash_bitvec_xor::HashBitvecXor;
pub use spad_hash_bitwise_perm::HashBitwisePerm;
pub use spad_hash_bitwise_xor::HashBitwiseXor;
pub use spad_hash_config::{ConfigInputs, HashConfig};
pub use spad_hash_matrix::HashMatrix;
pub use spad_hash_stage::{HashStage, HashStageInputs, HashStageOutputs, NO_OPERANDS, Operands};
pub use spad_hash_xor::HashXor;
pub use spad_issue_select::{IssueSelect, SelectInputs, SelectOutputs, Selection};
pub use spad_lock_unit::{LockBits, LockInputs, LockOutputs, LockUnit, MAX_LOCKS};
pub use spad_memory_entry::{EntryInputs, EntryOutputs, MemoryEntry, MemoryRequest, RequestLanes};
pub use spad_memory_exit::{ExitInputs, ExitOutputs, MemoryExit};
pub use spad_nonmem_queue::{NonmemInputs, NonmemOutputs, NonmemQueue};
pub use spad_pass_issue::{PassIssue, PassIssueInputs, PassIssueOutputs, TakenOffer};
pub use spad_phases::{MAX_WORDS, Phases, WideAnswer, WideRequest};
pub use spad_premem_queue::{PrememInputs, PrememOutputs, PrememQueue};
pub use spad_rap::Rap;
pub use spad_release_register::{ReleaseInputs, ReleaseRegister};
pub use spad_relssp::{
    Exit, Release, Relssp, RelsspInputs, RelsspOutputs, ThreadLaunch, ThreadMask,
};
pub use spad_retry_sequencer::{
    AtomicPass, RetrySequencer, SequencerInputs, SequencerOutputs, SequencerRequest,
    SequencerResponse,
};
pub use spad_row_map::RowMapUnit;
pub use spad_scratchpad::{ResponseControl, Scratchpad, ScratchpadInputs, ScratchpadOutputs};
pub use spad_sm_path::{
    IcnData, Issue, PathConfig, PathLaunch, ScratchpadView, SmPath, SmPathInputs, SmPathOutputs,
    Writeback,
};
pub use spad_stream::{Stream, StreamAnswer, StreamInputs, StreamRequest};
pub use spad_tcdm::{Tcdm, TcdmAnswers, TcdmInputs, TcdmRequests};
pub use spad_tilelink_lane::{
    TileLinkAnswer, TileLinkInputs, TileLinkLane, TileLinkMessage, TileLinkOutputs, TileLinkRequest,
};
pub use spad_warp_mask::{MaskInputs, MaskOutputs, MemoryWarpMask};
pub use spad_warp_scheduler::{
    Policy, SchedulerInputs, SchedulerOutputs, WarpClasses, WarpScheduler,
};
pub use spad_wide_stream::{WideStream, WideStreamInputs};
pub use spad_window::WindowOperation;
pub use spad_writeback_mux::{Source, WritebackInputs, WritebackMux, WritebackOutputs};

#[cfg(test)]
mod tests;
