//! Kernels that run: launch files, and the traces that are recorded from them.
//!
//! ```text
//!  workload::Input         what a command's INPUT names: kernel:NAME, a trace, PTX, ...
//!        │
//!        ▼
//!  launch::LaunchFile      PTX with its grid, arguments and expected results, in TOML
//!        │
//!        ▼
//!  capture::LaunchInput ── executed ──▶ trace::AccessTrace    the accesses of one block
//!        │                         └──▶ sm::Workload          programs of all warps
//!        └─────────────── analysed ──▶ capture::statics      what the PTX alone says
//! ```
//!
//! The formats are described in docs/reference/kernels.md and
//! docs/reference/ptx-traces.md.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::too_many_lines))]

pub mod capture;
pub mod launch;
pub mod paths;
pub mod readable;
pub mod workload;
