//! The list of units: every name that can be emitted, and how.

use crate::geometry::Geometry;
use crate::module::{HdlError, Module, Result};
use crate::spad_hash_config::{self, Configured};
use crate::{
    spad_hash_add, spad_hash_bitvec_perm, spad_hash_bitvec_xor, spad_hash_bitwise_perm,
    spad_hash_bitwise_xor, spad_hash_matrix, spad_hash_xor, spad_rap, spad_row_map,
};

/// What an emission needs to know about the machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Address and bank bits.
    pub geometry: Geometry,
    /// The unit whose registers `spad_hash_config` holds.
    pub hash_unit: Configured,
}

/// Emits one unit by name: its own module last, before it the modules that it
/// instantiates.
pub fn emit(name: &str, machine: &Machine) -> Result<Vec<Module>> {
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
        "spad_hash_config" => spad_hash_config::emit_unit(g, machine.hash_unit, name),
        _ => {
            let variant = Configured::ALL
                .into_iter()
                .find(|kind| name.strip_prefix("spad_hash_config_") == Some(kind.suffix()));
            match variant {
                Some(kind) => spad_hash_config::emit_unit(g, kind, name),
                None => Err(HdlError::UnknownUnit { name: name.into() }),
            }
        }
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
    let configs = Configured::ALL.map(|kind| format!("spad_hash_config_{}", kind.suffix()));
    hash.map(str::to_owned).into_iter().chain(configs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let machine = Machine {
                geometry,
                hash_unit: Configured::Matrix,
            };
            for name in unit_names() {
                let modules = emit(&name, &machine).unwrap();
                let top = modules.last().unwrap();
                assert_eq!(top.doc.name, name);
                for sub in &top.submodules {
                    assert!(modules.iter().any(|m| m.doc.name == *sub), "{name}: {sub}");
                }
                for module in &modules {
                    let start = format!("\nmodule {}", module.doc.name);
                    assert!(module.text.contains(&start), "{name}");
                    assert!(!module.text.contains('$'), "{name} has a system task");
                }
                let again = emit(&name, &machine).unwrap();
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
        let machine = Machine {
            geometry,
            hash_unit: Configured::Matrix,
        };
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
