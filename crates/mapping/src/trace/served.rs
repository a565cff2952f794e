//! Service of a warp access by the banks, word by word.

use super::{Access, ConflictRule};
use serde::Serialize;
use std::collections::BTreeMap;

/// A warp access as the banks serve it, word by word.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Served {
    /// Trips to the banks.
    pub wavefronts: u32,
    /// Banks that serve a word in one of them at least.
    pub busy: u32,
    /// The words.
    pub cells: Vec<ServedWord>,
}

/// A word of an access in the bank and the wavefront that serve it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServedWord {
    /// The lanes that get it.
    pub lanes: Vec<u32>,
    /// Index of the word in shared memory.
    pub word: u32,
    /// Bank of the word.
    pub bank: u32,
    /// Number of the wavefront, from 0.
    pub wavefront: u32,
    /// Wavefronts before it in its phase, each of which is a conflict: a wide access has
    /// phases that no mapping saves.
    pub waits: u32,
}

impl ConflictRule {
    /// The wavefronts of `access`, where `bank` returns the bank of a word.
    pub fn served(&self, access: &Access, bank: impl Fn(u32) -> u32) -> Served {
        let in_turn = self.counts_lanes(access);
        let mut cells: Vec<ServedWord> = Vec::new();
        let mut first = 0;
        for phase in self.lanes_of_phases(access) {
            let mut load: BTreeMap<u32, u32> = BTreeMap::new();
            let from = cells.len();
            for (lane, word) in phase {
                let same = |c: &&mut ServedWord| c.word == word && !in_turn;
                if let Some(cell) = cells[from..].iter_mut().find(same) {
                    cell.lanes.push(lane);
                    continue;
                }
                let bank = bank(word);
                let height = load.entry(bank).or_default();
                cells.push(ServedWord {
                    lanes: vec![lane],
                    word,
                    bank,
                    wavefront: first + *height,
                    waits: *height,
                });
                *height += 1;
            }
            first += load.values().copied().max().unwrap_or(0);
        }
        let mut banks: Vec<u32> = cells.iter().map(|c| c.bank).collect();
        banks.sort_unstable();
        banks.dedup();
        Served {
            wavefronts: first,
            busy: banks.len() as u32,
            cells,
        }
    }
}

impl Served {
    /// The lanes with their banks, counted from the first: what an access looks
    /// like wherever it begins.
    pub fn shape(&self) -> Vec<(u32, i64)> {
        let first = self.cells.first().map_or(0, |c| c.bank);
        let bank = |c: &ServedWord| i64::from(c.bank) - i64::from(first);
        let lanes = self
            .cells
            .iter()
            .flat_map(|c| c.lanes.iter().map(move |l| (*l, bank(c))));
        let mut shape: Vec<(u32, i64)> = lanes.collect();
        shape.sort_unstable();
        shape
    }
}
