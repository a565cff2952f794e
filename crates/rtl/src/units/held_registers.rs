//! The present values of a mapping's registers, so that a neighbour can skip
//! writes that change nothing.

use super::hash_units::RegisterWrites;
use super::write_port::HashWrites;
use crate::config::Config;
use crate::model::{LaneHash, RegisterWrite};

/// The registers of the hash and of the row map, where the unit has them.
pub(super) struct HeldRegisters(LaneHash);

impl HeldRegisters {
    /// The registers of `config`, after reset.
    pub(super) fn new(config: &Config) -> Self {
        HeldRegisters(LaneHash::new(config))
    }

    /// One clock edge with these inputs.
    pub(super) fn step(&mut self, rst: bool, (hash, row): HashWrites) {
        if rst {
            self.0.reset();
        } else {
            self.0.commit(hash, row);
        }
    }

    /// The `writes` that change a register. Skipping the others tests that a
    /// register keeps its value after reset, or from an earlier mapping.
    pub(super) fn changes(&self, writes: RegisterWrites) -> RegisterWrites {
        let [hash, row] = self.0.registers();
        let change = |held: &[u64], write: Option<RegisterWrite>| {
            write.filter(|write| held.get(write.index) != Some(&write.data))
        };
        let both = writes.into_iter();
        let both = both.map(|(of_hash, of_row)| (change(hash, of_hash), change(row, of_row)));
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
