//! A cycle-accurate model of the shared-memory path of a GPU's streaming
//! multiprocessor, and of the multiprocessor around it.
//!
//! ```text
//!  config::Config          a preset, or a file with what differs from one
//!        │
//!        ├──▶ model::*     a struct per unit of the hardware: step(inputs) -> outputs
//!        │       └── spad_sm_path: all of them, as the RTL wires them
//!        ▼
//!  sm::Sm ── warps with programs, thread blocks, barriers, global memory ──▶ Statistics
//!        ▲
//!  sm::Workload            accesses of a trace, programs, executed kernels
//! ```
//!
//! The model is written from the contracts of the units, apart from their RTL;
//! of the hardware's crate it uses names and sizes alone.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::too_many_lines))]

pub mod config;
pub mod model;
pub mod sm;
