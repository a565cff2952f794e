//! The SM around the scratchpad path: warps with programs, thread blocks,
//! barriers and global memory (docs/microarchitecture.md, section 19).

mod access;
mod instr;
mod text;
mod trace;
mod workload;

pub use access::AccessWorkload;
pub use instr::{Addresses, Instr, InstrKind, KernelInfo, MAX_SOURCES, Sources, full_mask};
pub use text::WarpText;
pub use trace::{TraceFile, TraceSummary, TraceWriter};
pub use workload::{ProgramStream, Workload};
