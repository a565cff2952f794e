//! The list of units: every name that can be emitted, and how.

use crate::hashes::Configured;
use crate::machine::Machine;
use crate::module::{HdlError, Module, Result};
use crate::params::Params;
use crate::spad_hash_config;
use crate::{
    spad_access_unit, spad_bank_ram, spad_conflict_arbiter, spad_conflict_history,
    spad_conflict_predictor, spad_counters, spad_crossbar, spad_degree_accumulator,
    spad_eligibility, spad_hash_add, spad_hash_bitvec_perm, spad_hash_bitvec_xor,
    spad_hash_bitwise_perm, spad_hash_bitwise_xor, spad_hash_matrix, spad_hash_stage,
    spad_hash_xor, spad_issue_select, spad_lock_unit, spad_memory_entry, spad_memory_exit,
    spad_nonmem_queue, spad_pass_issue, spad_premem_queue, spad_rap, spad_release_register,
    spad_relssp, spad_retry_sequencer, spad_row_map, spad_scratchpad, spad_sm_path, spad_stream,
    spad_tcdm, spad_warp_mask, spad_warp_scheduler, spad_writeback_mux,
};

/// Emits one unit by name: its own module last, before it the modules that it
/// instantiates, each once.
pub fn emit(name: &str, machine: &Machine) -> Result<Vec<Module>> {
    let mut modules: Vec<Module> = Vec::new();
    for module in emit_all(name, machine)? {
        if !modules.iter().any(|m| m.doc.name == module.doc.name) {
            modules.push(module);
        }
    }
    Ok(modules)
}

fn emit_all(name: &str, machine: &Machine) -> Result<Vec<Module>> {
    if let Some(path_unit) = PATH_UNITS.iter().find(|(n, _)| *n == name) {
        return path_unit.1(&Params::new(machine)?);
    }
    let g = machine.geometry;
    let single = |module: Result<Module>| module.map(|m| vec![m]);
    match name {
        "spad_hash_add" => single(spad_hash_add::emit_unit(g)),
        "spad_hash_bitvec_perm" => single(spad_hash_bitvec_perm::emit_unit(g)),
        "spad_hash_bitvec_xor" => single(spad_hash_bitvec_xor::emit_unit(g)),
        "spad_hash_bitwise_perm" => single(spad_hash_bitwise_perm::emit_unit(g)),
        "spad_hash_bitwise_xor" => single(spad_hash_bitwise_xor::emit_unit(g)),
        "spad_hash_matrix" => single(spad_hash_matrix::emit_unit(g)),
        "spad_hash_xor" => single(spad_hash_xor::emit_unit(g)),
        "spad_rap" => single(spad_rap::emit_unit(g)),
        "spad_row_map" => single(spad_row_map::emit_unit(g)),
        "spad_hash_stage" => {
            spad_hash_stage::emit_unit(&Params::new(machine)?, machine).map(|unit| unit.modules)
        }
        "spad_sm_path" => spad_sm_path::emit_unit(&Params::new(machine)?, machine),
        "spad_stream" => spad_stream::emit_unit(&Params::new(machine)?, machine),
        "spad_tcdm" => spad_tcdm::emit_unit(&Params::new(machine)?, machine),
        "spad_hash_config" => {
            spad_hash_config::emit_unit(g, Configured::Hash(machine.hash_unit), name)
        }
        _ => match Configured::ALL
            .into_iter()
            .find(|unit| unit.config_unit() == name)
        {
            Some(unit) => spad_hash_config::emit_unit(g, unit, name),
            None => Err(HdlError::UnknownUnit { name: name.into() }),
        },
    }
}

/// Emits a unit of the scratchpad path.
type EmitUnit = fn(&Params) -> Result<Vec<Module>>;

/// The units of the scratchpad path, by name.
const PATH_UNITS: [(&str, EmitUnit); 23] = [
    ("spad_conflict_arbiter", spad_conflict_arbiter::emit_unit),
    ("spad_crossbar", spad_crossbar::emit_unit),
    ("spad_bank_ram", spad_bank_ram::emit_unit),
    ("spad_scratchpad", spad_scratchpad::emit_unit),
    ("spad_lock_unit", spad_lock_unit::emit_unit),
    ("spad_retry_sequencer", spad_retry_sequencer::emit_unit),
    ("spad_premem_queue", spad_premem_queue::emit_unit),
    ("spad_nonmem_queue", spad_nonmem_queue::emit_unit),
    ("spad_writeback_mux", spad_writeback_mux::emit_unit),
    (
        "spad_degree_accumulator",
        spad_degree_accumulator::emit_unit,
    ),
    ("spad_conflict_history", spad_conflict_history::emit_unit),
    ("spad_warp_mask", spad_warp_mask::emit_unit),
    ("spad_warp_scheduler", spad_warp_scheduler::emit_unit),
    ("spad_access_unit", spad_access_unit::emit_unit),
    ("spad_relssp", spad_relssp::emit_unit),
    ("spad_eligibility", spad_eligibility::emit_unit),
    ("spad_issue_select", spad_issue_select::emit_unit),
    ("spad_pass_issue", spad_pass_issue::emit_unit),
    ("spad_release_register", spad_release_register::emit_unit),
    (
        "spad_conflict_predictor",
        spad_conflict_predictor::emit_unit,
    ),
    ("spad_memory_entry", spad_memory_entry::emit_unit),
    ("spad_memory_exit", spad_memory_exit::emit_unit),
    ("spad_counters", spad_counters::emit_unit),
];

/// Whether the machine has the unit: one without locks has neither a lock
/// unit nor a retry sequencer, one that decides the issue at once no register
/// behind relssp.
pub fn has_unit(name: &str, machine: &Machine) -> bool {
    match name {
        "spad_lock_unit" | "spad_retry_sequencer" => machine.locks > 0,
        "spad_release_register" => machine.ahead > 0,
        _ => true,
    }
}

/// Every unit's name, in the order of the documentation.
pub fn unit_names() -> Vec<String> {
    let hash = [
        "spad_hash_bitvec_perm",
        "spad_hash_bitvec_xor",
        "spad_hash_bitwise_perm",
        "spad_hash_bitwise_xor",
        "spad_hash_matrix",
        "spad_hash_xor",
        "spad_hash_add",
        "spad_row_map",
        "spad_rap",
        "spad_hash_config",
    ];
    let configs = Configured::ALL.map(|unit| unit.config_unit().to_owned());
    let path = PATH_UNITS.map(|(name, _)| name.to_owned());
    let wired = [
        "spad_hash_stage",
        "spad_stream",
        "spad_tcdm",
        "spad_sm_path",
    ];
    hash.map(str::to_owned)
        .into_iter()
        .chain(configs)
        .chain(path)
        .chain(wired.map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;
    use crate::hashes::HashKind;

    fn every_geometry() -> impl Iterator<Item = Geometry> {
        (9..=16).flat_map(|addr_bits| {
            (3..=6).map(move |bank_bits| Geometry {
                addr_bits,
                bank_bits,
            })
        })
    }

    /// Emission is total over the table, deterministic, one file per module
    /// name, and plain Verilog-2001 text.
    #[test]
    fn every_unit_emits_in_every_geometry() {
        for geometry in every_geometry() {
            let machine = Machine::of_geometry(geometry, HashKind::Matrix);
            for name in unit_names().iter().filter(|n| has_unit(n, &machine)) {
                let modules = emit(name, &machine).unwrap();
                let top = modules.last().unwrap();
                assert_eq!(top.doc.name, *name);
                for sub in &top.submodules {
                    assert!(modules.iter().any(|m| m.doc.name == *sub), "{name}: {sub}");
                }
                for module in &modules {
                    let start = format!("\nmodule {}", module.doc.name);
                    assert!(module.text.contains(&start), "{name}");
                    assert!(!module.text.contains('$'), "{name} has a system task");
                    let long = module.text.lines().find(|line| line.len() > 100);
                    assert_eq!(long, None, "{}", module.doc.name);
                }
                let again = emit(name, &machine).unwrap();
                assert_eq!(again.last().unwrap().text, top.text);
            }
        }
    }

    #[test]
    fn what_is_not_in_the_table_is_refused() {
        let geometry = Geometry {
            addr_bits: 17,
            bank_bits: 5,
        };
        let machine = Machine::of_geometry(geometry, HashKind::Matrix);
        assert!(matches!(
            emit("spad_rap", &machine),
            Err(HdlError::Geometry { .. })
        ));
        assert!(matches!(
            emit("spad_nothing", &machine),
            Err(HdlError::UnknownUnit { .. })
        ));
    }
}
