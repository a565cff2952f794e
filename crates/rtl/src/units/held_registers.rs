//! What the registers of a mapping hold, so that a neighbour can leave alone
//! those that need no write.

use super::hash_units::RegisterWrites;
use super::write_port::HashWrites;
use crate::config::{Config, PathHash};
use crate::hash::Configured;
use crate::model::{ConfigInputs, HashConfig, RegisterWrite};

/// The registers of the hash and of the row map, where the unit has them.
pub(super) struct HeldRegisters {
    hash: Option<HashConfig>,
    row: Option<HashConfig>,
}

impl HeldRegisters {
    /// Those of `config`, after reset.
    pub(super) fn new(config: &Config) -> Self {
        let block = |unit| Some(HashConfig::new(unit, config.geometry));
        let (hash, row) = match config.path.hash {
            PathHash::Configurable => (
                block(Configured::Hash(config.hash_unit)),
                block(Configured::RowMap),
            ),
            PathHash::Rap => (block(Configured::Rap), None),
            PathHash::Mod | PathHash::Xor | PathHash::Add => (None, None),
        };
        HeldRegisters { hash, row }
    }

    /// One clock edge with what is driven.
    pub(super) fn step(&mut self, rst: bool, (hash, row): HashWrites) {
        for (block, write) in [(&mut self.hash, hash), (&mut self.row, row)] {
            let RegisterWrite { index, data } = write.unwrap_or_default();
            if let Some(block) = block {
                block.step(&ConfigInputs {
                    rst,
                    wr_en: write.is_some(),
                    wr_index: index,
                    wr_data: data,
                });
            }
        }
    }

    /// Of `writes`, those that change a register. Then a register shows whether
    /// it holds its value after reset, or since an earlier mapping.
    pub(super) fn changes(&self, writes: RegisterWrites) -> RegisterWrites {
        let change = |block: &Option<HashConfig>, write: Option<RegisterWrite>| {
            let held = block.as_ref().map_or(&[][..], HashConfig::registers);
            write.filter(|write| held.get(write.index) != Some(&write.data))
        };
        let both = writes.into_iter();
        let both = both.map(|(hash, row)| (change(&self.hash, hash), change(&self.row, row)));
        both.filter(|writes| *writes != (None, None)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn write(index: usize, data: u64) -> Option<RegisterWrite> {
        Some(RegisterWrite { index, data })
    }

    #[test]
    fn only_registers_that_change_are_written() {
        let text = "base = 'small'\n[hash]\npath = 'configurable'\n";
        let config = Config::from_toml(text, Path::new("t.toml")).unwrap();
        let mut held = HeldRegisters::new(&config);
        // After reset, bank bit i is address bit i, and rows keep their bits.
        let mapping = vec![
            (write(0, 1), write(6, 2)),
            (write(1, 0x200), write(0, 0)),
            (write(2, 4), write(1, 0)),
        ];
        let changes = vec![(None, write(6, 2)), (write(1, 0x200), None)];
        assert_eq!(held.changes(mapping.clone()), changes);
        for writes in &mapping {
            held.step(false, *writes);
        }
        assert_eq!(held.changes(mapping.clone()), []);
        held.step(true, (None, None));
        assert_eq!(held.changes(mapping), changes);
    }
}
