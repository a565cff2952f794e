//! The area of the hardware that computes the bank mapping.

use crate::config::Config;
use crate::config::PathHash;
use crate::error::{Error, Result};
use crate::hash::HashSpec;
use crate::report::UnitSetting;
use crate::software::LayoutSpec;
use crate::synth::{Measured, Synthesis, Technology};
use crate::tool::Toolbox;
use serde::Serialize;

/// The units of one SM that compute the bank mapping, synthesized.
#[derive(Serialize)]
pub(super) struct HardwareArea {
    /// The units; none for a mapping without hardware.
    pub units: Vec<String>,
    /// The cell library.
    pub tech: String,
    /// Two-input NAND gates of all lanes and of the registers, rounded up.
    pub nand2_equivalents: u64,
}

/// A cell library with the tools that map units to it.
pub(super) struct Library {
    technology: Technology,
    tools: Toolbox,
}

impl Library {
    pub fn new(technology: Technology) -> Self {
        Library {
            technology,
            tools: Toolbox::new(),
        }
    }

    /// Area that `synth` gives for a whole SM: of the unit of `hash`, else of the
    /// hash of the machine.
    pub fn area(
        &self,
        hash: Option<&LayoutSpec>,
        machine: &Config,
        progress: &(dyn Fn(u64, u64, &str) + Sync),
    ) -> Result<HardwareArea> {
        let mut area = HardwareArea {
            units: match hash {
                Some(hash) => units_of(hash, machine)?,
                None => units_of_machine(machine),
            },
            tech: self.technology.name.clone(),
            nand2_equivalents: 0,
        };
        if area.units.is_empty() {
            return Ok(area);
        }
        let done = Synthesis::run(
            &area.units,
            &[],
            &machine.clone().for_hardware(),
            &self.technology,
            &self.tools,
            Measured::default(),
            progress,
        )?;
        let gates = |unit: &String| {
            let total = done.per_sm.iter().find(|t| t.unit == *unit);
            total.and_then(|t| t.nand2_equivalents)
        };
        let all: Option<f64> = area.units.iter().map(gates).sum();
        area.nand2_equivalents = match all {
            Some(gates) => gates.ceil() as u64,
            None => return Err(no_gates(&area.tech)),
        };
        Ok(area)
    }
}

fn no_gates(tech: &str) -> Error {
    Error::usage(
        format!("the area of the hash is not known in NAND2: {tech} has no two-input NAND"),
        "expected a library with one, such as --tech osu018",
    )
}

/// The units of a mapping; plain interleaving and a mapping in software have none.
fn units_of(hash: &LayoutSpec, machine: &Config) -> Result<Vec<String>> {
    let LayoutSpec::Hash(spec) = hash else {
        return Ok(Vec::new());
    };
    if *spec == HashSpec::Mod {
        return Ok(Vec::new());
    }
    let setting = machine.configuration(spec, None)?;
    let needs_rows = UnitSetting::of(&setting.row_map).is_set();
    let rows = needs_rows.then_some(setting.row_map.unit);
    let units = std::iter::once(setting.bank.unit).chain(rows);
    Ok(units.map(str::to_owned).collect())
}

/// The hash of the machine's path, `[hash] path`.
fn units_of_machine(machine: &Config) -> Vec<String> {
    let units: &[&str] = match machine.path.hash {
        PathHash::Mod => &[],
        PathHash::Xor => &["spad_hash_xor"],
        PathHash::Add => &["spad_hash_add"],
        PathHash::Configurable => &[machine.hash_unit.unit(), "spad_row_map"],
        PathHash::Rap => &["spad_rap"],
    };
    units.iter().map(|u| (*u).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_has_the_units_that_compute_it() {
        let fermi = Config::preset("fermi").unwrap();
        let of = |spec: &str| units_of(&spec.parse().unwrap(), &fermi).unwrap();
        assert!(of("mod").is_empty() && of("swizzle:3,1,4").is_empty());
        assert_eq!(of("xor"), ["spad_hash_xor"]);
        // Bits 0 to 4 are no longer the bank: the row has them.
        assert_eq!(
            of("bitvec-perm:k=3"),
            ["spad_hash_bitvec_perm", "spad_row_map"]
        );
    }

    #[test]
    fn a_machine_has_the_units_of_its_path() {
        let mut machine = Config::preset("fermi").unwrap();
        assert_eq!(
            units_of_machine(&machine),
            ["spad_hash_matrix", "spad_row_map"]
        );
        machine.path.hash = PathHash::Mod;
        assert!(units_of_machine(&machine).is_empty());
    }
}
