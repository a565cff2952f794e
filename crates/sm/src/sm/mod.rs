//! The SM around the scratchpad path: warps with programs, thread blocks,
//! barriers and global memory (microarchitecture/sm-model.md).

mod accelsim;
mod access;
mod copy_engine;
mod fast_path;
mod global;
mod incoming;
mod instr;
mod layout;
mod machine;
mod mbarrier;
mod phases;
mod placed;
mod profile;
mod residency;
mod setup;
mod stats;
mod text;
mod trace;
mod transfer;
mod two_level;
mod warp;
mod workload;

pub use accelsim::AccelSimWorkload;
pub use access::AccessWorkload;
pub use incoming::Incoming;
pub use instr::{
    AGGREGATED, Addresses, BulkGroupOp, Detail, INCREMENT, Instr, InstrKind, KernelInfo,
    MAX_SOURCES, Meeting, Sources, Unit, full_mask,
};
pub use layout::Layout;
pub use machine::{RunProgress, Sm};
pub use mbarrier::MbarrierOp;
pub use phases::{Phase, Phases};
pub use profile::{Profile, Slots};
pub use residency::{BlockNeeds, Limit, Residency, cannot_share};
pub use setup::{Setup, Share};
pub use stats::{SharedProgress, Stalls, Statistics};
pub use text::WarpText;
pub use trace::{TraceFile, TraceSummary, TraceWriter, record};
pub use transfer::Transfer;
pub use workload::{ProgramStream, Workload};

#[cfg(test)]
mod tests;
