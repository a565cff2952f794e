//! The RTL of spadkit: every hardware unit, one file each, emitted as
//! Verilog-2001.
//!
//! The golden models, in the crate `spadkit-sm`, are written independently from the
//! same definitions; nothing here computes an answer that they use.
//!
//! A unit is described once, in Rust, in its own file: ports, registers, logic,
//! instances, replication. `README.md` shows how it reads. Handles of signals
//! (`signal`) have widths that are checked where they are used. Names, codes and
//! sizes stay data until a module is printed (`body`, in the one template of
//! modules): right before, `adapter` makes rust-hdl's syntax tree of them, and has
//! what that cannot say.

#![forbid(unsafe_code)]

mod adapter;
mod address_widths;
mod allowed;
mod body;
mod bundle;
mod bus;
mod catalog;
pub mod codes;
mod configured;
mod drivers;
mod error;
mod hashed_lanes;
mod header;
mod independent;
mod instance;
mod item;
mod kinds;
mod lines;
mod machine;
mod memory;
mod module;
mod names;
mod number;
mod origin;
mod parameter;
mod params;
mod payload;
mod port;
mod ports;
mod print;
mod property;
mod register;
mod reservations;
mod reset;
mod signal;
mod size;
mod spad_access_pair;
mod spad_access_unit;
mod spad_atomic_alu;
mod spad_atomic_bank;
mod spad_axi;
mod spad_axi_burst;
mod spad_bank_ram;
mod spad_conflict_arbiter;
mod spad_conflict_history;
mod spad_conflict_predictor;
mod spad_counters;
mod spad_crossbar;
mod spad_degree_accumulator;
mod spad_eligibility;
mod spad_eligible_warp;
mod spad_first_warp;
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
mod spad_kind_operation;
mod spad_lane_hash;
mod spad_lock_unit;
mod spad_lowest;
mod spad_memory_entry;
mod spad_memory_exit;
mod spad_nonmem_queue;
mod spad_number;
mod spad_pass_count;
mod spad_pass_issue;
mod spad_phases;
mod spad_pick;
mod spad_pick_check;
mod spad_premem_queue;
mod spad_queue;
mod spad_rap;
mod spad_release_register;
mod spad_relssp;
mod spad_relssp_block;
mod spad_relssp_warp;
mod spad_retry_sequencer;
mod spad_row_map;
mod spad_scratchpad;
mod spad_select;
mod spad_skid;
mod spad_sm_path;
mod spad_stream;
mod spad_table_ram;
mod spad_tcdm;
mod spad_turn;
mod spad_two_port_ram;
mod spad_warp_mask;
mod spad_warp_scheduler;
mod spad_wide_stream;
mod spad_window;
mod spad_writeback_mux;
mod statement;
mod style;
mod system;
mod template;
mod tree;
mod unit;
mod vector;
mod window;

pub use address_widths::AddressWidths;
pub use allowed::Allowed;
pub use item::RAM_ZEROS;
pub use machine::{
    AxiOptions, Machine, PC_BITS, Phases, RetryLatencies, StreamOptions, TcdmOptions,
};
pub use module::{Dir, HdlError, Module, Port, Printed, Result, UnitDoc, Vector};
pub use origin::Origin;
pub use params::Params;
pub use reset::Reset;
pub use signal::register_name;
pub use spadkit_names::{Configured, HASH_ADD, HASH_XOR, HashKind, PathHash};
pub use style::Style;
pub use system::{Companion, bus_wrappers, package, wrapper};

use catalog::CatalogEntry;
use std::sync::LazyLock;

/// Every unit that can be emitted, in the order of the documentation.
static UNITS: LazyLock<Vec<CatalogEntry>> = LazyLock::new(|| {
    let kinds = || HashKind::ALL.into_iter().map(Configured::Hash);
    let mut units: Vec<CatalogEntry> = kinds().map(CatalogEntry::configured).collect();
    units.extend_from_slice(OTHER_HASHES);
    let registers = kinds().chain([Configured::Rap, Configured::RowMap]);
    units.extend(registers.map(CatalogEntry::registers));
    units.extend_from_slice(PATH);
    units
});

/// Fixed hashes, and the companions of the configurable ones.
const OTHER_HASHES: &[CatalogEntry] = &[
    CatalogEntry::of_geometry(HASH_XOR, spad_hash_xor::emit_unit),
    CatalogEntry::of_geometry(HASH_ADD, spad_hash_add::emit_unit),
    CatalogEntry::configured(Configured::RowMap),
    CatalogEntry::configured(Configured::Rap),
    CatalogEntry::of_hash("spad_hash_config", |machine| {
        let unit = Configured::Hash(machine.hash_unit);
        spad_hash_config::emit_unit(machine, unit, "spad_hash_config")
    }),
];

/// The units of the scratchpad path.
const PATH: &[CatalogEntry] = &[
    CatalogEntry::of_path("spad_conflict_arbiter", spad_conflict_arbiter::emit_unit).on_a_bus(),
    CatalogEntry::of_path("spad_crossbar", spad_crossbar::emit_unit).on_a_bus(),
    CatalogEntry::of_path("spad_bank_ram", spad_bank_ram::emit_unit).on_a_bus(),
    CatalogEntry::of_path("spad_scratchpad", spad_scratchpad::emit_unit).on_a_bus(),
    CatalogEntry::of_path("spad_lock_unit", spad_lock_unit::emit_unit)
        .only_where(|machine| machine.locks > 0),
    CatalogEntry::of_path("spad_retry_sequencer", spad_retry_sequencer::emit_unit)
        .only_where(|machine| machine.locks > 0),
    CatalogEntry::of_path("spad_premem_queue", spad_premem_queue::emit_unit),
    CatalogEntry::of_path("spad_nonmem_queue", spad_nonmem_queue::emit_unit),
    CatalogEntry::of_path("spad_writeback_mux", spad_writeback_mux::emit_unit),
    CatalogEntry::of_path(
        "spad_degree_accumulator",
        spad_degree_accumulator::emit_unit,
    ),
    CatalogEntry::of_path("spad_conflict_history", spad_conflict_history::emit_unit),
    CatalogEntry::of_path("spad_warp_mask", spad_warp_mask::emit_unit),
    CatalogEntry::of_path("spad_warp_scheduler", spad_warp_scheduler::emit_unit),
    CatalogEntry::of_path("spad_access_unit", spad_access_unit::emit_unit),
    CatalogEntry::of_path("spad_relssp", spad_relssp::emit_unit),
    CatalogEntry::of_path("spad_eligibility", spad_eligibility::emit_unit),
    CatalogEntry::of_path("spad_issue_select", spad_issue_select::emit_unit),
    CatalogEntry::of_path("spad_pass_issue", spad_pass_issue::emit_unit),
    CatalogEntry::of_path("spad_release_register", spad_release_register::emit_unit)
        .only_where(|machine| machine.ahead > 0),
    CatalogEntry::of_path(
        "spad_conflict_predictor",
        spad_conflict_predictor::emit_unit,
    ),
    CatalogEntry::of_path("spad_memory_entry", spad_memory_entry::emit_unit),
    CatalogEntry::of_path("spad_memory_exit", spad_memory_exit::emit_unit),
    CatalogEntry::of_path("spad_counters", spad_counters::emit_unit),
    CatalogEntry::of_machine("spad_hash_stage", |p, machine| {
        spad_hash_stage::emit_unit(p, machine).map(|stage| stage.modules)
    })
    .on_a_bus(),
    CatalogEntry::of_machine("spad_stream", spad_stream::emit_unit).on_a_bus(),
    CatalogEntry::of_path("spad_phases", spad_phases::emit_unit)
        .on_a_bus()
        .only_where(Machine::has_phases),
    CatalogEntry::of_machine("spad_wide_stream", spad_wide_stream::emit_unit)
        .on_a_bus()
        .only_where(Machine::has_phases),
    CatalogEntry::of_path("spad_atomic_bank", spad_atomic_bank::emit_unit)
        .on_a_bus()
        .only_where(|machine| machine.tcdm.atomics || machine.stream.atomics),
    CatalogEntry::of_machine("spad_tcdm", spad_tcdm::emit_unit).on_a_bus(),
    CatalogEntry::of_path("spad_axi", spad_axi::emit_unit)
        .on_a_bus()
        .only_where(|machine| !machine.axi.is_absent()),
    CatalogEntry::of_machine("spad_sm_path", spad_sm_path::emit_unit),
];

/// Emits one unit by name: its own module last, before it the modules that it
/// instantiates, each once.
pub fn emit(name: &str, machine: &Machine) -> Result<Vec<Module>> {
    match unit(name) {
        Some(unit) => unit.emit(machine),
        None => Err(HdlError::UnknownUnit { name: name.into() }),
    }
}

/// Emits one unit by name, printed in that style.
pub fn emit_with(name: &str, machine: &Machine, style: &Style) -> Result<Vec<Module>> {
    let modules = emit(name, machine)?.into_iter();
    modules.map(|module| module.in_style(style)).collect()
}

/// Whether the machine has the unit. A machine without locks has neither a lock
/// unit nor a retry sequencer. One that decides the issue at once has no register
/// after relssp. One without atomic operations on the bus has no bank for them, and
/// one without addresses of an AXI port no such port.
pub fn has_unit(name: &str, machine: &Machine) -> bool {
    unit(name).is_none_or(|unit| unit.is_in(machine))
}

/// Whether a unit is a part of the SM's pipeline, which serves one word of each
/// lane at a time. Hashes and what a scratchpad on a bus consists of are not.
pub fn is_in_pipeline(name: &str) -> bool {
    unit(name).is_some_and(CatalogEntry::is_in_pipeline)
}

/// Every unit's name, in the order of the documentation.
pub fn unit_names() -> impl Iterator<Item = &'static str> {
    UNITS.iter().map(|unit| unit.name)
}

fn unit(name: &str) -> Option<&'static CatalogEntry> {
    UNITS.iter().find(|unit| unit.name == name)
}
