//! The RTL of spadkit: every hardware unit, one file each, emitted as
//! Verilog-2001.
//!
//! The golden models in the crate `spadkit` are written independently from the
//! same definitions; nothing here computes an answer that they use.
//!
//! A unit is described in one of three ways. The combinational logic of the
//! hash family (hash units, configuration decoders, row map, RAP) is rust-hdl:
//! a `LogicBlock` with typed ports, the logic an expression tree built in
//! `hdl()`. The priority search is rust-hdl, too, as a `kernel` whose widths
//! are known only at emission. What has registers, memories or replication (the
//! configuration registers and the units of the scratchpad path) is a `shell`:
//! ports and documentation in Rust, the body a Tera template in `templates/`.
//! rust-hdl's own simulator is not used (the golden model is the executable
//! twin), so `update()` is empty everywhere.

mod bus;
mod catalog;
pub mod codes;
mod error;
mod expr;
mod geometry;
mod kernel;
mod machine;
mod module;
mod shell;
mod spad_access_unit;
mod spad_bank_ram;
mod spad_conflict_arbiter;
mod spad_conflict_history;
mod spad_counters;
mod spad_crossbar;
mod spad_degree_accumulator;
mod spad_hash_add;
mod spad_hash_bitvec_perm;
mod spad_hash_bitvec_xor;
mod spad_hash_bitwise_perm;
mod spad_hash_bitwise_xor;
mod spad_hash_config;
mod spad_hash_decode;
mod spad_hash_matrix;
mod spad_hash_xor;
mod spad_lane_hash;
mod spad_lock_unit;
mod spad_lowest;
mod spad_nonmem_queue;
mod spad_number;
mod spad_pick;
mod spad_premem_queue;
mod spad_rap;
mod spad_relssp;
mod spad_retry_sequencer;
mod spad_row_map;
mod spad_scratchpad;
mod spad_select;
mod spad_skid;
mod spad_sm_path;
mod spad_stream;
mod spad_table_ram;
mod spad_tcdm;
mod spad_warp_mask;
mod spad_warp_scheduler;
mod spad_writeback_mux;
mod system;
mod template;
mod window;

pub use catalog::{emit, has_unit, unit_names};
pub use geometry::Geometry;
pub use machine::{Configured, Machine, PathHash, RetryLatencies};
pub use module::{Dir, HdlError, Module, Port, Result, UnitDoc};
pub use system::{Companion, package, rules, wrapper};
