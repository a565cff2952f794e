//! spadkit: a hardware design kit for the scratchpad path of a GPU streaming
//! multiprocessor.
//!
//! docs/explanation/architecture.md shows which module uses which.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::too_many_lines))]

pub mod cli;
pub mod flow;
pub mod terminal;

use spadkit_base::{claims, digest};
pub use spadkit_base::{cuda, error, input, interrupt, output, quote, toolkit};
pub use spadkit_compiler::{assembler, rewrite, sharing, suggest};
pub use spadkit_launch::{capture, launch, workload};
use spadkit_launch::{paths, readable};
pub use spadkit_mapping::{geometry, hash, rap, search, software, trace};
pub use spadkit_papers::{points, reproduce};
pub use spadkit_ptx as ptx;
pub use spadkit_report as report;
pub use spadkit_rtl::{cosim, mutate, prove, rtl, synth, tool, units};
pub use spadkit_sm::{config, model, sm};
