//! The mapping that the registers of the lanes' hash hold after a reset.

use super::refusal::Refusal;
use super::{Config, PathHash};
use spadkit_base::error::{Error, Result};
use spadkit_hdl::Configured;
use spadkit_mapping::hash::{Configuration, HashKind, HashSpec, Mapping};

/// The keys that the mapping has to go together with.
const KEYS: &[&str] = &[
    "hash.reset",
    "hash.unit",
    "hash.path",
    "geometry.addr_bits",
    "geometry.bank_bits",
    "geometry.capacity_words",
];

impl Config {
    /// The configuration registers after a reset, by write index, for each
    /// unit; those of other units select bank = addr mod 2^m.
    pub fn reset_registers(&self) -> Vec<(Configured, Vec<u64>)> {
        let blocks = match self.path.hash {
            PathHash::Configurable => vec![Configured::Hash(self.hash_unit), Configured::RowMap],
            PathHash::Rap => vec![Configured::Rap],
            PathHash::Mod | PathHash::Xor | PathHash::Add => Vec::new(),
        };
        // What every unit has in any geometry.
        if self.path.hash_reset.is_mod() || blocks.is_empty() {
            return Vec::new();
        }
        let configuration = self.reset_configuration();
        let configuration = configuration.expect("a machine that has been checked");
        let values = configuration.units().map(|unit| unit.registers.clone());
        blocks.into_iter().zip(values).collect()
    }

    /// The machine with the mapping `spec` after a reset.
    pub fn with_hash_reset(&self, spec: &HashSpec) -> Result<Self> {
        let mut machine = self.clone();
        machine.path.hash_reset = spec.clone();
        machine.check_reset().map_err(Refusal::usage)?;
        Ok(machine)
    }

    /// The registers of the machine's path for the mapping after a reset.
    fn reset_configuration(&self) -> Result<Configuration> {
        let spec = &self.path.hash_reset;
        match self.path.hash {
            PathHash::Rap => Configuration::new(spec, None, self.geometry),
            _ => Configuration::new(spec, Some(self.hash_unit), self.geometry),
        }
    }

    /// Refuses a mapping that the registers cannot hold, or with which rows
    /// beyond the capacity would be addressed.
    pub(super) fn check_reset(&self) -> std::result::Result<(), Refusal> {
        let spec = &self.path.hash_reset;
        if spec.is_mod() {
            return Ok(());
        }
        let refuse = |what: String, help: String| {
            Err(Refusal::between(KEYS, format!("hash.reset: {what}"), help))
        };
        let shifts = matches!(spec, HashSpec::Rap(_) | HashSpec::Ras(_));
        match self.path.hash {
            PathHash::Configurable if shifts => {
                return refuse(
                    format!(
                        "hash spec '{spec}' cannot be expressed by {}",
                        self.hash_unit.unit()
                    ),
                    "set path = \"rap\" for it".to_owned(),
                );
            }
            PathHash::Rap if !shifts => {
                return refuse(
                    format!("hash spec '{spec}' cannot be expressed by spad_rap"),
                    "set path = \"configurable\" for it, or write it as rap:... or ras:..."
                        .to_owned(),
                );
            }
            PathHash::Configurable | PathHash::Rap => {}
            PathHash::Mod | PathHash::Xor | PathHash::Add => {
                return refuse(
                    format!("'{spec}' without registers: the hash of the path is fixed"),
                    "set path = \"configurable\", or leave reset out".to_owned(),
                );
            }
        }
        if let Err(error) = self.reset_configuration() {
            return refuse(error.to_string(), self.advice(spec, error));
        }
        match Mapping::new(spec, self.geometry) {
            Ok(mapping) if !mapping.fits(self.pivot_limit()) => refuse(
                format!(
                    "with '{spec}', rows beyond the capacity of {} words would be addressed",
                    self.capacity_words
                ),
                "expected a mapping that fits, as spadkit tune --fits finds one".to_owned(),
            ),
            _ => Ok(()),
        }
    }

    /// Advice for a mapping that the unit cannot hold.
    fn advice(&self, spec: &HashSpec, error: Error) -> String {
        let holds = |kind: &HashKind| Configuration::new(spec, Some(*kind), self.geometry).is_ok();
        let units: Vec<&str> = (HashKind::ALL.iter().filter(|kind| holds(kind)))
            .map(|kind| kind.name())
            .collect();
        match (units.as_slice(), error) {
            (
                [],
                Error::Usage {
                    help: Some(help), ..
                },
            ) => help,
            ([], _) => "expected a mapping of this geometry".to_owned(),
            (units, _) => format!(
                "set unit = \"{}\", or give a mapping of the machine's unit, as spadkit tune \
                 --hash {} finds one",
                units.join("\" or \""),
                self.hash_unit
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn config(hash: &str) -> Result<Config> {
        let text = format!("base = 'small'\n[hash]\n{hash}");
        Config::from_toml(&text, Path::new("m.toml"))
    }

    /// A configuration that `tune` recommends for another kind is accepted if the unit can hold it.
    #[test]
    fn the_registers_have_the_values_of_encode() {
        let machine = config("unit = 'bitvec-xor'\nreset = 'bitvec-xor:k1=0,k2=3,mask=7'\n");
        let unit = Configured::Hash(HashKind::BitvecXor);
        let rows = (Configured::RowMap, vec![0; 7]);
        let registers = machine.unwrap().reset_registers();
        assert_eq!(registers, [(unit, vec![0, 3, 7]), rows.clone()]);
        let registers = config("reset = 'xor'\n").unwrap().reset_registers();
        let unit = Configured::Hash(HashKind::Matrix);
        assert_eq!(registers, [(unit, vec![0x9, 0x12, 0x24]), rows]);
        let machine = config("path = 'rap'\nreset = 'rap:3,1,4,0,5,2,7,6'\n").unwrap();
        let registers = machine.reset_registers();
        assert_eq!(registers, [(Configured::Rap, vec![3, 1, 4, 0, 5, 2, 7, 6])]);
        assert_eq!(machine.path.hash_after_reset(), machine.path.hash_reset);
        assert!(
            config("reset = 'mod'\n")
                .unwrap()
                .reset_registers()
                .is_empty()
        );
    }

    #[test]
    fn what_the_registers_cannot_hold_is_refused_with_what_to_do() {
        for (hash, what, help) in [
            (
                "reset = 'xyz'",
                "'xyz' is not a hash",
                "expected one of mod",
            ),
            (
                "reset = 3",
                "hash.reset is an integer",
                "expected a hash spec in quotes",
            ),
            (
                "unit = 'bitvec-perm'\nreset = 'xor'",
                "cannot be expressed by spad_hash_bitvec_perm",
                "set unit = \"bitvec-xor\" or \"bitwise-xor\" or \"matrix\"",
            ),
            ("reset = 'add'", "not linear", "expected a linear hash"),
            (
                "reset = 'rap:seed=1'",
                "spad_hash_matrix",
                "set path = \"rap\"",
            ),
            (
                "path = 'rap'\nreset = 'xor'",
                "spad_rap",
                "set path = \"configurable\"",
            ),
            (
                "path = 'xor'\nreset = 'xor'",
                "without registers",
                "or leave reset out",
            ),
            (
                "reset = 'matrix:1,2'",
                "2 bank bits are given",
                "expected 3",
            ),
            ("reset = 'matrix:1,2,3'", "rank 2", "its rank must be 3"),
            ("reset = 'matrix:1,2,0x1000'", "hash.reset: ", "10 bits"),
        ] {
            let Err(Error::Input(error)) = config(hash) else {
                panic!("{hash} is accepted");
            };
            let (said, advice) = (&error.what, error.help.as_deref().unwrap_or_default());
            assert!(said.contains(what), "{hash}: {said}");
            assert!(advice.contains(help), "{hash}: {advice}");
        }
        let text = "base = 'fermi'\n[hash]\nreset = 'bitwise-perm:0,1,2,3,12'\n";
        let error = Config::from_toml(text, Path::new("m.toml")).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("rows beyond the capacity of 12288"),
            "{error}"
        );
    }
}
