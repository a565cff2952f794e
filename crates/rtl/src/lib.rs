//! The hardware of the shared-memory path as a user gets it: Verilog in a folder,
//! compared with its golden model, proved, measured, and its checks tried by faults.
//!
//! ```text
//!  spadkit_hdl (units described in Rust)      spadkit_sm::model (golden models)
//!        │                                            │
//!        ▼                                            ▼
//!  rtl: a design, its files, constraints ──▶ units: bench, circuits, gates of each
//!                                                     │
//!        ┌──────────────┬──────────────┬──────────────┤
//!        ▼              ▼              ▼              ▼
//!     cosim          prove          mutate         synth
//!   in lockstep    for all inputs  with faults    area, clock
//! ```
//!
//! The external programs (Verilator, Yosys, OpenSTA, a C++ compiler, Z3) run by
//! [`tool`], which finds, checks, stops and caches them.

#![cfg_attr(test, allow(clippy::too_many_lines))]

pub mod cosim;
pub mod mutate;
pub mod prove;
pub mod rtl;
pub mod synth;
pub mod template;
pub mod tool;
pub mod units;

use spadkit_base::{digest, error, input, interrupt, output, quote};
use spadkit_mapping::{geometry, hash, trace};
use spadkit_sm::{config, model, sm};
